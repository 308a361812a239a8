/**
 * The format that a client asks of an answer.
 * Spec: https://platform.openai.com/docs/guides/structured-outputs
 */
import { isRecord } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import { OutputFormat } from '../../run/output-format.ts'

/** Undefined: any text. Throws a `Fault` for a format that is not known, or a schema that is none. */
export function decodeFormat(format: unknown): OutputFormat | undefined {
  if (format === undefined || format === null) return undefined
  const { type, json_schema: named } = isRecord(format) ? format : {}
  if (type === 'text') return undefined
  if (type === 'json_object') return new OutputFormat({ type: 'object' })
  if (type !== 'json_schema') throw wrong('.type', 'must be text, json_object or json_schema')
  const { schema } = isRecord(named) ? named : {}
  if (!isRecord(schema)) throw wrong('.json_schema.schema', 'must be a JSON Schema, an object')
  try {
    return new OutputFormat(schema)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw wrong('.json_schema.schema', `is no JSON Schema that can be used: ${why}`)
  }
}

function wrong(path: string, demand: string): Fault {
  const param = `response_format${path}`
  return new Fault('invalid', `${param} ${demand}`, { param, code: null })
}
