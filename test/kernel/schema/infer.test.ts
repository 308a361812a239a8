import assert from 'node:assert/strict'
import test from 'node:test'
import type { Infer } from '../../../lib/kernel/schema/infer.ts'
import type { JsonSchema } from '../../../lib/kernel/schema/compile.ts'
import type { Schema, StandardSchema } from '../../../lib/kernel/schema/standard.ts'

/** True only where the two types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

interface Tool<S> {
  readonly inputSchema: S
  run(args: Infer<S>): unknown
}

function defineTool<const S extends Schema>(tool: Tool<S>): Tool<S> {
  return tool
}

function isTrue(_: true): void {}

test('arguments have the types that a literal schema spells', () => {
  const tool = defineTool({
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string' },
        limit: { type: 'integer' },
        exact: { type: 'boolean' },
        nothing: { type: 'null' },
        order: { enum: ['up', 'down'] },
        kind: { const: 'search' },
        maybe: { type: ['string', 'null'] },
        either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
        tags: { type: 'array', items: { type: 'string' } },
        pages: { type: 'array' },
        labels: { type: 'object', additionalProperties: { type: 'number' } },
        range: { type: 'object', properties: { from: { type: 'number' } }, required: ['from'] },
        free: {},
      },
      required: ['query', 'range', 'free'],
    },
    run(args) {
      isTrue(true satisfies Same<typeof args.query, string>)
      isTrue(true satisfies Same<typeof args.limit, number | undefined>)
      isTrue(true satisfies Same<typeof args.exact, boolean | undefined>)
      isTrue(true satisfies Same<typeof args.nothing, null | undefined>)
      isTrue(true satisfies Same<typeof args.order, 'up' | 'down' | undefined>)
      isTrue(true satisfies Same<typeof args.kind, 'search' | undefined>)
      isTrue(true satisfies Same<typeof args.maybe, string | null | undefined>)
      isTrue(true satisfies Same<typeof args.either, string | number | undefined>)
      isTrue(true satisfies Same<typeof args.tags, string[] | undefined>)
      isTrue(true satisfies Same<typeof args.pages, unknown[] | undefined>)
      isTrue(true satisfies Same<typeof args.labels, Record<string, number> | undefined>)
      isTrue(true satisfies Same<typeof args.range.from, number>)
      isTrue(true satisfies Same<typeof args.free, unknown>)
      // @ts-expect-error: there is no such property
      void args.other
      // @ts-expect-error: it may be absent
      const limit: number = args.limit
      return limit
    },
  })
  assert.equal(tool.run({ query: 'x', range: { from: 1 }, free: 0, limit: 2 }), 2)
  // @ts-expect-error: query is missing
  tool.run({ range: { from: 1 }, free: 0 })
  // @ts-expect-error: not one of the two
  tool.run({ query: 'x', range: { from: 1 }, free: 0, order: 'sideways' })
})

test('a property that has a default is there, unless it is in a branch', () => {
  const tool = defineTool({
    inputSchema: {
      type: 'object',
      properties: {
        limit: { type: 'integer', default: 10 },
        order: { enum: ['up', 'down'], default: 'up' },
        page: {
          type: 'object',
          properties: { size: { type: 'number', default: 20 }, at: { type: 'number' } },
        },
        rows: {
          type: 'array',
          items: { type: 'object', properties: { id: { type: 'number', default: 0 } } },
        },
        either: { anyOf: [{ type: 'object', properties: { a: { type: 'string', default: '' } } }] },
        map: { type: 'object', additionalProperties: { type: 'object', properties: { b: { default: 1 } } } },
        plain: { type: 'string' },
      },
    },
    run(args) {
      isTrue(true satisfies Same<typeof args.limit, number>)
      isTrue(true satisfies Same<typeof args.order, 'up' | 'down'>)
      isTrue(true satisfies Same<typeof args.page, { size: number; at?: number } | undefined>)
      isTrue(true satisfies Same<typeof args.rows, { id: number }[] | undefined>)
      isTrue(true satisfies Same<typeof args.either, { a?: string } | undefined>)
      isTrue(true satisfies Same<typeof args.map, Record<string, { b?: unknown }> | undefined>)
      isTrue(true satisfies Same<typeof args.plain, string | undefined>)
      return args.limit + 1
    },
  })
  assert.equal(tool.run({ limit: 1, order: 'up' }), 2)
})

test('a schema that is no literal describes a record of unknowns', () => {
  const schema: JsonSchema = { type: 'object' }
  const tool = defineTool({ inputSchema: schema, run: ({ anything }) => anything })
  isTrue(true satisfies Same<Infer<typeof schema>, Record<string, unknown>>)
  isTrue(
    true satisfies Same<
      Infer<{ type: string; properties: { a: { type: string } } }>,
      Record<string, unknown>
    >,
  )
  isTrue(true satisfies Same<Infer<{ readonly type: 'object' }>, Record<string, unknown>>)
  assert.equal(tool.run({ anything: 1 }), 1)
})

test('a Standard Schema gives its output type', () => {
  type Transforming = StandardSchema<{ when: string }, { when: Date }>
  isTrue(true satisfies Same<Infer<Transforming>, { when: Date }>)
  const date: StandardSchema<string, { day: number }> = {
    '~standard': { version: 1, vendor: 'test', validate: () => ({ value: { day: 1 } }) },
  }
  assert.equal(defineTool({ inputSchema: date, run: ({ day }) => day.toFixed(1) }).run({ day: 2 }), '2.0')
})
