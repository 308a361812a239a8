import assert from 'node:assert/strict'
import test from 'node:test'
import { answerOf } from '../../../lib/floors/answers/answer.ts'
import { noAdapters } from '../../../lib/kernel/define/adapters.ts'
import { Fault } from '../../../lib/kernel.ts'
import { Later } from '../../../lib/kernel/util/later.ts'
import { keptBytes } from '../../fixtures/heap.ts'
import { callOf, wordOf } from '../../fixtures/house.ts'
import type { Answer } from '../../../lib/floors/answers/answer.ts'
import type { Emit } from '../../../lib/floors/answers/run-event.ts'
import type { Content } from '../../../lib/index.ts'

const png = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const
const text = (said: string): Content => ({ type: 'text', text: said })

async function* later(...pieces: readonly unknown[]): AsyncGenerator<unknown> {
  for (const piece of pieces) yield piece
}

function* now(...pieces: readonly unknown[]): Generator<unknown> {
  yield* pieces
}

async function* ending(piece: unknown, end: unknown): AsyncGenerator<unknown, unknown> {
  yield piece
  return end
}

const forms: readonly (readonly [what: string, output: () => unknown, answer: Partial<Answer>])[] = [
  ['nothing', () => undefined, { text: '', content: [] }],
  ['null', () => null, { text: '', content: [] }],
  ['an empty text', () => '', { text: '', content: [] }],
  ['a text', () => 'a', { text: 'a', content: [text('a')] }],
  ['a promise of a text', async () => 'a', { text: 'a', content: [text('a')] }],
  ['a promise of a promise', async () => Promise.resolve(Promise.resolve('a')),
    { text: 'a', content: [text('a')] }],
  ['a thenable', () => ({ then: (resolve: (value: string) => void) => resolve('a') }),
    { text: 'a', content: [text('a')] }],
  ['a block', () => png, { text: '', content: [png] }],
  ['pieces that are the halves of a character, with data between',
    () => later('\ud83d', { data: { n: 1 } }, '\ude00'),
    { text: '😀', content: [text('😀')], data: { n: 1 } }],
  ['pieces that are the halves of a character, with a picture between', () => later('\ud83d', png, '\ude00'),
    { text: '\ufffd\ufffd', content: [text('\ufffd'), png, text('\ufffd')] }],
  ['a list', () => ['a', png, 'b', 'c'], { text: 'abc', content: [text('a'), png, text('bc')] }],
  ['an object', () => ({ n: 1 }), { text: '{"n":1}', content: [text('{"n":1}')], data: { n: 1 } }],
  ['an object with a null prototype', () => Object.assign(Object.create(null), { n: 1 }),
    { text: '{"n":1}', content: [text('{"n":1}')] }],
  ['an object whose text is no text', () => ({ text: 7 }),
    { text: '{"text":7}', content: [text('{"text":7}')], data: { text: 7 } }],
  ['an object whose state is none', () => ({ state: 'happy' }),
    { text: '{"state":"happy"}', content: [text('{"state":"happy"}')], data: { state: 'happy' } }],
  ['an answer', () => ({ text: 'a', data: [1], state: 'input-required' }),
    { text: 'a', content: [text('a')], data: [1], state: 'input-required' }],
  ['an answer of data', () => ({ data: { n: 1 } }),
    { text: '{"n":1}', content: [text('{"n":1}')], data: { n: 1 } }],
  ['an answer of blocks', () => ({ content: ['a', png] }), { text: 'a', content: [text('a'), png] }],
  ['an answer of nothing', () => ({ text: '', state: 'rejected' }),
    { text: '', content: [], state: 'rejected' }],
  ['pieces', () => later('a', '', undefined, 'b', png, 'c'),
    { text: 'abc', content: [text('ab'), png, text('c')] }],
  ['pieces at once', () => now('a', 'b'), { text: 'ab', content: [text('ab')] }],
  ['pieces of a set', () => new Set(['a', 'b']), { text: 'ab', content: [text('ab')] }],
  ['a promise of pieces', async () => later('a', 'b'), { text: 'ab', content: [text('ab')] }],
  ['promises of pieces', () => now(Promise.resolve('a'), 'b'), { text: 'ab', content: [text('ab')] }],
  ['a list with an object of a type of its own', () => ['a', { type: 'cat' }],
    { text: 'a{"type":"cat"}', content: [text('a{"type":"cat"}')] }],
  ['no pieces', () => later(), { text: '', content: [] }],
  ['pieces with an end', () => ending('a', 'b'), { text: 'ab', content: [text('ab')] }],
  ['pieces with a whole answer at the end', () => ending('a', { data: 1, state: 'failed' }),
    { text: 'a', content: [text('a')], data: 1, state: 'failed' }],
  ['pieces with data between', () => later('a', { data: 1 }, 'b'),
    { text: 'ab', content: [text('ab')], data: 1 }],
  ['blocks with marks', () => later({ type: 'text', text: 'a', annotations: { priority: 1 } }, 'b'),
    { text: 'ab', content: [{ type: 'text', text: 'a', annotations: { priority: 1 } }, text('b')] }],
]

test('whatever an agent says has one normal form; only what comes piece by piece is emitted', async () => {
  for (const [what, output, expected] of forms) {
    const whole = { state: 'completed', data: undefined, ...expected }
    const { isOwn: _, ...answer } = await answerOf(output(), callOf(), 1_000, noAdapters)
    assert.deepEqual({ ...answer, ...'data' in expected ? {} : { data: undefined } }, whole, what)
    const pieces: string[] = []
    const streamed = await answerOf(output(), callOf(), 1_000, noAdapters, (event) => {
      pieces.push(wordOf(event))
    })
    assert.equal(streamed.text, whole.text, what)
    const said = pieces.filter((word) => word !== 'image').join('')
    assert.equal(said, /^(?:no |a promise of |promises of )?pieces|marks/.test(what) ? whole.text : '', what)
  }
})

test('of a text that was cut from a long one only the answer is kept', async () => {
  const answers: Answer[] = []
  const kept = await keptBytes(100, (n) => {
    answers.push(answerOf(`${n} ${'x'.repeat(100_000)}`.slice(0, 50), callOf(), 1_000, noAdapters) as Answer)
  })
  assert.ok(kept < 10_000, `${kept} bytes for each`)
  assert.ok(answers.every(({ isOwn }) => isOwn))
})

test('what needs no promise gets none', () => {
  for (const output of ['a', undefined, { n: 1 }, png, ['a']]) {
    assert.equal(answerOf(output, callOf(), 1_000, noAdapters) instanceof Promise, false)
  }
})

test('what knows other frameworks is loaded with the first value that may be theirs', async () => {
  let loads = 0
  const results = new Later(async () => {
    loads++
    return { shapeOf: () => undefined, streamFlaw: () => undefined }
  })
  const knowing = { ...noAdapters, results }
  const read = (output: unknown): unknown => answerOf(output, callOf(), 1_000, knowing)
  const own = ['a', { text: 'a', data: { n: 1 } }, png, undefined]
  for (const output of own) assert.equal(read(output) instanceof Promise, false)
  await read(later(...own, 'b'))
  assert.equal(loads, 0)
  for (const output of [{ total: 3 }, now('a', { n: 1 }), ['a']]) await read(output)
  assert.equal(loads, 1)
  assert.deepEqual(read({ total: 3 }), {
    text: '{"total":3}', content: [text('{"total":3}')], state: 'completed', data: { total: 3 },
  })
})

test('a stream may have members of ours, before anything of another framework came', async () => {
  const stream = { async* [Symbol.asyncIterator]() { yield* ['a', 'b'] } }
  const list = { * [Symbol.iterator]() { yield* ['a', 'b'] } }
  for (const pieces of [stream, list]) {
    for (const own of [{}, { text: 'x' }, { type: 'text', text: 'x' }]) {
      const results = new Later(async () => ({ shapeOf: () => undefined, streamFlaw: () => undefined }))
      const answer = await answerOf({ ...own, ...pieces }, callOf(), 1_000, { ...noAdapters, results })
      assert.equal(answer.text, 'ab')
    }
  }
})

test('each piece is emitted before the next is asked for', async () => {
  const told: string[] = []
  async function* pieces(): AsyncGenerator<string> {
    for (const piece of ['a', 'b', 'c']) {
      told.push(`make ${piece}`)
      yield piece
    }
  }
  const emit: Emit = async (event) => {
    await new Promise((resolve) => setImmediate(resolve))
    told.push(`told ${wordOf(event)}`)
  }
  await answerOf(pieces(), callOf(), 1_000, noAdapters, emit)
  assert.deepEqual(told, ['make a', 'told a', 'make b', 'told b', 'make c', 'told c'])
})

/** An agent that tells when it is made to clean up. */
function tidy(
  pieces: Iterable<unknown>,
): { readonly isTidy: () => boolean; readonly output: AsyncGenerator<unknown> } {
  let isTidy = false
  async function* output(): AsyncGenerator<unknown> {
    try {
      for (const piece of pieces) yield piece
      await new Promise(() => {})
    } finally {
      isTidy = true
    }
  }
  return { isTidy: () => isTidy, output: output() }
}

test('an answer that grows too large ends its generator', async () => {
  const { isTidy, output } = tidy(now(...Array(100).fill('x'.repeat(100))))
  await assert.rejects(
    async () => answerOf(output, callOf(), 1_000, noAdapters),
    { kind: 'too-large', message: 'The answer is larger than 1000 bytes' },
  )
  assert.equal(isTidy(), true)
  for (const large of ['x'.repeat(1_001), { ...png, data: 'x'.repeat(1_004) }, { n: 'x'.repeat(1_001) }]) {
    assert.throws(() => answerOf(large, callOf(), 1_000, noAdapters), { kind: 'too-large' })
  }
})

test('a piece that cannot be said ends its generator', async () => {
  const { isTidy, output } = tidy(['a', 7])
  await assert.rejects(async () => answerOf(output, callOf(), 1_000, noAdapters), (error) => {
    assert.ok(error instanceof Fault && error.kind === 'internal')
    assert.match(String(error.cause), /answers with strings, content blocks or .*, not number/)
    return true
  })
  assert.equal(isTidy(), true)
})

const lost: readonly (readonly [what: string, output: () => unknown, sentence: RegExp])[] = [
  ['a map', () => new Map([['a', 1]]), /an agent returned a Map; return Object\.fromEntries\(map\)/],
  ['a map among pieces', () => later('a', new Map()), /an agent returned a Map/],
  ['a map in data', () => ({ text: 'a', data: new Map() }), /the data of an answer is a Map; return/],
  ['a big number in data', () => ({ text: 'a', data: { n: 1n } }), /what JSON cannot represent/],
  ['a map within data', () => ({ rows: new Map() }), /An agent returned what holds a Map; write Object/],
  ['a response', () => new Response('a'), /returned a Response; return await response\.text\(\)/],
  ['parameters', () => new URLSearchParams('a=b'), /an agent returned URLSearchParams; return Object/],
  ['an error', () => new Error('a'), /an agent returned an Error; throw it/],
  ['bytes', () => new Uint8Array([104, 105]), /an agent returned bytes; return a content block/],
  ['a stream of bytes', () => new Blob(['hi']).stream(), /an agent returned bytes; return a content block/],
  ['a promise in a list', () => [Promise.resolve('a')],
    /an agent returned a promise within a list; await it/],
  ['promises in a list that reject', () => [1, 2].map((one) => Promise.reject(one)), /within a list/],
  ['promises in data that reject', () => ({ a: Promise.reject(new Error('late')), b: Promise.reject(1) }),
    /An agent returned what holds a promise; write await promise/],
  ['a block of no type', () => ['a', png, { type: 'img' }], /has the type "img"; did you mean 'image'\?/],
  ['a block of no type in content', () => ({ content: [{ type: 'txt', text: 'a' }] }),
    /did you mean 'text'\?/],
]

test('what an answer would lose is the mistake of its agent, with what to write instead', async () => {
  for (const [what, output, sentence] of lost) {
    await assert.rejects(async () => answerOf(output(), callOf(), 1_000, noAdapters), (error: Error) => {
      assert.match(String(error.cause ?? error), sentence, what)
      return true
    })
  }
})

test('a run that is over is asked for no further piece, and may clean up', async () => {
  const call = callOf()
  const { isTidy, output } = tidy(['a', 'b', 'c'])
  const pieces: unknown[] = []
  const reason = new Fault('cancelled', 'The client has left')
  const ended = answerOf(output, call, 1_000, noAdapters, (piece) => {
    pieces.push(piece)
    call.cancel(reason)
  })
  await assert.rejects(async () => ended, reason)
  assert.equal(pieces.length, 1)
  assert.equal(isTidy(), true)
})

test('a generator that breaks while it cleans up breaks nothing else', async () => {
  const output = {
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: false, value: 7 }),
      return: () => { throw new Error('broken') },
    }),
  }
  await assert.rejects(async () => answerOf(output, callOf(), 1_000, noAdapters), { kind: 'internal' })
})
