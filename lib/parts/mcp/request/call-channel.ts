/**
 * The channel of a call to an MCP client while its request is open: progress, logs, questions. Questions are
 * requests on the running stream, or the result of the call, whose state is sealed, as the revision has it.
 * Spec: MCP 2026-07-28, Multi Round-Trip Requests.
 */
import { isRecord } from '../../../kernel/define/content.ts'
import { show } from '../../../kernel/define/validate.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { LiveCall } from '../../../kernel/define/live-call.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { formatNotification } from '../../../floors/jsonrpc/jsonrpc.ts'
import { startDeadline } from '../../../kernel/util/clock.ts'
import { digestOf } from '../../../floors/questions/form.ts'
import { isRoundState, QuestionRounds } from '../../../floors/questions/question-rounds.ts'
import { sendQuestion } from '../session/messages.ts'
import { canAsk, decodeAnswer, encodeQuestion } from '../protocol/questions.ts'
import { isSeverity, reaches } from '../protocol/client.ts'
import type { CallChannel } from '../../../kernel/define/call.ts'
import type { Severity } from '../../../kernel/define/log.ts'
import type { Ability, Question } from '../../../kernel/define/question.ts'
import type { PendingQuestion, RoundState } from '../../../floors/questions/question-rounds.ts'
import type { McpFacts, McpRequest } from './request.ts'

/** What a client has answered in earlier rounds, and in this one. */
export interface EarlierRounds {
  readonly state: RoundState | undefined
  readonly responses: Readonly<Record<string, unknown>>
}

const noRounds: EarlierRounds = Object.freeze({ state: undefined, responses: Object.freeze({}) })

export class RequestChannel implements CallChannel {
  readonly live: LiveCall
  readonly asksByReturning: boolean
  protected readonly facts: McpFacts
  /** Undefined where the client's own request is over, and nothing can be sent with it. */
  protected request: McpRequest | undefined
  readonly #subject: readonly unknown[] | undefined
  readonly #earlier: EarlierRounds
  #flow: InputRequiredFlow | undefined
  /** Questions without an answer, each as the function that withdraws it. */
  #questions: Set<(reason: Fault) => void> | undefined
  #lastProgress: number | undefined

  /**
   * Makes the call, with this as its channel. `subject`: what the state of a call in rounds is bound to;
   * without one there are no rounds. `earlier`: those that are known, instead of the request's own. Throws
   * `Fault('invalid')` for a state that is not this call's own, even where the handler would not ask again.
   */
  constructor(
    facts: McpFacts, request: McpRequest | undefined, subject: readonly unknown[] | undefined,
    earlier: EarlierRounds = noRounds,
  ) {
    this.facts = facts
    this.request = request
    this.live = new LiveCall(facts.origin, facts, this)
    this.asksByReturning = facts.peer.revision.ask === 'round' && subject !== undefined
    this.#subject = subject
    this.#earlier = earlier
    if (request === undefined) return
    const { params: { inputResponses, requestState } } = request
    const isLaterRound = inputResponses !== undefined || requestState !== undefined
    if (isLaterRound && this.asksByReturning) this.flow()
    request.call = this.live
    // It may have left while the method was being loaded.
    if (request.isGone) this.live.disconnect()
  }

  /** Whether a question of the handler has no answer, so that the call ends with the round. */
  get isAsking(): boolean { return this.#flow?.isAsking === true }

  protected get rounds(): EarlierRounds | undefined { return this.#flow?.earlier }

  /** Made when it is needed: most calls never ask. */
  flow(): InputRequiredFlow {
    return this.#flow ??= new InputRequiredFlow(
      this.facts, this.request, this.live, this.#subject!, this.#earlier,
    )
  }

  can(what: Ability): boolean {
    const { peer } = this.facts
    if (!canAsk(peer, what)) return false
    if (peer.revision.ask === 'round') return this.asksByReturning
    return this.request !== undefined && this.silence === undefined
  }

  get silence(): string | undefined {
    const { request, facts: { mcp, peer: { revision: { ask }, session } } } = this
    if (request === undefined || ask === 'round') return undefined
    if (session === undefined) {
      const never = mcp.options.sessions === 'none'
      return `that takes a session, ${never ? 'and this server keeps none' : 'which begins with initialize'}`
    }
    return request.channel.sends ? undefined : 'that takes a stream, and Accept must allow text/event-stream'
  }

  ask(question: Question): Promise<unknown> {
    if (this.asksByReturning) return this.flow().ask(question)
    // `can` has said that there is one.
    const request = this.request!
    const { mcp: { service: { limits } }, peer, channel } = request
    const open = this.#questions ??= new Set()
    // The client's user should not see a question that the handler did not wait for.
    request.onFinish ??= () => {
      for (const withdraw of open) withdraw(new Fault('cancelled', 'The call has ended'))
    }
    const send = (message: string): void => channel.send(message)
    const { answer, withdraw } = sendQuestion(question, peer, peer.session!, send, limits.maxCheckSteps)
    const late = new Fault('timeout', `The client did not answer within ${limits.askTimeoutMs} ms`)
    const stop = startDeadline(limits.askTimeoutMs, () => withdraw(late))
    const { signal } = this.live
    const giveUp = (): void => withdraw(this.live.reason ?? new Fault('cancelled', 'The call has ended'))
    signal.addEventListener('abort', giveUp)
    open.add(withdraw)
    return answer.finally(() => {
      stop()
      open.delete(withdraw)
      signal.removeEventListener('abort', giveUp)
    })
  }

  once(key: string, fn: () => unknown): Promise<unknown> {
    if (this.asksByReturning) return this.flow().once(key, fn)
    return new Promise((resolve) => resolve(fn()))
  }

  progress(done: number, total: number | undefined, text: string | undefined): void {
    const { metadata: { progressToken }, peer } = this.facts
    if (progressToken === undefined || !(done > (this.#lastProgress ?? -Infinity))) return
    this.#lastProgress = done
    const message = peer.revision.progressText ? text : undefined
    this.notify('notifications/progress', { progressToken, progress: done, total, message })
  }

  log(level: Severity, data: unknown, logger: string | undefined): void {
    const { mcp, origin, peer: { logLevel } } = this.facts
    if (!isSeverity(level)) {
      const why = `call.log has the level ${show(level)}; write one from debug to emergency`
      return mcp.service.log('warning', why, { request: origin.requestId })
    }
    if (logLevel === undefined || !reaches(level, logLevel)) return
    this.notify('notifications/message', { level, logger, data: data === undefined ? null : data })
  }

  detach(retryMs: number | undefined): void {
    this.request?.channel.detach?.(retryMs)
  }

  /** Notifies the client that what it opened an address for is done, where the revision can. */
  completeElicitation(elicitationId: string): void {
    const { request, facts: { session, peer: { revision } } } = this
    if (revision.ask !== 'request' || !revision.asks.has('elicit-url')) return
    const params = formatJson({ elicitationId })
    const message = formatNotification('notifications/elicitation/complete', params)
    if (request?.isFinished === false && request.channel.sends) request.channel.send(message)
    else session?.outlet?.send(message)
  }

  protected notify(method: string, params: object): void {
    const { request } = this
    if (request === undefined || request.isFinished || !request.channel.sends) return
    let text: string
    try {
      text = formatJson(params)
    } catch (cause) {
      // A log line that is no JSON is no reason for the call to fail.
      const { requestId } = request.origin
      request.mcp.service.log('warning', `A ${method} is not JSON`, { request: requestId, cause })
      return
    }
    request.channel.send(formatNotification(method, text))
  }
}

export function openCall(request: McpRequest, subject?: readonly unknown[]): LiveCall {
  return new RequestChannel(request, request, subject).live
}

const PURPOSE = 'mcp state'

class InputRequiredFlow extends QuestionRounds {
  readonly earlier: EarlierRounds
  readonly #facts: McpFacts
  readonly #request: McpRequest | undefined

  /**
   * `subject`: the method, name and arguments that the state is bound to. `known`: the earlier rounds where
   * there is no request. Throws `Fault('invalid')` for a state that is not this call's own, or malformed
   * responses.
   */
  constructor(
    facts: McpFacts, request: McpRequest | undefined, call: LiveCall, subject: readonly unknown[],
    known: EarlierRounds,
  ) {
    const digest = digestOf([facts.origin.principal.id, ...subject])
    const earlier = request === undefined ? known : earlierRoundsOf(request, digest)
    super(call, facts.mcp.service, digest, earlier.state)
    this.#facts = facts
    this.#request = request
    this.earlier = earlier
  }

  protected override encode(question: Question): unknown {
    return encodeQuestion(question, this.#facts.peer)
  }

  protected override response(key: string): unknown {
    const { responses } = this.earlier
    return Object.hasOwn(responses, key) ? responses[key] ?? null : undefined
  }

  protected override decode(question: Question, response: unknown): unknown {
    const { peer, mcp: { service } } = this.#facts
    return decodeAnswer(question, response, peer, service.limits.maxCheckSteps)
  }

  protected override send(pending: readonly PendingQuestion[], state: RoundState): Fault | undefined {
    const { mcp: { seal, limits } } = this.#facts
    const requestState = seal.seal(PURPOSE, state, Date.now() + this.stateMs)
    if (requestState.length > limits.maxStateBytes) {
      const why = `The state between two rounds is larger than ${limits.maxStateBytes} bytes`
      return new Fault('too-large', why)
    }
    const inputRequests = Object.fromEntries(pending.map(({ key, question }) => [key, this.encode(question)]))
    this.#request?.succeed({ resultType: 'input_required', inputRequests, requestState })
    return undefined
  }
}

function earlierRoundsOf(
  { mcp, params: { inputResponses: responses = {}, requestState } }: McpRequest, subject: string,
): EarlierRounds {
  if (!isRecord(responses)) throw new Fault('invalid', 'params.inputResponses must be an object')
  if (requestState === undefined) return { state: undefined, responses }
  const { seal, limits: { maxStateBytes } } = mcp
  const mayBeState = typeof requestState === 'string' && requestState.length <= maxStateBytes
  const state = mayBeState ? seal.open(PURPOSE, requestState) : undefined
  if (!isRoundState(state) || state.subject !== subject) {
    const why = 'params.requestState is not one that this server gave for this call, or it has expired'
    throw new Fault('invalid', why)
  }
  return { state, responses }
}
