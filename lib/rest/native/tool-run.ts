/**
 * What a call of a tool over plain HTTP is answered with: its body is the arguments, and its run is the
 * reply, whole or as events. A call with a key runs once.
 */
import { textOf } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import { LiveCall } from '../../define/live-call.ts'
import { requireScopes } from '../../define/principal.ts'
import { DeferredStream } from '../../http/stream/deferred-stream.ts'
import { PlainChannel } from '../../run/answer-message.ts'
import { callTool } from '../../run/call-tool.ts'
import { isThenable } from '../../util/thenable.ts'
import { isWithin } from '../../wire/bounded.ts'
import { parseJson } from '../../wire/json.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { EVENT_STREAM, formatEvent } from '../../wire/sse.ts'
import { replyOnce } from '../reply/idempotent-reply.ts'
import { faultText, notAcceptable, problemText, problemTextReply, wholeOrEvents } from '../reply/reply.ts'
import type { Origin } from '../../define/call.ts'
import type { Severity } from '../../define/log.ts'
import type { Tool, ToolResult } from '../../define/tool.ts'
import type { Exchange, Reply } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { KeyHold } from '../../state/idempotency.ts'
import type { MaybePromise } from '../../util/thenable.ts'

/** Answers a call of a tool. Throws, or rejects with, a `Fault`. */
export function answerTool(service: Service, tool: Tool, exchange: Exchange): Reply | Promise<Reply> {
  const { body, head, origin } = exchange
  // No body is no arguments, as in MCP.
  const parsed = parseJson(body === '' ? '{}' : body, service.limits.maxDepth, service.limits.maxObjects)
  if (!parsed.ok) return problemTextReply(problemText(400, parsed.why, origin.requestId))
  const wanted = wholeOrEvents(head.accept)
  if (wanted === undefined) return notAcceptable(origin.requestId)
  const run = wanted === EVENT_STREAM ? streamedResult : wholeResult
  const objection = wanted === EVENT_STREAM ? exchange.streamObjection : undefined
  if (objection !== undefined) throw new Fault('busy', objection)
  const { idempotencyKey: key } = head
  if (key === undefined) return run(service, tool, parsed.value, origin)
  // Who may not use the tool any more does not hear what it said either.
  requireScopes(origin.principal, tool.scopes)
  return replyOnce(service, key, origin, {
    identity: JSON.stringify({ tool: tool.name, body }),
    timeoutMs: tool.timeoutMs ?? service.limits.toolTimeoutMs,
    isStream: wanted === EVENT_STREAM,
    begin: (hold) => run(service, tool, parsed.value, origin, hold),
    replay: replayedResult,
  })
}

/**
 * Calls a tool and replies with the whole of its result. Throws, or rejects with, a `Fault`. `hold` is of a
 * call with a key: it goes on when the client leaves.
 */
export function wholeResult(
  service: Service, tool: Tool, args: unknown, origin: Origin, hold?: KeyHold,
): Reply | Promise<Reply> {
  const channel = new PlainChannel(service, origin, 'http')
  const call = new LiveCall(origin, channel, channel)
  const reply = (result: ToolResult): Reply => (
    { status: 200, type: JSON_TYPE, body: encode(service, tool, result, origin.requestId) }
  )
  const result = callTool(service, tool, args, call)
  if (!isThenable(result)) return reply(result)
  if (hold === undefined) call.cancelOnDisconnect()
  return result.then(reply)
}

/**
 * Calls a tool and replies with events: `progress` and `log` as they come, then `done` or `error`. What is
 * refused before the tool runs is thrown as a `Fault`, or, where the check takes a promise, an `error`.
 * `hold` is of a call with a key: it goes on when the client leaves, and gives the key back at its end.
 */
export function streamedResult(
  service: Service, tool: Tool, args: unknown, origin: Origin, hold?: KeyHold,
): Reply {
  service.workload.check(origin)
  requireScopes(origin.principal, tool.scopes)
  const events = new EventChannel(service, origin, hold === undefined ? () => call.disconnect() : undefined)
  const call = new LiveCall(origin, events, events)
  // Whoever asks again after the end is told of that end.
  const end = (event: 'done' | 'error', data: string, settled: MaybePromise<void>): void => {
    if (isThenable(settled)) void settled.then(() => events.finish(event, data))
    else events.finish(event, data)
  }
  const finish = (result: ToolResult): void => {
    const reply = encode(service, tool, result, origin.requestId)
    end('done', reply, hold?.keep(reply))
  }
  const fail = (error: unknown): void => {
    end('error', faultText(service, error, origin.requestId).text, hold?.release())
  }
  let refused: Fault | undefined
  try {
    const result = callTool(service, tool, args, call)
    if (isThenable(result)) result.then(finish).catch(fail)
    else if (result.invalid === undefined) finish(result)
    else refused = faultOf(tool, result)
  } catch (error) {
    fail(error)
  }
  if (refused !== undefined) throw refused
  return { status: 200, type: EVENT_STREAM, body: events.stream }
}

/** A reply of earlier as events: what came before its end is gone. */
export function replayedResult(reply: string): string {
  return formatEvent(reply, 'done', '1')
}

/** The way back of a call that is answered with events. */
class EventChannel extends PlainChannel {
  readonly stream: DeferredStream
  #count = 0
  #lastProgress = -Infinity

  constructor(service: Service, origin: Origin, onOver: (() => void) | undefined) {
    super(service, origin, 'http')
    this.stream = new DeferredStream(onOver)
  }

  progress(done: number, total: number | undefined, text: string | undefined): void {
    if (!(done > this.#lastProgress)) return
    this.#lastProgress = done
    this.stream.write(this.#event('progress', JSON.stringify({ progress: done, total, message: text })))
  }

  override log(level: Severity, data: unknown, logger: string | undefined): void {
    let line: string
    try {
      line = JSON.stringify({ level, logger, data: data === undefined ? null : data })
    } catch {
      // What JSON cannot say is no reason for the call to fail; the server's own log can say it.
      return super.log(level, data, logger)
    }
    this.stream.write(this.#event('log', line))
  }

  finish(event: 'done' | 'error', data: string): void {
    this.stream.end(this.#event(event, data))
  }

  #event(event: string, data: string): string {
    return formatEvent(data, event, String(++this.#count))
  }
}

/** The reply as JSON text. Throws the `Fault` of a result that is a failure. */
function encode(service: Service, tool: Tool, result: ToolResult, requestId: string): string {
  if (result.isError === true) throw faultOf(tool, result)
  const { content, structuredContent: data } = result
  const text = textOf(content)
  const value = JSON.stringify(data === undefined ? text : data)
  // What stands there for readers of text alone says the same once more.
  const isSaid = data === undefined ? content.every(({ type }) => type === 'text')
    : content.length === 0
      || (content.length === 1 && content[0]!.type === 'text' && (text === value || text === data))
  const more = isSaid ? '' : `,"content":${JSON.stringify(content)}`
  const names = `"tool":${JSON.stringify(tool.name)},"result":${value}`
  const reply = `{${names}${more},"request_id":${JSON.stringify(requestId)}}`
  const { maxResultBytes } = service.limits
  if (isWithin(reply, maxResultBytes)) return reply
  throw new Fault('too-large', `The result is larger than ${maxResultBytes} bytes`)
}

/** A result that says what went wrong, as a `Fault`. */
function faultOf(tool: Tool, { content, structuredContent, invalid }: ToolResult): Fault {
  const said = textOf(content)
  if (invalid !== undefined) {
    const errors = invalid.errors.map(({ path, message, expected, actual }) => (
      { path, message: expected === undefined ? message : `${message}, got ${actual}` }
    ))
    return new Fault('invalid', said, { tool: tool.name, errors })
  }
  return new Fault('failed', said === '' ? `The tool '${tool.name}' failed` : said, {
    tool: tool.name,
    ...structuredContent !== undefined && { result: structuredContent },
    ...content.some(({ type }) => type !== 'text') && { content },
  })
}
