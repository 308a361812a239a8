/** How much memory there is, for the limits of what everything of one kind may hold together. */
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

/** V8's limit has room for new objects in it, which what is held leaves soon: from Node 22 on so much. */
const NEW_BYTES = 192 * 1024 * 1024

/** Bytes that this process may have. */
function memoryBytes(): number {
  const heap = getHeapStatistics().heap_size_limit
  const bounds = [Math.max(heap - NEW_BYTES, heap / 2), process.constrainedMemory?.(), totalmem()]
  // Where there is no such bound it is 0, or more than there is; runtimes besides Node lack one or the other.
  return Math.min(...bounds.map((bytes) => Number(bytes) > 0 ? Number(bytes) : Infinity))
}

const quarter = Math.floor(memoryBytes() / 4)

/** A limit of what is held for all together: by itself at most a quarter of the memory. */
export function total(bytes: number): number {
  return Math.min(bytes, quarter)
}
