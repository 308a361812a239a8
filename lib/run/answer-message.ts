/**
 * One message answered within a conversation: what was said before goes in, the agent's answer comes out, and
 * both are remembered. The same on every door: history, artifacts, states, limits, and what becomes of
 * progress and log lines that a protocol cannot carry.
 *
 * Knows no protocol. A run that outlives its request is in `task-run.ts`.
 */
import { isThenable } from '../util/thenable.ts'
import { answerOf, noAnswer } from '../define/answer.ts'
import { textOf } from '../define/content.ts'
import { Fault } from '../define/fault.ts'
import { runGroup } from './group.ts'
import { describe, logLevelOf } from '../define/log.ts'
import { runHandler } from './run-handler.ts'
import { warnOfNothing } from './service.ts'
import type { MaybePromise } from '../util/thenable.ts'
import type { Agent, Group } from '../define/agent.ts'
import type { Answer, Emit } from '../define/answer.ts'
import type { CallChannel, CallFacts, Origin, Protocol } from '../define/call.ts'
import type { ChatMessage } from '../define/chat.ts'
import type { Content } from '../define/content.ts'
import type { GroupListener } from './group.ts'
import type { LiveCall } from '../define/live-call.ts'
import type { Severity } from '../define/log.ts'
import type { Service } from './service.ts'

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
export function answerMessage(
  service: Service, who: Agent | Group, message: UserMessage, call: LiveCall, emit?: Emit,
  listener?: GroupListener,
): MaybePromise<Answer> {
  const talk = { service, who, message, call, emit, listener, isStrict: true }
  return runHandler(service, call, who, timeoutOf(service, who), begin, talk)
}

/** The same for those who run the agent within rules of their own, and read the answer's state themselves. */
export function runConversationTurn(
  service: Service, who: Agent | Group, message: UserMessage, call: LiveCall, emit?: Emit,
): MaybePromise<Answer> {
  return begin({ service, who, message, call, emit, listener: undefined, isStrict: false })
}

/** One message on its way to its answer. */
interface Talk {
  readonly service: Service
  readonly who: Agent | Group
  readonly message: UserMessage
  readonly call: LiveCall
  readonly emit: Emit | undefined
  readonly listener: GroupListener | undefined
  /** An agent that says itself that it failed has failed. */
  readonly isStrict: boolean
}

function begin(talk: Talk): MaybePromise<Answer> {
  const { service, message, call } = talk
  if (message.history !== undefined) {
    call.history = message.history
  } else if (message.isNamed && message.conversationId !== undefined) {
    const history = service.conversations.history(call.principal.id, message.conversationId)
    if (isThenable(history)) return recallAndRun(talk, history)
    call.history = history
  }
  return run(talk)
}

async function recallAndRun(talk: Talk, history: Promise<readonly ChatMessage[]>): Promise<Answer> {
  const known = await history
  // Whoever has left meanwhile wants no run.
  if (talk.call.reason !== undefined) throw talk.call.reason
  // A copy of what the store has: of a thousand runs it would be as many.
  talk.call.hold(known.reduce((sum, { content }) => sum + content.length, 0))
  talk.call.history = known
  return run(talk)
}

/** How long one run may take, in milliseconds: a group has what its agents may take together. */
export function timeoutOf(service: Service, who: Agent | Group): number {
  const { agentTimeoutMs } = service.limits
  if (who.timeoutMs !== undefined || who.kind === 'agent') return who.timeoutMs ?? agentTimeoutMs
  const each = who.agents.map((one) => timeoutOf(service, one))
  return who.mode === 'parallel' ? Math.max(...each) : each.reduce((sum, ms) => sum + ms, 0)
}

function run(talk: Talk): MaybePromise<Answer> {
  const { service, who, message: { prompt }, call, emit, listener } = talk
  if (who.kind === 'group') return finish(talk, runGroup(service, who, prompt, call, emit, listener))
  const output = who.run(prompt, call)
  return isThenable(output) ? Promise.resolve(output).then(hear.bind(undefined, talk)) : hear(talk, output)
}

/** Takes what an agent has returned, or has promised. */
function hear(talk: Talk, output: unknown): MaybePromise<Answer> {
  const { service, call, emit } = talk
  return finish(talk, answerOf(output, call, service.limits.maxResultBytes, emit))
}

function finish(talk: Talk, answer: MaybePromise<Answer>): MaybePromise<Answer> {
  // Bound: an async function would take twice the room.
  if (isThenable(answer)) return answer.then(finish.bind(undefined, talk))
  const remembered = remember(talk, answer)
  if (isThenable(remembered)) return acceptLater(talk, remembered)
  return talk.isStrict ? accepted(remembered, talk.who) : remembered
}

async function acceptLater({ isStrict, who }: Talk, answer: Promise<Answer>): Promise<Answer> {
  return isStrict ? accepted(await answer, who) : answer
}

/** Puts both sides into the conversation. What comes after the run is over is nobody's any more. */
function remember({ service, who, message, call }: Talk, answer: Answer): MaybePromise<Answer> {
  const { conversationId, isNamed, prompt, remembered } = message
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
  return isThenable(recorded) ? recorded.then(() => whole) : whole
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
