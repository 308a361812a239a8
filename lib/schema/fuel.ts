/**
 * The budget of one validation, by which no value keeps the process for long, and what work costs.
 *
 * A step is about a tenth of a microsecond. The check of a type or a bound is free: there are only so many in
 * a schema. Who repeats checks, or does work that grows with the value, pays for it, before or right after.
 */
import type { Failure } from './error.ts'

/** What work is paid from. */
export interface Fuel {
  /** Pays for work, in parts of a step. Throws `Exhausted` where too little is left. */
  pay(parts: number): void
}

/** Ends a validation before its time, from wherever it is. */
export class Exhausted extends Error {
  readonly bound: Failure

  constructor(bound: Failure) {
    super(bound.message)
    this.bound = bound
  }
}

/** A step. It has parts because the runtime is quickest with whole numbers. */
export const STEP = 40
/** Going on to one item, property or branch. */
export const LIGHT = 8
/** Remembering that an item or property was evaluated. */
export const EVALUATED = 20
/** Following a reference. */
export const REFERENCE = 20
/** A character that a grammar reads. */
export const CHARACTER = 5
/** A character that is only looked at. */
export const GLANCE = 1
/** Comparing two values, or digesting one that is to be compared, apart from what is in them. */
export const COMPARISON = 40
/** Remembering one of the items that must differ. */
export const UNIQUE = 80
/** Writing down an error. */
export const ERROR = 400

/** So few names cost no more than coming to the object did. */
const FEW_NAMES = 16
/** From so many names on, an object's members are a hash table, whose names the runtime has to sort. */
const MANY_NAMES = 1_000
/** What one of so many costs. */
const SORTED = 120

/** The names of an object's own properties. */
export function namesOf(object: object, fuel: Fuel): readonly string[] {
  const names = Object.keys(object)
  if (names.length > FEW_NAMES) fuel.pay(names.length * (names.length < MANY_NAMES ? LIGHT : SORTED))
  return names
}
