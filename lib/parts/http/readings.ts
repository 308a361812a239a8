/** Resources and prompts over plain HTTP, and what an author's reading of one becomes as a reply. */
import { LiveCall } from '../../kernel/define/live-call.ts'
import { plainChannel } from '../../floors/conversations/answer-message.ts'
import { getPrompt, readResource } from '../../kernel/run/reading.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { andThen, isThenable } from '../../kernel/util/thenable.ts'
import { parseMediaType } from '../../kernel/wire/media.ts'
import { boundedJson, countedCall, valueIn } from '../../floors/reply/reply.ts'
import type { Origin } from '../../kernel/define/call.ts'
import type { ResourceContents } from '../../kernel/define/content.ts'
import type { Prompt } from '../../kernel/define/prompt.ts'
import type { Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'

/** Gets a prompt. */
export function answerPrompt(
  service: Service, prompt: Prompt, { body, origin }: Exchange,
): MaybePromise<Reply> {
  // No body is no arguments, as in MCP.
  const args = valueIn(body || '{}', service)
  return replyWith(
    service, origin, (call) => getPrompt(service, prompt.name, args, call),
    ({ description, messages }) => boundedJson({ description, messages }, service.limits),
  )
}

/** Reads a resource. It runs what an author wrote, so it counts as a call. */
export function answerResource(service: Service, exchange: Exchange, uri: string): MaybePromise<Reply> {
  return countedCall(exchange, () => replyWith(
    service, exchange.origin, (call) => readResource(service, uri, call),
    (contents) => resourceReply(service, contents),
  ))
}

/** Runs what an author wrote, for a reply that is whole. Throws, or rejects with, a `Fault`. */
function replyWith<R>(
  service: Service, origin: Origin, run: (call: LiveCall) => MaybePromise<R>, replyOf: (result: R) => Reply,
): MaybePromise<Reply> {
  const call = new LiveCall(origin, { protocol: 'http' }, plainChannel(service, origin))
  const result = run(call)
  if (isThenable(result)) call.cancelOnDisconnect()
  return andThen(result, replyOf)
}

/** What an author's page may do in a browser at the address of this server: nothing. */
const guarded: readonly string[] = Object.freeze(['Content-Security-Policy', `default-src 'none'; sandbox`])

function resourceReply({ limits }: Service, contents: readonly ResourceContents[]): Reply {
  const [only] = contents
  if (only === undefined || contents.length > 1) return boundedJson({ contents }, limits)
  const { text, blob = '', mimeType } = only
  const body = text ?? Buffer.from(blob, 'base64')
  if (Buffer.byteLength(body) > limits.maxResultBytes) {
    throw new Fault('too-large', `The resource is larger than ${limits.maxResultBytes} bytes`)
  }
  return { status: 200, type: typeOf(mimeType, text !== undefined), headers: guarded, body }
}

/** A media type that a header can carry. Text is sent as UTF-8, and its type names that where it matters. */
function typeOf(mimeType: string | undefined, isText: boolean): string {
  const fine = mimeType !== undefined && /^[\t\x20-\x7e]+$/.test(mimeType) ? mimeType.trim() : ''
  const media = parseMediaType(fine)
  if (media === undefined) return isText ? 'text/plain; charset=utf-8' : 'application/octet-stream'
  const { type, charset } = media
  if (!isText || charset === 'utf-8' || charset === 'utf8') return fine
  return charset !== undefined || type.startsWith('text/') ? `${type}; charset=utf-8` : fine
}
