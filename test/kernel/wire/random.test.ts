import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PLACE_LENGTH, placesIn, randomId, randomUuid } from '../../../lib/kernel/wire/random.ts'

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

test('a UUID is of version 4, comes once, and every other bit of it is drawn', () => {
  const [ones, zeros] = [Buffer.alloc(16), Buffer.alloc(16, 0xff)]
  const ids = new Set<string>()
  for (let count = 0; count < 20_000; count++) {
    const id = randomUuid()
    assert.match(id, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    ids.add(id)
    for (const [at, byte] of Buffer.from(id.replaceAll('-', ''), 'hex').entries()) {
      ones[at]! |= byte
      zeros[at]! &= byte
    }
  }
  assert.equal(ids.size, 20_000)
  const fixed = (byte: number, at: number): number => at === 6 ? 0x40 : at === 8 ? 0x80 : byte
  assert.deepEqual(zeros, Buffer.from(Buffer.alloc(16).map(fixed)))
  assert.deepEqual(ones, Buffer.alloc(16, 0xff).fill(0x4f, 6, 7).fill(0xbf, 8, 9))
})

test('the places of a text lie in it, in order, apart, and all over it', () => {
  for (const length of [16_385, 100_000, 524_288, 4_194_303]) {
    const next = placesIn(length)
    let last = -PLACE_LENGTH
    let count = 0
    for (let place = next(); place >= 0; place = next()) {
      assert.ok(place >= last + PLACE_LENGTH && place + PLACE_LENGTH <= length, `${place} of ${length}`)
      assert.ok(place - last <= Math.max(256, length / 512), `${last} to ${place} of ${length}`)
      last = place
      count++
    }
    assert.ok(length - last <= length / 64 && count >= Math.min(1024, Math.floor(length / 128)))
    assert.equal(next(), -1)
  }
})

test('of what stands together in one part of a long text about the right share is seen', () => {
  const [from, until, length] = [3_000_000, 3_100_000, 4_000_000]
  const next = placesIn(length)
  let seen = 0
  for (let place = next(); place >= 0; place = next()) if (place >= from && place < until) seen++
  const share = seen * PLACE_LENGTH * (length / (1024 * PLACE_LENGTH))
  assert.ok(Math.abs(share - (until - from)) < (until - from) / 10, `${share}`)
})

test('nobody knows where a text is looked at', () => {
  const places = Array.from({ length: 20 }, () => placesIn(100_000)())
  assert.ok(new Set(places).size > 10, `${places}`)
})
