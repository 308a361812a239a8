/**
 * Random ids, of bytes that are drawn in batches, as single draws cost twenty times as much; and random
 * places in a text to look at, so that no client can write around them.
 */
import { randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(4096)
let used = pool.length

/** So many random bytes, at most 1024, as text. */
export function randomId(bytes: number, encoding: 'base64url' | 'hex' = 'base64url'): string {
  const from = draw(bytes)
  return pool.toString(encoding, from, from + bytes)
}

const UUID_BYTES = 16
const places = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const
const digits = Buffer.from('0123456789abcdef')
const uuid = Buffer.from('00000000-0000-0000-0000-000000000000')

/**
 * A UUID of version 4. Node's own is a text of some thirty pieces, which are put together when it is first
 * looked at: with that it costs twice as much. RFC 9562 §5.4.
 */
export function randomUuid(): string {
  const from = draw(UUID_BYTES)
  pool[from + 6] = pool[from + 6]! & 0x0f | 0x40
  pool[from + 8] = pool[from + 8]! & 0x3f | 0x80
  for (let at = 0; at < UUID_BYTES; at++) {
    const byte = pool[from + at]!
    const place = places[at]!
    uuid[place] = digits[byte >> 4]!
    uuid[place + 1] = digits[byte & 15]!
  }
  return uuid.toString('latin1')
}

/** Where so many unused bytes begin. */
function draw(bytes: number): number {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const from = used
  used += bytes
  return from
}

/** The characters of one place. */
export const PLACE_LENGTH = 8
const MOST_PLACES = 1024
/** One character in so many, at most. */
const SPARSENESS = 16

/**
 * The next of some 1,000 places spread over a long text, at random within equal parts; `-1` after the last.
 * They estimate how much of a kind there is to a few percent, even where it is all in one part.
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
