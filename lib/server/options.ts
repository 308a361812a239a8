/**
 * The options of `createServer`, `launch` and `serveStdio`, checked before anything is made of them: their
 * names, their types, and whether they stand where they belong. Nothing that is thrown here shows a key.
 *
 * What a value means (a path, an address, a limit) is checked by whoever reads it.
 */
import { checkA2aOptions } from '../a2a/model/options.ts'
import { isRecord } from '../define/content.ts'
import {
  isPlain, rejectMore, rejectUnknown, requireDefinition, requireIcons, show, typed,
} from '../define/validate.ts'
import { definitionMembers, offered } from '../define/normalize-definitions.ts'
import { isStrings } from '../wire/json.ts'
import type { Members } from '../define/validate.ts'
import type { Store } from '../state/store.ts'
import type { Authorization } from '../http/access/auth.ts'
import type { NamedKey } from '../http/access/keys.ts'
import type { RateLimit } from '../http/access/rate.ts'
import type { McpOptions } from '../mcp/request/context.ts'

type Check = (value: unknown) => boolean
type Rules = readonly (readonly [name: string, isFine: Check, remedy: string])[]

const isString: Check = (value) => typeof value === 'string'
const isText: Check = (value) => typeof value === 'string' && value !== ''
const isBoolean: Check = (value) => typeof value === 'boolean'
const isFunction: Check = (value) => typeof value === 'function'
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) > 0

const TEXT = 'write a string that is not empty'
const BOOLEAN = 'write true or false'

/** What each option must be, and what to write instead. */
const rules: Rules = [
  ['name', isText, TEXT],
  ['version', isText, TEXT],
  ['description', isString, 'write a string'],
  ['instructions', isString, 'write a string'],
  ['insecure', isBoolean, BOOLEAN],
  ['exposeErrors', isBoolean, BOOLEAN],
  ['cors', (value) => isString(value) || isStrings(value), `write '*', or ['https://app.example.com']`],
  ['allowedHosts', isStrings, `write a list, as in ['agents.example.com']`],
  ['allowedOrigins', isStrings, `write a list, as in ['https://app.example.com']`],
  ['onCall', isFunction, 'write a function (info) => {}'],
  ['accessLog', isBoolean, BOOLEAN],
  ['metrics', isBoolean, BOOLEAN],
  ['onRequest', isFunction, 'write a function that takes a summary of each request'],
  ['rateLimit', isRecord, 'write { perMinute: 600 }'],
  ['mcp', isRecord, `write an object, as in { instructions: 'Ask first.' }`],
  ['a2a', isRecord, `write an object, as in { card: '1.0' }`],
  ['auth', isRecord, 'write { resource, authorizationServers, verify }'],
  ['deployment', isText, TEXT],
  ['store', isStore, 'give what memoryStore() returns, or an object with all methods of Store'],
]

const mcpRules: Rules = [
  ['sessions', (value) => ['optional', 'required', 'none'].some((one) => one === value),
    `write 'optional', 'required' or 'none'`],
  ['instructions', isString, 'write a string'],
  ['title', isString, 'write a string'],
  ['websiteUrl', isString, 'write an address'],
  ['extensions', isRecord, `write an object, as in { 'io.modelcontextprotocol/ui': {} }`],
  ['pageSize', isCount, 'write a whole number above zero'],
  ['cache', isRecord, `write { ttlMs: 60_000, scope: 'public' }`],
]

const cacheRules: Rules = [
  ['ttlMs', (value) => typeof value === 'number' && value >= 0, 'write milliseconds'],
  ['scope', (value) => value === 'public' || value === 'private', `write 'public' or 'private'`],
]

const authRules: Rules = [
  ['name', isString, 'write a string'],
  ['documentation', isString, 'write an address'],
]

const mcpMembers: Members<McpOptions> = {
  sessions: true, instructions: true, title: true, icons: true, websiteUrl: true, extensions: true,
  pageSize: true, cache: true,
}

const cacheMembers: Members<NonNullable<McpOptions['cache']>> = { ttlMs: true, scope: true }

const authMembers: Members<Authorization> = {
  resource: true, authorizationServers: true, scopes: true, name: true, documentation: true, verify: true,
}

const rateMembers: Members<RateLimit> = { perMinute: true, burst: true, initializePerMinute: true }

const keyMembers: Members<NamedKey> = { id: true, key: true, scopes: true, expires: true }

/**
 * Throws `TypeError` where the options, all that is `given` to `verb`, are no object, are what should stand
 * in one of their lists, or hold a name that is none of `known`.
 */
export function requireOptions(verb: string, given: ArrayLike<unknown>, known: readonly string[]): void {
  const [options, more, list] = Array.from(given)
  const example = '{ agents: [agent] }'
  // A list that makes a server of each of its items says where that is, and gives itself.
  if (typeof more === 'number' && list === undefined) throw new TypeError(placeOf(verb, 'port'))
  rejectMore(verb, given, `write ${verb}({ agents: [agent], name: 'Helper' })`)
  requireDefinition(verb, options, example)
  if (isThing(options) && !Object.keys(offered).some((list) => list in options)) {
    throw new TypeError(`${verb} takes options, and this is one thing to serve. Write ${verb}(${example})`)
  }
  const place = Object.keys(options).map((name) => placeOf(verb, name)).find((remedy) => remedy !== undefined)
  if (place !== undefined) throw new TypeError(place)
  rejectUnknown(verb, options, known)
}

/** Whether something is to be served, and no options. */
function isThing(value: unknown): boolean {
  if (!isRecord(value)) return typeof value === 'function'
  return 'kind' in value || 'run' in value || 'read' in value
}

/** Where an option that `createServer` does not have belongs. */
function placeOf(verb: string, name: string): string | undefined {
  if (name === 'port' || name === 'host') {
    return `${verb} has no option '${name}'; write server.listen(port, host)`
  }
  if (name !== 'quiet' && name !== 'signals') return undefined
  return `${verb} has no option '${name}'; it is one of launch, which announces and ends its server`
}

/**
 * The same for `options`, the second argument that is `given` to `verb`, whose first is what is served;
 * throws also where an option stands among what is served, or the other way round.
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
  return ['http', 'mcp', 'a2a', 'all'].some((one) => one === value)
}

/** A value as it was written, where it is short and no secret. */
function valueOf(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '…'
}

/** Throws `TypeError` for a value of the wrong type, in the options that all verbs have. */
export function checkOptions(options: Readonly<Record<string, unknown>>): void {
  obey('', options, rules)
  checkApiKey(options['apiKey'])
  const { mcp, a2a, auth, rateLimit } = options
  if (isRecord(rateLimit)) rejectUnknown('rateLimit', rateLimit, Object.keys(rateMembers))
  if (isRecord(mcp)) {
    rejectUnknown('mcp', mcp, Object.keys(mcpMembers))
    obey('mcp.', mcp, mcpRules)
    if (mcp['instructions'] !== undefined && options['instructions'] !== undefined) {
      throw new TypeError('The instructions stand in the options and in mcp; leave one of them out')
    }
    requireIcons('mcp', mcp['icons'])
    if (isRecord(mcp['cache'])) {
      rejectUnknown('mcp.cache', mcp['cache'], Object.keys(cacheMembers))
      obey('mcp.cache.', mcp['cache'], cacheRules)
    }
  }
  if (isRecord(a2a)) {
    checkA2aOptions(a2a)
    if (a2a['extendedCard'] !== undefined && options['apiKey'] === undefined && auth === undefined) {
      throw new TypeError('a2a.extendedCard is for callers who prove who they are, and nobody needs a key '
        + 'here; write apiKey or auth too')
    }
  }
  if (isRecord(auth)) {
    if (isPlain(auth)) rejectUnknown('auth', auth, Object.keys(authMembers))
    obey('auth.', auth, authRules)
  }
}

function obey(path: string, options: Readonly<Record<string, unknown>>, these: Rules): void {
  for (const [name, isFine, remedy] of these) {
    const value = options[name]
    if (value !== undefined && !isFine(value)) {
      throw new TypeError(`${path}${name} is ${show(value)}; ${remedy}`)
    }
  }
}

/** Says of what type a key is, never what it is. */
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

/** What is said to a function, which whoever knows Node's servers expects to be called. */
export function noCallback(verb: string, call: string): TypeError {
  return new TypeError(`${verb} returns a promise and calls no function; write ${call}`)
}

/** Throws `RangeError` for what is no port, `TypeError` for what is no host, or is neither. */
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

/** Whether a value is a web `Request`, whosever. */
export function isRequest(value: unknown): value is Request {
  return isRecord(value) && typeof value['url'] === 'string' && typeof value['method'] === 'string'
    && isRecord(value['headers']) && typeof value['headers']['get'] === 'function'
}

/** What `server.fetch` rejects with. */
export function noRequest(value: unknown): TypeError {
  return new TypeError(`server.fetch takes a Request, not ${show(value)}; `
    + `write server.fetch(new Request('http://localhost/health'))`)
}
