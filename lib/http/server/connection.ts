/**
 * Requests that wait on a connection. HTTP/1 answers in order, so of the requests that come at once one is
 * answered and the others wait. Node would run them all, and would not tell those that wait when the
 * connection closes. While one waits the socket is not read: only what one read of it has brought can wait.
 * That may be thousands, of some kilobytes each, so those of all connections together are bounded.
 * Node's clock goes on meanwhile; a request that lacks a part when that has run down is never started.
 */
import { Lease, Quota } from '../../util/quota.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** The response that Node has made for what is on this socket now. */
export function responseOn(socket: Duplex): ServerResponse | undefined {
  if (!('_httpMessage' in socket)) return undefined
  return socket._httpMessage as ServerResponse | null ?? undefined
}

/** So many of one connection are answered in one turn of the event loop. */
const IN_A_ROW = 32

/** What waits on one connection. Each counts as a caller of its own. */
class Waiting extends Lease {
  static #count = 0
  readonly caller = String(++Waiting.#count)
}

/** The requests of one server that wait. */
export class PipelineQueue {
  readonly #waiting: Quota
  /** Of each connection that has ever had one. */
  readonly #bySocket = new WeakMap<Duplex, Waiting>()

  constructor(max: number) {
    this.#waiting = new Quota('pipelined requests', max)
  }

  /**
   * Calls `go` when the request comes next; never, when its connection closes before that. Closes it where
   * too many wait, and more than a fair part of them here: an answer would have to wait, too.
   */
  wait({ socket }: IncomingMessage, response: ServerResponse, go: () => void): void {
    const waiting = this.#bySocket.get(socket) ?? this.#watch(socket)
    if (!this.#waiting.take(waiting, 1)) return void socket.destroy()
    socket.pause()
    response.once('socket', () => {
      // Its connection has closed.
      if (waiting.isClosed) return
      this.#waiting.add(waiting, -1)
      if (waiting.amount === 0) socket.resume()
      // One read may have brought a thousand; others come in between.
      if (waiting.amount % IN_A_ROW === IN_A_ROW - 1) setImmediate(() => { if (socket.writable) go() })
      else if (socket.writable) go()
    })
  }

  #watch(socket: Duplex): Waiting {
    const waiting = new Waiting()
    this.#bySocket.set(socket, waiting)
    // Node goes on reading for reasons of its own: when a request is whole, and when a reply has drained.
    socket.on('resume', () => { if (waiting.amount > 0) socket.pause() })
    socket.once('close', () => waiting.close())
    return waiting
  }
}

/** Looked at so often within the time, but no more rarely than that, and no more often. */
const LOOKS = 8
const MOST_MS = 5_000
const LEAST_MS = 20

/** What is known of one connection. */
interface Idle {
  /** Zero while a request is under way. */
  limitMs: number
  /** What had come in when it was last looked at. */
  bytes: number
  /** How often it was looked at since, and nothing had come. */
  looks: number
}

const idle = Symbol('idle')

type Watched = Socket & { readonly [idle]: Idle }

/** The connections of one server. */
export class IdleSweep {
  readonly #intervalMs: number
  readonly #open = new Set<Watched>()
  readonly #forget: (this: Watched) => void
  #timer: NodeJS.Timeout | undefined

  /** `limitMs`: how long a connection will mostly be told to wait. */
  constructor(limitMs: number) {
    this.#intervalMs = Math.max(LEAST_MS, Math.min(limitMs / LOOKS, MOST_MS))
    const open = this.#open
    this.#forget = function (this: Watched): void { open.delete(this) }
  }

  /**
   * From now on what is told to `socket.setTimeout` ends with the event `timeout` in the time told, or up to
   * two looks later. It takes no callback: Node's server gives none.
   */
  watch(socket: Socket): void {
    const watched = Object.assign(socket, { [idle]: { limitMs: 0, bytes: 0, looks: 0 }, setTimeout: wait })
    this.#open.add(watched)
    watched.on('close', this.#forget)
    if (this.#timer !== undefined) return
    this.#timer = setInterval(() => this.#look(), this.#intervalMs)
    this.#timer.unref()
  }

  /** Looks no more. */
  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    if (this.#open.size === 0) return this.end()
    for (const socket of this.#open) {
      const known = socket[idle]
      const { bytesRead } = socket
      if (known.limitMs === 0) continue
      if (bytesRead !== known.bytes) {
        // A request has come and was answered since, or has begun to come.
        known.bytes = bytesRead
        known.looks = 0
      } else if (++known.looks * this.#intervalMs >= known.limitMs) {
        known.looks = 0
        socket.emit('timeout')
      }
    }
  }
}

/** In the place of `socket.setTimeout`. */
function wait(this: Watched, ms: number): Watched {
  this[idle].limitMs = ms
  return this
}
