/**
 * What the OpenAPI description says of the A2A door's operations, as constants.
 * Spec: OpenAPI 3.1.1 §4.8.
 */
import { JSON_TYPE } from '../wire/media.ts'
import { EVENT_STREAM } from '../wire/sse.ts'
import type { OperationName } from './model.ts'

/** A piece of an OpenAPI document. */
export type Operation = Readonly<Record<string, unknown>>

/** How a member of params is written in a query. */
export type QueryType = 'string' | 'integer' | 'boolean'

const text: Operation = { type: 'string' }
const anything: Operation = { type: 'object' }

function jsonBody(description: string, schema: Operation): Operation {
  return { description, content: { [JSON_TYPE]: { schema } } }
}

function objectOf(properties: Operation, ...required: readonly string[]): Operation {
  return { type: 'object', properties, required }
}

const part: Operation = {
  oneOf: [
    objectOf({ type: { const: 'text' }, text }, 'text'),
    objectOf({ type: { const: 'file' }, uri: text, mimeType: text }, 'uri'),
  ],
}

function message(role: string, more: Operation): Operation {
  const parts = { type: 'array', minItems: 1, items: part }
  return objectOf({ role: { const: role }, parts, ...more }, 'role', 'parts')
}

const id: Operation = { type: ['string', 'integer', 'null'] }
const contextId: Operation = { type: 'string', description: 'Send it with the next message to go on.' }

/** `POST` of a message. */
export const sendOperation: Operation = {
  tags: ['A2A'],
  summary: 'Send a message',
  description: 'JSON-RPC 2.0. An error is an answer too: its status is 200, and `error` says what was wrong.',
  requestBody: {
    required: true,
    content: {
      [JSON_TYPE]: {
        schema: objectOf({
          jsonrpc: { const: '2.0' },
          id,
          method: { const: 'message/send' },
          params: objectOf({ message: message('user', { contextId }), metadata: anything }, 'message'),
        }, 'jsonrpc', 'method', 'params'),
        example: {
          jsonrpc: '2.0', id: '1', method: 'message/send',
          params: { message: { role: 'user', parts: [{ type: 'text', text: 'What is 12 * (3 + 4)?' }] } },
        },
      },
    },
  },
  responses: {
    200: jsonBody('The answer, with `result` or with `error`', objectOf({
      jsonrpc: { const: '2.0' },
      id,
      result: objectOf({ message: message('agent', { messageId: text, contextId }) }, 'message'),
      error: objectOf({ code: { type: 'integer' }, message: text, data: anything }, 'code', 'message'),
    }, 'jsonrpc', 'id')),
  },
}

// Where agents are reached, each version says in a member of its own.
const card: Operation = objectOf({
  name: text,
  description: text,
  version: text,
  url: text,
  supportedInterfaces: { type: 'array', items: anything },
  capabilities: anything,
  skills: { type: 'array', items: anything },
}, 'name', 'description', 'version', 'capabilities', 'skills')

/** `GET` of the agent card. */
export const cardOperation: Operation = {
  tags: ['A2A'],
  summary: 'The agent card',
  responses: {
    200: jsonBody('Who is served here, where, and what it can do', card),
  },
}

/** `GET` of the status record. */
export const statusOperation: Operation = {
  tags: ['A2A'],
  summary: 'Whether the agent is up',
  responses: {
    200: jsonBody('The agent is up',
      objectOf({ status: { const: 'ok' }, name: text, version: text }, 'status', 'name', 'version')),
  },
}

const newMessage = objectOf({
  messageId: text,
  contextId,
  taskId: text,
  role: { const: 'ROLE_USER' },
  parts: {
    type: 'array', minItems: 1,
    items: { type: 'object', properties: { text, url: text, raw: text, data: {}, mediaType: text } },
  },
}, 'messageId', 'role', 'parts')

const sendBody: Operation = {
  required: true,
  content: {
    [JSON_TYPE]: {
      schema: objectOf({ message: newMessage, configuration: anything, metadata: anything }, 'message'),
      example: {
        message: { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'What is 12 * (3 + 4)?' }] },
      },
    },
  },
}

/** Bodies of requests, by operation. */
const bodies: { readonly [name in OperationName]?: Operation } = {
  'send': sendBody,
  'stream': sendBody,
  'cancel': { content: { [JSON_TYPE]: { schema: { type: 'object', properties: { metadata: anything } } } } },
  'push-create': {
    required: true,
    content: { [JSON_TYPE]: { schema: objectOf({ id: text, url: text, token: text }, 'url') } },
  },
}

const streams: ReadonlySet<OperationName> = new Set<OperationName>(['stream', 'subscribe'])

const httpError: Operation = jsonBody('What went wrong', objectOf({
  error: objectOf({
    code: { type: 'integer' }, status: text, message: text, details: { type: 'array', items: anything },
  }, 'code', 'status', 'message', 'details'),
}, 'error'))

/** One method of a route of HTTP+JSON. `query` is what may stand in its query. */
export function httpJsonOperation(
  summary: string, name: OperationName, query: Readonly<Record<string, QueryType>>, status: number,
): Operation {
  const requestBody = bodies[name]
  const events = { description: 'Events', content: { [EVENT_STREAM]: { schema: text } } }
  const done = { description: 'Done' }
  const result = name === 'extended-card' ? card : anything
  return {
    tags: ['A2A'],
    summary,
    ...Object.keys(query).length > 0 && {
      parameters: Object.entries(query).map(([name, type]) => ({ name, in: 'query', schema: { type } })),
    },
    ...requestBody !== undefined && { requestBody },
    responses: {
      [status]: streams.has(name) ? events : status === 204 ? done : jsonBody('Done', result),
      default: httpError,
    },
  }
}
