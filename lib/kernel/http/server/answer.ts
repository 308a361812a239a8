/** How a request is answered, over a socket and as a web `Response` alike: its endpoint, and what is sent. */
import { discard, headerLines, isSource, lengthOf } from '../message/reply.ts'
import { admitted } from './request.ts'
import type { Reply } from '../message/exchange.ts'
import type { HttpRequest } from './request.ts'

/** A reply as it is sent. */
export interface ReadyReply {
  readonly status: number
  /** Names and values in turn, Content-Length among them where the body is whole. */
  readonly lines: string[]
  /** Undefined: none is sent, as to HEAD. */
  readonly body: Reply['body']
  /** Of the body, in bytes; zero of one that is a stream, or not sent. */
  readonly bytes: number
}

/** A reply for this request: with its headers, without a body for HEAD, refused where no stream has room. */
export function readyReply(request: HttpRequest, wanted: Reply): ReadyReply {
  const reply = admitted(request, wanted)
  const { body, status } = reply
  const lines = headerLines(request, reply)
  const isHead = request.method === 'HEAD'
  if (isSource(body)) {
    if (!isHead) return { status, lines, body, bytes: 0 }
    discard(body)
    return { status, lines, body: undefined, bytes: 0 }
  }
  const length = lengthOf(status, body)
  if (length !== undefined) lines.push('Content-Length', String(length))
  const isSent = !isHead && length !== undefined
  return { status, lines, body: isSent ? body : undefined, bytes: isSent ? length : 0 }
}

/** Asks the endpoint of a request that has its body, and drops that. May throw. */
export function replyTo(request: HttpRequest): Reply | Promise<Reply> {
  const reply = request.endpoint!.handle(request)
  request.body = ''
  return reply
}
