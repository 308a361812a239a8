/**
 * The check of a webhook's address against the operator's settings, so that it leads neither to this server
 * nor to what only this server can reach: when it is given and before each post, and what its name leads to
 * whenever that is connected to. Spec: A2A 1.0 §13.2.
 */
import { hostKindOf, hostNameOf, isListedHost, mayLeadTo } from '../../../floors/outbound/host.ts'
import { FieldFault } from './fields.ts'
import type { IpKind } from '../../../floors/outbound/ip.ts'
import type { PushSettings } from './push-settings.ts'

/** What an address is checked against. */
export type AddressRules = Pick<PushSettings, 'allowInsecure' | 'allowPrivate' | 'allowedHosts'>

const MAX_URL_BYTES = 2_048

/**
 * The address, parsed. Throws a `FieldFault` for what is none, and for one that may not be posted to as
 * far as its name shows that without being looked up.
 */
export function checkPushUrl(text: string, rules: AddressRules): URL {
  if (Buffer.byteLength(text) > MAX_URL_BYTES) throw refused(`may have at most ${MAX_URL_BYTES} bytes`)
  // WHATWG URL reads the odd forms of an address (`0x7f.1`, `2130706433`, `127.1`) as the usual one.
  const url = URL.canParse(text) && !/[\u0000-\u0020\u007f]/.test(text) ? new URL(text) : undefined
  if (url === undefined) throw refused(`must be an absolute address, as in https://hooks.example.com/a2a`)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && rules.allowInsecure)) {
    throw refused(url.protocol === 'http:' ? `must begin with https:; http: is not allowed here`
      : 'must begin with https:')
  }
  if (url.username !== '' || url.password !== '') {
    throw refused('must have no user name or password; give them as authentication')
  }
  const kind = hostKindOf(hostNameOf(url))
  if (kind === undefined) {
    throw refused('must have the name or the address of a host, as in https://hooks.example.com/a2a')
  }
  if (!isListedHost(url, rules.allowedHosts)) {
    throw refused('must lead to one of the hosts that the operator of this server lists')
  }
  requirePushKind(kind, rules)
  return url
}

const words: ReadonlyMap<IpKind, string> = new Map([
  ['loopback', 'to this machine'], ['private', 'into a private network'],
])

/** Throws a `FieldFault` where nothing is posted to what leads there. */
export function requirePushKind(kind: IpKind, { allowPrivate }: AddressRules): void {
  if (mayLeadTo(kind, allowPrivate)) return
  const where = words.get(kind) ?? 'where nothing is posted to'
  throw refused(`leads ${where}; give one that is reached from the internet`)
}

function refused(demand: string): FieldFault {
  return new FieldFault('url', demand)
}
