/**
 * The reply to one POST, held open until it is known what it will be: JSON when the answer comes first,
 * an event stream when something else does, or when nothing does for a while.
 */
import { MAX_TIMER_MS } from '../core/clock.ts'
import { DeferredStream } from '../http/deferred-stream.ts'
import { JSON_TYPE } from '../wire/media.ts'
import { EVENT_STREAM, formatEvent, HEARTBEAT } from '../wire/sse.ts'
import type { Reply } from '../http/exchange.ts'
import type { ResponseChannel } from './channel.ts'
import type { ReplayStream } from './replay.ts'
import type { Revision } from './revisions.ts'
import type { Session } from './session.ts'

/** What decides the form of the reply. */
export interface PostReplyOptions {
  readonly revision: Revision
  readonly session: Session | undefined
  readonly acceptsJson: boolean
  readonly acceptsEvents: boolean
  /** The body was an array of messages, so the JSON form of the answer is one too. */
  readonly isBatch: boolean
  /** Requests in the body, each of which owes an answer. */
  readonly owed: number
  readonly heartbeatMs: number
  /** The client has left before the end. */
  readonly onGone: () => void
}

/** A stream as this file writes it: one that can be come back to, or one that cannot. */
interface Stream { send(message: string): void; finish(): void }

/** One reply: the way back of each request in the body. */
export class PostReply implements ResponseChannel {
  readonly #options: PostReplyOptions
  readonly #answers: string[] = []
  #owed: number
  #stream: Stream | undefined
  #replay: ReplayStream | undefined
  #reply: Reply | undefined
  #resolve: ((reply: Reply) => void) | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: PostReplyOptions) {
    this.#options = options
    this.#owed = options.owed
  }

  get sends(): boolean { return this.#options.acceptsEvents }

  /** The reply if it is known, else the promise of it. */
  reply(): Reply | Promise<Reply> {
    if (this.#reply !== undefined) return this.#reply
    const { acceptsEvents, heartbeatMs } = this.#options
    if (acceptsEvents && heartbeatMs <= MAX_TIMER_MS) {
      // A proxy may give up on a silent answer; a stream can be kept alive.
      this.#timer = setTimeout(() => this.#open(HEARTBEAT), heartbeatMs)
    }
    return new Promise((resolve) => { this.#resolve = resolve })
  }

  /** Sends what belongs to a request and is not its answer: the reply is a stream from now on. */
  send(message: string): void {
    this.#open().send(message)
  }

  /** A request that was cancelled has no answer. */
  abandon(): void {
    this.#answer(undefined, 200)
  }

  finish(message: string, status: number = 200, headers?: readonly string[]): void {
    // Most bodies hold one request, and most of those are answered before anything else was said.
    const { acceptsJson, isBatch } = this.#options
    if (this.#stream !== undefined || this.#owed > 1 || isBatch || (!acceptsJson && status === 200)) {
      return this.#answer(message, status, headers)
    }
    this.#owed = 0
    this.#settle({ status, type: JSON_TYPE, body: message, ...headers !== undefined && { headers } })
  }

  #answer(message: string | undefined, status: number, headers?: readonly string[]): void {
    this.#owed--
    if (this.#stream !== undefined) {
      if (message !== undefined) this.#stream.send(message)
      if (this.#owed === 0) this.#stream.finish()
      return
    }
    if (message !== undefined) this.#answers.push(message)
    if (this.#owed > 0) return
    const { acceptsJson, isBatch } = this.#options
    if (this.#answers.length === 0) return this.#settle({ status: 202 })
    if (!acceptsJson && status === 200) {
      const stream = this.#open()
      return stream.finish()
    }
    const body = isBatch ? `[${this.#answers.join(',')}]` : this.#answers[0]!
    this.#settle({ status, type: JSON_TYPE, body, ...headers !== undefined && { headers } })
  }

  /** Turns the reply into a stream, beginning with the answers that are there already. */
  #open(comment: string = ''): Stream {
    if (this.#stream !== undefined) return this.#stream
    const { revision, session, onGone } = this.#options
    let body
    if (session === undefined || session.isOver) {
      let isFinished = false
      const outbox = new DeferredStream(() => { if (!isFinished) onGone() })
      outbox.write(comment)
      this.#stream = {
        send: (message) => { outbox.write(formatEvent(message)) },
        finish: () => {
          isFinished = true
          outbox.end()
        },
      }
      body = outbox
    } else {
      const replay = session.openStream()
      this.#replay = replay
      // From here on the client can come back even before there is anything to tell.
      if (revision.primes) replay.send('')
      this.#stream = replay
      body = replay.source(0)
    }
    for (const answer of this.#answers) this.#stream.send(answer)
    this.#settle({ status: 200, type: EVENT_STREAM, body })
    return this.#stream
  }

  /** Ends the connection after an event that the client can come back to; where it cannot, nothing. */
  detach(retryMs: number | undefined): void {
    const { revision, session, acceptsEvents } = this.#options
    if (!revision.primes || session === undefined || !acceptsEvents) return
    this.#open()
    this.#replay?.detach(retryMs)
  }

  #settle(reply: Reply): void {
    clearTimeout(this.#timer)
    this.#reply = reply
    this.#resolve?.(reply)
  }
}
