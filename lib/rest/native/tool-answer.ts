/**
 * What a call of a tool over plain HTTP is answered with: its body is the arguments, and its run is the
 * reply, whole or as events. A call with a key runs once.
 */
import { Fault } from '../../define/fault.ts'
import { requireScopes } from '../../define/principal.ts'
import { parseJson } from '../../wire/json.ts'
import { EVENT_STREAM } from '../../wire/sse.ts'
import { replyOnce } from '../reply/idempotent-reply.ts'
import { notAcceptable, problemText, problemTextReply, wholeOrEvents } from '../reply/reply.ts'
import { replayedResult, streamedResult, wholeResult } from './tool-run.ts'
import type { Service } from '../../run/service.ts'
import type { Tool } from '../../define/tool.ts'
import type { Exchange, Reply } from '../../http/message/exchange.ts'

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
