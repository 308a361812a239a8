import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import { BodyParts, bytesTaken } from '../../../lib/kernel/http/server/body-parts.ts'

const KiB = 1024

/** Cuts bytes into chunks of these lengths, again and again. */
function* chunksOf(bytes: Buffer, lengths: readonly number[]): Generator<Buffer> {
  let at = 0
  for (let n = 0; at < bytes.length; n++) {
    const length = lengths[n % lengths.length]!
    yield bytes.subarray(at, at + length)
    at += length
  }
}

const cuts: readonly (readonly number[])[] = [
  [1], [7, 1_000], [64 * KiB], [64 * KiB - 1, 1], [64 * KiB + 1], [300 * KiB], [1, 200 * KiB, 3],
]
const sizes = [
  1, 64, 65, 66, 1_000, 64 * KiB - 1, 64 * KiB, 64 * KiB + 1, 128 * KiB, 1_000_000, 4 * KiB * KiB, 5_000_000,
]

for (const lengths of cuts) {
  test(`parts of ${lengths.join(', ')} bytes are put together as they came`, () => {
    // Byte by byte the long ones would take seconds and tell nothing new.
    for (const size of sizes.filter((one) => one / lengths[0]! < 200_000)) {
      const bytes = randomBytes(size)
      const parts = new BodyParts()
      for (const chunk of chunksOf(bytes, lengths)) parts.add(chunk)
      assert.ok(parts.join().equals(bytes), `${size} bytes`)
      parts.free()
    }
  })
}

test('bodies that come side by side do not write over each other, nor over one that came before', () => {
  for (let round = 0; round < 3; round++) {
    const bodies = [900_000, 90_000, 600_000, 70_000].map((size) => randomBytes(size))
    const coming = bodies.map((bytes) => (
      { bytes, parts: new BodyParts(), chunks: chunksOf(bytes, [40_000, 9]) }
    ))
    for (let left = coming; left.length > 0;) {
      left = left.filter(({ parts, chunks }) => {
        const { done, value } = chunks.next()
        if (done !== true) parts.add(value)
        return done !== true
      })
    }
    for (const { bytes, parts } of coming) {
      assert.ok(parts.join().equals(bytes))
      parts.free()
    }
  }
})

test('what a body takes grows by pages once it is longer than one', () => {
  assert.deepEqual(
    [0, 1, 64 * KiB, 64 * KiB + 1, 128 * KiB, 128 * KiB + 1].map(bytesTaken),
    [0, 1, 64 * KiB, 128 * KiB, 128 * KiB, 192 * KiB],
  )
})
