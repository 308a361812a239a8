/**
 * How a card is written for its readers: the members of every dialect at once, in which each of them finds
 * its own, or those of one version. A card of 1.0 alone can be signed.
 * Spec: A2A 1.0 §8.4.
 */
import { isRecord } from '../../define/content.ts'
import { dialects } from '../codec/dialects.ts'
import type { Card, JsonMembers } from '../model/model.ts'
import type { A2aServerOptions } from '../model/options.ts'
import type { Signer } from '../model/signature.ts'

/** Whose members stand in a card. */
export type CardMode = NonNullable<A2aServerOptions['card']>

const NEWEST = '1.0'

/** What a client that names a version (`A2A-Version`) reads, where the operator has set a mode or none. */
export function modeFor(version: string | undefined, mode: CardMode = 'hybrid'): CardMode {
  return mode === 'hybrid' && version !== undefined && /^\s*1(?:\.\d+)*\s*$/.test(version) ? NEWEST : mode
}

/** The members of a card. Only one of 1.0 alone is signed: older members would stand beside what is. */
export function documentOf(
  card: Card, mode: CardMode, signer: Signer | undefined,
): JsonMembers {
  const spoken = mode === 'hybrid' ? dialects
    : dialects.filter(({ name }) => (name === NEWEST) === (mode === NEWEST))
  const parts = spoken.map((dialect) => dialect.encodeCard(card))
  const members = parts.reduce((all, part) => joined(all, part), {})
  return mode === NEWEST && signer !== undefined ? { ...members, signatures: [signer(members)] } : members
}

/** Both together, objects of one name within them too. */
function joined(one: JsonMembers, other: JsonMembers): JsonMembers {
  const members = new Map(Object.entries(one))
  for (const [name, value] of Object.entries(other)) {
    if (value === undefined) continue
    const known = members.get(name)
    members.set(name, isRecord(known) && isRecord(value) ? joined(known, value) : value)
  }
  return Object.fromEntries(members)
}
