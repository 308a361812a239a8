/**
 * What a handler can say to an MCP client while its request is open: progress, lines of log, questions. How a
 * question travels is the revision's word: by a request on the running stream, or by a round trip.
 */
import { show } from '../../define/validate.ts'
import { Fault } from '../../define/fault.ts'
import { LiveCall } from '../../define/live-call.ts'
import { isSeverity, reaches } from '../../define/log.ts'
import { formatNotification } from '../../wire/jsonrpc.ts'
import { askOnStream } from '../session/ask.ts'
import { canAsk } from '../protocol/questions.ts'
import { InputRequiredFlow } from './input-required.ts'
import type { CallChannel } from '../../define/call.ts'
import type { Severity } from '../../define/log.ts'
import type { Ability, Question } from '../../define/question.ts'
import type { OpenQuestions } from '../session/ask.ts'
import type { McpRequest } from './request.ts'
import type { EarlierRounds } from './input-required.ts'

/** The way back of one request's call. */
export class RequestChannel implements CallChannel {
  readonly live: LiveCall
  protected readonly request: McpRequest
  /** Whether the client is asked by ending the call with a round of questions. */
  readonly #asksByRoundTrips: boolean
  readonly #subject: readonly unknown[] | undefined
  #roundTrips: InputRequiredFlow | undefined
  #questions: OpenQuestions | undefined
  #lastProgress: number | undefined

  /**
   * Makes the call of an author's code, with this way back. Throws `Fault('invalid')` for a state of an
   * earlier round that is not this call's own, even where the handler would not ask again.
   */
  constructor(request: McpRequest, subject: readonly unknown[] | undefined) {
    const { params: { inputResponses, requestState }, peer: { revision } } = request
    this.request = request
    this.live = new LiveCall(request.origin, request, this)
    this.#asksByRoundTrips = revision.ask === 'round' && subject !== undefined
    this.#subject = subject
    const isLaterRound = inputResponses !== undefined || requestState !== undefined
    if (isLaterRound && this.#asksByRoundTrips) this.roundTrips()
    request.call = this.live
  }

  get asksByReturning(): boolean { return this.#asksByRoundTrips }

  /** Whether the handler has asked what has no answer yet, so that the call ends with the round. */
  get isAsking(): boolean { return this.#roundTrips?.isAsking === true }

  /** What the rounds before have settled; undefined where there was none. */
  protected get rounds(): EarlierRounds | undefined { return this.#roundTrips?.earlier }

  /** Made by the first that needs them: most calls never ask. */
  roundTrips(): InputRequiredFlow {
    if (this.#roundTrips === undefined) {
      const { mcp, peer, origin, params: { inputResponses, requestState } } = this.request
      this.#roundTrips = new InputRequiredFlow({
        seal: mcp.seal, limits: mcp.service.limits, peer, inputResponses, requestState,
        earlier: this.request.earlierRounds,
        subject: [origin.principal.id, ...this.#subject!],
        onQuestions: (result) => this.request.succeed(result),
      })
    }
    return this.#roundTrips
  }

  can(what: Ability): boolean {
    const { peer, channel } = this.request
    if (!canAsk(peer, what)) return false
    if (peer.revision.ask === 'round') return this.#asksByRoundTrips
    return peer.session !== undefined && channel.sends
  }

  ask(question: Question): Promise<unknown> {
    const { mcp, peer, channel } = this.request
    if (this.#asksByRoundTrips) return this.roundTrips().ask(question, this.live)
    if (this.#questions === undefined) {
      const open: OpenQuestions = this.#questions = new Set()
      // Nobody should be bothered any longer with what the handler did not wait for.
      this.request.onFinish = () => {
        for (const withdraw of open) withdraw(new Fault('cancelled', 'The call has ended'))
      }
    }
    return askOnStream(question, peer.session!, channel, this.live, mcp.service.limits, peer, this.#questions)
  }

  once(key: string, fn: () => unknown): Promise<unknown> {
    if (this.#asksByRoundTrips) return this.roundTrips().once(key, fn, this.live)
    return new Promise((resolve) => resolve(fn()))
  }

  progress(done: number, total: number | undefined, text: string | undefined): void {
    const { metadata: { progressToken }, peer } = this.request
    if (progressToken === undefined || !(done > (this.#lastProgress ?? -Infinity))) return
    this.#lastProgress = done
    const message = peer.revision.progressText ? text : undefined
    this.#notify('notifications/progress', { progressToken, progress: done, total, message })
  }

  log(level: Severity, data: unknown, logger: string | undefined): void {
    const { mcp, origin, peer: { logLevel } } = this.request
    if (!isSeverity(level)) {
      const why = `call.log has the level ${show(level)}; write one from debug to emergency`
      return mcp.service.log('warning', why, { request: origin.requestId })
    }
    if (logLevel === undefined || !reaches(level, logLevel)) return
    this.#notify('notifications/message', { level, logger, data: data === undefined ? null : data })
  }

  detach(retryMs: number | undefined): void {
    this.request.channel.detach?.(retryMs)
  }

  completeElicitation(elicitationId: string): void {
    completeElicitation(this.request, elicitationId)
  }

  #notify(method: string, params: object): void {
    const { request } = this
    if (request.isFinished || !request.channel.sends) return
    let text: string
    try {
      text = JSON.stringify(params)
    } catch (cause) {
      // A line of log that JSON cannot say is no reason for the call to fail.
      const { requestId } = request.origin
      request.mcp.service.log('warning', `A ${method} is not JSON`, { request: requestId, cause })
      return
    }
    request.channel.send(formatNotification(method, text))
  }
}

/**
 * The call of an author's code behind a request. `subject` is what the state of a call in rounds is bound to;
 * without one the client cannot be asked by rounds.
 */
export function openCall(request: McpRequest, subject?: readonly unknown[]): LiveCall {
  return new RequestChannel(request, subject).live
}

/** Tells that what an address was opened for is done, where the revision has a word for it. */
export function completeElicitation(request: McpRequest, elicitationId: string): void {
  const { channel, isFinished, session, peer: { revision } } = request
  if (revision.ask !== 'request' || !revision.asks.has('elicit-url')) return
  const params = JSON.stringify({ elicitationId })
  const message = formatNotification('notifications/elicitation/complete', params)
  if (!isFinished && channel.sends) channel.send(message)
  else session?.outlet?.send(message)
}
