/**
 * Forms that a client's user fills in: whether what came back fits what was asked for.
 */
import { compileWithin, summarize } from '../schema/compile.ts'
import type { ValidateWithin } from '../schema/compile.ts'

// Handlers ask with the same few forms again and again.
const MAX_REMEMBERED = 64
const MAX_REMEMBERED_CHARS = 8 * 1024
const remembered = new Map<string, ValidateWithin>()

/** What is wrong with the content of a form, in a sentence; undefined where it fits, found in `maxSteps`. */
export function formFault(
  schema: { readonly [keyword: string]: unknown }, content: unknown, maxSteps: number,
): string | undefined {
  // By its text: an author may change a form between two questions.
  const text = JSON.stringify(schema)
  let validate = remembered.get(text)
  if (validate === undefined) {
    validate = compileWithin(schema, { formats: true })
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    if (text.length <= MAX_REMEMBERED_CHARS) remembered.set(text, validate)
  }
  const validation = validate(content, maxSteps)
  return validation.valid ? undefined : summarize(validation)
}
