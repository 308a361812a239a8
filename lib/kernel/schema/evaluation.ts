/**
 * The state of one evaluation: where it is, the errors it found, what it evaluated and what it spent.
 *
 * A quiet run stops at the first failure and answers only yes or no. A loud run records a failure and goes on
 * as though nothing had happened. Validators run quietly first and loudly only where the answer was no, so a
 * good value never pays for paths and messages.
 */
import { errorAt, nearestBranch, pointerOf } from './error.ts'
import type { Failure, Key, SchemaError } from './error.ts'
import type { CompileLimits } from './limits.ts'

/**
 * The budget of one validation, by which no value keeps the process for long. A step is about a tenth of a
 * microsecond. The check of a type or a bound is free: there are only so many in a schema. Who repeats
 * checks, or does work that grows with the value, pays for it, before or right after.
 */
export interface Fuel {
  /** In parts of a step. Throws `Exhausted` where too little is left. */
  pay(parts: number): void
}

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
const REFERENCE = 20
/** A character that a grammar reads. */
export const CHARACTER = 5
/** A character that is only looked at. */
export const GLANCE = 1
/** Comparing two values, or digesting one that is to be compared, apart from what is in them. */
export const COMPARISON = 40
/** Remembering one of the items that must differ. */
export const UNIQUE = 80
const ERROR = 400

/** So few names cost no more than coming to the object did. */
const FEW_NAMES = 16
/** From so many names on, an object's members are a hash table, whose names the runtime has to sort. */
const MANY_NAMES = 1_000
/** What one of so many costs. */
const SORTED = 120

export function namesOf(object: object, fuel: Fuel): readonly string[] {
  const names = Object.keys(object)
  if (names.length > FEW_NAMES) fuel.pay(names.length * (names.length < MANY_NAMES ? LIGHT : SORTED))
  return names
}

/** Checks a value. False ends the run; in a loud run `run.fails` records the failure and answers true. */
export type Check = (value: unknown, run: Evaluation) => boolean

/** A schema document that a reference has led into. */
export interface Scope { readonly uri: string }

export class Evaluation {
  quiet = true
  errors: SchemaError[] = []
  /** Names and indexes evaluated so far in the current value, where a keyword reads that. */
  evaluated: unknown[] = []
  #depth = 0
  /** The steps of one value, and the parts of them that may still be spent. */
  #maxSteps = 0
  #left = 0
  /** The dynamic scope: the documents entered, outermost first. */
  readonly scope: Scope[]
  readonly limits: CompileLimits
  /** What led to the current value; kept while the run is loud. */
  readonly #keys: Key[] = []

  constructor(limits: CompileLimits, outermost: Scope) {
    this.limits = limits
    this.scope = [outermost]
  }

  /** Makes a new run, or a quiet one that came to its end, fit for a value that may take so many steps. */
  begin(maxSteps: number): void {
    this.#maxSteps = maxSteps
    this.#left = maxSteps * STEP
  }

  checkPart(check: Check, value: unknown, key: Key): boolean {
    if (this.quiet) return check(value, this)
    this.#keys.push(key)
    const goesOn = check(value, this)
    this.#keys.pop()
    return goesOn
  }

  /** Whether a schema holds; why not is not recorded. */
  holds(check: Check, value: unknown): boolean {
    const { quiet } = this
    this.quiet = true
    const held = check(value, this)
    this.quiet = quiet
    return held
  }

  /** Records a failure of the current value, or of a part of it. False where no more errors are listed. */
  fails(failure: Failure, value: unknown, key?: string): boolean {
    if (this.quiet) return false
    this.errors.push(errorAt(pointerOf(this.#keys, key), failure, value))
    this.quiet = this.errors.length >= this.limits.maxErrors
    this.pay(ERROR)
    return !this.quiet
  }

  /** Records that no branch holds: the errors of the nearest one, and that none does. */
  failsAll(branches: readonly Check[], failure: Failure, value: unknown): boolean {
    if (this.quiet) return false
    const { errors } = this
    try {
      const attempts = branches.map((branch) => {
        this.quiet = false
        this.errors = []
        this.pay(ERROR)
        branch(value, this)
        return this.errors
      })
      for (const error of nearestBranch(attempts, pointerOf(this.#keys))) errors.push(error)
    } finally {
      this.quiet = false
      this.errors = errors
    }
    return this.fails(failure, value)
  }

  enter(levels: number): void {
    this.pay(REFERENCE)
    this.#depth += levels
    const { maxDepth } = this.limits
    if (this.#depth > maxDepth) this.#end('maxDepth', maxDepth, 'is nested too deeply to check')
  }

  leave(levels: number): void {
    this.#depth -= levels
  }

  pay(parts: number): void {
    this.#left -= parts
    if (this.#left >= 0) return
    this.#end('maxSteps', this.#maxSteps, 'is too costly to check against this schema')
  }

  #end(bound: 'maxSteps' | 'maxDepth', most: number, why: string): never {
    throw new Exhausted({ keyword: bound, message: `${why} (${bound} ${most})` })
  }
}

export function pass(): boolean {
  return true
}

export function all(checks: readonly Check[]): Check {
  const [first = pass] = checks
  if (checks.length <= 1) return first
  const cost = checks.length * LIGHT
  return (value, run) => {
    run.pay(cost)
    for (const check of checks) if (!check(value, run)) return false
    return true
  }
}
