import assert from 'node:assert/strict'
import test from 'node:test'
import { callTool } from '../../lib/run/call-tool.ts'
import { defineTool } from '../../lib/define/tool.ts'
import { Fault } from '../../lib/index.ts'
import { callOf, serviceOf } from '../fixtures/house.ts'
import type { ToolResult } from '../../lib/define/tool.ts'

const png = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const
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
