/**
 * What a failed validation says, to people and to models: errors and phrases. Knows no keyword but the three
 * that tell which branch of an `anyOf` a value was meant for.
 */
import { canonical } from './equal.ts'

/** One thing that is wrong with a value. */
export interface SchemaError {
  /** Where, as a JSON Pointer (RFC 6901) into the value; for what is missing, where it should be. */
  readonly path: string
  /** The keyword that refused; for a Standard Schema the name of its library. */
  readonly keyword: string
  /** What is wrong, as a predicate: `must be at least 1`. */
  readonly message: string
  /** What the keyword asked for, where that is a value: a type, a bound, the allowed values. */
  readonly expected?: unknown
  /** What was there, shortened: `string "abc"`, `number 5`, `object`, `nothing`. */
  readonly actual: string
}

/** An error without its place: all that is known of it when the schema is compiled. */
export type Fault = Pick<SchemaError, 'keyword' | 'message' | 'expected'>

/** The type of a value, and the value where it is short. */
export function describe(value: unknown): string {
  if (value === undefined || value === null) return value === null ? 'null' : 'nothing'
  if (Array.isArray(value)) return `array of ${count(value.length, 'item')}`
  return typeof value === 'object' ? 'object' : `${typeof value} ${show(value)}`
}

/** A value as text, cut to the length of a phrase. */
export function show(value: unknown): string {
  return cut(String(canonical(typeof value === 'string' ? value.slice(0, 60) : value)), 60)
}

/** Values as text, as many as a phrase can hold. */
export function list(values: readonly unknown[]): string {
  return cut(values.map(show).join(', '), 200)
}

/** `1 item`, `2 items`. */
export function count(number: number, noun: string): string {
  return `${number} ${number === 1 ? noun : `${noun}s`.replace('ys', 'ies')}`
}

/** A step of a JSON Pointer. */
export function step(key: string | number): string {
  return `/${/[~/]/.test(String(key)) ? String(key).replaceAll('~', '~0').replaceAll('/', '~1') : key}`
}

/** One line for a person or a model: which part, what was expected, what came; of the first three errors. */
export function summarize(errors: readonly SchemaError[]): string {
  const lines = errors.slice(0, 3).map(({ path, message, expected, actual }) =>
    `${path && `${path.slice(1)}: `}${message}${expected === undefined ? '' : `, got ${actual}`}`)
  const more = errors.length > 3 ? [`and ${errors.length - 3} more`] : []
  return [...lines, ...more].join('; ').replace(/\s+/g, ' ')
}

/**
 * The errors of the branch that the value was meant for: of the right type, then with the right constants,
 * then with the fewest errors.
 */
export function nearest(branches: readonly SchemaError[][], here: string): readonly SchemaError[] {
  const weight = ({ keyword, path }: SchemaError): number =>
    keyword === 'type' && path === here ? 10_000 : /^(const|enum)$/.test(keyword) ? 100 : 1
  const scores = branches.map((errors) => errors.reduce((sum, error) => sum + weight(error), 0))
  return branches[scores.indexOf(Math.min(...scores))] ?? []
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}
