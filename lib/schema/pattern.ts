/**
 * Patterns (ECMA-262 with the `u` flag): a source in, a test out that no string makes slow.
 *
 * The runtime's own engine backtracks: loops that follow one another may take it the length of the string to
 * the power of their number, loops inside loops exponential time. Where that could hurt, an automaton runs
 * instead. It goes all ways at once, so it takes the length of the string times the size of the pattern.
 * Refused are only patterns that would need it and that no automaton can do: those with back-references, and
 * huge ones.
 */
import type { Site } from './rule.ts'

/** Goes on with the characters that it reads, or where the condition holds, or in any case. */
interface State {
  readonly reads?: RegExp
  readonly holds?: Condition
  readonly next: State[]
}

type Condition = (text: string, at: number) => boolean

/**
 * A piece of a pattern. The runtime takes up to `ways * length ** power` steps for it; the automaton has
 * `size` states.
 */
type Piece = readonly [ways: number, power: number, size: number, build: (next: State) => State]

const END: State = { next: [] }
const MOST_STEPS = 10_000_000
const MOST_STATES = 5_000
const QUANTIFIER = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y
const GROUP = /\((?:\?(?:(<?[=!])|:|<[^>]*>))?/y
const ATOM =
  /\[(?:\\[^]|[^\]\\])*\]|\\(?:[pPu]\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|x..|c.|k<[^>]*>|\d+|[^])|[^]/uy

/**
 * A pattern's test; it fails strings that are longer than the limit. Throws the mistake where there is no
 * test.
 */
export function patternAt(site: Site, source: string, ...steps: string[]): (text: string) => boolean {
  try {
    const matches = matcher(source)
    const { maxPatternInput } = site.limits
    return (text) => text.length <= maxPatternInput && matches(text)
  } catch (error) {
    throw site.broken(error instanceof Error ? error.message : String(error), ...steps)
  }
}

function matcher(source: string): (text: string) => boolean {
  const expression = native(source)
  const [ways, power, size, build] = parse(expression.source)
  const loops = power > 0 && !/^\^[^|]*$/s.test(source) ? power + 1 : power
  if (size > MOST_STATES && (loops > 2 || ways > 1000)) {
    throw new Error('the pattern could take for ever; write it without back-references and without huge repetitions')
  }
  let start: State | undefined
  return (text) => {
    if (text.length ** loops * ways <= MOST_STEPS) return expression.test(text)
    start ??= size > MOST_STATES ? { next: [] } : build(END)
    return text.length * size <= 20 * MOST_STEPS && accepts(start, text, 0, true)
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
  let at = 0
  const take = (expression: RegExp): readonly (string | undefined)[] => {
    expression.lastIndex = at
    const found = expression.exec(source)
    at += found?.[0].length ?? 0
    return found ?? []
  }
  const alternatives = (): Piece => {
    let whole = sequence()
    for (; source[at] === '|'; whole = either(whole, sequence())) at++
    return whole
  }
  const sequence = (): Piece => {
    let whole: Piece = [1, 0, 0, (next) => next]
    while (at < source.length && !/[|)]/.test(source.charAt(at))) {
      const piece = single()
      const [quantifier, sign, least, comma, most] = take(QUANTIFIER)
      const min = sign ? Number(sign === '+') : Number(least)
      const max = sign ? (sign === '?' ? 1 : Infinity) : comma ? Number(most || Infinity) : min
      whole = inTurn(whole, quantifier ? repeated(piece, min, max) : piece)
    }
    return whole
  }
  const single = (): Piece => {
    const [group, look] = take(GROUP)
    if (!group) return atom(take(ATOM)[0] ?? '')
    const inner = alternatives()
    at++
    return look ? around(inner, look) : inner
  }
  return alternatives()
}

const either = ([ways, power, size, one]: Piece, [otherWays, otherPower, otherSize, other]: Piece): Piece =>
  [ways + otherWays, Math.max(power, otherPower), size + otherSize + 1, (next) => ({ next: [one(next), other(next)] })]

const inTurn = ([ways, power, size, first]: Piece, [otherWays, otherPower, otherSize, second]: Piece): Piece =>
  [ways * otherWays, power + otherPower, size + otherSize, (next) => first(second(next))]

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

/** A back-reference is beyond any automaton. */
const atom = (text: string): Piece => [1, 0, /^\\[k1-9]/.test(text) ? Infinity : 1, (next) => {
  const holds = conditions.get(text)
  return holds ? { holds, next: [next] } : { reads: RegExp(`^(?:${text})$`, 'u'), next: [next] }
}]

/** A look-around is an automaton that runs wherever it stands, and costs accordingly. */
const around = ([ways, power, size, build]: Piece, look: string): Piece => [ways, power, size * 100, (next) => {
  const behind = look.startsWith('<')
  let goal = 0
  const start = build({ holds: (_, at) => !behind || at === goal, next: [END] })
  const holds: Condition = (text, at) => {
    goal = at
    return accepts(start, text, behind ? 0 : at, behind) !== look.endsWith('!')
  }
  return { holds, next: [next] }
}]

const isEdge: Condition = (text, at) => /\w/.test(text.charAt(at - 1)) !== /\w/.test(text.charAt(at))
const conditions: ReadonlyMap<string, Condition> = new Map<string, Condition>([
  ['^', (_, at) => at === 0],
  ['$', (text, at) => at === text.length],
  ['\\b', isEdge],
  ['\\B', (text, at) => !isEdge(text, at)],
])

/** Whether the automaton gets to its end from a position, or from any that follows. */
function accepts(start: State, text: string, from: number, anywhere: boolean): boolean {
  let active = new Set<State>()
  for (let at = from; ;) {
    if (anywhere || at === from) enter(start, active, text, at)
    if (active.has(END)) return true
    if (at >= text.length) return false
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
    const reached = new Set<State>()
    at += character.length
    for (const { reads, next } of active) if (reads?.test(character)) for (const state of next) enter(state, reached, text, at)
    active = reached
  }
}

function enter(state: State, active: Set<State>, text: string, at: number): void {
  if (active.has(state)) return
  active.add(state)
  if (!state.reads && (state.holds?.(text, at) ?? true)) for (const next of state.next) enter(next, active, text, at)
}
