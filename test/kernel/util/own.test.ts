import assert from 'node:assert/strict'
import test from 'node:test'
import { ownBytes, ownText } from '../../../lib/kernel/util/own.ts'
import { heldBytes } from '../../fixtures/heap.ts'

test('a view of much more becomes bytes of its own, and others stay what they are', () => {
  const slab = Buffer.alloc(65_536, 'a')
  const own = ownBytes(slab.subarray(10, 20))
  assert.equal(own.toString(), 'a'.repeat(10))
  assert.equal(own.buffer.byteLength, 10)
  for (const whole of [slab, slab.subarray(0, 32_768)]) assert.equal(ownBytes(whole), whole)
  assert.equal(ownBytes(slab.subarray(0, 32_767)).buffer.byteLength, 32_767)
})

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
