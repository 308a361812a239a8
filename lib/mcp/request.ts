/**
 * One request on its way through a method: the line that a handler's call speaks through, and the one
 * place where results and faults become answers.
 */
import { LiveCall } from '../core/call.ts'
import { asFault, Fault, sentence } from '../core/fault.ts'
import { reaches } from '../core/log.ts'
import { formatError, formatNotification, formatResult } from '../wire/jsonrpc.ts'
import { askOnStream, canAsk } from './ask.ts'
import { faultHeaders, mcpError, statusOf } from './faults.ts'
import { pick } from './shape.ts'
import { RoundTrips } from './round-trips.ts'
import type { CallChannel, ClientInfo, Origin, Trace } from '../core/call.ts'
import type { Severity } from '../core/log.ts'
import type { Ability, Question } from '../core/question.ts'
import type { Id, RpcError } from '../wire/jsonrpc.ts'
import type { OpenQuestions } from './ask.ts'
import type { McpContext } from './context.ts'
import type { ResponseChannel } from './channel.ts'
import type { Peer } from './session.ts'
import type { Asker } from './round-trips.ts'
import type { TaskRun } from './task-run.ts'

/** Prefix of the `_meta` keys that the protocol itself uses. */
export const META = 'io.modelcontextprotocol/'

/** One request. */
export class McpRequest implements CallChannel {
  readonly protocol = 'mcp'
  readonly mcp: McpContext
  readonly peer: Peer
  readonly origin: Origin
  readonly channel: ResponseChannel
  readonly id: Id
  readonly params: Readonly<Record<string, unknown>>
  readonly metadata: Readonly<Record<string, unknown>>
  /** Where the answer may be a task: then there is no progress and no log. */
  task: TaskRun | undefined
  /** The client has left. */
  isGone = false
  /** Made when an author's code is about to run. */
  #call: LiveCall | undefined
  #subject: readonly unknown[] | undefined
  #roundTrips: RoundTrips | undefined
  #questions: OpenQuestions | undefined
  #isFinished = false
  #lastProgress = -Infinity

  constructor(
    mcp: McpContext, peer: Peer, origin: Origin, channel: ResponseChannel, id: Id,
    params: Readonly<Record<string, unknown>>, metadata: Readonly<Record<string, unknown>>,
  ) {
    this.mcp = mcp
    this.peer = peer
    this.origin = origin
    this.channel = channel
    this.id = id
    this.params = params
    this.metadata = metadata
  }

  get sessionId(): string | undefined { return this.peer.session?.id }
  get client(): ClientInfo | undefined { return this.peer.client }

  /** The trace context that newer clients send in `_meta`; undefined where it can only be in the headers. */
  get trace(): Trace | undefined {
    const { traceparent, tracestate, baggage } = this.metadata
    if (typeof traceparent !== 'string') return undefined
    return {
      traceparent,
      ...typeof tracestate === 'string' && { tracestate },
      ...typeof baggage === 'string' && { baggage },
    }
  }

  /**
   * The call of an author's code. In a session it can be cancelled by its id. `subject` is what the state
   * of a call in rounds is bound to; without one the client cannot be asked by rounds.
   */
  call(subject?: readonly unknown[]): LiveCall {
    const { origin, params, peer } = this
    const call = new LiveCall(origin, this)
    this.#call = call
    this.#subject = subject
    const isLaterRound = params['inputResponses'] !== undefined || params['requestState'] !== undefined
    // A state that was tampered with is refused even where the handler would not ask again.
    if (isLaterRound && this.#asksByRoundTrips) this.#openRoundTrips()
    if (peer.session !== undefined) peer.session.running.set(this.id, call)
    return call
  }

  get #asksByRoundTrips(): boolean {
    return this.peer.revision.ask === 'round' && this.#subject !== undefined
  }

  /** Made by the first that needs them: most calls never ask. */
  #openRoundTrips(): RoundTrips {
    if (this.#roundTrips === undefined) {
      const { mcp, peer, params: { inputResponses, requestState } } = this
      this.#roundTrips = new RoundTrips({
        seal: mcp.seal, limits: mcp.service.limits, peer, inputResponses, requestState,
        subject: [this.origin.principal.id, ...this.#subject!],
        onQuestions: (result) => this.succeed(result),
      })
    }
    return this.#roundTrips
  }

  /** Whether it has been answered. */
  get isFinished(): boolean { return this.#isFinished }

  /** Whether the handler has asked what has no answer yet, so that the call ends with the round. */
  get isAsking(): boolean { return this.#roundTrips?.isAsking === true }

  /** From now on the call goes on while it asks. */
  divert(asker: Asker): void { this.#openRoundTrips().divert(asker) }

  /** The client has left: nobody waits for the answer. A task goes on. */
  leave(): void {
    this.isGone = true
    if (this.task?.isTask !== true) this.#call?.cancel(new Fault('cancelled', 'The client has left'))
    this.mcp.notifications.remove(this)
  }

  can(what: Ability): boolean {
    const { peer, channel } = this
    if (!canAsk(peer, what)) return false
    return peer.revision.ask === 'round' ? this.#asksByRoundTrips : peer.session !== undefined && channel.sends
  }

  ask(question: Question): Promise<unknown> {
    const { mcp, peer, channel } = this
    const call = this.#call!
    if (this.#asksByRoundTrips) return this.#openRoundTrips().ask(question, call)
    this.#questions ??= new Set()
    return askOnStream(question, peer.session!, channel, call, mcp.service.limits, peer, this.#questions)
  }

  once(key: string, fn: () => unknown): Promise<unknown> {
    if (this.#asksByRoundTrips) return this.#openRoundTrips().once(key, fn, this.#call!)
    return new Promise((resolve) => resolve(fn()))
  }

  progress(done: number, total: number | undefined, text: string | undefined): void {
    if (this.task !== undefined) return this.task.progress(text)
    const { progressToken } = this.metadata
    const isWanted = typeof progressToken === 'string' || typeof progressToken === 'number'
    if (!isWanted || !(done > this.#lastProgress)) return
    this.#lastProgress = done
    const message = this.peer.revision.progressText ? text : undefined
    this.#notify('notifications/progress', { progressToken, progress: done, total, message })
  }

  log(level: Severity, data: unknown, logger: string | undefined): void {
    const { logLevel } = this.peer
    if (logLevel === undefined || this.task !== undefined) return
    if (!reaches(level, logLevel)) return
    this.#notify('notifications/message', { level, logger, data: data === undefined ? null : data })
  }

  detach(retryMs: number | undefined): void {
    if (this.task === undefined) this.channel.detach?.(retryMs)
    else this.task.begin()
  }

  #notify(method: string, params: object): void {
    if (this.#isFinished || !this.channel.sends) return
    let text: string
    try {
      text = JSON.stringify(params)
    } catch (cause) {
      // A line of log that JSON cannot say is no reason for the call to fail.
      this.mcp.service.log('warning', `A ${method} is not JSON`, { request: this.origin.requestId, cause })
      return
    }
    this.channel.send(formatNotification(method, text))
  }

  /** Answers with a result: an object of this revision's shape, or its JSON text where it is ready. */
  succeed(result: object | string): void {
    if (this.#isFinished) return
    let text: string
    try {
      text = this.encode(result)
    } catch (error) {
      return this.fail(error)
    }
    this.#end()
    this.channel.finish(formatResult(this.id, text))
  }

  /** A result's JSON text. Throws a `Fault` for what JSON cannot say, and for what is too large. */
  encode(result: object | string): string {
    let text: string
    try {
      text = typeof result === 'string' ? result : JSON.stringify(this.#stamped(result))
    } catch (error) {
      // What a handler returned cannot be said in JSON: a defect like any other of its.
      this.mcp.service.log('error', 'A result is not JSON', { request: this.origin.requestId, cause: error })
      throw new Fault('internal', 'Internal error', undefined, { cause: error })
    }
    const { maxResultBytes } = this.mcp.service.limits
    if (text.length <= maxResultBytes) return text
    throw new Fault('too-large', `The result is larger than ${maxResultBytes} bytes`)
  }

  /** What newer revisions say in every result. */
  #stamped(result: object): object {
    if (!this.peer.revision.stamps) return result
    const meta = '_meta' in result && typeof result._meta === 'object' ? result._meta : undefined
    if (meta === undefined) return { resultType: 'complete', _meta: this.stamp, ...result }
    return { resultType: 'complete', ...result, _meta: { ...meta, ...this.stamp } }
  }

  /** The server's own words in a result's `_meta`. */
  get stamp(): Readonly<Record<string, unknown>> {
    const { mcp, peer: { revision } } = this
    let stamp = mcp.stamps.get(revision)
    if (stamp === undefined) {
      stamp = { [`${META}serverInfo`]: pick('implementation', mcp.implementation, revision) }
      mcp.stamps.set(revision, stamp)
    }
    return stamp
  }

  /** Answers with an error, or with nothing where the client has cancelled. */
  fail(thrown: unknown): void {
    if (this.#isFinished) return
    const fault = this.faultOf(thrown)
    this.#end()
    if (fault.kind === 'cancelled') return this.channel.abandon()
    const error = this.errorOf(fault)
    const { revision } = this.peer
    const headers = faultHeaders(fault, this.mcp.options.auth)
    this.channel.finish(formatError(this.id, error), statusOf(fault, error, revision), headers)
  }

  /** What was thrown, as a `Fault`; a defect is logged. */
  faultOf(thrown: unknown): Fault {
    const fault = asFault(thrown)
    if (fault !== thrown) {
      const { requestId } = this.origin
      this.mcp.service.log('error', 'An MCP request failed', { request: requestId, cause: thrown })
    }
    return fault
  }

  /** A fault as an error of this revision. */
  errorOf(fault: Fault): RpcError {
    const told = sentence(fault, this.origin.requestId, this.mcp.service.exposeErrors)
    try {
      const error = mcpError(fault, told, this.peer.revision)
      JSON.stringify(error)
      return error
    } catch (cause) {
      // What an author attached to a fault must not keep its caller from hearing of it.
      const { requestId } = this.origin
      this.mcp.service.log('error', 'The detail of a fault is not JSON', { request: requestId, cause })
      return mcpError(new Fault(fault.kind, fault.message), told, this.peer.revision)
    }
  }

  #end(): void {
    // Nobody should be bothered any longer with what the handler did not wait for.
    for (const takeBack of this.#questions ?? []) takeBack(new Fault('cancelled', 'The call has ended'))
    this.#isFinished = true
    const { session } = this.peer
    if (session !== undefined && session.running.get(this.id) === this.#call) session.running.delete(this.id)
  }
}
