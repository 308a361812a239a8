/**
 * Patterns (ECMA-262 with the `u` flag): a source in, a test out that no string makes slow.
 *
 * The runtime's own engine backtracks: loops that follow one another may take it the length of the string to
 * the power of their number, loops inside loops exponential time. Where that could hurt, an automaton runs
 * instead. It goes all ways at once, so it takes the length of the string times the size of the pattern.
 * Refused are only patterns that would need it and are beyond it: with back-references, or huge.
 */
import type { Site } from './rule.ts'

type Condition = (text: string, at: number, fuel: Fuel) => boolean

/** Goes on with the characters that it reads, or where the condition holds, or in any case. */
interface State {
  readonly reads?: RegExp
  readonly holds?: Condition
  readonly next: State[]
}

/** How many states may still be entered for this string; a string that takes more does not match. */
interface Fuel {
  left: number
}

/**
 * The runtime takes up to `ways * length ** power` steps for a piece of a pattern; the automaton has `size`
 * states.
 */
type Piece = readonly [ways: number, power: number, size: number, build: (next: State) => State]

const END: State = { next: [] }
const MOST_STEPS = 5_000_000
const MOST_STATES = 5_000
const QUANTIFIER = '(?:([*+?])|\\{(\\d+)(,?)(\\d*)\\})\\??'
const GROUP = '\\((?:\\?(?:(<?[=!])|:|<[^>]*>))?'
const CLASS = '\\[(?:\\\\[^]|[^\\]\\\\])*\\]'
const ESCAPE = '\\\\(?:[pPu]\\{[^}]*\\}|u[dD][89abAB]..\\\\u[dD][c-fC-F]..|u....|x..|c.|k<[^>]*>|\\d+|[^])'
const TOKEN = RegExp(`${QUANTIFIER}|${GROUP}|${CLASS}|${ESCAPE}|[^]`, 'gu')

/** A pattern's test; it fails strings longer than the limit. Throws the mistake where there is no test. */
export function patternAt(site: Site, source: string, ...steps: string[]): (text: string) => boolean {
  try {
    const matches = matcher(source)
    const { maxPatternInput } = site.limits
    return (text) => text.length <= maxPatternInput && matches(text)
  } catch (error) {
    throw site.broken(Object(error).message, ...steps)
  }
}

function matcher(source: string): (text: string) => boolean {
  const expression = native(source)
  const [ways, power, size, build] = parse(expression.source)
  const loops = power > 0 && !/^\^[^|]*$/s.test(source) ? power + 1 : power
  if (size > MOST_STATES && (loops > 2 || ways > 1000)) {
    throw new Error('the pattern could take for ever; write it without back-references and huge repetitions')
  }
  let start: State | undefined
  return (text) => {
    if (text.length ** loops * ways <= MOST_STEPS) return expression.test(text)
    start ??= size > MOST_STATES ? { next: [] } : build(END)
    return accepts(start, text, 0, true, { left: MOST_STEPS })
  }
}

/** The runtime's expression. Escapes that `u` forbids but people write, like `\-`, are spelled in its way. */
function native(source: string): RegExp {
  try {
    return RegExp(source, 'u')
  } catch {
    return RegExp(source.replace(/\\([^])/g, (escape, character: string) =>
      /[ !"#%&',:;<=>@_`~-]/.test(character) ? `\\x${character.charCodeAt(0).toString(16)}` : escape), 'u')
  }
}

/** Reads a pattern that is known to be valid. */
function parse(source: string): Piece {
  const tokens = [...source.matchAll(TOKEN)].reverse()
  const comes = (sign: RegExp): boolean => sign.test(tokens.at(-1)?.[0] ?? ')')
  const alternatives = (): Piece => {
    let whole = sequence()
    while (comes(/^\|/) && tokens.pop()) whole = either(whole, sequence())
    return whole
  }
  const sequence = (): Piece => {
    let whole: Piece = [1, 0, 0, (next) => next]
    while (!comes(/^[|)]/)) {
      const piece = single()
      const [quantifier, sign, least, comma, most] = comes(/^[*+?{]/) && tokens.pop() || []
      const min = sign ? Number(sign === '+') : Number(least)
      const max = sign ? (sign === '?' ? 1 : Infinity) : comma ? Number(most || Infinity) : min
      whole = inTurn(whole, quantifier ? repeated(piece, min, max) : piece)
    }
    return whole
  }
  const single = (): Piece => {
    const { 0: text = '', 5: look } = tokens.pop() ?? []
    if (!text.startsWith('(')) return atom(text)
    const inner = alternatives()
    tokens.pop()
    return look ? around(inner, look) : inner
  }
  return alternatives()
}

function either([ways, power, size, one]: Piece, [ways2, power2, size2, two]: Piece): Piece {
  const build = (next: State): State => ({ next: [one(next), two(next)] })
  return [ways + ways2, Math.max(power, power2), size + size2 + 1, build]
}

function inTurn([ways, power, size, one]: Piece, [ways2, power2, size2, two]: Piece): Piece {
  return [ways * ways2, power + power2, size + size2, (next) => one(two(next))]
}

function repeated([ways, power, size, build]: Piece, min: number, max: number): Piece {
  const copies = max === Infinity ? min : max
  const simple = ways === 1 && power === 0
  // A few times is no loop, nor is a fixed number of times in one way only.
  const loop = max > 10 && !(simple && min === max)
  return [
    loop ? 1 : ways ** max * (max - min + 1),
    loop ? (simple ? 1 : Infinity) : power * max,
    size * (copies + 1) + copies,
    (next) => {
      let state = next
      if (max === Infinity) {
        state = { next: [next] }
        state.next.push(build(state))
      }
      for (let n = copies; n > 0; n--) state = n > min ? { next: [build(state), next] } : build(state)
      return state
    },
  ]
}

function atom(text: string): Piece {
  // A back-reference is beyond any automaton, and so is what is not known here.
  return [1, 0, /^(?:\\[k1-9]|\?)/.test(text) ? Infinity : 1, (next) => {
    const holds = conditions.get(text)
    return holds ? { holds, next: [next] } : { reads: RegExp(`^(?:${text})$`, 'u'), next: [next] }
  }]
}

/** A look-around is an automaton of its own that runs wherever it stands. */
function around([ways, power, size, build]: Piece, look: string): Piece {
  const behind = look.startsWith('<')
  return [ways, power, size, (next) => {
    let goal = 0
    const start = build({ holds: (_, at) => !behind || at === goal, next: [END] })
    const holds: Condition = (text, at, fuel) => {
      goal = at
      return accepts(start, text, behind ? 0 : at, behind, fuel) !== look.endsWith('!')
    }
    return { holds, next: [next] }
  }]
}

const isEdge: Condition = (text, at) => /\w/.test(text.charAt(at - 1)) !== /\w/.test(text.charAt(at))
const conditions: ReadonlyMap<string, Condition> = new Map<string, Condition>([
  ['^', (_, at) => at === 0],
  ['$', (text, at) => at === text.length],
  ['\\b', isEdge],
  ['\\B', (text, at, fuel) => !isEdge(text, at, fuel)],
])

/** Whether the automaton gets to its end from a position, or from any that follows. */
function accepts(start: State, text: string, from: number, anywhere: boolean, fuel: Fuel): boolean {
  let active = new Set<State>()
  const enter = (state: State, at: number): void => {
    if (active.has(state) || fuel.left-- < 0) return
    active.add(state)
    const goesOn = !state.reads && (state.holds?.(text, at, fuel) ?? true)
    for (const next of goesOn ? state.next : []) enter(next, at)
  }
  for (let at = from; fuel.left > 0;) {
    if (anywhere || at === from) enter(start, at)
    if (active.has(END) || at >= text.length) return active.has(END)
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
    const reached = [...active].flatMap(({ reads, next }) => reads?.test(character) ? next : [])
    at += character.length
    active = new Set()
    for (const state of reached) enter(state, at)
  }
  return false
}
