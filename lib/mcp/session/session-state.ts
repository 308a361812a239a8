/**
 * The few words of a session that change after `initialize`: how much it wants to hear of logs, what it
 * watches, that it has ended. Kept in the store, from the first of them on, for whichever process goes on
 * with the session.
 */
import { isRecord } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import { isSeverity } from '../../define/log.ts'
import { keyOf } from '../../state/store.ts'
import { andThen } from '../../util/thenable.ts'
import { SESSION_MS } from './session-id.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Severity } from '../../define/log.ts'
import type { Entry, Store, StoreKey } from '../../state/store.ts'

/** The words of one session. */
export interface SessionState {
  readonly logLevel: Severity | undefined
  readonly subscriptions: readonly string[]
  /** What the client might do when it last subscribed. */
  readonly scopes: readonly string[]
  readonly isOver: boolean
}

/** What another thing that a session says makes of its words. */
export type WordChange = (words: SessionState) => Partial<SessionState>

const unsaid: SessionState = { logLevel: undefined, subscriptions: [], scopes: [], isOver: false }
/** So often is a change begun again after another process was first. */
const MAX_ATTEMPTS = 32

/** The words of all sessions in one store. */
export class AllSessionWords {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** What is kept of a session; undefined where nothing is. */
  read(owner: string, id: string): MaybePromise<SessionState | undefined> {
    const entry = this.#store.read(placeOf(owner, id))
    return andThen(entry, decode)
  }

  /** Changes what is kept. Rejects with `Fault('busy')` where that cannot be done now. */
  async change(owner: string, id: string, change: WordChange): Promise<void> {
    const place = placeOf(owner, id)
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const entry = await this.#store.read(place)
      const before = decode(entry) ?? unsaid
      if (before.isOver) return
      const text = JSON.stringify({ ...before, ...change(before) })
      if (await this.#store.write(place, text, SESSION_MS, entry?.version ?? 0) !== undefined) return
    }
    throw new Fault('busy', 'This session changes all the time; try again later')
  }
}

/** What a session says of a resource that it watches, or watches no more. */
export function watching(uri: string, scopes: readonly string[] | undefined): WordChange {
  return ({ subscriptions }) => {
    const others = subscriptions.filter((one) => one !== uri)
    return scopes === undefined ? { subscriptions: others } : { subscriptions: [...others, uri], scopes }
  }
}

function placeOf(owner: string, id: string): StoreKey {
  return { collection: 'sessions', owner: keyOf(owner), key: keyOf(id) }
}

function decode(entry: Entry | undefined): SessionState | undefined {
  if (entry === undefined) return undefined
  const value: unknown = JSON.parse(entry.value)
  if (!isRecord(value)) return undefined
  const { logLevel, subscriptions, scopes, isOver } = value
  return {
    logLevel: isSeverity(logLevel) ? logLevel : undefined,
    subscriptions: texts(subscriptions), scopes: texts(scopes), isOver: isOver === true,
  }
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
