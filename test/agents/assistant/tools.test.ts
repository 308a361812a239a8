import assert from 'node:assert/strict'
import { test } from 'node:test'

import { makeTools } from '../../../lib/agents/assistant/assistant.ts'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { toolResultOf } from '../../../lib/kernel/define/tool-result.ts'
import type { Call } from '../../../lib/kernel/define/call.ts'
import type { Tool } from '../../../lib/kernel/define/tool.ts'

const tools = makeTools(() => ({ now: Date.UTC(2026, 2, 6, 13, 5), zone: 'UTC' }))

function toolOf(name: string): Tool {
  const tool = tools.find((each) => each.name === name)
  assert.ok(tool)
  return tool
}

function errorsOf(tool: Tool, args: unknown): readonly unknown[] {
  const checked = tool.input.check(args)
  assert.ok('errors' in checked)
  return checked.errors
}

function use(name: string, args: unknown): { readonly text: string, readonly figures: unknown } {
  const tool = toolOf(name)
  assert.deepEqual(errorsOf(tool, args), [])
  const { content: [block], structuredContent } = toolResultOf(tool.run(args, {} as Call))
  return { text: block?.type === 'text' ? block.text : '', figures: structuredContent }
}

test('tools answer with a sentence', () => {
  const table: readonly (readonly [name: string, args: object, text: string])[] = [
    ['calculate', { expression: '12 * (3 + 4)' }, '12 * (3 + 4) = 84'],
    ['convert', { value: 3.5, from: 'miles', to: 'm' }, '3.5 miles = 5632.704 m'],
    ['convert', { value: '5\'11"', to: 'cm' }, '5\'11" = 180.34 cm'],
    ['convert', { value: 255, to: 'hex' }, '255 = 0xff'],
    ['convert', { value: '0xff', to: 'decimal' }, '0xff = 255'],
    ['date', { operation: 'now', zone: 'Tokyo' },
      'It is 22:05 on Friday, 2026-03-06 in Asia/Tokyo (UTC+09:00).'],
    ['date', { operation: 'add', duration: '90 days' }, '2026-03-06 + 90 days is 2026-06-04, a Thursday.'],
    ['text_stats', { text: 'Hello world.' },
      '2 words, 12 characters, 1 sentence, 1 line, 10 letters.\nMost frequent: hello (1), world (1).'],
    ['text_stats', { text: 'Hello world.', letter: 'l' }, '"l" occurs 3 times in "Hello world.".'],
  ]
  for (const [name, args, text] of table) assert.equal(use(name, args).text, text)
})

test('tools have figures beside the sentence', () => {
  const figures = { result: '3.2 km', exact: true, value: 3.2, unit: 'km' }
  assert.deepEqual(use('calculate', { expression: '3 km + 200 m' }).figures, figures)
})

test('tools say what is wrong with their input', () => {
  const table: readonly (readonly [string, unknown, string])[] = [
    ['calculate', { expression: '1 / 0' }, 'Division by zero'],
    ['convert', { value: 1, from: 'km', to: 'kg' }, 'km and kg do not measure the same'],
    ['date', { operation: 'describe', date: '2026-02-30' },
      'There is no date "2026-02-30"; write it as 2026-03-01'],
    ['text_stats', { text: 'a'.repeat(100_001) }, 'The text is longer than 100000 characters'],
    ['text_stats', { text: 'a', letter: 'a'.repeat(101) }, 'What is counted is longer than 100 characters'],
  ]
  for (const [name, args, message] of table) {
    assert.throws(() => use(name, args), (error) =>
      error instanceof Fault && error.kind === 'invalid' && error.message === message)
  }
})

test('arguments that do not fit the schema do not come in', () => {
  const table: readonly (readonly [string, unknown])[] = [
    ['calculate', {}], ['calculate', { expression: '' }], ['calculate', { expression: 5 }],
    ['convert', { value: true, to: 'km' }], ['convert', { value: 5 }], ['date', { operation: 'guess' }],
    ['text_stats', {}],
  ]
  for (const [name, args] of table) assert.notDeepEqual(errorsOf(toolOf(name), args), [], name)
})

test('tools only read, and take nothing that they do not know', () => {
  for (const tool of tools) {
    assert.equal(tool.annotations?.readOnlyHint, true)
    assert.ok(JSON.stringify(errorsOf(tool, { nonsense: 1 })).includes('nonsense'))
    assert.ok(tool.title !== undefined && tool.description !== '')
  }
})
