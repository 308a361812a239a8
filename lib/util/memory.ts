/** How much memory there is, for the limits of what everything of one kind may hold together. */
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

/** Bytes that this process may have. */
function memoryBytes(): number {
  const bounds = [getHeapStatistics().heap_size_limit, process.constrainedMemory?.(), totalmem()]
  // Where there is no such bound it is 0, or more than there is; runtimes besides Node lack one or the other.
  return Math.min(...bounds.map((bytes) => Number(bytes) > 0 ? Number(bytes) : Infinity))
}

const quarter = Math.floor(memoryBytes() / 4)

/** A limit of what is held for all together: by itself at most a quarter of the memory. */
export function total(bytes: number): number {
  return Math.min(bytes, quarter)
}
