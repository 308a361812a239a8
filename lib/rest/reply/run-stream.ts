/**
 * One run on its way to its reply, whole or as server-sent events. Queries, tools and chat completions differ
 * only in what runs and how its result is written.
 */
import { LiveCall } from '../../define/live-call.ts'
import { PlainChannel } from '../../run/answer-message.ts'
import { andThen, isPromised } from '../../util/thenable.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { formatEvent } from '../../wire/sse.ts'
import { faultText } from './reply.ts'
import type { Origin } from '../../define/call.ts'
import type { Content } from '../../define/content.ts'
import type { Reply, Sink, Source } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { KeyHold } from '../../state/idempotency.ts'
import type { MaybePromise } from '../../util/thenable.ts'

/** Runs once, by `open` or `start`. */
export abstract class RunStream<R> extends PlainChannel implements Source {
  protected readonly service: Service
  readonly call: LiveCall
  /** Of a request with a key: the run goes on when the client leaves, and its end settles the key. */
  protected readonly hold: KeyHold | undefined
  /** Where events go. Undefined: the reply is whole. */
  protected sink: Sink | undefined
  #count = 0

  constructor(
    service: Service, origin: Origin, hold?: KeyHold, sessionId?: string, message?: readonly Content[],
    metadata?: Readonly<Record<string, unknown>>,
  ) {
    super(service, origin, 'http', sessionId, message, metadata)
    this.service = service
    this.hold = hold
    this.call = new LiveCall(origin, this, this)
  }

  /** Throws, or rejects with, a `Fault`. */
  protected abstract execute(): MaybePromise<R>

  /** Sends what is left of a result, and the end. */
  protected abstract finish(result: R): MaybePromise<void>

  /** The reply as events, from a run that begins now. */
  open(sink: Sink): (() => void) | undefined {
    // There was no room for the stream, or the client has left.
    if (sink.closed) {
      void this.hold?.release()
      return undefined
    }
    this.start(sink)
    return this.hold === undefined ? this.call.disconnect.bind(this.call, undefined) : undefined
  }

  protected start(sink: Sink): void {
    this.sink = sink
    try {
      const result = this.execute()
      const finished = isPromised(result) ? result.then(this.finish.bind(this)) : this.finish(result)
      if (isPromised(finished)) finished.catch(this.fail.bind(this))
    } catch (error) {
      this.fail(error)
    }
  }

  protected done(reply: string): void {
    this.#end('done', reply, this.hold?.keep(reply))
  }

  protected fail(error: unknown): void {
    this.#end('error', faultText(this.service, error, this.call.requestId).text, this.hold?.release())
  }

  protected send(event: string, data: string): boolean {
    return this.sink!.write(formatEvent(data, event, String(++this.#count)))
  }

  /** A client that asks again after the end gets that end, so the key is settled first. */
  #end(event: string, data: string, settled: MaybePromise<void>): void {
    const sendLast = (): void => {
      this.send(event, data)
      this.sink!.end()
    }
    if (isPromised(settled)) void settled.then(sendLast)
    else sendLast()
  }
}

/** The same, which may be a whole reply: runs once, by `reply`, `open` or `start`. */
export abstract class RunReply<R> extends RunStream<R> {
  /** The whole reply as JSON text. Throws, or rejects with, a `Fault`. */
  protected abstract encode(result: R): MaybePromise<string>

  /** The whole reply at once. Throws, or rejects with, a `Fault`. */
  reply(): Reply | Promise<Reply> {
    const result = this.execute()
    if (!isPromised(result)) return andThen(this.encode(result), replyOf)
    if (this.hold === undefined) this.call.cancelOnDisconnect()
    return result.then(this.encode.bind(this)).then(replyOf)
  }
}

function replyOf(body: string): Reply {
  return { status: 200, type: JSON_TYPE, body }
}
