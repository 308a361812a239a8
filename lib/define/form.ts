/**
 * Forms that a client's user fills in: whether what came back fits what was asked for.
 */
import { compileWithin, summarize } from '../schema/compile.ts'
import type { ValidateWithin } from '../schema/compile.ts'

type Form = { readonly [keyword: string]: unknown }

// Handlers ask with the same few forms again and again.
const MAX_REMEMBERED = 64
const MAX_REMEMBERED_CHARS = 8 * 1024
const remembered = new Map<string, ValidateWithin>()

/** The check of a form. Throws `TypeError` where its schema is broken. */
export function compileForm(schema: Form): ValidateWithin {
  // By its text: an author may change a form between two questions.
  const text = JSON.stringify(schema)
  let validate = remembered.get(text)
  if (validate === undefined) {
    validate = compileWithin(schema, { formats: true })
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    if (text.length <= MAX_REMEMBERED_CHARS) remembered.set(text, validate)
  }
  return validate
}

/** What is wrong with the content of a form, in a sentence; undefined where it fits, found in `maxSteps`. */
export function formFault(schema: Form, content: unknown, maxSteps: number): string | undefined {
  const validation = compileForm(schema)(content, maxSteps)
  return validation.valid ? undefined : summarize(validation)
}
