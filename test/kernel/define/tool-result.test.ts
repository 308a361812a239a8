import assert from 'node:assert/strict'
import test from 'node:test'
import { conforming, toolResultOf } from '../../../lib/kernel/define/tool-result.ts'
import { callTool } from '../../../lib/kernel/run/call-tool.ts'
import { callOf, serviceOf } from '../../fixtures/house.ts'
import { defineTool, Fault } from '../../../lib/kernel.ts'
import type { ToolResult } from '../../../lib/kernel/define/tool.ts'
import type { Schema, StandardSchema } from '../../../lib/kernel/schema/standard.ts'

const said = { type: 'text', text: 'a' } as const
const png = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const

const results: readonly (readonly [what: string, output: unknown, result: object])[] = [
  ['nothing', undefined, { content: [] }],
  ['a text', 'a', { content: [said] }],
  ['an empty text', '', { content: [{ type: 'text', text: '' }] }],
  ['a block', png, { content: [png] }],
  ['a block with bytes', { ...png, data: Uint8Array.of(0, 0, 0) }, { content: [png] }],
  ['blocks', [said, png], { content: [said, png] }],
  ['a number', 7, { content: [{ type: 'text', text: '7' }], structuredContent: 7 }],
  ['null', null, { content: [{ type: 'text', text: 'null' }], structuredContent: null }],
  ['an object', { a: 1 }, { content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } }],
  ['an empty list', [], { content: [{ type: 'text', text: '[]' }], structuredContent: [] }],
  ['a list of texts', ['a'], { content: [{ type: 'text', text: '["a"]' }], structuredContent: ['a'] }],
  ['an object with a type of its own', { type: 'cat' },
    { content: [{ type: 'text', text: '{"type":"cat"}' }], structuredContent: { type: 'cat' } }],
  ['a whole result', { content: ['a', png], isError: true }, { content: [said, png], isError: true }],
  ['a whole result with data', { content: ['a'], structuredContent: { b: 1 }, _meta: { c: 2 } },
    { content: [said], structuredContent: { b: 1 }, _meta: { c: 2 } }],
  ['data alone', { structuredContent: { b: 1 } },
    { content: [{ type: 'text', text: '{"b":1}' }], structuredContent: { b: 1 } }],
  ['texts and blocks', ['a', png], { content: [said, png] }],
  ['objects with types of their own', [{ type: 'cat' }],
    { content: [{ type: 'text', text: '[{"type":"cat"}]' }], structuredContent: [{ type: 'cat' }] }],
  ['a document', { type: 'doc', content: [{ type: 'paragraph' }] }, {
    content: [{ type: 'text', text: '{"type":"doc","content":[{"type":"paragraph"}]}' }],
    structuredContent: { type: 'doc', content: [{ type: 'paragraph' }] },
  }],
  ['an object with a list of texts and more', { title: 'b', content: ['a'] }, {
    content: [{ type: 'text', text: '{"title":"b","content":["a"]}' }],
    structuredContent: { title: 'b', content: ['a'] },
  }],
  ['an object with a list of numbers', { content: [1] },
    { content: [{ type: 'text', text: '{"content":[1]}' }], structuredContent: { content: [1] } }],
  ['a date', new Date(0), { content: [{ type: 'text', text: '1970-01-01T00:00:00.000Z' }] }],
  ['what spells itself as a text', { toJSON: () => '1.50' }, { content: [{ type: 'text', text: '1.50' }] }],
  ['what spells itself as an object', { toJSON: () => ({ a: 1 }) },
    { content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } }],
  ['data that spells itself', { structuredContent: new Date(0) }, {
    content: [{ type: 'text', text: '"1970-01-01T00:00:00.000Z"' }],
    structuredContent: '1970-01-01T00:00:00.000Z',
  }],
  ['a failure that says nothing', { content: [], isError: true }, { content: [], isError: true }],
  ['an object that fails in its own way', { error: 'a', isError: true }, {
    content: [{ type: 'text', text: '{"error":"a","isError":true}' }],
    structuredContent: { error: 'a', isError: true },
  }],
  ['an object that has content of its own', { content: 'a' },
    { content: [{ type: 'text', text: '{"content":"a"}' }], structuredContent: { content: 'a' } }],
]

test('what a tool returns has one normal form', () => {
  for (const [what, output, result] of results) assert.deepEqual(toolResultOf(output), result, what)
})

const unfit: readonly (readonly [output: unknown, sentence: RegExp])[] = [
  [{ content: [{ type: 'txt', text: 'a' }] }, /^a content block has the type "txt"; did you mean 'text'\?$/],
  [{ content: [said, { type: 'txt', text: 'a' }] }, /has the type "txt"; did you mean 'text'\?$/],
  [[said, { type: 'resource-link', uri: 'x:1', name: 'a' }],
    /has the type "resource-link"; did you mean 'resource_link'\?$/],
  [{ content: [{ type: 'paragraph' }] },
    /has the type "paragraph"; write one of text, image, audio, resource, resource_link, data$/],
  [{ content: [said, 7] }, /^a list of content holds strings and content blocks, and nothing else$/],
  [{ content: [said], iserror: true },
    /^The result of a tool has no option 'iserror'; did you mean 'isError'\?$/],
  [{ structuredContent: { a: 1 }, text: 'a' }, /^The result of a tool has no option 'text'; it has content,/],
  [{ content: 'a', structuredContent: 1 },
    /^The result of a tool has content "a"; write a list, as in \['Done\.'\]$/],
  // As data it would be a success.
  [{ content: 'a', isError: true },
    /^The result of a tool has content "a"; write a list, as in \['Done\.'\]$/],
  [{ content: said, isError: true }, /^The result of a tool has content an object; write a list, as in/],
  [{ isError: true }, /^The result of a tool has content undefined; write a list, as in/],
  [{ content: [said], isError: 'yes' }, /^The result of a tool has isError "yes"; write true or false$/],
  [{ content: [said], _meta: 7 }, /^The result of a tool has _meta 7; write an object, or leave it out$/],
  [{ content: [said], _meta: [] }, /^The result of a tool has _meta an array; write an object/],
  [{ ...said, annotations: 7 },
    /^a content block of type 'text' has annotations or a _meta that is no object$/],
  [[{ ...png, _meta: [] }], /^a content block of type 'image' has annotations or a _meta that is no object$/],
  [{ type: 'resource', resource: { uri: 'x:1' } },
    /^the resource of a content block needs 'text' or 'blob'$/],
  [new Map(), /^A tool returned a Map; return Object\.fromEntries\(map\)$/],
  [new Set(['a']), /^A tool returned a Set; return \[\.\.\.set\]$/],
  [new Response('a'), /^A tool returned a Response; return await response\.text\(\)/],
  [{ structuredContent: new Map() }, /^A tool returned a Map/],
  [{ rows: new Map() }, /^A tool returned what holds a Map; write Object\.fromEntries\(map\) in its place$/],
  [new Error('a'), /^A tool returned an Error; throw it$/],
  [Buffer.from('a'), /^A tool returned bytes; return a content block, as in/],
]

test('a result that would lose what it says is refused, with what to write instead', () => {
  for (const [output, sentence] of unfit) {
    assert.throws(() => toolResultOf(output), (error: Error) => {
      const said = error.cause instanceof Error ? error.cause : error
      assert.ok(said instanceof TypeError)
      return sentence.test(said.message)
    })
  }
})

const cycle: Record<string, unknown> = {}
cycle['self'] = cycle

test('what JSON cannot represent is the mistake of the tool', () => {
  const outputs = [
    () => 1, Symbol('a'), 1n, { n: 1n }, cycle, { toJSON() { throw new Error('a') } },
    { get a() { throw new Error('a') } },
  ]
  for (const output of outputs) assert.throws(() => toolResultOf(output), Error)
  assert.throws(() => toolResultOf({ type: 'image', data: 'AAAA' }), { name: 'Fault', kind: 'internal' })
})

/** A library that trims what is there, adds what is not, and takes its time if it is told to. */
function library(isLate: boolean): StandardSchema {
  return {
    '~standard': {
      version: 1,
      vendor: 'demo',
      validate(value) {
        const n = Number(Object(value).n ?? 5)
        const result = Number.isNaN(n) ? { issues: [{ message: 'No number' }] } : { value: { n } }
        return isLate ? Promise.resolve(result) : result
      },
      jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
    },
  }
}

async function promised(outputSchema: Schema, output: unknown): Promise<ToolResult> {
  const tool = defineTool({ name: 'count', outputSchema, run: () => '' })
  return conforming(tool, tool.output!, toolResultOf(output), 1_000)
}

class Row {
  readonly at = new Date(0)
  get inherited(): number { return 1 }
}

const dated = {
  type: 'object', properties: { at: { type: 'string', format: 'date-time' } }, required: ['at'],
} as const

test('what is sent fits the schema of the result', async () => {
  const at = '1970-01-01T00:00:00.000Z'
  const table: readonly (readonly [schema: Schema, output: unknown, value: unknown, text: string])[] = [
    [{ type: 'string' }, 'a', 'a', 'a'],
    [{ enum: ['a', 'b'] }, said, 'a', 'a'],
    [{ type: 'string', format: 'date-time' }, new Date(0), at, at],
    [{ type: 'null' }, null, null, 'null'],
    [dated, { at: new Date(0) }, { at }, `{"at":"${at}"}`],
    [dated, new Row(), { at }, `{"at":"${at}"}`],
    [dated, { structuredContent: { at: new Date(0) }, content: ['own'] }, { at }, 'own'],
    [{ ...dated, additionalProperties: false }, { at, run() {} }, { at }, `{"at":"${at}"}`],
    [library(false), {}, { n: 5 }, '{"n":5}'],
    [library(false), { n: '7', more: 1 }, { n: 7 }, '{"n":7}'],
    [library(true), { n: '7', more: 1 }, { n: 7 }, '{"n":7}'],
  ]
  for (const [schema, output, value, text] of table) {
    assert.deepEqual(await promised(schema, output), {
      content: [{ type: 'text', text }], structuredContent: value,
    })
  }
})

test('a result that is what it should be is kept as it is', () => {
  const tool = defineTool({ name: 'count', outputSchema: { type: 'object' }, run: () => ({}) })
  const result = toolResultOf({ n: 1 })
  assert.equal(conforming(tool, tool.output!, result, 1_000), result)
})

test('what would not fit as it is sent breaks the promise', async () => {
  const number = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const
  const inherited = { type: 'object', properties: { inherited: {} }, required: ['inherited'] } as const
  const table: readonly (readonly [schema: Schema, output: unknown])[] = [
    [number, 'a'], [number, undefined], [number, { n: NaN }], [number, { n: Infinity }],
    [number, [said, png]], [inherited, new Row()], [{ type: 'string' }, 7],
    [{ type: 'string' }, [said, said]],
    [library(false), { n: 'x' }], [library(true), { n: 'x' }],
  ]
  for (const [schema, output] of table) {
    await assert.rejects(
      promised(schema, output), /^Error: The result of count does not match its outputSchema: /,
    )
  }
})

const text = (said: string): object => ({ type: 'text', text: said })

/** A result, and the progress that was told before it: its number and its text. */
async function use(run: () => unknown): Promise<readonly [result: ToolResult, told: readonly unknown[]]> {
  const { service } = serviceOf({ maxResultBytes: 1_000 })
  const told: unknown[] = []
  const call = callOf({ progress: (done, total, said) => { told.push([done, total, said]) } })
  return [await callTool(service, defineTool({ name: 'steps', description: '', run }), {}, call), told]
}

const rows: readonly (readonly [
  what: string, run: () => AsyncIterable<unknown> | Iterable<unknown>, result: object,
  told: readonly unknown[],
])[] = [
  ['texts', async function* () { yield 'a'; yield 'b' }, { content: [text('ab')] }, ['a', 'b']],
  ['texts at once', function* () { yield 'a'; yield 'b' }, { content: [text('ab')] }, ['a', 'b']],
  ['texts, and a text that is returned', async function* () { yield 'a'; return 'b' },
    { content: [text('b')] }, ['a']],
  ['texts, and an empty text that is returned', async function* () { yield 'a'; return '' },
    { content: [text('')] }, ['a']],
  ['texts, and a value that is returned', async function* () { yield 'a'; return { n: 1 } },
    { content: [text('{"n":1}')], structuredContent: { n: 1 } }, ['a']],
  ['texts, and a whole result that is returned',
    function* () { yield 'a'; return { content: ['b'], isError: true } },
    { content: [text('b')], isError: true }, ['a']],
  ['a value at the end', async function* () { yield 'a'; yield { n: 1 } },
    { content: [text('{"n":1}')], structuredContent: { n: 1 } }, ['a', undefined]],
  ['a value before a text', async function* () { yield { n: 1 }; yield 'a' },
    { content: [text('{"n":1}')], structuredContent: { n: 1 } }, [undefined, 'a']],
  ['several values', async function* () { yield 1; yield 2 },
    { content: [text('2')], structuredContent: 2 }, [undefined, undefined]],
  ['blocks among texts', async function* () { yield 'a'; yield 'b'; yield png; yield text('c') },
    { content: [text('ab'), png, text('c')] }, ['a', 'b', undefined, 'c']],
  ['a block alone', async function* () { yield png }, { content: [png] }, [undefined]],
  ['null', async function* () { yield 'a'; yield null },
    { content: [text('null')], structuredContent: null }, ['a', undefined]],
  ['nothing', async function* () {}, { content: [] }, []],
  ['nothing among texts', async function* () { yield 'a'; yield undefined; yield ''; yield 'b' },
    { content: [text('ab')] }, ['a', 'b']],
  ['promises', function* () { yield Promise.resolve('a'); return Promise.resolve('b') },
    { content: [text('b')] }, ['a']],
  ['an iterator that is no generator', () => {
    const left = ['a', 'b']
    return {
      [Symbol.iterator]() { return this },
      next: () => left.length > 0 ? { done: false, value: left.shift() } : { done: true, value: undefined },
    } as IterableIterator<unknown>
  }, { content: [text('ab')] }, ['a', 'b']],
]

test('the pieces of a generator are progress, and its result is made of them or is returned', async () => {
  for (const [what, run, expected, said] of rows) {
    for (const start of [run, async () => run()]) {
      const [result, told] = await use(start)
      assert.deepEqual(result, expected, what)
      assert.deepEqual(told, said.map((one, index) => [index + 1, undefined, one]), what)
    }
  }
})

test('a piece is told before the next is made', async () => {
  const order: string[] = []
  const { service } = serviceOf()
  const call = callOf({ progress: (_done, _total, said) => { order.push(`told ${said}`) } })
  const tool = defineTool({ name: 'steps', async *run() {
    for (const piece of ['a', 'b']) {
      order.push(`made ${piece}`)
      yield piece
    }
  } })
  await callTool(service, tool, {}, call)
  assert.deepEqual(order, ['made a', 'told a', 'made b', 'told b'])
})

const broken: readonly (readonly [what: string, run: () => unknown, error: object])[] = [
  ['throws', async function* () { yield 'a'; throw new Fault('invalid', 'No') },
    { kind: 'invalid', message: 'No' }],
  ['says too much', async function* () { for (;;) yield 'x'.repeat(100) },
    { kind: 'too-large', message: 'The result is larger than 1000 bytes' }],
  ['shows too much', function* () { for (;;) yield png }, { kind: 'too-large' }],
  ['yields bytes', async function* () { yield new Uint8Array(1) }, { kind: 'internal' }],
  ['yields half a block', async function* () { yield { type: 'image' } }, { kind: 'internal' }],
]

test('a generator that fails is a failure like any other', async () => {
  for (const [what, run, error] of broken) await assert.rejects(async () => use(run), error, what)
})

test('a generator whose call is over is asked for no further piece, and may clean up', async () => {
  const { service } = serviceOf()
  const reason = new Fault('cancelled', 'Gone')
  let made = 0
  let isTidy = false
  const call = callOf({ progress: () => call.cancel(reason) })
  const tool = defineTool({ name: 'steps', async *run() {
    try {
      for (;;) yield String(++made)
    } finally {
      isTidy = true
    }
  } })
  await assert.rejects(async () => callTool(service, tool, {}, call), reason)
  assert.deepEqual([made, isTidy], [1, true])
})
