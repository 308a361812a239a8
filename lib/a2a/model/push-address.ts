/**
 * Where a webhook may be: what the operator says about that, and the check of an address against it.
 *
 * An address that a client has named must not lead this server to itself, or to what only this server can
 * reach: it is checked when it is given, and what its name stands for is checked each time before anything is
 * sent there, and then connected to as it was checked. WHATWG URL reads the odd spellings of an address
 * (`0x7f.1`, `2130706433`, `127.1`) as the one that they stand for. Spec: A2A 1.0 §13.2.
 */
import { isRecord } from '../../define/content.ts'
import { rejectUnknown, show } from '../../define/validate.ts'
import { Fault } from '../../define/fault.ts'
import { ipKindOf } from '../../wire/ip.ts'
import type { Members } from '../../define/validate.ts'
import type { IpKind } from '../../wire/ip.ts'

/** One address of a host. */
export interface HostAddress { readonly address: string; readonly family: number }

/** Where webhooks may be, and how long they are waited for. */
export interface PushOptions {
  /** Addresses may be `http:` too, so that secrets and results travel in the clear. Left out: false. */
  readonly allowInsecure?: boolean | undefined
  /**
   * Addresses may lead to this machine and into private networks, where whoever may send messages can then
   * reach every service that listens; so do names without a dot, and those under `.local`, `.internal` and
   * `.home.arpa`. Together with `allowedHosts`: to those hosts alone. Left out: false.
   */
  readonly allowPrivate?: boolean | undefined
  /**
   * The only hosts that are posted to: `hooks.example.com`, `*.example.com`, `localhost:9000`. A star is one
   * label or more, so that `*.example.com` is not `example.com`. An address is spelled as a URL shows it.
   */
  readonly allowedHosts?: readonly string[] | undefined
  /** How long one try may take, from looking up the name to the head of the answer. Left out: 10 s. */
  readonly timeoutMs?: number | undefined
  /** The pauses between the tries for one event; one more try than pauses. Left out: 1 s, 5 s, 25 s. */
  readonly retryDelaysMs?: readonly number[] | undefined
}

/** The same, with nothing left out but the hosts. */
export interface PushSettings {
  readonly allowInsecure: boolean
  readonly allowPrivate: boolean
  /** Undefined: all. */
  readonly allowedHosts: readonly string[] | undefined
  readonly timeoutMs: number
  readonly retryDelaysMs: readonly number[]
}

const members: Members<PushOptions> = {
  allowInsecure: true, allowPrivate: true, allowedHosts: true, timeoutMs: true, retryDelaysMs: true,
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

/**
 * What an operator said of webhooks; undefined where there are none. Throws `TypeError` and `RangeError` for
 * what cannot be meant. `name` is what the sentence calls the option.
 */
export function pushSettingsOf(
  given: unknown, name = 'a2a.pushNotifications',
): PushSettings | undefined {
  if (given === undefined || given === false) return undefined
  const options = given === true ? {} : given
  if (!isRecord(options)) {
    throw new TypeError(`${name} is ${show(options)}; write true, or { allowedHosts: ['hooks.example.com'] }`)
  }
  rejectUnknown(name, options, Object.keys(members))
  const { allowedHosts } = options
  const { timeoutMs = TIMEOUT_MS, retryDelaysMs = RETRY_DELAYS_MS } = options
  if (allowedHosts !== undefined && !isHosts(allowedHosts)) {
    const written = Array.isArray(allowedHosts) ? allowedHosts.find((host) => !isHost(host)) : allowedHosts
    throw new TypeError(`${name}.allowedHosts has ${show(written)}; `
      + `write names, as in ['hooks.example.com', '*.example.org', 'localhost:9000']`)
  }
  if (!isMs(timeoutMs)) throw outOf(`${name}.timeoutMs`, timeoutMs, '10_000')
  if (!Array.isArray(retryDelaysMs) || retryDelaysMs.length > MAX_RETRIES || !retryDelaysMs.every(isMs)) {
    const remedy = `a list of at most ${MAX_RETRIES}, as in [1_000, 5_000]`
    throw outOf(`${name}.retryDelaysMs`, retryDelaysMs, remedy)
  }
  return {
    allowInsecure: flag(`${name}.allowInsecure`, options['allowInsecure']),
    allowPrivate: flag(`${name}.allowPrivate`, options['allowPrivate']),
    allowedHosts: allowedHosts?.map((host) => host.toLowerCase()),
    timeoutMs,
    retryDelaysMs,
  }
}

function flag(name: string, value: unknown): boolean {
  if (value === undefined || typeof value === 'boolean') return value ?? false
  throw new TypeError(`${name} is ${show(value)}; write true or false`)
}

function isHosts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isHost)
}

/** Whether an address can have it as its host: what a URL spells in another way would never be found. */
function isHost(value: unknown): boolean {
  const [, host] = typeof value === 'string' ? HOST.exec(value.toLowerCase()) ?? none : none
  if (host === undefined || !URL.canParse(`https://${host}`)) return false
  return new URL(`https://${host}`).hostname === host.replace(/:\d+$/, '')
}

function isMs(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MAX_MS
}

function outOf(name: string, value: unknown, remedy: string): RangeError {
  return new RangeError(`${name} is ${show(value)}; write milliseconds, 1 to ${MAX_MS}: ${remedy}`)
}

/** What an address is checked against. */
export type AddressRules = Pick<PushSettings, 'allowInsecure' | 'allowPrivate' | 'allowedHosts'>

const MAX_URL_BYTES = 2_048
const none: readonly never[] = []
/** A URL does not show a port that its scheme has anyway. */
const defaultPorts: ReadonlyMap<string, string> = new Map([['https:', '443'], ['http:', '80']])

/**
 * The address, read. Throws `Fault('invalid')` for what is none, and for one that may not be posted to as far
 * as that can be told without looking up its name.
 */
export function checkPushUrl(text: string, rules: AddressRules): URL {
  if (Buffer.byteLength(text) > MAX_URL_BYTES) throw refused(`may have at most ${MAX_URL_BYTES} bytes`)
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
 * What the host of an address stands for now: what to connect to, and nothing else. Rejects with
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

/** Where a name leads as far as it says so itself, RFC 6761 §6.3 and above. Undefined: no name of a host. */
function nameKindOf(name: string): IpKind | undefined {
  if (name.length > MAX_NAME_CHARS || !NAME.test(name)) return undefined
  if (name === 'localhost' || name.endsWith('.localhost')) return 'loopback'
  // One word is completed by what this machine's own network says.
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
