/**
 * Session ids that carry what `initialize` settled, so that a process which has never seen the session can go
 * on with it. Sealed, and bound to the principal: nobody can read, make or borrow one.
 *
 * Only what the house reads is in it. What a client says of itself is shortened until the id fits.
 */
import { isRecord } from '../../define/content.ts'
import { decodeClient, unable } from '../protocol/client.ts'
import { revisionByName } from '../protocol/revisions.ts'
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
