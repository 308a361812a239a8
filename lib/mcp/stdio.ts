/**
 * stdio: one client, one message a line, for hosts that start a process. Nothing but protocol is ever
 * written to the output.
 *
 * A client that says `initialize` has a session for as long as the process lives; requests of revisions
 * that stand alone are answered beside it. Spec: MCP 2025-11-25 and 2026-07-28, Transports, stdio.
 */
import { randomUUID } from 'node:crypto'
import { Fault } from '../core/fault.ts'
import { anonymous } from '../core/principal.ts'
import {
  formatError, formatResult, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, rpcError,
} from '../wire/jsonrpc.ts'
import { parseJson } from '../wire/json.ts'
import { lineReader } from '../wire/lines.ts'
import { claimsModern, modernPeer } from './choose.ts'
import { decodeInitialize, initializeResult } from './handshake.ts'
import { readMessage, takeMessage } from './messages.ts'
import { dispatch } from './methods.ts'
import { oldest } from './revisions.ts'
import type { Readable, Writable } from 'node:stream'
import type { Origin } from '../core/call.ts'
import type { Id, Message } from '../wire/jsonrpc.ts'
import type { McpContext } from './context.ts'
import type { RequestMessage } from './messages.ts'
import type { Peer } from './session.ts'
import type { McpRequest } from './request.ts'

/** Serves one client until its input ends; then what runs is cancelled, and the promise resolves. */
export function serveLines(mcp: McpContext, input: Readable, output: Writable): Promise<void> {
  const { limits, log } = mcp.service
  const write = (message: string): void => { output.write(message + '\n') }
  const refuse = (code: number, why: string, id?: Id): void => {
    write(formatError(id ?? undefined, rpcError(code, why)))
  }

  const session = mcp.sessions.open(anonymous.id, oldest)
  // The session is the process's own: it is never idle, however silent its client is.
  session.onEnd = () => {}
  session.outlet = write
  /** What runs and stands alone, so that a cancellation finds it; undefined until it has begun. */
  const alone = new Map<Id, McpRequest | undefined>()

  function receive(line: string): void {
    const parsed = parseJson(line, limits.maxDepth)
    if (!parsed.ok) return refuse(PARSE_ERROR, parsed.why)
    if (!Array.isArray(parsed.value)) return accept(readMessage(parsed.value, limits.maxNameBytes))
    const { length } = parsed.value
    const isFine = session.revision.batches && length > 0 && length <= limits.maxBatch
    if (!isFine) return refuse(INVALID_REQUEST, 'This revision has no batches, or none of that length')
    for (const value of parsed.value) accept(readMessage(value, limits.maxNameBytes))
  }

  function accept(message: Message): void {
    if (message.kind === 'malformed') return refuse(INVALID_REQUEST, message.why, message.id)
    if (message.kind !== 'request') return hear(message)
    const { id } = message
    if (session.running.has(id) || alone.has(id)) {
      return refuse(INVALID_REQUEST, 'A request with this id is running already', id)
    }
    if (claimsModern(message)) {
      const peer = modernPeer(message)
      if ('error' in peer) return write(formatError(id, peer.error))
      return run(message, peer)
    }
    if (message.method === 'initialize') return begin(message)
    run(message, session)
  }

  function begin({ id, params }: RequestMessage): void {
    const handshake = decodeInitialize(params)
    if (typeof handshake === 'string') return refuse(INVALID_PARAMS, handshake, id)
    session.settle(handshake)
    write(formatResult(id, JSON.stringify(initializeResult(mcp, handshake, true))))
  }

  function run(message: RequestMessage, peer: Peer): void {
    const { id } = message
    let request: McpRequest | undefined
    // A request that was cancelled may end after another has taken its id.
    const free = (): void => { if (alone.get(id) === request) alone.delete(id) }
    alone.set(id, undefined)
    request = dispatch(mcp, message, peer, lineOrigin(), {
      sends: true,
      send: write,
      finish(text) {
        free()
        write(text)
      },
      abandon: free,
    })
    if (alone.has(id)) alone.set(id, request)
  }

  function hear(message: Message): void {
    takeMessage(session, message)
    if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return
    const { requestId } = (message.params ?? {}) as { readonly requestId?: Id }
    if (requestId === undefined) return
    alone.get(requestId)?.leave()
    alone.delete(requestId)
  }

  return new Promise((resolve) => {
    const over = (): void => {
      mcp.close()
      mcp.service.workload.cancelAll(new Fault('cancelled', 'The client has left'))
      resolve()
    }
    input.on('data', lineReader(limits.maxBodyBytes, receive, () => {
      refuse(INVALID_REQUEST, `A line is longer than ${limits.maxBodyBytes} characters`)
    }))
    input.on('end', over)
    input.on('close', over)
    input.on('error', over)
    output.on('error', (error) => {
      log('debug', 'The client has closed its end', { cause: error })
      over()
    })
  })
}

const noHeaders: ReadonlyMap<string, string> = new Map()

/** Where a line came from: the one client of the process. */
function lineOrigin(): Origin {
  let requestId: string | undefined
  return {
    get requestId() { return requestId ??= randomUUID() },
    principal: anonymous,
    header: () => undefined,
    headers: noHeaders,
    onGone: () => {},
  }
}
