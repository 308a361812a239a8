/**
 * What nobody can guess: ids, of bytes that are drawn in batches, as to draw for each by itself costs twenty
 * times as much; and places in a text to look at, so that nobody can write around them.
 */
import { randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(4096)
let used = pool.length

/** So many random bytes, at most 1024, as base64url. */
export function randomId(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  return pool.toString('base64url', used, used += bytes)
}

/** Steps of 1 to `2 * mean - 1`, a power of two, in an order that is another one each time. */
export function strides(mean: number): () => number {
  const mask = mean * 2 - 1
  // A shift register (Marsaglia's xorshift) goes through all numbers but zero.
  let state = Math.floor(Math.random() * 0xffff_ffff) + 1 | 0
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state & mask) || mean
  }
}
