/**
 * The budget of one validation, by which no value keeps the process for long, and what work costs.
 *
 * A step is about a tenth of a microsecond. The check of a type or a bound is free: there are only so many in
 * a schema. Who repeats checks, or does work that grows with the value, pays for it, before or right after.
 */

/** What work is paid from. */
export interface Fuel {
  /** Pays for steps. False: there is not enough left, and the answer does not matter any more. */
  pays(steps: number): boolean
}

/** Going on to one item, property or branch. */
export const LIGHT: number = 1 / 5
/** Remembering that an item or property was evaluated. */
export const EVALUATED: number = 1 / 2
/** Following a reference. */
export const REFERENCE: number = 1 / 2
/** A character that a grammar reads. */
export const CHARACTER: number = 1 / 8
/** A character that is only looked at. */
export const GLANCE: number = 1 / 64
/** Comparing two values, or digesting one that is to be compared, apart from what is in them. */
export const COMPARISON: number = 1
/** Remembering one of the items that must differ. */
export const UNIQUE: number = 2
/** Writing down an error. */
export const ERROR: number = 10

/** From so many names on, an object's members are a hash table, whose names the runtime has to sort. */
const MANY_NAMES = 1_000

/** The names of an object's own properties; none where they cannot be paid. */
export function namesOf(object: object, fuel: Fuel): readonly string[] {
  if (!fuel.pays(LIGHT)) return []
  const names = Object.keys(object)
  return fuel.pays(names.length * (names.length < MANY_NAMES ? LIGHT : 3)) ? names : []
}
