/** The run of an agent or a group that one request asks for, as the face of its protocol writes it. */
import { noAnswer } from '../answers/answer.ts'
import { answerMessage, timeoutOf } from '../conversations/answer-message.ts'
import { PassedOver } from '../chat/passed-over.ts'
import { replyOnce } from './idempotent-reply.ts'
import { valueIn } from './reply.ts'
import { RunWriter } from './run.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { CallFacts, Origin } from '../../kernel/define/call.ts'
import type { Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { Answer } from '../answers/answer.ts'
import type { JsonBounds } from '../bounds/parse-json.ts'
import type { UserMessage } from '../conversations/answer-message.ts'
import type { KeyHold } from '../idempotency/idempotency.ts'
import type { Repeatable } from './idempotent-reply.ts'
import type { Face } from './run.ts'

export interface AgentFace extends Face<Answer> {
  /** Of a group, what each of its agents says is shown. Left out: the answer alone. */
  readonly takesSteps?: true
  /** The answer is checked before any of it is sent. */
  readonly isWhole?: boolean
}

/** What a body asks for. The log tells what of it is passed over. Throws `Fault('invalid')`. */
export function requestIn<T>(
  service: Service, { body, origin }: Pick<Exchange, 'body' | 'origin'>,
  decode: (body: unknown, passed: PassedOver, bounds: JsonBounds) => T,
): T {
  const passed = new PassedOver()
  const request = decode(valueIn(body, service), passed, service.limits)
  passed.report(service.log, origin)
  return request
}

/** `isAsked`: false where there is nothing to answer. */
export function agentRun(
  service: Service, origin: Origin, agent: Agent | Group, input: CallFacts & UserMessage, face: AgentFace,
  hold?: KeyHold, isAsked = true,
): RunWriter<Answer> {
  // Which agent of a group went on after a call of a client's tool could not be known.
  const isFine = agent.kind === 'agent' || input.clientTools === undefined
  const facts: CallFacts = isFine ? input : { ...input, clientTools: [], toolChoice: 'auto' }
  return new RunWriter(service, origin, facts, face, (call, emit) => {
    if (!isAsked) return noAnswer
    const taker = face.isWhole === true ? undefined : emit
    const hasSteps = face.takesSteps === true && taker !== undefined
    return answerMessage(service, agent, input, call, taker, hasSteps)
  }, hold)
}

/** Asks an agent once. `begin` makes the reply; left out: `replyAs`. Throws, or rejects with, a `Fault`. */
export function answerOnce(
  service: Service, exchange: Exchange, agent: Agent | Group, input: CallFacts & UserMessage,
  face: AgentFace, work: Repeatable, begin?: (run: RunWriter<Answer>) => MaybePromise<Reply>,
): MaybePromise<Reply> {
  const { origin } = exchange
  return replyOnce(service, exchange, work, timeoutOf(service, agent), (hold) => {
    const run = agentRun(service, origin, agent, input, face, hold)
    return begin === undefined ? run.replyAs(work.isStream) : begin(run)
  })
}
