/** A JSON Schema that a client asks an answer to fit, and whether the answer does. */
import { parseJson } from '../../floors/bounds/parse-json.ts'
import { isGiven, isRecord } from '../../kernel/define/content.ts'
import { compileForeign, summarize } from '../../kernel/schema/compile.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { wrongMember } from '../../floors/chat/members.ts'
import type { Answer } from '../../floors/answers/answer.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { JsonSchema, ValidateWithin } from '../../kernel/schema/compile.ts'

/** The JSON text of an answer, or why it has none. */
export type Formatted =
  | { readonly json: string; readonly refusal?: undefined }
  | { readonly refusal: string; readonly json?: undefined }

export class OutputFormat {
  readonly schema: JsonSchema
  readonly #validate: ValidateWithin

  /** Throws `TypeError` for what is no JSON Schema. */
  constructor(schema: JsonSchema) {
    this.schema = schema
    this.#validate = compileForeign(schema)
  }

  /** The text of an answer counts; where that is no JSON, its data. */
  read({ text, data }: Answer, { maxCheckSteps, maxDepth, maxObjects }: KernelLimits): Formatted {
    const parsed = parseJson(text, maxDepth, maxObjects)
    if (!parsed.ok && data === undefined) {
      const why = parsed.why.replace('The body', 'its text')
      return { refusal: `The agent did not answer with JSON, which was asked for: ${why}` }
    }
    const validation = this.#validate(parsed.ok ? parsed.value : data, maxCheckSteps)
    if (validation.valid) return { json: parsed.ok ? text : formatJson(data) ?? 'null' }
    return { refusal: `The agent's answer does not fit the schema: ${summarize(validation)}` }
  }
}

/**
 * The format of an answer; undefined: any text. `isFlat`: its schema stands beside its type, as in Responses.
 * Throws a `Fault` for a format that is not known, or a schema that is none.
 * Spec: https://platform.openai.com/docs/guides/structured-outputs
 */
export function decodeFormat(format: unknown, isFlat = false): OutputFormat | undefined {
  if (!isGiven(format)) return undefined
  const [at, path] = isFlat ? ['text.format', '.schema'] : ['response_format', '.json_schema.schema']
  const type = isRecord(format) ? format['type'] : undefined
  if (type === 'text') return undefined
  if (type === 'json_object') return new OutputFormat({ type: 'object' })
  if (type !== 'json_schema') throw wrongMember(`${at}.type`, 'must be text, json_object or json_schema')
  const holder = isFlat ? format : Reflect.get(Object(format), 'json_schema')
  const schema = isRecord(holder) ? holder['schema'] : undefined
  if (!isRecord(schema)) throw wrongMember(`${at}${path}`, 'must be a JSON Schema, an object')
  try {
    return new OutputFormat(schema)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw wrongMember(`${at}${path}`, `is no JSON Schema that can be used: ${why}`)
  }
}
