/**
 * How a group answers: one member after the other, all at once, or those that a router picks. A member is an
 * agent, or a group that answers in its own way.
 */
import { answerOf, noAnswer, textAnswer } from './answer.ts'
import { text } from './content.ts'
import { asFault, Fault, sentence } from './fault.ts'
import { describe } from './log.ts'
import { warnOfNothing } from './warn-once.ts'
import type { Agent, Group } from './agent.ts'
import type { AgentResult, Answer, Emit } from './answer.ts'
import type { LiveCall } from './live-call.ts'
import type { Service } from './service.ts'

/** Who answers in a group. */
type Member = Agent | Group

/** The detail of the `Fault` that a failing agent ends a group with. */
export interface GroupFailure { readonly results: readonly AgentResult[] }

/** Runs a group. Throws `Fault('failed')` with a `GroupFailure` where an agent fails and the group stops. */
export async function runGroup(
  service: Service, group: Group, query: string, call: LiveCall, emit?: Emit,
): Promise<Answer> {
  if (group.mode === 'parallel') return parallel(service, group, query, call)
  if (group.mode === 'sequence') return sequence(service, group, group.agents, query, call, emit)
  return sequence(service, group, pick(group, await group.mode(query, call)), query, call, emit)
}

function pick(group: Group, choice: unknown): readonly Member[] {
  const names = Array.isArray(choice) && choice.length > 0 ? choice : [choice]
  return names.map((name: unknown) => {
    const agent = group.agents.find((one) => one.id === name || one.name === name)
    if (agent !== undefined) return agent
    const ids = group.agents.map((one) => `'${one.id}'`).join(', ')
    throw new TypeError(`The router of '${group.name}' chose ${describe(name)}; it has ${ids}`)
  })
}

async function sequence(
  service: Service, group: Group, agents: readonly Member[], query: string, call: LiveCall,
  emit: Emit | undefined,
): Promise<Answer> {
  const results: AgentResult[] = []
  let answer: Answer = textAnswer('')
  let input = query
  for (const [index, agent] of agents.entries()) {
    // What is streamed is the reply, and the reply is what the last agent says.
    const heard = index === agents.length - 1 ? emit : undefined
    const said = await attempt(service, group, agent, input, call, heard)
    results.push(said.share)
    if (said.answer === undefined) {
      if (group.onAgentError === 'stop') throw stopped(said.share, results)
      continue
    }
    answer = said.answer
    input = answer.text
    if (answer.state === 'completed') continue
    // The others cannot go on before this one has heard more: what it said is the reply.
    break
  }
  if (results.every((share) => share.error !== undefined)) throw stopped(results.at(-1), results)
  return { ...answer, results }
}

async function parallel(
  service: Service, group: Group, query: string, call: LiveCall,
): Promise<Answer> {
  const said = await Promise.all(
    group.agents.map((agent) => attempt(service, group, agent, query, call, undefined)),
  )
  const results = said.map(({ share }) => share)
  const failed = results.filter((share) => share.error !== undefined)
  if (failed.length === results.length || (failed.length > 0 && group.onAgentError === 'stop')) {
    throw stopped(failed[0], results)
  }
  const answers = said.flatMap(({ answer }) => answer ?? [])
  const whole = answers.map((answer) => answer.text).join('\n\n')
  const files = answers.flatMap((answer) => answer.content.filter((block) => block.type !== 'text'))
  const state = answers.find((answer) => answer.state !== 'completed')?.state ?? 'completed'
  return { ...textAnswer(whole), content: [text(whole), ...files], state, results }
}

interface Attempt { readonly share: AgentResult; readonly answer?: Answer }

async function attempt(
  service: Service, group: Group, agent: Member, input: string, call: LiveCall, emit: Emit | undefined,
): Promise<Attempt> {
  try {
    const answer = agent.kind === 'group' ? await runGroup(service, agent, input, call, emit)
      : await answerOf(agent.run(input, call), call, service.limits.maxResultBytes, emit)
    if (answer === noAnswer && agent.kind === 'agent') warnOfNothing(service.log, agent, call.requestId)
    if (answer.state === 'failed' || answer.state === 'rejected') {
      return { share: { agent: agent.name, error: answer.text || `The agent ${answer.state}` } }
    }
    return { answer, share: { agent: agent.name, response: answer.text } }
  } catch (error) {
    if (call.over) throw error
    const fault = asFault(error)
    if (fault.kind === 'internal') {
      service.log('error', 'An agent of a group failed', {
        request: call.requestId, group: group.id, agent: agent.id, cause: fault.cause ?? fault,
      })
    }
    return { share: { agent: agent.name, error: sentence(fault, call.requestId, service.exposeErrors) } }
  }
}

function stopped(share: AgentResult | undefined, results: readonly AgentResult[]): Fault {
  const detail: GroupFailure = { results }
  return new Fault('failed', `${share?.agent ?? 'An agent'} failed: ${share?.error ?? ''}`, detail)
}
