/**
 * One client over lines: a message of JSON on each. No more is read while the client does not take what it
 * was sent. At the end of its input running calls may end within `graceMs`, and are answered while it reads.
 */
import { Fault } from '../../kernel/define/fault.ts'
import { anonymous } from '../../kernel/define/principal.ts'
import { INVALID_REQUEST, PARSE_ERROR } from '../jsonrpc/jsonrpc.ts'
import { LineBuffer } from './line-buffer.ts'
import { HIGH_WATER, LineOutlet } from './line-outlet.ts'
import { randomUuid } from '../../kernel/wire/random.ts'
import { parseJson } from '../bounds/parse-json.ts'
import type { Readable, Writable } from 'node:stream'
import type { Origin } from '../../kernel/define/call.ts'
import type { Principal } from '../../kernel/define/principal.ts'
import type { Line } from './line-buffer.ts'
import type { LineKind } from './line-outlet.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { LineServer } from '../../kernel/server/part.ts'

/** The client, as a protocol sees it. */
export interface LineClient {
  /** No more requests are taken. */
  readonly isEnding: boolean
  send(text: string): void
  /** Resolves when the client has taken enough for more to be sent, or is gone; undefined: it has already. */
  ready(): Promise<void> | undefined
}

/** What a protocol does with the messages of its client. */
export interface LineProtocol {
  /** Whether a slow client can do without a message. Left out: it needs all. */
  kindOf?(text: string): LineKind
  /** `length`: of its line, in characters. */
  receive(message: unknown, length: number): void
  /** A line that holds no message: why, and the code of JSON-RPC. */
  refuse(why: string, code: number): void
  /** A request has no answer so far, though no call runs. Left out: there is none. */
  readonly isBusy?: boolean
  /** Nothing will come from the client any more, no answer either: what came has been received. */
  endInput(): void
  /** Ends what waits for no call. Running calls may go on for `graceMs`. */
  closeIdle?(): void
  /** The time is over, and all calls are cancelled. */
  cancel?(): void
  close?(): void
}

/** The least time for the last lines, and for the answers of cancelled calls. */
const FAREWELL_MS = 1_000

/** How often a closing server checks for calls that have ended. */
const SWEEP_MS = 10

export function serveLines(
  service: Service, input: Readable, output: Writable, connect: (client: LineClient) => LineProtocol,
): LineServer {
  const { limits, log, workload } = service
  const lines = new LineBuffer(limits.maxBodyBytes)
  let isEnding = false
  let isConcluding = false
  let isInputOver = false
  let isEndKnown = false
  /** Nothing is read or sent any more. */
  let isOver = false
  let waiting: (() => void)[] = []
  let hurry = (): void => {}
  const hurried = new Promise<void>((resolve) => { hurry = resolve })
  let finish = (): void => {}
  const over = new Promise<void>((resolve) => { finish = resolve })

  const outlet: LineOutlet = new LineOutlet(output, limits, {
    onRoom() {
      wake()
      read()
    },
    onDisconnect(why, cause) {
      log(cause === undefined ? 'warning' : 'debug', why, { cause })
      wake()
      hurry()
      void conclude()
    },
  }, (text) => protocol.kindOf?.(text) ?? 'other')
  const protocol = connect({
    get isEnding() { return isEnding },
    send: (text) => { if (!isOver) outlet.send(text) },
    ready: () => outlet.isFull && !outlet.isGone
      ? new Promise((resolve) => { waiting.push(resolve) }) : undefined,
  })

  function wake(): void {
    const woken = waiting
    waiting = []
    for (const resolve of woken) resolve()
  }

  /** Takes lines as long as the client takes answers. */
  function read(): void {
    if (isOver) return
    while (!outlet.isFull && !outlet.isGone) {
      const line = lines.take()
      if (line === undefined) break
      receive(line)
    }
    if (isInputOver && lines.size === 0 && !isEndKnown) {
      isEndKnown = true
      protocol.endInput()
    }
    // A little is read ahead, so that the end of the input is not missed behind what waits.
    if (lines.size > HIGH_WATER) input.pause()
    else if (input.isPaused()) input.resume()
  }

  function receive(line: Line): void {
    if (!line.ok) {
      const isLong = line.fault === 'too-long'
      const why = isLong ? `A line is longer than ${limits.maxBodyBytes} bytes` : 'A line is not UTF-8'
      return protocol.refuse(why, isLong ? INVALID_REQUEST : PARSE_ERROR)
    }
    const parsed = parseJson(line.text, limits.maxDepth, limits.maxObjects)
    if (parsed.ok) protocol.receive(parsed.value, line.text.length)
    else protocol.refuse(parsed.why.replace('The body', 'A line'), PARSE_ERROR)
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
    await endCalls()
    await outlet.flushed(flushMs)
    isOver = true
    input.off('data', take)
    input.pause()
    finish()
  }

  /** Lets calls end within `graceMs`, or until `hurried`, and then cancels what still runs. */
  async function endCalls(): Promise<void> {
    protocol.closeIdle?.()
    await Promise.race([workload.idle(limits.graceMs), hurried])
    workload.cancelAll(new Fault('cancelled', 'The server is closing down'))
    protocol.cancel?.()
    const isBusy = (): boolean => workload.running > 0 || protocol.isBusy === true
    for (let waitedMs = 0; isBusy() && waitedMs < FAREWELL_MS; waitedMs += SWEEP_MS) {
      await process.getBuiltinModule('node:timers/promises').setTimeout(SWEEP_MS)
    }
    protocol.close?.()
  }

  function take(chunk: Uint8Array | string): void {
    lines.add(chunk)
    read()
  }

  function endInput(): void {
    if (isInputOver) return
    isInputOver = true
    lines.end()
    read()
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

const noHeaders: ReadonlyMap<string, string> = new Map()

/** Where a request of the client comes from: the process that started this one. */
export class LineOrigin implements Origin {
  readonly principal: Principal = anonymous
  readonly headers: ReadonlyMap<string, string> = noHeaders
  #requestId: string | undefined
  get requestId(): string { return this.#requestId ??= randomUuid() }
  header(): undefined { return undefined }
  onDisconnect(): void {}
}
