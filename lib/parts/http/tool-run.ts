/**
 * Calls of tools over plain HTTP: the body is the arguments, and the run is the reply, whole or as events. A
 * call with an `Idempotency-Key` runs once.
 */
import { textOf } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { requireScopes } from '../../kernel/define/principal.ts'
import { DeferredStream } from '../../floors/kept-streams/deferred-stream.ts'
import { callTool } from '../../kernel/run/call-tool.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { EVENT_STREAM, formatEvent } from '../../kernel/wire/sse.ts'
import { problemReply } from '../../kernel/wire/problem.ts'
import { replyOnce } from '../../floors/reply/idempotent-reply.ts'
import { bounded, tokenCounts, valueIn, wantsEvents } from '../../floors/reply/reply.ts'
import { NativeRun } from './native-run.ts'
import type { Origin } from '../../kernel/define/call.ts'
import type { Severity } from '../../kernel/define/log.ts'
import type { Tool, ToolResult } from '../../kernel/define/tool.ts'
import type { Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { KeyHold } from '../../floors/idempotency/idempotency.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'

/** Answers a call of a tool. Throws, or rejects with, a `Fault`. */
export function answerTool(service: Service, tool: Tool, exchange: Exchange): Reply | Promise<Reply> {
  const { body, head, origin } = exchange
  // No body is no arguments, as in MCP.
  const args = valueIn(body || '{}', service)
  const isStream = wantsEvents(head.accept)
  const begin = (hold?: KeyHold): Reply | Promise<Reply> => {
    const run = new ToolCallRun(service, tool, args, origin, hold)
    return isStream ? run.stream() : run.reply()
  }
  const objection = isStream ? exchange.streamObjection : undefined
  if (objection !== undefined) throw new Fault('busy', objection)
  const { idempotencyKey: key } = head
  if (key === undefined) return begin()
  // A caller that has lost the scopes does not get an earlier reply either.
  requireScopes(origin, tool.scopes)
  return replyOnce(service, key, origin, problemReply, {
    identity: formatJson({ tool: tool.name, body }),
    timeoutMs: tool.timeoutMs ?? service.limits.toolTimeoutMs,
    isStream,
    begin,
    // The events before its end are gone.
    replay: (reply) => formatEvent(reply, 'done', '1'),
  })
}

class ToolCallRun extends NativeRun<ToolResult> {
  readonly #tool: Tool
  readonly #args: unknown
  #lastProgress = -Infinity
  #hasBegun = false
  #refusal: Fault | undefined

  constructor(service: Service, tool: Tool, args: unknown, origin: Origin, hold?: KeyHold) {
    super(service, origin, hold)
    this.#tool = tool
    this.#args = args
  }

  /**
   * The reply as events: `progress` and `log` as they come, then `done` or `error`. The tool runs at once,
   * because what is refused before it runs is thrown as a `Fault`, or, where the check takes a promise, is an
   * `error`.
   */
  stream(): Reply {
    this.service.workload.check(this.origin)
    requireScopes(this.origin, this.#tool.scopes)
    const onOver = this.hold === undefined ? (): void => this.call.disconnect() : undefined
    const stream = new DeferredStream(onOver, this.dismissal.bind(this))
    this.start(stream)
    this.#hasBegun = true
    if (this.#refusal !== undefined) throw this.#refusal
    return { status: 200, type: EVENT_STREAM, body: stream }
  }

  progress(done: number, total: number | undefined, text: string | undefined): void {
    if (this.sink === undefined || !(done > this.#lastProgress)) return
    this.#lastProgress = done
    this.send('progress', formatJson({ progress: done, total, message: text }))
  }

  override log(level: Severity, data: unknown, logger: string | undefined): void {
    if (this.sink === undefined) return super.log(level, data, logger)
    let line: string
    try {
      line = formatJson({ level, logger, data: data === undefined ? null : data })
    } catch {
      // What is not JSON is no reason for the call to fail; the server's own log can write it.
      return super.log(level, data, logger)
    }
    this.send('log', line)
  }

  protected override execute(): MaybePromise<ToolResult> {
    return callTool(this.service, this.#tool, this.#args, this.call)
  }

  protected override finish(result: ToolResult): void {
    if (!this.#hasBegun && result.invalid !== undefined) this.#refusal = faultOf(this.#tool, result)
    else this.done(this.encode(result))
  }

  /** Throws the `Fault` of a result that is a failure. */
  protected override encode(result: ToolResult): string {
    if (result.isError === true) throw faultOf(this.#tool, result)
    const { content, structuredContent: data } = result
    const text = textOf(content)
    const value = formatJson(data === undefined ? text : data)
    // `content` is left out where it only repeats the value for readers of text.
    const isRepeated = data === undefined ? content.every(({ type }) => type === 'text')
      : content.length === 0
        || (content.length === 1 && content[0]!.type === 'text' && (text === value || text === data))
    const more = isRepeated ? '' : `,"content":${formatJson(content)}`
    const { requestId, usage } = this.call
    const tokens = usage === undefined ? '' : `,"usage":${formatJson(tokenCounts(usage))}`
    const names = `"tool":${formatJson(this.#tool.name)},"result":${value}`
    const reply = `{${names}${more}${tokens},"request_id":${formatJson(requestId)}}`
    return bounded(reply, this.service.limits, 'result')
  }
}

/** A result that is a failure, as a `Fault`. */
function faultOf(tool: Tool, { content, structuredContent, invalid }: ToolResult): Fault {
  const message = textOf(content)
  if (invalid !== undefined) {
    const errors = invalid.errors.map(({ path, message, expected, actual }) => (
      { path, message: expected === undefined ? message : `${message}, got ${actual}` }
    ))
    return new Fault('invalid', message, { tool: tool.name, errors })
  }
  return new Fault('failed', message === '' ? `The tool '${tool.name}' failed` : message, {
    tool: tool.name,
    ...structuredContent !== undefined && { result: structuredContent },
    ...content.some(({ type }) => type !== 'text') && { content },
  })
}
