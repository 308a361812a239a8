/**
 * The options of `createServer`, `launch` and `serveStdio`: their types, one table of names and checks, and
 * the normal form of those that have a grammar of their own. No error here shows a key.
 */
import { checkA2aOptions } from '../../parts/a2a/model/options.ts'
import { isRecord } from '../define/content.ts'
import { defaults } from '../define/limits.ts'
import { definitionMembers, offered } from '../define/normalize-definitions.ts'
import {
  checkValues, isPlain, mustBe, mustBeIcons, mustBeOptions, rejectMore, rejectUnknown, requireDefinition,
  show, typed,
} from '../define/validate.ts'
import { isStrings } from '../wire/json.ts'
import { isRegistryName } from '../../parts/mcp/mcp-registry.ts'
import type { A2aServerOptions } from '../../parts/a2a/model/options.ts'
import type { Around } from '../define/around.ts'
import type { OpenTelemetry } from '../../parts/telemetry/telemetry.ts'
import type { Limits } from '../define/limits.ts'
import type { Log, Logger } from '../define/log.ts'
import type { Checks, Members } from '../define/validate.ts'
import type { SkillsInput } from '../../parts/skills/skill.ts'
import type { Offer } from '../define/normalize-definitions.ts'
import type { ApiKey, Authorization } from '../http/access/auth.ts'
import type { NamedKey } from '../http/access/keys.ts'
import type { RateLimit } from '../http/access/rate.ts'
import type { RequestSummary } from '../http/server/observer.ts'
import type { McpOptions } from '../../parts/mcp/request/context.ts'
import type { OnCall } from '../run/call-observer.ts'
import type { Store } from '../store/store.ts'

/** What `createServer` takes, besides every limit of `Limits`. `T`: the types of the tools' schemas. */
export interface ServerOptions<T extends readonly unknown[] = readonly unknown[]>
  extends Offer<T>, Partial<Limits> {
  /** Left out: that of the first group, else the first agent, else `triport`. */
  readonly name?: string | undefined
  /** Left out: `1.0.0`. */
  readonly version?: string | undefined
  /** Left out: that of the first group, else the first agent. */
  readonly description?: string | undefined
  /** How a model should use this server (MCP). The same as `mcp.instructions`. */
  readonly instructions?: string | undefined
  /**
   * Instructions for models, in folders with a `SKILL.md` each (MCP): the folder that holds them, or a list
   * of folders and definitions. Read when the server is made; a path begins at the working directory.
   */
  readonly skills?: SkillsInput | undefined
  /** Left out: `http`, or `mcp` where only tools are given. */
  readonly protocol?: ProtocolChoice | undefined
  /** A key, several, or a function that checks them. Left out: no key is needed on a loopback address. */
  readonly apiKey?: ApiKey | undefined
  /** OAuth tokens, besides or instead of keys: MCP becomes an OAuth resource server (RFC 9728). */
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
  /** A further path for queries: `/ask`. */
  readonly path?: string | undefined
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
  /**
   * The object of `@opentelemetry/api`, `import * as api from '@opentelemetry/api'`: then each call of an
   * author's code is a span, and is measured, as the semantic conventions say. Left out: nothing is.
   */
  readonly openTelemetry?: OpenTelemetry | undefined
  /** Logs a line for each request, at level info, which standard error then shows. */
  readonly accessLog?: boolean | undefined
  /** Called when a request is over. For metrics use `route`, which has few values. */
  readonly onRequest?: ((request: RequestSummary) => void) | undefined
  /**
   * Serves `GET /metrics` for Prometheus: requests, calls and `status()`. It needs the key, where there is
   * one. Left out: false, and nothing is counted.
   */
  readonly metrics?: boolean | undefined
  /** Shows the messages of unexpected errors to callers. For development. */
  readonly exposeErrors?: boolean | undefined
  readonly mcp?: McpOptions | undefined
  readonly a2a?: A2aServerOptions | undefined
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

const isString = (value: unknown): boolean => typeof value === 'string'
const isFunction = (value: unknown): boolean => typeof value === 'function'

const isTelemetry = (value: unknown): boolean => typeof value === 'object' && value !== null
  && ['trace', 'context', 'propagation', 'metrics'].every((name) => name in value)

const text = mustBe((value) => isString(value) && value !== '', 'write a string that is not empty')
const string = mustBe(isString, 'write a string')
const address = mustBe(isString, 'write an address')
const flag = mustBe((value) => typeof value === 'boolean', 'write true or false')

const cacheChecks: Checks<NonNullable<McpOptions['cache']>> = {
  ttlMs: mustBe((value) => typeof value === 'number' && value >= 0, 'write milliseconds'),
  scope: mustBe((value) => value === 'public' || value === 'private', `write 'public' or 'private'`),
}

const mcpChecks: Checks<McpOptions> = {
  sessions: mustBe((value) => ['optional', 'required', 'none'].some((one) => one === value),
    `write 'optional', 'required' or 'none'`),
  instructions: string, title: string, websiteUrl: address, icons: mustBeIcons,
  serverCard: mustBe(isRegistryName, `write a name in reverse-DNS form, as in 'com.example/shop'`),
  extensions: mustBe(isRecord, `write an object, as in { 'io.modelcontextprotocol/ui': {} }`),
  pageSize: mustBe((value) => Number.isSafeInteger(value) && Number(value) > 0,
    'write a whole number above zero'),
  cache: mustBeOptions(`write { ttlMs: 60_000, scope: 'public' }`, cacheChecks),
}

const authChecks: Checks<Authorization> = {
  resource: true, authorizationServers: true, scopes: true, verify: true,
  name: string, documentation: address,
}

const rateChecks: Checks<RateLimit> = { perMinute: true, burst: true, initializePerMinute: true }

/** `true`: anything, or checked by its user. */
const checks: Checks<Omit<ServerOptions, keyof Limits>> = {
  agents: true, groups: true, tools: true, resources: true, resourceTemplates: true, prompts: true,
  name: text, version: text, description: string, instructions: string,
  protocol: true, apiKey: true, publicUrl: true, trustProxy: true, mountPath: true, path: true, log: true,
  secret: true, skills: true,
  insecure: flag, exposeErrors: flag, accessLog: flag, metrics: flag,
  cors: mustBe((value) => isString(value) || isStrings(value), `write '*', or ['https://app.example.com']`),
  allowedHosts: mustBe(isStrings, `write a list, as in ['agents.example.com']`),
  allowedOrigins: mustBe(isStrings, `write a list, as in ['https://app.example.com']`),
  onCall: mustBe(isFunction, 'write a function (info) => {}'),
  around: mustBe(isFunction, 'write async (called, next) => await next()'),
  openTelemetry: mustBe(isTelemetry, `write api, of import * as api from '@opentelemetry/api'`),
  onRequest: mustBe(isFunction, 'write a function that takes a summary of each request'),
  rateLimit: mustBeOptions('write { perMinute: 600 }', rateChecks),
  mcp: mustBeOptions(`write an object, as in { instructions: 'Ask first.' }`, mcpChecks),
  a2a: mustBe(isRecord, `write an object, as in { card: '1.0' }`),
  auth: mustBeOptions('write { resource, authorizationServers, verify }', authChecks),
  deployment: text,
  store: mustBe(isStore, 'give what memoryStore() returns, or an object with all methods of Store'),
}

const keyMembers: Members<NamedKey> = { id: true, key: true, scopes: true, expires: true }

/** The names of all options of `createServer`, the limits last. */
export const serverOptions: readonly string[] = [...Object.keys(checks), ...Object.keys(defaults)]

/** A protocol that a server can serve. */
export type ProtocolName = 'http' | 'mcp' | 'a2a'

/** Which protocols are served. */
export type ProtocolChoice = ProtocolName | 'all' | readonly ProtocolName[]

/** All protocols. */
export const protocolNames: readonly ProtocolName[] = ['http', 'mcp', 'a2a']

export function defaultPort(protocols: readonly ProtocolName[]): number {
  return protocols.length === 1 && protocols[0] === 'mcp' ? 8080 : 8000
}

/** The protocols that are served. `hasOnlyTools`: without an agent; `canAnswer`: it has an answer to A2A. */
export function protocolsOf(
  choice: ProtocolChoice | undefined, hasOnlyTools: boolean, canAnswer: boolean = !hasOnlyTools,
): readonly ProtocolName[] {
  const possible = protocolNames.filter((one) => one !== 'a2a' || canAnswer)
  const wanted: readonly string[] = choice === undefined ? [hasOnlyTools ? 'mcp' : 'http']
    : choice === 'all' ? possible : [choice].flat()
  const unknown = wanted.find((one) => !protocolNames.some((known) => known === one))
  if (unknown !== undefined || wanted.length === 0) {
    const meant = ['all', ...protocolNames].find((known) => known === String(unknown).trim().toLowerCase())
    const remedy = meant === undefined ? `'http', 'mcp', 'a2a', 'all' or a list of the first three`
      : meant === 'all' && Array.isArray(choice) ? `'all' alone, without a list` : `'${meant}'`
    const given = wanted.length === 0 ? 'an empty list' : show(unknown)
    throw new TypeError(`protocol is ${given}; write ${remedy}`)
  }
  return protocolNames.filter((one) => wanted.includes(one))
}

/** The first paths that clients of each protocol use. */
const entries: Readonly<Record<ProtocolName, readonly string[]>> = {
  http: ['/', '/agents', '/tools', '/prompts', '/resources', '/skills', '/v1/chat/completions', '/v1/models'],
  mcp: ['/mcp', '/sse', '/messages'],
  a2a: [
    '/a2a', '/message:send', '/message:stream', '/.well-known/agent-card.json', '/.well-known/agent.json',
  ],
}

/** Messages for the paths of protocols that are not served; `mountPath`: the prefix of those that are. */
export function absentPaths(served: readonly ProtocolName[], mountPath: string): ReadonlyMap<string, string> {
  const instead = served.map((name) => name.toUpperCase()).join(' and ')
  const absent = protocolNames.filter((name) => !served.includes(name))
  return new Map(absent.flatMap((name) => entries[name].map((path) => [
    path, `${name.toUpperCase()} is not served here, but ${instead}; GET ${mountPath}/ lists where`,
  ])))
}

/** A path of the server; undefined where it is the root. */
export function pathOf(option: string, path: string | undefined): string | undefined {
  if (path === undefined || path === '' || path === '/') return undefined
  // Clients resolve . and .. before they send a path.
  if (/^(?:\/(?!\.\.?(?:\/|$))[\w.~-]+)+$/.test(path)) return path
  const isOdd = /^\/.*[^/]$/.test(path)
  throw new TypeError(`${option} is ${show(path)}; write a path ${isOdd
    ? `of names of letters, digits, '-', '_', '.' and '~', as in '/team/agents'`
    : 'that begins, and does not end, with a slash'}`)
}

export function proxiesOf(trustProxy: boolean | number = false): number {
  const count = typeof trustProxy === 'boolean' ? Number(trustProxy) : trustProxy
  if (Number.isSafeInteger(count) && count >= 0) return count
  throw new TypeError(`trustProxy is ${show(trustProxy)}; write true, or how many proxies there are`)
}

export function urlOf(publicUrl: string | URL | undefined): URL | undefined {
  if (publicUrl === undefined) return undefined
  const url = URL.canParse(String(publicUrl)) ? new URL(publicUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    const wrong = show(String(publicUrl))
    throw new TypeError(`publicUrl is ${wrong}; write an address, as in 'https://agents.example.com'`)
  }
  return url
}

/** Throws `TypeError` for what is `given` to `verb` and is not one object of options, all of them `known`. */
export function requireOptions(verb: string, given: ArrayLike<unknown>, known: readonly string[]): void {
  const [options, more, list] = Array.from(given)
  const example = '{ agents: [agent] }'
  // `list.map(createServer)` gives the index and the list.
  if (typeof more === 'number' && list === undefined) throw new TypeError(remedyFor(verb, 'port'))
  rejectMore(verb, given, `write ${verb}({ agents: [agent], name: 'Helper' })`)
  requireDefinition(verb, options, example)
  if (isThing(options) && !Object.keys(offered).some((list) => list in options)) {
    throw new TypeError(`${verb} takes options, and this is one thing to serve. Write ${verb}(${example})`)
  }
  for (const name of Object.keys(options)) {
    const remedy = remedyFor(verb, name)
    if (remedy !== undefined) throw new TypeError(remedy)
  }
  rejectUnknown(verb, options, known)
}

/** Whether a value is a definition and not options. */
function isThing(value: unknown): boolean {
  if (!isRecord(value)) return typeof value === 'function'
  return 'kind' in value || 'run' in value || 'read' in value
}

/** The remedy for an option of `listen` or `launch`. */
function remedyFor(verb: string, name: string): string | undefined {
  if (name === 'port' || name === 'host') {
    return `${verb} has no option '${name}'; write server.listen(port, host)`
  }
  if (name !== 'quiet' && name !== 'signals') return undefined
  return `${verb} has no option '${name}'; it is one of launch, which announces and ends its server`
}

/**
 * The same for `options`, the second argument of `verb`, whose first is what is served. Throws also for an
 * option among the definitions, or the other way round.
 */
export function requireSecondOptions(
  verb: string, given: ArrayLike<unknown>, options: unknown, known: readonly string[],
): void {
  const several = `write ${verb}([one, two], options)`
  if (isThing(options)) throw new TypeError(`${verb} takes several things as a list; ${several}`)
  rejectMore(verb, given, several, 2)
  const subject = given[0]
  if (!isRecord(options)) {
    const [name, value] = typeof options === 'number' && known.includes('port') ? ['port', options]
      : isProtocol(options) && known.includes('protocol') ? ['protocol', `'${options}'`]
      : ['name', `'Helper'`]
    throw new TypeError(`${verb} takes its options as an object, not ${show(options)}; `
      + `write ${verb}(agent, { ${name}: ${value} })`)
  }
  const lists = Object.keys(offered)
  const misplaced = Object.keys(options).find((name) => lists.includes(name))
  if (misplaced !== undefined) {
    throw new TypeError(`${verb} takes '${misplaced}' in its first argument; `
      + `write ${verb}({ ${misplaced}: [one] }, options)`)
  }
  rejectUnknown(verb, options, known.filter((name) => !lists.includes(name)))
  if (!isRecord(subject) || !isPlain(subject)) return
  const isOffer = lists.some((list) => list !== 'agents' && list in subject)
  for (const name of Object.keys(subject)) {
    if (lists.includes(name) || !known.includes(name) || (definitionMembers.has(name) && !isOffer)) continue
    throw new TypeError(`'${name}' is an option; write it in the second argument, as in `
      + `${verb}(${isOffer ? '{ tools }' : 'agent'}, { ${name}: ${valueOf(subject[name])} })`)
  }
}

function isProtocol(value: unknown): value is string {
  return ['all', ...protocolNames].some((one) => one === value)
}

/** A value as it was written, where it can be no secret. */
function valueOf(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '…'
}

/** Throws `TypeError` for a value of the wrong type. */
export function checkOptions(options: Readonly<Record<string, unknown>>): void {
  checkValues('', options, checks)
  checkApiKey(options['apiKey'])
  const { mcp, a2a } = options
  if (isRecord(mcp) && mcp['instructions'] !== undefined && options['instructions'] !== undefined) {
    throw new TypeError('The instructions stand in the options and in mcp; leave one of them out')
  }
  if (!isRecord(a2a)) return
  checkA2aOptions(a2a)
  if (a2a['extendedCard'] !== undefined && options['apiKey'] === undefined && options['auth'] === undefined) {
    throw new TypeError('a2a.extendedCard is for callers with a key or a token, and none is needed '
      + 'here; write apiKey or auth too')
  }
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
  if (typeof host === 'string' && host !== '' && !/[/\s]/.test(host)) return
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
