/**
 * What looks after connections: the order of pipelined requests, and idle time.
 *
 * HTTP/1 answers in order, so of requests that arrive together one is answered and the others wait. Node
 * would run them all, and would not report when the connection closes. While one waits, the socket is not
 * read: only what one read has brought can wait. That may be thousands of some kilobytes each, so those of
 * all connections together are bounded.
 */
import { Lease, Quota } from '../../util/quota.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** The response that Node has made for the current request of a socket. */
export function responseOn(socket: Duplex): ServerResponse | undefined {
  if (!('_httpMessage' in socket)) return undefined
  return socket._httpMessage as ServerResponse | null ?? undefined
}

/** At most so many of one connection are answered in one iteration of the event loop. */
const IN_A_ROW = 32

/** What waits on one connection. Each counts as a caller of its own. */
class Waiting extends Lease {
  static #count = 0
  readonly caller = String(++Waiting.#count)
}

export class PipelineQueue {
  readonly #waiting: Quota
  readonly #bySocket = new WeakMap<Duplex, Waiting>()

  constructor(max: number) {
    this.#waiting = new Quota('pipelined requests', max)
  }

  /**
   * Calls `go` when the request is next; never, when its connection closes first. Closes the connection where
   * too many wait, and more than a fair part of them on it: an answer would have to wait, too.
   */
  wait({ socket }: IncomingMessage, response: ServerResponse, go: () => void): void {
    const waiting = this.#bySocket.get(socket) ?? this.#watch(socket)
    if (!this.#waiting.take(waiting, 1)) return void socket.destroy()
    socket.pause()
    response.once('socket', () => {
      if (waiting.isClosed) return
      this.#waiting.add(waiting, -1)
      if (waiting.amount === 0) socket.resume()
      // One read may have brought a thousand; others run in between.
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

/** Looks at each connection so often within its time, within these bounds. */
const LOOKS = 8
const MOST_MS = 5_000
const LEAST_MS = 20

interface Idle {
  /** Zero while a request is running. */
  limitMs: number
  /** Bytes that had arrived at the last look. */
  bytes: number
  /** Looks since then without a byte. */
  looks: number
}

const idle = Symbol('idle')

type Watched = Socket & { readonly [idle]: Idle }

/**
 * The idle time of all connections, by one timer instead of one each. Node's server sets the timer of a
 * socket after each answer and clears it at the next request; here that is only noted, which makes a small
 * request 6 % cheaper.
 */
export class IdleSweep {
  readonly #intervalMs: number
  readonly #open = new Set<Watched>()
  readonly #forget: (this: Watched) => void
  #timer: NodeJS.Timeout | undefined

  /** `limitMs`: the usual limit. */
  constructor(limitMs: number) {
    this.#intervalMs = Math.max(LEAST_MS, Math.min(limitMs / LOOKS, MOST_MS))
    const open = this.#open
    this.#forget = function (this: Watched): void { open.delete(this) }
  }

  /**
   * From now on `socket.setTimeout` emits `timeout` in the given time, or up to two looks later. It takes no
   * callback: Node's server passes none.
   */
  watch(socket: Socket): void {
    // A server may be given a connection again.
    if (idle in socket) return
    const watched = Object.assign(socket, { [idle]: { limitMs: 0, bytes: 0, looks: 0 }, setTimeout: wait })
    this.#open.add(watched)
    watched.on('close', this.#forget)
    if (this.#timer !== undefined) return
    this.#timer = setInterval(() => this.#look(), this.#intervalMs)
    this.#timer.unref()
  }

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

function wait(this: Watched, ms: number): Watched {
  this[idle].limitMs = ms
  return this
}
