/**
 * A pattern's tree to a test that takes time in proportion to the text, whatever the pattern: Thompson's
 * simulation of a nondeterministic finite automaton.
 *
 * All ways to match are followed at once, character by character, as a set of states. Sets that came up are
 * kept with what each character makes of them, so most steps are one look-up: a deterministic automaton that
 * is built as texts need it. Knows nothing of schemas.
 */
import { CHARACTER, STEP } from './fuel.ts'
import type { PatternTree } from './pattern-tree.ts'
import type { Fuel } from './fuel.ts'

/** Whether there is a match. `at`: where a look-around stands. */
export type Matches = (text: string, fuel: Fuel, at?: number) => boolean

/** Where a match may be: anywhere; right from a place on, as in `(?=`; right up to it, as in `(?<=`. */
type Reach = 'anywhere' | 'ahead' | 'behind'

type Condition = (text: string, at: number, fuel: Fuel) => boolean

/** Goes on after a character that it reads, or where its condition holds, or in any case. */
interface State {
  readonly id: number
  readonly reads: ((character: string) => boolean) | undefined
  readonly holds: Condition | undefined
  readonly next: State[]
}

/** The states that are active between two characters. */
interface Stand {
  /** Those that read the next character. */
  readonly readers: readonly State[]
  /** Whether a match ends here. */
  readonly ends: boolean
  /** The stand after a character: by code point, inverted for the last one of a text. */
  readonly after: Map<number, Stand>
}

/** What an automaton keeps: look-ups, and the states of stands; some dozen bytes each. */
const MAX_KEPT = 20_000

const END: State = { id: 0, reads: undefined, holds: undefined, next: [] }

const assertions: ReadonlyMap<string, Condition> = new Map<string, Condition>([
  ['^', (_, at) => at === 0],
  ['$', (text, at) => at === text.length],
  ['\\b', isEdge],
  ['\\B', (text, at) => !isEdge(text, at)],
])

/** How many states the automaton of a pattern has at most; infinite where there is none. */
export function stateCount(tree: PatternTree): number {
  switch (tree.kind) {
    case 'sequence': return tree.parts.reduce((size, part) => size + stateCount(part), 0)
    case 'choice': return tree.branches.reduce((size, branch) => size + stateCount(branch), 1)
    case 'repetition': return (stateCount(tree.part) + 1) * (copiesOf(tree.min, tree.max) + 1)
    case 'look-around': return stateCount(tree.part) + 1
    case 'other': return Infinity
    default: return 1
  }
}

/** Makes the test of a pattern. What it keeps is bounded. */
export function automatonOf(tree: PatternTree, reach: Reach = 'anywhere'): Matches {
  const tests = new Map<string, RegExp>()
  const stands = new Map<string, Stand>()
  let states = 0
  let kept = 0
  // Whether only the first and the last place of a text differ from the others.
  let isPlain = true
  let first: Stand | undefined
  const start = build(tree, END)

  return (text, fuel, at = 0) => {
    const from = reach === 'ahead' ? at : 0
    const to = reach === 'behind' ? at : text.length
    const isFirst = isPlain && from === 0 && text !== ''
    let here = from
    let stand = isFirst && first !== undefined ? first : standAt([start], text, from, fuel)
    if (isFirst) first = stand
    while (here < to && (reach === 'behind' || !stand.ends)) {
      const code = text.codePointAt(here)!
      here += code > 0xffff ? 2 : 1
      stand = stand.after.get(here === text.length ? ~code : code) ?? move(stand, code, text, here, fuel)
    }
    fuel.pay((here - from) * CHARACTER)
    return stand.ends
  }

  /** The stand after a character. It is kept unless it may be another in another text. */
  function move(stand: Stand, code: number, text: string, here: number, fuel: Fuel): Stand {
    const character = String.fromCodePoint(code)
    const reached = reach === 'ahead' ? [] : [start]
    fuel.pay(stand.readers.length * STEP)
    for (const { reads, next } of stand.readers) if (reads?.(character)) reached.push(...next)
    const after = standAt(reached, text, here, fuel)
    if (isPlain) {
      if (++kept > MAX_KEPT) forget()
      stand.after.set(here === text.length ? ~code : code, after)
    }
    return after
  }

  /** Enters states, and all that can be reached from them without a character. */
  function standAt(reached: readonly State[], text: string, here: number, fuel: Fuel): Stand {
    // A set is gone through together with what is added meanwhile.
    const entered = new Set(reached)
    for (const { reads, holds, next } of entered) {
      if (reads !== undefined || holds?.(text, here, fuel) === false) continue
      for (const state of next) entered.add(state)
    }
    fuel.pay(entered.size * STEP)
    const readers = [...entered].filter(({ reads }) => reads !== undefined)
    const stand = { readers, ends: entered.has(END), after: new Map() }
    return isPlain ? known(stand) : stand
  }

  /** The one stand that has these states. */
  function known(stand: Stand): Stand {
    const key = `${stand.ends}${stand.readers.map(({ id }) => id).sort().join()}`
    const same = stands.get(key)
    if (same !== undefined) return same
    kept += stand.readers.length
    stands.set(key, stand)
    return stand
  }

  function forget(): void {
    stands.clear()
    first = undefined
    kept = 0
  }

  /** The state to enter for an expression that is followed by another state. */
  function build(tree: PatternTree, next: State): State {
    switch (tree.kind) {
      case 'sequence': return tree.parts.reduceRight((after, part) => build(part, after), next)
      case 'choice': return state(tree.branches.map((branch) => build(branch, next)))
      case 'repetition': return repeat(tree.part, tree.min, tree.max, next)
      case 'look-around': {
        const matches = automatonOf(tree.part, tree.isBehind ? 'behind' : 'ahead')
        const { isNegative } = tree
        isPlain = false
        return state([next], undefined, (text, at, fuel) => matches(text, fuel, at) !== isNegative)
      }
      case 'assertion': {
        if (tree.source.startsWith('\\')) isPlain = false
        return state([next], undefined, assertions.get(tree.source))
      }
      case 'character': return state([next], readerOf(tree.source))
      case 'other': throw new RangeError('There is no automaton for this')
    }
  }

  function repeat(part: PatternTree, min: number, max: number, next: State): State {
    let entry = next
    if (max === Infinity) {
      entry = state([next])
      entry.next.push(build(part, entry))
    }
    for (let copies = copiesOf(min, max); copies > 0; copies--) {
      const copy = build(part, entry)
      entry = copies > min ? state([copy, next]) : copy
    }
    return entry
  }

  function state(next: State[], reads?: State['reads'], holds?: Condition): State {
    return { id: ++states, reads, holds, next }
  }

  function readerOf(source: string): (character: string) => boolean {
    if (!/^(?:\.|[[\\].*)$/s.test(source)) return (character) => character === source
    const test = tests.get(source) ?? RegExp(`^${source}$`, 'u')
    tests.set(source, test)
    return (character) => test.test(character)
  }
}

/** How often the part of a repetition is written out; what may come without end is a loop after that. */
function copiesOf(min: number, max: number): number {
  return max === Infinity ? min : max
}

function isEdge(text: string, at: number): boolean {
  return /\w/.test(text.charAt(at - 1)) !== /\w/.test(text.charAt(at))
}
