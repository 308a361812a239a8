/**
 * Calls of tools over plain HTTP: the body is the arguments, and the result is the reply, whole or as events.
 * A call with an `Idempotency-Key` runs once.
 */
import { textOf } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { requireScopes } from '../../kernel/define/principal.ts'
import { DeferredStream } from '../../floors/kept-streams/deferred-stream.ts'
import { callTool } from '../../kernel/run/call-tool.ts'
import { isThenable } from '../../kernel/util/thenable.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { formatEvent } from '../../kernel/wire/sse.ts'
import { replyOnce } from '../../floors/reply/idempotent-reply.ts'
import { bounded, problemText, tokenCounts, valueIn, wantsEvents } from '../../floors/reply/reply.ts'
import { RunWriter } from '../../floors/reply/run.ts'
import type { Origin } from '../../kernel/define/call.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { LiveCall } from '../../kernel/define/live-call.ts'
import type { Tool, ToolResult } from '../../kernel/define/tool.ts'
import type { Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { KeyHold } from '../../floors/idempotency/idempotency.ts'
import type { PublicFailure } from '../../floors/reply/reply.ts'
import type { RunEvent } from '../../floors/answers/run-event.ts'
import type { Face } from '../../floors/reply/run.ts'

/** Answers a call of a tool. Throws, or rejects with, a `Fault`. */
export function answerTool(service: Service, tool: Tool, exchange: Exchange): MaybePromise<Reply> {
  const { body, head, origin } = exchange
  // No body is no arguments, as in MCP.
  const args = valueIn(body || '{}', service)
  const isStream = wantsEvents(head.accept)
  const objection = isStream ? exchange.streamObjection : undefined
  if (objection !== undefined) throw new Fault('busy', objection)
  // A caller that has lost the scopes does not get an earlier reply either.
  if (head.idempotencyKey !== undefined) requireScopes(origin, tool.scopes)
  return replyOnce(service, exchange, {
    identity: { tool: tool.name, body },
    isStream,
    // The events before its end are gone.
    replay: (reply) => formatEvent(reply, 'done', '1'),
  }, tool.timeoutMs ?? service.limits.toolTimeoutMs, (hold) => (
    begin(service, tool, args, isStream, origin, hold)
  ))
}

/**
 * A reply as events is `progress` and `log` as they come, then `done` or `error`. The tool runs at once,
 * because what is refused before it runs is thrown as a `Fault`, or, where the check takes a promise, is an
 * `error`.
 */
function begin(
  service: Service, tool: Tool, args: unknown, isStream: boolean, origin: Origin, hold?: KeyHold,
): MaybePromise<Reply> {
  let refusal: Fault | undefined
  const face = new ToolFace(tool, service.limits)
  const run = new RunWriter(service, origin, { protocol: 'http' }, face, (call) => {
    const result = callTool(service, tool, args, call)
    if (!isThenable(result) && result.invalid !== undefined) refusal = faultOf(tool, result)
    return result
  }, hold)
  if (!isStream) return run.reply()
  run.call.channel = {
    progress: (done, total, text) => void run.emit({ type: 'progress', done, total, text }),
    log(level, data, logger) {
      try {
        void run.emit({ type: 'log', level, data, logger })
      } catch {
        // What is not JSON is no reason for the call to fail; the server's own log can write it.
        run.log(level, data, logger)
      }
    },
  }
  const reply = run.events()
  requireScopes(origin, tool.scopes)
  const stream = new DeferredStream(() => leave?.(), run.dismissal.bind(run))
  const leave = run.open(stream)
  if (refusal !== undefined) throw refusal
  return { ...reply, body: stream }
}

class ToolFace implements Face<ToolResult> {
  readonly keepsWhole = true
  readonly #tool: Tool
  readonly #limits: KernelLimits
  #lastProgress = -Infinity
  #count = 0

  constructor(tool: Tool, limits: KernelLimits) {
    this.#tool = tool
    this.#limits = limits
  }

  event(event: RunEvent): string {
    if (event.type === 'log') {
      const { level, data = null, logger } = event
      return this.#event('log', formatJson({ level, logger, data }))
    }
    if (event.type !== 'progress' || !(event.done > this.#lastProgress)) return ''
    this.#lastProgress = event.done
    return this.#event('progress', formatJson({
      progress: event.done, total: event.total, message: event.text,
    }))
  }

  end(result: ToolResult, call: LiveCall): string { return this.#event('done', this.whole(result, call)) }

  failed(failure: PublicFailure, { requestId }: LiveCall): string {
    return this.#event('error', problemText(failure, requestId))
  }

  /** Throws the `Fault` of a result that is a failure. */
  whole(result: ToolResult, { requestId, usage }: LiveCall): string {
    if (result.isError === true) throw faultOf(this.#tool, result)
    const { content, structuredContent: data } = result
    const text = textOf(content)
    const value = formatJson(data === undefined ? text : data)
    // `content` is left out where it only repeats the value for readers of text.
    const isRepeated = data === undefined ? content.every(({ type }) => type === 'text')
      : content.length === 0
        || (content.length === 1 && content[0]!.type === 'text' && (text === value || text === data))
    const more = isRepeated ? '' : `,"content":${formatJson(content)}`
    const tokens = usage === undefined ? '' : `,"usage":${formatJson(tokenCounts(usage))}`
    const names = `"tool":${formatJson(this.#tool.name)},"result":${value}`
    const reply = `{${names}${more}${tokens},"request_id":${formatJson(requestId)}}`
    return bounded(reply, this.#limits, 'result')
  }

  #event(event: string, data: string): string { return formatEvent(data, event, String(++this.#count)) }
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
