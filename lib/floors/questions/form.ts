/** What a question is known by, and whether what a user has filled in fits its form. */
import { createHash } from 'node:crypto'
import { formatJson } from '../../kernel/wire/json.ts'
import { givenMembers, isRecord } from '../../kernel/define/content.ts'
import { compileForm } from '../../kernel/define/question.ts'
import { summarize } from '../../kernel/schema/compile.ts'
import type { FormSchema } from '../../kernel/define/question.ts'

/** The content of a form without fields that are null: no field may be, so they are left empty. */
export function filledIn(content: unknown): unknown {
  return isRecord(content) ? givenMembers(content) : content
}

/** What is wrong with the content of a form, in a sentence; undefined where it fits, found in `maxSteps`. */
export function formFault(schema: FormSchema, content: unknown, maxSteps: number): string | undefined {
  const validation = compileForm(schema)(content, maxSteps)
  return validation.valid ? undefined : summarize(validation)
}

/** What a state is bound to, or a question is known by. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(formatJson(value) ?? '').digest('base64url')
}
