/**
 * stdio: one client, one message a line, for hosts that start a process. Nothing but protocol is written to
 * the output, and no more is read while the client does not take what it was sent. `initialize` begins a
 * session that lives as long as the process. Spec: MCP 2025-11-25 and 2026-07-28, Transports, stdio.
 */
import { isUtf8 } from 'node:buffer'
import { Fault } from '../../define/fault.ts'
import { anonymous } from '../../define/principal.ts'
import {
  formatError, formatNotification, INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR,
} from '../../wire/jsonrpc.ts'
import { parseJson } from '../../wire/json.ts'
import { randomUuid } from '../../wire/random.ts'
import { NO_BATCHES, readBatch, BatchAnswer, owesAnswer, refusal, partObjection } from './batch.ts'
import { claimsModern, modernPeer } from './choose.ts'
import { dispatch, initialize } from '../methods/methods.ts'
import { cancelledBy, readMessage, takeMessage } from '../session/messages.ts'
import { oldest } from '../protocol/revisions.ts'
import { MAX_TIMER_MS } from '../../util/clock.ts'
import { Lease, Quota } from '../../util/quota.ts'
import type { Readable, Writable } from 'node:stream'
import type { Origin } from '../../define/call.ts'
import type { RpcMessage } from '../../wire/jsonrpc.ts'
import type { Respond } from './batch.ts'
import type { McpContext } from '../request/context.ts'
import type { RequestMessage } from '../session/messages.ts'
import type { Peer } from '../session/session.ts'
import type { McpRequest } from '../request/request.ts'
import type { Limits } from '../../define/limits.ts'

/** Bytes that may wait before no more should be read from the client. */
export const HIGH_WATER: number = 64 * 1024

/** How notifications begin, and those that a slow client can do without. */
const NOTIFICATION = beginning('notifications/')
const LOSABLE = ['notifications/progress', 'notifications/message'].map(beginning)

function beginning(method: string): string {
  return formatNotification(method).slice(0, -2)
}

const CLOSED = 'The client has closed its end'

class Waiting extends Lease {
  readonly caller = ''
  readonly text: string

  constructor(text: string) {
    super()
    this.text = text
  }
}

export interface OutletListener {
  onRoom(): void
  /** Called once when the client is gone: its end is closed, which may have a cause, or it does not read. */
  onDisconnect(why: string, cause?: unknown): void
}

/**
 * What is sent during a write waits, and leaves as one piece. What waits is bounded: progress and log lines
 * are dropped first; where that is not enough, the client counts as gone.
 */
export class LineOutlet {
  isGone = false
  readonly #output: Writable
  readonly #listener: OutletListener
  readonly #waiting = new Set<Waiting>()
  readonly #losable = new Set<Waiting>()
  /** The texts of notifications that must not be lost. One that waits already is not sent twice. */
  readonly #lasting = new Set<string>()
  /** Bytes that wait: those of notifications, and all others. */
  readonly #notifications: Quota
  readonly #others: Quota
  #leavingBytes = 0
  #flushTimer: NodeJS.Timeout | undefined
  #onProgress: (() => void) | undefined

  constructor(
    output: Writable, limits: Pick<Limits, 'maxStreamBytes' | 'maxQueuedBytes'>, listener: OutletListener,
  ) {
    this.#output = output
    this.#listener = listener
    this.#notifications = new Quota('bytes of notifications', limits.maxStreamBytes)
    this.#others = new Quota('bytes of lines', limits.maxQueuedBytes)
    output.on('error', (cause) => this.#end(CLOSED, cause))
    output.on('close', () => this.#end(CLOSED))
  }

  /** The client has not taken enough for more to be read from it. */
  get isFull(): boolean { return this.#waitingBytes + this.#leavingBytes > HIGH_WATER }

  get #waitingBytes(): number { return this.#notifications.used + this.#others.used }

  send(text: string): void {
    if (this.isGone) return
    if (this.#leavingBytes === 0) return this.#write(`${text}\n`)
    const isNotification = text.startsWith(NOTIFICATION)
    const isLosable = isNotification && LOSABLE.some((start) => text.startsWith(start))
    if (isNotification && !isLosable) {
      if (this.#lasting.has(text)) return
      this.#lasting.add(text)
    }
    const waiting = new Waiting(text)
    this.#waiting.add(waiting)
    if (isLosable) this.#losable.add(waiting)
    const quota = isNotification ? this.#notifications : this.#others
    quota.add(waiting, Buffer.byteLength(text) + 1)
    this.#makeRoom()
  }

  /**
   * Resolves when everything was taken, and when the client is gone: which it is after `quietMs` in which it
   * took nothing. A second call replaces the first.
   */
  flushed(quietMs: number): Promise<void> {
    clearTimeout(this.#flushTimer)
    this.#onProgress = undefined
    if (this.isGone || this.#leavingBytes === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const giveUp = (): void => this.#end('The client does not read what it is sent')
      const timer = this.#flushTimer = setTimeout(giveUp, Math.min(quietMs, MAX_TIMER_MS))
      this.#onProgress = () => {
        if (!this.isGone && this.#leavingBytes > 0) return void timer.refresh()
        clearTimeout(timer)
        this.#onProgress = undefined
        resolve()
      }
    })
  }

  #makeRoom(): void {
    for (const oldest of this.#losable) {
      if (!this.#isOver) return
      this.#forget(oldest)
    }
    if (this.#isOver) this.#end(`The client does not read: ${this.#waitingBytes} bytes wait for it`)
  }

  get #isOver(): boolean {
    return this.#notifications.used > this.#notifications.max || this.#waitingBytes > this.#others.max
  }

  #forget(waiting: Waiting): void {
    this.#waiting.delete(waiting)
    this.#losable.delete(waiting)
    this.#lasting.delete(waiting.text)
    waiting.close()
  }

  #write(piece: string): void {
    this.#leavingBytes = Buffer.byteLength(piece)
    this.#output.write(piece, this.#onWritten)
  }

  readonly #onWritten = (error?: Error | null): void => {
    // A stream that was destroyed before reports it nowhere else.
    if (error !== undefined && error !== null) return this.#end(CLOSED, error)
    if (this.isGone) return
    const wasFull = this.isFull
    this.#leavingBytes = 0
    let piece = ''
    for (const waiting of this.#waiting) {
      if (piece.length > HIGH_WATER) break
      piece += `${waiting.text}\n`
      this.#forget(waiting)
    }
    if (piece !== '') this.#write(piece)
    this.#onProgress?.()
    if (wasFull && !this.isFull) this.#listener.onRoom()
  }

  #end(why: string, cause?: unknown): void {
    if (this.isGone) return
    this.isGone = true
    for (const waiting of this.#waiting) this.#forget(waiting)
    this.#listener.onDisconnect(why, cause)
    this.#onProgress?.()
  }
}

export interface LineServer {
  readonly running: number
  /** Takes no more requests, and lets calls end within `graceMs`; called again, ends them at once. */
  end(): void
  /** Resolves when the client's input has ended, or the server, and everything is sent. Never rejects. */
  readonly over: Promise<void>
}

/** The least time for the last lines, and for the answers of cancelled calls. */
const FAREWELL_MS = 1_000

/** How often a closing server checks for calls that have ended. */
const SWEEP_MS = 10

export function serveLines(mcp: McpContext, input: Readable, output: Writable): LineServer {
  const { limits, log, workload } = mcp.service
  const lines = new LineBuffer(limits.maxBodyBytes)
  const outlet = new LineOutlet(output, limits, {
    onRoom: read,
    onDisconnect(why, cause) {
      log(cause === undefined ? 'warning' : 'debug', why, { cause })
      hurry()
      void conclude()
    },
  })
  const send: Respond = (text) => { if (text !== undefined) outlet.send(text) }

  const session = mcp.sessions.open(anonymous.id, oldest)
  // The session is bound to the process, so it is never idle, however silent its client is.
  session.outlet = { send, end() {} }
  /** Requests without an answer so far, by id; undefined until one has begun. */
  const open = new Map<unknown, { request: McpRequest | undefined }>()

  let isEnding = false
  let isConcluding = false
  let hurry = (): void => {}
  const hurried = new Promise<void>((resolve) => { hurry = resolve })
  let finish = (): void => {}
  const over = new Promise<void>((resolve) => { finish = resolve })

  /** Takes lines as long as the client takes answers. */
  function read(): void {
    while (!outlet.isFull && !outlet.isGone) {
      const line = lines.take()
      if (line === undefined) break
      receive(line)
    }
    // A little is read ahead, so that the end of the input is not missed behind what waits.
    if (lines.size > HIGH_WATER) input.pause()
    else if (input.isPaused()) input.resume()
  }

  function receive(line: Line): void {
    if (!line.ok) {
      const isLong = line.fault === 'too-long'
      const why = isLong ? `A line is longer than ${limits.maxBodyBytes} bytes` : 'A line is not UTF-8'
      return send(refusal(undefined, why, isLong ? INVALID_REQUEST : PARSE_ERROR))
    }
    const parsed = parseJson(line.text, limits.maxDepth, limits.maxObjects)
    if (!parsed.ok) return send(refusal(undefined, parsed.why, PARSE_ERROR))
    if (Array.isArray(parsed.value)) return receiveBatch(parsed.value)
    accept(readMessage(parsed.value, limits.maxNameBytes), send)
  }

  function receiveBatch(values: readonly unknown[]): void {
    const messages = session.revision.batches ? readBatch(values, limits) : NO_BATCHES
    if (typeof messages === 'string') return send(refusal(undefined, messages))
    const batch = new BatchAnswer(messages.filter(owesAnswer).length, limits.maxResultBytes, send)
    for (const message of messages) {
      const answer: Respond = (text) => batch.answer(message, text)
      const objection = partObjection(message)
      if (objection === undefined) accept(message, answer)
      else answer(refusal(message, objection))
    }
  }

  function accept(message: RpcMessage, answer: Respond): void {
    if (message.kind === 'malformed') {
      return message.isNoRequest === true ? undefined : answer(refusal(message, message.why))
    }
    if (message.kind !== 'request') return takeNotice(message)
    if (isEnding) return answer(refusal(message, 'The server is closing down', INTERNAL_ERROR))
    if (open.has(message.id)) return answer(refusal(message, 'A request with this id is running already'))
    if (open.size >= limits.maxCalls) {
      const why = `${limits.maxCalls} requests are open already; try again later`
      return answer(refusal(message, why, INTERNAL_ERROR))
    }
    if (!claimsModern(message)) {
      if (message.method !== 'initialize') return run(message, session, answer)
      return answer(initialize(mcp, message, true, session))
    }
    const peer = modernPeer(message)
    if ('error' in peer) answer(formatError(message.id, peer.error))
    else run(message, peer, answer)
  }

  function run(message: RequestMessage, peer: Peer, answer: Respond): void {
    const { id } = message
    const entry: { request: McpRequest | undefined } = { request: undefined }
    const close: Respond = (text) => {
      // A request that was cancelled may end after another has taken its id.
      if (open.get(id) === entry) open.delete(id)
      answer(text)
    }
    open.set(id, entry)
    entry.request = dispatch(mcp, message, peer, lineOrigin(), {
      sends: true, send, finish: close, abandon: () => close(undefined),
    })
  }

  function takeNotice(message: RpcMessage): void {
    takeMessage(session, message)
    const requestId = cancelledBy(message)
    if (requestId === undefined) return
    const entry = open.get(requestId)
    open.delete(requestId)
    entry?.request?.leave()
  }

  async function conclude(): Promise<void> {
    if (isConcluding) return
    isConcluding = true
    const flushMs = Math.max(limits.graceMs, FAREWELL_MS)
    // What came before the end of the input is answered, as fast as the client reads.
    while (lines.size > 0 && !isEnding && !outlet.isGone) {
      await Promise.race([outlet.flushed(flushMs), hurried])
    }
    isEnding = true
    await endCalls(mcp, hurried)
    await outlet.flushed(flushMs)
    input.off('data', take)
    input.pause()
    finish()
  }

  function take(chunk: Uint8Array | string): void {
    lines.add(chunk)
    read()
  }

  function endInput(): void {
    if (isConcluding) return
    lines.end()
    read()
    // What a handler has asked cannot be answered any more.
    for (const { reject } of [...session.asked.values()]) {
      reject(new Fault('cancelled', 'The client has closed its end'))
    }
    void conclude()
  }

  input.on('data', take)
  for (const event of ['end', 'close', 'error']) input.on(event, endInput)
  if (input.readableEnded || input.destroyed) endInput()
  return {
    get running() { return workload.running },
    end() {
      isEnding = true
      if (isConcluding) hurry()
      else void conclude()
    },
    over,
  }
}

/** Lets calls end within `graceMs`, or until `hurried`, and then cancels what still runs. */
async function endCalls(mcp: McpContext, hurried: Promise<void>): Promise<void> {
  const { limits, workload } = mcp.service
  mcp.closeIdle()
  await Promise.race([workload.idle(limits.graceMs), hurried])
  workload.cancelAll(new Fault('cancelled', 'The server is closing down'))
  mcp.cancel()
  for (let waitedMs = 0; workload.running > 0 && waitedMs < FAREWELL_MS; waitedMs += SWEEP_MS) {
    await process.getBuiltinModule('node:timers/promises').setTimeout(SWEEP_MS)
  }
  mcp.close()
}

const noHeaders: ReadonlyMap<string, string> = new Map()

function lineOrigin(): Origin {
  let requestId: string | undefined
  return {
    get requestId() { return requestId ??= randomUuid() },
    principal: anonymous,
    header: () => undefined,
    headers: noHeaders,
    onDisconnect: () => {},
  }
}

type Line =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly fault: 'too-long' | 'not-utf-8' }

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const END = Buffer.of(LINE_FEED)
const nothing = Buffer.alloc(0)

/**
 * Chunks of bytes as lines of text, of at most `maxBytes` each, taken one by one: each ends with LF, a CR
 * before it is dropped, blank lines are skipped. Of a longer line nothing is kept.
 */
export class LineBuffer {
  readonly #maxBytes: number
  readonly #chunks: Buffer[] = []
  /** How much of the first chunk is read. */
  #at = 0
  #size = 0
  /** The line that began in earlier chunks: its buffer, and how many bytes are in it. */
  #room = nothing
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Bytes that were added and not yet read. */
  get size(): number { return this.#size }

  add(chunk: Uint8Array | string): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk)
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    if (bytes.length === 0) return
    this.#chunks.push(bytes)
    this.#size += bytes.length
  }

  /** Nothing will follow: the rest is a line. */
  end(): void {
    this.add(END)
  }

  /** The next line; undefined until its end has come. */
  take(): Line | undefined {
    for (let [chunk] = this.#chunks; chunk !== undefined; [chunk] = this.#chunks) {
      const end = chunk.indexOf(LINE_FEED, this.#at)
      const piece = chunk.subarray(this.#at, end < 0 ? chunk.length : end)
      this.#pass(chunk, end < 0 ? chunk.length : end + 1)
      const line = end < 0 ? this.#keep(piece) : this.#close(piece)
      if (line !== undefined) return line
    }
    return undefined
  }

  #pass(chunk: Buffer, to: number): void {
    this.#size -= to - this.#at
    this.#at = to
    if (to < chunk.length) return
    this.#chunks.shift()
    this.#at = 0
  }

  /** Adds to a line; of one that gets too long only the length is kept. */
  #keep(piece: Buffer): undefined {
    const length = this.#length + piece.length
    if (length > this.#maxBytes) {
      this.#room = nothing
    } else {
      if (length > this.#room.length) {
        const room = Buffer.allocUnsafe(Math.min(this.#maxBytes, length * 2))
        this.#room.copy(room, 0, 0, this.#length)
        this.#room = room
      }
      piece.copy(this.#room, this.#length)
    }
    this.#length = length
  }

  #close(piece: Buffer): Line | undefined {
    if (this.#length === 0) return this.#read(piece)
    this.#keep(piece)
    const whole = this.#room.subarray(0, this.#length)
    const line = this.#length > this.#maxBytes ? tooLong : this.#read(whole)
    this.#room = nothing
    this.#length = 0
    return line
  }

  #read(bytes: Buffer): Line | undefined {
    if (bytes.length > this.#maxBytes) return tooLong
    if (!isUtf8(bytes)) return notUtf8
    const text = bytes.toString('utf8', 0, bytes.length - Number(bytes.at(-1) === CARRIAGE_RETURN))
    return text.trim() === '' ? undefined : { ok: true, text }
  }
}

const tooLong: Line = Object.freeze({ ok: false, fault: 'too-long' })
const notUtf8: Line = Object.freeze({ ok: false, fault: 'not-utf-8' })
