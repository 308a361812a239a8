/**
 * What a chat completion is answered with: the body is read, and its run is the reply, whole or in chunks.
 */
import { Fault } from '../../define/fault.ts'
import { parseJson } from '../../wire/json.ts'
import { EVENT_STREAM } from '../../wire/sse.ts'
import { decodeChat } from './chat-messages.ts'
import { requireModel } from './chat-model.ts'
import { ChatRun } from './chat-run.ts'
import type { Service } from '../../run/service.ts'
import type { Exchange, Reply } from '../../http/message/exchange.ts'

/** Answers a chat with its completion. Throws, or rejects with, a `Fault`. */
export function answerCompletion(service: Service, { body, origin }: Exchange): Reply | Promise<Reply> {
  const parsed = parseJson(body, service.limits.maxDepth, service.limits.maxObjects)
  if (!parsed.ok) throw new Fault('invalid', parsed.why)
  const request = decodeChat(parsed.value)
  const run = new ChatRun(service, requireModel(service, request.model), request, origin)
  if (!request.isStream) return run.reply()
  service.workload.check(origin)
  return { status: 200, type: EVENT_STREAM, body: run }
}
