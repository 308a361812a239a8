/**
 * Which revision a request has, and whether its headers agree with its body, checked in the order that
 * official clients and their tests rely on.
 *
 * Spec: MCP 2026-07-28, Transports, Streamable HTTP; 2025-11-25, Protocol Version Header.
 */
import { isRecord } from '../../../kernel/define/content.ts'
import { errorReply, INVALID_PARAMS, INVALID_REQUEST, rpcError } from '../../../floors/jsonrpc/jsonrpc.ts'
import { onlyValue } from '../../../kernel/wire/only-value.ts'
import { decodeAbilities, decodeClient, isSeverity, unable } from '../protocol/client.ts'
import { decodeHeaderValue } from '../protocol/header-value.ts'
import { paramFault } from '../protocol/tools.ts'
import { assumed, META, modern, revisionByName, revisions } from '../protocol/revisions.ts'
import type { Exchange } from '../../../kernel/http/message/exchange.ts'
import type { Id, RpcError } from '../../../floors/jsonrpc/jsonrpc.ts'
import type { TextReply } from '../../../kernel/wire/problem.ts'
import type { McpServer } from '../methods/methods.ts'
import type { Params } from '../session/messages.ts'
import type { Peer } from '../session/session.ts'
import type { Revision } from '../protocol/revisions.ts'

const VERSION = `${META}protocolVersion`
const CAPABILITIES = `${META}clientCapabilities`
const HEADER_MISMATCH = -32020
const UNSUPPORTED_VERSION = -32022

/** What a message says of itself: a response says nothing. */
export interface Claim {
  readonly id?: Id | undefined
  readonly method?: string
  readonly params?: Params | undefined
}

/** The session that a request names. Platforms send ids of their own to servers that have no sessions. */
export function sessionIdOf({ options }: McpServer, { head }: Exchange): string | undefined {
  return options.sessions === 'none' ? undefined : head.mcpSessionId
}

/** Whether a message is of a modern revision, by its body or by its headers. */
export function isModern(mcp: McpServer, { method, params }: Claim, exchange: Exchange): boolean {
  if (metaOf(params)?.[VERSION] !== undefined) return true
  if (method === 'initialize') return false
  if (revisionByName.get(exchange.head.mcpProtocolVersion)?.opening === 'each-request') return true
  return sessionIdOf(mcp, exchange) === undefined && mcp.modernMethods.has(method)
}

function metaOf(params: Params | undefined): Params | undefined {
  const meta = params?.['_meta']
  return isRecord(meta) ? meta : undefined
}

export function claimsModern({ modernMethods }: McpServer, { method, params }: Claim): boolean {
  return metaOf(params)?.[VERSION] !== undefined || modernMethods.has(method)
}

/**
 * The peer that the body of a modern request describes, or the reply to what contradicts itself. `header`:
 * `MCP-Protocol-Version`, over HTTP.
 */
export function modernPeer(
  { id, params }: Claim, header?: { readonly value: string | undefined },
): Peer | TextReply {
  const meta = metaOf(params)
  const version = meta?.[VERSION]
  const capabilities = meta?.[CAPABILITIES]
  if (meta === undefined || typeof version !== 'string' || !isRecord(capabilities)) {
    const missing = typeof version === 'string' ? CAPABILITIES : VERSION
    return refused(id, rpcError(INVALID_PARAMS, `params._meta needs ${missing}`))
  }
  if (header !== undefined && header.value !== version && !isOlder(header.value, version)) {
    return mismatch(id, 'MCP-Protocol-Version', header.value)
  }
  const revision = revisionByName.get(version)
  if (revision?.opening !== 'each-request') {
    return unsupported(id, version, revision === undefined ? revisions : modern)
  }
  const logLevel = meta[`${META}logLevel`]
  if (logLevel !== undefined && !isSeverity(logLevel)) {
    const why = `params._meta ${META}logLevel must be a severity, from debug to emergency`
    return refused(id, rpcError(INVALID_PARAMS, why))
  }
  const abilities = decodeAbilities(capabilities)
  return {
    revision,
    abilities,
    client: decodeClient(meta[`${META}clientInfo`], abilities),
    logLevel,
    session: undefined,
  }
}

/** Hosts that moved on in part write a revision into the header that they spoke before. */
function isOlder(header: string | undefined, version: string): boolean {
  const [named, meant] = [revisionByName.get(header), revisionByName.get(version)]
  // Newest first.
  return named !== undefined && meant !== undefined && revisions.indexOf(named) > revisions.indexOf(meant)
}

/**
 * The same over HTTP, where the headers must agree with the body. Behind a header that names an older
 * revision none is missed that it does not have.
 */
export function modernHttpPeer(mcp: McpServer, claim: Claim, exchange: Exchange): Peer | TextReply {
  const { id, method, params } = claim
  const { mcpProtocolVersion, mcpMethod } = exchange.head
  const peer = modernPeer(claim, { value: mcpProtocolVersion })
  if ('status' in peer) return peer
  const isLax = mcpProtocolVersion !== peer.revision.name
  if (isLax) sayOlderHeader(mcp, mcpProtocolVersion, peer.revision)
  if (mcpMethod !== method && !(isLax && mcpMethod === undefined)) {
    return mismatch(id, 'Mcp-Method', mcpMethod)
  }
  const { namedBy } = mcp.methods.get(peer.revision)?.get(method) ?? {}
  const nameFault = nameMismatch(namedBy, claim, exchange, isLax)
  if (nameFault !== undefined) return nameFault
  if (method !== 'tools/call') return peer
  const header = paramFault(mcp.tools.named(params?.['name']), params?.['arguments'], exchange, isLax)
  return header === undefined ? peer : mismatch(id, header, exchange.header(header.toLowerCase()))
}

function sayOlderHeader(mcp: McpServer, header: string | undefined, { name }: Revision): void {
  if (mcp.saysOlderHeader) return
  mcp.saysOlderHeader = true
  const why = `MCP-Protocol-Version says ${header} where the body is of ${name}; the body counts`
  mcp.service.log('info', `A client's ${why}. This is said once.`)
}

function nameMismatch(
  namedBy: string | undefined, { id, params }: Claim, exchange: Exchange, isLax: boolean,
): TextReply | undefined {
  const name = namedBy === undefined ? undefined : params?.[namedBy]
  // Where the body has no name, the method refuses it with a better message.
  if (typeof name !== 'string') return undefined
  const { mcpName } = exchange.head
  if (mcpName === undefined) return isLax ? undefined : mismatch(id, 'Mcp-Name', mcpName)
  const isSame = decodeHeaderValue(mcpName) === name || decodeHeaderValue(onlyValue(mcpName)) === name
  return isSame ? undefined : mismatch(id, 'Mcp-Name', mcpName)
}

function mismatch(id: Id | undefined, header: string, value: string | undefined): TextReply {
  const detail = value === undefined
    ? `the ${header} header is missing`
    : `the ${header} header does not say what the body says`
  return refused(id, { code: HEADER_MISMATCH, message: `Header mismatch: ${detail}`, data: { header } })
}

function unsupported(id: Id | undefined, requested: string, served: readonly Revision[]): TextReply {
  const data = { supported: served.map(({ name }) => name), requested }
  return refused(id, { code: UNSUPPORTED_VERSION, message: 'Unsupported protocol version', data })
}

function refused(id: Id | undefined, error: RpcError): TextReply {
  return errorReply(id, error, 400)
}

const anonymousPeers: ReadonlyMap<Revision, Peer> = new Map(revisions.map((revision) => [
  revision, { revision, abilities: unable, client: undefined, logLevel: 'info', session: undefined },
]))

export function anonymousPeer(revision: Revision): Peer {
  return anonymousPeers.get(revision)!
}

/** The peer of a legacy request: its session, or an anonymous client; the reply where there is none. */
export function legacyPeer(mcp: McpServer, exchange: Exchange, id?: Id): Peer | TextReply {
  const { mcpProtocolVersion } = exchange.head
  const sessionId = sessionIdOf(mcp, exchange)
  const named = mcpProtocolVersion === undefined ? assumed : revisionByName.get(mcpProtocolVersion)
  const session = sessionId === undefined ? undefined
    : mcp.sessions.find(sessionId, exchange.origin.principal.id)
  // A session of HTTP+SSE or stdio has a stream of its own, and no other.
  if (sessionId !== undefined && session?.isBound !== false) {
    const why = 'There is no such session, or it has ended; begin again with initialize'
    return errorReply(id, rpcError(INVALID_REQUEST, why), 404)
  }
  session?.renew(exchange.origin.principal)
  if (named === undefined) return unsupported(id, mcpProtocolVersion ?? '', revisions)
  if (session !== undefined) return session
  if (mcp.options.sessions === 'required') {
    const why = 'The Mcp-Session-Id header is missing; begin with initialize'
    return refused(id, rpcError(INVALID_REQUEST, why))
  }
  return anonymousPeer(named)
}
