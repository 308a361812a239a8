/** What the OpenAPI description lists of Responses. */
import {
  body, described, failures, jsonOrEvents, listOf, objectOf, operation, requestBody, TEXT,
} from '../../wire/openapi.ts'
import { chatComponents } from '../openai/chat-operations.ts'
import {
  idempotencyParameter, KEY_IS_RUNNING, KEY_OF_ANOTHER, replayedHeader,
} from '../reply/idempotent-operation.ts'
import type { Components } from '../../http/message/exchange.ts'
import type { DocumentPart } from '../../wire/openapi.ts'

const objects = listOf({ type: 'object' })
const NO_RESPONSE = 'You have no such response'
const one = { 200: body('The response', 'Response'), ...failures('OpenAIError', { 404: NO_RESPONSE }) }

/** `POST` of a response. */
export const createOperation: DocumentPart = operation('OpenAI', 'Respond', {
  200: {
    description: 'The response',
    headers: replayedHeader,
    content: jsonOrEvents('Response', 'Events `response.created` to `response.completed`, then `[DONE]`.'),
  },
  ...failures('OpenAIError', {
    400: 'The body is not JSON, or a member of it is wrong or cannot be obeyed: `param` says which',
    404: 'There is no such model',
    409: `The response before has not been completed; or: ${KEY_IS_RUNNING}`,
    413: 'The body, or what came out, is too large',
    415: 'The body is not application/json',
    422: KEY_OF_ANOTHER,
    500: 'The agent failed',
    503: 'The server is full or closing down; try again when Retry-After says',
    504: 'The agent took too long',
  }),
}, {
  parameters: [idempotencyParameter],
  requestBody: requestBody('ResponseRequest', undefined, true),
})

/** `GET` that opens a WebSocket. */
export const connectOperation: DocumentPart = operation('OpenAI', 'Open a WebSocket', {
  101: {
    description: 'Each message `{ "type": "response.create", … }`, with the members of a `POST`, is '
      + 'answered by messages: the events of its stream, or an `error` with `status` and `error`',
  },
  ...failures('OpenAIError', {
    400: 'The handshake has no key',
    403: 'A page of this Origin may not read answers',
    405: 'No WebSocket is asked for, or none can be opened',
    426: 'The version of the handshake is not 13',
    503: 'Too many streams are open; try again when Retry-After says',
  }),
})

/** `POST` that makes one item of a conversation. */
export const compactOperation: DocumentPart = operation('OpenAI', 'Make one item of a conversation', {
  200: body('The item: send it as `input` instead of what it stands for', 'Compaction'),
  ...failures('OpenAIError', {
    400: 'The body is not JSON, or a member of it is wrong: `param` says which',
    404: 'There is no such model',
    409: 'The response before has not been completed',
    413: 'The body is too large',
    415: 'The body is not application/json',
  }),
}, { requestBody: requestBody('CompactionRequest', undefined, true) })

/** `GET` of a response. */
export const getOperation: DocumentPart = operation('OpenAI', 'Read a response', one)

/** `DELETE` of a response. */
export const deleteOperation: DocumentPart = operation('OpenAI', 'Delete a response', {
  200: body('It is deleted', objectOf('id! object! deleted!', {
    object: { const: 'response' }, deleted: { const: true },
  })),
  ...failures('OpenAIError', { 404: NO_RESPONSE }),
})

/** `POST` that cancels a response. */
export const cancelOperation: DocumentPart = operation('OpenAI', 'Cancel a response', {
  200: body('The response', 'Response'),
  ...failures('OpenAIError', { 400: 'It does not run in the background', 404: NO_RESPONSE }),
})

/** `GET` of the input of a response. */
export const itemsOperation: DocumentPart = operation('OpenAI', 'List the input of a response', {
  200: body('The items', objectOf('object! data! first_id! last_id! has_more!:boolean', {
    object: { const: 'list' }, data: objects, first_id: {}, last_id: {},
  })),
  ...failures('OpenAIError', { 404: NO_RESPONSE }),
})

const schemas: DocumentPart = {
  ...chatComponents.schemas,
  ResponseRequest: objectOf('model! input! instructions previous_response_id stream:boolean store:boolean '
    + 'background:boolean tools text metadata', {
    model: described(TEXT, 'The id of an agent or a group.'),
    input: { description: 'A text, or a list of items: messages, calls of functions, and their outputs.' },
    previous_response_id: described(TEXT, 'Goes on with the conversation of this response.'),
    tools: described(objects, 'Functions that the client runs itself.'),
    text: { type: 'object', description: '`format`: what the answer must be.' },
    metadata: { type: 'object', description: 'Handed to the agent as it is.' },
  }),
  CompactionRequest: objectOf('model! input previous_response_id', {
    model: described(TEXT, 'The id of an agent or a group.'),
    input: { description: 'A text, or a list of items, behind those of the response before.' },
    previous_response_id: described(TEXT, 'A response whose items belong to it.'),
  }),
  Compaction: objectOf('id! object! created_at!:integer output! usage!', {
    object: { const: 'response.compaction' }, output: objects, usage: {},
  }),
  Response: objectOf('id! object! status! model! output! error usage', {
    object: { const: 'response' },
    status: { enum: ['queued', 'in_progress', 'completed', 'failed', 'cancelled'] },
    output: objects,
    error: {},
    usage: {},
  }),
}

/** What the operations refer to. */
export const responseComponents: Components = { ...chatComponents, schemas }
