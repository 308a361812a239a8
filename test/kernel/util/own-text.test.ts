import assert from 'node:assert/strict'
import test from 'node:test'
import { ownText } from '../../../lib/kernel/util/own-text.ts'
import { heldBytes } from '../../fixtures/heap.ts'

test('a text that was cut from a longer one is kept alone, and is the same', () => {
  const before = heldBytes()
  const kept = Array.from({ length: 100 }, (_, n) => (
    ownText(Buffer.alloc(100_000, 'a').toString('latin1').slice(n, n + 40))
  ))
  const held = heldBytes() - before
  assert.equal(kept[7], 'a'.repeat(40))
  assert.ok(held < 2_000_000, `${held} for 4000`)
  for (const text of ['', 'é', '\ufffd', '😀', 'a\ud800', '\udc00\ud800']) assert.equal(ownText(text), text)
})
