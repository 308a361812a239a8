/**
 * Ids that nobody can guess, of bytes that are drawn in batches: to draw for each id by itself costs twenty
 * times as much as the id.
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
