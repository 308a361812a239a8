/**
 * The options of a server that have a grammar of their own: each is checked and brought into its normal form,
 * with a sentence where it cannot be.
 */
import { show } from '../define/validate.ts'

/** A door of the server. */
export type ProtocolName = 'http' | 'mcp' | 'a2a'

/** Which doors are open. */
export type ProtocolChoice = ProtocolName | 'all' | readonly ProtocolName[]

const ALL: readonly ProtocolName[] = ['http', 'mcp', 'a2a']

/** The port of a server that is told none. */
export function defaultPort(protocols: readonly ProtocolName[]): number {
  return protocols.length === 1 && protocols[0] === 'mcp' ? 8080 : 8000
}

/** The doors that are open. `hasOnlyTools`: there is no agent. `canAnswer`: messages are answered even so. */
export function protocolsOf(
  choice: ProtocolChoice | undefined, hasOnlyTools: boolean, canAnswer: boolean = !hasOnlyTools,
): readonly ProtocolName[] {
  const possible = ALL.filter((one) => one !== 'a2a' || canAnswer)
  const wanted: readonly string[] = choice === undefined ? [hasOnlyTools ? 'mcp' : 'http']
    : choice === 'all' ? possible : [choice].flat()
  const unknown = wanted.find((one) => !ALL.some((known) => known === one))
  if (unknown !== undefined || wanted.length === 0) {
    const meant = ['all', ...ALL].find((known) => known === String(unknown).trim().toLowerCase())
    const remedy = meant === undefined ? `'http', 'mcp', 'a2a', 'all' or a list of the first three`
      : meant === 'all' && Array.isArray(choice) ? `'all' alone, without a list` : `'${meant}'`
    const given = wanted.length === 0 ? 'an empty list' : show(unknown)
    throw new TypeError(`protocol is ${given}; write ${remedy}`)
  }
  return ALL.filter((one) => wanted.includes(one))
}

/** Where clients of each protocol come to first. */
const entries: Readonly<Record<ProtocolName, readonly string[]>> = {
  http: ['/agents', '/tools', '/prompts', '/resources', '/v1/chat/completions', '/v1/models'],
  mcp: ['/mcp', '/sse', '/messages', '/messages/'],
  a2a: [
    '/a2a', '/message:send', '/message:stream', '/.well-known/agent-card.json', '/.well-known/agent.json',
  ],
}

/** What is said at the paths of protocols that are not served, by the path. */
export function absentPaths(served: readonly ProtocolName[]): ReadonlyMap<string, string> {
  const instead = served.map((name) => name.toUpperCase()).join(' and ')
  return new Map(ALL.filter((name) => !served.includes(name)).flatMap((name) => entries[name].map((path) => [
    path, `${name.toUpperCase()} is not served here, but ${instead}; GET / lists where`,
  ])))
}

/** A path of the server; undefined where it is the root. */
export function pathOf(option: string, path: string | undefined): string | undefined {
  if (path === undefined || path === '' || path === '/') return undefined
  // Clients take . and .. out of an address before they send it.
  if (/^(?:\/(?!\.\.?(?:\/|$))[\w.~-]+)+$/.test(path)) return path
  const isOdd = /^\/.*[^/]$/.test(path)
  throw new TypeError(`${option} is ${show(path)}; write a path ${isOdd
    ? `of names of letters, digits, '-', '_', '.' and '~', as in '/team/agents'`
    : 'that begins, and does not end, with a slash'}`)
}

/** How many proxies are believed. */
export function proxiesOf(trustProxy: boolean | number = false): number {
  const count = typeof trustProxy === 'boolean' ? Number(trustProxy) : trustProxy
  if (Number.isSafeInteger(count) && count >= 0) return count
  throw new TypeError(`trustProxy is ${show(trustProxy)}; write true, or how many proxies there are`)
}

/** Where clients reach the server. */
export function urlOf(publicUrl: string | URL | undefined): URL | undefined {
  if (publicUrl === undefined) return undefined
  const url = URL.canParse(String(publicUrl)) ? new URL(publicUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    const wrong = show(String(publicUrl))
    throw new TypeError(`publicUrl is ${wrong}; write an address, as in 'https://agents.example.com'`)
  }
  return url
}
