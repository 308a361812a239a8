/**
 * A keyword is a rule, which makes a check of the keyword's value; a dialect is a table of rules. A rule
 * knows its own keyword and may read its neighbours; all else comes through the `Site`.
 */
import { isRecord } from '../util/record.ts'
import { namesOf } from './evaluation.ts'
import type { Failure, Key, Names } from './error.ts'
import type { CompileLimits, JsonSchema } from './limits.ts'
import type { Check, Fuel } from './evaluation.ts'

/** A JSON object, whose members may be called anything. */
export type JsonObject = Readonly<Record<string, unknown>>

/**
 * What a keyword's value may be: the test; what to write instead of any other value; the schema of such
 * values, in a metaschema that refers to itself by `self`; and where subschemas are in such a value:
 * `schemas` where it is one or an array of them, `map` where its members are.
 */
export type Kind<T> = readonly [
  is: (value: unknown) => value is T,
  phrase: string,
  schema: JsonObject | ((self: JsonObject) => JsonObject),
  holds?: 'schemas' | 'map',
]

/** A keyword. Without `compile` it asserts nothing, but its value must be of the kind. */
export interface Rule<T = unknown> {
  readonly kind: Kind<T>
  /**
   * The check, where the keyword asserts something. It lets pass values that the keyword is not for.
   * `others` is for a gate, whose check goes on to that of all other keywords.
   */
  compile?(site: Site, value: T, others: Check): Check | undefined | void
  /** `gate`: nothing else is checked where it fails. `last`: it reads what the others have evaluated. */
  readonly phase?: 'gate' | 'last' | undefined
}

/** In the order in which keywords are checked, which is the order of errors too. */
export type Vocabulary = ReadonlyMap<string, Rule>

export type RuleEntry = readonly [keyword: string, rule: Rule]

/** How schemas of one `$schema` are read. */
export interface SchemaDialect {
  readonly rules: Vocabulary
  /** The same as a list, and where in it each keyword stands. */
  readonly entries: readonly RuleEntry[]
  readonly positions: ReadonlyMap<string, number>
  /** Whether `$ref` hides its neighbours and `$id: "#name"` is an anchor, as up to draft-07. */
  readonly lonelyRef: boolean
}

/**
 * Where a keyword stands while it is compiled.
 *
 * A check must not come from a function in which any other function names the site: functions share what one
 * of them names, and the check would keep all that was made to compile the schema, some 3 kB of each.
 */
export interface Site extends Fuel {
  readonly keyword: string
  readonly limits: CompileLimits
  /** Whether what is evaluated is to be added to `run.evaluated`. */
  readonly tracks: boolean
  /** The value of a neighbour, if the dialect knows it. */
  beside(keyword: string): unknown
  /** The check of a subschema for a part of the value; the steps lead to it from the schema around. */
  part(schema: unknown, ...steps: Key[]): Check
  /** The same for a subschema that is applied to the whole value again. */
  same(schema: unknown, ...steps: Key[]): Check
  /** Has a subschema compiled that only references use. */
  define(schema: unknown, name: string): void
  /** The check of the schema that a reference names; a dynamic one looks for a `$dynamicAnchor` first. */
  refer(reference: string, dynamic?: boolean): Check
  failure(message: string, expected?: unknown): Failure
  /** The names of an object, which are paid for. */
  namesOf: Names
  /** The mistake to throw: what is wrong with the keyword, and what to write instead. */
  broken(why: string, ...steps: Key[]): TypeError
}

export function dialect(rules: Vocabulary, lonelyRef: boolean = false): SchemaDialect {
  const positions = new Map([...rules.keys()].map((keyword, at) => [keyword, at]))
  return { rules, entries: [...rules], positions, lonelyRef }
}

export function rule<T>(kind: Kind<T>, compile?: Rule<T>['compile'], phase?: Rule['phase']): Rule<T> {
  return { kind, phase, ...compile && { compile } }
}

/** Whether it is a JSON Schema that a library wrote, which can check values too, as zod's are. */
export function isWritten(schema: object): boolean {
  const own = Object.getOwnPropertyDescriptor(schema, '~standard')
  return own?.enumerable === false && Object.getPrototypeOf(schema) === Object.prototype
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'boolean' || isRecord(value)
}

/** The rules of the keywords that a schema has and its dialect knows, in the order of the dialect. */
export function rulesOf(
  schema: JsonObject, { entries, positions, lonelyRef }: SchemaDialect, fuel: Fuel,
): readonly RuleEntry[] {
  const isAlone = lonelyRef && schema['$ref'] !== undefined
  const found: number[] = []
  // A schema has few keywords of the many that there are.
  for (const keyword of isAlone ? ['$ref'] : namesOf(schema, fuel)) {
    // What is undefined is not there, as in the JSON of the schema.
    const at = schema[keyword] === undefined ? undefined : positions.get(keyword)
    if (at !== undefined) found.push(at)
  }
  return found.sort((one, other) => one - other).map((at) => entries[at]!)
}

/** A property to look up. Some names mean something in every object. */
export interface Property { readonly name: string; readonly isInherited: boolean }

export function isInherited(name: string): boolean {
  return name in Object.prototype
}

/** The value of an own property. Reading one is faster than asking whether it is own. */
export function read(object: JsonObject, { name, isInherited }: Property): unknown {
  return isInherited && !Object.hasOwn(object, name) ? undefined : object[name]
}
