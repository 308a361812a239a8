import assert from 'node:assert/strict'
import test from 'node:test'
import { FaultList, isName, isWithin, sentenceWithin } from '../../../lib/kernel/wire/bounded.ts'
import { problem } from '../../../lib/kernel/wire/problem.ts'

test('a sentence keeps its length up to 1,000 bytes, and no character is cut in two', () => {
  for (const text of ['', 'short', 'x'.repeat(1_000), 'é'.repeat(500)]) {
    assert.equal(sentenceWithin(text), text)
  }
  for (const text of [
    'x'.repeat(1_001), 'é'.repeat(501), '€'.repeat(400), '😀'.repeat(300), 'x'.repeat(4_000_000),
  ]) {
    const cut = sentenceWithin(text)
    assert.ok(Buffer.byteLength(cut) <= 1_003, text.slice(0, 3))
    assert.match(cut, /^(.)\1*…$/u)
  }
})

test('a text is measured in bytes, not in characters', () => {
  const table: readonly (readonly [text: string, maxBytes: number, isFine: boolean])[] = [
    ['', 0, true], ['abc', 3, true], ['abcd', 3, false], ['é', 1, false], ['é', 2, true], ['€€', 5, false],
    ['€€', 6, true], ['😀', 3, false], ['😀', 4, true],
  ]
  for (const [text, maxBytes, isFine] of table) assert.equal(isWithin(text, maxBytes), isFine, text)
})

test('no problem document multiplies what a client sent', () => {
  const long = 'x'.repeat(1_000_000)
  assert.ok(JSON.stringify(problem(422, long, 'r')).length < 2_400)
})

test('a list keeps the first twenty faults and says that there are more', () => {
  const list = new FaultList<number>()
  for (let count = 0; count < 20; count++) list.add(count)
  assert.deepEqual([list.isFull, list.isCut], [true, false])
  list.add(20)
  assert.deepEqual([list.items.length, list.isCut], [20, true])
})

test('a name has at most 8,192 bytes', () => {
  assert.deepEqual(['', 'x'.repeat(8_192), 'é'.repeat(4_096)].map(isName), [true, true, true])
  for (const one of ['x'.repeat(8_193), 'é'.repeat(4_097), 7, undefined]) assert.equal(isName(one), false)
})
