/**
 * A request of node:http as the gate sees it, and whose turn it is on a connection.
 */
import { isLoopback } from './guard.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Bind } from './guard.ts'
import type { RequestHead } from './request.ts'

/** The head of a node:http request. */
export class NodeRequestHead implements RequestHead {
  readonly #incoming: IncomingMessage
  readonly #response: ServerResponse
  readonly #bind: Bind | undefined

  /** `bind` is undefined in somebody else's server. */
  constructor(incoming: IncomingMessage, response: ServerResponse, bind: Bind | undefined) {
    this.#incoming = incoming
    this.#response = response
    this.#bind = bind
  }

  get method(): string { return this.#incoming.method ?? 'GET' }
  get target(): string { return this.#incoming.url ?? '/' }
  get httpVersion(): string { return this.#incoming.httpVersion }
  get rawHeaders(): readonly string[] { return this.#incoming.rawHeaders }
  get secure(): boolean { return 'encrypted' in this.#incoming.socket }
  get remoteAddress(): string | undefined { return this.#incoming.socket.remoteAddress }

  /** In somebody else's server the socket's own address tells how the client came in. */
  get bind(): Bind {
    return this.#bind ?? (isLoopback(this.#incoming.socket.localAddress) ? 'loopback' : 'network')
  }

  onGone(listener: () => void): void {
    const response = this.#response
    if (response.destroyed && !response.writableFinished) return listener()
    response.on('close', () => {
      if (!response.writableFinished) listener()
    })
  }
}

/** The response that Node has made for what is on this socket now. */
export function responseOn(socket: Duplex): ServerResponse | undefined {
  if (!('_httpMessage' in socket)) return undefined
  return socket._httpMessage as ServerResponse | null ?? undefined
}

/**
 * Whether a request has come while an earlier one on its connection is still being answered. Node would
 * run all of them at once, and would not tell those that wait when the connection closes.
 */
export function mustWait(incoming: IncomingMessage, response: ServerResponse): boolean {
  return response.socket === null && responseOn(incoming.socket) !== undefined
}
