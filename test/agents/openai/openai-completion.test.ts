import assert from 'node:assert/strict'
import test from 'node:test'
import { costOf } from '../../fixtures/time.ts'
import { ChatCompletion } from '../../../lib/agents/openai/openai-completion.ts'
import { modelOf } from '../../../lib/agents/openai/openai.ts'
import type { FunctionCall } from '../../../lib/agents/openai/openai-completion.ts'

const model = modelOf({ log: false })

/** A part of a call, as it stands in a list of an event. */
type Part = Readonly<Record<string, unknown>>

/** The reply whose events hold these lists of parts. */
function completionOf(...events: readonly (readonly unknown[])[]): ChatCompletion {
  const completion = new ChatCompletion(model)
  for (const parts of events) completion.take(eventOf(parts))
  return completion
}

function eventOf(parts: unknown): string {
  return JSON.stringify({ choices: [{ delta: { tool_calls: parts } }] })
}

function part(index: unknown, id: unknown, name?: unknown, written?: unknown): Part {
  return { index, id, type: 'function', function: { name, arguments: written } }
}

/** Calls as name and arguments. */
function told(calls: readonly FunctionCall[]): readonly unknown[] {
  return calls.map(({ name, input }) => [name, input])
}

const q = (value: string): string => `{"q":"${value}"}`
const two = [['a', { q: '1' }], ['b', { q: '2' }]]
const twice = [['a', { q: '1' }], ['a', { q: '2' }]]

const habits: readonly (readonly [what: string, expected: unknown, ...events: (readonly Part[])[]])[] = [
  ['one call in fragments', [['a', { q: 'xyz' }]],
    [part(0, 'i1', 'a', '')], [part(0, undefined, undefined, '{"q"')], [part(0, undefined, undefined, ':"x')],
    [part(0, null, null, 'yz"}')]],
  ['two calls, their fragments mixed', two,
    [part(0, 'i1', 'a', '')], [part(1, 'i2', 'b', '')], [part(0, undefined, undefined, '{"q":')],
    [part(1, undefined, undefined, q('2')), part(0, undefined, undefined, '"1"}')]],
  ['indices with gaps, and not from zero', two, [part(7, 'i1', 'a', q('1'))], [part(1e9, 'i2', 'b', q('2'))]],
  ['whole calls in one list', two, [part(0, 'i1', 'a', q('1')), part(1, 'i2', 'b', q('2'))]],
  ['the same index for all, with ids', twice, [part(0, 'i1', 'a', q('1'))], [part(0, 'i2', 'a', q('2'))]],
  ['the same index for all, in fragments', two,
    [part(0, 'i1', 'a', '')], [part(0, undefined, undefined, q('1'))],
    [part(0, 'i2', 'b', '')], [part(0, undefined, undefined, q('2'))]],
  ['the same index for all, without ids', two, [part(0, '', 'a', q('1'))], [part(0, '', 'b', q('2'))]],
  ['the same index and name in one list', twice, [part(0, '', 'a', q('1')), part(0, '', 'a', q('2'))]],
  ['no index', two, [part(undefined, 'i1', 'a', q('1'))], [part(null, 'i2', 'b', q('2'))]],
  ['no index and no ids', twice, [part(undefined, undefined, 'a', q('1')), part(null, null, 'a', q('2'))]],
  ['no index and no ids, in fragments', two,
    [part(undefined, undefined, 'a', '{"q":')], [part(undefined, undefined, undefined, '"1"}')],
    [part(undefined, undefined, 'b', q('2'))]],
  ['no index, in fragments by id', two,
    [part(undefined, 'i1', 'a', '{"q":')], [part(undefined, 'i2', 'b', '{"q":')],
    [part(undefined, 'i1', undefined, '"1"}')], [part(undefined, 'i2', undefined, '"2"}')]],
  ['the same id twice', two, [part(0, 'i1', 'a', q('1')), part(1, 'i1', 'b', q('2'))]],
  ['the same id twice and no index', two, [part(null, 'i1', 'a', q('1')), part(null, 'i1', 'b', q('2'))]],
  ['id and name with each fragment', [['a', { q: '1' }]],
    [part(0, 'i1', 'a', '{"q":')], [part(0, 'i1', 'a', '"1"}')]],
  ['the name with each fragment', [['a', { q: '1' }]],
    [part(0, 'i1', 'a', '{"q":')], [part(0, undefined, 'a', '"1"}')]],
  ['another id with each fragment', [['a', { q: '1' }]],
    [part(0, 'i1', 'a', '{"q":')], [part(0, 'i2', undefined, '"1"}')]],
  ['a name in fragments', [['ab', { q: '1' }]],
    [part(0, 'i1', 'a')], [part(0, '', 'b')], [part(0, '', '', q('1'))]],
  ['a name behind the id', [['a', { q: '1' }]], [part(0, 'i1')], [part(0, undefined, 'a', q('1'))]],
  ['a name behind the id, and no index', [['a', { q: '1' }]],
    [part(null, 'i1')], [part(null, '', 'a', q('1'))]],
  ['an id behind the name', [['a', { q: '1' }]], [part(0, '', 'a', '{"q":')], [part(0, 'i1', 'a', '"1"}')]],
  ['arguments as an object', [['a', { q: '1' }]], [part(0, 'i1', 'a', { q: '1' })]],
  ['no arguments', [['a', {}], ['b', {}], ['a', {}], ['a', {}]],
    [part(0, 'i1', 'a')], [part(1, 'i2', 'b', '')],
    [part(2, 'i3', 'a', ' \n')], [part(3, 'i4', 'a', 'null')]],
  ['arguments that are not JSON', [['a', undefined], ['b', undefined], ['a', undefined]],
    [part(0, 'i1', 'a', '{"q":'), part(1, 'i2', 'b', '[1]'), part(2, 'i3', 'a', '"q"')]],
  ['arguments that nest too deep', [['a', undefined]],
    [part(0, 'i1', 'a', `${'{"a":'.repeat(99)}1${'}'.repeat(99)}`)]],
]

test('calls are put together whatever habits an endpoint has', () => {
  for (const [what, expected, ...events] of habits) {
    assert.deepEqual(told(completionOf(...events).calls()), expected, what)
  }
})

test('calls of a whole reply are taken too', () => {
  const completion = new ChatCompletion(model)
  const calls = [{ id: 'i1', type: 'function', function: { name: 'a', arguments: q('1') } },
    { type: 'function', function: { name: 'a', arguments: q('2') } }]
  completion.take(JSON.stringify({ choices: [{ message: { content: null, tool_calls: calls } }] }))
  assert.deepEqual(told(completion.calls()), twice)
})

test('each call has an id of its own: the one that was given, or one that every endpoint takes', () => {
  const ids = completionOf(
    [part(0, 'i1', 'a'), part(1, 'i1', 'b'), part(2, '', 'a'), part(3, null, 'b')],
  ).calls().map(({ id }) => id)
  assert.equal(ids[0], 'i1')
  assert.equal(new Set(ids).size, 4)
  for (const id of ids.slice(1)) assert.match(id, /^[a-z0-9]{9}$/)
})

test('a reply becomes a message, with what some endpoints want to see again', () => {
  const signed = { google: { thought_signature: 's' } }
  const completion = new ChatCompletion(model)
  for (const delta of [
    { role: 'assistant', reasoning_content: 'Hm, ' }, { reasoning_content: 'a cat.' },
    { content: 'Let me ' }, { content: 'look.' },
    { tool_calls: [{ ...part(0, 'i1', 'a', q('1')), extra_content: signed }] },
    { tool_calls: [part(1, 'i2', 'b', '{"q":')] },
  ]) completion.take(JSON.stringify({ choices: [{ delta }] }))
  assert.deepEqual(completion.message(completion.calls()), {
    role: 'assistant',
    content: 'Let me look.',
    reasoning_content: 'Hm, a cat.',
    tool_calls: [
      {
        id: 'i1', type: 'function', function: { name: 'a', arguments: '{"q":"1"}' }, extra_content: signed,
      },
      { id: 'i2', type: 'function', function: { name: 'b', arguments: '{}' } },
    ],
  })
  const silent = completionOf([part(0, 'i1', 'a')])
  assert.deepEqual(silent.message(silent.calls()), {
    role: 'assistant', content: null,
    tool_calls: [{ id: 'i1', type: 'function', function: { name: 'a', arguments: '{}' } }],
  })
})

test('what is no call is passed over or refused, never thrown at', () => {
  for (const parts of [undefined, null, 'x', 7, {}, []]) {
    const completion = new ChatCompletion(model)
    completion.take(eventOf(parts))
    assert.deepEqual(completion.calls(), [])
  }
  for (const parts of [[null], ['x'], [7], [[]], [{}], [{ function: null }], [{ function: { name: {} } }],
    [part({}, [], [], {})], [part('x', 7, null, 7)], [part(0, 'i', '', '{"half')]]) {
    const completion = completionOf(parts)
    assert.throws(() => completion.calls(), {
      kind: 'upstream', message: 'The model sent what cannot be read',
    })
  }
})

test('what is kept of a reply is bounded, whatever it is made of', () => {
  const half = 'x'.repeat(2 * 1024 * 1024)
  const large: readonly Part[] = [
    { content: half }, { refusal: half }, { reasoning_content: half },
    { tool_calls: [part(0, half)] }, { tool_calls: [part(0, 'i', half)] },
    { tool_calls: [part(0, 'i', 'a', half)] },
    { tool_calls: [{ ...part(0, 'i', 'a'), extra_content: { half } }] },
  ]
  for (const delta of large) {
    const completion = new ChatCompletion(model)
    const json = JSON.stringify({ choices: [{ delta }] })
    completion.take(json)
    assert.throws(() => { for (let at = 0; at < 2; at++) completion.take(json) },
      { kind: 'upstream', message: 'The model sent more than is read' }, Object.keys(delta)[0])
  }
  const many = Array.from({ length: 65 }, (_none, index) => part(index, `i${index}`, 'a'))
  assert.equal(completionOf(many.slice(1)).calls().length, 64)
  assert.throws(() => completionOf(many), { kind: 'upstream', message: 'The model sent more than is read' })
})

test('many tiny fragments cost no more than their number', () => {
  const fragment = eventOf([part(0, undefined, undefined, 'x')])
  const cost = (count: number, enough?: number): number => costOf(() => {
    const completion = completionOf([part(0, 'i', 'a', '{"q":"')])
    for (let at = 0; at < count; at++) completion.take(fragment)
    completion.take(eventOf([part(0, undefined, undefined, '"}')]))
    assert.equal(String(completion.calls()[0]?.input?.['q']).length, count)
  }, enough)
  const few = cost(10_000)
  const limit = 30 * (few + 1)
  const many = cost(80_000, limit)
  assert.ok(many <= limit, `${few.toFixed(1)} ms, then ${many.toFixed(1)} ms`)
})
