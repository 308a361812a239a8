/**
 * URI templates: a template's text in, and out come its variables and a function from a URI to them.
 * Spec: RFC 6570, all four levels; §1.4 leaves matching open, which is defined by `UriTemplate.match`.
 *
 * The parts of a template become a small program, run over the URI with memoized backtracking: it never goes
 * twice through one fork at one place of the URI, so the time is at most the length of the template times the
 * length of the URI.
 */
import { isName } from './bounded.ts'
import { normalUri, percentDecoded } from './uri.ts'

/** Values by the variable's name, in an object without a prototype. */
type UriVariables = Readonly<Record<string, string | readonly string[]>>

export interface UriTemplate {
  /** The names of the variables, each once, in the template's order. */
  readonly variables: readonly string[]
  /**
   * The variables of a URI, percent-decoded, in an object without a prototype; undefined where the URI is
   * not of this form, or longer than 8,192 bytes. `{name*}` is a list, every other variable a string.
   *
   * A simple `{id}` is at least one character and holds no `/`, `?` or `#`, escaped or not; `{+path}` holds
   * everything.
   * Expressions that begin with a character of their own (`{/seg*}`, `{.ext}`, `{?q}` and so on) may be
   * missing, and their variables then too; named ones come in any order, unknown ones and two values for
   * one match not at all. Where several readings are possible, a value takes as much as it can, from left
   * to right; but as little as it can where an expression that may be missing comes next.
   */
  match(uri: string): UriVariables | undefined
}

/** RFC 6570 appendix A: what an operator does. */
interface Operator {
  readonly first: string
  readonly separator: string
  readonly isNamed: boolean
  /** Whether an empty value may be a name without `=`. */
  readonly isBare: boolean
  /** Whether reserved characters are not escaped. */
  readonly isReserved: boolean
  /** The characters that end a value. */
  readonly stops: string
}

/** One variable in an expression. `max` is its prefix in characters. */
interface Variable { readonly name: string; readonly max: number; readonly isExploded: boolean }

/** A piece of a template: a literal, or what is between braces. */
type Part = string | { readonly operator: Operator; readonly variables: readonly Variable[] }

const simple: Operator = {
  first: '', separator: ',', isNamed: false, isBare: false, isReserved: false, stops: '/?#',
}
const reserved: Operator = { ...simple, isReserved: true, stops: '' }
const query: Operator = { ...simple, first: '?', separator: '&', isNamed: true, stops: '&#' }

/** By their signs. */
const operators: ReadonlyMap<string, Operator> = new Map([
  ['+', reserved],
  ['#', { ...reserved, first: '#' }],
  ['.', { ...simple, first: '.', separator: '.' }],
  ['/', { ...simple, first: '/', separator: '/' }],
  [';', { ...simple, first: ';', separator: ';', isNamed: true, isBare: true, stops: ';/?#' }],
  ['?', query],
  ['&', { ...query, first: '&' }],
])

/** Parses a template. Throws `TypeError` with a sentence: what is wrong, and at which character. */
export function parseTemplate(template: string): UriTemplate {
  const parts = partsOf(template)
  const variables = parts.flatMap((part) => typeof part === 'string' ? [] : part.variables)
  return Object.freeze<UriTemplate>({
    variables: Object.freeze([...new Set(variables.map(({ name }) => name))]),
    match: createMatch(parts),
  })
}

function partsOf(template: string): readonly Part[] {
  const parts: Part[] = []
  for (let at = 0; at < template.length;) {
    const open = template.indexOf('{', at)
    const end = open < 0 ? template.length : open
    if (end > at) parts.push(literalOf(template, at, end))
    if (open < 0) break
    const close = template.indexOf('}', open)
    if (close < 0) throw broken(template, open, `the expression is not closed; write '}' behind it`)
    parts.push(expressionOf(template, open + 1, close))
    at = close + 1
  }
  return parts
}

function literalOf(template: string, from: number, to: number): string {
  const literal = template.slice(from, to)
  const at = literal.search(/%(?![0-9A-Fa-f]{2})|[\x00-\x20"<>\\^\x60|}\x7f]/)
  if (at < 0) return literal
  throw broken(template, from + at, `'${literal[at]}' cannot stand in a URI; write it percent-encoded`)
}

/** A name, and a prefix or a star. RFC 6570 §2.3, §2.4. */
const VARIABLE = /^((?:\w|%[0-9A-Fa-f]{2})+(?:\.(?:\w|%[0-9A-Fa-f]{2})+)*)(?::([1-9]\d{0,3})|(\*))?$/

function expressionOf(template: string, from: number, to: number): Part {
  const sign = template[from]!
  if ('=,!@|'.includes(sign)) {
    throw broken(template, from, `'${sign}' is no operator; write one of + # . / ; ? & or none`)
  }
  const operator = operators.get(sign) ?? simple
  const variables: Variable[] = []
  let at = operator === simple ? from : from + 1
  for (const text of template.slice(at, to).split(',')) {
    const found = VARIABLE.exec(text)
    if (found === null) {
      throw broken(template, at, `'${text}' is no variable; write a name of letters, digits and _, `
        + `perhaps with ':3' or '*' behind it`)
    }
    const [, name = '', max = Number.MAX_SAFE_INTEGER, star] = found
    variables.push({ name, max: Number(max), isExploded: star !== undefined })
    at += text.length + 1
  }
  return { operator, variables }
}

function broken(template: string, at: number, why: string): TypeError {
  return new TypeError(`The URI template '${template}' is broken at character ${at + 1}: ${why}`)
}

/** The longest prefix that ends where it has to; of a longer one it is only checked where it ended. */
const MAX_COPIES = 64

// An escaped `/` is a `/` in the value: what is one segment of an address must not become two.
const ESCAPED_STOP = /^%(?:2F|3F|23)$/

/** One step of a program. Jumps are relative, so that pieces of programs can be joined. */
type Step =
  | Fork
  | { readonly do: 'text'; readonly text: string }
  /** A character or an escape that is none of the stops; in a simple expression no escape of one either. */
  | { readonly do: 'char'; readonly stops: string; readonly isSimple: boolean }
  | { readonly do: 'jump'; readonly to: number }
  /** A value begins, a value ends. */
  | { readonly do: 'open' }
  | { readonly do: 'close'; readonly variable: Variable }

/** Continues at `first`; if that fails, at `second`. */
interface Fork { readonly do: 'fork'; readonly first: number; readonly second: number }

type Steps = readonly Step[]

/** A function from a URI to its variables, as `UriTemplate.match` promises. */
function createMatch(parts: readonly Part[]): (uri: string) => UriVariables | undefined {
  const program = parts.flatMap((part, index) => stepsOf(part, parts[index + 1]))
  return (uri) => {
    if (!isName(uri) || /%(?![0-9A-Fa-f]{2})/.test(uri)) return undefined
    const taken = run(program, normalUri(uri))
    return taken && valuesOf(taken)
  }
}

function stepsOf(part: Part, next: Part | undefined): Steps {
  if (typeof part === 'string') return literal(part)
  const { operator, variables } = part
  const { first, separator } = operator
  if (operator.isNamed) {
    const pairs = variables.map((variable) => named(operator, variable))
    const pair = pairs.reduceRight((others, one) => either(one, others))
    return optional([...literal(first), ...pair, ...optional(repeated([...literal(separator), ...pair]))])
  }
  const isLazy = typeof next === 'object' && next.operator.first !== ''
  return variables.reduceRight<Steps>((rest, variable, index) => {
    const stops = variables.length > 1 || variable.isExploded ? operator.stops + separator : operator.stops
    const item = value(variable, stops, first === '' ? 1 : 0, isLazy, first === '' && !operator.isReserved)
    const more = variable.isExploded ? optional(repeated([...literal(separator), ...item])) : []
    const steps = [...literal(index === 0 ? first : separator), ...item, ...more, ...rest]
    return index === 0 && first === '' ? steps : optional(steps)
  }, [])
}

function named({ stops, isBare }: Operator, variable: Variable): Steps {
  const pair = [...literal(`${variable.name}=`), ...value(variable, stops, 0, false, false)]
  if (!isBare) return pair
  return either(pair, [...literal(variable.name), { do: 'open' }, { do: 'close', variable }])
}

function value(
  variable: Variable, stops: string, min: 0 | 1, isLazy: boolean, isSimple: boolean,
): Steps {
  const char: Steps = [{ do: 'char', stops, isSimple }]
  const some = variable.max > MAX_COPIES ? repeated(char, isLazy) : upTo(variable.max, char, isLazy)
  return [{ do: 'open' }, ...min === 1 ? some : optional(some, isLazy), { do: 'close', variable }]
}

function literal(text: string): Steps {
  return text === '' ? [] : [{ do: 'text', text: normalUri(text) }]
}

function either(one: Steps, other: Steps): Steps {
  return [fork(1, one.length + 2), ...one, { do: 'jump', to: other.length + 1 }, ...other]
}

function optional(steps: Steps, isLazy = false): Steps {
  return [isLazy ? fork(steps.length + 1, 1) : fork(1, steps.length + 1), ...steps]
}

function repeated(steps: Steps, isLazy = false): Steps {
  return [...steps, isLazy ? fork(1, -steps.length) : fork(-steps.length, 1)]
}

function upTo(max: number, steps: Steps, isLazy: boolean): Steps {
  let all = steps
  for (let copies = 1; copies < max; copies++) all = [...steps, ...optional(all, isLazy)]
  return all
}

function fork(first: number, second: number): Fork {
  return { do: 'fork', first, second }
}

/** A value, and those before it. */
interface Taken { readonly variable: Variable; readonly text: string; readonly before: Taken | undefined }

/** A state of the search: the step in the program, the place in the text, and the values so far. */
interface Place { step: number; at: number; from: number; taken: Taken | undefined }

function run(program: Steps, text: string): readonly Taken[] | undefined {
  const width = text.length + 1
  const waiting: Place[] = [{ step: 0, at: 0, from: 0, taken: undefined }]
  let seen: Uint8Array | undefined

  // What led nowhere from one place leads nowhere again, whatever was taken before.
  function choose(place: Place, { first, second }: Fork): boolean {
    seen ??= new Uint8Array(program.length * width)
    const here = place.step * width + place.at
    if (seen[here] === 1) return false
    seen[here] = 1
    waiting.push({ ...place, step: place.step + second })
    place.step += first
    return true
  }

  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    let step = program[place.step]
    while (step !== undefined && (step.do === 'fork' ? choose(place, step) : advance(place, step, text))) {
      step = program[place.step]
    }
    if (step === undefined && place.at === text.length) return listOf(place.taken)
  }
  return undefined
}

/** Takes one step. False where the text does not allow it. */
function advance(place: Place, step: Exclude<Step, Fork>, text: string): boolean {
  place.step += step.do === 'jump' ? step.to : 1
  if (step.do === 'text') {
    if (!text.startsWith(step.text, place.at)) return false
    place.at += step.text.length
  } else if (step.do === 'char') {
    const char = text[place.at]
    if (char === undefined || step.stops.includes(char)) return false
    if (char === '%' && step.isSimple && ESCAPED_STOP.test(text.slice(place.at, place.at + 3))) return false
    place.at += char === '%' ? 3 : 1
    // The escapes of one character in UTF-8 stay together: no value ends within it.
    while (char === '%' && /^%[89AB]/.test(text.slice(place.at, place.at + 2))) place.at += 3
  } else if (step.do === 'open') {
    place.from = place.at
  } else if (step.do === 'close') {
    place.taken = { variable: step.variable, text: text.slice(place.from, place.at), before: place.taken }
  }
  return true
}

function listOf(last: Taken | undefined): readonly Taken[] {
  const list: Taken[] = []
  for (let taken = last; taken !== undefined; taken = taken.before) list.push(taken)
  return list.reverse()
}

/** The decoded values. Undefined for what is not UTF-8, and for two values of one variable. */
function valuesOf(taken: readonly Taken[]): UriVariables | undefined {
  const values: Record<string, string | string[]> = Object.create(null)
  // Whole values first: a prefix of the same variable has to be the beginning of its value.
  for (const { variable, text } of taken.toSorted((a, b) => b.variable.max - a.variable.max)) {
    const { name, max, isExploded } = variable
    const value = percentDecoded(text)
    if (value === undefined) return undefined
    const known = values[name]
    if (!isExploded) {
      if (prefixOf(String(known ?? value), max) !== value) return undefined
      values[name] = known ?? value
    } else if (Array.isArray(known)) {
      known.push(value)
    } else {
      values[name] = [value]
    }
  }
  return values
}

/** The first `max` characters; one outside the basic plane counts as one. */
function prefixOf(text: string, max: number): string {
  return text.length <= max ? text : [...text].slice(0, max).join('')
}
