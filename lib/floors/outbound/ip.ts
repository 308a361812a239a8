/**
 * IP addresses by what they lead to: the internet, this machine, a private network, or nowhere that a client
 * may name. RFC 6890 and IANA's two registries of special-purpose addresses, RFC 3701, RFC 4291 §2.2 (text),
 * RFC 6052 (NAT64), RFC 3056 (6to4), RFC 5214 (ISATAP).
 */
import { isIP } from 'node:net'
import { ipv4GroupsOf, ipv6GroupsOf } from '../../kernel/wire/ip-groups.ts'

/** Where an address leads. `reserved` is all that is none of the others. */
export type IpKind = 'public' | 'loopback' | 'private' | 'link-local' | 'multicast' | 'reserved'

/** What is not public of IPv4, anycast included. */
const ipv4Networks: Readonly<Record<string, IpKind>> = {
  '0.0.0.0/8 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24': 'reserved',
  '192.175.48.0/24 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4': 'reserved',
  '10.0.0.0/8 100.64.0.0/10 172.16.0.0/12 192.168.0.0/16 198.18.0.0/15': 'private',
  '127.0.0.0/8': 'loopback',
  '169.254.0.0/16': 'link-local',
  '224.0.0.0/4': 'multicast',
}

/** Of IPv6 only 2000::/3 is public, and of that not all; the first that fits counts. */
const ipv6Networks: Readonly<Record<string, IpKind>> = {
  '::1/128': 'loopback',
  'fc00::/7 fec0::/10': 'private',
  'fe80::/10': 'link-local',
  'ff00::/8': 'multicast',
  '2001::/23 2001:db8::/32 2620:4f:8000::/48 3ffe::/16 3fff::/20': 'reserved',
  '2000::/3': 'public',
}

/** IPv6 networks whose addresses contain IPv4 ones, and the group at which these begin. */
const carriers: Readonly<Record<string, number>> = { '::ffff:0:0/96 64:ff9b::/96': 6, '2002::/16': 1 }

/** One network, and what is said of it. */
interface Row<T> { readonly groups: readonly number[]; readonly bits: number; readonly is: T }

const ipv4Table = rowsOf(ipv4Networks, ipv4GroupsOf)
const ipv6Table = rowsOf(ipv6Networks, ipv6GroupsOf)
const carrierTable = rowsOf(carriers, ipv6GroupsOf)

function rowsOf<T>(
  networks: Readonly<Record<string, T>>, groupsOf: (address: string) => readonly number[],
): readonly Row<T>[] {
  return Object.entries(networks).flatMap(([names, is]) => names.split(' ').map((name) => {
    const [address = '', bits] = name.split('/')
    return { groups: groupsOf(address), bits: Number(bits), is }
  }))
}

/**
 * The kind of an address, written as a URL or a socket writes it, without brackets. An IPv6 address that
 * contains an IPv4 one is of its kind; one with a zone is never public. Undefined: no address.
 */
export function ipKindOf(address: string): IpKind | undefined {
  const version = isIP(address)
  if (version === 0) return undefined
  if (version === 4) return ipv4KindOf(ipv4GroupsOf(address))
  const [bare = '', zone] = address.split('%')
  const groups = ipv6GroupsOf(bare)
  const at = find(carrierTable, groups)
  const kind = at === undefined ? ipv6KindOf(groups) : ipv4KindOf(groups.slice(at, at + 2))
  return zone !== undefined && kind === 'public' ? 'reserved' : kind
}

function ipv6KindOf(groups: readonly number[]): IpKind {
  const kind = find(ipv6Table, groups) ?? 'reserved'
  // ISATAP: whatever network it is in, it is sent on to the IPv4 address at its end.
  const isTunnel = (groups[4]! & 0xfdff) === 0 && groups[5] === 0x5efe
  return isTunnel && kind === 'public' ? ipv4KindOf(groups.slice(6)) : kind
}

function ipv4KindOf(groups: readonly number[]): IpKind {
  return find(ipv4Table, groups) ?? 'public'
}

function find<T>(table: readonly Row<T>[], groups: readonly number[]): T | undefined {
  return table.find((one) => startsWith(groups, one.groups, one.bits))?.is
}

function startsWith(groups: readonly number[], network: readonly number[], bits: number): boolean {
  for (let at = 0, left = bits; left > 0; at++, left -= 16) {
    const shift = Math.max(0, 16 - left)
    if (groups[at]! >> shift !== network[at]! >> shift) return false
  }
  return true
}
