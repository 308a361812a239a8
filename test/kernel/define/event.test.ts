import assert from 'node:assert/strict'
import test from 'node:test'
import { addUsage, checkEvent, RunEvents, sentenceOf } from '../../../lib/kernel/define/event.ts'
import { callOf } from '../../fixtures/house.ts'
import { Fault } from '../../../lib/kernel.ts'
import type { CallEvent } from '../../../lib/kernel/define/event.ts'

const wrong: readonly (readonly [event: unknown, message: string])[] = [
  [undefined, `call.event takes an object, not undefined. Write call.event(`
    + `{ type: 'tool-call', id: '1', name: 'search', args: { … } })`],
  ['search', `call.event takes an object, not "search". Write call.event(`
    + `{ type: 'tool-call', id: '1', name: 'search', args: { … } })`],
  [{ type: 'toolcall' },
    `call.event has the type "toolcall"; write one of 'tool-call', 'tool-result', 'reasoning', 'usage'`],
  [{ type: 'constructor' },
    `call.event has the type "constructor"; write one of 'tool-call', 'tool-result', 'reasoning', 'usage'`],
  [{ type: 'tool-call', id: '1' },
    `call.event of the type 'tool-call' needs 'name', as in name: "search"`],
  [{ type: 'tool-call', name: 'search' },
    `call.event of the type 'tool-call' needs 'id', as in id: "1"`],
  [{ type: 'tool-call', id: '1', name: 'search', arg: {} },
    `call.event of the type 'tool-call' has no option 'arg'; did you mean 'args'?`],
  [{ type: 'tool-result', id: 7 },
    `call.event of the type 'tool-result' has id 7; write a string that is not empty`],
  [{ type: 'tool-call', id: '', name: 'a' },
    `call.event of the type 'tool-call' has id ""; write a string that is not empty`],
  [{ type: 'tool-result', id: '1', name: 7 },
    `call.event of the type 'tool-result' has name 7; write a string`],
  [{ type: 'tool-result', id: '1', isError: 'no' },
    `call.event of the type 'tool-result' has isError "no"; write true or false`],
  [{ type: 'reasoning' }, `call.event of the type 'reasoning' needs 'text', as in text: "Let me see"`],
  [{ type: 'reasoning', text: ['a'] },
    `call.event of the type 'reasoning' has text an array; write a string`],
  [{ type: 'usage', inputTokens: 1 },
    `call.event of the type 'usage' needs 'outputTokens', as in outputTokens: 5`],
  [{ type: 'usage', inputTokens: -1, outputTokens: 1 },
    `call.event of the type 'usage' has inputTokens -1; write a whole number, zero or above`],
  [{ type: 'usage', inputTokens: 1, outputTokens: 1.5 },
    `call.event of the type 'usage' has outputTokens 1.5; write a whole number, zero or above`],
]

test('what is no event is refused with what to write', () => {
  const call = callOf({ event: () => assert.fail('sent') })
  for (const [event, message] of wrong) {
    assert.throws(() => call.event(event as CallEvent), { name: 'TypeError', message })
  }
})

test('an event of any kind is taken, also one of a class', () => {
  class Called {
    readonly type = 'tool-call'
    readonly id = '1'
    readonly name = 'search'
    readonly mine = true
  }
  checkEvent(new Called())
  checkEvent({ type: 'tool-result', id: '1', name: undefined, result: null, isError: undefined })
  checkEvent({ type: 'reasoning', text: '' })
  checkEvent({ type: 'usage', inputTokens: 0, outputTokens: 0, cachedInputTokens: undefined })
})

test('arguments and results are shown within bounds, and only what JSON can write', () => {
  const circle: { self?: unknown } = {}
  circle.self = circle
  const table: readonly (readonly [given: unknown, shown: unknown])[] = [
    [{ a: 1 }, { a: 1 }], [null, null], ['text', 'text'], [undefined, undefined],
    [circle, undefined], [10n, undefined], [() => 1, undefined],
    ['x'.repeat(16_383), `${'x'.repeat(16_383)}…`],
    [{ a: 'x'.repeat(20_000) }, `{"a":"${'x'.repeat(16_384 - 6)}…`],
  ]
  for (const [given, shown] of table) {
    const events = new RunEvents()
    assert.deepEqual(events.take({ type: 'tool-call', id: '1', name: 'a', args: given }),
      { type: 'tool-call', id: '1', name: 'a', args: shown })
    assert.deepEqual(events.take({ type: 'tool-result', id: '1', result: given }),
      { type: 'tool-result', id: '1', name: 'a', result: shown, isError: false })
  }
})

test('the end of a call has the name of its beginning; those of few are kept', () => {
  const events = new RunEvents()
  const end = (id: string): unknown => Reflect.get(events.take({ type: 'tool-result', id })!, 'name')
  for (let n = 0; n < 101; n++) events.take({ type: 'tool-call', id: `i${n}`, name: `n${n}` })
  assert.deepEqual([end('i0'), end('i99'), end('i100'), end('i0'), end('other')],
    ['n0', 'n99', undefined, undefined, undefined])
  const long = 'y'.repeat(300)
  assert.deepEqual(events.take({ type: 'tool-call', id: long, name: long }),
    { type: 'tool-call', id: 'y'.repeat(256), name: 'y'.repeat(256), args: undefined })
  assert.equal(end(long), 'y'.repeat(256))
})

test('tokens add up within a run, and what was not counted stays left out', () => {
  const first = addUsage(undefined, { inputTokens: 1, outputTokens: 2 })
  assert.deepEqual(first, { inputTokens: 1, outputTokens: 2 })
  const second = addUsage(first, { inputTokens: 10, outputTokens: 20, reasoningTokens: 5 })
  assert.deepEqual(second, { inputTokens: 11, outputTokens: 22, reasoningTokens: 5 })
  const third = addUsage(second, {
    inputTokens: 0, outputTokens: 0, cachedInputTokens: 7, reasoningTokens: 1,
  })
  assert.deepEqual(third, {
    inputTokens: 11, outputTokens: 22, cachedInputTokens: 7, reasoningTokens: 6,
  })
  const call = callOf()
  assert.equal(call.usage, undefined)
  call.event({ type: 'usage', inputTokens: 1, outputTokens: 2 })
  call.event({ type: 'usage', inputTokens: 1, outputTokens: 2 })
  call.cancel(new Fault('cancelled', 'Gone'))
  call.event({ type: 'usage', inputTokens: 1, outputTokens: 2 })
  assert.deepEqual(call.usage, { inputTokens: 2, outputTokens: 4 })
})

test('without a form for events a call of a tool is progress, between the numbers of the author', () => {
  const told: unknown[] = []
  const call = callOf({ progress: (...all) => told.push(all) })
  const { event, progress } = call
  event({ type: 'tool-call', id: '1', name: 'search' })
  event({ type: 'reasoning', text: 'Which one?' })
  event({ type: 'usage', inputTokens: 1, outputTokens: 2 })
  event({ type: 'tool-result', id: '1' })
  progress(1)
  event({ type: 'tool-call', id: '2', name: 'book' })
  event({ type: 'tool-result', id: '2', isError: true })
  progress(0.5)
  call.step('Retries')
  progress(2)
  event({ type: 'tool-result', id: '3' })
  assert.deepEqual(told, [
    [0.000001, undefined, 'Calls search…'], [0.000002, undefined, 'search is done'],
    [1, undefined, undefined],
    [1.000001, undefined, 'Calls book…'], [1.000002, undefined, 'book failed'],
    [0.5, undefined, undefined],
    [1.000003, undefined, 'Retries'], [2, undefined, undefined], [2.000001, undefined, 'The tool is done'],
  ])
  callOf({}).event({ type: 'tool-call', id: '1', name: 'search' })
})

test('a channel with a form for events gets them, and no progress', () => {
  const got: unknown[] = []
  const call = callOf({ progress: () => assert.fail('progress'), event: (...all) => got.push(all) })
  call.event({ type: 'reasoning', text: 'Hm' })
  call.event({ type: 'usage', inputTokens: 1, outputTokens: 2 }, 'Scout')
  assert.deepEqual(got, [
    [{ type: 'reasoning', text: 'Hm' }, undefined],
    [{ type: 'usage', inputTokens: 1, outputTokens: 2 }, 'Scout'],
  ])
  assert.equal(sentenceOf({ type: 'reasoning', text: 'Hm' }), undefined)
})
