/**
 * What the OpenAPI description says of the HTTP door's own operations, as constants.
 * Spec: OpenAPI 3.1.1 §4.8.
 */
import { IDEMPOTENCY_KEY } from '../../state/idempotency.ts'
import { CONVERSATION_ID } from '../../state/conversation.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { failures, headerParameter, jsonBody, jsonOrEvents, schemaReference } from '../../wire/openapi.ts'
import type { DocumentPart } from '../../wire/openapi.ts'

/** A reply that is whole, or events, as `Accept` wants it. `events` says which there are. */
export function wholeOrEventsBody(description: string, schema: DocumentPart, events: string): DocumentPart {
  return {
    description,
    headers: {
      'Idempotent-Replayed': {
        description: 'The reply is that of the first request with this Idempotency-Key.',
        schema: { const: 'true' },
      },
    },
    content: jsonOrEvents(schema, events),
  }
}

/** Refusals and failures of this door: what those statuses mean here, and the form of every other. */
export function problems(meanings: Readonly<Record<number, string>> = {}): DocumentPart {
  return failures('Problem', meanings)
}

/** `GET` of one JSON document. */
export function documentOperation(
  tag: string, summary: string, description: string, schema: string,
): DocumentPart {
  return {
    tags: [tag], summary, responses: { 200: jsonBody(description, schemaReference(schema)), ...problems() },
  }
}

/** How what is run may fail. */
export const endProblems: Readonly<Record<number, string>> = Object.freeze({
  500: 'It was tried and failed',
  503: 'The server is full or closing down; try again when Retry-After says',
  504: 'It took too long',
})

/** What may go wrong wherever a body is read and something is run. */
export const runProblems: Readonly<Record<number, string>> = Object.freeze({
  400: 'The body is not JSON, or a header is malformed',
  413: 'The body, or what came out, is too large',
  415: 'The body is not application/json',
  ...endProblems,
})

/** What may go wrong besides, where a request may have an `Idempotency-Key` and a reply be events. */
export const repeatProblems: Readonly<Record<number, string>> = Object.freeze({
  ...runProblems,
  406: 'Accept wants neither JSON nor events',
  409: 'The request of this Idempotency-Key is running; ask again when Retry-After says',
})

/** The header that makes a request safe to be sent again. */
export const idempotencyParameter: DocumentPart = headerParameter(
  'Idempotency-Key', { type: 'string', pattern: IDEMPOTENCY_KEY.source },
  'A key of your own for this one request: sent again with it, nothing is run again, and the '
    + 'reply of the first time comes, with `Idempotent-Replayed: true`.',
)

const sessionId: DocumentPart = { type: 'string', pattern: CONVERSATION_ID.source }

/** `POST` of a query. */
export const queryOperation: DocumentPart = {
  tags: ['HTTP'],
  summary: 'Ask',
  description: 'Sends a query and gets the reply: whole, or as events with `Accept: text/event-stream` or '
    + '`"stream": true`.',
  parameters: [
    headerParameter('X-Session-Id', sessionId, 'The same as `session_id` in the body.'),
    idempotencyParameter,
  ],
  requestBody: {
    required: true,
    content: {
      [JSON_TYPE]: { schema: schemaReference('Query'), example: { query: 'What is 12 * (3 + 4)?' } },
    },
  },
  responses: {
    200: wholeOrEventsBody('The reply', schemaReference('Reply'),
      'Events `delta`, in a group after a `step` that names the agent, then `done` or `error`.'),
    ...problems({
      ...repeatProblems,
      422: 'A member of the body is wrong, which `errors` lists, or the agent rejects the query',
    }),
  },
}

/** `GET` of the list of agents. */
export const listOperation: DocumentPart = documentOperation(
  'HTTP', 'List the agents', 'The agents', 'Agents',
)

/** `GET` of one agent. */
export const describeOperation: DocumentPart = documentOperation(
  'HTTP', 'Describe one agent', 'The agent', 'Agent',
)
