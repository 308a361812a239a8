/** What OpenAPI says of an operation that runs something: its key, how it replies and how it may fail. */
import { IDEMPOTENCY_KEY } from '../idempotency/idempotency.ts'
import { failures, headerParameter, jsonOrEvents, operation, TEXT } from '../openapi/openapi.ts'
import { EVENT_STREAM } from '../../kernel/wire/sse.ts'
import type { DocumentPart, Meanings, SchemaLike } from '../openapi/openapi.ts'

export const idempotencyParameter: DocumentPart = headerParameter(
  'Idempotency-Key', { ...TEXT, pattern: IDEMPOTENCY_KEY.source },
  'A key of your own for this one request: sent again with it, nothing is run again, and the '
    + 'reply of the first time comes, with `Idempotent-Replayed: true`.',
)

/** How many a page may have. */
export const limitParameter: DocumentPart = {
  name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  description: 'How many a page may have.',
}

/** The header of a reply. */
const replayedHeader: DocumentPart = {
  'Idempotent-Replayed': {
    description: 'The reply is that of the first request with this Idempotency-Key.',
    schema: { const: 'true' },
  },
}

export const KEY_IS_RUNNING: string =
  'The request of this Idempotency-Key is running; try again when Retry-After says'
export const KEY_OF_ANOTHER: string = 'The Idempotency-Key belongs to another request'

/** How what is run may fail. */
export const endProblems: Meanings = {
  500: 'It was tried and failed',
  503: 'The server is full or closing down; try again when Retry-After says',
  504: 'It took too long',
}
/** What may go wrong wherever a body is read and something is run. */
export const runProblems: Meanings = {
  400: 'The body is not JSON, or a header is malformed',
  413: 'The body, or what came out, is too large',
  415: 'The body is not application/json',
  ...endProblems,
}
/** What may go wrong besides, where a request may have an `Idempotency-Key` and a reply be events. */
export const repeatProblems: Meanings = {
  ...runProblems,
  406: 'Accept wants neither JSON nor events',
  409: KEY_IS_RUNNING,
}
/** A reply that is whole, or events, as `Accept` prefers. `events` lists which there are. */
export function wholeOrEventsBody(description: string, schema: SchemaLike, events: string): DocumentPart {
  return { description, headers: replayedHeader, content: jsonOrEvents(schema, events) }
}

/** A run whose reply is always events. */
export function eventsOperation(
  tag: string, summary: string, description: string, input: DocumentPart,
): DocumentPart {
  return operation(tag, summary, {
    200: { description, headers: replayedHeader, content: { [EVENT_STREAM]: { schema: TEXT } } },
    ...failures('Problem', {
      ...runProblems, 409: KEY_IS_RUNNING, 422: `The body is wrong; or: ${KEY_OF_ANOTHER}`,
    }),
  }, { parameters: [idempotencyParameter], requestBody: input })
}
