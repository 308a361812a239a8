import assert from 'node:assert/strict'
import { test } from 'node:test'

import { assistant, tools } from '../../lib/assistant/assistant.ts'
import { systemClock } from '../../lib/assistant/tools.ts'
import type { Call } from '../../lib/core/call.ts'
import { Fault } from '../../lib/core/fault.ts'
import type { Contract } from '../../lib/schema/standard.ts'
import { toolResultOf } from '../../lib/core/tool.ts'

const call = (history: Call['history'] = []): Call => ({ history }) as Call

async function ask(prompt: string, given: Call): Promise<readonly unknown[]> {
  const pieces: unknown[] = []
  for await (const piece of assistant.run(prompt, given) as AsyncIterable<unknown>) pieces.push(piece)
  return pieces
}

function errorsOf(contract: Contract, value: unknown): readonly unknown[] {
  const checked = contract.check(value)
  assert.ok('errors' in checked)
  return checked.errors
}

function use(name: string, args: unknown): { readonly text: string, readonly figures: unknown } {
  const tool = tools.find((each) => each.name === name)
  assert.ok(tool)
  assert.deepEqual(errorsOf(tool.input, args), [])
  const { content, structuredContent } = toolResultOf(tool.run(args, call()))
  assert.ok(tool.output)
  assert.deepEqual(errorsOf(tool.output, structuredContent), [])
  const [block] = content
  return { text: block?.type === 'text' ? block.text : '', figures: structuredContent }
}

test('the assistant streams its answer', async () => {
  assert.deepEqual(await ask('what is 12 * 7?', call()), ['12 * 7', ' = ', '84'])
})

test('the assistant goes on from the history of the call', async () => {
  const history = [
    { role: 'system', content: 'x' },
    { role: 'user', content: '12 * 7' },
    { role: 'assistant', content: '12 * 7 = 84' },
  ] as const
  assert.equal((await ask('and times 2?', call(history))).join(''), '84 times 2 = 168')
})

test('the assistant says nothing more when nobody listens', () => {
  const pieces = (assistant.run('help', call()) as Iterable<string>)[Symbol.iterator]()
  assert.equal(pieces.next().done, false)
  pieces.return?.()
  assert.equal(pieces.next().done, true)
})

test('the assistant names its skills', () => {
  assert.equal(assistant.id, 'assistant')
  assert.deepEqual(assistant.skills?.map((skill) => skill.id), tools.map((tool) => tool.name))
})

test('tools answer with a sentence and with figures', () => {
  assert.deepEqual(use('calculate', { expression: '3 km + 200 m' }), {
    text: '3 km + 200 m = 3.2 km',
    figures: { expression: '3 km + 200 m', result: '3.2 km', exact: true, value: 3.2, unit: 'km' },
  })
  assert.equal(use('calculate', { expression: '1/3' }).text, '1/3 ≈ 0.3333333333')
  assert.equal(use('convert', { value: 3.5, from: 'miles', to: 'm' }).text, '3.5 miles = 5632.704 m')
  assert.equal(use('convert', { value: 'ff', from: 'hex', to: 'decimal' }).text, 'ff (hex) = 255')
  assert.match(use('date', { operation: 'now', zone: 'Tokyo' }).text, /^It is .* in Tokyo \(Asia\/Tokyo, /)
  const difference = { operation: 'difference', date: '2026-03-01', until: '2026-12-25', unit: 'weeks' }
  assert.match(use('date', difference).text, /42\.71428571 weeks/)
  assert.match(use('date', { operation: 'describe', date: '1969-07-20' }).text, /was a Sunday/)
  assert.equal(use('text_stats', { text: 'Hello world.' }).text, 'Words: 2, characters: 12, sentences: 1.')
})

test('tools say what is wrong with their input', () => {
  const table: readonly (readonly [string, unknown, RegExp])[] = [
    ['calculate', { expression: '1 / 0' }, /^Division by zero at position 3\.$/],
    ['convert', { value: 1, from: 'km', to: 'kg' }, /^Cannot convert a length \(km\) to a mass \(kg\)\.$/],
    ['date', { operation: 'describe', date: '2026-02-30' }, /^There is no such date/],
    ['text_stats', { text: 'a'.repeat(100_001) }, /^The text is longer than/],
  ]
  for (const [name, args, message] of table) {
    assert.throws(() => use(name, args), (error) =>
      error instanceof Fault && error.kind === 'invalid' && message.test(error.message))
  }
})

test('tools only read, and take nothing that they do not know', () => {
  for (const tool of tools) {
    assert.equal(tool.annotations?.readOnlyHint, true)
    assert.notDeepEqual(errorsOf(tool.input, { nonsense: 1 }), [])
  }
})

test('the system clock has a zone', () => {
  const { now, zone } = systemClock()
  assert.ok(Math.abs(now - Date.now()) < 1000)
  assert.ok(zone.length > 0)
})
