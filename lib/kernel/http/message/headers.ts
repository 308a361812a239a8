/**
 * A request's raw header lines to `KnownHeaders`, in one scan. Clients send few names in their own spelling,
 * so each spelling is looked up in lower case once and cached, within a bound.
 */
import { onlyValue } from '../../wire/only-value.ts'

/** The headers that nearly every request needs, by the members that hold them. */
const names = {
  host: 'host', origin: 'origin', accept: 'accept', authorization: 'authorization', apiKey: 'x-api-key',
  contentType: 'content-type', contentLength: 'content-length', contentEncoding: 'content-encoding',
  transferEncoding: 'transfer-encoding', requestId: 'x-request-id', sessionId: 'x-session-id',
  idempotencyKey: 'idempotency-key', mcpProtocolVersion: 'mcp-protocol-version',
  mcpSessionId: 'mcp-session-id', mcpMethod: 'mcp-method', mcpName: 'mcp-name', a2aVersion: 'a2a-version',
} as const

type KnownHeader = keyof typeof names
type Head = Record<KnownHeader, string | undefined>

/**
 * Their values, from one scan; others are found by `Exchange.header`. A repeated header is joined by `, `
 * (RFC 9110 §5.3); one that has a single value is that value, where each line has the same.
 */
export type KnownHeaders = Readonly<Head>

const members = Object.keys(names) as KnownHeader[]
const fields: ReadonlyMap<string, KnownHeader> = new Map(members.map((member) => [names[member], member]))

/** All members at once: every head has one shape, that of the table, whose copies cost the least. */
const NO_HEAD: Head = { ...names }
for (const member of members) NO_HEAD[member] = undefined

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
  const head = { ...NO_HEAD }
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
