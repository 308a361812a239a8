/**
 * A pattern's tree to a test that takes time in proportion to the text, whatever the pattern: Thompson's
 * simulation of a nondeterministic finite automaton.
 *
 * All ways to match are followed at once, character by character, as a set of states. Sets that came up are
 * kept with what each character makes of them, so most steps are one look-up: a deterministic automaton that
 * is built as texts need it. Knows nothing of schemas.
 */
import { CHARACTER } from './fuel.ts'
import type { Expression } from './expression.ts'
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
export function sizeOf(expression: Expression): number {
  switch (expression.kind) {
    case 'sequence': return expression.parts.reduce((size, part) => size + sizeOf(part), 0)
    case 'choice': return expression.branches.reduce((size, branch) => size + sizeOf(branch), 1)
    case 'repetition': return (sizeOf(expression.part) + 1) * (copiesOf(expression.min, expression.max) + 1)
    case 'look-around': return sizeOf(expression.part) + 1
    case 'other': return Infinity
    default: return 1
  }
}

/** Makes the test of a pattern. What it keeps is bounded. */
export function automatonOf(expression: Expression, reach: Reach = 'anywhere'): Matches {
  const tests = new Map<string, RegExp>()
  const stands = new Map<string, Stand>()
  let states = 0
  let kept = 0
  // Whether only the first and the last place of a text differ from the others.
  let isPlain = true
  let first: Stand | undefined
  const start = build(expression, END)

  return (text, fuel, at = 0) => {
    const from = reach === 'ahead' ? at : 0
    const to = reach === 'behind' ? at : text.length
    if (reach === 'anywhere' && !fuel.pays(to * CHARACTER)) return false
    let here = from
    let stand = from === 0 && text !== '' ? first : undefined
    if (stand === undefined) stand = standAt([start], text, from, fuel)
    if (isPlain && from === 0 && text !== '') first = stand
    while (stand !== undefined && here < to && (reach === 'behind' || !stand.ends)) {
      const code = text.codePointAt(here)!
      here += code > 0xffff ? 2 : 1
      stand = stand.after.get(here === text.length ? ~code : code) ?? move(stand, code, text, here, fuel)
    }
    if (reach !== 'anywhere' && !fuel.pays((here - from) * CHARACTER)) return false
    return stand !== undefined && stand.ends
  }

  /** The stand after a character. It is kept unless it may be another in another text. */
  function move(stand: Stand, code: number, text: string, here: number, fuel: Fuel): Stand | undefined {
    const character = String.fromCodePoint(code)
    const reached = reach === 'ahead' ? [] : [start]
    for (const { reads, next } of stand.readers) if (reads?.(character)) reached.push(...next)
    const after = fuel.pays(stand.readers.length) ? standAt(reached, text, here, fuel) : undefined
    if (after === undefined || !isPlain) return after
    if (++kept > MAX_KEPT) forget()
    stand.after.set(here === text.length ? ~code : code, after)
    return after
  }

  /** Enters states, and all that can be reached from them without a character. */
  function standAt(reached: readonly State[], text: string, here: number, fuel: Fuel): Stand | undefined {
    // A set is gone through together with what is added meanwhile.
    const entered = new Set(reached)
    for (const { reads, holds, next } of entered) {
      if (reads !== undefined || holds?.(text, here, fuel) === false) continue
      for (const state of next) entered.add(state)
    }
    if (!fuel.pays(entered.size)) return undefined
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
  function build(expression: Expression, next: State): State {
    switch (expression.kind) {
      case 'sequence': return expression.parts.reduceRight((after, part) => build(part, after), next)
      case 'choice': return state(expression.branches.map((branch) => build(branch, next)))
      case 'repetition': return repeat(expression.part, expression.min, expression.max, next)
      case 'look-around': {
        const matches = automatonOf(expression.part, expression.isBehind ? 'behind' : 'ahead')
        const { isNegative } = expression
        isPlain = false
        return state([next], undefined, (text, at, fuel) => matches(text, fuel, at) !== isNegative)
      }
      case 'assertion': {
        if (expression.source.startsWith('\\')) isPlain = false
        return state([next], undefined, assertions.get(expression.source))
      }
      case 'character': return state([next], readerOf(expression.source))
      case 'other': throw new RangeError('There is no automaton for this')
    }
  }

  function repeat(part: Expression, min: number, max: number, next: State): State {
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
