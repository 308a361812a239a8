import assert from 'node:assert/strict'
import { compile } from '../../lib/schema/compile.ts'
import type { CompileOptions, JsonSchema } from '../../lib/schema/compile.ts'

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

/** Milliseconds of the processor that work takes, the least of some times. Other processes do not count. */
export function costOf(work: () => void, times: number = 3): number {
  let least = Infinity
  for (let time = 0; time < times; time++) {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

/** What this machine takes to parse two megabytes of JSON: a measure for work that is quick everywhere. */
export function costOfParsing(): number {
  const rows = Array.from({ length: 40_000 }, (_, id) => ({ id, name: `The name of ${id}`, tags: [] }))
  const json = JSON.stringify(rows)
  return costOf(() => JSON.parse(json))
}
