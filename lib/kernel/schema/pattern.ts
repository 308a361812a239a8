/**
 * Patterns (ECMA-262 with the `u` flag): a source in, a test out that no text makes slow.
 *
 * The runtime's own engine backtracks: its steps may be the length of the text to some power, or two to the
 * power of it. It is asked where its time grows with the length and no faster, and an automaton everywhere
 * else (Thompson's simulation). Refused is only what neither can do.
 */
import { CHARACTER, STEP } from './evaluation.ts'
import type { Fuel } from './evaluation.ts'
import type { Site } from './rule.ts'

/**
 * A regular expression, or a piece of one. What a class or an escape means is left to the runtime: a leaf
 * keeps its source. Spec: ECMA-262 §22.2.1, with the `u` flag.
 */
export type PatternTree =
  /** Reads one character, where it is one of those that the source means. */
  | { readonly kind: 'character'; readonly source: string }
  /** Reads nothing: `^`, `$`, `\b` or `\B`. */
  | { readonly kind: 'assertion'; readonly source: string }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternTree[] }
  | { readonly kind: 'choice'; readonly branches: readonly PatternTree[] }
  | { readonly kind: 'repetition'; readonly part: PatternTree; readonly min: number; readonly max: number }
  | {
    readonly kind: 'look-around'
    readonly part: PatternTree
    readonly isBehind: boolean
    readonly isNegative: boolean
  }
  /** A back-reference, or syntax that is not known here. */
  | { readonly kind: 'other' }

const QUANTIFIER = '(?:(?<sign>[*+?])|\\{(?<least>\\d+)(?<comma>,?)(?<most>\\d*)\\})\\??'
const GROUP = '\\((?:\\?(?:(?<look><?[=!])|:|<[^>]*>))?'
const CLASS = '\\[(?:\\\\.|[^\\]\\\\])*\\]'
const ESCAPE = '\\\\(?:[pPu]\\{[^}]*\\}|u[dD][89abAB]..\\\\u[dD][c-fC-F]..|u....|x..|c.|k<[^>]*>|\\d+|.)'
const TOKEN = RegExp(`${QUANTIFIER}|${GROUP}|${CLASS}|${ESCAPE}|.`, 'gsu')
/** A character that is no more than itself. */
const PLAIN = /^[\w \-,:;=<>/!"#%&'@`~]$/

const ASSERTION = /^(?:\^|\$|\\b)$/i
const BEYOND = /^(?:\\[k1-9]|[*+?{])/

/** Groups in one another, well within the stack. */
const MAX_NESTING = 250

type Groups = Readonly<Record<string, string | undefined>>
const nothing: Groups = {}

export function parsePattern(source: string): PatternTree {
  const leaves = new Map<string, PatternTree>()
  // A pattern may be long, so its tokens are read one by one.
  let next = 0
  let nesting = 0
  let token = ')'
  let groups = nothing
  read()
  return choice()

  /** Goes to the token that comes next; the end of the source is like the end of a group. */
  function read(): void {
    groups = nothing
    token = source.charAt(next)
    if (!PLAIN.test(token)) {
      TOKEN.lastIndex = next
      const found = TOKEN.exec(source)
      token = found?.[0] ?? ')'
      groups = found?.groups ?? nothing
    }
    next += token.length
  }

  function choice(): PatternTree {
    if (++nesting > MAX_NESTING) throw new RangeError('It is nested too deeply')
    const first = sequence()
    const branches = [first]
    while (token === '|') {
      read()
      branches.push(sequence())
    }
    nesting--
    return branches.length === 1 ? first : { kind: 'choice', branches }
  }

  function sequence(): PatternTree {
    const parts: PatternTree[] = []
    while (token !== '|' && token !== ')') parts.push(repeated(single()))
    return { kind: 'sequence', parts }
  }

  function single(): PatternTree {
    const text = token
    const look = groups['look']
    read()
    if (!text.startsWith('(')) return leafOf(text)
    const part = choice()
    read()
    if (look === undefined) return part
    return { kind: 'look-around', part, isBehind: look.startsWith('<'), isNegative: look.endsWith('!') }
  }

  function leafOf(text: string): PatternTree {
    const known = leaves.get(text)
    if (known !== undefined) return known
    const leaf: PatternTree = BEYOND.test(text) ? { kind: 'other' }
      : { kind: ASSERTION.test(text) ? 'assertion' : 'character', source: text }
    leaves.set(text, leaf)
    return leaf
  }

  function repeated(part: PatternTree): PatternTree {
    const { sign, least, comma, most } = groups
    if (sign === undefined && least === undefined) return part
    read()
    if (sign !== undefined) {
      return { kind: 'repetition', part, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity }
    }
    const min = Number(least)
    return { kind: 'repetition', part, min, max: comma === '' ? min : Number(most || Infinity) }
  }
}

/** Whether there is a match. `at`: where a look-around is. */
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
  readonly readers: readonly State[]
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

/**
 * Makes the test of a pattern, which takes time in proportion to the text. All ways to match are followed at
 * once, character by character, as a set of states. Sets that came up are kept with what each character makes
 * of them, within a bound, so most steps are one look-up.
 */
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

  function known(stand: Stand): Stand {
    const key = `${stand.ends}${Uint32Array.from(stand.readers, ({ id }) => id).sort().join()}`
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

const MAX_STATES = 5_000
/** Longer texts could exhaust the stack on which the runtime's engine keeps what it may come back to. */
const MAX_NATIVE = 65_536
/** From so many states on, a pattern may read a long piece of text at one go. */
const LONG = 64
const NATIVE_STEP = 1

/** Making the test of a pattern, however short. */
const PATTERN = 60 * STEP
/** Reading a character of it, here and by the runtime. */
const SOURCE = 4 * STEP
/** The same for one `\\p{…}`. */
const UNICODE_SET = 2_400 * STEP
/** Making a state. */
const STATE = 2 * STEP

/** The test of the pattern at a keyword. Throws the mistake where there can be none. */
export function patternAt(site: Site, source: string, ...steps: readonly string[]): Matches {
  site.pay(PATTERN + source.length * SOURCE)
  site.pay((source.split(/\\p/i).length - 1) * UNICODE_SET)
  let tree: PatternTree
  let native: RegExp
  try {
    native = nativeOf(source)
    tree = parsePattern(native.source)
  } catch (error) {
    const isDeep = error instanceof RangeError
    throw site.broken(isDeep ? 'the pattern is nested too deeply' : Object(error).message, ...steps)
  }
  const effort = effortOf(tree)
  const power = powerOf(tree, effort)
  if (effort.states <= MAX_STATES) {
    site.pay(effort.states * STATE)
    return small(native, tree, power <= 1)
  }
  if (power > 3) {
    throw site.broken('the pattern could take for ever; write it without back-references and huge '
      + 'repetitions', ...steps)
  }
  if (isTooLarge(native, '')) throw site.broken('the pattern is too long for this runtime', ...steps)
  return large(native, tree)
}

function small(native: RegExp, tree: PatternTree, isQuick: boolean): Matches {
  let automaton: Matches | undefined
  return (text, fuel) => {
    if (!isQuick || text.length > MAX_NATIVE) return (automaton ??= automatonOf(tree))(text, fuel)
    fuel.pay(STEP + text.length * CHARACTER)
    return native.test(text)
  }
}

function large(native: RegExp, tree: PatternTree): Matches {
  const effort = effortOf(tree, 0)
  const power = powerOf(tree, effort)
  const tries = Math.max(1, effort.tries)
  return (text, fuel) => {
    const steps = (text.length + 1) ** power * tries * NATIVE_STEP
    fuel.pay(text.length > MAX_NATIVE || isTooLarge(native, text) ? Infinity : STEP + steps)
    return native.test(text)
  }
}

/** Whether the runtime cannot make code of an expression, which it does for the first text. */
function isTooLarge(native: RegExp, text: string): boolean {
  try {
    // Any text with the same width of characters.
    native.test(text.slice(0, 1))
    return false
  } catch {
    return true
  }
}

/** What people write and `u` forbids, though it has one meaning: `\-`, a brace alone, a dash beside `\w`. */
const LOOSE = RegExp(`${CLASS}|${ESCAPE}|\\{\\d+,?\\d*\\}|\\{(?![\\d,])|[}\\]]`, 'gsu')
const LOOSE_IN_CLASS = /\\[dsw]-|-(?=\\[dsw])|\\./gisu
const NEEDLESS = /^\\[ !"#%&',:;<=>@_`~-]$/

/** The runtime's expression. What is written loosely is written in the way of `u`. */
function nativeOf(source: string): RegExp {
  try {
    return RegExp(source, 'u')
  } catch (error) {
    try {
      return RegExp(source.replace(LOOSE, strictly), 'u')
    } catch {
      throw error
    }
  }
}

function strictly(token: string): string {
  if (token.startsWith('[')) return token.replace(LOOSE_IN_CLASS, strictly)
  if (NEEDLESS.test(token)) return `\\x${token.charCodeAt(1).toString(16)}`
  return /^[-{}\]]$/.test(token) ? `\\${token}` : token.replace(/^(\\[dsw])-$/i, '$1\\-')
}

/** To which power of the length of a text the runtime's engine may take steps. */
function powerOf(tree: PatternTree, { steps, states }: Effort): number {
  // It begins at every character unless it may begin at the first only, and each time may read a long piece.
  return steps + (isAnchored(tree) ? 0 : 1) + (states > LONG && states < Infinity ? 1 : 0)
}

function isAnchored(tree: PatternTree): boolean {
  if (tree.kind === 'sequence') return tree.parts.slice(0, 1).some(isAnchored)
  return tree.kind === 'assertion' && tree.source === '^'
}

/** What an expression costs the runtime's engine, and the automaton. */
interface Effort {
  /** How many states its automaton has at most; infinite where there is none. */
  readonly states: number
  /** In how many ways it may match at a place, and the steps to try them: powers of the length. */
  readonly ways: number
  readonly steps: number
  /** In how many ways its choices may be made, and how many branches are tried for that. */
  readonly choices: number
  readonly tries: number
}

const LEAF: Effort = { states: 1, ways: 0, steps: 0, choices: 1, tries: 0 }

/** A choice counts as so many powers: none where `tries` counts its branches. */
export function effortOf(tree: PatternTree, ofChoice: 0 | 1 = 1): Effort {
  switch (tree.kind) {
    case 'sequence': {
      const all = { ...LEAF, states: 0 }
      for (const part of tree.parts) {
        const one = effortOf(part, ofChoice)
        all.states += one.states
        // What follows is tried again for each way of what comes before.
        all.steps = Math.max(all.steps, all.ways + one.steps)
        all.ways += one.ways
        all.tries += all.choices * one.tries
        all.choices *= one.choices
      }
      return all
    }
    case 'choice': {
      const all = { ...LEAF, choices: 0 }
      for (const branch of tree.branches) {
        const one = effortOf(branch, ofChoice)
        all.states += one.states
        all.steps = Math.max(all.steps, one.steps)
        all.ways = Math.max(all.ways, one.ways)
        all.tries += one.tries + 1
        all.choices += one.choices
      }
      // A few alternatives count like a loop, since several in turn multiply too.
      return { ...all, ways: all.ways + ofChoice, steps: all.steps + ofChoice }
    }
    case 'repetition': {
      const { part, min, max } = tree
      const { states: one, ...inner } = effortOf(part, ofChoice)
      const states = (one + 1) * (copiesOf(min, max) + 1)
      if (min === max && inner.ways === 0) return { ...inner, states }
      const more = inner.ways > 0 && max > 1 ? Infinity : 1
      return { ...inner, states, ways: inner.ways + more, steps: inner.steps + more }
    }
    // Once it has matched, it is not entered again.
    case 'look-around': {
      const inner = effortOf(tree.part, ofChoice)
      return { ...inner, states: inner.states + 1, ways: 0, choices: 1 }
    }
    case 'other': return { ...LEAF, states: Infinity, steps: 1 }
    default: return LEAF
  }
}
