/**
 * Forms that a client's user fills in: whether what came back fits what was asked for.
 */
import { compile, summarize } from '../schema/compile.ts'

/** What is wrong with the content of a form, in a sentence; undefined where it fits. */
export function formFault(
  schema: { readonly [keyword: string]: unknown }, content: unknown,
): string | undefined {
  const validation = compile(schema, { formats: true })(content)
  return validation.valid ? undefined : summarize(validation)
}
