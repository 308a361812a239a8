/**
 * Standard Schemas and JSON Schemas behind one contract: a schema in; what is published of it and how a value
 * is checked out. It knows no library: what else is published of a library's schema, its caller gives.
 * Spec: https://standardschema.dev (Standard Schema v1), https://standardschema.dev/json-schema
 */
import { isRecord } from '../util/record.ts'
import { isThenable } from '../util/thenable.ts'
import { compile, compileWithin } from './compile.ts'
import { cut, errorAt, failureOf, pointerOf } from './error.ts'
import { compileLimits } from './limits.ts'
import { isWritten } from './rule.ts'
import type { Findings, SchemaError } from './error.ts'
import type { CompileOptions, JsonSchema } from './limits.ts'
import type { JsonObject } from './rule.ts'

/** An object that checks values as Standard Schema v1 describes, and may have a JSON Schema form. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>
      readonly output: (options: { readonly target: string }) => Record<string, unknown>
    } | undefined
  }
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A schema of either kind. */
export type Schema = JsonSchema | StandardSchema

/** A checked value. Without errors it is good, and `value` is what to use; a library may have changed it. */
export interface Checked extends Findings { readonly value: unknown }

/** A schema as a server uses it. */
export interface Contract {
  /** What is published: the JSON Schema itself, unchanged, or the JSON form of a Standard Schema. */
  readonly json: JsonObject
  /**
   * Checks a value. A promise only where a Standard Schema validates asynchronously. `maxSteps` bounds the
   * work as the option of `compile` does, which it stands for where it is given; the library of a Standard
   * Schema knows no such bound.
   */
  check(value: unknown, maxSteps?: number): Checked | Promise<Checked>
}

/** What comes in is not always what comes out: a library may transform it. */
export type Side = 'input' | 'output'

/**
 * Reads the JSON Schema of one side of a library's schema; undefined for what it does not know. `member` is
 * where an author writes the schema. Throws `TypeError`, with what to write instead, where there is none.
 */
export type SchemaForm = (schema: unknown, side: Side, member: string) => JsonObject | undefined

export interface ContractOptions extends CompileOptions {
  /** The JSON Schema to publish for a Standard Schema that has none of its own. */
  readonly beside?: JsonSchema | undefined
  /** Which side of a transforming Standard Schema is published. Default: `input`. */
  readonly side?: Side | undefined
  /** Where an author writes the schema, as errors name it. Default: `inputSchema` or `outputSchema`. */
  readonly member?: string | undefined
  /** What knows libraries. Default: a Standard Schema has the form that it writes itself, or none. */
  readonly schemaForm?: SchemaForm | undefined
}

/**
 * Makes a contract of a schema. Throws a TypeError for a JSON Schema that does not compile, and for a
 * Standard Schema that has no JSON form where none is given in `beside`, with where to get one.
 */
export function contract(
  schema: Schema,
  { beside, side = 'input', member = `${side}Schema`, schemaForm, ...options }: ContractOptions = {},
): Contract {
  if (isStandard(schema)) {
    // The library checks the values; compiling finds the author's mistakes while the definition is read.
    if (beside !== undefined) compile(beside, options)
    const json = beside === undefined ? schemaForm?.(schema, side, member) ?? ownForm(schema, side, member)
      : published(beside)
    return standard(schema, json, options)
  }
  const form = schemaForm?.(schema, side, member) ?? schema
  refuseForeign(form)
  const validate = compileWithin(form, options)
  return {
    json: published(form),
    check(value, maxSteps) {
      const { errors, more, value: filled = value } = validate(value, maxSteps)
      return { value: filled, errors, more }
    },
  }
}

/** The JSON Schema that a Standard Schema writes itself. */
function ownForm(schema: StandardSchema, side: Side, member: string): JsonObject {
  const { vendor, jsonSchema } = schema['~standard']
  const owner = `This ${cut(vendor, 40)} schema`
  const remedy = `write ${formByHand(member)}`
  if (jsonSchema === undefined) throw new TypeError(`${owner} has no JSON Schema form; ${remedy}`)
  let cause: unknown
  try {
    const json = jsonSchema[side]({ target: 'draft-2020-12' })
    if (isRecord(json)) return json
  } catch (error) {
    cause = error
  }
  // What a library wrote by the options of its author.
  if (isWritten(schema)) return { ...schema }
  const why = cause instanceof Error ? ` (${cut(cause.message, 200)})` : ''
  throw new TypeError(`${owner} cannot be written as JSON Schema${why}; ${remedy}`, { cause })
}

/** Where to write a JSON Schema: for arguments the schema of the library may go on checking. */
export function formByHand(member: string, json = `{ type: 'object', properties: { … } }`): string {
  return member === 'inputSchema' ? `inputSchema: ${json}, validate: schema` : `${member}: ${json}`
}

/** Whether a schema is a Standard Schema; some libraries make them functions. */
export function isStandard(schema: unknown): schema is StandardSchema {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return false
  return '~standard' in schema && isRecord(schema['~standard'])
    && typeof schema['~standard']['validate'] === 'function'
}

/** Whether it is properties alone, each of them the schema of a library, as some frameworks take them. */
export function isShape(value: unknown): value is Readonly<Record<string, StandardSchema>> {
  const parts = Object.values(Object(value) as object)
  return parts.length > 0 && parts.every(isStandard)
}

function standard(schema: StandardSchema, json: JsonObject, options: CompileOptions): Contract {
  const library = schema['~standard']
  const { maxErrors } = compileLimits(options)
  const checked = (value: unknown, result: StandardResult<unknown>): Checked => {
    if (!result.issues) {
      if ('value' in result) return { value: result.value, errors: [], more: false }
      throw new TypeError(`A schema of ${cut(library.vendor, 40)} gave neither a value nor issues`)
    }
    const errors = result.issues.slice(0, maxErrors).map((issue) => errorOf(issue, value, library.vendor))
    return { value, errors, more: result.issues.length > errors.length }
  }
  return {
    json,
    check(value) {
      const result = library.validate(value)
      return isThenable(result) ? Promise.resolve(result).then((late) => checked(value, late))
        : checked(value, result)
    },
  }
}

/** Schemas of libraries that are no Standard Schemas have functions, which JSON has not. */
function refuseForeign(schema: JsonSchema): void {
  const parts: readonly unknown[] = Object.values(Object(schema) as object)
  if (isShape(schema)) {
    const { vendor } = Object.values(schema)[0]!['~standard']
    throw new TypeError(`This is a shape, not a schema; write an object schema of ${cut(vendor, 40)}`)
  }
  if (![schema, ...parts].some((one) => typeof one === 'function')) return
  throw new TypeError('This is a schema of a library, and neither a JSON Schema nor a Standard Schema; use a '
    + 'version of it that is one, or write its JSON Schema')
}

function published(schema: JsonSchema): JsonObject {
  return schema === true ? {} : schema || { not: {} }
}

function errorOf({ message, path = [] }: StandardIssue, value: unknown, vendor: string): SchemaError {
  const keys = path.map((step) => typeof step === 'object' ? step.key : step)
  let actual = value
  for (const key of keys) {
    actual = typeof actual === 'object' && actual !== null && Object.hasOwn(actual, key)
      ? Reflect.get(actual, key) : undefined
  }
  const steps = keys.map((key) => typeof key === 'symbol' ? String(key.description) : key)
  return errorAt(pointerOf(steps), failureOf(cut(vendor, 40), message), actual)
}
