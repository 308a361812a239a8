/**
 * Messages that came together as an array: read, and judged as a whole before any of them is taken. How
 * they are answered is in `batch-answer.ts`.
 *
 * Spec: MCP 2025-03-26, Base Protocol, Batching; Lifecycle, Initialization.
 */
import { readMessage } from '../session/messages.ts'
import { formatError, INVALID_REQUEST, rpcError } from '../../wire/jsonrpc.ts'
import { claimsModern } from './choose.ts'
import type { Limits } from '../../define/limits.ts'
import type { RpcMessage, Id } from '../../wire/jsonrpc.ts'
import type { RequestMessage } from '../session/messages.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { ResponseChannel } from '../session/session.ts'

/** What is said where there are none. */
export const NO_BATCHES = 'This revision has no batches'

/** Reads as many messages as may come together; a sentence where that is another number. */
export function readBatch(
  values: readonly unknown[], { maxBatch, maxNameBytes }: Pick<Limits, 'maxBatch' | 'maxNameBytes'>,
): readonly RpcMessage[] | string {
  if (values.length === 0) return 'A batch must not be empty'
  if (values.length > maxBatch) return `A batch may hold ${maxBatch} messages`
  return values.map((value) => readMessage(value, maxNameBytes))
}

/** Why messages are no batch of a revision; undefined where they are. */
export function batchObjection(messages: readonly RpcMessage[], revision: Revision): string | undefined {
  if (!revision.batches) return NO_BATCHES
  for (const message of messages) {
    if (message.kind === 'malformed') return message.why
    if ('method' in message && message.method === 'initialize') return 'initialize must not be in a batch'
  }
  const requests = requestsIn(messages)
  const ids = new Set(requests.map(({ id }) => id))
  return ids.size < requests.length ? 'Two requests of the batch have one id' : undefined
}

/** Those that owe an answer. */
export function requestsIn(messages: readonly RpcMessage[]): readonly RequestMessage[] {
  return messages.filter((message) => message.kind === 'request')
}

/** Takes the answer to one message; undefined where it gets none. */
export type Respond = (text: string | undefined) => void

/** What the answers to one batch may have together, of which each takes its part. */
export class BatchBytes {
  readonly #max: number
  #taken = 0

  constructor(max: number) {
    this.#max = max
  }

  /** The answer to a message; where there is no room for it, an error in its place. */
  fit(message: RpcMessage, text: string): string {
    const bytes = Buffer.byteLength(text)
    if (this.#taken + bytes > this.#max) {
      return refusal(message, `The answers of this batch are larger than ${this.#max} bytes`)
    }
    this.#taken += bytes
    return text
  }
}

/** The answers to one batch, of at most `maxBytes` together. */
export class BatchAnswer {
  readonly #say: Respond
  readonly #answers: string[] = []
  readonly #bytes: BatchBytes
  #owed: number

  constructor(owed: number, maxBytes: number, say: Respond) {
    this.#owed = owed
    this.#bytes = new BatchBytes(maxBytes)
    this.#say = say
  }

  /** Takes what a message that owes one is answered. */
  answer(message: RpcMessage, text: string | undefined): void {
    if (text !== undefined) this.#answers.push(this.#bytes.fit(message, text))
    this.#owed--
    if (this.#owed === 0 && this.#answers.length > 0) this.#say(`[${this.#answers.join(',')}]`)
  }
}

/** The way back of one request of a batch, whose answers leave together. */
export class BatchPart implements ResponseChannel {
  readonly #whole: ResponseChannel
  readonly #message: RpcMessage
  readonly #bytes: BatchBytes

  constructor(whole: ResponseChannel, message: RpcMessage, bytes: BatchBytes) {
    this.#whole = whole
    this.#message = message
    this.#bytes = bytes
  }

  get sends(): boolean { return this.#whole.sends }
  get isHeard(): boolean { return this.#whole.isHeard ?? true }

  send(message: string): void { this.#whole.send(message) }
  abandon(): void { this.#whole.abandon() }
  detach(retryMs: number | undefined): void { this.#whole.detach?.(retryMs) }

  finish(message: string, status?: number, headers?: readonly string[]): void {
    this.#whole.finish(this.#bytes.fit(this.#message, message), status, headers)
  }
}

/** Whether a message of a batch has an answer there. */
export function owesAnswer(message: RpcMessage): boolean {
  return message.kind === 'request' || (message.kind === 'malformed' && message.isNoRequest !== true)
}

/** Why a message cannot be one of several; undefined where it can. */
export function strangerInBatch(message: RpcMessage): string | undefined {
  if (message.kind !== 'request') return undefined
  if (message.method === 'initialize') return 'initialize must not be in a batch'
  return claimsModern(message) ? 'This revision has no batches' : undefined
}

/** An error as an answer. An id that could not be read is left out. */
export function refusal(
  message: RpcMessage | undefined, why: string, code: number = INVALID_REQUEST,
): string {
  const id: Id | undefined = message !== undefined && 'id' in message ? message.id : undefined
  return formatError(id ?? undefined, rpcError(code, why))
}
