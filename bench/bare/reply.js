/**
 * How the hand-written server runs an agent and answers: ids, a whole reply, and a stream of events.
 */
import { once } from 'node:events'
import { randomBytes, randomFillSync } from 'node:crypto'

export const JSON_TYPE = 'application/json'
const EVENT_STREAM = 'text/event-stream'

const prefix = randomBytes(5).toString('hex')
let count = 0

/** The id of a request. */
export function requestId() {
  return `${prefix}-${(++count).toString(36)}`
}

const pool = Buffer.alloc(4_080)
let used = pool.length

/** `bytes` random bytes as base64url. They are drawn many at a time, as `randomUUID` does. */
export function randomId(bytes) {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += bytes
  return pool.base64urlSlice(used - bytes, used)
}

/** What an agent gets besides its query. Its signal is made when it is asked for. */
export class Call {
  #response
  #controller

  constructor(response) {
    this.#response = response
  }

  get signal() {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      this.#response.on('close', () => this.#controller.abort())
    }
    return this.#controller.signal
  }
}

/** Takes each piece of an answer, until the client has left, and no faster than it reads. */
export async function eachPiece(response, pieces, take) {
  for await (const piece of pieces) {
    if (response.closed) return
    take(piece)
    if (response.writableNeedDrain) await Promise.race([once(response, 'drain'), once(response, 'close')])
  }
}

/** Refuses a body. */
export function refuse(response) {
  response.writeHead(400).end()
}

/** Sends a whole reply. `more` are header lines besides. */
export function send(response, id, body, more = {}) {
  response.writeHead(200, {
    'Content-Type': JSON_TYPE, 'X-Request-Id': id, 'X-Content-Type-Options': 'nosniff',
    ...more, 'Content-Length': Buffer.byteLength(body),
  })
  response.end(body)
}

/**
 * A stream of events. What is written in one go leaves as one chunk, the first one with what is ready
 * already. What is over before anything has left has a length.
 */
export class EventStream {
  #response
  #id
  #more
  #pending = ''
  #isScheduled = false
  #isBegun = false
  #isOver = false

  /** `more` are header lines besides. */
  constructor(response, id, more = {}) {
    this.#response = response
    this.#id = id
    this.#more = more
  }

  write(text) {
    this.#pending += text
    if (this.#isScheduled) return
    this.#isScheduled = true
    if (this.#isBegun || this.#isOver) process.nextTick(flush, this)
    else queueMicrotask(() => process.nextTick(flush, this))
  }

  end(text) {
    this.#isOver = true
    this.write(text)
  }

  flush() {
    this.#isScheduled = false
    const text = this.#pending
    this.#pending = ''
    if (!this.#isBegun) {
      this.#isBegun = true
      this.#response.writeHead(200, {
        'Content-Type': EVENT_STREAM, 'X-Request-Id': this.#id, 'X-Content-Type-Options': 'nosniff',
        'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no',
        ...this.#more, ...this.#isOver && { 'Content-Length': Buffer.byteLength(text) },
      })
    }
    if (this.#isOver) this.#response.end(text)
    else this.#response.write(text)
  }
}

function flush(stream) {
  stream.flush()
}
