/**
 * One run of a handler: what the author sees as `Call`, who may end it, and how it ended. Everything is lazy:
 * a handler that uses none of it pays for none. After the run is over, nothing of it reaches the client.
 */
import { setMaxListeners } from 'node:events'
import { isStandard } from '../schema/standard.ts'
import { formatJson } from '../wire/json.ts'
import { randomUuid } from '../wire/random.ts'
import { Clock } from '../util/clock.ts'
import { Lease } from '../util/quota.ts'
import { noAdapters } from './adapters.ts'
import { addArtifact, artifactOf } from './artifact.ts'
import { callerOf } from './call.ts'
import { kernelDefaults } from './limits.ts'
import { checkEvent, RunEvents, sentenceOf } from './event.ts'
import { Fault } from './fault.ts'
import { checkedAnswer, checkQuestion, formOf } from './question.ts'
import type { JsonSchema } from '../schema/compile.ts'
import type { InferAnswer } from '../schema/infer.ts'
import type { StandardSchema } from '../schema/standard.ts'
import type { Adapters } from './adapters.ts'
import type { Around } from './around.ts'
import type { Artifact, ArtifactInput } from './artifact.ts'
import type {
  Call, CallChannel, CallFacts, ChatMessage, ClientInfo, Origin, Protocol, Trace,
} from './call.ts'
import type { ClientTool, ClientToolResult, ToolChoice } from './client-tool.ts'
import type { Content } from './content.ts'
import type { CallEvent, Usage } from './event.ts'
import type { KernelLimits } from './limits.ts'
import type { Severity } from './log.ts'
import type { Principal } from './principal.ts'
import type {
  Ability, ElicitAnswer, FormQuestion, Question, Root, SampleAnswer, SampleQuestion, UrlAnswer, UrlQuestion,
} from './question.ts'

const nothing: readonly never[] = Object.freeze([])
const noMetadata: Readonly<Record<string, unknown>> = Object.freeze({})

export interface CallBytes {
  /** Throws `Fault('busy')` where there is no room. */
  hold(call: LiveCall, bytes: number): void
}

/** What a call has of the server that runs it. */
export interface CallHost {
  readonly limits: KernelLimits
  /** What knows the schemas of other frameworks. */
  readonly adapters: Adapters
  /** What is to run around the author's code. */
  readonly around: Around | undefined
  /** Where it counts what is kept until it ends. */
  readonly workload?: CallBytes | undefined
}

const alone: CallHost = Object.freeze({ limits: kernelDefaults, adapters: noAdapters, around: undefined })

/** How much the number of a step is above the one before: so it stays below that of the next piece. */
const STEP = 1e-6

/** Bytes that a character of text takes in memory at most. */
const CHARACTER_BYTES = 2

/** One run of a handler, and the lease of the memory that it takes. */
export class LiveCall extends Lease implements Call {
  readonly origin: Origin
  readonly facts: CallFacts
  /** What is sent back; replaced where the call becomes a task. */
  channel: CallChannel
  history: readonly ChatMessage[] = nothing
  /** Nothing waits for the run any more, in whatever way it ended. */
  over = false
  /** Its client has left, or has cancelled the request. */
  isDisconnected = false
  artifacts: readonly Artifact[] | undefined
  #artifactsLength = 0
  #host: CallHost = alone
  #isSettled = false
  #onSettled: (() => void) | undefined
  #clock: Clock | undefined
  #reason: Fault | undefined
  #controller: AbortController | undefined
  #onCancel: ((reason: Fault) => void) | undefined
  #once: Map<string, Promise<unknown>> | undefined
  #events: RunEvents | undefined
  /** The last number of progress, and the steps since. */
  #done = 0
  #steps = 0

  constructor(origin: Origin, facts: CallFacts, channel: CallChannel) {
    super()
    this.origin = origin
    this.facts = facts
    this.channel = channel
  }

  /** Set when it begins; not shown with the call. */
  get host(): CallHost { return this.#host }
  set host(host: CallHost) { this.#host = host }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      // A handler asks and calls as much at once as it likes, and each waits for the end of the call.
      setMaxListeners(0, this.#controller.signal)
      if (this.#reason !== undefined) this.#controller.abort(abortError(this.#reason))
    }
    return this.#controller.signal
  }

  get protocol(): Protocol { return this.facts.protocol }
  get requestId(): string { return this.origin.requestId }
  get principal(): Principal { return this.origin.principal }
  get caller(): string { return callerOf(this.origin) }
  get client(): ClientInfo | undefined { return this.facts.client }
  get headers(): ReadonlyMap<string, string> { return this.origin.headers }
  get sessionId(): string | undefined { return this.facts.sessionId }
  get message(): readonly Content[] { return this.facts.message ?? nothing }
  get clientTools(): readonly ClientTool[] { return this.facts.clientTools ?? nothing }
  get toolChoice(): ToolChoice { return this.facts.toolChoice ?? 'auto' }
  get clientToolResults(): readonly ClientToolResult[] { return this.facts.clientToolResults ?? nothing }
  get outputSchema(): JsonSchema | undefined { return this.facts.outputSchema }
  get messageId(): string | undefined { return this.facts.messageId }
  get taskId(): string | undefined { return this.facts.taskId }
  get contextId(): string | undefined { return this.facts.contextId }
  get metadata(): Readonly<Record<string, unknown>> { return this.facts.metadata ?? noMetadata }
  get extensions(): readonly string[] { return this.facts.extensions ?? nothing }
  get referenceTaskIds(): readonly string[] { return this.facts.referenceTaskIds ?? nothing }
  get acceptedOutputModes(): readonly string[] { return this.facts.acceptedOutputModes ?? nothing }
  get run(): number { return this.facts.run ?? 1 }
  get trace(): Trace { return this.facts.trace ?? traceOf(this.origin) }

  /** Stopped while the client is asked. */
  get clock(): Clock { return this.#clock ??= new Clock() }

  get isAsking(): boolean { return this.#clock?.isStopped === true }

  get reason(): Fault | undefined { return this.#reason }

  /** Whether the handler's own code has ended, which may be later than the run. */
  get settled(): boolean { return this.#isSettled }

  settle(): void {
    this.#isSettled = true
    this.#onSettled?.()
  }

  /** Calls once when the handler's own code has ended. Replaces an earlier listener. */
  onSettled(listener: () => void): void {
    if (this.#isSettled) listener()
    else this.#onSettled = listener
  }

  /** Ends the run from outside: the signal aborts, the result is `reason`. */
  cancel(reason: Fault): void {
    if (this.over || this.#reason !== undefined) return
    this.#reason = reason
    this.over = true
    this.#onCancel?.(reason)
    this.#controller?.abort(abortError(reason))
  }

  /** The client wants no answer any more: cancels a run that has not ended. */
  disconnect(why = 'The client has left'): void {
    if (this.over) return
    this.isDisconnected = true
    this.cancel(new Fault('cancelled', why))
  }

  /** Counts characters that are kept until the run ends. Throws `Fault('busy')` where runs keep too much. */
  hold(characters: number): void {
    this.#host.workload?.hold(this, characters * CHARACTER_BYTES)
  }

  /** Ends the run when the client leaves; at once where it has already. */
  cancelOnDisconnect(): void {
    this.origin.onDisconnect(this.disconnect.bind(this, undefined))
  }

  /** Calls once when the run is cancelled; at once where it is already. */
  onCancel(listener: (reason: Fault) => void): void {
    this.#onCancel = listener
    if (this.#reason !== undefined) listener(this.#reason)
  }

  can(what: Ability): boolean {
    return !this.over && this.channel.ask !== undefined && this.channel.can?.(what) === true
  }

  progress(done: number, total?: number, text?: string): void {
    // A part of nothing is no number that JSON knows.
    if (this.over || !Number.isFinite(done)) return
    if (done > this.#done) {
      this.#done = done
      this.#steps = 0
    }
    const whole = Number.isFinite(total) ? total : undefined
    this.channel.progress?.(done, whole, typeof text === 'string' ? text : undefined)
  }

  /** Progress that is a text: its number rises, and hardly. */
  step(text: string): void {
    if (!this.over) this.channel.progress?.(this.#done + ++this.#steps * STEP, undefined, text)
  }

  /** Tokens that the run has used so far, as far as it said. */
  get usage(): Usage | undefined { return this.#events?.usage }

  /** `agent`: the member of a group that it comes from. */
  event(given: CallEvent, agent?: string): void {
    checkEvent(given)
    if (this.over) return
    const events = this.#events ??= new RunEvents()
    const isWork = given.type === 'tool-call' || given.type === 'tool-result'
    if (isWork) this.endReasoning(agent)
    this.#emit(events.take(given, agent), agent)
  }

  /** Something other than its reasoning comes of an agent. */
  endReasoning(agent?: string): void {
    if (this.#events !== undefined && !this.over) this.#emit(this.#events.endReasoning(agent), agent)
  }

  /** Nothing more comes of any agent. */
  endAllReasoning(): void {
    if (this.#events === undefined) return
    for (const agent of this.#events.reasoners) this.endReasoning(agent)
  }

  #emit(event: CallEvent | undefined, agent: string | undefined): void {
    if (event === undefined) return
    if (this.channel.event !== undefined) return this.channel.event(event, agent)
    const sentence = sentenceOf(event)
    if (sentence !== undefined) this.step(sentence)
  }

  log(level: Severity, data: unknown, logger?: string): void {
    if (this.over) return
    // JSON makes {} of an error, and nothing at all of some values.
    const isLost = data instanceof Error || typeof data === 'function' || typeof data === 'symbol'
    this.channel.log?.(level, isLost ? String(data) : data, typeof logger === 'string' ? logger : undefined)
  }

  elicit<const S>(question: FormQuestion<S>): Promise<ElicitAnswer<InferAnswer<S>>>
  elicit(question: UrlQuestion): Promise<UrlAnswer>
  elicit(question: FormQuestion | UrlQuestion): Promise<ElicitAnswer | UrlAnswer>
  elicit(question: FormQuestion | UrlQuestion): Promise<ElicitAnswer | UrlAnswer> {
    if (typeof question !== 'object' || question === null) {
      return Promise.reject(new TypeError('call.elicit takes an object; write '
        + "call.elicit({ message: 'Your name?', schema: { type: 'object', properties: { … } } })"))
    }
    if (!('url' in question)) return this.#askForm(question)
    const { elicitationId = randomUuid() } = question
    return this.#ask({ what: 'elicit-url', ...question, elicitationId })
  }

  completeElicitation(elicitationId: string): void {
    if (typeof elicitationId === 'string') this.channel.completeElicitation?.(elicitationId)
  }

  sample(question: SampleQuestion): Promise<SampleAnswer> {
    return this.#ask({ what: 'sample', ...question })
  }

  roots(options?: { readonly key?: string }): Promise<readonly Root[]> {
    return this.#ask({ what: 'roots', ...options })
  }

  once<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    if (typeof key !== 'string' || typeof fn !== 'function') {
      return Promise.reject(new TypeError('call.once takes a name and a function, as in '
        + "call.once('order', () => order())"))
    }
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

  artifact(input: ArtifactInput): void {
    if (this.over) return
    if (this.channel.artifact !== undefined) return this.channel.artifact(input)
    this.keepArtifact(input)
  }

  /** It goes into the answer. Throws `Fault('too-large')` where that could not be sent. */
  keepArtifact(input: ArtifactInput): void {
    const artifact = artifactOf(input)
    const { maxResultBytes } = this.#host.limits
    const replaced = input.append === true ? undefined : this.artifacts?.find(({ id }) => id === artifact.id)
    const before = replaced === undefined ? 0 : formatJson(replaced.parts).length
    const more = formatJson(artifact.parts).length - before
    if (this.#artifactsLength + more > maxResultBytes) {
      throw new Fault('too-large', `The artifacts of the answer are larger than ${maxResultBytes} bytes`)
    }
    this.hold(more)
    this.#artifactsLength += more
    this.artifacts = addArtifact(this.artifacts ?? nothing, artifact, input.append === true)
  }

  /** The artifacts that the channel could not send, once: they go into the answer. */
  takeArtifacts(): readonly Artifact[] {
    const artifacts = this.artifacts ?? nothing
    this.artifacts = undefined
    return artifacts
  }

  #askForm(question: FormQuestion): Promise<ElicitAnswer> {
    const { schema } = question
    if (!isStandard(schema)) return this.#ask({ what: 'elicit', ...question, schema })
    const checked = this.#askBySchema(question, schema)
    checked.catch(() => {})
    return checked
  }

  async #askBySchema(question: FormQuestion, schema: StandardSchema): Promise<ElicitAnswer> {
    const form = formOf(schema, this.#host.adapters.schemaForm)
    const answer = await this.#ask<ElicitAnswer>({ what: 'elicit', ...question, schema: form.json })
    return answer.action !== 'accept' ? answer
      : { action: 'accept', content: await checkedAnswer(form, answer.content) }
  }

  #ask<T>(question: Question): Promise<T> {
    const answer = this.#send<T>(question)
    // A handler may look at it late or never: what the client answers must not end the process.
    answer.catch(() => {})
    return answer
  }

  // The answer's shape is checked by the channel, which knows what its protocol allows.
  async #send<T>(question: Question): Promise<T> {
    if (this.over) throw abortError(this.#reason)
    const { channel } = this
    if (channel.ask === undefined || channel.can?.(question.what) !== true) {
      throw unable(question.what, channel.silence)
    }
    checkQuestion(question)
    if (channel.asksByReturning === true) return await channel.ask(question) as T
    this.clock.stop()
    try {
      return await channel.ask(question) as T
    } finally {
      this.clock.resume()
    }
  }
}

/** What handlers may take apart: `(args, { progress, log }) => …`. */
const parts = [
  'can', 'progress', 'event', 'log', 'elicit', 'completeElicitation', 'sample', 'roots', 'once', 'detach',
  'artifact',
] as const

for (const name of parts) {
  const method: (this: LiveCall, ...args: never[]) => unknown = LiveCall.prototype[name]
  Object.defineProperty(LiveCall.prototype, name, { get(this: LiveCall) { return method.bind(this) } })
}

function unable(what: Ability, why = `it has not declared '${what}'`): Fault {
  return new Fault('unsupported', `This client cannot be asked: ${why}. `
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
