/** What is kept of a session besides its conversation, so that its client can list it and open it again. */
import { keptStoreOf } from '../../floors/conversations/kept-store.ts'
import { anonymous } from '../../kernel/define/principal.ts'
import { summaryOf } from '../../floors/conversations/conversation-page.ts'
import { keyOf } from '../../kernel/store/store.ts'
import { decoded, isText, optional, readStored, recordOf } from '../../floors/shared/stored-value.ts'
import { andThen } from '../../kernel/util/thenable.ts'
import { formatJson, isStrings } from '../../kernel/wire/json.ts'
import { wrong } from './content.ts'
import { absolutePath } from './session.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Entry, StoreKey } from '../../kernel/store/store.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { AcpSession } from './session.ts'

interface KeptSession {
  /** The working directory, then the additional ones. */
  readonly folders: readonly string[]
  readonly agentId?: string
  /** The beginning of its first prompt. */
  readonly title: string
  readonly updatedAt: string
}

const COLLECTION = 'acp-sessions'
const OWNER = keyOf(anonymous.id)
const PAGE_LENGTH = 50
/** How many pages one list looks through for the sessions of one folder. */
const MAX_PAGES = 20

function keyFor(id: string): StoreKey {
  return { collection: COLLECTION, owner: OWNER, key: keyOf(id) }
}

/** Keeps a session that has answered a prompt. A failure is logged: the answer is sent all the same. */
export async function keepSession(service: Service, session: AcpSession, prompt: string): Promise<void> {
  const { setup: { folders }, agentId, id } = session
  session.title ??= summaryOf(id, [{ role: 'user', content: prompt.trim().replace(/\s+/g, ' ') }]).preview
  const kept: KeptSession = {
    folders, ...agentId !== undefined && { agentId }, title: session.title,
    updatedAt: new Date().toISOString(),
  }
  try {
    const { conversationIdleMs } = service.limits
    await keptStoreOf(service).write(keyFor(id), formatJson(kept), conversationIdleMs, 'any')
  } catch (cause) {
    service.log('warning', 'A session could not be kept: it will not be listed', { cause })
  }
}

/** Throws, or rejects with, `Fault('busy')` where the store cannot be reached. */
export function readSession(service: Service, id: string): MaybePromise<KeptSession | undefined> {
  return andThen(keptStoreOf(service).read(keyFor(id)), (entry) => sessionIn(service, entry))
}

export function forgetSession(service: Service, id: string): MaybePromise<boolean> {
  return keptStoreOf(service).remove(keyFor(id), 'any')
}

/** One page, the session that was used last first. Rejects with `Fault('invalid')` for wrong parameters. */
export async function listSessions(
  service: Service, { cwd, cursor }: Readonly<Record<string, unknown>>,
): Promise<object> {
  const folder = cwd === undefined || cwd === null ? undefined : absolutePath(cwd, 'cwd')
  let before = cursor === undefined || cursor === null ? undefined : versionIn(cursor)
  const sessions: object[] = []
  for (let page = 0; page < MAX_PAGES && sessions.length < PAGE_LENGTH; page++) {
    const entries = await keptStoreOf(service).list(COLLECTION, OWNER, PAGE_LENGTH, before)
    for (const entry of entries) {
      const kept = sessionIn(service, entry)
      if (kept === undefined) continue
      const { folders: [first, ...others], title, updatedAt } = kept
      if (folder !== undefined && folder !== first) continue
      sessions.push({
        sessionId: entry.key, cwd: first, ...others.length > 0 && { additionalDirectories: others },
        ...title !== '' && { title }, updatedAt,
      })
    }
    if (entries.length < PAGE_LENGTH) return { sessions }
    before = entries.at(-1)?.version
  }
  return { sessions, nextCursor: String(before) }
}

/** The version of the last session of a page. */
function versionIn(cursor: unknown): number {
  if (typeof cursor === 'string' && /^\d{1,15}$/.test(cursor)) return Number(cursor)
  throw wrong('cursor', 'must be the nextCursor of a page before it')
}

const isKept = recordOf<KeptSession>({
  folders: (value) => isStrings(value) && value.length > 0, agentId: optional(isText), title: isText,
  updatedAt: isText,
})

function sessionIn({ log }: Service, entry: Entry | undefined): KeptSession | undefined {
  return readStored(COLLECTION, entry, decoded(isKept), log)
}
