/**
 * stdio: one client, one message a line, for hosts that start a process. Nothing but protocol is written to
 * the output, and no more is read while the client does not take what it was sent. `initialize` begins a
 * session that lives as long as the process. Spec: MCP 2025-11-25 and 2026-07-28, Transports, stdio.
 */
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
import { LineBuffer } from '../../wire/line-buffer.ts'
import { HIGH_WATER, LineOutlet } from '../../wire/line-outlet.ts'
import type { Readable, Writable } from 'node:stream'
import type { Origin } from '../../define/call.ts'
import type { RpcMessage } from '../../wire/jsonrpc.ts'
import type { Line } from '../../wire/line-buffer.ts'
import type { LineKind } from '../../wire/line-outlet.ts'
import type { Respond } from './batch.ts'
import type { McpContext } from '../request/context.ts'
import type { RequestMessage } from '../session/messages.ts'
import type { Peer } from '../session/session.ts'
import type { McpRequest } from '../request/request.ts'

/** How notifications begin, and those that a slow client can do without. */
const NOTIFICATION = beginning('notifications/')
const LOSABLE = ['notifications/progress', 'notifications/message'].map(beginning)

function beginning(method: string): string {
  return formatNotification(method).slice(0, -2)
}

function kindOf(text: string): LineKind {
  if (!text.startsWith(NOTIFICATION)) return 'other'
  return LOSABLE.some((start) => text.startsWith(start)) ? 'losable' : 'lasting'
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
  }, kindOf)
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
