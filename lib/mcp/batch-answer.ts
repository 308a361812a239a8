/**
 * The answers to messages that came as one array, as one array: sent when the last of them is there, in the
 * order in which they came. Only one revision has such batches.
 *
 * Spec: MCP 2025-03-26, Base Protocol, Batching.
 */
import { formatError, INVALID_REQUEST, rpcError } from '../wire/jsonrpc.ts'
import { claimsModern } from './choose.ts'
import type { Id, RpcMessage } from '../wire/jsonrpc.ts'

/** Takes the answer to one message; undefined where it gets none. */
export type Respond = (text: string | undefined) => void

/** The answers to one batch, of at most `maxBytes` together. */
export class BatchAnswer {
  readonly #maxBytes: number
  readonly #say: Respond
  readonly #answers: string[] = []
  #owed: number
  #bytes = 0

  constructor(owed: number, maxBytes: number, say: Respond) {
    this.#owed = owed
    this.#maxBytes = maxBytes
    this.#say = say
  }

  /** Takes what a message that owes one is answered. */
  answer(message: RpcMessage, text: string | undefined): void {
    if (text !== undefined) this.#add(message, text)
    this.#owed--
    if (this.#owed === 0 && this.#answers.length > 0) this.#say(`[${this.#answers.join(',')}]`)
  }

  #add(message: RpcMessage, text: string): void {
    const bytes = Buffer.byteLength(text)
    const isFine = this.#bytes + bytes <= this.#maxBytes
    if (isFine) this.#bytes += bytes
    this.#answers.push(isFine ? text
      : refusal(message, `The answers of this batch are larger than ${this.#maxBytes} bytes`))
  }
}

/** Whether a message of a batch has an answer there. */
export function owesAnswer({ kind }: RpcMessage): boolean {
  return kind === 'request' || kind === 'malformed'
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
