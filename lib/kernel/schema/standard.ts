/**
 * Schemas of other libraries (zod, valibot, arktype and their like) and JSON Schemas behind one contract: a
 * schema in; what is published of it and how a value is checked out.
 * Spec: https://standardschema.dev (Standard Schema v1), https://standardschema.dev/json-schema
 */
import { isThenable } from '../util/thenable.ts'
import { compile, compileWithin } from './compile.ts'
import { cut, errorAt, failureOf, pointerOf } from './error.ts'
import { compileLimits } from './limits.ts'
import { isObject } from './rule.ts'
import { jsonFormOf, typeBoxFormOf } from './library/standard-form.ts'
import type { Findings, SchemaError } from './error.ts'
import type { CompileOptions, JsonSchema } from './limits.ts'
import type { Side } from './library/library-part.ts'
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

export interface ContractOptions extends CompileOptions {
  /** The JSON Schema to publish for a Standard Schema that has none of its own. */
  readonly beside?: JsonSchema | undefined
  /** Which side of a transforming Standard Schema is published. Default: `input`. */
  readonly side?: Side | undefined
  /** Where an author writes the schema, as errors name it. Default: `inputSchema` or `outputSchema`. */
  readonly member?: string | undefined
  /** Where the JSON form of a Standard Schema is put, as a JSON Pointer. Default: it is a whole by itself. */
  readonly at?: string | undefined
}

/**
 * Makes a contract of a schema. Throws a TypeError for a JSON Schema that does not compile, and for a
 * Standard Schema that has no JSON form where none is given in `beside`, with where to get one.
 */
export function contract(
  schema: Schema,
  { beside, side = 'input', member = `${side}Schema`, at = '', ...options }: ContractOptions = {},
): Contract {
  if (isStandard(schema)) {
    // The library checks the values; compiling finds the author's mistakes while the definition is read.
    if (beside !== undefined) compile(beside, options)
    const json = beside === undefined ? jsonFormOf(schema, side, member, at) : published(beside)
    return standard(schema, json, options)
  }
  refuseForeign(schema)
  if (isObject(schema)) refuseShape(schema)
  const form = (isObject(schema) ? typeBoxFormOf(schema, side, member) : undefined) ?? schema
  const validate = compileWithin(form, options)
  return {
    json: published(form),
    check(value, maxSteps) {
      const { errors, more, value: filled = value } = validate(value, maxSteps)
      return { value: filled, errors, more }
    },
  }
}

/** Whether a schema is a Standard Schema; some libraries make them functions. */
export function isStandard(schema: unknown): schema is StandardSchema {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return false
  return '~standard' in schema && isObject(schema['~standard'])
    && typeof schema['~standard']['validate'] === 'function'
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

const objects: ReadonlyMap<string, string> = new Map([
  ['zod', 'z.object({ … })'],
  ['valibot', 'v.object({ … })'],
  ['arktype', 'type({ … })'],
])

/** Schemas of libraries that are no Standard Schemas have functions, which JSON has not. */
function refuseForeign(schema: object | boolean): void {
  if (typeof schema === 'boolean' || schema === null) return
  if ('ast' in schema && isObject(schema.ast) && '_tag' in schema.ast) {
    throw new TypeError('This effect schema is no Standard Schema yet; write Schema.standardSchemaV1(schema)'
      + ', and in version 4 Schema.toStandardSchemaV1(schema)')
  }
  const isOfZod = '_def' in schema
  const isFunction = (one: unknown): boolean => typeof one === 'function'
  if (!isOfZod && !isFunction(schema) && !Object.values(schema).some(isFunction)) return
  const remedy = isOfZod ? 'use zod 3.24 or later' : 'use a version of it that is one'
  throw new TypeError('This is a schema of a library, and neither a JSON Schema nor a Standard Schema; '
    + `${remedy}, or write its JSON Schema`)
}

/** Properties alone, each the schema of a library, are what some frameworks take. */
function refuseShape(schema: JsonObject): void {
  const parts = Object.values(schema)
  const [first] = parts
  if (!isStandard(first) || !parts.every(isStandard)) return
  const { vendor } = first['~standard']
  const remedy = objects.get(vendor) ?? `an object schema of ${vendor}`
  throw new TypeError(`This is a shape, not a schema; write ${remedy}`)
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
