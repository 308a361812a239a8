/**
 * Patterns (ECMA-262 with the `u` flag): a source in, a test out that no string makes slow.
 *
 * The runtime's own engine backtracks: loops that follow one another may take it the length of the string to the power
 * of their number, loops inside loops exponential time. Where that could hurt, an automaton runs instead. It goes all
 * ways at once, so it takes the length of the string times the size of the pattern.
 */
import type { Site } from './rule.ts'

interface State {
  /** Goes on with the characters that it reads, or where the condition holds, or in any case. */
  readonly reads?: (character: string) => boolean
  readonly holds?: (text: string, at: number) => boolean
  readonly next: State[]
}

/** A piece of a pattern. The runtime takes up to `ways * length ** power` steps for it, the automaton needs `size`. */
interface Piece {
  readonly ways: number
  readonly power: number
  readonly size: number
  build(next: State): State
}

const END: State = { next: [] }
const MOST_STEPS = 10_000_000
const MOST_STATES = 5_000
const QUANTIFIER = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y
const GROUP = /\((?:\?(?:([=!]|<[=!])|:|<[^>]*>))?/y
const ATOM =
  /\[(?:\\[^]|[^\]\\])*\]|\\(?:[pPu]\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|x..|c.|k<[^>]*>|\d+|[^])|[^]/uy
const nothing: Piece = { ways: 1, power: 0, size: 0, build: (next) => next }

/** A pattern's test. Strings that are longer than the limit fail it. Throws the mistake where there is no test. */
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
  const { ways, power, size, build } = parse(expression.source)
  const loops = power > 0 && !/^\^[^|]*$/s.test(source) ? power + 1 : power
  if (size > MOST_STATES && (loops > 2 || ways > 1000)) {
    throw new Error('the pattern could take for ever; write it without back-references and large repetitions in loops')
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
  return alternatives()

  function take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = at
    const found = expression.exec(source) ?? undefined
    at += found?.[0].length ?? 0
    return found
  }

  function alternatives(): Piece {
    let whole = sequence()
    while (source[at] === '|') {
      at++
      whole = either(whole, sequence())
    }
    return whole
  }

  function sequence(): Piece {
    let whole = nothing
    while (at < source.length && !/[|)]/.test(source.charAt(at))) {
      const piece = single()
      const [quantifier, sign, least, comma, most] = take(QUANTIFIER) ?? []
      const min = sign ? Number(sign === '+') : Number(least)
      const max = sign ? (sign === '?' ? 1 : Infinity) : comma ? Number(most || Infinity) : min
      whole = inTurn(whole, quantifier === undefined ? piece : repeated(piece, min, max))
    }
    return whole
  }

  function single(): Piece {
    const group = take(GROUP)
    if (!group) return atom(take(ATOM)?.[0] ?? '')
    const inner = alternatives()
    at++
    return group[1] ? around(inner, group[1]) : inner
  }
}

function either(a: Piece, b: Piece): Piece {
  return {
    ways: a.ways + b.ways,
    power: Math.max(a.power, b.power),
    size: a.size + b.size + 1,
    build: (next) => ({ next: [a.build(next), b.build(next)] }),
  }
}

function inTurn(a: Piece, b: Piece): Piece {
  return {
    ways: a.ways * b.ways,
    power: a.power + b.power,
    size: a.size + b.size,
    build: (next) => a.build(b.build(next)),
  }
}

function repeated(body: Piece, min: number, max: number): Piece {
  // A few times is no loop; a loop whose body has one way to match goes through the string once.
  const loop = max > 10 && (min < max || body.ways > 1 || body.power > 0)
  const simple = body.ways === 1 && body.power === 0
  return {
    ways: loop || max === 0 ? 1 : body.ways ** max * (max - min + 1),
    power: loop ? (simple ? 1 : Infinity) : body.power * max,
    size: body.size * (max === Infinity ? min + 1 : max) + max - min,
    build(next) {
      let state = next
      if (max === Infinity) {
        state = { next: [next] }
        state.next.push(body.build(state))
      }
      for (let n = max === Infinity ? min : max; n > 0; n--) {
        state = n > min ? { next: [body.build(state), next] } : body.build(state)
      }
      return state
    },
  }
}

function atom(text: string): Piece {
  return {
    ...nothing,
    // A back-reference is beyond any automaton.
    size: /^\\(?:k|[1-9])/.test(text) ? Infinity : 1,
    build(next) {
      const holds = edges.get(text)
      const one = RegExp(`^(?:${text})$`, 'u')
      return holds ? { holds, next: [next] } : { reads: (character) => one.test(character), next: [next] }
    },
  }
}

/** A look-around is an automaton of its own, run wherever it stands; so it counts like a loop. */
function around(inner: Piece, kind: string): Piece {
  const behind = kind.startsWith('<')
  return {
    ...inner,
    size: inner.size * 100,
    build(next) {
      let goal = 0
      const start = inner.build({ holds: (_, at) => !behind || at === goal, next: [END] })
      const holds = (text: string, at: number): boolean => {
        goal = at
        return accepts(start, text, behind ? 0 : at, behind) !== kind.endsWith('!')
      }
      return { holds, next: [next] }
    },
  }
}

const edges: ReadonlyMap<string, NonNullable<State['holds']>> = new Map<string, NonNullable<State['holds']>>([
  ['^', (_, at) => at === 0],
  ['$', (text, at) => at === text.length],
  ['\\b', isEdge],
  ['\\B', (text, at) => !isEdge(text, at)],
])

function isEdge(text: string, at: number): boolean {
  return /\w/.test(text.charAt(at - 1)) !== /\w/.test(text.charAt(at))
}

/** Whether the automaton gets to its end from a position, or from one that follows. */
function accepts(start: State, text: string, from: number, anywhere: boolean): boolean {
  let active = new Set<State>()
  for (let at = from; ;) {
    if (anywhere || at === from) enter(start, active, text, at)
    if (active.has(END)) return true
    if (at >= text.length) return false
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
    const reached = new Set<State>()
    at += character.length
    for (const { reads, next } of active) if (reads?.(character)) for (const state of next) enter(state, reached, text, at)
    active = reached
  }
}

function enter(state: State, active: Set<State>, text: string, at: number): void {
  if (active.has(state)) return
  active.add(state)
  if (!state.reads && (state.holds?.(text, at) ?? true)) for (const next of state.next) enter(next, active, text, at)
}
