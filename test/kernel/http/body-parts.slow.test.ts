/** Long bodies cut in each way, and what the process holds for them. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { BodyParts, bytesTaken } from '../../../lib/kernel/http/server/body-parts.ts'
import { heldBytes } from '../../fixtures/heap.ts'
import { eventually } from '../../fixtures/kernel.ts'

const KiB = 1024

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
