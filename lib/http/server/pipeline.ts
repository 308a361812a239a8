/**
 * Whose turn it is on a connection. HTTP/1 answers in order, so of the requests that come at once one is
 * answered and the others wait. Node would run them all, and would not tell those that wait when the
 * connection closes. While one waits the socket is not read: only what one read of it has brought can wait.
 * That may be thousands, of some kilobytes each, so those of all connections together are bounded.
 * Node's clock goes on meanwhile; what lacks a part of itself when that has run down does not get its turn.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** The response that Node has made for what is on this socket now. */
export function responseOn(socket: Duplex): ServerResponse | undefined {
  if (!('_httpMessage' in socket)) return undefined
  return socket._httpMessage as ServerResponse | null ?? undefined
}

/** So many of one connection are answered in one turn of the event loop. */
const IN_A_ROW = 32

/** The requests of one server that wait for their turn. */
export class PipelineQueue {
  /** How many wait on each connection that has ever had one. */
  readonly #waiting = new Map<Duplex, number>()
  readonly #max: number
  #total = 0

  constructor(max: number) {
    this.#max = max
  }

  /**
   * Calls `go` when it is the request's turn; never, when its connection closes before that. Closes it where
   * too many wait, and more than its share of them here: to say so would have to wait for its turn, too.
   */
  wait({ socket }: IncomingMessage, response: ServerResponse, go: () => void): void {
    if (!this.#waiting.has(socket)) this.#watch(socket)
    if (this.#total >= this.#max && this.#count(socket) >= this.#max / this.#waiting.size) {
      return void socket.destroy()
    }
    this.#add(socket, 1)
    socket.pause()
    response.once('socket', () => {
      // Its connection has closed: what waited there is counted no more.
      if (!this.#waiting.has(socket)) return
      this.#add(socket, -1)
      if (this.#count(socket) === 0) socket.resume()
      // One read may have brought a thousand; others have their turn in between.
      if (this.#count(socket) % IN_A_ROW === IN_A_ROW - 1) setImmediate(() => { if (socket.writable) go() })
      else if (socket.writable) go()
    })
  }

  #add(socket: Duplex, more: number): void {
    this.#waiting.set(socket, this.#count(socket) + more)
    this.#total += more
  }

  #count(socket: Duplex): number {
    return this.#waiting.get(socket) ?? 0
  }

  #watch(socket: Duplex): void {
    // Node goes on reading for reasons of its own: when a request is whole, and when a reply has drained.
    socket.on('resume', () => { if (this.#count(socket) > 0) socket.pause() })
    socket.once('close', () => {
      this.#total -= this.#count(socket)
      this.#waiting.delete(socket)
    })
  }
}
