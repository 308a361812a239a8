import assert from 'node:assert/strict'
import { test } from 'node:test'

import { maxText, occurrences, textStats } from '../../lib/assistant/text-stats.ts'

test('a text is counted in every way', () => {
  assert.deepEqual(textStats('To be, or not to be. That is it!\n\nSecond paragraph.'), {
    characters: 51, characters_without_spaces: 40, code_points: 51, letters: 36,
    words: 11, sentences: 3, lines: 3, paragraphs: 2, average_word_length: 3.27, longest_word: 'paragraph',
    frequent_words: [
      { word: 'to', count: 2 }, { word: 'be', count: 2 }, { word: 'or', count: 1 }, { word: 'not', count: 1 },
      { word: 'that', count: 1 },
    ],
    reading_seconds: 3,
  })
})

test('visible characters and code points differ', () => {
  const { characters, code_points: points } = textStats('e\u0301👨‍👩‍👧')
  assert.deepEqual([characters, points], [2, 7])
})

test('scripts without spaces have words', () => {
  assert.equal(textStats('世界你好').words, 2)
})

test('an empty text has nothing, a line end begins no line', () => {
  const empty = textStats('')
  assert.deepEqual([empty.characters, empty.words, empty.lines, empty.longest_word], [0, 0, 0, ''])
  assert.equal(empty.average_word_length, 0)
  assert.equal(textStats('a\nb\n').lines, 2)
  assert.equal(textStats('a\r\nb\rc').lines, 3)
})

test('a text that would take too long is refused', () => {
  assert.throws(() => textStats('a'.repeat(maxText + 1)),
    { message: 'The text is longer than 100000 characters.' })
  assert.equal(textStats(' \n'.repeat(maxText / 2)).words, 0)
})

test('a long text is counted as a short one is', () => {
  const long = textStats('This is a sentence of nine words, is it? '.repeat(800))
  assert.deepEqual([long.sentences, long.words, long.characters], [800, 7200, 32_800])
  const endless = textStats('on and on '.repeat(1000))
  assert.deepEqual([endless.sentences, endless.words, endless.characters], [1, 3000, 10_000])
  const dense = textStats('😀'.repeat(1500))
  assert.deepEqual([dense.characters, dense.code_points], [1500, 1500])
  assert.equal(textStats('\ud83d'.repeat(1500)).code_points, 1500)
})

test('parts of a text are counted', () => {
  assert.equal(occurrences('Strawberry', 'R'), 3)
  assert.equal(occurrences('aaa', 'aa'), 1)
  assert.equal(occurrences('abc', ''), 0)
})
