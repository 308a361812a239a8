/**
 * What the OpenAPI description lists of A2A.
 */
import { A2A_JSON_TYPE } from '../model/dialect.ts'
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import {
  body, described, failures, jsonOrEvents, listOf, objectOf, operation, optionsOf, requestBody,
  schemaReference, TEXT,
} from '../../../floors/openapi/openapi.ts'
import { EVENT_STREAM } from '../../../kernel/wire/sse.ts'
import type { Components } from '../../../kernel/http/message/exchange.ts'
import type { DocumentPart } from '../../../floors/openapi/openapi.ts'
import type { Route } from './http-json-routes.ts'
import type { OperationName } from '../model/model.ts'

const contextId = described(TEXT, 'Send it with the next message to go on.')
const rpc = { jsonrpc: { const: '2.0' }, id: { type: ['string', 'integer', 'null'] } }
const plainPart: DocumentPart = {
  oneOf: [
    objectOf('type text!', { type: { const: 'text' } }),
    objectOf('type uri! mimeType', { type: { const: 'file' } }),
  ],
}

const schemas: DocumentPart = {
  A2aPlainMessage: objectOf('role! parts! messageId contextId', {
    role: { enum: ['user', 'agent'] }, parts: { ...listOf(plainPart), minItems: 1 }, contextId,
  }),
  A2aRpcRequest: objectOf('jsonrpc! id method! params!', {
    ...rpc,
    method: { const: 'message/send' },
    params: objectOf('message!:A2aPlainMessage metadata:object'),
  }),
  A2aRpcAnswer: objectOf('jsonrpc! id! result:object error', {
    ...rpc, error: objectOf('code!:integer message! data', { data: {} }),
  }),
  // Where agents are reached, each version has in a member of its own.
  A2aCard: objectOf('name! description! version! url supportedInterfaces:object[] capabilities!:object '
    + 'skills!:object[]'),
  A2aPart: objectOf('text url raw data mediaType filename', { data: {} }),
  A2aMessage: objectOf('messageId! contextId taskId role! parts!', {
    contextId,
    role: { enum: ['ROLE_USER', 'ROLE_AGENT'] },
    parts: { ...listOf('A2aPart'), minItems: 1 },
  }),
  A2aSendRequest: objectOf('message!:A2aMessage configuration metadata:object', {
    configuration: objectOf('acceptedOutputModes:string[] historyLength:integer returnImmediately:boolean '
      + 'taskPushNotificationConfig:A2aWebhook'),
  }),
  A2aTask: objectOf('id! contextId! status! artifacts history:A2aMessage[] metadata:object', {
    status: objectOf('state! message:A2aMessage timestamp'),
    artifacts: listOf(objectOf('artifactId! name parts!:A2aPart[]')),
  }),
  A2aSendAnswer: described(objectOf('task:A2aTask message:A2aMessage'), 'One of the two.'),
  A2aTasks: objectOf('tasks!:A2aTask[] nextPageToken! pageSize!:integer totalSize!:integer'),
  A2aWebhook: objectOf('id taskId url! token authentication', {
    authentication: objectOf('scheme! credentials'),
  }),
  A2aWebhooks: objectOf('configs!:A2aWebhook[] nextPageToken'),
  A2aError: objectOf('error!', { error: objectOf('code!:integer status! message! details!:object[]') }),
}

/** What the operations refer to. */
export const a2aComponents: Components = {
  schemas,
  responses: {
    A2aError: body('What went wrong', 'A2aError'), A2aRpcError: body('What went wrong', 'A2aRpcAnswer'),
  },
  tags: { A2A: { description: 'The Agent2Agent protocol.', rank: 5 } },
}

const question = 'What is 12 * (3 + 4)?'

export const sendOperation: DocumentPart = operation('A2A', 'Send a message', {
  200: {
    description: 'The answer, with `result` or with `error`',
    content: jsonOrEvents('A2aRpcAnswer', 'Such an answer in each event.'),
  },
  ...failures('A2aRpcError', {
    400: 'The body is not JSON',
    413: 'The body is too large',
    415: 'The body is not application/json',
    503: 'The server is full or closing down; try again when Retry-After says',
  }),
}, {
  description: 'JSON-RPC 2.0. An error is an answer too: its status is 200, and `error` says what was wrong. '
    + 'Methods of A2A 1.0 and 0.3 are understood beside the one described here; what streams is answered '
    + 'with events.',
  requestBody: requestBody('A2aRpcRequest', {
    jsonrpc: '2.0', id: '1', method: 'message/send',
    params: { message: { role: 'user', parts: [{ type: 'text', text: question }] } },
  }, true),
})

export const cardOperation: DocumentPart = operation('A2A', 'The agent card', {
  200: body('Who is served here, where, and what it can do', 'A2aCard'),
  304: { description: 'The client has it already' },
  ...failures('Problem'),
})

export const oldExtendedCardOperation: DocumentPart = operation(
  'A2A', 'The extended agent card, for clients of A2A 0.2', {
    200: body('What the caller may know', 'A2aCard'),
    ...failures('Problem', { 404: 'There is none for this caller' }),
  },
)

export const statusOperation: DocumentPart = operation('A2A', 'Whether the agent is up', {
  200: body('The agent is up', objectOf('status! name! version!', { status: { const: 'ok' } })),
  ...failures('Problem'),
})

const sendBody = requestBody(
  'A2aSendRequest', { message: { messageId: '1', role: 'ROLE_USER', parts: [{ text: question }] } }, true,
)

/** Bodies of requests, by operation. */
const bodies: { readonly [name in OperationName]?: DocumentPart } = {
  'send': sendBody, 'stream': sendBody, 'cancel': requestBody(optionsOf('metadata:object')),
  'push-create': requestBody('A2aWebhook', undefined, true),
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
export function httpJsonOperation({ summary, operation: name, query }: Route): DocumentPart {
  const request = bodies[name]
  const result = results[name]
  const schema = result === undefined ? undefined : schemaReference(result)
  const done = schema === undefined ? body('Events', TEXT, EVENT_STREAM)
    : { description: 'Done', content: { [JSON_TYPE]: { schema }, [A2A_JSON_TYPE]: { schema } } }
  const parameters = Object.entries(query).map(([name, type]) => ({ name, in: 'query', schema: { type } }))
  return operation('A2A', summary, {
    200: name === 'push-delete' ? body('Done', { type: 'object' }) : done,
    ...failures('A2aError', request === undefined ? taskMeanings : bodyMeanings),
  }, { ...parameters.length > 0 && { parameters }, ...request !== undefined && { requestBody: request } })
}
