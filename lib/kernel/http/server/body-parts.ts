/**
 * The parts of a request's body: chunks in as they arrive, one buffer out.
 *
 * A long body is copied to pages, which later bodies use again. Node makes a buffer for each chunk; one that
 * is kept for more than some milliseconds is freed by a full garbage collection only, and V8 starts one for
 * every 64 MiB of them: with 32 clients that send a megabyte each, that took a fifth of all time.
 */

/** Bytes of a page. Shorter bodies are kept as they arrived. */
const PAGE_BYTES = 64 * 1024

/** At most so many chunks are kept: each takes a hundred bytes beside its own. */
const MAX_CHUNKS = 64

/** Pages that are always kept for later bodies: 4 MiB. */
const KEPT_PAGES = 64

/** Pages that are kept while they are used: 32 MiB. A dropped page is freed by a full collection only. */
const MAX_SPARE_PAGES = 512

/** How often unused pages are dropped. */
const LOOK_MS = 1_000

/** Longer bodies are joined in memory of their own. */
const DESK_BYTES = 4 * 1024 * 1024

const spare: Buffer[] = []
/** The fewest spare pages since the last look. */
let idle = 0
let look: NodeJS.Timeout | undefined

/** Where bodies are joined, one after another: fresh memory costs more than to fill it. */
let desk = Buffer.alloc(0)

/** Memory that the parts of a body of this length take. */
export function bytesTaken(length: number): number {
  return length > PAGE_BYTES ? Math.ceil(length / PAGE_BYTES) * PAGE_BYTES : length
}

export class BodyParts {
  /** Chunks, or pages. */
  #parts: Buffer[] = []
  #length = 0
  #isPaged = false
  #filled = PAGE_BYTES

  add(chunk: Buffer): void {
    this.#length += chunk.length
    if (this.#isPaged) return this.#write(chunk)
    this.#parts.push(chunk)
    if (this.#length > PAGE_BYTES) this.#toPages()
    else if (this.#parts.length > MAX_CHUNKS) this.#parts = [Buffer.concat(this.#parts, this.#length)]
  }

  /** The parts as one; valid until the next `join`. */
  join(): Buffer {
    const length = this.#length
    if (length > DESK_BYTES) return Buffer.concat(this.#parts, length)
    if (length > desk.length) desk = Buffer.allocUnsafeSlow(Math.min(length * 2, DESK_BYTES))
    let at = 0
    for (const part of this.#parts) at += part.copy(desk, at)
    return desk.subarray(0, length)
  }

  /** Gives the pages back. Nothing is added or joined after it. */
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
  if (spare.length > KEPT_PAGES) look ??= setTimeout(dropUnused, LOOK_MS).unref()
}

function dropUnused(): void {
  spare.length = Math.max(Math.min(spare.length, KEPT_PAGES), spare.length - idle)
  idle = spare.length
  look = idle > KEPT_PAGES ? setTimeout(dropUnused, LOOK_MS).unref() : undefined
}
