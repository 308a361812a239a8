/**
 * What the OpenAPI description says of the HTTP door's own operations, as constants.
 * Spec: OpenAPI 3.1.1 §4.8.
 */
import { CONVERSATION_ID } from '../core/conversation.ts'
import { IDEMPOTENCY_KEY } from '../core/idempotency.ts'
import { JSON_TYPE } from '../wire/media.ts'

/** A piece of an OpenAPI document. */
export type DocumentPart = Readonly<Record<string, unknown>>

/** A reference to a schema among the components. */
export function schemaReference(name: string): DocumentPart {
  return { $ref: `#/components/schemas/${name}` }
}

/** A reply of one JSON document. */
export function jsonBody(description: string, schema: DocumentPart): DocumentPart {
  return { description, content: { [JSON_TYPE]: { schema } } }
}

/** A refusal or a failure, as every path of this door may answer it. */
export const problems: DocumentPart = {
  default: {
    description: 'What went wrong',
    content: { 'application/problem+json': { schema: schemaReference('Problem') } },
  },
}

/** `POST` of a query. */
export const queryOperation: DocumentPart = {
  tags: ['HTTP'],
  summary: 'Ask',
  description: 'Sends a query and gets the reply: whole, or as events with `Accept: text/event-stream` or '
    + '`"stream": true`.',
  parameters: [{
    name: 'Idempotency-Key',
    in: 'header',
    schema: { type: 'string', pattern: IDEMPOTENCY_KEY.source },
    description: 'A key of your own for this one query: sent again with it, the query is not run again, and '
      + 'the reply of the first time comes, with `Idempotent-Replayed: true`.',
  }],
  requestBody: {
    required: true,
    content: {
      [JSON_TYPE]: { schema: schemaReference('Query'), example: { query: 'What is 12 * (3 + 4)?' } },
    },
  },
  responses: {
    200: {
      description: 'The reply',
      content: {
        [JSON_TYPE]: { schema: schemaReference('Reply') },
        'text/event-stream': {
          schema: {
            type: 'string',
            description: 'Events `delta`, in a group after a `step` that names the agent, then `done` or '
              + '`error`.',
          },
        },
      },
    },
    ...problems,
  },
}

/** `GET` of the list of agents. */
export const listOperation: DocumentPart = {
  tags: ['HTTP'],
  summary: 'List the agents',
  responses: { 200: jsonBody('The agents', schemaReference('Agents')), ...problems },
}

/** `GET` of one agent. */
export const describeOperation: DocumentPart = {
  tags: ['HTTP'],
  summary: 'Describe one agent',
  responses: { 200: jsonBody('The agent', schemaReference('Agent')), ...problems },
}

/** An operation without a body that answers one JSON document. */
export function plainOperation(tag: string, summary: string, description: string = summary): DocumentPart {
  return { tags: [tag], summary, responses: { 200: { description, content: { [JSON_TYPE]: {} } } } }
}

const text: DocumentPart = { type: 'string' }

/** The schemas that the operations refer to. */
export const schemas: DocumentPart = {
  Query: {
    type: 'object',
    properties: {
      query: {
        type: 'string', minLength: 1,
        description: 'What you want to know. `message`, `prompt` and `input` mean the same.',
      },
      messages: {
        type: 'array',
        description: 'A whole conversation in place of `query`: the last user message is the query.',
        items: {
          type: 'object',
          properties: { role: { enum: ['user', 'assistant', 'system'] }, content: text },
          required: ['role', 'content'],
        },
      },
      session_id: {
        type: 'string', pattern: CONVERSATION_ID.source, description: 'Goes on with a conversation.',
      },
      metadata: { type: 'object', description: 'Handed to the agent as it is.' },
      stream: { type: 'boolean', description: 'Answer with events.' },
    },
  },
  Reply: {
    type: 'object',
    properties: {
      response: { type: 'string', description: 'What the agent said.' },
      agent: text,
      query: text,
      session_id: { type: 'string', description: 'Send it with the next query to go on.' },
      request_id: text,
      data: { description: 'Structured output, where the agent gives some.' },
      state: { enum: ['input-required'], description: 'The agent wants to hear more.' },
      results: {
        type: 'array',
        description: 'What each agent of a group said.',
        items: {
          type: 'object', properties: { agent: text, response: text, error: text }, required: ['agent'],
        },
      },
      final_response: { type: 'string', description: 'The reply of a group; the same as `response`.' },
    },
    required: ['response', 'agent', 'query', 'session_id', 'request_id'],
  },
  Agent: {
    type: 'object',
    properties: { id: text, name: text, description: text },
    required: ['id', 'name', 'description'],
  },
  Agents: {
    type: 'object',
    properties: { agents: { type: 'array', items: schemaReference('Agent') } },
    required: ['agents'],
  },
  Problem: {
    type: 'object',
    description: 'RFC 9457. `detail` and `error` are the same sentence.',
    properties: {
      type: text,
      title: text,
      status: { type: 'integer' },
      detail: text,
      error: text,
      request_id: text,
      errors: {
        type: 'array',
        items: { type: 'object', properties: { path: text, message: text }, required: ['path', 'message'] },
      },
    },
    required: ['type', 'title', 'status', 'detail', 'error', 'request_id'],
  },
}
