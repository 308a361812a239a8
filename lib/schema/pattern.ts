/**
 * Patterns (ECMA-262 with the `u` flag): a source in, a test out that no text makes slow.
 *
 * The runtime's own engine backtracks: it tries one way to match after the other, and there may be as many as
 * the length of the text to some power, or two to the power of it. It is asked where it cannot take long, and
 * an automaton everywhere else. Refused is only what no automaton can match and backtracking cannot in time.
 */
import { automatonOf, sizeOf } from './automaton.ts'
import { parseExpression } from './expression.ts'
import type { Matches } from './automaton.ts'
import type { Expression } from './expression.ts'
import type { Site } from './rule.ts'

/** What an expression may make the runtime's engine do at one place of a text. */
interface Backtracking {
  /** In how many ways it may match. */
  readonly ways: number
  /** The steps to try them all. */
  readonly steps: number
}

/** The most states of an automaton. */
const MAX_STATES = 5_000
/** The most steps for each character that the runtime's engine is allowed where there is an automaton. */
const MAX_PER_CHARACTER = 32
/** Longer texts, in bits of the length, could exhaust the stack where it keeps what it may come back to. */
const MAX_NATIVE_BITS = 16
/** How many of its steps are as much work as one of ours. */
const NATIVE_STEPS = 64
/** What no automaton matches must not take it forever: steps for a text of 1,024 characters. */
const MAX_USUAL = 30_000_000

/** The test of the pattern at a keyword. Throws the mistake where there can be none. */
export function patternAt(site: Site, source: string, ...steps: readonly string[]): Matches {
  try {
    return matcher(source)
  } catch (error) {
    throw site.broken(error instanceof Error ? error.message : String(error), ...steps)
  }
}

function matcher(source: string): Matches {
  const native = nativeOf(source)
  const expression = parseExpression(native.source)
  const hasAutomaton = sizeOf(expression) <= MAX_STATES
  if (!hasAutomaton && stepsOf(expression, 1024) > MAX_USUAL) {
    throw new Error('the pattern could take for ever; write it without back-references and huge repetitions')
  }
  let automaton: Matches | undefined
  // What the runtime's engine costs for texts whose length has so many bits; infinite where it is not asked.
  const costs: number[] = []
  return (text, fuel) => {
    const bits = 32 - Math.clz32(text.length)
    const cost = costs[bits] ??= costOf(expression, bits, hasAutomaton)
    if (hasAutomaton && cost === Infinity) return (automaton ??= automatonOf(expression))(text, fuel)
    return fuel.pays(cost) && native.test(text)
  }
}

function costOf(expression: Expression, bits: number, hasAutomaton: boolean): number {
  const length = 2 ** bits
  const steps = bits > MAX_NATIVE_BITS ? Infinity : stepsOf(expression, length)
  return hasAutomaton && steps > length * MAX_PER_CHARACTER ? Infinity : steps / NATIVE_STEPS
}

/** The runtime's expression. Escapes that `u` forbids but people write, like `\-`, are spelled in its way. */
function nativeOf(source: string): RegExp {
  try {
    return RegExp(source, 'u')
  } catch {
    return RegExp(source.replace(/\\(.)/gs, (escape, character: string) =>
      /[ !"#%&',:;<=>@_`~-]/.test(character) ? `\\x${character.charCodeAt(0).toString(16)}` : escape), 'u')
  }
}

/** The most steps that backtracking may take to search a text of some length. */
function stepsOf(expression: Expression, length: number): number {
  const { steps } = backtracking(expression, length)
  return isAnchored(expression) ? steps : steps * length
}

function isAnchored(expression: Expression): boolean {
  switch (expression.kind) {
    case 'assertion': return expression.source === '^'
    case 'sequence': return expression.parts[0] !== undefined && isAnchored(expression.parts[0])
    case 'choice': return expression.branches.every(isAnchored)
    default: return false
  }
}

function backtracking(expression: Expression, length: number): Backtracking {
  switch (expression.kind) {
    case 'sequence': return inTurn(expression.parts, length)
    case 'choice': return eitherOf(expression.branches, length)
    case 'repetition': return repeated(expression.part, expression.min, expression.max, length)
    // Once it has matched, it is not entered again.
    case 'look-around': return { ways: 1, steps: backtracking(expression.part, length).steps }
    case 'other': return { ways: 1, steps: length }
    default: return { ways: 1, steps: 1 }
  }
}

function inTurn(parts: readonly Expression[], length: number): Backtracking {
  let ways = 1
  let steps = 1
  for (const part of parts) {
    const inner = backtracking(part, length)
    // What follows is tried again for each way of what comes before.
    steps += ways * inner.steps
    ways *= inner.ways
  }
  return { ways, steps }
}

function eitherOf(branches: readonly Expression[], length: number): Backtracking {
  const inner = branches.map((branch) => backtracking(branch, length))
  return {
    ways: inner.reduce((sum, { ways }) => sum + ways, 0),
    steps: inner.reduce((sum, { steps }) => sum + steps, 1),
  }
}

function repeated(part: Expression, min: number, max: number, length: number): Backtracking {
  const inner = backtracking(part, length)
  let ways = 0
  let steps = 1
  let entered = 1
  // Every time but an empty one, which ends the loop, reads a character.
  for (let times = 0; times <= Math.min(max, length) && ways < Infinity; times++) {
    if (times >= min) ways += entered
    steps += entered * inner.steps
    entered *= inner.ways
  }
  return { ways: Math.max(1, ways), steps }
}
