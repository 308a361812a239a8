/**
 * The parts of a request's body: chunks in, as they come, and in the end one buffer out. Knows nothing of
 * what is in them, and of limits only how much memory they take.
 *
 * A long body is moved to pages, which the next one gets when it is done. Node makes a buffer for each chunk;
 * one that is kept for more than some milliseconds is freed by a full garbage collection alone, and V8 begins
 * one for every 64 MiB of them. With 32 clients that send a megabyte each, that was a fifth of all time.
 */

/** Bytes of a page. Shorter bodies are kept as they came. */
const PAGE_BYTES = 64 * 1024

/** So many at most are kept: each takes a hundred bytes beside its own, or all that was read with it. */
const MAX_CHUNKS = 64

/** So many pages are kept for the bodies to come: 4 MiB. */
const MAX_SPARE_PAGES = 64

/** Longer bodies than this are put together in memory of their own. */
const DESK_BYTES = 4 * 1024 * 1024

const spare: Buffer[] = []

/** Where a body is put together, one after another: fresh memory costs more than to fill it. */
let desk = Buffer.alloc(0)

/** Bytes of memory that the parts of a body take when so many bytes of it have come. */
export function bytesTaken(length: number): number {
  return length > PAGE_BYTES ? Math.ceil(length / PAGE_BYTES) * PAGE_BYTES : length
}

export class BodyParts {
  /** Chunks as they came, or pages. */
  #parts: Buffer[] = []
  #length = 0
  #isPaged = false
  /** Bytes of the last page that are filled. */
  #filled = PAGE_BYTES

  add(chunk: Buffer): void {
    this.#length += chunk.length
    if (this.#isPaged) return this.#write(chunk)
    this.#parts.push(chunk)
    if (this.#length > PAGE_BYTES) this.#toPages()
    else if (this.#parts.length > MAX_CHUNKS) this.#parts = [Buffer.concat(this.#parts, this.#length)]
  }

  /** The parts as one. What it returns is good until the next body is put together. */
  join(): Buffer {
    const length = this.#length
    if (length > DESK_BYTES) return Buffer.concat(this.#parts, length)
    if (length > desk.length) desk = Buffer.allocUnsafeSlow(Math.min(length * 2, DESK_BYTES))
    let at = 0
    for (const part of this.#parts) at += part.copy(desk, at)
    return desk.subarray(0, length)
  }

  /** Gives the pages back. Nothing is added or joined after that. */
  free(): void {
    if (this.#isPaged) {
      for (const page of this.#parts) if (spare.length < MAX_SPARE_PAGES) spare.push(page)
    }
    this.#parts = []
  }

  #toPages(): void {
    const chunks = this.#parts
    this.#parts = []
    this.#isPaged = true
    for (const chunk of chunks) this.#write(chunk)
  }

  #write(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#filled === PAGE_BYTES) {
        this.#parts.push(spare.pop() ?? Buffer.allocUnsafeSlow(PAGE_BYTES))
        this.#filled = 0
      }
      const copied = chunk.copy(this.#parts.at(-1)!, this.#filled, at)
      this.#filled += copied
      at += copied
    }
  }
}
