/** What compiled schemas hold, of a whole heap. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { compile } from '../../../lib/kernel/schema/compile.ts'
import { keptBytes } from '../../fixtures/heap.ts'
import type { JsonSchema } from '../../../lib/kernel/schema/compile.ts'

test('of a compiled schema its checks are kept, and nothing that made them', async () => {
  const number = { type: 'number' }
  const rows: readonly (readonly [schema: JsonSchema, bytes: number])[] = [
    [{ type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] }, 2_500],
    [{ type: 'object', properties: { a: number }, unevaluatedProperties: false }, 3_000],
    [{ patternProperties: { '^a': number }, additionalProperties: false }, 4_000],
    [{ propertyNames: { maxLength: 3 }, dependentRequired: { a: ['b'] }, dependencies: { a: ['b'] } }, 3_500],
    [{ prefixItems: [number], items: number }, 2_500],
    [{ type: 'array', items: number, contains: { const: 1 }, unevaluatedItems: false }, 4_000],
    [{ $defs: { x: number }, $ref: '#/$defs/x' }, 2_000],
  ]
  for (const [schema, bytes] of rows) {
    const kept: unknown[] = []
    const each = await keptBytes(200, () => kept.push(compile(schema)))
    assert.ok(each < bytes, `${JSON.stringify(schema)} keeps ${each} bytes`)
  }
})
