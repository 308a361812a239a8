/**
 * What a process needs to go on with a session that it has never seen: the id carries what `initialize`
 * settled, sealed and bound to the principal; the store keeps what has changed since.
 */
import { isRecord } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import { isSeverity } from '../../define/log.ts'
import { keyOf } from '../../state/store.ts'
import { andThen } from '../../util/thenable.ts'
import { abilitiesOf, bitsOf, decodeClient, unable } from '../protocol/client.ts'
import { revisionByName } from '../protocol/revisions.ts'
import type { ClientInfo } from '../../define/call.ts'
import type { Seal } from '../../wire/seal.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Severity } from '../../define/log.ts'
import type { Entry, Store, StoreKey } from '../../state/store.ts'
import type { Handshake } from './session.ts'

/** How long another process may go on with a session, from its beginning. */
const SESSION_MS = 24 * 60 * 60_000
const PURPOSE = 'session'
/** Characters of the longest id: clients put them into a header. */
const MAX_LENGTH = 256

/** The id of a session that begins now. What a client tells about itself is shortened until the id fits. */
export function sealSessionId(seal: Seal, owner: string, { revision, abilities, client }: Handshake): string {
  const bits = bitsOf(abilities)
  const until = Date.now() + SESSION_MS
  for (const shown of shorter(client)) {
    const id = seal.seal(PURPOSE, [revision.name, bits, ...shown], until, owner)
    if (id.length <= MAX_LENGTH) return id
  }
  return seal.seal(PURPOSE, [revision.name, bits], until, owner)
}

/** What an id carries; undefined where it is invalid, is not the owner's, or is too old. */
export function openSessionId(seal: Seal, owner: string, id: string): Handshake | undefined {
  if (id.length > MAX_LENGTH) return undefined
  const opened = seal.open(PURPOSE, id, owner)
  const [name, bits, client, extensions]: readonly unknown[] = Array.isArray(opened) ? opened : []
  const revision = typeof name === 'string' ? revisionByName.get(name) : undefined
  if (revision?.opening !== 'initialize' || typeof bits !== 'number') return undefined
  const abilities = abilitiesOf(bits, isRecord(extensions) ? extensions : unable.extensions)
  return { revision, abilities, client: decodeClient(client, abilities) }
}

/** A client as it names itself, then with less and less of it. */
function * shorter(client: ClientInfo | undefined): Generator<readonly unknown[]> {
  if (client === undefined) return
  const { extensions, ...named } = client
  if (extensions !== undefined) yield [named, extensions]
  yield [named]
  const { name, version } = named
  yield [{ name, version }]
  yield [{ name: Array.from(name).slice(0, 24).join(''), version: Array.from(version).slice(0, 12).join('') }]
}

/** What changes after `initialize`. */
export interface SessionState {
  readonly logLevel: Severity | undefined
  readonly subscriptions: readonly string[]
  /** The client's scopes when it last subscribed. */
  readonly scopes: readonly string[]
  readonly isOver: boolean
}

export type StateChange = (state: SessionState) => Partial<SessionState>

const initial: SessionState = { logLevel: undefined, subscriptions: [], scopes: [], isOver: false }
/** How often a change is tried after another process was first. */
const MAX_ATTEMPTS = 32

/** The states of all sessions in one store. */
export class SessionStates {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** The state of a session; undefined where nothing has changed. */
  read(owner: string, id: string): MaybePromise<SessionState | undefined> {
    return andThen(this.#store.read(storeKeyOf(owner, id)), decode)
  }

  /** Changes the state. Rejects with `Fault('busy')` where that cannot be done now. */
  async change(owner: string, id: string, change: StateChange): Promise<void> {
    const key = storeKeyOf(owner, id)
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const entry = await this.#store.read(key)
      const before = decode(entry) ?? initial
      if (before.isOver) return
      const text = JSON.stringify({ ...before, ...change(before) })
      if (await this.#store.write(key, text, SESSION_MS, entry?.version ?? 0) !== undefined) return
    }
    throw new Fault('busy', 'This session changes all the time; try again later')
  }
}

/** A subscription to a resource; `scopes` undefined: its end. */
export function subscribed(uri: string, scopes: readonly string[] | undefined): StateChange {
  return ({ subscriptions }) => {
    const others = subscriptions.filter((one) => one !== uri)
    return scopes === undefined ? { subscriptions: others } : { subscriptions: [...others, uri], scopes }
  }
}

function storeKeyOf(owner: string, id: string): StoreKey {
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
