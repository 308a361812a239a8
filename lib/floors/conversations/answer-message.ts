/**
 * Answers one message within a conversation: the history goes in, the agent's answer comes out, and both are
 * added to the history. The same in every protocol. A run that outlives its request is in `task-run.ts`.
 */
import { ownText } from '../../kernel/util/own.ts'
import { isThenable } from '../../kernel/util/thenable.ts'
import { textOf } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { runMember } from '../groups/group.ts'
import { requireScopes } from '../../kernel/define/principal.ts'
import { show } from '../../kernel/define/validate.ts'
import { describe, logLevelOf } from '../../kernel/define/log.ts'
import { runHandler } from '../../kernel/run/run-handler.ts'
import { answerOf, noAnswer } from '../answers/answer.ts'
import { warnOfAnswer, warnOfFailure } from '../answers/warnings.ts'
import { conversationsOf } from './conversation.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { CallChannel, ChatMessage, Origin } from '../../kernel/define/call.ts'
import type { LiveCall } from '../../kernel/define/live-call.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Answer } from '../answers/answer.ts'
import type { Emit } from '../answers/run-event.ts'

export interface UserMessage {
  readonly prompt: string
  /** Undefined: the message stands alone, and nothing is remembered. */
  readonly conversationId: string | undefined
  /** Whose conversation it is. Left out: the caller's. */
  readonly owner?: string | undefined
  /** Whether the client named the conversation; one that was made for this message has no history. */
  readonly isNamed: boolean
  /** Earlier messages that the client sent; then none are looked up. */
  readonly history?: readonly ChatMessage[] | undefined
  /** Characters of what was read for it: they count while it runs. */
  readonly readLength?: number
  /** What is remembered instead of a prompt without text. */
  readonly remembered?: string
}

/**
 * Answers a message, with the checks and limits of `runHandler`. Synchronous where the agent is. `emit` gets
 * each piece of the answer as it comes; `hasSteps`: of a group it gets those of every agent.
 * An answer with the state `failed` is `Fault('failed')`, one with `rejected` `Fault('invalid')`, both with
 * the agent's own text; neither is remembered.
 */
export function answerMessage(
  service: Service, agent: Agent | Group, message: UserMessage, call: LiveCall, emit?: Emit,
  hasSteps = false,
): MaybePromise<Answer> {
  const turn = { service, agent, message, call, emit, hasSteps, isStrict: true }
  return runHandler(service, call, agent, timeoutOf(service, agent), begin, turn)
}

/**
 * The same for parts that others write, which may have been written for an older form. Throws `TypeError` for
 * an `emit` of several arguments, and for what listens to a group in the place of `hasSteps`.
 */
export function answerForPart(
  service: Service, agent: Agent | Group, message: UserMessage, call: LiveCall, emit?: Emit,
  hasSteps = false,
): MaybePromise<Answer> {
  if (emit !== undefined && (typeof emit !== 'function' || emit.length > 1)) {
    throw new TypeError(`answerMessage takes an emit of one argument, and not ${show(emit)}; write `
      + `(event) => …, where an event is { type: 'piece', content, state } or { type: 'step', agent }`)
  }
  if (typeof hasSteps !== 'boolean') {
    throw new TypeError(`answerMessage has hasSteps ${show(hasSteps)}; write true, and let emit take `
      + `{ type: 'step', agent } where an agent of a group begins, and { type: 'piece', content, agent }`)
  }
  return answerMessage(service, agent, message, call, emit && withText(emit), hasSteps)
}

/** What reads `text` of a piece, as pieces were content once, still gets it. */
function withText(emit: Emit): Emit {
  return (event) => {
    if (event.type !== 'piece' || event.content.type !== 'text') return emit(event)
    return emit({ ...event, text: event.content.text })
  }
}

/** The same without `runHandler`; the caller reads the answer's state. */
export function runConversationTurn(
  service: Service, agent: Agent | Group, message: UserMessage, call: LiveCall, emit?: Emit,
): MaybePromise<Answer> {
  return begin({ service, agent, message, call, emit, hasSteps: false, isStrict: false })
}

interface Turn {
  readonly service: Service
  readonly agent: Agent | Group
  readonly message: UserMessage
  readonly call: LiveCall
  readonly emit: Emit | undefined
  readonly hasSteps: boolean
  /** An answer with the state `failed` or `rejected` is thrown. */
  readonly isStrict: boolean
}

function begin(turn: Turn): MaybePromise<Answer> {
  const { service, agent, message, call } = turn
  if (agent.scopes.length > 0) requireScopes(call.origin, agent.scopes)
  if (message.readLength !== undefined) call.hold(message.readLength)
  if (message.history !== undefined) {
    call.history = message.history
  } else if (message.isNamed && message.conversationId !== undefined) {
    const owner = message.owner ?? call.principal.id
    const history = conversationsOf(service).history(owner, message.conversationId)
    if (isThenable(history)) return loadAndRun(turn, history)
    call.history = history
  }
  return run(turn)
}

async function loadAndRun(turn: Turn, history: Promise<readonly ChatMessage[]>): Promise<Answer> {
  const known = await history
  if (turn.call.reason !== undefined) throw turn.call.reason
  // It is a copy of what the store has, and counts: a thousand runs have a thousand copies.
  turn.call.hold(known.reduce((sum, { content }) => sum + content.length, 0))
  turn.call.history = known
  return run(turn)
}

/** How long one run may take, in milliseconds; a group: as long as its agents together. */
export function timeoutOf(service: Service, agent: Agent | Group): number {
  const { agentTimeoutMs } = service.limits
  if (agent.timeoutMs !== undefined || agent.kind === 'agent') return agent.timeoutMs ?? agentTimeoutMs
  const each = agent.agents.map((one) => timeoutOf(service, one))
  return agent.mode === 'parallel' ? Math.max(...each) : each.reduce((sum, ms) => sum + ms, 0)
}

function run(turn: Turn): MaybePromise<Answer> {
  const { service, agent, message: { prompt }, call, emit, hasSteps } = turn
  if (agent.kind === 'group' || call.host.around !== undefined) {
    return finish(turn, runMember(service, agent, prompt, call, emit, hasSteps))
  }
  const output = agent.run(prompt, call)
  return isThenable(output) ? Promise.resolve(output).then(takeOutput.bind(undefined, turn))
    : takeOutput(turn, output)
}

function takeOutput(turn: Turn, output: unknown): MaybePromise<Answer> {
  const { service, call, emit } = turn
  return finish(turn, answerOf(output, call, service.limits.maxResultBytes, service.adapters, emit))
}

function finish(turn: Turn, answer: MaybePromise<Answer>): MaybePromise<Answer> {
  // Bound: an async function would take twice the memory.
  if (isThenable(answer)) return answer.then(finish.bind(undefined, turn))
  const remembered = remember(turn, answer)
  if (!turn.isStrict) return remembered
  return isThenable(remembered) ? remembered.then((later) => accepted(later, turn))
    : accepted(remembered, turn)
}

/** Adds both sides to the conversation, unless the run is over already. */
function remember({ service, agent, message, call }: Turn, answer: Answer): MaybePromise<Answer> {
  const { conversationId, isNamed, prompt, remembered, owner = call.principal.id } = message
  const artifacts = call.takeArtifacts()
  const isMeant = artifacts.length > 0 && answer === noAnswer
  if (agent.kind === 'agent' && !isMeant && !call.over) {
    warnOfAnswer(service.log, agent, answer, call.requestId)
  }
  const whole = artifacts.length === 0 ? answer : { ...answer, artifacts }
  const { state } = answer
  if (conversationId === undefined || call.over || state === 'failed' || state === 'rejected') return whole
  const shown = artifacts.length === 0 ? '' : textOf(artifacts.flatMap(({ parts }) => parts))
  const conversations = conversationsOf(service)
  const asked = remembered ?? prompt
  const answered = answer.isOwn && shown === '' ? answer.text : ownText(answer.text + shown)
  const reply: ChatMessage = { role: 'assistant', content: answered }
  const added: readonly ChatMessage[] = asked === '' ? [reply] : [{ role: 'user', content: asked }, reply]
  const recorded = isNamed ? conversations.record(owner, conversationId, added, call.history)
    : conversations.begin(owner, conversationId, asked, answered)
  return isThenable(recorded) ? recorded.then(() => whole) : whole
}

function accepted(answer: Answer, { agent, service: { log }, call: { requestId } }: Turn): Answer {
  const { state, text } = answer
  const { name } = agent
  if (state === 'failed' || state === 'rejected') warnOfFailure(log, agent, answer, requestId)
  if (state === 'failed') throw new Fault('failed', text || 'The agent failed', { state, agent: name })
  if (state === 'rejected') {
    throw new Fault('invalid', text || 'The agent rejected the message', { state, agent: name })
  }
  return answer
}

/** The channel of a protocol that carries only the answer: log lines go to the server's own log. */
export function plainChannel(
  service: Service, { requestId: request }: Pick<Origin, 'requestId'>,
): Pick<Required<CallChannel>, 'log'> {
  return {
    log: (level, data, logger) => service.log(logLevelOf(level), describe(data), { request, logger }),
  }
}
