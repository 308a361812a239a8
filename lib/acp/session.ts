/** A session of ACP: a conversation, the agent that answers in it, and the folders it is about. */
import { pathToFileURL } from 'node:url'
import { isAbsolute } from 'node:path'
import { anonymous, allowed } from '../define/principal.ts'
import { Fault } from '../define/fault.ts'
import { wrong } from './content.ts'
import type { Agent, Group } from '../define/agent.ts'
import type { Catalog } from '../define/catalog.ts'
import type { Root } from '../define/question.ts'

/** A session besides its folders, in bytes. */
const SESSION_BYTES = 512

export class AcpSession {
  readonly id: string
  /** The working directory, then the additional ones. */
  roots: readonly Root[] = []
  /** The id of the agent that was chosen; undefined: the first. */
  agentId: string | undefined
  /** The prompt that it answers. */
  run: { cancel(): void } | undefined

  constructor(id: string) {
    this.id = id
  }

  get bytes(): number {
    return this.roots.reduce((sum, { uri }) => sum + uri.length, SESSION_BYTES)
  }
}

/** The folders of a session. Throws `Fault('invalid')` for what is no absolute path. */
export function rootsIn(
  { cwd, additionalDirectories }: Readonly<Record<string, unknown>>,
): readonly Root[] {
  const more: unknown = additionalDirectories ?? []
  if (!Array.isArray(more)) throw wrong('additionalDirectories', 'must be a list of absolute paths')
  return [rootOf(cwd, 'cwd'), ...more.map((path: unknown, index) => (
    rootOf(path, `additionalDirectories[${index}]`)
  ))]
}

function rootOf(path: unknown, at: string): Root {
  if (typeof path !== 'string' || !isAbsolute(path)) throw wrong(at, 'must be an absolute path')
  return { uri: pathToFileURL(path).href }
}

/** What answers, the root first. */
export function agentsOf(catalog: Catalog): readonly (Agent | Group)[] {
  const { root, groups, agents } = catalog
  return allowed(anonymous, [...new Set([...root === undefined ? [] : [root], ...groups, ...agents])])
}

/** Throws `Fault('not-found')` where it is not there any more. */
export function agentOf(catalog: Catalog, { agentId }: AcpSession): Agent | Group {
  const agent = agentId === undefined ? agentsOf(catalog)[0] : catalog.runnable(agentId)
  if (agent !== undefined) return agent
  throw new Fault('not-found', 'The agent of this session is not here any more; choose another')
}

const AGENT_OPTION = 'agent'

/** Chooses the agent. Throws `Fault('invalid')` for what cannot be chosen. */
export function chooseAgent(catalog: Catalog, session: AcpSession, configId: unknown, value: unknown): void {
  if (configId !== AGENT_OPTION) throw wrong('configId', `must be '${AGENT_OPTION}'`)
  const agents = agentsOf(catalog)
  const agent = agents.find(({ id }) => id === value)
  if (agent === undefined) throw wrong('value', `must be one of ${agents.map(({ id }) => id).join(', ')}`)
  session.agentId = agent.id
}

/** The options of a session, as its client shows them: where there are several agents, which of them. */
export function configOptionsOf(catalog: Catalog, session: AcpSession): readonly object[] {
  const agents = agentsOf(catalog)
  const [first] = agents
  if (first === undefined || agents.length === 1) return []
  return [{
    id: AGENT_OPTION, name: 'Agent', category: 'mode', type: 'select',
    currentValue: session.agentId ?? first.id,
    options: agents.map(({ id, name, description }) => (
      { value: id, name, ...description !== '' && { description } }
    )),
  }]
}
