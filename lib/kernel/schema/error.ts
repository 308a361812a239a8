/** The errors of a failed validation, in sentences for people and models. */

/** A step from a value to a part of it. */
export type Key = string | number

/** One thing that is wrong with a value. As JSON it takes less than 1 KiB, whatever the value. */
export interface SchemaError {
  /**
   * Where, as a JSON Pointer (RFC 6901) into the value; for what is missing, where it should be. Long names
   * and long pointers are cut, and end in `…`.
   */
  readonly path: string
  /**
   * The keyword that refused; for a Standard Schema the name of its library; where the check was given up,
   * the bound that was reached.
   */
  readonly keyword: string
  /** What is wrong, as a predicate: `must be at least 1`. */
  readonly message: string
  /**
   * What the keyword asked for, where that is a value: a type, a bound, the allowed values. The beginning
   * of its JSON text where it is long.
   */
  readonly expected?: unknown
  /** What was there, shortened: `string "abc"`, `number 5`, `object`, `nothing`. */
  readonly actual: string
}

export interface Findings {
  /** In a stable order. */
  readonly errors: readonly SchemaError[]
  /** Whether there may be more: the check ended when as many were found as may be listed. */
  readonly more: boolean
}

/** What is known of an error when the schema is compiled. */
export type Failure = Pick<SchemaError, 'keyword' | 'message' | 'expected'>

/** The bytes that the parts of an error may take in JSON, which is less than 1 KiB in all. */
const MAX_PATH = 256
const MAX_MESSAGE = 288
const MAX_VALUE = 160
const MAX_ACTUAL = 128
/** Of a name in a path, and of a value in a phrase, in UTF-16 units. */
const MAX_NAME = 60
/** Characters of a text from which any of these is cut. */
const MAX_TEXT = 400
/** Bytes of one error in a summary of three. */
const MAX_LINE = 290

export function errorAt(path: string, { keyword, message, expected }: Failure, value: unknown): SchemaError {
  const actual = cut(actualOf(value), MAX_ACTUAL)
  if (expected === undefined) return { path, keyword, message, actual }
  return { path, keyword, message, expected, actual }
}

/** Reads the names of an object. There may be many, so who compiles a client's schema pays for them. */
export type Names = (object: object) => readonly string[]

export function failureOf(
  keyword: string, message: string, expected?: unknown, names: Names = Object.keys,
): Failure {
  // Only what is long is ever cut, and hardly anything is.
  if (typeof expected !== 'object' && typeof expected !== 'string') {
    return { keyword, message: cut(message, MAX_MESSAGE), expected }
  }
  const text = textOf(expected, names)
  const short = cut(text, MAX_VALUE)
  return { keyword, message: cut(message, MAX_MESSAGE), expected: short === text ? expected : short }
}

function actualOf(value: unknown): string {
  if (value === undefined || value === null) return value === null ? 'null' : 'nothing'
  if (Array.isArray(value)) return `array of ${count(value.length, 'item')}`
  return typeof value === 'object' ? 'object' : `${typeof value} ${phraseOf(value)}`
}

/** A value as text, cut to the length of a phrase. */
export function phraseOf(value: unknown, names: Names = Object.keys): string {
  const text = textOf(typeof value === 'string' ? value.slice(0, MAX_NAME) : value, names)
  return text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text
}

/** A value as text, of which a message takes the beginning: what comes far behind that may be missing. */
function textOf(value: unknown, names: Names): string {
  if (typeof value !== 'string' && typeof value !== 'object') return String(value)
  try {
    return JSON.stringify(beginningOf(value, names, { left: MAX_TEXT }, 0))
  } catch (error) {
    // It is nested too deeply, or in a circle; or it is too much work to read.
    if (error instanceof TypeError && names !== Object.keys) throw error
    return actualOf(value)
  }
}

/**
 * The value with no more in it than makes so many characters of JSON, since a constant may be megabytes. Each
 * character that is counted here is one of the text at least.
 */
function beginningOf(value: unknown, names: Names, room: { left: number }, depth: number): unknown {
  if (typeof value === 'string') {
    const text = value.slice(0, Math.max(room.left, 0))
    room.left -= value.length
    return text
  }
  room.left--
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value
  if (depth > MAX_TEXT) throw new RangeError('It is nested too deeply, or in a circle')
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) {
      if (room.left <= 0) break
      items.push(beginningOf(item, names, room, depth + 1))
    }
    return items
  }
  const members: [string, unknown][] = []
  for (const name of names(value)) {
    if (room.left <= 0) break
    const member: unknown = Reflect.get(value, name)
    if (member === undefined) continue
    room.left -= name.length
    members.push([name, beginningOf(member, names, room, depth + 1)])
  }
  return Object.fromEntries(members)
}

export function list(values: Iterable<unknown>, names?: Names): string {
  let text = ''
  for (const value of values) {
    if (text.length > 200) return `${text}, …`
    text += text === '' ? phraseOf(value, names) : `, ${phraseOf(value, names)}`
  }
  return text
}

export function count(number: number, noun: string): string {
  return `${number} ${number === 1 ? noun : `${noun}s`.replace('ys', 'ies')}`
}

export function step(key: Key): string {
  const name = String(key)
  const isPlain = !name.includes('~') && !name.includes('/')
  return `/${isPlain ? name : name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** A JSON Pointer into a value, cut where it or a name in it is long. */
export function pointerOf(keys: readonly Key[], last?: Key): string {
  let path = ''
  for (const key of keys) if (path.length <= MAX_PATH) path += shortStep(key)
  return cut(last === undefined ? path : path + shortStep(last), MAX_PATH)
}

function shortStep(key: Key): string {
  return step(typeof key === 'string' && key.length > MAX_NAME ? `${key.slice(0, MAX_NAME)}…` : key)
}

/** One line for a person or a model: which part, what was expected, what came; of the first three errors. */
export function summarize({ errors, more }: Findings): string {
  const lines = errors.slice(0, 3).map(({ path, message, expected, actual }) => {
    const what = expected === undefined ? message : `${message}, got ${actual}`
    return cut(path === '' ? what : `${path.slice(1)}: ${what}`, MAX_LINE)
  })
  const rest = errors.length - lines.length
  if (rest > 0) lines.push(`and ${more ? 'at least ' : ''}${rest} more`)
  else if (more) lines.push('and more')
  return lines.join('; ').replace(/\s+/g, ' ')
}

/**
 * The errors of the branch that the value was meant for: of the right type, then with the right constants,
 * then with the fewest errors. Where each of them wants another type or constant, it was meant for none of
 * them: then what they want, in one error.
 */
export function nearestBranch(branches: readonly SchemaError[][], here: string): readonly SchemaError[] {
  const ofItsType = branches.filter((errors) => !errors.some((error) => isType(error, here)))
  const candidates = ofItsType.length > 0 ? ofItsType : branches
  let best: readonly SchemaError[] = []
  let least = Infinity
  for (const errors of candidates) {
    const score = errors.reduce((sum, error) => sum + (isConstant(error) ? 100 : 1), 0)
    if (score < least) [least, best] = [score, errors]
  }
  const decides = (error: SchemaError): boolean => isConstant(error) || isType(error, here)
  for (const { path } of best.filter(decides)) {
    const each = candidates.flatMap((errors) => errors.find((one) => one.path === path && decides(one)) ?? [])
    if (each.length > 1 && each.length === candidates.length) return [joined(each)]
  }
  return best
}

function isType({ keyword, path }: SchemaError, here: string): boolean {
  return keyword === 'type' && path === here
}

function isConstant({ keyword }: SchemaError): boolean {
  return keyword === 'const' || keyword === 'enum'
}

/** More do not get into a message. */
const MAX_WANTS = 100

/** One error of several of the same value, of which each says what it must be. */
function joined(errors: readonly SchemaError[]): SchemaError {
  const [first] = errors
  const wants = [...new Set(errors.map(({ message }) => message.replace(/^must be /, '')))]
  const expected = [...new Set(errors.flatMap((error) => error.expected))]
  const message = `must be ${wants.slice(0, MAX_WANTS).join(' or ')}`
  return { ...first!, ...failureOf(first!.keyword, message, expected) }
}

/** The beginning of a text, as much as takes no more than so many bytes in JSON, and `…` for the rest. */
export function cut(text: string, maxBytes: number): string {
  // No UTF-16 unit takes more than the six bytes of an escape.
  if (6 * text.length <= maxBytes) return text
  let end = Math.min(text.length, maxBytes)
  for (let bytes = jsonBytes(text.slice(0, end)); bytes > maxBytes; bytes = jsonBytes(text.slice(0, end))) {
    end = Math.floor(end * maxBytes / bytes)
  }
  if (end === text.length) return text
  // Half a character is none.
  return `${text.slice(0, end).replace(/[\ud800-\udbff]$/, '')}…`
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2
}
