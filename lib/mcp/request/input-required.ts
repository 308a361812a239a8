/**
 * Multi Round-Trip Requests: the questions of a call are its result, and the state is sealed.
 * Spec: MCP 2026-07-28, Multi Round-Trip Requests.
 */
import { isRecord } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import { digestOf, isRoundState, QuestionRounds } from '../../run/question-rounds.ts'
import { decodeAnswer, encodeQuestion } from '../protocol/questions.ts'
import type { LiveCall } from '../../define/live-call.ts'
import type { Question } from '../../define/question.ts'
import type { PendingQuestion, RoundState } from '../../run/question-rounds.ts'
import type { EarlierRounds, McpRequest } from './request.ts'

const PURPOSE = 'mcp state'
/** A year: no state is valid for ever. */
const MAX_STATE_MS = 365 * 86_400_000

export class InputRequiredFlow extends QuestionRounds {
  readonly earlier: EarlierRounds
  readonly #request: McpRequest

  /**
   * `subject`: the method, name and arguments that the state is bound to. Throws `Fault('invalid')` for a
   * state that is not this call's own, or malformed responses.
   */
  constructor(request: McpRequest, call: LiveCall, subject: readonly unknown[]) {
    const digest = digestOf([request.origin.principal.id, ...subject])
    const earlier = request.earlierRounds ?? earlierRoundsOf(request, digest)
    super(call, digest, earlier.state)
    this.#request = request
    this.earlier = earlier
  }

  protected override encode(question: Question): unknown {
    return encodeQuestion(question, this.#request.peer)
  }

  protected override response(key: string): unknown {
    const { responses } = this.earlier
    return Object.hasOwn(responses, key) ? responses[key] ?? null : undefined
  }

  protected override decode(question: Question, response: unknown): unknown {
    const { peer, mcp: { service } } = this.#request
    return decodeAnswer(question, response, peer, service.limits.maxCheckSteps)
  }

  protected override send(pending: readonly PendingQuestion[], state: RoundState): Fault | undefined {
    const { mcp: { seal, service: { limits } } } = this.#request
    const expiresAt = Date.now() + Math.min(limits.askTimeoutMs, MAX_STATE_MS)
    const requestState = seal.seal(PURPOSE, state, expiresAt)
    if (requestState.length > limits.maxStateBytes) {
      const why = `The state between two rounds is larger than ${limits.maxStateBytes} bytes`
      return new Fault('too-large', why)
    }
    const inputRequests = Object.fromEntries(pending.map(({ key, question }) => [key, this.encode(question)]))
    this.#request.succeed({ resultType: 'input_required', inputRequests, requestState })
    return undefined
  }
}

function earlierRoundsOf(
  { mcp, params: { inputResponses: responses = {}, requestState } }: McpRequest, subject: string,
): EarlierRounds {
  if (!isRecord(responses)) throw new Fault('invalid', 'params.inputResponses must be an object')
  if (requestState === undefined) return { state: undefined, responses }
  const state = typeof requestState === 'string' ? mcp.seal.open(PURPOSE, requestState) : undefined
  if (!isRoundState(state) || state.subject !== subject) {
    const why = 'params.requestState is not one that this server gave for this call, or it has expired'
    throw new Fault('invalid', why)
  }
  return { state, responses }
}
