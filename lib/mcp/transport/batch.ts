/**
 * Messages that came together as an array: read, and judged as a whole before any of them is taken. How
 * they are answered is in `batch-answer.ts`.
 *
 * Spec: MCP 2025-03-26, Base Protocol, Batching; Lifecycle, Initialization.
 */
import { readMessage } from '../session/messages.ts'
import type { Limits } from '../../define/limits.ts'
import type { RpcMessage } from '../../wire/jsonrpc.ts'
import type { RequestMessage } from '../session/messages.ts'
import type { Revision } from '../protocol/revisions.ts'

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
