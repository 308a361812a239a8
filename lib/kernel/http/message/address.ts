/**
 * Addresses in requests and sockets: the host that was asked for, what proxies report of both ends, and the
 * network of a client. RFC 9110 §7.2, RFC 4291 §2.2. `X-Forwarded-*` has no specification: each proxy sets
 * it, or appends to it.
 */
import { isIP } from 'node:net'
import { ownText } from '../../util/own.ts'
import { defaultPorts } from '../../wire/uri.ts'
import { ipv6GroupsOf } from '../../wire/ip-groups.ts'

export interface NamedHost {
  /** Lower case, without the dot of the root; an IPv6 address in its short form. */
  readonly name: string
  readonly port: string | undefined
}

/** A DNS name has at most 253 characters, and then there are a dot and a port. */
const MAX_HOST = 260
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\.?)(?::(\d{1,5}))?$/i

/** Reads `host` or `host:port`; undefined where it is neither, or a port that cannot be. */
export function parseHost(host: string): NamedHost | undefined {
  const [, name, port] = host.length > MAX_HOST ? [] : HOST.exec(host) ?? []
  if (name === undefined || Number(port ?? 0) > 65535) return undefined
  const written = port && String(Number(port))
  if (!name.startsWith('[')) return { name: name.toLowerCase().replace(/\.$/, ''), port: written }
  if (!URL.canParse(`http://${name}`)) return undefined
  return { name: new URL(`http://${name}`).hostname, port: written }
}

/** Whether two texts name one host of a scheme: in any case, with the dot of the root, with its own port. */
export function isSameHost(one: string, other: string, scheme: string): boolean {
  if (one === other) return true
  const [first, second] = [parseHost(one), parseHost(other)]
  if (first === undefined || first.name !== second?.name) return false
  const usual = defaultPorts.get(scheme)
  return (first.port ?? usual) === (second.port ?? usual)
}

/** The same text where it is a valid authority, else undefined. */
export function authorityOf(host: string | undefined): string | undefined {
  if (host === undefined || parseHost(host) === undefined) return undefined
  return URL.canParse(`http://${host}`) ? host : undefined
}

/** What the outermost of so many trusted proxies wrote into a list. What stands before it is the client's. */
export function forwarded(list: string | undefined, proxies: number): string | undefined {
  if (list === undefined || proxies === 0) return undefined
  let end = list.length
  for (let passed = 1; passed < proxies; passed++) {
    const comma = list.lastIndexOf(',', end - 1)
    if (comma <= 0 || end === 0) break
    end = comma
  }
  const start = end === 0 ? 0 : list.lastIndexOf(',', end - 1) + 1
  // A network is kept as the name of a bucket, the rest of a long header is not.
  return ownText(list.slice(start, end).trim()) || undefined
}

/** With brackets or a port, as proxies write them. */
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/

/** What counts as one client: an IPv4 address, or the /64 of an IPv6 address. Undefined for anything else. */
export function networkOf(address: string | undefined): string | undefined {
  if (address === undefined) return undefined
  // Most are, and each stream has one.
  if (isIP(address) === 4) return address
  const [, bracketed, dotted] = WITH_PORT.exec(address) ?? []
  const bare = (bracketed ?? dotted ?? address).replace(/%.*$/s, '').toLowerCase()
  const version = isIP(bare)
  if (version === 0) return undefined
  if (version === 4) return bare
  const mapped = /^::ffff:([\d.]+)$/.exec(bare)?.[1]
  return mapped ?? `${ipv6GroupsOf(bare).slice(0, 4).map((group) => group.toString(16)).join(':')}::/64`
}
