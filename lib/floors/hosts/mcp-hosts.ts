/**
 * The hosts that use MCP servers, and the editors that start agents (ACP): where each keeps its
 * configuration, and how a server is written there. One table for what the command writes and for what a
 * page shows.
 */
import { formatJson } from '../../kernel/wire/json.ts'

/** A server that a host starts. */
export interface HostedProcess { readonly command: string; readonly args: readonly string[] }

/** A server that a host calls. `keyVariable`: the environment variable, of the host, that has its key. */
export interface HostedUrl { readonly url: string; readonly keyVariable?: string | undefined }

type Entry = Readonly<Record<string, unknown>>

/** The files of a host. `~` is the home of its user; what is in `%…%` a variable of the environment. */
export interface HostFiles {
  readonly macos: string
  readonly windows: string
  readonly linux: string
  /** The same for one project, from its folder; left out, the host has none. */
  readonly project?: string
}

/** A host, and how a server is written for it. */
export interface McpHost {
  /** By what the command names it. */
  readonly id: string
  /** What it speaks with a process that it starts. Left out: MCP. */
  readonly protocol?: 'acp'
  readonly title: string
  readonly files: HostFiles
  /** The member of its file, or the table, that holds all servers. */
  readonly member: string
  readonly format: 'json' | 'toml'
  process(server: HostedProcess): Entry
  /** Left out: the host only starts processes. */
  address?(server: HostedUrl): Entry
  /** Whether its file can name an environment variable for a key. */
  readonly takesVariables: boolean
  /** What is to be done when the file is written. */
  readonly then: string
}

const everywhere = (path: string): Omit<HostFiles, 'project'> => ({ macos: path, windows: path, linux: path })

const plain = ({ command, args }: HostedProcess): Entry => ({ command, args })
const typed = ({ command, args }: HostedProcess): Entry => ({ type: 'stdio', command, args })

/** The header with a key, as the file of a host refers to a variable. */
function headers({ keyVariable }: HostedUrl, variable: (name: string) => string): Entry {
  return keyVariable === undefined ? {} : { headers: { Authorization: `Bearer ${variable(keyVariable)}` } }
}

const shell = (name: string): string => `\${${name}}`
const env = (name: string): string => `\${env:${name}}`

const zed: HostFiles = {
  ...everywhere('~/.config/zed/settings.json'), windows: '%APPDATA%/Zed/settings.json',
}

export const mcpHosts: readonly McpHost[] = [
  {
    id: 'claude', title: 'Claude Desktop', member: 'mcpServers', format: 'json', takesVariables: false,
    files: {
      macos: '~/Library/Application Support/Claude/claude_desktop_config.json',
      windows: '%APPDATA%/Claude/claude_desktop_config.json',
      linux: '~/.config/Claude/claude_desktop_config.json',
    },
    process: plain, then: 'Quit Claude Desktop and start it again.',
  },
  {
    id: 'claude-code', title: 'Claude Code', member: 'mcpServers', format: 'json', takesVariables: true,
    files: { ...everywhere('~/.claude.json'), project: '.mcp.json' },
    process: typed, address: (server) => ({ type: 'http', url: server.url, ...headers(server, shell) }),
    then: 'Start Claude Code again; /mcp lists its servers.',
  },
  {
    id: 'cursor', title: 'Cursor', member: 'mcpServers', format: 'json', takesVariables: true,
    files: { ...everywhere('~/.cursor/mcp.json'), project: '.cursor/mcp.json' },
    process: plain, address: (server) => ({ url: server.url, ...headers(server, env) }),
    then: 'Start Cursor again, and turn the server on under MCP in its settings.',
  },
  {
    id: 'vscode', title: 'VS Code', member: 'servers', format: 'json', takesVariables: true,
    files: {
      macos: '~/Library/Application Support/Code/User/mcp.json', windows: '%APPDATA%/Code/User/mcp.json',
      linux: '~/.config/Code/User/mcp.json', project: '.vscode/mcp.json',
    },
    process: typed, address: (server) => ({ type: 'http', url: server.url, ...headers(server, env) }),
    then: `Run 'MCP: List Servers' in VS Code, and start it there.`,
  },
  {
    id: 'windsurf', title: 'Windsurf', member: 'mcpServers', format: 'json', takesVariables: true,
    files: everywhere('~/.codeium/windsurf/mcp_config.json'),
    process: plain, address: (server) => ({ serverUrl: server.url, ...headers(server, env) }),
    then: 'Refresh the MCP servers in Windsurf.',
  },
  {
    id: 'zed', title: 'Zed', member: 'context_servers', format: 'json', takesVariables: false,
    files: { ...zed, project: '.zed/settings.json' },
    process: plain, address: ({ url }) => ({ url }), then: 'Zed reads it at once.',
  },
  {
    id: 'gemini', title: 'Gemini CLI', member: 'mcpServers', format: 'json', takesVariables: true,
    files: { ...everywhere('~/.gemini/settings.json'), project: '.gemini/settings.json' },
    process: plain, address: (server) => ({ httpUrl: server.url, ...headers(server, shell) }),
    then: 'Start Gemini CLI again; /mcp lists its servers.',
  },
  {
    id: 'codex', title: 'Codex', member: 'mcp_servers', format: 'toml', takesVariables: true,
    files: { ...everywhere('~/.codex/config.toml'), project: '.codex/config.toml' },
    process: plain,
    address: ({ url, keyVariable }) => (
      { url, ...keyVariable !== undefined && { bearer_token_env_var: keyVariable } }
    ),
    then: 'Start Codex again; /mcp lists its servers.',
  },
  {
    id: 'zed-agent', title: 'Zed (ACP)', protocol: 'acp', member: 'agent_servers', format: 'json',
    takesVariables: false, files: zed,
    process: ({ command, args }) => ({ type: 'custom', command, args }),
    then: 'It is in the menu of new threads.',
  },
  {
    id: 'jetbrains', title: 'JetBrains IDEs (ACP)', protocol: 'acp', member: 'agent_servers',
    format: 'json', takesVariables: false, files: everywhere('~/.jetbrains/acp.json'),
    process: plain, then: 'It is in the list of agents of AI Chat.',
  },
]

/** The flag of the command by which a process serves what a host starts it for. */
export function hostFlag({ protocol }: McpHost): string {
  return protocol === 'acp' ? '--acp' : '--stdio'
}

/** What stands in the file of a host for one server; undefined where the host cannot call an address. */
export function hostEntry(host: McpHost, server: HostedProcess | HostedUrl): Entry | undefined {
  return 'command' in server ? host.process(server) : host.address?.(server)
}

/** A table of TOML. The values are strings and lists of strings, which TOML writes as JSON does. */
export function tomlTable(name: string, entry: Entry): string {
  const lines = Object.entries(entry).map(([key, value]) => `${key} = ${formatJson(value)}\n`)
  return `[${name}]\n${lines.join('')}`
}
