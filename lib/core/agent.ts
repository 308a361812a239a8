/**
 * An agent and a group of agents, as an author defines them: checked once, with errors that say what to
 * write instead, then frozen. How they are run is in `operations.ts`.
 */
import { isRecord } from './content.ts'
import {
  requireDefinition, requireFunction, requireString, requireText, requireTimeout, show, slug,
} from './define.ts'
import type { AgentOutput } from './answer.ts'
import type { Call } from './call.ts'

/** Something that an agent can do, for its A2A card. */
export interface Skill {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags?: readonly string[]
  readonly examples?: readonly string[]
}

/** The function behind an agent: a text in, an answer out, whole or piece by piece. */
export type Run = (prompt: string, call: Call) => AgentOutput

/** What `defineAgent` takes. */
export interface AgentDefinition {
  readonly name: string
  /** Made of the name where it is left out. */
  readonly id?: string
  readonly description?: string
  readonly version?: string
  readonly run: Run
  readonly skills?: readonly Skill[]
  /** Milliseconds for one run; left out, the server's `agentTimeoutMs`. */
  readonly timeoutMs?: number
  /** Media types it reads and writes; left out, `text/plain`. */
  readonly inputModes?: readonly string[]
  readonly outputModes?: readonly string[]
}

/** An agent, ready to be served. */
export interface Agent extends AgentDefinition {
  readonly kind: 'agent'
  readonly id: string
  readonly description: string
}

/** Picks who answers: an agent's id or name, or several, which then run in sequence. */
export type Router = (query: string, call: Call) => RouterChoice | Promise<RouterChoice>

/** What a router returns. */
export type RouterChoice = string | readonly string[]

/** What `defineGroup` takes. */
export interface GroupDefinition {
  readonly name: string
  readonly id?: string
  readonly description?: string
  readonly version?: string
  readonly agents: readonly AgentLike[]
  /**
   * `sequence` (default): each agent gets what the one before it said. `parallel`: all get the query, the
   * answers are joined by blank lines. A function routes the query.
   */
  readonly mode?: 'sequence' | 'parallel' | Router
  /** `stop` (default) ends at the first agent that fails; `continue` goes on with the last good text. */
  readonly onAgentError?: 'stop' | 'continue'
  /** Milliseconds for one run of the whole group; left out, what its agents may take together. */
  readonly timeoutMs?: number
}

/** A group, ready to be served. */
export interface Group extends GroupDefinition {
  readonly kind: 'group'
  readonly id: string
  readonly description: string
  readonly agents: readonly Agent[]
  readonly mode: 'sequence' | 'parallel' | Router
  readonly onAgentError: 'stop' | 'continue'
}

/** Whatever can stand for an agent: a bare function is the agent `Assistant`. */
export type AgentLike = Agent | AgentDefinition | Run

const AGENT_EXAMPLE = `{ name: 'Helper', run: (prompt) => 'You said ' + prompt }`

/** Checks and freezes an agent. Throws `TypeError` with a sentence that says what to write instead. */
export function defineAgent(definition: AgentLike): Agent {
  if (typeof definition === 'function') return defineAgent({ name: 'Assistant', run: definition })
  requireDefinition('defineAgent', definition, AGENT_EXAMPLE)
  if ('kind' in definition && definition.kind === 'agent' && Object.isFrozen(definition)) return definition
  const name = requireString('An agent', 'name', definition.name)
  const owner = `The agent '${name}'`
  requireFunction(owner, 'run', definition.run, AGENT_EXAMPLE)
  requireText(owner, 'description', definition.description)
  requireText(owner, 'version', definition.version)
  requireTimeout(owner, definition.timeoutMs)
  checkSkills(owner, definition.skills)
  return Object.freeze<Agent>({
    ...definition,
    kind: 'agent',
    name,
    id: idOf(owner, definition.id, name),
    description: definition.description ?? '',
    // Bound, so that an object with methods and state can be an agent too.
    run: (prompt, call) => definition.run(prompt, call),
  })
}

const GROUP_EXAMPLE = `{ name: 'Desk', agents: [researcher, writer], mode: 'sequence' }`

/** Checks and freezes a group. Throws `TypeError` with a sentence that says what to write instead. */
export function defineGroup(definition: GroupDefinition | Group): Group {
  requireDefinition('defineGroup', definition, GROUP_EXAMPLE)
  if ('kind' in definition && definition.kind === 'group' && Object.isFrozen(definition)) return definition
  const name = requireString('A group', 'name', definition.name)
  const owner = `The group '${name}'`
  if (!Array.isArray(definition.agents) || definition.agents.length === 0) {
    const example = `Write defineGroup(${GROUP_EXAMPLE})`
    throw new TypeError(`${owner} needs 'agents': a list of at least one agent. ${example}`)
  }
  requireText(owner, 'description', definition.description)
  requireText(owner, 'version', definition.version)
  const { mode = 'sequence', onAgentError = 'stop' } = definition
  if (mode !== 'sequence' && mode !== 'parallel' && typeof mode !== 'function') {
    const remedy = `write 'sequence', 'parallel' or a function that routes`
    throw new TypeError(`${owner} has mode ${show(mode)}; ${remedy}`)
  }
  if (onAgentError !== 'stop' && onAgentError !== 'continue') {
    throw new TypeError(`${owner} has onAgentError ${show(onAgentError)}; write 'stop' or 'continue'`)
  }
  requireTimeout(owner, definition.timeoutMs)
  const agents = definition.agents.map(defineAgent)
  const seen = new Map<string, Agent>()
  for (const agent of agents) {
    const twin = seen.get(agent.id)
    if (twin !== undefined) throw new TypeError(twins(owner, twin, agent))
    seen.set(agent.id, agent)
  }
  return Object.freeze<Group>({
    ...definition,
    kind: 'group',
    name,
    id: idOf(owner, definition.id, name),
    description: definition.description ?? `Runs ${agents.map((agent) => agent.name).join(', ')}.`,
    agents: Object.freeze(agents),
    mode,
    onAgentError,
  })
}

/** The sentence for two agents that would be reached by one path. */
export function twins(owner: string, first: { name: string; id: string }, second: { name: string }): string {
  return `${owner} has two agents with the id '${first.id}' ('${first.name}' and '${second.name}'); `
    + `give one of them another name, or an id of its own`
}

function idOf(owner: string, id: unknown, name: string): string {
  if (id === undefined) return slug(name)
  if (typeof id !== 'string' || slug(id) !== id) {
    const rule = `an id is lower-case letters and digits joined by '-'`
    const better = typeof id === 'string' ? `; write '${slug(id)}'` : ''
    throw new TypeError(`${owner} has the id ${show(id)}: ${rule}${better}`)
  }
  return id
}

function checkSkills(owner: string, skills: unknown): void {
  if (skills === undefined) return
  const fine = Array.isArray(skills) && skills.every((skill: unknown) => isRecord(skill)
    && ['id', 'name', 'description'].every((member) => typeof skill[member] === 'string'))
  if (!fine) {
    throw new TypeError(`${owner} has skills without id, name or description; `
      + `write skills: [{ id: 'sum', name: 'Sum', description: 'Adds numbers.', tags: ['math'] }]`)
  }
}
