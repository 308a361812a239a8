/**
 * What the OpenAPI description says of the A2A door's operations, as constants.
 * Spec: OpenAPI 3.1.1 §4.8.
 */
import { A2A_JSON_TYPE, JSON_TYPE } from '../../wire/media.ts'
import {
  described, failures, jsonBody, jsonOrEvents, listOf, objectOf, schemaReference,
} from '../../wire/openapi.ts'
import { EVENT_STREAM } from '../../wire/sse.ts'
import type { Components } from '../../http/message/exchange.ts'
import type { DocumentPart } from '../../wire/openapi.ts'
import type { Route } from './http-json-routes.ts'
import type { OperationName } from '../model/model.ts'

const text: DocumentPart = { type: 'string' }
const anything: DocumentPart = { type: 'object' }
const id: DocumentPart = { type: ['string', 'integer', 'null'] }
const contextId = described(text, 'Send it with the next message to go on.')

const plainPart: DocumentPart = {
  oneOf: [
    objectOf({ type: { const: 'text' }, text }, 'text'),
    objectOf({ type: { const: 'file' }, uri: text, mimeType: text }, 'uri'),
  ],
}

const schemas: DocumentPart = {
  A2aPlainMessage: objectOf({
    role: { enum: ['user', 'agent'] },
    parts: { ...listOf(plainPart), minItems: 1 },
    messageId: text,
    contextId,
  }, 'role', 'parts'),
  A2aRpcRequest: objectOf({
    jsonrpc: { const: '2.0' },
    id,
    method: { const: 'message/send' },
    params: objectOf({ message: schemaReference('A2aPlainMessage'), metadata: anything }, 'message'),
  }, 'jsonrpc', 'method', 'params'),
  A2aRpcAnswer: objectOf({
    jsonrpc: { const: '2.0' },
    id,
    result: anything,
    error: objectOf({ code: { type: 'integer' }, message: text, data: {} }, 'code', 'message'),
  }, 'jsonrpc', 'id'),
  // Where agents are reached, each version says in a member of its own.
  A2aCard: objectOf({
    name: text,
    description: text,
    version: text,
    url: text,
    supportedInterfaces: listOf(anything),
    capabilities: anything,
    skills: listOf(anything),
  }, 'name', 'description', 'version', 'capabilities', 'skills'),
  A2aPart: objectOf({ text, url: text, raw: text, data: {}, mediaType: text, filename: text }),
  A2aMessage: objectOf({
    messageId: text,
    contextId,
    taskId: text,
    role: { enum: ['ROLE_USER', 'ROLE_AGENT'] },
    parts: { ...listOf(schemaReference('A2aPart')), minItems: 1 },
  }, 'messageId', 'role', 'parts'),
  A2aSendRequest: objectOf({
    message: schemaReference('A2aMessage'),
    configuration: objectOf({
      acceptedOutputModes: listOf(text),
      historyLength: { type: 'integer' },
      returnImmediately: { type: 'boolean' },
      taskPushNotificationConfig: schemaReference('A2aWebhook'),
    }),
    metadata: anything,
  }, 'message'),
  A2aTask: objectOf({
    id: text,
    contextId: text,
    status: objectOf({ state: text, message: schemaReference('A2aMessage'), timestamp: text }, 'state'),
    artifacts: listOf(objectOf({
      artifactId: text, name: text, parts: listOf(schemaReference('A2aPart')),
    }, 'artifactId', 'parts')),
    history: listOf(schemaReference('A2aMessage')),
    metadata: anything,
  }, 'id', 'contextId', 'status'),
  A2aSendAnswer: described(
    objectOf({ task: schemaReference('A2aTask'), message: schemaReference('A2aMessage') }), 'One of the two.',
  ),
  A2aTasks: objectOf({
    tasks: listOf(schemaReference('A2aTask')),
    nextPageToken: text,
    pageSize: { type: 'integer' },
    totalSize: { type: 'integer' },
  }, 'tasks', 'nextPageToken', 'pageSize', 'totalSize'),
  A2aWebhook: objectOf({
    id: text,
    taskId: text,
    url: text,
    token: text,
    authentication: objectOf({ scheme: text, credentials: text }, 'scheme'),
  }, 'url'),
  A2aWebhooks: objectOf({ configs: listOf(schemaReference('A2aWebhook')), nextPageToken: text }, 'configs'),
  A2aError: objectOf({
    error: objectOf({
      code: { type: 'integer' }, status: text, message: text, details: listOf(anything),
    }, 'code', 'status', 'message', 'details'),
  }, 'error'),
}

/** What the operations refer to. */
export const a2aComponents: Components = {
  schemas,
  responses: {
    A2aError: jsonBody('What went wrong', schemaReference('A2aError')),
    A2aRpcError: jsonBody('What went wrong', schemaReference('A2aRpcAnswer')),
  },
}

const question = 'What is 12 * (3 + 4)?'

/** `POST` of a message. */
export const sendOperation: DocumentPart = {
  tags: ['A2A'],
  summary: 'Send a message',
  description: 'JSON-RPC 2.0. An error is an answer too: its status is 200, and `error` says what was wrong. '
    + 'Methods of A2A 1.0 and 0.3 are understood beside the one described here; what streams is answered '
    + 'with events.',
  requestBody: {
    required: true,
    content: {
      [JSON_TYPE]: {
        schema: schemaReference('A2aRpcRequest'),
        example: {
          jsonrpc: '2.0', id: '1', method: 'message/send',
          params: { message: { role: 'user', parts: [{ type: 'text', text: question }] } },
        },
      },
    },
  },
  responses: {
    200: {
      description: 'The answer, with `result` or with `error`',
      content: jsonOrEvents(schemaReference('A2aRpcAnswer'), 'Such an answer in each event.'),
    },
    ...failures('A2aRpcError', {
      400: 'The body is not JSON',
      413: 'The body is too large',
      415: 'The body is not application/json',
      503: 'The server is full or closing down; try again when Retry-After says',
    }),
  },
}

const unchanged = { description: 'The client has it already' }

/** `GET` of the agent card. */
export const cardOperation: DocumentPart = {
  tags: ['A2A'],
  summary: 'The agent card',
  responses: {
    200: jsonBody('Who is served here, where, and what it can do', schemaReference('A2aCard')),
    304: unchanged,
    ...failures('Problem'),
  },
}

/** `GET` of the card for the caller, where clients of 0.2 look for it. */
export const oldExtendedCardOperation: DocumentPart = {
  tags: ['A2A'],
  summary: 'The extended agent card, for clients of A2A 0.2',
  responses: {
    200: jsonBody('What the caller may know', schemaReference('A2aCard')),
    ...failures('Problem', { 404: 'There is none for this caller' }),
  },
}

/** `GET` of the status record. */
export const statusOperation: DocumentPart = {
  tags: ['A2A'],
  summary: 'Whether the agent is up',
  responses: {
    200: jsonBody('The agent is up',
      objectOf({ status: { const: 'ok' }, name: text, version: text }, 'status', 'name', 'version')),
    ...failures('Problem'),
  },
}

const sendBody: DocumentPart = {
  required: true,
  content: {
    [JSON_TYPE]: {
      schema: schemaReference('A2aSendRequest'),
      example: { message: { messageId: '1', role: 'ROLE_USER', parts: [{ text: question }] } },
    },
  },
}

/** Bodies of requests, by operation. */
const bodies: { readonly [name in OperationName]?: DocumentPart } = {
  'send': sendBody,
  'stream': sendBody,
  'cancel': { content: { [JSON_TYPE]: { schema: { type: 'object', properties: { metadata: anything } } } } },
  'push-create': { required: true, content: { [JSON_TYPE]: { schema: schemaReference('A2aWebhook') } } },
}

/** Schemas of results, by operation; of the others there are events, or nothing. */
const results: { readonly [name in OperationName]?: string } = {
  'send': 'A2aSendAnswer', 'list': 'A2aTasks', 'get': 'A2aTask', 'cancel': 'A2aTask',
  'push-create': 'A2aWebhook', 'push-list': 'A2aWebhooks', 'push-get': 'A2aWebhook',
  'extended-card': 'A2aCard',
}

const taskMeanings = { 400: 'Something of the request is wrong', 404: 'There is no such task' }
const bodyMeanings = { ...taskMeanings, 413: 'The body is too large', 415: 'The body is not JSON' }

/** One method of a route of HTTP+JSON. */
export function httpJsonOperation({ summary, operation: name, query, status }: Route): DocumentPart {
  const requestBody = bodies[name]
  const result = results[name]
  const schema = result === undefined ? undefined : schemaReference(result)
  const done = schema === undefined
    ? { description: 'Events', content: { [EVENT_STREAM]: { schema: text } } }
    : { description: 'Done', content: { [JSON_TYPE]: { schema }, [A2A_JSON_TYPE]: { schema } } }
  const inQuery = Object.entries(query).map(([name, type]) => ({ name, in: 'query', schema: { type } }))
  return {
    tags: ['A2A'],
    summary,
    ...inQuery.length > 0 && { parameters: inQuery },
    ...requestBody !== undefined && { requestBody },
    responses: {
      [status]: status === 204 ? { description: 'Done' } : done,
      ...failures('A2aError', requestBody === undefined ? taskMeanings : bodyMeanings),
    },
  }
}
