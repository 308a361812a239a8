/**
 * The body of a query: JSON in, what is asked out, or every member that is wrong. Never a guess.
 */
import { isRecord } from '../../define/content.ts'
import { CONVERSATION_ID } from '../../state/conversation.ts'
import { nearest } from '../../define/validate.ts'
import { FaultList } from '../../wire/bounded.ts'
import type { ChatMessage } from '../../define/chat.ts'
import type { ProblemError } from '../../wire/problem.ts'

/** What a client asks. */
export interface Query {
  readonly query: string
  /** Undefined where the client sent none: then the conversation's own history holds. */
  readonly history: readonly ChatMessage[] | undefined
  readonly sessionId: string | undefined
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  /** Undefined where `Accept` decides. */
  readonly stream: boolean | undefined
}

/** The names under which clients of different habits send the text. */
const TEXT_NAMES = ['query', 'message', 'prompt', 'input'] as const
/** Every member that counts. What is not nearly one of them is the client's own, and let pass. */
const members: ReadonlySet<string> = new Set([...TEXT_NAMES, 'messages', 'session_id', 'metadata', 'stream'])
const bare = (name: string): string => name.toLowerCase().replace(/[_-]/g, '')
const byBareName: ReadonlyMap<string, string> = new Map([...members].map((name) => [bare(name), name]))
const LONGEST = Math.max(...[...members].map(({ length }) => length))
/** So many members that do not count are looked at: no person misspells more. */
const MAX_STRAY = 100
const roles: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system'])

/**
 * Reads a parsed body; what is wrong with it where it is no query. `headerSession` is the value of X-Session-
 * Id.
 */
export function decodeQuery(
  body: unknown, headerSession: string | undefined,
): Query | FaultList<ProblemError> {
  const errors = new FaultList<ProblemError>()
  if (!isRecord(body)) {
    errors.add({ path: '', message: 'must be a JSON object, as in {"query": "hello"}' })
    return errors
  }
  rejectNearMisses(body, errors)
  const said = saidIn(body, errors)
  const { session_id: bodySession, metadata, stream } = body
  if (bodySession !== undefined && bodySession !== null && !isSessionId(bodySession)) {
    errors.add(badSession('/session_id'))
  }
  if (headerSession !== undefined && !isSessionId(headerSession)) errors.add(badSession('X-Session-Id'))
  if (typeof bodySession === 'string' && headerSession !== undefined && bodySession !== headerSession) {
    errors.add({ path: '/session_id', message: 'differs from the X-Session-Id header; send one of them' })
  }
  if (metadata !== undefined && metadata !== null && !isRecord(metadata)) {
    errors.add({ path: '/metadata', message: 'must be an object' })
  }
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean') {
    errors.add({ path: '/stream', message: 'must be true or false' })
  }
  if (errors.items.length > 0 || said === undefined) return errors
  return {
    query: said.query,
    history: said.history,
    sessionId: typeof bodySession === 'string' ? bodySession : headerSession,
    metadata: isRecord(metadata) ? metadata : undefined,
    stream: typeof stream === 'boolean' ? stream : undefined,
  }
}

/** A slip in a name would be a member left out, and a new conversation for one, without a word. */
function rejectNearMisses(body: Readonly<Record<string, unknown>>, errors: FaultList<ProblemError>): void {
  let strays = 0
  for (const name in body) {
    if (members.has(name) || body[name] === null) continue
    if (++strays > MAX_STRAY || errors.isFull) return
    const meant = nearMember(name)
    if (meant === undefined) continue
    errors.add({ path: `/${name}`, message: `is no member; did you mean "${meant}"?` })
  }
}

/** The member that a name was meant to be: but for its spelling, or for one slip. */
function nearMember(name: string): string | undefined {
  if (name.length > LONGEST + 2) return undefined
  const same = byBareName.get(bare(name))
  if (same !== undefined || name.length < 5) return same
  return nearest(name, [...members], 1)
}

function isSessionId(value: unknown): boolean {
  return typeof value === 'string' && CONVERSATION_ID.test(value)
}

function badSession(path: string): ProblemError {
  return { path, message: 'must be 8 to 128 letters, digits, or any of _ . -' }
}

function saidIn(
  body: Readonly<Record<string, unknown>>, errors: FaultList<ProblemError>,
): Pick<Query, 'query' | 'history'> | undefined {
  const names: readonly string[] = TEXT_NAMES.filter((name) => Object.hasOwn(body, name))
  const hasMessages = Object.hasOwn(body, 'messages')
  if (names.length + Number(hasMessages) > 1) {
    const all = [...names, ...hasMessages ? ['messages'] : []]
    for (const name of all) errors.add({ path: `/${name}`, message: `send one of ${all.join(', ')}` })
    return undefined
  }
  if (hasMessages) return lastOf(body['messages'], errors)
  const [name] = names
  if (name === undefined) {
    errors.add({ path: '/query', message: 'is missing; send {"query": "your text"}' })
    return undefined
  }
  const query = body[name]
  if (typeof query === 'string' && query.trim() !== '') return { query, history: undefined }
  const message = typeof query === 'string' ? 'must not be empty' : 'must be a string'
  errors.add({ path: `/${name}`, message })
  return undefined
}

function lastOf(
  messages: unknown, errors: FaultList<ProblemError>,
): Pick<Query, 'query' | 'history'> | undefined {
  if (!Array.isArray(messages) || messages.length === 0) {
    errors.add({ path: '/messages', message: 'must be a list of at least one { "role", "content" }' })
    return undefined
  }
  const before = errors.items.length
  const chat: ChatMessage[] = []
  for (const [index, message] of messages.entries()) {
    if (errors.isFull) {
      errors.stop()
      break
    }
    const one = messageOf(message, `/messages/${index}`, errors)
    if (one !== undefined) chat.push(one)
  }
  if (errors.items.length > before) return undefined
  const last = chat.findLastIndex((one) => one.role === 'user')
  const query = chat[last]?.content
  if (query === undefined || query.trim() === '') {
    errors.add({ path: '/messages', message: 'needs a user message that is not empty' })
    return undefined
  }
  return { query, history: chat.toSpliced(last, 1) }
}

function messageOf(message: unknown, path: string, errors: FaultList<ProblemError>): ChatMessage | undefined {
  if (!isRecord(message) || !roles.has(message['role'])) {
    errors.add({ path: `${path}/role`, message: 'must be user, assistant or system' })
    return undefined
  }
  const content = contentText(message['content'])
  if (content !== undefined) return { role: message['role'] as ChatMessage['role'], content }
  errors.add({ path: `${path}/content`, message: 'must be a string' })
  return undefined
}

/** A string, or the text of a list of parts, as chat clients send it. */
function contentText(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return undefined
  let all = ''
  for (const part of content) {
    if (!isRecord(part) || part['type'] !== 'text' || typeof part['text'] !== 'string') return undefined
    all += part['text']
  }
  return all
}
