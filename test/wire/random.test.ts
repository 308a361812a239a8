import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomId } from '../../lib/wire/random.ts'

test('an id has as many bytes as were asked for, over the end of a batch too', () => {
  for (let count = 0; count < 1000; count++) {
    assert.equal(Buffer.from(randomId(24), 'base64url').length, 24)
    assert.match(randomId(12), /^[\w-]{16}$/)
  }
})

test('no id comes twice', () => {
  const ids = new Set(Array.from({ length: 20_000 }, () => randomId(12)))
  assert.equal(ids.size, 20_000)
})

test('every bit of an id is drawn', () => {
  const [ones, zeros] = [Buffer.alloc(24), Buffer.alloc(24, 0xff)]
  for (let count = 0; count < 500; count++) {
    for (const [at, byte] of Buffer.from(randomId(24), 'base64url').entries()) {
      ones[at]! |= byte
      zeros[at]! &= byte
    }
  }
  assert.deepEqual([ones, zeros], [Buffer.alloc(24, 0xff), Buffer.alloc(24)])
})
