import assert from 'node:assert/strict'
import { compile } from '../../../lib/kernel/schema/compile.ts'
import type { CompileOptions, JsonSchema } from '../../../lib/kernel/schema/compile.ts'

/** A schema as tools have them. */
export const search: JsonSchema = {
  type: 'object',
  properties: {
    query: { type: 'string', minLength: 1 },
    limit: { type: 'integer', minimum: 1, maximum: 100 },
    tags: { type: 'array', items: { enum: ['new', 'old'] } },
  },
  required: ['query'],
  additionalProperties: false,
}

/** The errors of a value as `path keyword`. */
export function errors(schema: JsonSchema, value: unknown, options?: CompileOptions): string[] {
  return compile(schema, options)(value).errors.map(({ path, keyword }) => `${path} ${keyword}`)
}

/** What a broken schema is refused with. */
export function mistake(schema: unknown, options?: CompileOptions): string {
  try {
    compile(schema as JsonSchema, options)
  } catch (error) {
    assert.ok(error instanceof TypeError)
    return error.message
  }
  return 'none'
}
