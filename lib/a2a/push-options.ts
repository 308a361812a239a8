/**
 * What the operator says about webhooks, checked and made whole. What an address is checked against and how
 * often a delivery is tried is said here; who does it is in other files.
 */
import { isRecord } from '../core/content.ts'
import { rejectUnknown, show } from '../core/define.ts'
import type { Members } from '../core/define.ts'

/** Where webhooks may be, and how long they are waited for. */
export interface PushOptions {
  /** Addresses may be `http:` too, so that secrets and results travel in the clear. Left out: false. */
  readonly allowInsecure?: boolean | undefined
  /**
   * Addresses may lead to this machine and into private networks, where whoever may send messages can then
   * reach every service that listens. Together with `allowedHosts`: to those hosts alone. Left out: false.
   */
  readonly allowPrivate?: boolean | undefined
  /** The only hosts that are posted to: `hooks.example.com`, `*.example.com`, `localhost:9000`. */
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
const HOST = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i

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

function isHost(value: unknown): boolean {
  return typeof value === 'string' && HOST.test(value)
}

function isMs(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MAX_MS
}

function outOf(name: string, value: unknown, remedy: string): RangeError {
  return new RangeError(`${name} is ${show(value)}; write milliseconds, 1 to ${MAX_MS}: ${remedy}`)
}
