import assert from 'node:assert/strict'
import test from 'node:test'
import { keyOf, MAX_KEY_BYTES } from '../../../lib/kernel/store/store.ts'

test('what every store takes as a key stays what it is', () => {
  const longest = ['x'.repeat(MAX_KEY_BYTES), '🙂'.repeat(MAX_KEY_BYTES / 4)]
  for (const text of ['a', 'key:1', 'u}keys:k', 'a\0b', 'é~#', ...longest]) assert.equal(keyOf(text), text)
})

test('what no store takes, and what looks like the house\'s own, is a digest, another for each', () => {
  const texts = [
    '', '~', '~node', '#', `#${'x'.repeat(43)}`, 'x'.repeat(MAX_KEY_BYTES + 1),
    'é'.repeat(MAX_KEY_BYTES / 2 + 1), '\ud800', '\ud801', 'a\udc00', '\ufffd'.repeat(MAX_KEY_BYTES),
  ]
  const keys = texts.map(keyOf)
  for (const key of keys) assert.match(key, /^#[\w-]{43}$/)
  assert.equal(new Set(keys).size, texts.length)
  // What was made here is not taken for a text that makes itself.
  assert.ok(keys.every((key) => keyOf(key) !== key))
})
