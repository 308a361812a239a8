/** Schemas of other frameworks' tools as schemas that `defineTool` takes. */
import { step } from '../../kernel/schema/error.ts'
import { contract, isShape, isStandard } from '../../kernel/schema/standard.ts'
import { isRecord } from '../../kernel/util/record.ts'
import { schemaForm } from '../schemas/schema-form.ts'
import { isLike, readMember } from './shape.ts'
import type {
  SchemaForm, StandardIssue, StandardResult, StandardSchema,
} from '../../kernel/schema/standard.ts'

const vercel = Symbol.for('vercel.ai.schema')

/** Whether a value can be a schema: of a library, of the AI SDK, or JSON Schema. */
export function isAnySchema(value: unknown): value is object {
  if (isStandard(value) || isOfAiSdk(value)) return true
  if (!isRecord(value)) return false
  return typeof readMember(value, 'type') === 'string' || typeof readMember(value, 'properties') === 'object'
}

function isOfAiSdk(value: unknown): value is object {
  return typeof value === 'object' && value !== null && vercel in value
}

/** As `defineTool` takes it. Throws `TypeError` for a schema of the AI SDK that comes later. */
export function schemaFrom(given: unknown): object | undefined {
  if (isOfAiSdk(given)) return ofAiSdk(given)
  if (isShape(given)) return objectOf(given)
  if (isStandard(given) || typeof given !== 'object' || given === null) return given as object | undefined
  return lowered(given) as object
}

/**
 * For a tool that checks its arguments by itself: they are checked, and it gets them as they came, so that
 * nothing is transformed twice.
 */
export function unchanged(schema: object | undefined): object | undefined {
  if (!isStandard(schema)) return schema
  const { '~standard': library } = schema
  const keep = (given: unknown, result: StandardResult<unknown>): StandardResult<unknown> => (
    result.issues ? result : { value: given }
  )
  const standard: StandardSchema['~standard'] = {
    version: 1,
    vendor: library.vendor,
    ...library.jsonSchema !== undefined && { jsonSchema: library.jsonSchema },
    validate: (given) => {
      const result = library.validate(given)
      return 'then' in result ? result.then((late) => keep(given, late)) : keep(given, result)
    },
  }
  // What else the library keeps in it is read where it makes no JSON Schema.
  return Object.create(schema, { '~standard': { value: standard, enumerable: true } }) as object
}

function ofAiSdk(given: object): object {
  const json = readMember(given, 'jsonSchema')
  if (typeof json !== 'object' || json === null || 'then' in json) {
    throw new TypeError('The schema of this tool is not there yet, as it is made later; write its '
      + `inputSchema as the library's own object, or as jsonSchema({ type: 'object', properties: { … } })`)
  }
  const validate = readMember(given, 'validate')
  if (typeof validate !== 'function') return json
  const check = async (value: unknown): Promise<StandardResult<unknown>> => {
    const checked: unknown = await validate(value)
    if (readMember(checked, 'success') === true) return { value: readMember(checked, 'value') }
    const error = readMember(checked, 'error')
    return { issues: [{ message: error instanceof Error ? error.message : 'is not valid' }] }
  }
  return standardOf('ai', check, () => ({ ...json }))
}

/** The object of a shape. */
function objectOf(shape: Readonly<Record<string, StandardSchema>>): StandardSchema {
  const parts = Object.entries(shape)
  const check = async (given: unknown): Promise<StandardResult<unknown>> => {
    if (typeof given !== 'object' || given === null) return { issues: [{ message: 'must be an object' }] }
    const value: Record<string, unknown> = {}
    const issues: StandardIssue[] = []
    for (const [name, { '~standard': { validate } }] of parts) {
      const result = await validate(readMember(given, name))
      const found = result.issues ?? []
      issues.push(...found.map(({ message, path = [] }) => ({ message, path: [name, ...path] })))
      if (!result.issues && result.value !== undefined) value[name] = result.value
    }
    return issues.length > 0 ? { issues } : { value }
  }
  // What takes nothing may be left out.
  const isRequired = ({ '~standard': { validate } }: StandardSchema): boolean => {
    const result = validate(undefined)
    return 'then' in result || result.issues !== undefined
  }
  const required = parts.filter(([, schema]) => isRequired(schema)).map(([name]) => name)
  const properties = Object.fromEntries(parts.map(([name, schema]) => {
    const formThere: SchemaForm = (...all) => schemaForm(...all, `/properties${step(name)}`)
    return [name, contract(schema, { schemaForm: formThere }).json]
  }))
  return standardOf('shape', check, () => ({ type: 'object', properties, required }))
}

function standardOf(
  vendor: string, validate: StandardSchema['~standard']['validate'], json: () => Record<string, unknown>,
): StandardSchema {
  return { '~standard': { version: 1, vendor, validate, jsonSchema: { input: json, output: json } } }
}

/** Deeper than any schema that compiles. */
const MAX_DEPTH = 256

/** Google's own form of JSON Schema has its types in capitals. Throws `TypeError` for what is too deep. */
function lowered(schema: unknown, depth = 0): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  if (depth > MAX_DEPTH) {
    throw new TypeError(`The schema of this tool is nested deeper than ${MAX_DEPTH} levels; make it flatter`)
  }
  const inner = (one: unknown): unknown => lowered(one, depth + 1)
  if (Array.isArray(schema)) return schema.map(inner)
  if (!isLike(readMember(schema, 'type'), /^[A-Z]+$/)) return schema
  return Object.fromEntries(Object.entries(schema).map(([name, value]: [string, unknown]) => {
    if (name === 'type') return [name, String(value).toLowerCase()]
    if (name !== 'properties') return [name, inner(value)]
    return [name, Object.fromEntries(Object.entries(value ?? {}).map(([key, one]) => [key, inner(one)]))]
  }))
}
