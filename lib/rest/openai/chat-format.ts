/**
 * The format that a client asks of an answer.
 * Spec: https://platform.openai.com/docs/guides/structured-outputs
 */
import { isRecord } from '../../define/content.ts'
import { OutputFormat } from '../../run/output-format.ts'
import { wrongParam } from './openai-errors.ts'

/** Undefined: any text. Throws a `Fault` for a format that is not known, or a schema that is none. */
export function decodeFormat(format: unknown): OutputFormat | undefined {
  const named = isRecord(format) ? format['json_schema'] : undefined
  const schema = isRecord(named) ? named['schema'] : undefined
  return formatOf(format, schema, 'response_format', '.json_schema.schema')
}

/** The same where the schema stands beside its type, as in Responses. */
export function decodeFlatFormat(format: unknown): OutputFormat | undefined {
  return formatOf(format, isRecord(format) ? format['schema'] : undefined, 'text.format', '.schema')
}

function formatOf(format: unknown, schema: unknown, at: string, path: string): OutputFormat | undefined {
  if (format === undefined || format === null) return undefined
  const type = isRecord(format) ? format['type'] : undefined
  if (type === 'text') return undefined
  if (type === 'json_object') return new OutputFormat({ type: 'object' })
  if (type !== 'json_schema') throw wrongParam(`${at}.type`, 'must be text, json_object or json_schema')
  if (!isRecord(schema)) throw wrongParam(`${at}${path}`, 'must be a JSON Schema, an object')
  try {
    return new OutputFormat(schema)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw wrongParam(`${at}${path}`, `is no JSON Schema that can be used: ${why}`)
  }
}
