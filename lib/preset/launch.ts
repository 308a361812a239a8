/** `launch`: makes a server, listens, prints where, and closes in order on signals. */
import { frameworks } from '../adapters/frameworks.ts'
import { formatJson } from '../kernel/wire/json.ts'
import { checkValues, mustBeSwitch } from '../kernel/define/validate.ts'
import { noCallback } from '../kernel/server/options.ts'
import { endOnSignals } from '../floors/lines/end-on-signals.ts'
import { createServer } from './create-server.ts'
import { requireSecondOptions, serverOptions } from './options.ts'
import { normalizeDefinitions } from './subject.ts'
import type { LoneTool, Offer } from '../kernel/define/normalize-definitions.ts'
import type { Checks } from '../kernel/define/validate.ts'
import type { ServerOptions } from './options.ts'
import type { Curl } from '../kernel/server/part.ts'
import type { Address } from '../kernel/server/server.ts'
import type { TriportServer } from './create-server.ts'
import type { ForeignSubject, Subject, Things } from './subject.ts'

/** What `launch` takes besides what is served. */
export interface LaunchOptions extends Omit<ServerOptions, keyof Offer> {
  /** Left out: 8000, or 8080 where only MCP is served. 0 takes any free one. */
  readonly port?: number | undefined
  /** Left out: 127.0.0.1. */
  readonly host?: string | undefined
  /** Prints nothing. */
  readonly quiet?: boolean | undefined
  /** Closes in order on SIGINT and SIGTERM, then ends the process. Left out: true. */
  readonly signals?: boolean | undefined
}

/** Of its own options; the address is checked where it is listened at. */
export const launchChecks: Checks<Omit<LaunchOptions, keyof ServerOptions>> = {
  port: true, host: true, quiet: mustBeSwitch, signals: mustBeSwitch,
}

/** A server that listens. */
export interface Launched extends Address {
  readonly server: TriportServer
  /** As `server.close()`; then signals have their usual effect again. */
  close(): Promise<void>
}

/**
 * Serves an agent, a group, tools, or a list of them. Several agents in a list are a group named like the
 * server. Rejects with a sentence where the subject, an option or the port is wrong.
 */
export function launch<const T extends readonly unknown[]>(
  subject: Things<T>, options?: LaunchOptions,
): Promise<Launched>
export function launch<const S>(subject: LoneTool<S>, options?: LaunchOptions): Promise<Launched>
export function launch(subject: ForeignSubject, options?: LaunchOptions): Promise<Launched>
export function launch<const T extends readonly unknown[]>(
  subject: Subject<T>, options?: LaunchOptions,
): Promise<Launched>
export async function launch(
  subject: Subject | ForeignSubject, options: LaunchOptions = {},
): Promise<Launched> {
  requireSecondOptions('launch', arguments, options, [...Object.keys(launchChecks), ...serverOptions])
  checkValues('', options, launchChecks)
  const { port, host, quiet, signals, ...rest } = options
  const definitions = normalizeDefinitions(subject as Subject, options.name ?? 'triport', frameworks)
  const server = createServer({ ...rest, ...definitions })
  return start(server, { port, host, signals }, (address) => (
    quiet === true ? '' : announcement(server, address, options)
  ))
}

type Start = Pick<LaunchOptions, 'port' | 'host' | 'signals'>

/** The same for a finished server. Prints only its address. */
export function launchServer(
  server: TriportServer, { quiet, ...where }: Start & { readonly quiet: boolean },
): Promise<Launched> {
  return start(server, where, ({ url }) => quiet ? '' : `${headline(server, url, url)}\n`)
}

async function start(
  server: TriportServer, { port, host, signals }: Start, textOf: (address: Address) => string,
): Promise<Launched> {
  let address: Address
  try {
    address = await server.listen(port, host)
  } catch (error) {
    // Other processes that share its store would take it for alive.
    await server.close()
    throw error
  }
  const forget = signals === false ? () => {} : endOnSignals({
    running: () => server.status().calls.running, close: () => server.close(),
  })
  process.stderr.write(textOf(address))
  async function close(): Promise<void> {
    if (typeof arguments[0] === 'function') throw noCallback('close', 'await close()')
    await server.close().finally(forget)
  }
  return { ...address, server, close }
}

function headline({ name, version }: TriportServer, url: string, docs: string): string {
  return `${name} ${version} at ${url}  (docs: ${docs}/docs)`
}

/** The address of each protocol with a command to try it, or why it is not served. */
function announcement(server: TriportServer, { url }: Address, options: LaunchOptions): string {
  const listed = listedName(url, options)
  const docs = listed === undefined ? url : namedUrl(url, listed, options)
  const head = [headline(server, url, docs)]
  const credential = credentialOf(server, options)
  if (credential.variable !== undefined) {
    head.push(`  A key is asked for: the lines below take it from ${credential.variable}.`)
  }
  const host = listed === undefined ? '' : ` -H 'Host: ${listed}'`
  const curl: Curl = (path, body) => {
    const sent = body === undefined ? '' : ` -H 'Content-Type: application/json' -d '${formatJson(body)}'`
    return `curl ${url}${path}${host}${credential.header}${sent}`
  }
  const lines = server.announce(url, curl).flatMap(([protocol, [first, ...more]]) => {
    const label = `  ${protocol.toUpperCase().padEnd(4)}  `
    return [label + first, ...more.map((line) => ' '.repeat(label.length) + line)]
  })
  return [...head, ...lines].join('\n') + '\n'
}

/** The header with the credential of a caller. A given secret is named by a variable, never shown. */
function credentialOf(
  { generatedKey }: TriportServer, { apiKey, auth }: LaunchOptions,
): { readonly header: string; readonly variable?: string } {
  if (generatedKey !== undefined) return { header: ` -H 'X-API-Key: ${generatedKey}'` }
  if (apiKey !== undefined) {
    return { header: ' -H "X-API-Key: $TRIPORT_API_KEY"', variable: 'TRIPORT_API_KEY' }
  }
  if (auth === undefined) return { header: '' }
  return { header: ' -H "Authorization: Bearer $TRIPORT_TOKEN"', variable: 'TRIPORT_TOKEN' }
}

/** The first of the allowed host names, where the address itself is not allowed. */
function listedName(url: string, { host, allowedHosts, publicUrl }: LaunchOptions): string | undefined {
  const listed = [...allowedHosts ?? [], ...publicUrl === undefined ? [] : [new URL(publicUrl).host]]
  const isAny = host === undefined || listed.includes('*') || listed.includes(new URL(url).hostname)
  return isAny ? undefined : listed[0]
}

/** The URL for a browser. */
function namedUrl(url: string, listed: string, { publicUrl }: LaunchOptions): string {
  const named = new URL(url)
  named.host = listed
  const base = publicUrl === undefined ? named.origin : new URL(publicUrl).href
  return `${base.replace(/\/$/, '')}${named.pathname.replace(/\/$/, '')}`
}
