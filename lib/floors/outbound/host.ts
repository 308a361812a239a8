/**
 * Hosts of addresses that others have chosen: where they lead as far as their text shows, and which of them
 * an operator lists. RFC 6761 §6.3 (localhost).
 */
import { show } from '../../kernel/define/validate.ts'
import { asciiHost, defaultPorts } from '../../kernel/wire/uri.ts'
import { ipKindOf } from './ip.ts'
import type { MemberCheck } from '../../kernel/define/validate.ts'
import type { IpKind } from './ip.ts'

/** With an empty label a name may be read as another one further on. */
const LABELS = '[a-z0-9_-]{1,63}(?:\\.[a-z0-9_-]{1,63})*'
const NAME = new RegExp(`^${LABELS}$`)
const MAX_NAME_CHARS = 253
const LISTED = new RegExp(`^(?:\\*\\.)?((?:${LABELS}|\\[[0-9a-f:.]+\\])(?::[1-9]\\d{0,4})?)$`)
/** Names that no name server of the internet knows: RFC 6762 §3, RFC 8375, ICANN's resolution of 2024. */
const PRIVATE_NAME = /(?:^|\.)(?:local|internal|home\.arpa)$/
const none: readonly never[] = []

/** The host as it is looked up: without brackets, without the dot of the root. */
export function hostNameOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '')
}

/**
 * Where a host leads as far as its text shows: an address by its network, a name by its end; most names are
 * `public` until they are looked up. Undefined: no name or address of a host.
 */
export function hostKindOf(name: string): IpKind | undefined {
  const kind = ipKindOf(name)
  if (kind !== undefined) return kind
  if (name.length > MAX_NAME_CHARS || !NAME.test(name)) return undefined
  if (name === 'localhost' || name.endsWith('.localhost')) return 'loopback'
  // One word is completed by the search domains of this machine's network.
  return !name.includes('.') || PRIVATE_NAME.test(name) ? 'private' : 'public'
}

/**
 * Whether a server may connect there because a client names it: to the internet, and with `allowPrivate` also
 * to this machine and into private networks.
 */
export function mayLeadTo(kind: IpKind, allowPrivate: boolean): boolean {
  return kind === 'public' || (allowPrivate && (kind === 'loopback' || kind === 'private'))
}

/**
 * Whether an address has one of the hosts of a list: `hooks.example.com`, `*.example.com` (one label or more
 * for the star), `localhost:9000`. Undefined lists all.
 */
export function isListedHost(url: URL, hosts: readonly string[] | undefined): boolean {
  if (hosts === undefined) return true
  const name = hostNameOf(url)
  // A URL does not show a port that its scheme has anyway.
  const port = url.port || defaultPorts.get(url.protocol.slice(0, -1))
  const shown = name.includes(':') ? `[${name}]` : name
  return hosts.some((host) => {
    const [, listed = '', listedPort] = /^(.+?)(?::(\d+))?$/.exec(host) ?? none
    if (listedPort !== undefined && listedPort !== port) return false
    return listed.startsWith('*.') ? shown.endsWith(listed.slice(1)) : shown === listed
  })
}

/** Whether such a list may have it: a host that a URL writes in another way would never be found. */
export function isHostToList(value: unknown): value is string {
  const [, host] = typeof value === 'string' ? LISTED.exec(asciiHost(value)) ?? [] : []
  if (host === undefined || !URL.canParse(`https://${host}`)) return false
  return new URL(`https://${host}`).hostname === host.replace(/:\d+$/, '')
}

/** The check of an option: hosts to which a server may connect because a client names them. */
export const mustBeHosts: MemberCheck = (owner, hosts, member) => {
  const wrong = Array.isArray(hosts) ? hosts.findIndex((host) => !isHostToList(host)) : undefined
  if (wrong === -1) return
  throw new TypeError(`${owner}.${member} has ${show(Array.isArray(hosts) ? hosts[wrong!] : hosts)}; `
    + `write names, as in ['hooks.example.com', '*.example.org', 'localhost:9000']`)
}
