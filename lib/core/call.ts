/**
 * What a handler is given: who calls, what was said before, and the ways back to the client.
 *
 * A door lends an `Origin` (the request) and a `CallChannel` (what its protocol can carry back); the call is
 * what the author sees of both. Everything is lazy: a handler that uses none of it pays for none.
 * After the run is over, whatever the handler still says goes nowhere.
 */
import { Clock } from './clock.ts'
import { blockOf } from './content.ts'
import { Fault } from './fault.ts'
import type { Content, ContentInput } from './content.ts'
import type { ChatMessage } from './conversation.ts'
import type { Severity } from './log.ts'
import type { Principal } from './principal.ts'
import type {
  Ability, ElicitAnswer, FormQuestion, Question, Root, SampleAnswer, SampleQuestion, UrlQuestion,
} from './question.ts'

/** The door a call came through. */
export type Protocol = 'http' | 'mcp' | 'a2a'

/** The program on the other side, as it names itself. Never a reason to trust it. */
export interface ClientInfo { readonly name: string; readonly version: string; readonly title?: string }

/** W3C trace context, as it came. */
export interface Trace {
  readonly traceparent?: string
  readonly tracestate?: string
  readonly baggage?: string
}

/** A named piece of output (A2A `Artifact`); elsewhere its parts are content. */
export interface ArtifactInput {
  readonly id?: string
  readonly name?: string
  readonly description?: string
  readonly parts: readonly (string | ContentInput)[]
  /** Adds to the artifact of that id instead of replacing it. */
  readonly append?: boolean
  readonly last?: boolean
}

/** The second argument of every handler. */
export interface Call {
  /** Aborts when nobody waits for the result any more: the client left, cancelled, or the time is over. */
  readonly signal: AbortSignal
  readonly protocol: Protocol
  readonly requestId: string
  readonly principal: Principal
  /** The program that calls, where its protocol tells. */
  readonly client: ClientInfo | undefined
  /** The request's headers, names in lower case, without credentials. */
  readonly headers: ReadonlyMap<string, string>
  readonly sessionId: string | undefined
  /** Earlier messages of this conversation, oldest first, the present one not among them. */
  readonly history: readonly ChatMessage[]
  /** The whole present message: its text and its files. */
  readonly message: readonly Content[]
  /** What the client attached: MCP `_meta`, A2A and HTTP `metadata`. */
  readonly metadata: Readonly<Record<string, unknown>>
  readonly trace: Trace
  /** Whether this client can be asked in this way. Where it cannot, asking throws `Fault('unsupported')`. */
  can(what: Ability): boolean
  /** How far the work is. `done` must rise; `total` in the same unit. Dropped where nobody wants to know. */
  progress(done: number, total?: number, text?: string): void
  /** A line for the client's log (MCP), or for the server's where the protocol has none. */
  log(level: Severity, data: unknown, logger?: string): void
  /** Asks the user. Throws `Fault('unsupported')`, and `Fault('timeout')` after `askTimeoutMs`. */
  elicit(question: FormQuestion | UrlQuestion): Promise<ElicitAnswer>
  /** Asks the client's model. Throws as `elicit` does. */
  sample(question: SampleQuestion): Promise<SampleAnswer>
  /** Asks for the client's roots. Throws as `elicit` does. */
  roots(options?: { readonly key?: string }): Promise<readonly Root[]>
  /**
   * Runs a side effect once per call, even where asking the client means that the handler runs again from
   * the top. `fn`'s result must be JSON. Two at one time with one key share one promise.
   */
  once<T>(key: string, fn: () => T | Promise<T>): Promise<T>
  /** Lets the client hang up and come back for the result (MCP 2025-11-25); elsewhere nothing. */
  detach(options?: { readonly retryMs?: number }): void
  artifact(artifact: ArtifactInput): void
}

/** Where a call came from. Made by a transport; its members are read only when somebody needs them. */
export interface Origin {
  readonly requestId: string
  readonly principal: Principal
  /** A header's value by its lower-case name; undefined where the transport has no headers. */
  header(name: string): string | undefined
  /** All headers but the credentials. */
  readonly headers: ReadonlyMap<string, string>
  /** Calls `listener` once when the client has left before it was answered; at once where it has already. */
  onGone(listener: () => void): void
}

/** What a protocol can carry back during a run. What is left out, it cannot. */
export interface CallChannel {
  readonly protocol: Protocol
  readonly sessionId?: string | undefined
  readonly client?: ClientInfo | undefined
  readonly history?: readonly ChatMessage[] | undefined
  readonly message?: readonly Content[]
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly trace?: Trace | undefined
  can?(what: Ability): boolean
  progress?(done: number, total: number | undefined, text: string | undefined): void
  log?(level: Severity, data: unknown, logger: string | undefined): void
  /** Carries one question and resolves to its answer: an `ElicitAnswer`, a `SampleAnswer`, or roots. */
  ask?(question: Question): Promise<unknown>
  once?(key: string, fn: () => unknown): Promise<unknown>
  detach?(retryMs: number | undefined): void
  artifact?(artifact: ArtifactInput): void
}

const nothing: readonly never[] = Object.freeze([])
const noMetadata: Readonly<Record<string, unknown>> = Object.freeze({})

/** One run of a handler, from the side of the house. */
export class LiveCall implements Call {
  readonly origin: Origin
  readonly channel: CallChannel
  /** Set when nobody waits for the run any more, in whatever way it ended. */
  over = false
  /** Set when the handler's own code has come to its end, which may be later. */
  settled = false
  /** Takes the place of the channel's history, where a handler's arguments name a conversation. */
  conversationHistory: readonly ChatMessage[] | undefined
  /** Artifacts of a protocol that has none: they are content. */
  artifactContent: Content[] | undefined
  #clock: Clock | undefined
  #reason: Fault | undefined
  #controller: AbortController | undefined
  #onCancel: ((reason: Fault) => void) | undefined
  #once: Map<string, Promise<unknown>> | undefined

  constructor(origin: Origin, channel: CallChannel) {
    this.origin = origin
    this.channel = channel
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(abortError(this.#reason))
    }
    return this.#controller.signal
  }

  get protocol(): Protocol { return this.channel.protocol }
  get requestId(): string { return this.origin.requestId }
  get principal(): Principal { return this.origin.principal }
  get client(): ClientInfo | undefined { return this.channel.client }
  get headers(): ReadonlyMap<string, string> { return this.origin.headers }
  get sessionId(): string | undefined { return this.channel.sessionId }
  get history(): readonly ChatMessage[] { return this.conversationHistory ?? this.channel.history ?? nothing }
  get message(): readonly Content[] { return this.channel.message ?? nothing }
  get metadata(): Readonly<Record<string, unknown>> { return this.channel.metadata ?? noMetadata }
  get trace(): Trace { return this.channel.trace ?? traceOf(this.origin) }

  /** Stands still while the client is asked. */
  get clock(): Clock { return this.#clock ??= new Clock() }

  /** Why the run was cancelled, if it was. */
  get reason(): Fault | undefined { return this.#reason }

  /** Ends the run from outside: the signal aborts, whoever waits for the result gets `reason`. */
  cancel(reason: Fault): void {
    if (this.over || this.#reason !== undefined) return
    this.#reason = reason
    this.over = true
    this.#onCancel?.(reason)
    this.#controller?.abort(abortError(reason))
  }

  /** Tells once when the run is cancelled; at once where it is already. */
  onCancel(listener: (reason: Fault) => void): void {
    this.#onCancel = listener
    if (this.#reason !== undefined) listener(this.#reason)
  }

  can(what: Ability): boolean {
    return !this.over && this.channel.ask !== undefined && this.channel.can?.(what) === true
  }

  progress(done: number, total?: number, text?: string): void {
    if (!this.over) this.channel.progress?.(done, total, text)
  }

  log(level: Severity, data: unknown, logger?: string): void {
    if (!this.over) this.channel.log?.(level, data, logger)
  }

  elicit(question: FormQuestion | UrlQuestion): Promise<ElicitAnswer> {
    if ('url' in question) return this.#ask({ what: 'elicit-url', ...question })
    return this.#ask({ what: 'elicit', ...question })
  }

  sample(question: SampleQuestion): Promise<SampleAnswer> {
    return this.#ask({ what: 'sample', ...question })
  }

  roots(options?: { readonly key?: string }): Promise<readonly Root[]> {
    return this.#ask({ what: 'roots', ...options })
  }

  once<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    const running = this.#once?.get(key)
    if (running !== undefined) return running as Promise<T>
    if (this.over) return Promise.reject(abortError(this.#reason))
    const result = this.channel.once?.(key, fn) ?? new Promise<T>((resolve) => resolve(fn()))
    this.#once ??= new Map()
    this.#once.set(key, result)
    return result as Promise<T>
  }

  detach(options?: { readonly retryMs?: number }): void {
    if (!this.over) this.channel.detach?.(options?.retryMs)
  }

  artifact(artifact: ArtifactInput): void {
    if (this.over) return
    if (this.channel.artifact !== undefined) this.channel.artifact(artifact)
    else (this.artifactContent ??= []).push(...artifact.parts.map(blockOf))
  }

  #ask<T>(question: Question): Promise<T> {
    const answer = this.#carry<T>(question)
    // A handler may look at it late or never: what the client answers must not end the process.
    answer.catch(() => {})
    return answer
  }

  // The answer's shape is checked by the channel, which knows what its protocol allows.
  async #carry<T>(question: Question): Promise<T> {
    if (this.over) throw abortError(this.#reason)
    const { channel } = this
    if (channel.ask === undefined || channel.can?.(question.what) !== true) throw unable(question.what)
    this.clock.begin()
    try {
      return await channel.ask(question) as T
    } finally {
      this.clock.end()
    }
  }
}

function unable(what: Ability): Fault {
  return new Fault('unsupported', `This client cannot be asked: it has not declared '${what}'. `
    + `A handler finds out with call.can('${what}').`, { ability: what })
}

function abortError(reason: Fault | undefined): Error {
  return new DOMException(reason?.message ?? 'The run is over', 'AbortError')
}

function traceOf(origin: Origin): Trace {
  const trace: { -readonly [name in keyof Trace]: string } = {}
  for (const name of ['traceparent', 'tracestate', 'baggage'] as const) {
    const value = origin.header(name)
    if (value !== undefined) trace[name] = value
  }
  return trace
}
