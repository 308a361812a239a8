/**
 * One message answered within a conversation: what was said before goes in, the agent's answer comes out, and
 * both are remembered. The same on every door: history, artifacts, states, limits, and what becomes of
 * progress and log lines that a protocol cannot carry.
 *
 * Knows no protocol. A run that outlives its request is in `task-run.ts`.
 */
import { answerOf, noAnswer } from './answer.ts'
import { textOf } from './content.ts'
import { Fault } from './fault.ts'
import { runGroup } from './group.ts'
import { describe, logLevelOf } from './log.ts'
import { runHandler } from './run-handler.ts'
import { warnOfNothing } from './warn-once.ts'
import type { Agent, Group } from './agent.ts'
import type { Answer, Emit } from './answer.ts'
import type { CallChannel, CallFacts, Origin, Protocol } from './call.ts'
import type { Content } from './content.ts'
import type { ChatMessage } from './conversation.ts'
import type { GroupListener } from './group.ts'
import type { LiveCall } from './live-call.ts'
import type { Severity } from './log.ts'
import type { Service } from './service.ts'
import type { MaybePromise } from './store.ts'

/** A message to an agent or a group, in the words of no protocol. */
export interface UserMessage {
  /** What the agent is asked. */
  readonly prompt: string
  /** The conversation that the message belongs to. Undefined: it stands alone, and nothing is remembered. */
  readonly conversationId: string | undefined
  /** Whether the client named the conversation; one that was made for this message has no history. */
  readonly isNamed: boolean
  /** Earlier messages that the client brought itself; then none are looked up. */
  readonly history?: readonly ChatMessage[] | undefined
  /** What is remembered in the place of a prompt without words. */
  readonly remembered?: string
}

/**
 * Answers a message under the house's rules. Synchronous where the agent is. `emit` gets each piece of the
 * answer as it comes; of a group `listener`, in its place, those of every agent. An agent that says itself
 * that it failed is `Fault('failed')`, one that will not do it `Fault('invalid')`, both with the agent's own
 * text; neither is remembered.
 */
export function converse(
  service: Service, who: Agent | Group, message: UserMessage, call: LiveCall, emit?: Emit,
  listener?: GroupListener,
): MaybePromise<Answer> {
  return runHandler(service, call, who, timeoutOf(service, who), () => {
    const answer = speak(service, who, message, call, emit, listener)
    return answer instanceof Promise ? answer.then((later) => accepted(later, who)) : accepted(answer, who)
  })
}

/** The same for those who run the agent within rules of their own, and read the answer's state themselves. */
export function speak(
  service: Service, who: Agent | Group, message: UserMessage, call: LiveCall, emit?: Emit,
  listener?: GroupListener,
): MaybePromise<Answer> {
  if (message.history !== undefined) {
    call.history = message.history
  } else if (message.isNamed && message.conversationId !== undefined) {
    const history = service.conversations.history(call.principal.id, message.conversationId)
    if (history instanceof Promise) {
      return history.then((known) => {
        // Whoever has left meanwhile wants no run.
        if (call.reason !== undefined) throw call.reason
        call.history = known
        return say(service, who, message, call, emit, listener)
      })
    }
    call.history = history
  }
  return say(service, who, message, call, emit, listener)
}

/** How long one run may take, in milliseconds: a group has what its agents may take together. */
export function timeoutOf(service: Service, who: Agent | Group): number {
  const { agentTimeoutMs } = service.limits
  if (who.timeoutMs !== undefined || who.kind === 'agent') return who.timeoutMs ?? agentTimeoutMs
  const each = who.agents.map((one) => timeoutOf(service, one))
  return who.mode === 'parallel' ? Math.max(...each) : each.reduce((sum, ms) => sum + ms, 0)
}

function say(
  service: Service, who: Agent | Group, message: UserMessage, call: LiveCall, emit: Emit | undefined,
  listener: GroupListener | undefined,
): MaybePromise<Answer> {
  const answer = who.kind === 'group' ? runGroup(service, who, message.prompt, call, emit, listener)
    : answerOf(who.run(message.prompt, call), call, service.limits.maxResultBytes, emit)
  return answer instanceof Promise ? answer.then((later) => remember(service, who, message, call, later))
    : remember(service, who, message, call, answer)
}

/** Puts both sides into the conversation. What comes after the run is over is nobody's any more. */
function remember(
  service: Service, who: Agent | Group, { conversationId, isNamed, prompt, remembered }: UserMessage,
  call: LiveCall, answer: Answer,
): MaybePromise<Answer> {
  const artifacts = call.takeArtifacts()
  const isNothing = answer === noAnswer && artifacts.length === 0 && !call.over
  if (isNothing && who.kind === 'agent') warnOfNothing(service.log, who, call.requestId)
  const whole = artifacts.length === 0 ? answer : { ...answer, artifacts }
  const { state } = answer
  if (conversationId === undefined || call.over || state === 'failed' || state === 'rejected') return whole
  const shown = artifacts.length === 0 ? '' : textOf(artifacts.flatMap(({ parts }) => parts))
  const { conversations } = service
  const asked = remembered ?? prompt
  const answered = answer.text + shown
  const recorded = isNamed ? conversations.record(call.principal.id, conversationId, [
    { role: 'user', content: asked }, { role: 'assistant', content: answered },
  ], call.history) : conversations.begin(call.principal.id, conversationId, asked, answered)
  return recorded instanceof Promise ? recorded.then(() => whole) : whole
}

function accepted(answer: Answer, { name }: Agent | Group): Answer {
  const { state, text } = answer
  if (state === 'failed') throw new Fault('failed', text || 'The agent failed', { state, agent: name })
  if (state === 'rejected') {
    throw new Fault('invalid', text || 'The agent rejected the message', { state, agent: name })
  }
  return answer
}

/**
 * What a request says, and its way back, in a protocol that carries nothing but the answer: progress is
 * dropped, and log lines go to the server's own log.
 */
export class PlainChannel implements CallFacts, CallChannel {
  readonly protocol: Protocol
  readonly sessionId: string | undefined
  readonly message: readonly Content[]
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  readonly origin: Origin
  readonly #service: Service

  constructor(
    service: Service, origin: Origin, protocol: Protocol, sessionId?: string,
    message: readonly Content[] = [], metadata?: Readonly<Record<string, unknown>>,
  ) {
    this.#service = service
    this.origin = origin
    this.protocol = protocol
    this.sessionId = sessionId
    this.message = message
    this.metadata = metadata
  }

  log(level: Severity, data: unknown, logger: string | undefined): void {
    this.#service.log(logLevelOf(level), describe(data), { request: this.origin.requestId, logger })
  }
}
