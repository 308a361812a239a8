/**
 * Streams that end when their reader's credential does: whoever was let in with a token for an hour does
 * not read for a day. A stream has one timer, and only where its principal's time is limited.
 */
import { MAX_TIMER_MS } from '../../util/clock.ts'
import { isSource } from '../message/reply.ts'
import type { Reply, Sink, Source } from '../message/exchange.ts'

/** The same reply, whose stream ends at a time, in milliseconds since the epoch. Undefined is never. */
export function endingAt(reply: Reply, expiresAt: number | undefined): Reply {
  const { body } = reply
  if (expiresAt === undefined || expiresAt === Infinity || !isSource(body)) return reply
  return { ...reply, body: new ExpiringSource(body, expiresAt) }
}

class ExpiringSource implements Source {
  readonly #source: Source
  readonly #expiresAt: number
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor(source: Source, expiresAt: number) {
    this.#source = source
    this.#expiresAt = expiresAt
  }

  open(sink: Sink): () => void {
    const onOver = this.#source.open(sink)
    if (!sink.closed) this.#watch(sink)
    return () => {
      this.#isOver = true
      clearTimeout(this.#timer)
      onOver?.()
    }
  }

  #watch(sink: Sink): void {
    if (this.#isOver) return
    const leftMs = this.#expiresAt - Date.now()
    if (leftMs <= 0) return sink.end()
    this.#timer = setTimeout(() => this.#watch(sink), Math.min(leftMs, MAX_TIMER_MS)).unref()
  }
}
