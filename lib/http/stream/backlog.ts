/**
 * What waits for readers: the bytes of all replies of one server, streams and whole ones alike, that were
 * written and not taken yet. Over the bound for all together the largest reply goes; one whose reader takes
 * nothing for a while goes too. Knows no socket. What does not wait costs nothing.
 */
import type { Limits } from '../../define/limits.ts'

/** A reply of which something waits. The members that can be written are the backlog's own. */
export interface Waiting {
  /** Bytes that wait, as last accounted. */
  held: number
  /** `taken`, when it was last looked at and had changed. */
  seen: number
  seenAtMs: number
  /** It is over: nothing of it is counted any more. */
  isOver: boolean
  /** Bytes that wait now. */
  readonly waiting: number
  /** A number that is another one whenever the reader has taken something. */
  readonly taken: number
  /** Ends the reply, and its reader with it. */
  drop(): void
}

/** Looked at this often at least, so that the account stays true. */
const SWEEP_MS = 5_000

/** The account of one server. */
export class Backlog {
  readonly #maxBytes: number
  readonly #patienceMs: number
  readonly #replies = new Set<Waiting>()
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  constructor(limits: Pick<Limits, 'maxQueuedBytes' | 'writeTimeoutMs'>) {
    this.#maxBytes = limits.maxQueuedBytes
    this.#patienceMs = limits.writeTimeoutMs
  }

  /** Bytes that wait in all. */
  get bytes(): number { return this.#bytes }

  /** A reply is over: nobody waits for what is left of it. */
  close(reply: Waiting): void {
    this.account(reply, 0)
    reply.isOver = true
  }

  /** Says how much of a reply waits now; over, it has no say. While all is too much, drops the largest. */
  account(reply: Waiting, bytes: number): void {
    if (reply.isOver) return
    this.#bytes += bytes - reply.held
    if (bytes === 0) this.#replies.delete(reply)
    else if (reply.held === 0) this.#add(reply)
    reply.held = bytes
    while (this.#bytes > this.#maxBytes) {
      let largest = reply
      for (const other of this.#replies) if (other.held > largest.held) largest = other
      if (largest.held === 0) return
      this.#drop(largest)
    }
    if (this.#replies.size === 0) this.#rest()
  }

  #add(reply: Waiting): void {
    this.#replies.add(reply)
    reply.seen = reply.taken
    reply.seenAtMs = performance.now()
    if (this.#timer !== undefined) return
    this.#timer = setInterval(() => this.#sweep(), Math.min(this.#patienceMs / 4, SWEEP_MS))
    this.#timer.unref()
  }

  #drop(reply: Waiting): void {
    reply.drop()
    this.close(reply)
  }

  #rest(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #sweep(): void {
    const now = performance.now()
    for (const reply of this.#replies) {
      const { taken, waiting } = reply
      if (taken !== reply.seen) {
        reply.seen = taken
        reply.seenAtMs = now
      } else if (waiting > 0 && now - reply.seenAtMs >= this.#patienceMs) {
        this.#drop(reply)
        continue
      }
      if (waiting !== reply.held) this.account(reply, waiting)
    }
  }
}
