/**
 * What a resource is read as over plain HTTP: its bytes, and the media type that it has.
 */
import { PlainChannel } from '../../run/answer-message.ts'
import { Fault } from '../../define/fault.ts'
import { LiveCall } from '../../define/live-call.ts'
import { readResource } from '../../run/reading.ts'
import { isThenable } from '../../util/thenable.ts'
import { parseMediaType } from '../../wire/media.ts'
import { problemReply } from '../../wire/problem.ts'
import { boundedJson } from '../reply/reply.ts'
import type { Origin } from '../../define/call.ts'
import type { ResourceContents } from '../../define/content.ts'
import type { Service } from '../../run/service.ts'
import type { Exchange, Overuse, Reply } from '../../http/message/exchange.ts'

/** Answers with what a resource holds. Throws, or rejects with, a `Fault`. */
export function answerResource(service: Service, exchange: Exchange): Reply | Promise<Reply> {
  const { origin } = exchange
  const uri = uriIn(exchange.query)
  // It runs what an author wrote, so it is a call, whatever its method.
  const overuse = exchange.take('call', 1)
  return isThenable(overuse) ? overuse.then((later) => readOnce(service, origin, uri, later))
    : readOnce(service, origin, uri, overuse)
}

function readOnce(
  service: Service, origin: Origin, uri: string, overuse: Overuse | undefined,
): Reply | Promise<Reply> {
  if (overuse !== undefined) return problemReply({ status: 429, ...overuse, requestId: origin.requestId })
  const channel = new PlainChannel(service, origin, 'http')
  const call = new LiveCall(origin, channel, channel)
  const contents = readResource(service, uri, call)
  if (!isThenable(contents)) return replyOf(service, contents)
  call.cancelOnDisconnect()
  return contents.then((later) => replyOf(service, later))
}

/** The one parameter `uri`. A plus sign is one, because URIs have no blanks that it could stand for. */
function uriIn(query: string): string {
  const given = query.split('&').filter((pair) => pair === 'uri' || pair.startsWith('uri='))
  const [first = ''] = given
  const message = given.length > 1 ? 'is given twice; send one'
    : first.length <= 'uri='.length ? 'is missing; write /resources/read?uri=…'
    : 'has a broken escape; write it percent-encoded'
  try {
    const uri = decodeURIComponent(first.slice('uri='.length))
    if (given.length === 1 && uri !== '') return uri
  } catch {
    // What is wrong is said below.
  }
  throw new Fault('invalid', `The parameter uri ${message}`, { errors: [{ path: 'uri', message }] })
}

/** What an author's page may do in a browser at the address of this server: nothing. */
const guarded: readonly string[] = Object.freeze(['Content-Security-Policy', `default-src 'none'; sandbox`])

function replyOf({ limits }: Service, contents: readonly ResourceContents[]): Reply {
  const [only] = contents
  if (only === undefined || contents.length > 1) return boundedJson({ contents }, limits)
  const { text, blob = '', mimeType } = only
  const body = text ?? Buffer.from(blob, 'base64')
  if (Buffer.byteLength(body) > limits.maxResultBytes) {
    throw new Fault('too-large', `The resource is larger than ${limits.maxResultBytes} bytes`)
  }
  return { status: 200, type: typeOf(mimeType, text !== undefined), headers: guarded, body }
}

/** A media type that a header can carry. Text is sent as UTF-8, and says so where it could be taken amiss. */
function typeOf(mimeType: string | undefined, isText: boolean): string {
  const fine = mimeType !== undefined && /^[\t\x20-\x7e]+$/.test(mimeType) ? mimeType.trim() : ''
  const media = parseMediaType(fine)
  if (media === undefined) return isText ? 'text/plain; charset=utf-8' : 'application/octet-stream'
  const { type, charset } = media
  if (!isText || charset === 'utf-8' || charset === 'utf8') return fine
  return charset !== undefined || type.startsWith('text/') ? `${type}; charset=utf-8` : fine
}
