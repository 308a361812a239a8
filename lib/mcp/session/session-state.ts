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
import { decodeClient, unable } from '../protocol/client.ts'
import { revisionByName } from '../protocol/revisions.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Severity } from '../../define/log.ts'
import type { Entry, Store, StoreKey } from '../../state/store.ts'
import type { ClientInfo } from '../../define/call.ts'
import type { Seal } from '../../wire/seal.ts'
import type { ClientAbilities } from '../protocol/client.ts'
import type { Handshake } from './session.ts'

/** How long another process may take a session up, from its beginning. */
export const SESSION_MS: number = 24 * 60 * 60_000

const PURPOSE = 'session'
/** Characters of the longest id: clients put them into a header. */
const MAX_LENGTH = 256

/** In the order of their bits; one that is new has its place at the end. */
const abilityNames = [
  'forms', 'urls', 'sampling', 'samplingTools', 'samplingContext', 'roots', 'samplingTasks',
  'elicitationTasks',
] as const satisfies readonly (keyof ClientAbilities)[]

/** The id of a session that begins now. */
export function sealSessionId(seal: Seal, owner: string, { revision, abilities, client }: Handshake): string {
  let bits = 0
  abilityNames.forEach((name, at) => { if (abilities[name]) bits |= 1 << at })
  const until = Date.now() + SESSION_MS
  for (const shown of shorter(client)) {
    const id = seal.seal(PURPOSE, [revision.name, bits, ...shown], until, owner)
    if (id.length <= MAX_LENGTH) return id
  }
  return seal.seal(PURPOSE, [revision.name, bits], until, owner)
}

/** What an id says; undefined where it is none, is not the owner's, or is too old. */
export function openSessionId(seal: Seal, owner: string, id: string): Handshake | undefined {
  if (id.length > MAX_LENGTH) return undefined
  const opened = seal.open(PURPOSE, id, owner)
  const [name, bits, client, extensions]: readonly unknown[] = Array.isArray(opened) ? opened : []
  const revision = typeof name === 'string' ? revisionByName.get(name) : undefined
  if (revision?.opening !== 'initialize' || typeof bits !== 'number') return undefined
  const can = (ability: (typeof abilityNames)[number]): boolean => (
    (bits & (1 << abilityNames.indexOf(ability))) !== 0
  )
  const abilities: ClientAbilities = {
    forms: can('forms'), urls: can('urls'), sampling: can('sampling'), samplingTools: can('samplingTools'),
    samplingContext: can('samplingContext'), roots: can('roots'), samplingTasks: can('samplingTasks'),
    elicitationTasks: can('elicitationTasks'),
    extensions: isRecord(extensions) ? extensions : unable.extensions,
  }
  return { revision, abilities, client: decodeClient(client, abilities) }
}

/** A client as it says that it is, then with less and less of it. */
function * shorter(client: ClientInfo | undefined): Generator<readonly unknown[]> {
  if (client === undefined) return
  const { extensions, ...named } = client
  if (extensions !== undefined) yield [named, extensions]
  yield [named]
  const { name, version } = named
  yield [{ name, version }]
  yield [{ name: Array.from(name).slice(0, 24).join(''), version: Array.from(version).slice(0, 12).join('') }]
}

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
