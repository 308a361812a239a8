/**
 * A request's raw header lines to `KnownHeaders`, in one scan. Clients send few names in their own spelling,
 * so each spelling is looked up in lower case once and cached, within a bound.
 */
import { onlyValue } from '../../wire/only-value.ts'
import type { KnownHeader, KnownHeaders } from './exchange.ts'

const fields: ReadonlyMap<string, KnownHeader> = new Map<string, KnownHeader>([
  ['host', 'host'],
  ['origin', 'origin'],
  ['accept', 'accept'],
  ['content-type', 'contentType'],
  ['content-length', 'contentLength'],
  ['content-encoding', 'contentEncoding'],
  ['transfer-encoding', 'transferEncoding'],
  ['authorization', 'authorization'],
  ['x-api-key', 'apiKey'],
  ['x-request-id', 'requestId'],
  ['x-session-id', 'sessionId'],
  ['idempotency-key', 'idempotencyKey'],
  ['mcp-protocol-version', 'mcpProtocolVersion'],
  ['mcp-session-id', 'mcpSessionId'],
  ['mcp-method', 'mcpMethod'],
  ['mcp-name', 'mcpName'],
  ['a2a-version', 'a2aVersion'],
])

/** Strangers can invent names. */
const MAX_SPELLINGS = 512
const spellings = new Map<string, KnownHeader | null>()

/** Lists, and those that a proxy and this server could read in two ways. */
const VERBATIM: ReadonlySet<KnownHeader> = new Set([
  'host', 'accept', 'contentLength', 'contentEncoding', 'transferEncoding',
])

/** Of the others an empty value is none: who filled in a template had nothing for it. A URI may be empty. */
const MEANT_EMPTY: ReadonlySet<KnownHeader> = new Set([...VERBATIM, 'origin', 'idempotencyKey', 'mcpName'])

/** `rawHeaders` is name, value, name, value. */
export function readHead(rawHeaders: readonly string[]): KnownHeaders {
  // All members at once: every head has one shape.
  const head: Record<KnownHeader, string | undefined> = {
    host: undefined, origin: undefined, accept: undefined, contentType: undefined, contentLength: undefined,
    contentEncoding: undefined, transferEncoding: undefined, authorization: undefined, apiKey: undefined,
    requestId: undefined, sessionId: undefined, idempotencyKey: undefined, mcpProtocolVersion: undefined,
    mcpSessionId: undefined, mcpMethod: undefined, mcpName: undefined, a2aVersion: undefined,
  }
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const field = fieldOf(rawHeaders[at]!)
    if (field === null) continue
    const given = rawHeaders[at + 1]!
    const before = head[field]
    // The name of a tool may have a comma.
    const isOne = field !== 'mcpName' && given.includes(',') && !VERBATIM.has(field)
    const value = isOne ? onlyValue(given) : given
    if (value === '' && !MEANT_EMPTY.has(field)) continue
    if (before === undefined) {
      head[field] = value
    } else {
      const list = `${before}, ${value}`
      head[field] = VERBATIM.has(field) ? list : onlyValue(list)
    }
  }
  return head
}

function fieldOf(name: string): KnownHeader | null {
  const known = spellings.get(name)
  if (known !== undefined) return known
  const field = fields.get(name.toLowerCase()) ?? null
  if (spellings.size < MAX_SPELLINGS && name.length < 64) spellings.set(name, field)
  return field
}

/** One header by its lower-case name, for those that are rarely read. */
export function findHeader(rawHeaders: readonly string[], name: string): string | undefined {
  let found: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const candidate = rawHeaders[at]!
    if (candidate.length !== name.length || candidate.toLowerCase() !== name) continue
    found = found === undefined ? rawHeaders[at + 1]! : `${found}, ${rawHeaders[at + 1]!}`
  }
  return found
}

const credentials: ReadonlySet<string> = new Set([
  'authorization', 'x-api-key', 'cookie', 'proxy-authorization',
])

/** All headers by lower-case name, without credentials: for handlers. */
export function handlerHeaders(rawHeaders: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (credentials.has(name)) continue
    const before = headers.get(name)
    headers.set(name, before === undefined ? rawHeaders[at + 1]! : `${before}, ${rawHeaders[at + 1]!}`)
  }
  return headers
}
