import assert from 'node:assert/strict'
import { test } from 'node:test'

import { costOf } from '../../fixtures/time.ts'
import { countText } from '../../../lib/agents/assistant/text.ts'

test('a text is counted in every way', () => {
  const { text, ...figures } = countText('To be, or not to be. That is it!\n\nSecond paragraph.')
  assert.equal(text, '11 words, 51 characters, 3 sentences, 3 lines, 36 letters.\n'
    + 'Most frequent: to (2), be (2), or (1), not (1), that (1).')
  assert.deepEqual(figures, {
    words: 11, characters: 51, sentences: 3, lines: 3, letters: 36,
    frequent: [
      { word: 'to', times: 2 }, { word: 'be', times: 2 }, { word: 'or', times: 1 }, { word: 'not', times: 1 },
      { word: 'that', times: 1 },
    ],
  })
})

test('characters are those that are seen', () => {
  assert.equal(countText('e\u0301👨‍👩‍👧')['characters'], 2)
  assert.equal(countText('👨‍👩‍👧')['letters'], 0)
})

test('scripts without spaces have words', () => {
  assert.equal(countText('世界你好')['words'], 2)
  assert.equal(countText('世界。你好。')['sentences'], 2)
})

test('sentences end where a sign of their end is followed by a blank', () => {
  const table: readonly (readonly [string, number])[] = [
    ['It is 3.14 today. "Really?" Yes!', 3], ['no end', 1], ['!!! ...', 0], ['A title\n\nA text.', 2],
    ['one… two', 2],
  ]
  for (const [text, sentences] of table) assert.equal(countText(text)['sentences'], sentences, text)
})

test('an empty text has nothing, a line end begins no line', () => {
  assert.equal(countText('').text,
    '0 words, 0 characters, 0 sentences, 0 lines, 0 letters.\nMost frequent: no words.')
  assert.equal(countText('a\nb\n')['lines'], 2)
  assert.equal(countText('a\r\nb\rc')['lines'], 3)
})

test('a letter is counted, whatever its case', () => {
  assert.deepEqual(countText('Strawberry', 'R'), { text: '"R" occurs 3 times in "Strawberry".', count: 3 })
  assert.equal(countText('aaa', 'aa')['count'], 1)
  assert.equal(countText('abc', 'z').text, '"z" occurs 0 times in "abc".')
})

test('a long text is counted as a short one is, and soon', () => {
  const long = countText('This is a sentence of nine words, is it? '.repeat(2400))
  assert.deepEqual([long['sentences'], long['words'], long['characters']], [2400, 21_600, 98_400])
  assert.ok(costOf(() => {
    const dense = countText('😀'.repeat(50_000))
    assert.deepEqual([dense['characters'], dense['words']], [50_000, 0])
    assert.equal(countText('\ud83d'.repeat(1500))['characters'], 1500)
    for (const part of ['. ', 'a', ' \n']) countText(part.repeat(50_000))
  }, 8_000) <= 8_000)
})

test('a text that would take too long is refused', () => {
  const message = 'The text is longer than 100000 characters'
  assert.throws(() => countText('a'.repeat(100_001)), { name: 'Fault', message })
})
