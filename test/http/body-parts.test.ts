import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { BodyParts, bytesTaken } from '../../lib/http/server/body-parts.ts'
import { eventually } from '../fixtures/client.ts'
import { heldBytes } from '../fixtures/heap.ts'

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

test('what a body holds is what it is counted for, however small its chunks', () => {
  const heldBy = (size: number): number => {
    const parts = new BodyParts()
    const before = heldBytes()
    // Each chunk is a part of what was read at once.
    for (let at = 0; at < size; at++) parts.add(Buffer.alloc(6).subarray(3, 4))
    const held = heldBytes() - before
    assert.equal(parts.join().length, size)
    parts.free()
    return held
  }
  for (const size of [1_000, 60_000, 70_000, 1_000_000]) {
    // What V8 compiles meanwhile is held, too, but only once.
    const held = Math.min(heldBy(size), heldBy(size), heldBy(size))
    assert.ok(held < bytesTaken(size) * 1.1 + 64 * KiB, `${size} bytes hold ${held}`)
  }
})

test('what a body takes grows by pages once it is longer than one', () => {
  assert.deepEqual(
    [0, 1, 64 * KiB, 64 * KiB + 1, 128 * KiB, 128 * KiB + 1].map(bytesTaken),
    [0, 1, 64 * KiB, 128 * KiB, 128 * KiB, 192 * KiB],
  )
})

test('pages are used again; many as long as they are needed, and few of them later', async () => {
  const fill = (size: number): BodyParts => {
    const parts = new BodyParts()
    const chunk = Buffer.alloc(64 * KiB)
    for (let at = 0; at < size; at += chunk.length) parts.add(chunk)
    return parts
  }
  const fillMany = (): void => {
    const many = Array.from({ length: 5 }, () => fill(8 * KiB * KiB))
    for (const parts of many) parts.free()
  }
  // The pages alone: what V8 has compiled comes and goes meanwhile.
  const inPages = (): number => {
    heldBytes()
    return process.memoryUsage().arrayBuffers
  }
  const before = inPages()
  fillMany()
  const kept = inPages()
  // Some of them may have been used before.
  assert.ok(kept - before > 27 * KiB * KiB, `${kept - before} bytes are kept`)
  assert.ok(kept - before < 33 * KiB * KiB, `${kept - before} bytes are kept`)
  // As long as they are used, they stay.
  for (const endsAt = performance.now() + 2_500; performance.now() < endsAt; await pause(100)) fillMany()
  assert.ok(inPages() - before > 27 * KiB * KiB)
  await eventually(() => inPages() - before < 5 * KiB * KiB, 'Pages that nobody needs are let go')
  const again = fill(4 * KiB * KiB)
  assert.ok(inPages() - before < 6 * KiB * KiB)
  again.free()
})
