/**
 * JSON Schema: a schema in, a validator out. The first file of the room, which puts the others together.
 *
 * 2020-12 unless `$schema` says draft-07 or names a metaschema that was given. A schema becomes a tree of
 * small closures, one for each keyword that asserts something, made by the rules of its dialect; no code is
 * generated.
 * Spec: https://json-schema.org/draft/2020-12/json-schema-core and json-schema-validation
 */
import { dialects } from './dialects.ts'
import { errorAt, summarize } from './error.ts'
import { defaultsOf } from './fill.ts'
import { limits } from './limits.ts'
import { link } from './link.ts'
import { broken, register } from './resource.ts'
import { isSchema } from './rule.ts'
import { Run } from './run.ts'
import { split } from './uri.ts'
import type { Fault, Findings } from './error.ts'
import type { Fill } from './fill.ts'
import type { CompileOptions, JsonSchema, Limits } from './limits.ts'
import type { Place, Registry } from './resource.ts'

export type { Findings, SchemaError } from './error.ts'
export type { CompileOptions, JsonSchema } from './limits.ts'
export { summarize } from './error.ts'

/** What a validator says of a value. */
export interface Validation extends Findings {
  /** True if and only if there are no errors. */
  readonly valid: boolean
  /** With the option `defaults`, for a valid value: what to use, that value or a copy with its defaults. */
  readonly value?: unknown
}

/** Checks a value. Never throws, and leaves the value as it is. */
export type Validate = (value: unknown) => Validation

const CHANGING: Fault = { keyword: '', message: 'changes while it is checked' }
const VALID: Validation = Object.freeze({ valid: true, errors: Object.freeze([]), more: false })

/**
 * Compiles a schema to a function that checks values.
 *
 * Throws a TypeError for a schema that is broken, refers to something that was not given, or exceeds the
 * bounds: it says where, why, and what to write instead. Nothing is fetched and nothing is remembered.
 */
export function compile(schema: JsonSchema, options: CompileOptions = {}): Validate {
  if (!isSchema(schema)) throw new TypeError('A JSON Schema is an object or a boolean; write {} for anything')
  const bounds = limits(options)
  const registry = register(dialects, given(options.schemas), bounds)
  const root = registry.add(schema, '')
  const check = link(root, registry, bounds)
  const fill = bounds.defaults ? fillFor(root, registry, bounds) : undefined
  let idle: Run | undefined

  return (given) => {
    // One run is kept for the next value; a value whose getters come back here gets another.
    const run = idle ?? new Run(bounds, root.resource)
    idle = undefined
    run.reset()
    const value = fill === undefined ? given : fill(given, run)
    const valid = check(value, run) && run.over === undefined
    idle = run
    if (!valid) return explain(value, run.over)
    return bounds.defaults ? { valid: true, errors: VALID.errors, more: false, value } : VALID
  }

  /** Goes through a value again, to say what is wrong, unless that is known. */
  function explain(value: unknown, over: Fault | undefined): Validation {
    const run = new Run(bounds, root.resource)
    run.quiet = false
    run.over = over
    if (over === undefined) check(value, run)
    const errors = run.errors.slice(0, bounds.maxErrors)
    if (errors.length === 0) errors.push(errorAt([], run.over ?? CHANGING, value))
    return { valid: false, errors, more: run.over !== undefined || run.errors.length >= bounds.maxErrors }
  }
}

/** What fills in the defaults of a schema, if it has any. Throws the mistake where one does not fit. */
function fillFor(root: Place, registry: Registry, bounds: Limits): Fill | undefined {
  const { fill, found } = defaultsOf(root, registry)
  for (const { place, make } of found) {
    const check = link(place, registry, bounds)
    const run = new Run(bounds, place.resource)
    run.quiet = false
    check(make(undefined, run), run)
    const { errors, over } = run
    if (errors.length === 0 && over === undefined) continue
    const why = summarize({ errors: over ? [errorAt([], over, undefined)] : errors, more: false })
    throw broken(`${place.at}/default`, `the default does not fit its schema: ${why}`)
  }
  return found.length > 0 ? fill : undefined
}

function given(schemas: CompileOptions['schemas'] = {}): Map<string, JsonSchema> {
  const entries = Array.isArray(schemas) ? schemas.map((schema) => [Object(schema).$id, schema])
    : Object.entries(schemas)
  return new Map(entries.map(([uri, schema]): [string, JsonSchema] => {
    if (typeof uri === 'string' && isSchema(schema)) return [split(uri)[0], schema]
    throw new TypeError('"schemas" must be { [uri]: schema }, or an array of schemas that have an "$id"')
  }))
}
