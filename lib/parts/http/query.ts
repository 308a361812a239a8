/**
 * Decodes the body of a query, or lists every member that is wrong. Never guesses.
 */
import { chatRoles } from '../../floors/conversations/chat.ts'
import { isGiven, isRecord } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { CONVERSATION_ID } from '../../floors/conversations/conversation-page.ts'
import { nearest, unseen } from '../../kernel/define/validate.ts'
import { FaultList } from '../../kernel/wire/bounded.ts'
import type { ChatMessage } from '../../kernel/define/call.ts'
import type { ProblemError } from '../../kernel/wire/problem.ts'

export interface Query {
  readonly query: string
  /** Undefined where the client sent none: then the conversation's own history holds. */
  readonly history: readonly ChatMessage[] | undefined
  readonly sessionId: string | undefined
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  /** Undefined where `Accept` decides. */
  readonly stream: boolean | undefined
}

/** The names under which different clients send the text, and a whole conversation. */
const questionNames: readonly string[] = ['query', 'message', 'prompt', 'input', 'messages']
/** Every member that is read. A name that is not close to one of them is the client's own, and ignored. */
const members: ReadonlySet<string> = new Set([...questionNames, 'session_id', 'metadata', 'stream'])
const bare = (name: string): string => name.toLowerCase().replace(/[_-]/g, '')
const byBareName: ReadonlyMap<string, string> = new Map([...members].map((name) => [bare(name), name]))
const LONGEST = Math.max(...[...members].map(({ length }) => length))
/** Unknown members that are checked for a misspelling. */
const MAX_STRAY = 100
const BAD_SESSION = 'must be 8 to 128 letters, digits, or any of _ . -'

type Members = Readonly<Record<string, unknown>>
type Errors = FaultList<ProblemError>

/**
 * Reads a parsed body. `headerSession` is the value of `X-Session-Id`. Throws `Fault('invalid')` with all
 * that is wrong as its `errors`.
 */
export function decodeQuery(body: unknown, headerSession: string | undefined): Query {
  const errors = new FaultList<ProblemError>()
  const query = isRecord(body) ? queryIn(body, headerSession, errors)
    : failed(errors, '', 'must be a JSON object, as in {"query": "hello"}')
  const { items, isCut } = errors
  if (items.length === 0 && query !== undefined) return query
  const sentences = items.map(({ path, message }) => `${path === '' ? 'The body' : path} ${message}`)
  if (isCut) sentences.unshift(`More than ${items.length} members are wrong`)
  throw new Fault('invalid', sentences.join('; '), { errors: items })
}

function queryIn(body: Members, headerSession: string | undefined, errors: Errors): Query | undefined {
  if ('threadId' in body && 'runId' in body) {
    failed(errors, '', 'is an input of AG-UI; send it to the path of the agent followed by /agui')
  }
  rejectNearMisses(body, errors)
  const asked = questionOf(body, errors)
  const { session_id: session, metadata, stream } = body
  if (isGiven(session) && !isSessionId(session)) failed(errors, '/session_id', BAD_SESSION)
  if (isGiven(headerSession) && !isSessionId(headerSession)) failed(errors, 'X-Session-Id', BAD_SESSION)
  if (typeof session === 'string' && headerSession !== undefined && session !== headerSession) {
    failed(errors, '/session_id', 'differs from the X-Session-Id header; send one of them')
  }
  if (isGiven(metadata) && !isRecord(metadata)) failed(errors, '/metadata', 'must be an object')
  if (isGiven(stream) && typeof stream !== 'boolean') failed(errors, '/stream', 'must be true or false')
  return asked && {
    query: asked.query,
    history: asked.history,
    sessionId: typeof session === 'string' ? session : headerSession,
    metadata: isRecord(metadata) ? metadata : undefined,
    stream: typeof stream === 'boolean' ? stream : undefined,
  }
}

function failed(errors: Errors, path: string, message: string): undefined {
  return void errors.add({ path, message })
}

/** A misspelled `session_id` would silently begin a new conversation. */
function rejectNearMisses(body: Members, errors: Errors): void {
  let strays = 0
  for (const name in body) {
    if (members.has(name) || body[name] === null) continue
    if (++strays > MAX_STRAY || errors.isFull) return
    const meant = nearMember(name)
    if (meant !== undefined) failed(errors, `/${name}`, `is no member; did you mean "${meant}"?`)
  }
}

/** The member that a name stands for, apart from its case, its separators, or one wrong letter. */
function nearMember(name: string): string | undefined {
  if (name.length > LONGEST + 2) return undefined
  const same = byBareName.get(bare(name))
  if (same !== undefined || name.length < 5) return same
  return nearest(name, [...members], 1)
}

function isSessionId(value: unknown): boolean {
  return typeof value === 'string' && CONVERSATION_ID.test(value)
}

function questionOf(body: Members, errors: Errors): Pick<Query, 'query' | 'history'> | undefined {
  const names = questionNames.filter((name) => Object.hasOwn(body, name) && body[name] !== null)
  const [name] = names
  if (names.length > 1) {
    for (const one of names) failed(errors, `/${one}`, `send one of ${names.join(', ')}`)
  } else if (name === 'messages') {
    return lastOf(body['messages'], errors)
  } else if (name === undefined) {
    return failed(errors, '/query', 'is missing; send {"query": "your text"}')
  } else {
    const query = body[name]
    if (typeof query === 'string' && query.trim() !== '') return { query, history: undefined }
    return failed(errors, `/${name}`, typeof query === 'string' ? 'must not be empty' : 'must be a string')
  }
  return undefined
}

function lastOf(messages: unknown, errors: Errors): Pick<Query, 'query' | 'history'> | undefined {
  if (!Array.isArray(messages) || messages.length === 0) {
    return failed(errors, '/messages', 'must be a list of at least one { "role", "content" }')
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
  if (query !== undefined && query.trim() !== '') return { query, history: chat.toSpliced(last, 1) }
  return failed(errors, '/messages', 'needs a user message that is not empty')
}

function messageOf(message: unknown, path: string, errors: Errors): ChatMessage | undefined {
  const role = isRecord(message) ? chatRoles.get(message['role']) : undefined
  if (!isRecord(message) || role === undefined) {
    return failed(errors, `${path}/role`, 'must be user, assistant or system')
  }
  const { content: given } = message
  const content = contentText(given)
  if (content !== undefined) return { role, content }
  const strange: unknown = Array.isArray(given) ? given.find((part) => textOf(part) === undefined) : undefined
  const type = isRecord(strange) && strange['type'] !== 'text' ? strange['type'] : undefined
  return failed(errors, `${path}/content`, `must be a string, or a list of text parts${unseen(type)}`)
}

/** A string, or the text of a list of parts, as chat clients send it. */
function contentText(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return undefined
  let all = ''
  for (const part of content) {
    const text = textOf(part)
    if (text === undefined) return undefined
    all += text
  }
  return all
}

function textOf(part: unknown): string | undefined {
  const { type, text } = isRecord(part) ? part : {}
  return type === 'text' && typeof text === 'string' ? text : undefined
}
