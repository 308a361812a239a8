/**
 * Which revision a request on `/mcp` speaks, and whether its headers say the same as its body: the
 * ladder, rung by rung, in the order that official clients and their tests rely on.
 *
 * Spec: MCP 2026-07-28, Transports, Streamable HTTP; 2025-11-25, Protocol Version Header.
 */
import { isRecord } from '../../define/content.ts'
import { isSeverity } from '../../define/log.ts'
import { decodeHeaderValue } from '../../wire/base64.ts'
import { INVALID_PARAMS, INVALID_REQUEST, rpcError } from '../../wire/jsonrpc.ts'
import { decodeAbilities, decodeClient, unable } from '../protocol/client.ts'
import { namedBy } from '../methods/methods.ts'
import { paramFault } from '../protocol/tools.ts'
import { assumed, isModernMethod, META, modern, revisionByName, revisions } from '../protocol/revisions.ts'
import type { Exchange } from '../../http/message/exchange.ts'
import type { RpcError } from '../../wire/jsonrpc.ts'
import type { McpContext } from '../request/context.ts'
import type { Peer } from '../session/session.ts'
import type { Revision } from '../protocol/revisions.ts'

const VERSION = `${META}protocolVersion`
const CAPABILITIES = `${META}clientCapabilities`
const HEADER_MISMATCH = -32020
const UNSUPPORTED_VERSION = -32022

/** Why a request is refused before its method is looked at. */
export interface Refused { readonly status: number; readonly error: RpcError }

/** A message as far as choosing needs it. */
export interface Claim { readonly method: string | undefined; readonly params: unknown }

/** Whether a message claims a revision whose requests stand alone, in the body or by its headers. */
export function isModern({ method, params }: Claim, exchange: Exchange): boolean {
  if (metaOf(params)?.[VERSION] !== undefined) return true
  if (method === 'initialize') return false
  const { mcpProtocolVersion, mcpSessionId } = exchange.head
  if (revisionByName.get(mcpProtocolVersion)?.opening === 'each-request') return true
  return mcpSessionId === undefined && isModernMethod(method)
}

function metaOf(params: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(params) && isRecord(params['_meta']) ? params['_meta'] : undefined
}

/** Whether a message says in its own body that it stands alone; then no headers are needed to know. */
export function claimsModern({ method, params }: Claim): boolean {
  return metaOf(params)?.[VERSION] !== undefined || isModernMethod(method)
}

/**
 * The peer that the body of a modern request describes, or why it is refused: all there is on stdio. `header`
 * is what `MCP-Protocol-Version` says where there are headers.
 */
export function modernPeer(
  { params }: Claim, header?: { readonly said: string | undefined },
): Peer | Refused {
  const meta = metaOf(params)
  const version = meta?.[VERSION]
  const capabilities = meta?.[CAPABILITIES]
  if (meta === undefined || typeof version !== 'string' || !isRecord(capabilities)) {
    const missing = typeof version === 'string' ? CAPABILITIES : VERSION
    return refused(rpcError(INVALID_PARAMS, `params._meta needs ${missing}`))
  }
  if (header !== undefined && header.said !== version) return mismatch('MCP-Protocol-Version', header.said)
  const revision = revisionByName.get(version)
  if (revision?.opening !== 'each-request') {
    return unsupported(version, revision === undefined ? revisions : modern)
  }
  const logLevel = meta[`${META}logLevel`]
  if (logLevel !== undefined && !isSeverity(logLevel)) {
    const why = `params._meta ${META}logLevel must be a severity, from debug to emergency`
    return refused(rpcError(INVALID_PARAMS, why))
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

/** The same over HTTP, where the headers must say what the body says. */
export function modernHttpPeer(mcp: McpContext, claim: Claim, exchange: Exchange): Peer | Refused {
  const { method, params } = claim
  const { mcpProtocolVersion, mcpMethod } = exchange.head
  const peer = modernPeer(claim, { said: mcpProtocolVersion })
  if ('error' in peer) return peer
  if (mcpMethod !== method) return mismatch('Mcp-Method', mcpMethod)
  const nameFault = nameMismatch(method, params, exchange)
  if (nameFault !== undefined) return nameFault
  if (method !== 'tools/call' || !isRecord(params)) return peer
  const header = paramFault(mcp.tools.byName.get(params['name']), params['arguments'], exchange)
  return header === undefined ? peer : mismatch(header, exchange.header(header.toLowerCase()))
}

function nameMismatch(method: string | undefined, params: unknown, exchange: Exchange): Refused | undefined {
  const member = namedBy(method ?? '')
  const name = member === undefined || !isRecord(params) ? undefined : params[member]
  // Where the body has no name, its own check says so better.
  if (typeof name !== 'string') return undefined
  const { mcpName } = exchange.head
  const isSame = mcpName !== undefined && decodeHeaderValue(mcpName) === name
  return isSame ? undefined : mismatch('Mcp-Name', mcpName)
}

function mismatch(header: string, value: string | undefined): Refused {
  const detail = value === undefined
    ? `the ${header} header is missing`
    : `the ${header} header does not say what the body says`
  return refused({ code: HEADER_MISMATCH, message: `Header mismatch: ${detail}`, data: { header } })
}

function unsupported(requested: string, served: readonly Revision[]): Refused {
  const data = { supported: served.map(({ name }) => name), requested }
  return refused({ code: UNSUPPORTED_VERSION, message: 'Unsupported protocol version', data })
}

function refused(error: RpcError, status = 400): Refused {
  return { status, error }
}

/** The peer of a request of a legacy client that is in no session. */
const anonymousPeers: ReadonlyMap<Revision, Peer> = new Map(revisions.map((revision) => [
  revision, { revision, abilities: unable, client: undefined, logLevel: 'info', session: undefined },
]))

/** A client of which nothing is known but its revision. */
export function anonymousPeer(revision: Revision): Peer {
  return anonymousPeers.get(revision)!
}

/** The peer of a legacy request: its session, or a stranger. */
export function legacyPeer(mcp: McpContext, exchange: Exchange): Peer | Refused {
  const { mcpSessionId, mcpProtocolVersion } = exchange.head
  const named = mcpProtocolVersion === undefined ? assumed : revisionByName.get(mcpProtocolVersion)
  if (mcpSessionId !== undefined) {
    const session = mcp.sessions.find(mcpSessionId, exchange.origin.principal.id)
    // The session of a pair has a stream of its own, and no other.
    if (session === undefined || session.isBound) {
      const why = 'There is no such session, or it has ended; begin again with initialize'
      return refused(rpcError(INVALID_REQUEST, why), 404)
    }
    return named === undefined ? unsupported(mcpProtocolVersion ?? '', revisions) : session
  }
  if (named === undefined) return unsupported(mcpProtocolVersion ?? '', revisions)
  if (mcp.options.sessions === 'required') {
    return refused(rpcError(INVALID_REQUEST, 'The Mcp-Session-Id header is missing; begin with initialize'))
  }
  return anonymousPeer(named)
}
