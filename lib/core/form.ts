/**
 * Forms that a client's user fills in: whether what came back fits what was asked for.
 */
import { compile, summarize } from '../schema/compile.ts'
import type { Validate } from '../schema/compile.ts'

// Handlers ask with the same few forms again and again.
const MAX_REMEMBERED = 64
const MAX_REMEMBERED_CHARS = 8 * 1024
const remembered = new Map<string, Validate>()

/** What is wrong with the content of a form, in a sentence; undefined where it fits. */
export function formFault(
  schema: { readonly [keyword: string]: unknown }, content: unknown,
): string | undefined {
  // By its text: an author may change a form between two questions.
  const text = JSON.stringify(schema)
  let validate = remembered.get(text)
  if (validate === undefined) {
    validate = compile(schema, { formats: true })
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    if (text.length <= MAX_REMEMBERED_CHARS) remembered.set(text, validate)
  }
  const validation = validate(content)
  return validation.valid ? undefined : summarize(validation)
}
