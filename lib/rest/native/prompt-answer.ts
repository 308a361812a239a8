/**
 * What a prompt is got as over plain HTTP: the body is its arguments, its messages are the reply.
 */
import { PlainChannel } from '../../run/answer-message.ts'
import { Fault } from '../../define/fault.ts'
import { LiveCall } from '../../define/live-call.ts'
import { getPrompt } from '../../run/reading.ts'
import { isThenable } from '../../util/thenable.ts'
import { parseJson } from '../../wire/json.ts'
import { underscored } from '../reply/listing.ts'
import { boundedJson, problemText, problemTextReply } from '../reply/reply.ts'
import type { PromptResult } from '../../define/prompt.ts'
import type { Service } from '../../run/service.ts'
import type { Exchange, Reply } from '../../http/message/exchange.ts'

/** Answers with the messages of a prompt. Throws, or rejects with, a `Fault`. */
export function answerPrompt(service: Service, { body, params, origin }: Exchange): Reply | Promise<Reply> {
  const { catalog, limits } = service
  const name = params.get('prompt') ?? ''
  const prompt = catalog.prompt(name) ?? underscored(catalog.prompts, name)
  if (prompt === undefined) {
    throw new Fault('not-found', `There is no prompt '${name}' here; GET /prompts lists those there are`)
  }
  // No body is no arguments, as in MCP.
  const parsed = parseJson(body === '' ? '{}' : body, limits.maxDepth, limits.maxObjects)
  if (!parsed.ok) return problemTextReply(problemText(400, parsed.why, origin.requestId))
  const channel = new PlainChannel(service, origin, 'http')
  const call = new LiveCall(origin, channel, channel)
  const reply = ({ description, messages }: PromptResult): Reply => (
    boundedJson({ description, messages }, limits)
  )
  const result = getPrompt(service, prompt.name, parsed.value, call)
  if (!isThenable(result)) return reply(result)
  call.cancelOnDisconnect()
  return result.then(reply)
}
