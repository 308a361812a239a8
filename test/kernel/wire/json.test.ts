import assert from 'node:assert/strict'
import test from 'node:test'
import { formatJson, isStrings, quote } from '../../../lib/kernel/wire/json.ts'

test('a text reads back as it was, long or short; half of a character is U+FFFD', () => {
  const long = 'x'.repeat(100_000)
  for (const text of [
    '', 'a"b', long, `${long}"`, `${long}\n`, `\\${long}`, `${long}\ud800`,
    `${long}\u{1f600}\u2028\u007f`,
  ]) {
    assert.equal(quote(text), JSON.stringify(text.toWellFormed()))
  }
})

test('in JSON text half of a character is U+FFFD, and what only looks like its escape stays', () => {
  const rows: readonly (readonly [given: unknown, read: unknown])[] = [
    ['a\ud800', 'a\ufffd'], ['\udc00\ud800', '\ufffd\ufffd'], ['\u{1f600}\ud83d', '\u{1f600}\ufffd'],
    [{ 'a\udbff': ['\udfff"'] }, { 'a\ufffd': ['\ufffd"'] }],
    ['\\ud800', '\\ud800'], ['\\\\ud800', '\\\\ud800'], ['\\\ud800', '\\\ufffd'],
    ['\\\\\ud800', '\\\\\ufffd'],
    ['"\ud800\\', '"\ufffd\\'], [[1, null, true], [1, null, true]],
  ]
  for (const [given, read] of rows) assert.deepEqual(JSON.parse(formatJson(given)!), read)
  assert.equal(formatJson(undefined), undefined)
})

test('a text is no list of strings', () => {
  assert.equal(isStrings(['a', '']), true)
  assert.equal(isStrings([]), true)
  for (const value of ['a', ['a', 7], { 0: 'a', length: 1 }, undefined, null]) {
    assert.equal(isStrings(value), false)
  }
})
