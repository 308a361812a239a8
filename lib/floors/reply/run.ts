/**
 * One run on its way to its reply, whole or as server-sent events. What is said on the way is pushed as
 * events; a face makes the text of a protocol of them.
 */
import { LiveCall } from '../../kernel/define/live-call.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { andThen, caught, isPromised } from '../../kernel/util/thenable.ts'
import { JSON_TYPE } from '../../kernel/wire/media.ts'
import { EVENT_STREAM } from '../../kernel/wire/sse.ts'
import { plainChannel } from '../conversations/answer-message.ts'
import { publicFailure } from './reply.ts'
import type { ArtifactInput } from '../../kernel/define/artifact.ts'
import type { CallChannel, CallFacts, Origin } from '../../kernel/define/call.ts'
import type { CallEvent } from '../../kernel/define/event.ts'
import type { Severity } from '../../kernel/define/log.ts'
import type { Dismissal, Reply, Sink, Source } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { Emit, RunEvent } from '../answers/run-event.ts'
import type { KeyHold } from '../idempotency/idempotency.ts'
import type { PublicFailure } from './reply.ts'

/** Characters of reasoning that a whole reply has. */
export const MAX_REASONING = 262_144

/** Runs, and says so on the way; without `emit` its reply is whole. Throws, or rejects with, a `Fault`. */
export type Execute<R> = (call: LiveCall, emit: Emit | undefined) => MaybePromise<R>

/** How a protocol writes one run, whose result is `R`. What it returns is the text that is sent; '': none. */
export interface Face<R> {
  /** What a stream begins with. */
  begin?(call: LiveCall): string
  /** Called behind that. Throws a `Fault` where the run cannot begin. */
  check?(): unknown
  event(event: RunEvent, call: LiveCall): MaybePromise<string>
  /** True: what the last event has given is the end, and no failure follows. */
  readonly isOver?: boolean
  /** The end of a stream. Throws, or rejects with, a `Fault`. */
  end(result: R, call: LiveCall): MaybePromise<string>
  /** The end of a stream whose run has failed. */
  failed(failure: PublicFailure, call: LiveCall): MaybePromise<string>
  /** The end of a stream that is cut off. Left out: that of one that has failed. */
  dismissed?(failure: PublicFailure, call: LiveCall): string
  /** What is said while nobody reads. */
  unread?(event: RunEvent, call: LiveCall): void
  /** The whole reply as JSON. Throws, or rejects with, a `Fault`. Left out: all are streams. */
  whole?(result: R, call: LiveCall): MaybePromise<string>
  /** Artifacts are sent as they come. Left out: they go into the answer. */
  readonly takesArtifacts?: true
  /** A key keeps the whole reply of a stream too, and not its events. */
  readonly keepsWhole?: true
}

/** Runs once, and writes it: by `reply` or by `open`. With a key the run goes on when its client leaves. */
export class RunWriter<R> implements Source, CallChannel {
  readonly call: LiveCall
  readonly #service: Service
  readonly #face: Face<R>
  readonly #execute: Execute<R>
  readonly #hold: KeyHold | undefined
  /** Undefined: the reply is whole. */
  #sink: Sink | undefined
  /** The events so far, for the key. Undefined: there are too many, or they are not kept. */
  #kept: string | undefined
  #isEnded = false

  constructor(
    service: Service, origin: Origin, facts: CallFacts, face: Face<R>, execute: Execute<R>, hold?: KeyHold,
  ) {
    this.#service = service
    this.#face = face
    this.#execute = execute
    this.#hold = hold
    this.#kept = hold === undefined || face.keepsWhole === true ? undefined : ''
    this.call = new LiveCall(origin, facts, this)
  }

  /** The reply as events or at once. Throws, or rejects with, a `Fault`. */
  replyAs(isStream: boolean): MaybePromise<Reply> {
    return isStream ? this.events() : this.reply()
  }

  reply(): MaybePromise<Reply> {
    const { call } = this
    const result = this.execute()
    if (!isPromised(result)) return andThen(this.#face.whole!(result, call), replyOf)
    this.waitWithClient()
    return result.then((later) => this.#face.whole!(later, call)).then(replyOf)
  }

  /** Runs, without writing anything. */
  execute(emit?: Emit): MaybePromise<R> { return this.#execute(this.call, emit) }

  /** From now on the client is waiting: with its leave the call ends, but for a key. */
  waitWithClient(): void { if (this.#hold === undefined) this.call.cancelOnDisconnect() }

  /** The reply as events. Throws `Fault('busy')`. */
  events(): Reply {
    this.#service.workload.check(this.call.origin)
    return { status: 200, type: EVENT_STREAM, body: this }
  }

  /** Begins the run, whose events go to `sink`. */
  open(sink: Sink): (() => void) | undefined {
    // There was no room for the stream, or the client has left.
    if (sink.closed) {
      void this.#hold?.release()
      return undefined
    }
    this.#sink = sink
    void caught(() => {
      const first = this.#face.begin?.(this.call)
      if (first !== undefined) this.#write(first)
      this.#face.check?.()
      return andThen(this.execute(this.emit.bind(this)), this.#finish.bind(this))
    }, this.#fail.bind(this))
    return this.#hold === undefined ? this.call.disconnect.bind(this.call, undefined) : undefined
  }

  dismissal({ kind, message }: Dismissal): string {
    const failure = this.#failure(new Fault(kind, message))
    const last = this.#face.dismissed?.(failure, this.call) ?? this.#face.failed(failure, this.call)
    return isPromised(last) ? '' : last
  }

  emit(event: RunEvent): void | Promise<void> {
    if (this.#sink === undefined) return this.#face.unread?.(event, this.call)
    if (this.#isEnded) return undefined
    const text = this.#face.event(event, this.call)
    return isPromised(text) ? text.then((later) => this.#pass(later, event)) : this.#pass(text, event)
  }

  event(event: CallEvent, agent: string | undefined): void {
    void this.emit(agent === undefined ? event : { ...event, agent })
  }

  artifact(artifact: ArtifactInput): void {
    if (this.#face.takesArtifacts === true) void this.emit({ type: 'artifact', artifact })
    else this.call.keepArtifact(artifact)
  }

  /** Into the server's own log. */
  log(level: Severity, data: unknown, logger: string | undefined): void {
    plainChannel(this.#service, this.call).log(level, data, logger)
  }

  #pass(text: string, { type }: RunEvent): void | Promise<void> {
    if (this.#face.isOver === true) return this.#end(text)
    if (text !== '' && !this.#write(text) && type === 'piece') return this.#sink!.ready()
  }

  #write(text: string): boolean {
    if (this.#isEnded) return false
    this.#keep(text)
    return this.#sink!.write(text)
  }

  #finish(result: R): MaybePromise<void> {
    const [face, { call }] = [this.#face, this]
    return andThen(face.end(result, call), (last) => {
      if (this.#hold === undefined || face.keepsWhole !== true) return this.#end(last)
      return andThen(face.whole!(result, call), (reply) => this.#end(last, reply))
    })
  }

  /**
   * A client that asks again after the end gets what is kept, so the key is settled first. `reply`: what is
   * kept instead of the events.
   */
  #end(last: string, reply?: string): void {
    if (this.#isEnded) return undefined
    this.#isEnded = true
    const hold = this.#hold
    if (hold === undefined) return this.#sink!.end(last)
    this.#keep(last)
    const kept = reply ?? this.#kept
    this.#kept = undefined
    void andThen(kept === undefined ? hold.lose() : hold.keep(kept), () => this.#sink!.end(last))
  }

  /** A failure is not kept, so it is told when the key is free. */
  #fail(error: unknown): void {
    if (this.#isEnded) return
    this.#isEnded = true
    const failure = this.#failure(error)
    void andThen(this.#hold?.release(), () => (
      andThen(this.#face.failed(failure, this.call), (last) => this.#sink!.end(last))
    ))
  }

  #failure(thrown: unknown): PublicFailure {
    return publicFailure(this.#service, thrown, this.call.requestId)
  }

  #keep(text: string): void {
    if (this.#kept === undefined) return
    try {
      this.call.hold(text.length)
      this.#kept += text
      if (this.#kept.length > this.#service.limits.maxResultBytes) this.#kept = undefined
    } catch {
      // There is no room for it. The client that is here gets it all the same.
      this.#kept = undefined
    }
  }
}

function replyOf(body: string): Reply {
  return { status: 200, type: JSON_TYPE, body }
}
