/**
 * One run on its way to its reply, whole or as server-sent events. Runs differ only in what runs and how its
 * result is written.
 */
import { LiveCall } from '../../kernel/define/live-call.ts'
import { PlainChannel } from '../conversations/answer-message.ts'
import { andThen, isPromised } from '../../kernel/util/thenable.ts'
import { JSON_TYPE } from '../../kernel/wire/media.ts'
import { EVENT_STREAM } from '../../kernel/wire/sse.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { CallFacts, Origin } from '../../kernel/define/call.ts'
import type { Reply, Sink, Source } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { KeyHold } from '../idempotency/idempotency.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'

/** Runs once, by `open` or `start`. Its fields are declared as those of its channel are. */
export abstract class RunStream<R> extends PlainChannel implements Source {
  declare readonly call: LiveCall
  /** Of a request with a key: the run goes on when the client leaves, and its end settles the key. */
  declare protected readonly hold: KeyHold | undefined
  /** Where events go. Undefined: the reply is whole. */
  declare protected sink: Sink | undefined

  /** `runnable`, `input`: what is run, and what the call shows of the request. Left out: no agent is. */
  constructor(
    service: Service, origin: Origin, hold?: KeyHold, runnable?: Agent | Group, input?: CallFacts,
  ) {
    super(service, origin, 'http')
    this.hold = hold
    this.sink = undefined
    // Which agent of a group went on after a call of a client's tool could not be known.
    const isWithout = runnable?.kind === 'group' && input?.clientTools !== undefined
    const facts: CallFacts | undefined = isWithout ? { ...input, clientTools: [], toolChoice: 'auto' } : input
    this.call = new LiveCall(origin, facts ?? this, this)
  }

  /** Throws, or rejects with, a `Fault`. */
  protected abstract execute(): MaybePromise<R>

  /** Sends what is left of a result, and the end. */
  protected abstract finish(result: R): MaybePromise<void>

  /** Sends a failure, and the end. */
  protected abstract fail(error: unknown): void

  /** The reply as events. Throws `Fault('busy')`. */
  events(): Reply {
    this.service.workload.check(this.origin)
    return { status: 200, type: EVENT_STREAM, body: this }
  }

  /** Begins the run, whose events go to `sink`. */
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

  /** The reply as events or at once. Throws, or rejects with, a `Fault`. */
  replyAs(isStream: boolean): Reply | Promise<Reply> {
    return isStream ? this.events() : this.reply()
  }

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

/** Events on their way to a client that are kept for an `Idempotency-Key`, up to their end. */
class KeptEvents implements Sink {
  readonly #sink: Sink
  readonly #hold: KeyHold
  readonly #call: LiveCall
  /** Undefined: they are more than can be kept. */
  #events: string | undefined = ''
  #isEnded = false

  /** Until its end the events count as what `call` holds. */
  constructor(sink: Sink, hold: KeyHold, call: LiveCall) {
    this.#sink = sink
    this.#hold = hold
    this.#call = call
  }

  get closed(): boolean { return this.#isEnded || this.#sink.closed }

  write(text: string): boolean {
    if (this.#isEnded) return false
    this.#add(text)
    return this.#sink.write(text)
  }

  ready(): Promise<void> { return this.#sink.ready() }

  /** A client that asks again after the end gets it, so the key is settled first. */
  end(text = ''): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#add(text)
    const settled = this.#events === undefined ? this.#hold.lose() : this.#hold.keep(this.#events)
    this.#events = undefined
    void andThen(settled, () => this.#sink.end(text))
  }

  #add(text: string): void {
    if (this.#events === undefined) return
    try {
      this.#call.hold(text.length)
      this.#events += text
      if (this.#events.length > this.#call.host.limits.maxResultBytes) this.#events = undefined
    } catch {
      // There is no room for it. The client that is here gets it all the same.
      this.#events = undefined
    }
  }
}
