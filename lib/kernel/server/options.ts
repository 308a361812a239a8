/**
 * The options of a server of parts: their types, one table of names and checks, and the normal form of those
 * that have a grammar of their own. No error here shows a key.
 */
import { isRecord } from '../define/content.ts'
import {
  checkValues, mustBe, mustBeOptions, mustBeSwitch, rejectMore, rejectUnknown, show, typed,
} from '../define/validate.ts'
import { isStrings } from '../wire/json.ts'
import type { Adapters } from '../define/adapters.ts'
import type { Around } from '../define/around.ts'
import type { KernelLimits } from '../define/limits.ts'
import type { Log, Logger } from '../define/log.ts'
import type { Checks, Members } from '../define/validate.ts'
import type { Offer } from '../define/normalize-definitions.ts'
import type { ApiKey, Authorization } from '../http/access/auth.ts'
import type { NamedKey } from '../http/access/keys.ts'
import type { RateLimit } from '../http/access/rate.ts'
import type { RequestSummary } from '../http/server/observer.ts'
import type { OnCall } from '../run/call-observer.ts'
import type { ShareStore } from '../store/sharing.ts'
import type { Store } from '../store/store.ts'
import type { Part } from './part.ts'

/** What every server may be told, each of `KernelLimits` too. `T`: the types of the tools' schemas. */
export interface KernelSettings<T extends readonly unknown[] = readonly unknown[]>
  extends Offer<T>, Partial<KernelLimits> {
  /** Left out: that of the first group, else the first agent, else `triport`. */
  readonly name?: string | undefined
  /** Left out: `1.0.0`. */
  readonly version?: string | undefined
  /** Left out: that of the first group, else the first agent. */
  readonly description?: string | undefined
  /** A key, several, or a function that checks them. Left out: no key is needed on a loopback address. */
  readonly apiKey?: ApiKey | undefined
  /** OAuth tokens, besides or instead of keys: the server becomes an OAuth resource server (RFC 9728). */
  readonly auth?: Authorization | undefined
  /** Serves without a key on any address. */
  readonly insecure?: boolean | undefined
  /** Where clients reach this server, when that is not where it listens. */
  readonly publicUrl?: string | URL | undefined
  /**
   * The number of proxies before this server; `true` is one. That many are believed in `X-Forwarded-Host`,
   * `X-Forwarded-Proto` and `X-Forwarded-For`, counted from the end. Only behind proxies that set all three:
   * otherwise clients set them.
   */
  readonly trustProxy?: boolean | number | undefined
  /** Prefix of every path: `/assistant`. */
  readonly mountPath?: string | undefined
  /**
   * Origins of pages that may call and read, or `*`. Left out: pages of this machine on a loopback address,
   * otherwise none.
   */
  readonly cors?: string | readonly string[] | undefined
  /**
   * Host names of this server; others get 403. `*` lifts the check. Left out: that of `publicUrl`, and on a
   * loopback address its own; otherwise any name.
   */
  readonly allowedHosts?: readonly string[] | undefined
  /** Origins of pages that may call, besides those of `cors`, `publicUrl`, this machine and the server. */
  readonly allowedOrigins?: readonly string[] | undefined
  /**
   * How often one principal, or one network address where no key is needed, may call. Counted in this
   * process, or with a shared store over all, give or take an eighth of the burst for each. Behind a proxy
   * set `trustProxy`, or all callers are one. Left out: no limit.
   */
  readonly rateLimit?: RateLimit | undefined
  /** Replaces the logger, which writes warnings and errors to standard error; `false` disables logging. */
  readonly log?: Log | Logger | false | undefined
  /** Called at the end of each call of an agent, tool, resource or prompt. What it throws is logged. */
  readonly onCall?: OnCall | undefined
  /** Runs around each call of an agent, tool, resource, prompt or completion, which `next()` runs. */
  readonly around?: Around | undefined
  /** Logs a line for each request, at level info, which standard error then shows. */
  readonly accessLog?: boolean | undefined
  /** Called when a request is over. For metrics use `route`, which has few values. */
  readonly onRequest?: ((request: RequestSummary) => void) | undefined
  /** Shows the messages of unexpected errors to callers. For development. */
  readonly exposeErrors?: boolean | undefined
  /**
   * Seals what clients carry: states between two rounds, cursors. The first of several seals, all open. At
   * least 16 characters; replicas share it. Left out: `TRIPORT_SECRET` (several with commas), else random.
   */
  readonly secret?: string | readonly string[] | undefined
  /**
   * Where it is shared (`isShared`), keeps tasks, conversations, replies for an Idempotency-Key, webhooks,
   * and the membership of processes; else webhooks and changes of sessions. All else, or everything where it
   * is left out, is in the memory of this process, within the limits.
   */
  readonly store?: Store | undefined
  /**
   * Whose state a shared store keeps. Processes with the same text share it, whatever their secret, but for
   * what a secret seals. Left out: processes with a secret in common share it, also while it is replaced.
   */
  readonly deployment?: string | undefined
}

/** What a server is made of, besides its settings. */
export interface KernelOptions<T extends readonly unknown[] = readonly unknown[]> extends KernelSettings<T> {
  /** In the order in which they are opened, but for what they need, and in which paths are looked up. */
  readonly parts: readonly Part[]
  /**
   * What knows definitions, answers and schemas of other frameworks. Left out: nothing does, and a Standard
   * Schema has the JSON Schema that it writes itself.
   */
  readonly adapters?: Adapters | undefined
  /** What takes a store that is shared: `shareStore`, of `triport/shared`. */
  readonly share?: ShareStore | undefined
  /** Sentences for the paths of protocols that are not served, by the path. It gets those that are. */
  readonly absent?: (protocols: readonly string[]) => ReadonlyMap<string, string>
}

const isString = (value: unknown): boolean => typeof value === 'string'
const isFunction = (value: unknown): boolean => typeof value === 'function'

const text = mustBe((value) => isString(value) && value !== '', 'write a string that is not empty')
const string = mustBe(isString, 'write a string')
const address = mustBe(isString, 'write an address')

const authChecks: Checks<Authorization> = {
  resource: true, authorizationServers: true, scopes: true, verify: true,
  name: string, part: string, documentation: address,
}

const rateChecks: Checks<RateLimit> = { perMinute: true, burst: true, initializePerMinute: true }

/** `true`: anything, or checked by its user. */
export const kernelChecks: Checks<Omit<KernelSettings, keyof KernelLimits>> = {
  agents: true, groups: true, tools: true, resources: true, resourceTemplates: true, prompts: true,
  name: text, version: text, description: string,
  apiKey: true, publicUrl: true, mountPath: true, log: true, secret: true,
  trustProxy: mustBe(isNumberOfProxies, 'write true, or how many proxies there are'),
  insecure: mustBeSwitch, exposeErrors: mustBeSwitch, accessLog: mustBeSwitch,
  cors: mustBe(
    (value) => isString(value) || isStrings(value),
    `write '*', or a list of strings, as in ['https://app.example.com']`,
  ),
  allowedHosts: mustBe(isStrings, `write a list of strings, as in ['agents.example.com']`),
  allowedOrigins: mustBe(isStrings, `write a list of strings, as in ['https://app.example.com']`),
  onCall: mustBe(isFunction, 'write a function (info) => {}'),
  around: mustBe(isFunction, 'write async (called, next) => await next()'),
  onRequest: mustBe(isFunction, 'write a function that takes a summary of each request'),
  rateLimit: mustBeOptions('write { perMinute: 600 }', rateChecks),
  auth: mustBeOptions('write { resource, authorizationServers, verify }', authChecks),
  deployment: text,
  store: mustBe(isStore, 'give what memoryStore() returns, or an object with all methods of Store'),
}

const keyMembers: Members<NamedKey> = { id: true, key: true, scopes: true, expires: true }

function isNumberOfProxies(value: unknown): boolean {
  return typeof value === 'boolean' || Number.isSafeInteger(value) && Number(value) >= 0
}

export function urlOf(publicUrl: string | URL | undefined): URL | undefined {
  if (publicUrl === undefined) return undefined
  const url = URL.canParse(String(publicUrl)) ? new URL(publicUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    const wrong = show(String(publicUrl))
    throw new TypeError(`publicUrl is ${wrong}; write an address, as in 'https://agents.example.com'`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('publicUrl has a name or a password, which every client would see; leave them out')
  }
  return url
}

/** Throws `TypeError` for a setting of the wrong type. */
export function checkSettings(settings: Readonly<Record<string, unknown>>): void {
  checkValues('', settings, kernelChecks)
  checkApiKey(settings['apiKey'])
}

/** Shows the type of a key, never its value. */
function checkApiKey(apiKey: unknown): void {
  if (apiKey === undefined || isString(apiKey) || isFunction(apiKey)) return
  if (!Array.isArray(apiKey)) {
    throw new TypeError(`apiKey is ${typed(apiKey)}; write a string, a list of strings or of { id, key }, `
      + 'or a function that knows them')
  }
  for (const [index, entry] of apiKey.entries()) {
    if (isString(entry)) continue
    const owner = `The API key ${index + 1}`
    if (!isRecord(entry)) {
      throw new TypeError(`${owner} is ${typed(entry)}; `
        + `write a string or { id: 'ops', key }, or leave it out`)
    }
    rejectUnknown(owner, entry, Object.keys(keyMembers))
  }
}

const storeMethods: readonly (keyof Store)[] = ['read', 'write', 'remove', 'list', 'publish', 'follow']

function isStore(value: unknown): boolean {
  return isRecord(value) && storeMethods.every((method) => typeof value[method] === 'function')
}

/** The error for a callback, as Node's servers take one. */
export function noCallback(verb: string, call: string): TypeError {
  return new TypeError(`${verb} returns a promise and calls no function; write ${call}`)
}

/** Throws `RangeError` for a wrong port, `TypeError` for a wrong host or for more arguments. */
export function checkAddress(given: ArrayLike<unknown>, port: unknown, host: unknown): void {
  const call = 'await server.listen(port, host)'
  if (Array.from(given).some(isFunction)) throw noCallback('server.listen', call)
  rejectMore('server.listen', given, `write ${call}`, 2)
  if (!(Number.isInteger(port) && Number(port) >= 0 && Number(port) <= 65535)) {
    const isPath = typeof port === 'string' && /[/\\]/.test(port)
    const example = isPath ? '; for a path write createServer(server.handler).listen(path), of node:http'
      : typeof port === 'string' ? ', as in Number(process.env.PORT)' : ''
    throw new RangeError(`port is ${show(port)}; write a whole number from 0 to 65535${example}`)
  }
  const bare = typeof host === 'string' ? /^\[(.+)\]$/.exec(host)?.[1] : undefined
  if (bare !== undefined) throw new TypeError(`host is ${show(host)}; write '${bare}', without the brackets`)
  if (typeof host === 'string' && host !== '' && !/[/\s]|^[^:]+:\d*$/.test(host)) return
  throw new TypeError(`host is ${show(host)}; write a name or an address, as in '127.0.0.1'`)
}

/** Whether a value is a web `Request`, of any implementation. */
export function isRequest(value: unknown): value is Request {
  return isRecord(value) && typeof value['url'] === 'string' && typeof value['method'] === 'string'
    && isRecord(value['headers']) && typeof value['headers']['get'] === 'function'
}

export function noRequest(value: unknown): TypeError {
  return new TypeError(`server.fetch takes a Request, not ${show(value)}; write server.fetch(new Request(`
    + `'http://localhost/health')); with Hono, pass c.req.raw; with h3, event.req`)
}
