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
const KEPT_PAGES = 64

/**
 * So many as long as they are used, 32 MiB: pages that are dropped are freed by a full collection alone. With
 * 32 clients that send a megabyte each, it saves two of three.
 */
const MAX_SPARE_PAGES = 512

/** How often those are let go that nobody has needed since. */
const LOOK_MS = 1_000

/** Longer bodies than this are put together in memory of their own. */
const DESK_BYTES = 4 * 1024 * 1024

const spare: Buffer[] = []
/** The fewest that were spare since the last look. */
let idle = 0
let look: NodeJS.Timeout | undefined

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
    if (this.#isPaged) givePages(this.#parts)
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
        this.#parts.push(takePage())
        this.#filled = 0
      }
      const copied = chunk.copy(this.#parts.at(-1)!, this.#filled, at)
      this.#filled += copied
      at += copied
    }
  }
}

function takePage(): Buffer {
  const page = spare.pop()
  idle = Math.min(idle, spare.length)
  return page ?? Buffer.allocUnsafeSlow(PAGE_BYTES)
}

function givePages(pages: readonly Buffer[]): void {
  for (const page of pages) if (spare.length < MAX_SPARE_PAGES) spare.push(page)
  if (spare.length > KEPT_PAGES) look ??= setTimeout(letGo, LOOK_MS).unref()
}

function letGo(): void {
  spare.length = Math.max(Math.min(spare.length, KEPT_PAGES), spare.length - idle)
  idle = spare.length
  look = idle > KEPT_PAGES ? setTimeout(letGo, LOOK_MS).unref() : undefined
}
