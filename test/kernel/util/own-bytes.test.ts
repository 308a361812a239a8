import assert from 'node:assert/strict'
import test from 'node:test'
import { ownBytes } from '../../../lib/kernel/util/own-bytes.ts'

test('a view of much more becomes bytes of its own, and others stay what they are', () => {
  const slab = Buffer.alloc(65_536, 'a')
  const own = ownBytes(slab.subarray(10, 20))
  assert.equal(own.toString(), 'a'.repeat(10))
  assert.equal(own.buffer.byteLength, 10)
  for (const whole of [slab, slab.subarray(0, 32_768)]) assert.equal(ownBytes(whole), whole)
  assert.equal(ownBytes(slab.subarray(0, 32_767)).buffer.byteLength, 32_767)
})
