/**
 * An agent and a group, as an author defines them: checked once, then frozen. How they are run is in
 * `answer-message.ts` and `group.ts`.
 */
import { noAdapters } from './adapters.ts'
import { isRecord } from './content.ts'
import {
  checkDefinition, checkMembers, isOfKind, knownMembers, must, mustBeOneOf, mustBeRecover, mustBeText,
  mustBeTexts, mustBeTimeout, rejectMore, requireDefinition, requireKind, requireString, scopesOf, show,
} from './validate.ts'
import type { AgentOutput } from './answer.ts'
import type { Call } from './call.ts'
import type { AdaptedAgent, Adapters, ForeignAgent } from './adapters.ts'
import type { Checks } from './validate.ts'

/** Something that an agent can do, for the card by which clients find it. */
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

const skillChecks: Checks<Skill> = {
  id: true, name: true, description: true, tags: mustBeTexts(`['math']`),
  examples: mustBeTexts(`['What is 1 + 2?']`), inputModes: mustBeTexts(`['text/plain']`),
  outputModes: mustBeTexts(`['image/png']`),
}

/** The function behind an agent: a text in, an answer out, whole or piece by piece. */
export type Run = (prompt: string, call: Call) => AgentOutput

/** What agents and groups have in common. */
interface Named {
  readonly name: string
  /** In paths and names of tools: at most 48 of `a-z 0-9`, joined by `-`. Left out: made of the name. */
  readonly id?: string | undefined
  /** For models and for people. That of a group left out: a sentence that names its agents. */
  readonly description?: string | undefined
  /** For the card by which clients find it. Left out: the server's. */
  readonly version?: string | undefined
  /**
   * What the caller's principal must have, all of it; others do not see it in lists. A group that runs all
   * of its agents needs their scopes too; what a router picks is checked then.
   */
  readonly scopes?: readonly string[] | undefined
}

/** What `defineAgent` takes. */
export interface AgentDefinition extends Named {
  readonly run: Run
  readonly skills?: readonly Skill[] | undefined
  /** Milliseconds for one run; left out, the server's `agentTimeoutMs`. */
  readonly timeoutMs?: number | undefined
  /** Media types it reads and writes; left out, `text/plain`. */
  readonly inputModes?: readonly string[] | undefined
  readonly outputModes?: readonly string[] | undefined
  /**
   * What a client gets where its protocol has tasks for answers: `task` (default), `message`, or `either`:
   * then each answer decides by its `reply`, and no task is shown before the agent's first output.
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
  readonly scopes: readonly string[]
}

const mustBeModes = mustBeTexts(`['text/plain']`)

export const agentChecks: Checks<Agent> = {
  name: true, id: true, description: mustBeText, version: mustBeText, run: true, skills: requireSkills,
  timeoutMs: mustBeTimeout, inputModes: mustBeModes, outputModes: mustBeModes,
  replies: mustBeOneOf('task', 'message', 'either'), recover: mustBeRecover, scopes: true, kind: true,
}

/** Picks who answers: an agent's id or name, or several, which then run in sequence. */
export type Router = (query: string, call: Call) => RouterChoice | PromiseLike<RouterChoice>

/** What a router returns. */
export type RouterChoice = string | readonly string[]

/** What `defineGroup` takes. */
export interface GroupDefinition extends Named {
  /** Each runs as one member; a group within a group too. */
  readonly agents: readonly (AgentLike | Group | GroupDefinition)[]
  /**
   * `sequence` (default): each agent gets the text of the one before it. `parallel`: all get the query, the
   * answers are joined by blank lines. A function routes the query.
   */
  readonly mode?: 'sequence' | 'parallel' | Router | undefined
  /** `stop` (default) ends at the first agent that fails; `continue` runs the next on the last good text. */
  readonly onAgentError?: 'stop' | 'continue' | undefined
  /** Milliseconds for one run of the whole group; left out, what its agents may take together. */
  readonly timeoutMs?: number | undefined
}

/** A group, ready to be served. */
export interface Group extends GroupDefinition {
  readonly kind: 'group'
  readonly id: string
  readonly description: string
  readonly scopes: readonly string[]
  readonly agents: readonly (Agent | Group)[]
  readonly mode: 'sequence' | 'parallel' | Router
  readonly onAgentError: 'stop' | 'continue'
}

export const groupChecks: Checks<Group> = {
  name: true, id: true, description: mustBeText, version: mustBeText, agents: true,
  mode: must((mode) => mode === 'sequence' || mode === 'parallel' || typeof mode === 'function',
    `write 'sequence', 'parallel' or a function that routes`),
  onAgentError: mustBeOneOf('stop', 'continue'), timeoutMs: mustBeTimeout, scopes: true, kind: true,
}

type OwnAgent = Agent | AgentDefinition | Run

/**
 * An agent in any form: a bare function is the agent `Assistant`; one of another framework is adapted, and
 * `Assistant` too where it has no name.
 */
export type AgentLike = OwnAgent | ForeignAgent

export const AGENT_EXAMPLE = `{ name: 'Helper', run: (prompt) => 'You said ' + prompt }`

/** What has no name of its own. */
const NAMELESS = 'Assistant'

/** Agents of other frameworks. */
const adaptedAgents = new WeakSet<object>()

/** Whether an agent is one of another framework, as `adapt` makes it. */
export function isAdapted(agent: object): boolean {
  return adaptedAgents.has(agent)
}

/** Agents that were given as functions, which cannot have a description. */
const functions = new WeakSet<Agent>()

export function isBareFunction(agent: Agent): boolean {
  return functions.has(agent)
}

/** Checks and freezes an agent, one of another framework too. Throws `TypeError` for a mistake in it. */
export function agentFrom(definition: AgentLike, adapters: Adapters): Agent {
  const theirs = adapters.agent(definition)
  return theirs === undefined ? frozenAgent(definition as OwnAgent, adapters) : adaptedAgent(theirs, {})
}

/** What `adapt` takes besides the agent; what is left out, the agent's own framework may have. */
export interface AdaptOptions extends Omit<AgentDefinition, 'name' | 'run'> {
  readonly name?: string | undefined
}

/** An agent of another framework, by what it has, but for what is said of it. */
export function adaptedAgent(theirs: AdaptedAgent, said: AdaptOptions): Agent {
  const { name = theirs.name ?? NAMELESS, description = theirs.description } = said
  const made = ownAgent({ ...said, name, description, run: theirs.run })
  adaptedAgents.add(made)
  return made
}

/** Checks and freezes an agent in our own form. Throws `TypeError` for a mistake in it. */
export function ownAgent(definition: OwnAgent): Agent {
  rejectMore('defineAgent', arguments, `write defineAgent(${AGENT_EXAMPLE})`)
  return frozenAgent(definition, noAdapters)
}

/** `adapters` know what else a wrong one is. */
function frozenAgent(definition: OwnAgent, adapters: Adapters): Agent {
  const tool = adapters.toolKind(definition)
  if (tool !== undefined) throw new TypeError(`This is ${tool}, and no agent; put it into 'tools'`)
  if (typeof definition === 'function') {
    if (/^class\b/.test(Function.prototype.toString.call(definition))) {
      const { name } = definition
      throw new TypeError(`The agent is the class ${name || 'itself'}; write new ${name || 'Agent'}()`)
    }
    const agent = frozenAgent({ name: NAMELESS, run: definition }, adapters)
    functions.add(agent)
    return agent
  }
  requireDefinition('defineAgent', definition, AGENT_EXAMPLE)
  if (isMade(definition, 'agent')) return definition
  const unknown = 'agents' in definition ? undefined : adapters.describe(definition)
  if (unknown !== undefined) throw new TypeError(unknown)
  const name = requireString('An agent', 'name', definition)
  const owner = `The agent '${name}'`
  if (isGroup(definition) && !('run' in definition)) {
    throw new TypeError(`${owner} has agents, so it is a group; put it into 'groups'`)
  }
  checkDefinition(owner, 'agent', definition, 'run', agentChecks, AGENT_EXAMPLE, adapters.words('agent'))
  return Object.freeze<Agent>({
    ...knownMembers(definition, agentChecks),
    kind: 'agent',
    name,
    id: idOf(owner, definition.id, name),
    description: definition.description ?? '',
    scopes: scopesOf(owner, definition.scopes),
    // Bound, so that an object with methods and state can be an agent too.
    run: (prompt, call) => definition.run(prompt, call),
  })
}

export const GROUP_EXAMPLE = `{ name: 'Desk', agents: [researcher, writer], mode: 'sequence' }`

/** Checks and freezes a group of agents in our own form. Throws `TypeError` for a mistake in it. */
export function ownGroup(definition: GroupDefinition | Group): Group {
  rejectMore('defineGroup', arguments, `write defineGroup(${GROUP_EXAMPLE})`)
  return groupFrom(definition, noAdapters)
}

/**
 * Checks and freezes a group. Throws `TypeError` for a mistake in it. `around` are the definitions that
 * contain it: none of them may be itself.
 */
export function groupFrom(
  definition: GroupDefinition | Group, adapters: Adapters, around: readonly unknown[] = [],
): Group {
  requireDefinition('defineGroup', definition, GROUP_EXAMPLE)
  if (isMade(definition, 'group')) return definition
  const name = requireString('A group', 'name', definition)
  const owner = `The group '${name}'`
  if (around.includes(definition)) {
    throw new TypeError(`${owner} is a member of itself; take it out of its agents`)
  }
  requireKind(owner, 'group', definition)
  checkMembers(owner, definition, groupChecks)
  if (!Array.isArray(definition.agents) || definition.agents.length === 0) {
    const example = `Write defineGroup(${GROUP_EXAMPLE})`
    throw new TypeError(`${owner} needs 'agents': a list of at least one agent. ${example}`)
  }
  const agents = definition.agents.map((one) => (
    isGroup(one) ? groupFrom(one, adapters, [...around, definition]) : agentFrom(one, adapters)
  ))
  const mode = definition.mode ?? 'sequence'
  const own = scopesOf(owner, definition.scopes)
  const needed = typeof mode === 'function' ? [] : agents.flatMap(({ scopes }) => scopes)
  const group = Object.freeze<Group>({
    ...definition,
    kind: 'group',
    name,
    id: idOf(owner, definition.id, name),
    description: definition.description ?? `Runs ${agents.map((agent) => agent.name).join(', ')}.`,
    agents: Object.freeze(agents),
    scopes: Object.freeze([...new Set([...own, ...needed])]),
    mode,
    onAgentError: definition.onAgentError ?? 'stop',
  })
  checkIds(owner, group)
  return group
}

/** Whether it was made here: what an author has frozen may have no id yet. */
function isMade<T extends Agent | Group>(definition: object, kind: T['kind']): definition is T {
  return isOfKind(definition, kind) && Object.isFrozen(definition)
    && 'id' in definition && 'description' in definition && 'scopes' in definition
}

function isGroup(member: unknown): member is Group | GroupDefinition {
  return isRecord(member) && 'agents' in member
}

/** What a query runs that names no agent, in words: `root` of `count` agents and groups. */
export function describeRoot(root: Agent | Group, count: number): string {
  if (root.kind === 'group') {
    const names = root.agents.map(({ name }) => name)
    if (root.mode === 'parallel') return `asks ${root.name}: ${names.join(' and ')} at once`
    if (root.mode === 'sequence') return `asks ${root.name}: ${names.join(', then ')}`
    return `asks ${root.name}: its function picks from ${names.join(', ')}`
  }
  return `asks ${root.name}${count > 1 ? `, the first of ${count} agents; the others at /agents/<id>` : ''}`
}

/** All members of a group, at any depth, each before its own members. */
export function allMembers(group: Group): readonly (Agent | Group)[] {
  return group.agents.flatMap((one) => one.kind === 'group' ? [one, ...allMembers(one)] : [one])
}

/** Whether an agent or a group is run again where its process has died. */
export function mayRerun(agent: Agent | Group): boolean {
  return agent.kind === 'agent' ? agent.recover === 'rerun' : agent.agents.every(mayRerun)
}

/** One agent may be in several groups, but twice in none, and an id belongs to one of them all. */
function checkIds(owner: string, group: Group): void {
  const twice = group.agents.find((one, at) => group.agents.includes(one, at + 1))
  if (twice !== undefined) throw new TypeError(sameIdMessage(owner, twice, twice))
  const seen = new Map<string, Agent | Group>([[group.id, group]])
  for (const one of allMembers(group)) {
    const twin = seen.get(one.id)
    if (twin !== undefined && twin !== one) throw new TypeError(sameIdMessage(owner, twin, one))
    seen.set(one.id, one)
  }
}

/** The message about two agents that would be reached by one path. */
export function sameIdMessage(
  owner: string, first: { name: string; id: string }, second: { name: string },
): string {
  if (first === second) return `${owner} has '${first.name}' twice; take one of them out`
  const both = `${owner} has two agents with the id '${first.id}' ('${first.name}' and '${second.name}'); `
  const isOne = first.name === second.name
  if (isAdapted(first) || isAdapted(second)) {
    const once = isOne ? 'adapt one agent once, with adapt(agent), and use that in each place; else ' : ''
    return `${both}${once}write adapt(agent, { name: 'Writer' }) for one of them`
  }
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

/** Longest id, in characters: `execute_<id>_task` stays within the 64 that many clients allow a tool. */
const MAX_ID = 48

/**
 * The id of a name: NFKD, marks dropped, lower case, every run outside `[a-z0-9]` one `-`, ends trimmed.
 * Throws `TypeError` where nothing or too much is left, and for `list`, which is a path of its own.
 */
export function slug(name: string): string {
  // Most names are ASCII, and the table of all marks takes a millisecond to be made.
  const letters = /^[\0-\x7f]*$/.test(name) ? name : name.normalize('NFKD').replace(/\p{M}/gu, '')
  const id = letters.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')
  if (id === '') {
    const remedy = `give an id, as in { id: 'helper' }`
    throw new TypeError(`The name '${name}' has no letter or digit to make an id of; ${remedy}`)
  }
  if (id.length > MAX_ID) {
    const remedy = `give a shorter name, or an id of at most ${MAX_ID}`
    throw new TypeError(`The id '${id}' has ${id.length} characters; ${remedy}`)
  }
  if (id === 'list') throw new TypeError(`The id 'list' is taken by the list of agents; choose another name`)
  return id
}

/** A list of skills, or a `TypeError`. */
export function requireSkills(owner: string, skills: unknown): void {
  const list: readonly unknown[] = Array.isArray(skills) ? skills : [undefined]
  const ids = new Set<unknown>()
  for (const one of list) {
    const isWhole = isRecord(one) && one['id'] !== '' && one['name'] !== ''
      && ['id', 'name', 'description'].every((member) => typeof one[member] === 'string')
    if (!isWhole) {
      throw new TypeError(`${owner} has skills without id, name or description; `
        + `write skills: [{ id: 'sum', name: 'Sum', description: 'Adds numbers.', tags: ['math'] }]`)
    }
    const which = `The skill '${String(one['id'])}' of ${owner.replace(/^The agent /, '')}`
    if (ids.has(one['id'])) throw new TypeError(`${which} is there twice; give each skill an id of its own`)
    ids.add(one['id'])
    checkMembers(which, one, skillChecks)
  }
}
