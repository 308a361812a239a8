/** A session of ACP: a conversation, the agent that answers in it, and the folders it is about. */
import { pathToFileURL } from 'node:url'
import { isAbsolute } from 'node:path'
import { Fault } from '../../kernel/define/fault.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { agentsOf } from './agents.ts'
import { wrong } from './content.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { Catalog } from '../../kernel/define/catalog.ts'
import type { Root } from '../../kernel/define/question.ts'

/** What a client gives a session when it begins it, or opens it again. */
export interface SessionSetup {
  /** Absolute paths: the working directory, then the additional ones. */
  readonly folders: readonly string[]
  /** As they were sent. */
  readonly mcpServers: readonly unknown[]
  readonly bytes: number
}

/** A session besides its setup, in bytes. */
const SESSION_BYTES = 1_024

const MAX_SETUP_BYTES = 64 * 1024

export class AcpSession {
  readonly id: string
  setup: SessionSetup
  /** The id of the agent that was chosen; undefined: the first. */
  agentId: string | undefined
  /** The beginning of its first prompt; undefined: there was none. */
  title: string | undefined

  constructor(id: string, setup: SessionSetup) {
    this.id = id
    this.setup = setup
  }

  get bytes(): number { return SESSION_BYTES + this.setup.bytes }

  get roots(): readonly Root[] {
    return this.setup.folders.map((path) => ({ uri: pathToFileURL(path).href }))
  }
}

/** Throws `Fault('invalid')` for what is no absolute path, or too large. */
export function setupIn(
  { cwd, additionalDirectories, mcpServers }: Readonly<Record<string, unknown>>,
): SessionSetup {
  const more: unknown = additionalDirectories ?? []
  if (!Array.isArray(more)) throw wrong('additionalDirectories', 'must be a list of absolute paths')
  const folders = [absolutePath(cwd, 'cwd'), ...more.map((path: unknown, index) => (
    absolutePath(path, `additionalDirectories[${index}]`)
  ))]
  const servers: unknown = mcpServers ?? []
  if (!Array.isArray(servers)) throw wrong('mcpServers', 'must be a list')
  const bytes = Buffer.byteLength(formatJson([folders, servers]))
  if (bytes <= MAX_SETUP_BYTES) return { folders, mcpServers: servers, bytes }
  const members = 'cwd, additionalDirectories and mcpServers'
  throw new Fault('too-large', `${members} may have ${MAX_SETUP_BYTES} bytes together`)
}

export function absolutePath(path: unknown, at: string): string {
  if (typeof path !== 'string' || !isAbsolute(path)) throw wrong(at, 'must be an absolute path')
  return path
}

/** Throws `Fault('not-found')` where it is not there any more. */
export function agentOf(catalog: Catalog, { agentId }: AcpSession): Agent | Group {
  const agent = agentId === undefined ? agentsOf(catalog)[0] : catalog.runnable(agentId)
  if (agent !== undefined) return agent
  throw new Fault('not-found', 'The agent of this session is not here any more; choose another')
}

const AGENT_OPTION = 'agent'

/** Chooses the agent by an option. Throws `Fault('invalid')` for what cannot be chosen. */
export function setOption(
  catalog: Catalog, session: AcpSession, { configId, value }: Readonly<Record<string, unknown>>,
): void {
  if (configId !== AGENT_OPTION) throw wrong('configId', `must be '${AGENT_OPTION}'`)
  chooseAgent(catalog, session, value, 'value')
}

/** Chooses the agent. Throws `Fault('invalid')` for what cannot be chosen; `at` is the member with its id. */
export function chooseAgent(catalog: Catalog, session: AcpSession, agentId: unknown, at: string): void {
  const agents = agentsOf(catalog)
  const agent = agents.find(({ id }) => id === agentId)
  if (agent === undefined) throw wrong(at, `must be one of ${agents.map(({ id }) => id).join(', ')}`)
  session.agentId = agent.id
}

/** Where there are several agents, which of them: as an option, and as modes for clients without options. */
export function choiceOf(catalog: Catalog, session: AcpSession): {
  readonly configOptions: readonly object[]
  readonly modes?: object
} {
  const agents = agentsOf(catalog)
  const [first] = agents
  if (first === undefined || agents.length === 1) return { configOptions: [] }
  const currentValue = session.agentId ?? first.id
  const shown = agents.map(({ id, name, description }) => (
    { id, name, ...description !== '' && { description } }
  ))
  return {
    configOptions: [{
      id: AGENT_OPTION, name: 'Agent', category: 'mode', type: 'select', currentValue,
      options: shown.map(({ id, ...rest }) => ({ value: id, ...rest })),
    }],
    modes: { currentModeId: currentValue, availableModes: shown },
  }
}
