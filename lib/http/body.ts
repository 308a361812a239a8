/**
 * A request's body, read within a bound: bytes in, text out. Counts what is being read in all, so that
 * many readers together cannot fill the memory.
 */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'

/** Why a body could not be had. `taken`: somebody else has read it and left nothing of it. */
export type BodyFailure = 'too-large' | 'no-room' | 'not-utf8' | 'gone' | 'taken'

/** Takes a body's text, or why there is none. */
export type BodyReader = (text: string, failure?: BodyFailure) => void

/** Memory that all bodies share while they are read. */
export class BodyBudget {
  readonly #max: number
  #held = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Bytes that are held now. */
  get held(): number { return this.#held }

  /** Whether there is room for a body of that length, before any of it is read. */
  fits(bytes: number): boolean {
    return this.#held + bytes <= this.#max
  }

  /** Takes room; false where there is none. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#max) return false
    this.#held += bytes
    return true
  }

  give(bytes: number): void {
    this.#held -= bytes
  }
}

/** Reads a body of at most `max` bytes and calls `done` exactly once: with the text, or why there is none. */
export function readBody(incoming: IncomingMessage, max: number, budget: BodyBudget, done: BodyReader): void {
  if (incoming.readableEnded) return leftOver(incoming, max, done)
  let first: Buffer | undefined
  let rest: Buffer[] | undefined
  let length = 0
  let finished = false

  function finish(text: string, failure?: BodyFailure): void {
    if (finished) return
    finished = true
    budget.give(length)
    first = rest = undefined
    done(text, failure)
  }

  incoming.on('data', (chunk: Buffer) => {
    if (finished) return
    if (length + chunk.length > max) return finish('', 'too-large')
    if (!budget.take(chunk.length)) return finish('', 'no-room')
    length += chunk.length
    if (first === undefined) first = chunk
    else (rest ??= [first]).push(chunk)
  })
  incoming.on('end', () => {
    if (finished) return
    const bytes = rest === undefined ? first : Buffer.concat(rest, length)
    if (bytes === undefined) return finish('')
    if (!isUtf8(bytes)) return finish('', 'not-utf8')
    finish(bytes.toString())
  })
  incoming.on('error', () => finish('', 'gone'))
  incoming.on('close', () => finish('', 'gone'))
}

/** In somebody else's server a body parser may have come first: what it left in `body` is text again here. */
function leftOver(incoming: IncomingMessage, max: number, done: BodyReader): void {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = incoming.headers
  if (encoding === undefined && length === '0') return done('')
  const left: unknown = 'body' in incoming ? incoming.body : undefined
  let text: string | undefined
  try {
    text = typeof left === 'string' ? left : Buffer.isBuffer(left) ? left.toString() : JSON.stringify(left)
  } catch {
    // Nested so deep that it cannot be written down: as good as nothing.
  }
  if (text === undefined) done('', 'taken')
  else if (Buffer.byteLength(text) > max) done('', 'too-large')
  else done(text)
}
