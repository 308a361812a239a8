/** A JSON Schema that a client asks an answer to fit, and whether the answer does. */
import { summarize } from '../../kernel/schema/compile.ts'
import { compileForeign } from '../../kernel/schema/foreign.ts'
import { formatJson, parseJson } from '../../kernel/wire/json.ts'
import type { Answer } from '../../kernel/define/answer.ts'
import type { Limits } from '../../kernel/define/limits.ts'
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
  read({ text, data }: Answer, { maxCheckSteps, maxDepth, maxObjects }: Limits): Formatted {
    const parsed = parseJson(text, maxDepth, maxObjects)
    if (!parsed.ok && data === undefined) {
      return { refusal: `The agent did not answer with JSON, which was asked for: ${parsed.why}` }
    }
    const validation = this.#validate(parsed.ok ? parsed.value : data, maxCheckSteps)
    if (validation.valid) return { json: parsed.ok ? text : formatJson(data) ?? 'null' }
    return { refusal: `The agent's answer does not fit the schema: ${summarize(validation)}` }
  }
}
