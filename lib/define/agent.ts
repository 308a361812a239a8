/**
 * An agent and a group of agents, as an author defines them: checked once, with errors that say what to
 * write instead, then frozen. How they are run is in `converse.ts` and `group.ts`.
 */
import { isRecord } from './content.ts'
import {
  rejectClass, rejectMore, rejectUnknownMembers, requireDefinition, requireFunction, requireKind,
  requireRecover, requireString, requireText, requireTexts, requireTimeout, show, slug,
} from './validate.ts'
import { refuseForeign } from './foreign.ts'
import type { AgentOutput } from './answer.ts'
import type { Call } from './call.ts'
import type { Members } from './validate.ts'

/** Something that an agent can do, for its A2A card. */
export interface Skill {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags?: readonly string[] | undefined
  readonly examples?: readonly string[] | undefined
  /** Media types that it reads and writes; left out, its agent's. */
  readonly inputModes?: readonly string[] | undefined
  readonly outputModes?: readonly string[] | undefined
}

const skill: Members<Skill> = {
  id: true, name: true, description: true, tags: true, examples: true, inputModes: true, outputModes: true,
}

/** The function behind an agent: a text in, an answer out, whole or piece by piece. */
export type Run = (prompt: string, call: Call) => AgentOutput

/** What `defineAgent` takes. */
export interface AgentDefinition {
  readonly name: string
  /** In paths and names of tools: at most 48 of `a-z 0-9`, joined by `-`. Left out: made of the name. */
  readonly id?: string | undefined
  readonly description?: string | undefined
  /** For its A2A card. Left out: the server's. */
  readonly version?: string | undefined
  readonly run: Run
  readonly skills?: readonly Skill[] | undefined
  /** Milliseconds for one run; left out, the server's `agentTimeoutMs`. */
  readonly timeoutMs?: number | undefined
  /** Media types it reads and writes; left out, `text/plain`. */
  readonly inputModes?: readonly string[] | undefined
  readonly outputModes?: readonly string[] | undefined
  /**
   * What an A2A client gets: `task` (default), `message`, or `either`: then each answer says so itself by its
   * `reply`, and no task is shown before the agent has said something.
   */
  readonly replies?: 'task' | 'message' | 'either' | undefined
  /**
   * `rerun`: where processes share a store and the one that runs its task dies, another runs it again from
   * the top; `maxRuns` in all. Left out: it runs at most once, and its task has failed. A group runs again
   * where all of its agents do.
   */
  readonly recover?: 'rerun' | undefined
}

/** An agent, ready to be served. */
export interface Agent extends AgentDefinition {
  readonly kind: 'agent'
  readonly id: string
  readonly description: string
}

/** The names of an agent's members. */
export const agentMembers: Members<Agent> = {
  name: true, id: true, description: true, version: true, run: true, skills: true, timeoutMs: true,
  inputModes: true, outputModes: true, replies: true, recover: true, kind: true,
}

/** Picks who answers: an agent's id or name, or several, which then run in sequence. */
export type Router = (query: string, call: Call) => RouterChoice | PromiseLike<RouterChoice>

/** What a router returns. */
export type RouterChoice = string | readonly string[]

/** What `defineGroup` takes. */
export interface GroupDefinition {
  readonly name: string
  /** As that of an agent. */
  readonly id?: string | undefined
  /** Left out: a sentence that names its agents. */
  readonly description?: string | undefined
  /** For its A2A card. Left out: the server's. */
  readonly version?: string | undefined
  /** Each runs as one member; a group within a group too. */
  readonly agents: readonly (AgentLike | Group | GroupDefinition)[]
  /**
   * `sequence` (default): each agent gets what the one before it said. `parallel`: all get the query, the
   * answers are joined by blank lines. A function routes the query.
   */
  readonly mode?: 'sequence' | 'parallel' | Router | undefined
  /** `stop` (default) ends at the first agent that fails; `continue` goes on with the last good text. */
  readonly onAgentError?: 'stop' | 'continue' | undefined
  /** Milliseconds for one run of the whole group; left out, what its agents may take together. */
  readonly timeoutMs?: number | undefined
}

/** A group, ready to be served. */
export interface Group extends GroupDefinition {
  readonly kind: 'group'
  readonly id: string
  readonly description: string
  readonly agents: readonly (Agent | Group)[]
  readonly mode: 'sequence' | 'parallel' | Router
  readonly onAgentError: 'stop' | 'continue'
}

/** The names of a group's members. */
export const groupMembers: Members<Group> = {
  name: true, id: true, description: true, version: true, agents: true, mode: true, onAgentError: true,
  timeoutMs: true, kind: true,
}

/** Whatever can stand for an agent: a bare function is the agent `Assistant`. */
export type AgentLike = Agent | AgentDefinition | Run

const AGENT_EXAMPLE = `{ name: 'Helper', run: (prompt) => 'You said ' + prompt }`

/** Agents that were given as functions, which have no place for a description. */
const functions = new WeakSet<Agent>()

/** Whether an agent was given as a bare function. */
export function isBareFunction(agent: Agent): boolean {
  return functions.has(agent)
}

/**
 * Checks and freezes an agent. Throws `TypeError` with a sentence that says what to write instead, also for a
 * member that is not known; an object of a class may have members of its own, which are its state.
 */
export function defineAgent(definition: AgentLike): Agent {
  rejectMore('defineAgent', arguments, `write defineAgent(${AGENT_EXAMPLE})`)
  refuseForeign(definition)
  if (typeof definition === 'function') {
    rejectClass('The agent', definition)
    const agent = defineAgent({ name: 'Assistant', run: definition })
    functions.add(agent)
    return agent
  }
  requireDefinition('defineAgent', definition, AGENT_EXAMPLE)
  if (isMade(definition, 'agent')) return definition
  const name = requireString('An agent', 'name', definition.name)
  const owner = `The agent '${name}'`
  requireKind(owner, 'agent', definition)
  if (isGroup(definition) && !('run' in definition)) {
    throw new TypeError(`${owner} has agents, so it is a group; put it into 'groups'`)
  }
  requireFunction(owner, 'run', definition, agentMembers, AGENT_EXAMPLE)
  rejectUnknownMembers(owner, definition, agentMembers)
  requireText(owner, 'description', definition.description)
  requireText(owner, 'version', definition.version)
  requireTimeout(owner, definition.timeoutMs)
  requireTexts(owner, 'inputModes', definition.inputModes, `['text/plain']`)
  requireTexts(owner, 'outputModes', definition.outputModes, `['text/plain']`)
  requireSkills(owner, `'${name}'`, definition.skills)
  checkReplies(owner, definition.replies)
  requireRecover(owner, definition.recover)
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
  rejectMore('defineGroup', arguments, `write defineGroup(${GROUP_EXAMPLE})`)
  return groupOf(definition, [])
}

/** `around` are the definitions that it stands in: none of them may be itself. */
function groupOf(definition: GroupDefinition | Group, around: readonly unknown[]): Group {
  requireDefinition('defineGroup', definition, GROUP_EXAMPLE)
  if (isMade(definition, 'group')) return definition
  const name = requireString('A group', 'name', definition.name)
  const owner = `The group '${name}'`
  if (around.includes(definition)) {
    throw new TypeError(`${owner} is a member of itself; take it out of its agents`)
  }
  requireKind(owner, 'group', definition)
  rejectUnknownMembers(owner, definition, groupMembers)
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
  const agents = definition.agents.map((one) => (
    isGroup(one) ? groupOf(one, [...around, definition]) : defineAgent(one)
  ))
  const group = Object.freeze<Group>({
    ...definition,
    kind: 'group',
    name,
    id: idOf(owner, definition.id, name),
    description: definition.description ?? `Runs ${agents.map((agent) => agent.name).join(', ')}.`,
    agents: Object.freeze(agents),
    mode,
    onAgentError,
  })
  checkIds(owner, group)
  return group
}

/** Whether it has been through here: what an author has frozen may have no id yet. */
function isMade<T extends Agent | Group>(definition: object, kind: T['kind']): definition is T {
  return 'kind' in definition && definition.kind === kind && Object.isFrozen(definition)
    && 'id' in definition && 'description' in definition
}

function isGroup(member: unknown): member is Group | GroupDefinition {
  return isRecord(member) && 'agents' in member
}

/** Everybody who is in a group, at any depth, each before its own members. */
export function everybodyIn(group: Group): readonly (Agent | Group)[] {
  return group.agents.flatMap((one) => one.kind === 'group' ? [one, ...everybodyIn(one)] : [one])
}

/** Whether who answers is run again where their process has died. */
export function mayRerun(who: Agent | Group): boolean {
  return who.kind === 'agent' ? who.recover === 'rerun' : who.agents.every(mayRerun)
}

/** One agent may be in several groups, but twice in none, and an id belongs to one of them all. */
function checkIds(owner: string, group: Group): void {
  const seen = new Map<string, Agent | Group>([[group.id, group]])
  for (const one of group.agents) {
    const twin = seen.get(one.id)
    if (twin !== undefined) throw new TypeError(twins(owner, twin, one))
    seen.set(one.id, one)
  }
  for (const one of everybodyIn(group)) {
    const twin = seen.get(one.id)
    if (twin !== undefined && twin !== one) throw new TypeError(twins(owner, twin, one))
    seen.set(one.id, one)
  }
}

/** The sentence for two agents that would be reached by one path. */
export function twins(owner: string, first: { name: string; id: string }, second: { name: string }): string {
  if (first === second) return `${owner} has '${first.name}' twice; take one of them out`
  const both = `${owner} has two agents with the id '${first.id}' ('${first.name}' and '${second.name}'); `
  const isOne = first.name === second.name
  return `${both}${isOne ? 'define one agent once, with defineAgent, and use that in each place; else ' : ''}`
    + 'give one of them another name, or an id of its own'
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

function checkReplies(owner: string, replies: unknown): void {
  if (replies === undefined || replies === 'task' || replies === 'message' || replies === 'either') return
  throw new TypeError(`${owner} has replies ${show(replies)}; write 'task', 'message' or 'either'`)
}

/** A list of skills or nothing, or a `TypeError`; `short` is what one of them is said to be of. */
export function requireSkills(owner: string, short: string, skills: unknown): void {
  if (skills === undefined) return
  const list: readonly unknown[] = Array.isArray(skills) ? skills : [undefined]
  const ids = new Set<unknown>()
  for (const one of list) {
    const isWhole = isRecord(one) && one['id'] !== '' && one['name'] !== ''
      && ['id', 'name', 'description'].every((member) => typeof one[member] === 'string')
    if (!isWhole) {
      throw new TypeError(`${owner} has skills without id, name or description; `
        + `write skills: [{ id: 'sum', name: 'Sum', description: 'Adds numbers.', tags: ['math'] }]`)
    }
    const which = `The skill '${String(one['id'])}' of ${short}`
    if (ids.has(one['id'])) throw new TypeError(`${which} is there twice; give each skill an id of its own`)
    ids.add(one['id'])
    rejectUnknownMembers(which, one, skill)
    requireTexts(which, 'tags', one['tags'], `['math']`)
    requireTexts(which, 'examples', one['examples'], `['What is 1 + 2?']`)
    requireTexts(which, 'inputModes', one['inputModes'], `['text/plain']`)
    requireTexts(which, 'outputModes', one['outputModes'], `['image/png']`)
  }
}
