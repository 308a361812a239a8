/**
 * The reply to one POST: JSON where the answer comes first, an event stream where something else does, or
 * where nothing does for a while.
 */
import { MAX_TIMER_MS } from '../../../kernel/util/clock.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { DeferredStream } from '../../../floors/kept-streams/deferred-stream.ts'
import { formatError } from '../../../floors/jsonrpc/jsonrpc.ts'
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import { EVENT_STREAM, formatEvent, HEARTBEAT } from '../../../kernel/wire/sse.ts'
import { dispatch } from '../methods/methods.ts'
import type { Timed } from '../../../kernel/util/timers.ts'
import type { Dismissal, Exchange, Reply, Source } from '../../../kernel/http/message/exchange.ts'
import type { McpServer } from '../methods/methods.ts'
import type { McpRequest } from '../request/request.ts'
import type { RequestMessage } from '../session/messages.ts'
import type { AnswerHead, Peer, ResponseChannel, Session } from '../session/session.ts'

/** What a client reads. */
export interface Forms { readonly json: boolean; readonly events: boolean }

/** For a client that reads no stream. */
export const jsonAlone: Forms = Object.freeze({ json: true, events: false })

const none: readonly never[] = []

/** Runs a request. `cancels`: it ends when the client leaves. Left out: as its revision has it. */
export function replyToMessage(
  mcp: McpServer, peer: Peer, forms: Forms, message: RequestMessage, exchange: Exchange, cancels?: boolean,
): Reply | Promise<Reply> {
  const reply = new PostReply(mcp, peer, forms, exchange, [message])
  const request = dispatch(mcp, message, peer, exchange.origin, reply)
  return reply.known(request === undefined || request.isFinished ? none : [request], cancels)
}

/** The events of a reply: a client can resume those of a session, others not. */
interface Events {
  /** Left out: as long as the request. */
  readonly isConnected?: boolean
  send(message: string): void
  finish(): void
  detach?(retryMs: number | undefined): void
}

/** The channel of one request; that of a batch sends on it what its requests send. */
export class PostReply implements ResponseChannel, Timed {
  previous: Timed | undefined
  next: Timed | undefined
  dueAtMs = 0
  readonly #mcp: McpServer
  readonly #peer: Peer
  readonly #forms: Forms
  readonly #exchange: Exchange
  readonly #messages: readonly RequestMessage[]
  readonly #onOpen: (() => void) | undefined
  #waiting: readonly McpRequest[] = none
  #sends: boolean | undefined
  #events: Events | undefined
  #isEnded = false
  #hasLeft = false
  #reply: Reply | undefined
  #resolve: ((reply: Reply) => void) | undefined

  /** `onOpen` is called when it becomes a stream, before anything is sent. */
  constructor(
    mcp: McpServer, peer: Peer, forms: Forms, exchange: Exchange, messages: readonly RequestMessage[],
    onOpen?: () => void,
  ) {
    this.#mcp = mcp
    this.#peer = peer
    this.#forms = forms
    this.#exchange = exchange
    this.#messages = messages
    this.#onOpen = onOpen
  }

  /** Where there is no room for a stream, a client that reads JSON gets the answer alone, if there is one. */
  get sends(): boolean {
    const { json, events } = this.#forms
    return this.#sends ??= events && (
      !json || this.#exchange.streamObjection === undefined || this.#messages.some(this.#wantsStream, this)
    )
  }

  get isStream(): boolean { return this.#events !== undefined }
  get isConnected(): boolean { return this.#events?.isConnected ?? !this.#hasLeft }

  /** The reply: at once where it is known what it is. `waiting`: requests that have no answer yet. */
  known(waiting: readonly McpRequest[], cancels?: boolean): Reply | Promise<Reply> {
    this.#waiting = waiting
    return this.#reply ?? this.#wait(cancels)
  }

  #wait(cancels?: boolean): Promise<Reply> {
    const { timers, limits: { heartbeatMs } } = this.#mcp.service
    if (this.#forms.events && heartbeatMs <= MAX_TIMER_MS) timers.of(heartbeatMs).add(this)
    this.#exchange.origin.onDisconnect(this.#leave.bind(this, cancels))
    return new Promise((resolve) => { this.#resolve = resolve })
  }

  /** A proxy may give up on a silent answer; a stream can be kept alive. */
  timeIsUp(): void {
    if (this.sends) this.#open(HEARTBEAT)
  }

  /** Sends a message that is not the last: the reply is a stream from now on. */
  send(message: string): void {
    this.#open().send(message)
  }

  finish(message: string, status: number = 200, more?: AnswerHead): void {
    if (this.#events === undefined && (this.#forms.json || status !== 200)) {
      return this.#settle({ status, type: JSON_TYPE, body: message, ...more })
    }
    const { revision: { primes }, session } = this.#peer
    if (this.#events === undefined && !(primes && session?.isOver === false)) {
      // A stream of nothing but the answer leaves whole, so there is nothing to resume.
      return this.#settle({ status, type: EVENT_STREAM, body: formatEvent(message) })
    }
    this.send(message)
    this.end()
  }

  abandon(): void {
    if (this.#events === undefined) this.#settle({ status: 202 })
    else this.end()
  }

  /** Ends a stream. */
  end(): void {
    this.#isEnded = true
    this.#open().finish()
  }

  /** Ends the connection after an event from which the client can resume; nothing where it cannot. */
  detach(retryMs: number | undefined): void {
    const { revision: { primes }, session } = this.#peer
    if (primes && session !== undefined && this.sends) this.#open().detach?.(retryMs)
  }

  #leave(cancels = this.#peer.revision.disconnect === 'cancel'): void {
    this.#hasLeft = true
    if (cancels) for (const request of this.#waiting) request.leave()
  }

  #open(comment = ''): Events {
    if (this.#events !== undefined) return this.#events
    const { session } = this.#peer
    const body = session?.isOver === false ? this.#keep(session) : this.#stream(comment)
    this.#settle({ status: 200, type: EVENT_STREAM, body })
    this.#onOpen?.()
    return this.#events!
  }

  /** A stream that its client can resume. */
  #keep(session: Session): Source {
    // Only another process needs to know the ids.
    const isKnown = this.#mcp.migration !== undefined
    const replay = session.openStream(isKnown ? this.#messages.map(({ id }) => id) : undefined)
    replay.needed = this.#exchange.origin.needed
    // From here on the client can come back even before there is anything to send.
    if (this.#peer.revision.primes) replay.send('')
    this.#events = replay
    return replay.source(0)
  }

  #stream(comment: string): Source {
    const onOver = (): void => { if (!this.#isEnded) this.#leave() }
    const outbox = new DeferredStream(onOver, this.#dismissal.bind(this))
    outbox.write(comment)
    this.#events = {
      send: (message) => { outbox.write(formatEvent(message)) },
      finish: () => outbox.end(),
    }
    return outbox
  }

  /** Answers what is owed to a client that may read no more. */
  #dismissal({ kind, message }: Dismissal): string {
    const fault = new Fault(kind, message)
    // An answer that was not sent yet is dropped; of a batch it is not known which.
    const isLone = this.#messages.length === 1
    const owed = this.#waiting.filter(({ isFinished }) => isLone || !isFinished)
    return owed.map((request) => formatEvent(formatError(request.id, request.errorOf(fault)))).join('')
  }

  #wantsStream({ method }: RequestMessage): boolean {
    return this.#mcp.methods.get(this.#peer.revision)?.get(method)?.isStream === true
  }

  #settle(reply: Reply): void {
    if (this.dueAtMs > 0) this.#mcp.service.timers.of(this.#mcp.service.limits.heartbeatMs).remove(this)
    this.#reply = reply
    this.#resolve?.(reply)
  }
}
