/**
 * How a group answers: one member after the other, all at once, or those that a router picks. A member is an
 * agent, or a group that answers in its own way.
 */
import { aroundOf, runAround } from '../../kernel/define/around.ts'
import { isRecord, text } from '../../kernel/define/content.ts'
import { Fault, asFault, publicMessage, upstreamFault } from '../../kernel/define/fault.ts'
import { describe } from '../../kernel/define/log.ts'
import { requireScopes } from '../../kernel/define/principal.ts'
import { answerOf, inputOf, textAnswer } from '../answers/answer.ts'
import { warnOfAnswer, warnOfData, warnOfFiles } from '../answers/warnings.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { CallEvent } from '../../kernel/define/event.ts'
import type { LiveCall } from '../../kernel/define/live-call.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { AgentResult, Answer } from '../answers/answer.ts'
import type { Emit } from '../answers/run-event.ts'

type Member = Agent | Group

/**
 * Runs a group. `emit` gets the pieces of its reply. `hasSteps`: it gets those of every agent instead, of
 * groups in it too, each at the end of its agent where there were none; in a `parallel` group they are mixed.
 * What a group in it says in the place of its agents (by `around`) is its own step.
 * Throws `Fault('failed')` with `{ results }` where an agent fails and the group stops.
 */
export async function runGroup(
  service: Service, group: Group, query: string, call: LiveCall, emit?: Emit, hasSteps = false,
): Promise<Answer> {
  const { agents, mode } = group
  if (mode === 'parallel') return parallel(service, group, query, call, emit, hasSteps)
  const chosen = mode === 'sequence' ? agents : pick(group, await mode(query, call))
  for (const { scopes } of chosen) requireScopes(call.origin, scopes)
  return sequence(service, group, chosen, query, call, emit, hasSteps)
}

function pick(group: Group, choice: unknown): readonly Member[] {
  const names = Array.isArray(choice) && choice.length > 0 ? choice : [choice]
  return names.map((name: unknown) => {
    const agent = group.agents.find((one) => one.id === name || one.name === name)
    if (agent !== undefined) return agent
    const ids = group.agents.map((one) => `'${one.id}'`).join(', ')
    const cause = new TypeError(`The router of '${group.name}' chose ${describe(name)}; it has ${ids}`)
    const message = `The router of '${group.name}' chose an agent that is not there`
    throw new Fault('upstream', message, undefined, { cause })
  })
}

async function sequence(
  service: Service, group: Group, agents: readonly Member[], query: string, call: LiveCall,
  emit: Emit | undefined, hasSteps: boolean,
): Promise<Answer> {
  const results: AgentResult[] = []
  let answer: Answer = textAnswer('')
  let input = query
  let last: Attempt | undefined
  let before: Member | undefined
  for (const [index, agent] of agents.entries()) {
    // The reply is what the last agent answers.
    const memberEmit = hasSteps || index === agents.length - 1 ? emit : undefined
    const one = await attempt(service, group, agent, input, call, memberEmit, hasSteps)
    results.push(one.result)
    last = one
    if (one.answer === undefined) {
      if (group.onAgentError === 'stop') throw stopped(one, results)
      continue
    }
    // What the one before gave besides its text ends here; its files were shown where each agent is.
    if (before !== undefined) {
      warnOfData(service.log, before, answer, `the group '${group.name}'`, call.requestId)
      if (!hasSteps) warnOfFiles(service.log, before, answer, group, call.requestId)
    }
    before = agent
    answer = one.answer
    input = answer.text
    if (answer.state === 'completed') continue
    // It needs another message first: what it said is the reply.
    break
  }
  if (results.every((result) => result.error !== undefined)) throw stopped(last, results)
  return { ...answer, results }
}

async function parallel(
  service: Service, group: Group, query: string, call: LiveCall, emit: Emit | undefined,
  hasSteps: boolean,
): Promise<Answer> {
  const memberEmit = hasSteps ? emit : undefined
  const attempts = await Promise.all(
    group.agents.map((agent) => attempt(service, group, agent, query, call, memberEmit, hasSteps)),
  )
  const results = attempts.map(({ result }) => result)
  const failed = attempts.filter(({ result }) => result.error !== undefined)
  if (failed.length === results.length || (failed.length > 0 && group.onAgentError === 'stop')) {
    throw stopped(failed[0], results)
  }
  const answers = attempts.flatMap(({ answer }) => answer ?? [])
  for (const [index, { answer }] of attempts.entries()) {
    if (answer === undefined) continue
    warnOfData(service.log, group.agents[index]!, answer, `the group '${group.name}'`, call.requestId)
  }
  const whole = answers.flatMap((answer) => answer.text || []).join('\n\n')
  const files = answers.flatMap((answer) => answer.content.filter((block) => block.type !== 'text'))
  const state = answers.find((answer) => answer.state !== 'completed')?.state ?? 'completed'
  const content = whole === '' && files.length > 0 ? files : [text(whole), ...files]
  return { ...textAnswer(whole), content, state, results }
}

interface Attempt { readonly result: AgentResult; readonly answer?: Answer; readonly fault?: Fault }

async function attempt(
  service: Service, group: Group, agent: Member, input: string, call: LiveCall, emit: Emit | undefined,
  hasSteps: boolean,
): Promise<Attempt> {
  try {
    const hasOwnCall = agent.kind === 'agent' && (hasSteps || call.host.around !== undefined)
    const own = hasOwnCall ? callOf(agent, call) : call
    const answer = !hasSteps || emit === undefined
      ? await runMember(service, agent, input, own, emit, hasSteps)
      : await runStep(service, agent, input, own, emit)
    if (agent.kind === 'agent') warnOfAnswer(service.log, agent, answer, call.requestId)
    if (answer.state === 'failed' || answer.state === 'rejected') {
      return { result: { agent: agent.name, error: answer.text || `The agent ${answer.state}` } }
    }
    return { answer, result: { agent: agent.name, response: answer.text } }
  } catch (error) {
    if (call.over) throw error
    const thrown = asFault(error)
    // No failure of the agent: its caller has to ask for a scope.
    if (thrown.kind === 'forbidden' && isRecord(thrown.detail) && 'scopes' in thrown.detail) throw thrown
    const fault = thrown.kind === 'internal' ? upstreamFault(error) ?? thrown : thrown
    const isDefect = fault.kind === 'internal'
    if (isDefect || fault !== error) {
      service.log(isDefect ? 'error' : 'warning', 'An agent of a group failed', {
        group: group.name, agent: agent.name, protocol: call.protocol, request: call.requestId,
        cause: fault.cause ?? fault,
      })
    }
    const result = { agent: agent.name, error: publicMessage(fault, call.requestId, service.exposeErrors) }
    return { result, fault }
  }
}

/** Runs an agent or a group, within the author's `around`. */
export function runMember(
  service: Service, member: Member, input: string, call: LiveCall, emit: Emit | undefined,
  hasSteps: boolean,
): MaybePromise<Answer> {
  const { kind, name } = member
  const around = aroundOf(call.host.around, member)
  if (around === undefined) return runCode(service, member, input, call, emit, hasSteps)
  return runAround(around, { kind, name, input, call },
    () => runCode(service, member, input, call, emit, hasSteps),
    (output) => answerOf(output, call, service.limits.maxResultBytes, service.adapters, emit), inputOf)
}

function runCode(
  service: Service, member: Member, input: string, call: LiveCall, emit: Emit | undefined,
  hasSteps: boolean,
): MaybePromise<Answer> {
  if (member.kind === 'group') return runGroup(service, member, input, call, emit, hasSteps)
  return answerOf(member.run(input, call), call, service.limits.maxResultBytes, service.adapters, emit)
}

/** The call as a member has it: its events have its name, and what runs around it knows it from others. */
function callOf(agent: Agent, call: LiveCall): LiveCall {
  return new Proxy(call, {
    get(target, member) {
      if (member === 'event') return (event: CallEvent) => target.event(event, agent.name)
      if (member === 'endReasoning') return () => target.endReasoning(agent.name)
      const value: unknown = Reflect.get(target, member)
      // Bound, because private members are those of the call alone.
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** A step begins with its agent; that of a group only where the group itself says something. */
async function runStep(
  service: Service, member: Member, input: string, call: LiveCall, emit: Emit,
): Promise<Answer> {
  if (member.kind === 'agent') void emit({ type: 'step', agent: member })
  let hasPieces = false
  const answer = await runMember(service, member, input, call, (event) => {
    hasPieces ||= event.type === 'piece'
    // Within a group its agents have put their names there.
    return emit({ agent: member, ...event })
  }, member.kind === 'group')
  const { content, state } = answer
  if (hasPieces || call.over || state === 'failed' || state === 'rejected') return answer
  for (const block of content) await emit({ type: 'piece', content: block, state, agent: member })
  return answer
}

/** `busy` and `upstream` may work later, and stay what they are; all else is a failure of the group. */
function stopped(attempt: Attempt | undefined, results: readonly AgentResult[]): Fault {
  const { result, fault }: Partial<Attempt> = attempt ?? {}
  const kind = fault?.kind === 'busy' || fault?.kind === 'upstream' ? fault.kind : 'failed'
  const message = `${result?.agent ?? 'An agent'} failed: ${result?.error ?? ''}`
  return new Fault(kind, message, { results }, { retryAfterSeconds: fault?.retryAfterSeconds })
}
