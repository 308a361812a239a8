/**
 * Checks put together: one after the other, with a record of what they evaluate, or through a reference.
 * Knows no keyword.
 */
import { EVALUATED, LIGHT } from './run.ts'
import type { Check, Scope, ValidationRun } from './run.ts'

/** A schema that is referred to; its check is put in later, when it has been compiled. */
export interface Node {
  check: Check
}

/** What asserts nothing. */
export function pass(): boolean {
  return true
}

/** The check that all of the checks pass. */
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

/** The same for two, of which either may assert nothing. */
export function both(first: Check, second: Check): Check {
  if (first === pass) return second
  if (second === pass) return first
  return (value, run) => first(value, run) && second(value, run)
}

/** The second only where the first has left no error. */
export function unlessFailed(first: Check, second: Check): Check {
  if (second === pass) return first
  return (value, run) => {
    const { length } = run.errors
    return first(value, run) && (run.errors.length > length || second(value, run))
  }
}

/** Keeps what is evaluated apart from what the schema around evaluates, and reports it there if it holds. */
export function evaluating(check: Check, reports: boolean): Check {
  return (value, run) => {
    const around = run.evaluated
    run.evaluated = []
    const goesOn = check(value, run)
    if (goesOn && reports) {
      run.pay(run.evaluated.length * EVALUATED)
      for (const key of run.evaluated) around.push(key)
    }
    run.evaluated = around
    return goesOn
  }
}

/** Goes to a node that is referred to from `levels` below another one. */
export function follow(target: (run: ValidationRun) => Node, levels: number): Check {
  return (value, run) => {
    run.enter(levels)
    const goesOn = target(run).check(value, run)
    run.leave(levels)
    return goesOn
  }
}

/** Goes into a document, which is part of the dynamic scope then. */
export function inDocument(document: Scope, check: Check): Check {
  return (value, run) => {
    run.scope.push(document)
    const goesOn = check(value, run)
    run.scope.pop()
    return goesOn
  }
}
