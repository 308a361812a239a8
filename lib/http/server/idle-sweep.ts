/**
 * How long connections may be idle, by one look at all of them now and then in the place of a timer each.
 *
 * Node's server sets the timer of a socket after each answer and takes it away with the next request. Here
 * that is only written down, and a small request costs six parts of a hundred less. When a connection is idle
 * stays Node's word, as does what happens when it was for too long.
 */
import type { Socket } from 'node:net'

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
