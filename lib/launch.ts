/**
 * `launch`: a server made, listening, and announced, that ends in order when the process is told to.
 */
import { sortOut } from './core/subject.ts'
import { defaultPort } from './options.ts'
import { createServer } from './server.ts'
import type { Offer, Subject } from './core/subject.ts'
import type { ProtocolName } from './options.ts'
import type { Address, ServerOptions, TriportServer } from './server.ts'

/** What `launch` takes besides what is served. */
export interface LaunchOptions extends Omit<ServerOptions, keyof Offer> {
  /** Left out: 8000, or 8080 where only MCP is served. 0 takes any free one. */
  readonly port?: number | undefined
  /** Left out: 127.0.0.1. */
  readonly host?: string | undefined
  /** Does not announce where the doors are. */
  readonly quiet?: boolean | undefined
  /** Closes in order on SIGINT and SIGTERM, then ends the process. Left out: true. */
  readonly signals?: boolean | undefined
}

/** A server that listens. */
export interface Launched extends Address { readonly server: TriportServer; close(): Promise<void> }

/**
 * Serves an agent, a group, tools, or a list of them. Several agents in a list are a group named like the
 * server. Rejects with a sentence where the subject, an option or the port is wrong.
 */
export async function launch(subject: Subject, options: LaunchOptions = {}): Promise<Launched> {
  const { port, host, quiet, signals, ...rest } = options
  const server = createServer({ ...rest, ...sortOut(subject, options.name ?? 'triport') })
  const address = await server.listen(port ?? defaultPort(server.protocols), host)
  const forget = signals === false ? () => {} : endOnSignals(server)
  if (quiet !== true) process.stderr.write(announcement(server, address, options.apiKey !== undefined))
  return { ...address, server, close: () => server.close().finally(forget) }
}

function endOnSignals(server: TriportServer): () => void {
  let isEnding = false
  const end = (signal: NodeJS.Signals): void => {
    // Whoever asks twice does not want to wait.
    if (isEnding) process.exit(signal === 'SIGINT' ? 130 : 143)
    isEnding = true
    server.close().then(() => process.exit(0), () => process.exit(1))
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
  return () => {
    process.off('SIGINT', end)
    process.off('SIGTERM', end)
  }
}

/** Where each door is, with a line that can be pasted into a shell. */
function announcement(server: TriportServer, { url }: Address, isKeyed: boolean): string {
  const key = server.generatedKey !== undefined ? ` -H 'X-API-Key: ${server.generatedKey}'`
    : isKeyed ? ' -H "X-API-Key: $TRIPORT_API_KEY"' : ''
  const post = (path: string, body: object): string =>
    `curl ${url}${path}${key} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`
  const lines = [`${server.name} ${server.version} at ${url}  (docs: ${url}/docs)`]
  if (isKeyed) lines.push('  A key is asked for: the lines below take it from TRIPORT_API_KEY.')
  for (const protocol of server.protocols) {
    const [where, line] = doors[protocol](post, url)
    lines.push(`  ${protocol.toUpperCase().padEnd(4)}  ${where}`, `        ${line}`)
  }
  return lines.join('\n') + '\n'
}

type PostReply = (path: string, body: object) => string

const doors: Readonly<Record<ProtocolName, (post: PostReply, url: string) => readonly [string, string]>> = {
  http: (post, url) => [`${url}/`, post('/', { query: 'hello' })],
  mcp: (post, url) => [`${url}/mcp and ${url}/sse`, post('/messages/', {
    jsonrpc: '2.0', id: 1, method: 'tools/list',
  })],
  a2a: (post, url) => [`${url}/a2a, card at ${url}/.well-known/agent.json`, post('/a2a', {
    jsonrpc: '2.0', id: '1', method: 'message/send',
    params: { message: { role: 'user', parts: [{ type: 'text', text: 'hello' }] } },
  })],
}
