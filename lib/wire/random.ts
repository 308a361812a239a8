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

/** So many characters are looked at in one place. */
export const PLACE_LENGTH = 8
const MOST_PLACES = 2048
/** One character in so many, at most. */
const SPARSENESS = 16

/**
 * Places spread over a long text, where each begins: another one each time. `-1` after the last. Some 2,000
 * tell how much of a kind there is to a few in a hundred, and where it stands together too.
 */
export function placesIn(length: number): () => number {
  const every = Math.max(PLACE_LENGTH * SPARSENESS, Math.floor(length / MOST_PLACES))
  const room = every - PLACE_LENGTH
  // A shift register (Marsaglia's xorshift) goes through all numbers but zero.
  let state = Math.floor(Math.random() * 0xffff_ffff) + 1 | 0
  let from = -every
  return () => {
    from += every
    if (from + every > length) return -1
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return from + (state >>> 0) % room
  }
}
