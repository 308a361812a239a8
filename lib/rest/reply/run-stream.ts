/**
 * One run on its way to its reply, whole or as server-sent events. Runs differ only in what runs and how its
 * result is written.
 */
import { LiveCall } from '../../define/live-call.ts'
import { PlainChannel } from '../../run/answer-message.ts'
import { andThen, isPromised } from '../../util/thenable.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { KeptEvents } from './kept-events.ts'
import type { Origin } from '../../define/call.ts'
import type { Content } from '../../define/content.ts'
import type { Reply, Sink, Source } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { KeyHold } from '../../state/idempotency.ts'
import type { MaybePromise } from '../../util/thenable.ts'

/** Runs once, by `open` or `start`. Its fields are declared as those of its channel are. */
export abstract class RunStream<R> extends PlainChannel implements Source {
  declare readonly call: LiveCall
  /** Of a request with a key: the run goes on when the client leaves, and its end settles the key. */
  declare protected readonly hold: KeyHold | undefined
  /** Where events go. Undefined: the reply is whole. */
  declare protected sink: Sink | undefined

  constructor(
    service: Service, origin: Origin, hold?: KeyHold, sessionId?: string, message?: readonly Content[],
    metadata?: Readonly<Record<string, unknown>>,
  ) {
    super(service, origin, 'http', sessionId, message, metadata)
    this.hold = hold
    this.sink = undefined
    this.call = new LiveCall(origin, this, this)
  }

  /** Throws, or rejects with, a `Fault`. */
  protected abstract execute(): MaybePromise<R>

  /** Sends what is left of a result, and the end. */
  protected abstract finish(result: R): MaybePromise<void>

  /** Sends a failure, and the end. */
  protected abstract fail(error: unknown): void

  /** The reply as events, from a run that begins now. */
  open(sink: Sink): (() => void) | undefined {
    // There was no room for the stream, or the client has left.
    if (sink.closed) {
      void this.hold?.release()
      return undefined
    }
    if (this.hold === undefined) {
      this.start(sink)
      return this.call.disconnect.bind(this.call, undefined)
    }
    this.start(this.kept(sink, this.hold))
    return undefined
  }

  /** Where the events of a run with a key go. */
  protected kept(sink: Sink, hold: KeyHold): Sink {
    return new KeptEvents(sink, hold, this.call)
  }

  protected start(sink: Sink): void {
    this.sink = sink
    try {
      const result = this.execute()
      const finished = isPromised(result) ? result.then(this.finish.bind(this)) : this.finish(result)
      if (isPromised(finished)) finished.catch(this.#failed.bind(this))
    } catch (error) {
      this.#failed(error)
    }
  }

  /** A failure is not kept, so it is told when the key is free. */
  #failed(error: unknown): void {
    void this.hold?.release()
    this.fail(error)
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
