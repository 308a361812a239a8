/**
 * stdio: one client, one message a line, for hosts that start a process. `initialize` begins a session that
 * lives as long as the process. Spec: MCP 2025-11-25 and 2026-07-28, Transports, stdio.
 */
import { Fault } from '../../../kernel/define/fault.ts'
import { anonymous } from '../../../kernel/define/principal.ts'
import { LineOrigin, serveLines } from '../../../floors/lines/line-server.ts'
import { Lease, Quota } from '../../../kernel/util/quota.ts'
import { formatNotification, INTERNAL_ERROR } from '../../../floors/jsonrpc/jsonrpc.ts'
import { collectAnswers, NO_BATCHES, owesAnswer, partObjection, readBatch, refusal } from './batch.ts'
import { claimsModern, modernPeer } from './choose.ts'
import { dispatch, initialize } from '../methods/methods.ts'
import { cancelledBy, readMessage, takeMessage } from '../session/messages.ts'
import { oldest } from '../protocol/revisions.ts'
import type { Readable, Writable } from 'node:stream'
import type { LineClient, LineProtocol } from '../../../floors/lines/line-server.ts'
import type { LineServer } from '../../../kernel/server/part.ts'
import type { LineKind } from '../../../floors/lines/line-outlet.ts'
import type { McpServer } from '../methods/methods.ts'
import type { McpMessage, RequestMessage } from '../session/messages.ts'
import type { Peer, Session } from '../session/session.ts'
import type { McpRequest } from '../request/request.ts'

/** How notifications begin, and those that a slow client can do without. */
const NOTIFICATION = beginning('notifications/')
const LOSABLE = ['notifications/progress', 'notifications/message'].map(beginning)

function beginning(method: string): string {
  return formatNotification(method).slice(0, -2)
}

export function serveMcp(mcp: McpServer, input: Readable, output: Writable): LineServer {
  const { service } = mcp
  return serveLines(service, input, output, (client) => new McpLines(mcp, client))
}

/** A request without an answer so far, and the lease of its bytes. */
class OpenRequest extends Lease {
  readonly caller = anonymous.id
  request: McpRequest | undefined = undefined
}

const CHARACTER_BYTES = 2

type Respond = (text: string | undefined) => void

class McpLines implements LineProtocol {
  readonly #mcp: McpServer
  readonly #client: LineClient
  readonly #session: Session
  /** Requests without an answer so far, by id. */
  readonly #open = new Map<unknown, OpenRequest>()
  readonly #bytes: Quota

  constructor(mcp: McpServer, client: LineClient) {
    this.#mcp = mcp
    this.#client = client
    this.#bytes = new Quota('bytes of open requests', mcp.service.limits.maxCallsBytes)
    this.#session = mcp.sessions.open(anonymous.id, oldest)
    // The session is bound to the process, so it is never idle, however silent its client is.
    this.#session.outlet = { send: this.#send, end() {} }
  }

  readonly #send: Respond = (text) => { if (text !== undefined) this.#client.send(text) }

  kindOf(text: string): LineKind {
    if (!text.startsWith(NOTIFICATION)) return 'other'
    return LOSABLE.some((start) => text.startsWith(start)) ? 'losable' : 'lasting'
  }

  refuse(why: string, code: number): void {
    this.#send(refusal(undefined, why, code))
  }

  receive(value: unknown, length: number): void {
    if (Array.isArray(value)) return this.#receiveBatch(value, length)
    this.#accept(readMessage(value, this.#mcp.service.limits.maxNameBytes), length, this.#send)
  }

  endInput(): void {
    // What a handler has asked cannot be answered any more.
    for (const { reject } of [...this.#session.asked.values()]) {
      reject(new Fault('cancelled', 'The client has closed its end'))
    }
  }

  closeIdle(): void { this.#mcp.closeIdle() }
  cancel(): void { this.#mcp.cancel() }
  close(): void { this.#mcp.close() }

  #receiveBatch(values: readonly unknown[], length: number): void {
    const { limits } = this.#mcp.service
    const messages = this.#session.revision.batches ? readBatch(values, this.#mcp) : NO_BATCHES
    if (typeof messages === 'string') return this.#send(refusal(undefined, messages))
    const take = collectAnswers(messages.filter(owesAnswer).length, limits.maxResultBytes, this.#send)
    for (const message of messages) {
      const answer: Respond = (text) => take(message, text)
      const objection = partObjection(this.#mcp, message)
      if (objection === undefined) this.#accept(message, Math.ceil(length / messages.length), answer)
      else answer(refusal(message, objection))
    }
  }

  #accept(message: McpMessage, length: number, answer: Respond): void {
    const { maxCalls } = this.#mcp.service.limits
    if (message.kind === 'malformed') {
      return message.isNoRequest === true ? undefined : answer(refusal(message, message.why))
    }
    if (message.kind !== 'request') return this.#takeNotice(message)
    if (this.#client.isEnding) {
      return answer(refusal(message, 'The server is closing down', INTERNAL_ERROR))
    }
    if (this.#open.has(message.id)) {
      return answer(refusal(message, 'A request with this id is running already'))
    }
    if (this.#open.size >= maxCalls) {
      const why = `${maxCalls} requests are open already; try again later`
      return answer(refusal(message, why, INTERNAL_ERROR))
    }
    if (!claimsModern(this.#mcp, message)) {
      if (message.method !== 'initialize') return this.#run(message, this.#session, length, answer)
      return answer(initialize(this.#mcp, message, this.#session))
    }
    const peer = modernPeer(message)
    if ('status' in peer) answer(peer.body)
    else this.#run(message, peer, length, answer)
  }

  #run(message: RequestMessage, peer: Peer, length: number, answer: Respond): void {
    const { id } = message
    const entry = new OpenRequest()
    if (!this.#bytes.take(entry, length * CHARACTER_BYTES)) {
      const why = `The requests that are open hold ${this.#bytes.max} bytes together already; try again later`
      return answer(refusal(message, why, INTERNAL_ERROR))
    }
    const close: Respond = (text) => {
      entry.close()
      // A request that was cancelled may end after another has taken its id.
      if (this.#open.get(id) === entry) this.#open.delete(id)
      answer(text)
    }
    this.#open.set(id, entry)
    entry.request = dispatch(this.#mcp, message, peer, new LineOrigin(), {
      sends: true, send: this.#send, finish: close, abandon: () => close(undefined),
    })
  }

  #takeNotice(message: McpMessage): void {
    takeMessage(this.#session, message)
    const requestId = cancelledBy(message)
    if (requestId === undefined) return
    const entry = this.#open.get(requestId)
    this.#open.delete(requestId)
    entry?.request?.leave()
  }
}
