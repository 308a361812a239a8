/**
 * The reply to one POST: JSON where the answers come first, an event stream where something else does, or
 * where nothing does for a while.
 */
import { MAX_TIMER_MS } from '../../../kernel/util/clock.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { DeferredStream } from '../../../floors/kept-streams/deferred-stream.ts'
import { formatError } from '../../../floors/jsonrpc/jsonrpc.ts'
import { acceptance } from '../../../floors/reply/acceptance.ts'
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import { EVENT_STREAM, formatEvent, HEARTBEAT } from '../../../kernel/wire/sse.ts'
import { dispatch } from '../methods/methods.ts'
import { withinBytes } from './batch.ts'
import type { Timed } from '../../../kernel/util/timers.ts'
import type { Origin } from '../../../kernel/define/call.ts'
import type { Dismissal, Reply } from '../../../kernel/http/message/exchange.ts'
import type { McpServer } from '../methods/methods.ts'
import type { McpRequest } from '../request/request.ts'
import type { ReplayStream } from '../session/replay.ts'
import type { RequestMessage } from '../session/messages.ts'
import type { AnswerHead, Peer, ResponseChannel, Session } from '../session/session.ts'

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

/** A stream that a client can resume, or one that it cannot. */
interface Stream { send(message: string): void; finish(): void }

export class PostReply implements ResponseChannel, Timed {
  previous: Timed | undefined
  next: Timed | undefined
  dueAtMs = 0
  readonly #mcp: McpServer
  readonly #peer: Peer
  readonly #forms: Forms
  /** A list where the body was one: then the JSON form of the answer is a list too. */
  readonly #requests: RequestMessage | readonly RequestMessage[]
  readonly #isBatch: boolean
  #answers: string[] | undefined
  /** The HTTP status of the answers, as long as they agree. */
  #status: number | undefined
  #owed: number
  #waiting: McpRequest[] | undefined
  #stream: Stream | undefined
  #replay: ReplayStream | undefined
  #reply: Reply | undefined
  #resolve: ((reply: Reply) => void) | undefined
  #hasLeft = false
  #origin: Origin | undefined

  constructor(
    mcp: McpServer, peer: Peer, forms: Forms, requests: RequestMessage | readonly RequestMessage[],
  ) {
    this.#mcp = mcp
    this.#peer = peer
    this.#forms = forms
    this.#requests = requests
    this.#isBatch = !('kind' in requests)
    this.#owed = 'kind' in requests ? 1 : requests.length
  }

  get sends(): boolean { return this.#forms.events }
  get isConnected(): boolean { return this.#replay === undefined ? !this.#hasLeft : this.#replay.isConnected }

  /**
   * Runs the requests. The reply is there at once where all of them are answered at once. `cancels`: they end
   * when the client leaves.
   */
  run(origin: Origin, cancels?: boolean): Reply | Promise<Reply> {
    const requests = this.#requests
    this.#origin = origin
    if ('kind' in requests) {
      this.#dispatch(requests, origin, this)
    } else {
      const fit = withinBytes(this.#mcp.service.limits.maxResultBytes)
      for (const message of requests) {
        this.#dispatch(message, origin, this.#part((text) => fit(message, text)))
      }
    }
    return this.#reply ?? this.#wait(origin, cancels)
  }

  /** The channel of one request of a batch; its answer leaves with those of the others. */
  #part(fit: (text: string) => string): ResponseChannel {
    const isConnected = (): boolean => this.isConnected
    return {
      sends: this.sends,
      get isConnected() { return isConnected() },
      send: (message) => this.send(message),
      finish: (message, status, more) => this.finish(fit(message), status, more),
      abandon: () => this.abandon(),
      detach: (retryMs) => this.detach(retryMs),
    }
  }

  #dispatch(message: RequestMessage, origin: Origin, channel: ResponseChannel): void {
    const request = dispatch(this.#mcp, message, this.#peer, origin, channel)
    if (request === undefined || request.isFinished) return
    if (this.#waiting === undefined) this.#waiting = [request]
    else this.#waiting.push(request)
  }

  #wait(origin: Origin, cancels?: boolean): Promise<Reply> {
    const { timers, limits: { heartbeatMs } } = this.#mcp.service
    if (this.#forms.events && heartbeatMs <= MAX_TIMER_MS) timers.of(heartbeatMs).add(this)
    origin.onDisconnect(this.#leave.bind(this, cancels))
    return new Promise((resolve) => { this.#resolve = resolve })
  }

  /** A proxy may give up on a silent answer; a stream can be kept alive. */
  timeIsUp(): void {
    this.#open(HEARTBEAT)
  }

  #leave(cancels: boolean = this.#peer.revision.disconnect === 'cancel'): void {
    this.#hasLeft = true
    if (cancels) for (const request of this.#waiting ?? []) request.leave()
  }

  /** Sends a message that is not an answer: the reply is a stream from now on. */
  send(message: string): void {
    this.#open().send(message)
  }

  abandon(): void {
    this.#answer(undefined, 200)
  }

  finish(message: string, status: number = 200, more?: AnswerHead): void {
    // Most bodies hold one request, and most of those are answered before anything else is sent.
    if (this.#stream !== undefined || this.#isBatch) return this.#answer(message, status, more)
    const isEvent = !this.#forms.json && status === 200
    if (isEvent && this.#keeper !== undefined && this.#peer.revision.primes) {
      return this.#answer(message, status, more)
    }
    this.#owed = 0
    // A stream of nothing but the answer leaves whole, so there is nothing to resume.
    if (isEvent) return this.#settle({ status, type: EVENT_STREAM, body: formatEvent(message) })
    this.#settle({ status, type: JSON_TYPE, body: message, ...more })
  }

  #answer(message: string | undefined, status: number, more?: AnswerHead): void {
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
    if (!this.#forms.json && this.#status === 200) return this.#open().finish()
    const body = this.#isBatch ? `[${this.#answers.join(',')}]` : this.#answers[0]!
    const isRefused = this.#status !== 200
    this.#settle({ status: this.#status ?? 200, type: JSON_TYPE, body, ...isRefused && more })
  }

  /** Turns the reply into a stream that begins with the answers so far. */
  #open(comment: string = ''): Stream {
    if (this.#stream !== undefined) return this.#stream
    const { revision } = this.#peer
    const session = this.#keeper
    let body
    if (session === undefined) {
      const onOver = (): void => { if (this.#owed > 0) this.#leave() }
      const outbox = new DeferredStream(onOver, this.#dismissal.bind(this))
      outbox.write(comment)
      this.#stream = {
        send: (message) => { outbox.write(formatEvent(message)) },
        finish: () => outbox.end(),
      }
      body = outbox
    } else {
      // Only another process needs to know the ids.
      const isKnown = this.#mcp.migration !== undefined
      const replay = session.openStream(isKnown ? [this.#requests].flat().map(({ id }) => id) : undefined)
      this.#replay = replay
      replay.needed = this.#origin?.needed
      // From here on the client can come back even before there is anything to send.
      if (revision.primes) replay.send('')
      this.#stream = replay
      body = replay.source(0)
    }
    for (const answer of this.#answers ?? []) this.#stream.send(answer)
    this.#settle({ status: 200, type: EVENT_STREAM, body })
    return this.#stream
  }

  /** Answers what is owed to a client that may read no more. */
  #dismissal({ kind, message }: Dismissal): string {
    const fault = new Fault(kind, message)
    // An answer that was not sent yet is dropped; of a batch it is not known which.
    const owed = this.#waiting?.filter(({ isFinished }) => !this.#isBatch || !isFinished) ?? []
    return owed.map((request) => formatEvent(formatError(request.id, request.errorOf(fault)))).join('')
  }

  /** Ends the connection after an event from which the client can resume; nothing where it cannot. */
  detach(retryMs: number | undefined): void {
    const { revision, session } = this.#peer
    if (!revision.primes || session === undefined || !this.#forms.events) return
    this.#open()
    this.#replay?.detach(retryMs)
  }

  /** The session, where it can keep a stream. */
  get #keeper(): Session | undefined {
    const { session } = this.#peer
    return session?.isOver === false ? session : undefined
  }

  #settle(reply: Reply): void {
    if (this.dueAtMs > 0) this.#mcp.service.timers.of(this.#mcp.service.limits.heartbeatMs).remove(this)
    this.#reply = reply
    this.#resolve?.(reply)
  }
}
