/**
 * The reply to one POST, held open until it is known what it will be: JSON when the answer comes first,
 * an event stream when something else does, or when nothing does for a while.
 */
import { MAX_TIMER_MS } from '../../util/clock.ts'
import { DeferredStream } from '../../http/stream/deferred-stream.ts'
import { acceptance, JSON_TYPE } from '../../wire/media.ts'
import { EVENT_STREAM, formatEvent, HEARTBEAT } from '../../wire/sse.ts'
import type { Timed, Timers } from '../../util/timers.ts'
import type { Reply } from '../../http/message/exchange.ts'
import type { ResponseChannel, Peer } from '../session/session.ts'
import type { ReplayStream } from '../session/replay.ts'
import type { McpRequest } from '../request/request.ts'
import type { Id } from '../../wire/jsonrpc.ts'

/** The forms of a reply that a client reads. */
export interface Forms { readonly json: boolean; readonly events: boolean }

/** For a client that reads no stream. */
export const jsonAlone: Forms = Object.freeze({ json: true, events: false })
const eventsAlone: Forms = Object.freeze({ json: false, events: true })
const both: Forms = Object.freeze({ json: true, events: true })

/** What an `Accept` header allows; undefined: neither. */
export function formsOf(accept: string | undefined): Forms | undefined {
  const json = acceptance(accept, JSON_TYPE) > 0
  if (acceptance(accept, EVENT_STREAM) > 0) return json ? both : eventsAlone
  return json ? jsonAlone : undefined
}

/** A stream as this file writes it: one that can be come back to, or one that cannot. */
interface Stream { send(message: string): void; finish(): void }

/** One reply: the way back of each request in the body. */
export class PostReply implements ResponseChannel, Timed {
  previous: Timed | undefined
  next: Timed | undefined
  dueAtMs = 0
  readonly #peer: Peer
  readonly #forms: Forms
  readonly #timers: Timers
  readonly #heartbeatMs: number
  /** The body was an array of messages, so the JSON form of the answer is one too. */
  readonly #isBatch: boolean
  /** The requests of the body, where whoever resumes the reply elsewhere needs to know them. */
  ids: readonly Id[] | undefined
  #answers: string[] | undefined
  /** What HTTP says of the answers, as long as they agree. */
  #status: number | undefined
  #owed: number
  /** Requests whose answers take a while. */
  #waiting: McpRequest[] | undefined
  #stream: Stream | undefined
  #replay: ReplayStream | undefined
  #reply: Reply | undefined
  #resolve: ((reply: Reply) => void) | undefined
  #hasLeft = false

  /** `batch` is how many requests a body that was an array held, each of which owes an answer. */
  constructor(peer: Peer, forms: Forms, timers: Timers, heartbeatMs: number, batch?: number) {
    this.#peer = peer
    this.#forms = forms
    this.#timers = timers
    this.#heartbeatMs = heartbeatMs
    this.#isBatch = batch !== undefined
    this.#owed = batch ?? 1
  }

  get sends(): boolean { return this.#forms.events }
  get isHeard(): boolean { return this.#replay === undefined ? !this.#hasLeft : this.#replay.isHeard }

  /** The reply if it is known, else the promise of it. */
  reply(): Reply | Promise<Reply> {
    if (this.#reply !== undefined) return this.#reply
    if (this.#forms.events && this.#heartbeatMs <= MAX_TIMER_MS) this.#timers.of(this.#heartbeatMs).add(this)
    return new Promise((resolve) => { this.#resolve = resolve })
  }

  /** A proxy may give up on a silent answer; a stream can be kept alive. */
  timeIsUp(): void {
    this.#open(HEARTBEAT)
  }

  /** A request that is to be told when the client leaves before its answer. */
  waitFor(request: McpRequest): void {
    if (this.#waiting === undefined) this.#waiting = [request]
    else this.#waiting.push(request)
  }

  /** The client has left before the end, which in some revisions means that it wants no answer. */
  leave(): void {
    this.#hasLeft = true
    if (this.#peer.revision.disconnect !== 'cancel') return
    for (const request of this.#waiting ?? []) request.leave()
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
    if (this.#stream !== undefined || this.#isBatch) return this.#answer(message, status, headers)
    const isEvent = !this.#forms.json && status === 200
    if (isEvent && this.#canReplay && this.#peer.revision.primes) {
      return this.#answer(message, status, headers)
    }
    this.#owed = 0
    // A stream of nothing but the answer leaves whole, and whoever has an id of it has all of it.
    if (isEvent) return this.#settle({ status, type: EVENT_STREAM, body: formatEvent(message) })
    this.#settle({ status, type: JSON_TYPE, body: message, ...headers !== undefined && { headers } })
  }

  #answer(message: string | undefined, status: number, headers?: readonly string[]): void {
    this.#owed--
    if (this.#stream !== undefined) {
      if (message !== undefined) this.#stream.send(message)
      if (this.#owed === 0) this.#stream.finish()
      return
    }
    if (message !== undefined) {
      (this.#answers ??= []).push(message)
      this.#status = this.#status === undefined || this.#status === status ? status : 200
    }
    if (this.#owed > 0) return
    if (this.#answers === undefined) return this.#settle({ status: 202 })
    if (!this.#forms.json && this.#status === 200) {
      const stream = this.#open()
      return stream.finish()
    }
    const body = this.#isBatch ? `[${this.#answers.join(',')}]` : this.#answers[0]!
    const isRefused = this.#status !== 200 && headers !== undefined
    this.#settle({ status: this.#status ?? 200, type: JSON_TYPE, body, ...isRefused && { headers } })
  }

  /** Turns the reply into a stream, beginning with the answers that are there already. */
  #open(comment: string = ''): Stream {
    if (this.#stream !== undefined) return this.#stream
    const { revision, session } = this.#peer
    let body
    if (!this.#canReplay || session === undefined) {
      let isFinished = false
      const outbox = new DeferredStream(() => { if (!isFinished) this.leave() })
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
      const replay = session.openStream(this.ids)
      this.#replay = replay
      // From here on the client can come back even before there is anything to tell.
      if (revision.primes) replay.send('')
      this.#stream = replay
      body = replay.source(0)
    }
    for (const answer of this.#answers ?? []) this.#stream.send(answer)
    this.#settle({ status: 200, type: EVENT_STREAM, body })
    return this.#stream
  }

  /** Ends the connection after an event that the client can come back to; where it cannot, nothing. */
  detach(retryMs: number | undefined): void {
    const { revision, session } = this.#peer
    if (!revision.primes || session === undefined || !this.#forms.events) return
    this.#open()
    this.#replay?.detach(retryMs)
  }

  /** Whether there is a session that a stream can be kept in. */
  get #canReplay(): boolean {
    const { session } = this.#peer
    return session !== undefined && !session.isOver
  }

  #settle(reply: Reply): void {
    if (this.dueAtMs > 0) this.#timers.of(this.#heartbeatMs).remove(this)
    this.#reply = reply
    this.#resolve?.(reply)
  }
}
