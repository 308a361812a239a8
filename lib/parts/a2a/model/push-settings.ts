/** What the operator of a server says of webhooks, and what is left out of that. */
import { mustBeHosts } from '../../../floors/outbound/host.ts'
import { mustBe, mustBeOptions, mustBeSwitch } from '../../../kernel/define/validate.ts'
import { asciiHost } from '../../../kernel/wire/uri.ts'
import type { Checks } from '../../../kernel/define/validate.ts'

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

/** The same with defaults. `allowedHosts` undefined: all. */
export type PushSettings = Pick<PushOptions, 'allowedHosts'> & {
  readonly [name in Exclude<keyof PushOptions, 'allowedHosts'>]-?: NonNullable<PushOptions[name]>
}

const TIMEOUT_MS = 10_000
const RETRY_DELAYS_MS: readonly number[] = [1_000, 5_000, 25_000]
const MAX_RETRIES = 10
/** An hour: what waits longer is not waited for. */
const MAX_MS = 3_600_000

const MILLISECONDS = `write milliseconds, 1 to ${MAX_MS}:`

const mustBePushOptions = mustBeOptions(`write true, or { allowedHosts: ['hooks.example.com'] }`, {
  allowInsecure: mustBeSwitch,
  allowPrivate: mustBeSwitch,
  allowedHosts: mustBeHosts,
  timeoutMs: mustBe(isMs, `${MILLISECONDS} 10_000`, RangeError),
  retryDelaysMs: mustBe(
    (list) => Array.isArray(list) && list.length <= MAX_RETRIES && list.every(isMs),
    `${MILLISECONDS} a list of at most ${MAX_RETRIES}, as in [1_000, 5_000]`, RangeError,
  ),
} satisfies Checks<PushOptions>)

/**
 * The operator's options for webhooks with defaults; undefined where nothing is posted. Throws `TypeError`
 * and `RangeError` for options that cannot be meant; `name` begins the sentence.
 */
export function pushSettingsOf(
  given: unknown, name = 'a2a.pushNotifications',
): PushSettings | undefined {
  if (given === undefined || given === false) return undefined
  const options = given === true ? {} : given as PushOptions
  mustBePushOptions('', options, name)
  const { allowInsecure = false, allowPrivate = false, allowedHosts, ...times } = options
  const { timeoutMs = TIMEOUT_MS, retryDelaysMs = RETRY_DELAYS_MS } = times
  return { allowInsecure, allowPrivate, allowedHosts: allowedHosts?.map(asciiHost), timeoutMs, retryDelaysMs }
}

function isMs(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MAX_MS
}
