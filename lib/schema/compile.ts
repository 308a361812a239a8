/**
 * JSON Schema: a schema in, a validator out. The room's first file; the only one that puts the others together.
 *
 * 2020-12 unless `$schema` says draft-07 or names a metaschema that was given. A schema becomes a tree of small
 * closures, one for each keyword that asserts something, made by the rules of its dialect; no code is generated.
 * Knows no keyword by name.
 *
 * Spec: https://json-schema.org/draft/2020-12/json-schema-core, .../json-schema-validation
 */
import type { SchemaError } from './error.ts'
import { dialects } from './dialects.ts'
import { type CompileOptions, type JsonSchema, limits } from './limits.ts'
import { assemble } from './node.ts'
import { register } from './resource.ts'
import { isObject } from './rule.ts'
import { Run } from './run.ts'
import { split } from './uri.ts'

export { type SchemaError, summarize } from './error.ts'
export type { CompileOptions, JsonSchema } from './limits.ts'

/** What a validator says of a value. `errors` is empty if and only if `valid`. */
export interface Validation {
  readonly valid: boolean
  /** The most useful first; at most `maxErrors`. */
  readonly errors: readonly SchemaError[]
}

/** Checks a value; never throws, and changes the value only where `defaults` was asked for. */
export type Validate = (value: unknown) => Validation

const VALID: Validation = Object.freeze({ valid: true, errors: Object.freeze([]) })

/**
 * Compiles a schema to a function that checks values.
 *
 * Throws a TypeError for a schema that is broken, refers to something that was not given, or is larger than the
 * bounds: it says where, why, and what to write instead. Nothing is fetched and nothing is remembered.
 */
export function compile(schema: JsonSchema, options: CompileOptions = {}): Validate {
  if (typeof schema !== 'boolean' && !isObject(schema)) {
    throw new TypeError('A JSON Schema is an object, true or false; write { type: \'object\' } for any object')
  }
  const bounds = limits(options)
  const registry = register(dialects, given(options.schemas), bounds)
  const resource = registry.add(schema, '')
  const node = assemble({ schema, resource, at: `${resource.uri}#` }, registry, bounds)
  let idle: Run | undefined

  return (value) => {
    // One run is kept for the next value; a value whose getters call the validator again gets another.
    const run = idle ?? new Run(bounds, resource, true)
    idle = undefined
    run.reset()
    const valid = node.check(value, run) && run.gaveUp === ''
    idle = run
    return valid ? VALID : explain(value, run.gaveUp)
  }

  function explain(value: unknown, gaveUp: string): Validation {
    const run = new Run(bounds, resource, false)
    if (gaveUp === '') node.check(value, run)
    const errors = run.errors.slice(0, bounds.maxErrors)
    if (errors.length === 0) {
      const message = gaveUp || run.gaveUp || 'must stay the same while it is checked'
      errors.push({ path: '', keyword: '$ref', message, actual: typeof value })
    }
    return { valid: false, errors }
  }
}

function given(schemas: CompileOptions['schemas'] = {}): Map<string, JsonSchema> {
  const named = new Map<string, JsonSchema>()
  const add = (uri: string, schema: JsonSchema) => {
    if (typeof schema !== 'boolean' && !isObject(schema)) {
      throw new TypeError(`schemas: ${uri} must be a JSON Schema, an object or a boolean`)
    }
    named.set(split(uri)[0], schema)
  }
  if (!Array.isArray(schemas)) {
    for (const [uri, schema] of Object.entries(schemas)) add(uri, schema)
    return named
  }
  for (const schema of schemas) {
    const id = isObject(schema) ? schema['$id'] : undefined
    if (typeof id !== 'string') {
      throw new TypeError('schemas: every schema in an array needs an "$id"; or write { [uri]: schema }')
    }
    add(id, schema)
  }
  return named
}
