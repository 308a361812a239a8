/**
 * Patterns (ECMA-262 with the `u` flag): a source in, a test out that no text makes slow.
 *
 * The runtime's own engine backtracks: it tries one way to match after the other, and there may be as many
 * as the length of the text to some power, or two to the power of it. It is asked where its time grows with
 * the length and no faster, and an automaton everywhere else. Refused is only what neither can do.
 */
import { automatonOf, stateCount } from './automaton.ts'
import { parsePattern } from './pattern-tree.ts'
import { CHARACTER } from './fuel.ts'
import type { Matches } from './automaton.ts'
import type { PatternTree } from './pattern-tree.ts'
import type { Site } from './rule.ts'

/** The most states of an automaton. */
const MAX_STATES = 5_000
/** Longer texts could exhaust the stack on which the runtime's engine keeps what it may come back to. */
const MAX_NATIVE = 65_536
/** From so many states on, a pattern may read a long piece of text at one go. */
const LONG = 64
/** What a step of the runtime's engine costs. */
const NATIVE_STEP = 1

/** The test of the pattern at a keyword. Throws the mistake where there can be none. */
export function patternAt(site: Site, source: string, ...steps: readonly string[]): Matches {
  try {
    return matcher(source)
  } catch (error) {
    const isDeep = error instanceof RangeError
    throw site.broken(isDeep ? 'the pattern is nested too deeply' : Object(error).message, ...steps)
  }
}

function matcher(source: string): Matches {
  const native = nativeOf(source)
  const tree = parsePattern(native.source)
  const size = stateCount(tree)
  const power = powerOf(tree, size)
  const isQuick = power <= 1
  if (size <= MAX_STATES) {
    let automaton: Matches | undefined
    return (text, fuel) => {
      if (!isQuick || text.length > MAX_NATIVE) return (automaton ??= automatonOf(tree))(text, fuel)
      fuel.pay(text.length * CHARACTER)
      return native.test(text)
    }
  }
  if (power > 3) {
    throw new Error('the pattern could take for ever; write it without back-references and huge repetitions')
  }
  return (text, fuel) => {
    fuel.pay(text.length > MAX_NATIVE ? Infinity : text.length ** power * NATIVE_STEP)
    return native.test(text)
  }
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

/** To which power of the length of a text the runtime's engine may take steps. */
function powerOf(tree: PatternTree, size: number): number {
  const [, steps] = growth(tree)
  // It begins at every character unless it may begin at the first only, and each time may read a long piece.
  return steps + (isAnchored(tree) ? 0 : 1) + (size > LONG && size < Infinity ? 1 : 0)
}

function isAnchored(tree: PatternTree): boolean {
  if (tree.kind === 'sequence') return tree.parts.slice(0, 1).some(isAnchored)
  return tree.kind === 'assertion' && tree.source === '^'
}

/** In how many ways an expression may match at a place, and the steps to try them: powers of the length. */
function growth(tree: PatternTree): readonly [ways: number, steps: number] {
  let ways = 0
  let steps = 0
  switch (tree.kind) {
    case 'sequence':
      for (const part of tree.parts) {
        const inner = growth(part)
        // What follows is tried again for each way of what comes before.
        steps = Math.max(steps, ways + inner[1])
        ways += inner[0]
      }
      return [ways, steps]
    case 'choice':
      for (const branch of tree.branches) {
        const inner = growth(branch)
        ways = Math.max(ways, inner[0])
        steps = Math.max(steps, inner[1])
      }
      // A few alternatives count like a loop, since several in turn multiply too.
      return [ways + 1, steps + 1]
    case 'repetition': {
      const { part, min, max } = tree
      const inner = growth(part)
      if (min === max && inner[0] === 0) return inner
      return inner[0] > 0 && max > 1 ? [Infinity, Infinity] : [inner[0] + 1, inner[1] + 1]
    }
    // Once it has matched, it is not entered again.
    case 'look-around': return [0, growth(tree.part)[1]]
    case 'other': return [0, 1]
    default: return [0, 0]
  }
}
