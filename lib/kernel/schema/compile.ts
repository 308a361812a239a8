/**
 * JSON Schema: a schema in, a validator out. 2020-12 unless `$schema` says draft-07 or names a metaschema
 * that was given. A schema becomes a tree of small closures, one for each keyword that asserts something,
 * made by the rules of its dialect; no code is generated.
 * Spec: https://json-schema.org/draft/2020-12/json-schema-core and json-schema-validation
 */
import { errorAt, summarize } from './error.ts'
import { fillIn, newDefault, planOf } from './fill.ts'
import { compileLimits } from './limits.ts'
import { Linker } from './link.ts'
import { broken, register, split } from './resource.ts'
import { isSchema } from './rule.ts'
import { Evaluation, Exhausted, pass } from './evaluation.ts'
import type { Failure, Findings } from './error.ts'
import type { Plan } from './fill.ts'
import type { CompileLimits, CompileOptions, JsonSchema } from './limits.ts'
import type { SchemaLocation, Registry } from './resource.ts'
import type { Check } from './evaluation.ts'

export type { Findings, SchemaError } from './error.ts'
export type { CompileOptions, JsonSchema } from './limits.ts'
export { summarize } from './error.ts'

/** The result of checking a value. */
export interface Validation extends Findings {
  /** True if and only if there are no errors. */
  readonly valid: boolean
  /** With the option `defaults`, for a valid value: what to use, that value or a copy with its defaults. */
  readonly value?: unknown
}

/** Checks a value. Never throws, and leaves the value as it is. */
export type Validate = (value: unknown) => Validation

/** The same, within so many steps for this value. Left out: those of the options. */
export type ValidateWithin = (value: unknown, maxSteps?: number) => Validation

const CHANGING: Failure = { keyword: '', message: 'changes while it is checked' }
const VALID: Validation = Object.freeze({ valid: true, errors: Object.freeze([]), more: false })

/**
 * Compiles a schema to a function that checks values.
 *
 * Throws a TypeError for a schema that is broken, refers to something that was not given, or exceeds the
 * bounds; its message has where, why, and what to write instead. Nothing is fetched or remembered.
 */
export function compile(schema: JsonSchema, options: CompileOptions = {}): Validate {
  const validate = compileWithin(schema, options)
  return (value) => validate(value)
}

/** The same for a function that may get with each value how many steps it may take. */
export function compileWithin(schema: JsonSchema, options: CompileOptions = {}): ValidateWithin {
  const bounds = compileLimits(options)
  if (!isSchema(schema)) throw new TypeError('A JSON Schema is an object or a boolean; write {} for anything')
  const registry = register(given(options.schemas), bounds)
  const root = registry.add(schema, '')
  const schemas = new Linker(registry, bounds)
  const [check = pass] = schemas.link([root])
  if (!bounds.defaults || !schemas.hasDefaults) return validator(check, root, undefined, bounds)
  const plan = planFor(root, registry, (locations) => schemas.link(locations), bounds)
  return validator(check, root, plan, bounds)
}

/**
 * Some 25 ms: several times what the largest schemas take that model providers accept, with 5,000 properties
 * and 1,000 constants.
 */
const MAX_FOREIGN_STEPS = 250_000

/**
 * The same of a schema that somebody else wrote, a client with its request, a model, another program: what it
 * makes a server do is bounded before it is done. Throws for one that is too much work, too.
 */
export function compileForeign(
  schema: JsonSchema, options: { readonly formats?: boolean } = {},
): ValidateWithin {
  return compileWithin(schema, { ...options, maxCompileSteps: MAX_FOREIGN_STEPS })
}

function validator(
  check: Check, { resource }: SchemaLocation, plan: Plan | undefined, bounds: CompileLimits,
): ValidateWithin {
  let idle: Evaluation | undefined

  return (input, maxSteps = bounds.maxSteps) => {
    // One run is kept for the next value; a value whose getters come back here gets another.
    const run = idle ?? new Evaluation(bounds, resource)
    idle = undefined
    run.begin(maxSteps)
    let value = input
    try {
      if (plan !== undefined) value = fillIn(input, plan, run)
      const valid = check(value, run)
      idle = run
      if (!valid) return explain(value, maxSteps)
    } catch (error) {
      return explain(value, maxSteps, boundIn(error))
    }
    return bounds.defaults ? { valid: true, errors: VALID.errors, more: false, value } : VALID
  }

  /** Checks a value again, to list what is wrong, unless a bound was reached. */
  function explain(value: unknown, maxSteps: number, bound?: Failure): Validation {
    const run = new Evaluation(bounds, resource)
    run.begin(maxSteps)
    run.quiet = false
    let reached = bound
    try {
      if (bound === undefined) check(value, run)
    } catch (error) {
      reached = boundIn(error)
    }
    const errors = run.errors.slice(0, bounds.maxErrors)
    if (errors.length === 0) errors.push(errorAt('', reached ?? CHANGING, value))
    return { valid: false, errors, more: reached !== undefined || run.errors.length >= bounds.maxErrors }
  }
}

/** The bound that ended a run; what else was thrown is thrown on. */
function boundIn(error: unknown): Failure {
  if (error instanceof Exhausted) return error.bound
  throw error
}

/** The plan of a schema's defaults, if it has any. Throws the mistake where one does not fit its schema. */
function planFor(
  root: SchemaLocation, registry: Registry,
  link: (locations: readonly SchemaLocation[]) => readonly Check[], bounds: CompileLimits,
): Plan | undefined {
  const { plan, found } = planOf(root, registry)
  const checks = link(found.map((part) => part.location))
  for (const [index, part] of found.entries()) {
    const run = new Evaluation(bounds, root.resource)
    run.begin(bounds.maxSteps)
    const value = newDefault(part, run)
    const bare = { ...bounds, defaults: false }
    const validation = validator(checks[index] ?? pass, part.location, undefined, bare)(value)
    const why = `the default does not fit its schema: ${summarize(validation)}`
    if (!validation.valid) throw broken({ from: part.location.at, keys: ['default'] }, why)
  }
  return found.length > 0 ? plan : undefined
}

const nothing: ReadonlyMap<string, JsonSchema> = new Map()

function given(schemas: CompileOptions['schemas']): ReadonlyMap<string, JsonSchema> {
  if (schemas === undefined) return nothing
  const entries = Array.isArray(schemas) ? schemas.map((schema) => [Object(schema).$id, schema])
    : Object.entries(schemas)
  return new Map(entries.map(([uri, schema]): [string, JsonSchema] => {
    if (typeof uri === 'string' && isSchema(schema)) return [split(uri)[0], schema]
    throw new TypeError('"schemas" must be { [uri]: schema }, or an array of schemas that have an "$id"')
  }))
}
