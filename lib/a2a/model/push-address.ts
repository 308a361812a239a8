/**
 * Where a webhook may be: the operator's options, and the check of an address against them, so that it leads
 * neither to this server nor to what only this server can reach. It is checked when it is given; what its
 * name resolves to is checked before each post, and connected to as it was checked. Spec: A2A 1.0 §13.2.
 */
import { isRecord } from '../../define/content.ts'
import { checkMembers, mustBe, rejectUnknown, show } from '../../define/validate.ts'
import { Fault } from '../../define/fault.ts'
import { ipKindOf } from '../../wire/ip.ts'
import type { Checks } from '../../define/validate.ts'
import type { IpKind } from '../../wire/ip.ts'

/** One address of a host. */
export interface HostAddress { readonly address: string; readonly family: number }

/** Where webhooks may be, and how long they are waited for. */
export interface PushOptions {
  /** Addresses may be `http:` too, so that secrets and results travel in the clear. Left out: false. */
  readonly allowInsecure?: boolean | undefined
  /**
   * Addresses may lead to this machine and into private networks, where everyone who may send messages can
   * then reach every service that listens; so do names without a dot, and those under `.local`, `.internal`
   * and `.home.arpa`. Together with `allowedHosts`: to those hosts alone. Left out: false.
   */
  readonly allowPrivate?: boolean | undefined
  /**
   * The only hosts that are posted to: `hooks.example.com`, `*.example.com`, `localhost:9000`. A star is one
   * label or more, so that `*.example.com` is not `example.com`. An address is written as a URL shows it.
   */
  readonly allowedHosts?: readonly string[] | undefined
  /** How long one try may take, from looking up the name to the head of the answer. Left out: 10 s. */
  readonly timeoutMs?: number | undefined
  /** The pauses between the tries for one event; one more try than pauses. Left out: 1 s, 5 s, 25 s. */
  readonly retryDelaysMs?: readonly number[] | undefined
}

/** The same with defaults. */
export interface PushSettings {
  readonly allowInsecure: boolean
  readonly allowPrivate: boolean
  /** Undefined: all. */
  readonly allowedHosts: readonly string[] | undefined
  readonly timeoutMs: number
  readonly retryDelaysMs: readonly number[]
}

const TIMEOUT_MS = 10_000
const RETRY_DELAYS_MS: readonly number[] = [1_000, 5_000, 25_000]
const MAX_RETRIES = 10
/** An hour: what waits longer is not waited for. */
const MAX_MS = 3_600_000
/** With an empty label a name may be read as another one further on. */
const LABELS = '[a-z0-9_-]{1,63}(?:\\.[a-z0-9_-]{1,63})*'
const NAME = new RegExp(`^${LABELS}$`)
const MAX_NAME_CHARS = 253
const HOST = new RegExp(`^(?:\\*\\.)?((?:${LABELS}|\\[[0-9a-f:.]+\\])(?::[1-9]\\d{0,4})?)$`)
/** Names that no name server of the internet knows: RFC 6762 §3, RFC 8375, ICANN's resolution of 2024. */
const PRIVATE_NAME = /(?:^|\.)(?:local|internal|home\.arpa)$/

const mustBeFlag = mustBe((value) => typeof value === 'boolean', 'write true or false')
const MILLISECONDS = `write milliseconds, 1 to ${MAX_MS}:`

const checks: Checks<PushOptions> = {
  allowInsecure: mustBeFlag,
  allowPrivate: mustBeFlag,
  allowedHosts(owner, hosts, member) {
    const wrong = Array.isArray(hosts) ? hosts.findIndex((host) => !isHost(host)) : undefined
    if (wrong === -1) return
    throw new TypeError(`${owner}.${member} has ${show(Array.isArray(hosts) ? hosts[wrong!] : hosts)}; `
      + `write names, as in ['hooks.example.com', '*.example.org', 'localhost:9000']`)
  },
  timeoutMs: mustBe(isMs, `${MILLISECONDS} 10_000`, RangeError),
  retryDelaysMs: mustBe(
    (list) => Array.isArray(list) && list.length <= MAX_RETRIES && list.every(isMs),
    `${MILLISECONDS} a list of at most ${MAX_RETRIES}, as in [1_000, 5_000]`, RangeError,
  ),
}

/**
 * The operator's options for webhooks with defaults; undefined where nothing is posted. Throws `TypeError`
 * and `RangeError` for options that cannot be meant; `name` begins the sentence.
 */
export function pushSettingsOf(
  given: unknown, name = 'a2a.pushNotifications',
): PushSettings | undefined {
  if (given === undefined || given === false) return undefined
  const options: unknown = given === true ? {} : given
  if (!isRecord(options)) {
    throw new TypeError(`${name} is ${show(options)}; write true, or { allowedHosts: ['hooks.example.com'] }`)
  }
  rejectUnknown(name, options, Object.keys(checks))
  checkMembers(name, options, checks)
  const { allowInsecure = false, allowPrivate = false, allowedHosts, ...times }: PushOptions = options
  const { timeoutMs = TIMEOUT_MS, retryDelaysMs = RETRY_DELAYS_MS } = times
  const hosts = allowedHosts?.map((host) => host.toLowerCase())
  return { allowInsecure, allowPrivate, allowedHosts: hosts, timeoutMs, retryDelaysMs }
}

/** Whether an address can have it as its host: one that a URL writes in another way would never be found. */
function isHost(value: unknown): boolean {
  const [, host] = typeof value === 'string' ? HOST.exec(value.toLowerCase()) ?? none : none
  if (host === undefined || !URL.canParse(`https://${host}`)) return false
  return new URL(`https://${host}`).hostname === host.replace(/:\d+$/, '')
}

function isMs(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MAX_MS
}

/** What an address is checked against. */
export type AddressRules = Pick<PushSettings, 'allowInsecure' | 'allowPrivate' | 'allowedHosts'>

const MAX_URL_BYTES = 2_048
const none: readonly never[] = []
/** A URL does not show a port that its scheme has anyway. */
const defaultPorts: ReadonlyMap<string, string> = new Map([['https:', '443'], ['http:', '80']])

/**
 * The address, parsed. Throws `Fault('invalid')` for what is none, and for one that may not be posted to as
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
  const name = nameOf(url)
  const kind = ipKindOf(name) ?? nameKindOf(name)
  if (kind === undefined) {
    throw refused('must have the name or the address of a host, as in https://hooks.example.com/a2a')
  }
  if (!isListed(name, url.port || defaultPorts.get(url.protocol), rules.allowedHosts)) {
    throw refused('must lead to one of the hosts that the operator of this server lists')
  }
  requireAllowed(kind, rules)
  return url
}

/**
 * What the host of an address resolves to now: what to connect to, and nothing else. Rejects with
 * `Fault('invalid')` where any of it may not be posted to, with the look-up's own error where it failed.
 */
export async function resolvePushHost(
  url: URL, rules: AddressRules, find: (name: string) => Promise<readonly HostAddress[]>,
): Promise<readonly HostAddress[]> {
  const name = nameOf(url)
  const found = ipKindOf(name) === undefined ? await find(name)
    : [{ address: name, family: name.includes(':') ? 6 : 4 }]
  // One that may not be connected to makes the name suspect: then none of them is.
  for (const { address } of found) requireAllowed(ipKindOf(address) ?? 'reserved', rules)
  if (found.length === 0) throw new Error('The name has no address')
  return found
}

/** The host as it is looked up: without brackets, without the dot of the root. */
function nameOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '')
}

/** Where a name leads as far as its text shows, RFC 6761 §6.3 and above. Undefined: no name of a host. */
function nameKindOf(name: string): IpKind | undefined {
  if (name.length > MAX_NAME_CHARS || !NAME.test(name)) return undefined
  if (name === 'localhost' || name.endsWith('.localhost')) return 'loopback'
  // One word is completed by the search domains of this machine's network.
  return !name.includes('.') || PRIVATE_NAME.test(name) ? 'private' : 'public'
}

function isListed(name: string, port: string | undefined, hosts: readonly string[] | undefined): boolean {
  if (hosts === undefined) return true
  const shown = name.includes(':') ? `[${name}]` : name
  return hosts.some((host) => {
    const [, listed = '', listedPort] = /^(.+?)(?::(\d+))?$/.exec(host) ?? none
    if (listedPort !== undefined && listedPort !== port) return false
    return listed.startsWith('*.') ? shown.endsWith(listed.slice(1)) : shown === listed
  })
}

const words: ReadonlyMap<IpKind, string> = new Map([
  ['loopback', 'to this machine'], ['private', 'into a private network'],
])

function requireAllowed(kind: IpKind, { allowPrivate }: AddressRules): void {
  if (kind === 'public') return
  const isPrivate = kind === 'loopback' || kind === 'private'
  if (isPrivate && allowPrivate) return
  const where = words.get(kind) ?? 'where nothing is posted to'
  throw refused(`leads ${where}; give one that is reached from the internet`)
}

function refused(demand: string): Fault {
  return new Fault('invalid', `The url of a push configuration ${demand}`)
}
