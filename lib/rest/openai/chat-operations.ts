/**
 * What the OpenAPI description says of the paths for clients of OpenAI, as constants.
 */
import { JSON_TYPE } from '../../wire/media.ts'
import { MAX_STOP_LENGTH, MAX_STOPS } from './chat-stop.ts'
import type { Components } from '../../http/message/exchange.ts'

type Operation = Readonly<Record<string, unknown>>

const text: Operation = { type: 'string' }
const count: Operation = { type: 'integer' }

function reference(name: string): Operation {
  return { $ref: `#/components/schemas/${name}` }
}

function operation(
  summary: string, schema: Operation, more: Operation = {}, media: Operation = {},
  meanings: Readonly<Record<number, string>> = {},
): Operation {
  const $ref = '#/components/responses/OpenAIError'
  const known = Object.entries(meanings).map(([status, description]) => [status, { $ref, description }])
  return {
    tags: ['OpenAI'],
    summary,
    ...more,
    responses: {
      200: { description: summary, content: { [JSON_TYPE]: { schema }, ...media } },
      ...Object.fromEntries(known),
      default: { $ref },
    },
  }
}

/** `GET` of all models. */
export const modelsOperation: Operation = operation('List the agents as models', {
  type: 'object',
  properties: { object: { const: 'list' }, data: { type: 'array', items: reference('OpenAIModel') } },
  required: ['object', 'data'],
})

/** `GET` of one model. */
export const modelOperation: Operation = operation('Describe one agent as a model', reference('OpenAIModel'))

/** `POST` of a chat completion. */
export const completionOperation: Operation = operation(
  'Chat',
  reference('ChatCompletion'),
  {
    description: 'Answers a chat as OpenAI does; with `"stream": true`, in chunks. What a request says of '
      + 'sampling is passed over; what an agent cannot obey (`tools`, `response_format`, `n`, `logprobs`, '
      + '`modalities`, `audio`) is refused.',
    requestBody: { required: true, content: { [JSON_TYPE]: { schema: reference('ChatRequest') } } },
  },
  {
    'text/event-stream': {
      schema: { type: 'string', description: 'Objects `chat.completion.chunk`, then `[DONE]`.' },
    },
  },
  {
    400: 'The body is not JSON, or a member of it is wrong or cannot be obeyed: `param` says which',
    404: 'There is no such model',
    413: 'The body, or what came out, is too large',
    415: 'The body is not application/json',
    500: 'The agent failed',
    503: 'The server is full or closing down; try again when Retry-After says',
    504: 'The agent took too long',
  },
)

const stopText = { type: 'string', minLength: 1, maxLength: MAX_STOP_LENGTH }

const schemas: Operation = {
  ChatRequest: {
    type: 'object',
    properties: {
      model: { ...text, description: 'The id of an agent or a group.' },
      messages: {
        type: 'array',
        minItems: 1,
        description: 'The whole conversation: the last user message is answered.',
        items: {
          type: 'object',
          properties: {
            role: { enum: ['user', 'assistant', 'system', 'developer'] },
            content: {
              description: 'A text, or a list of parts: `text`, `image_url`, `input_audio`, `file`.',
            },
          },
          required: ['role'],
        },
      },
      stream: { type: 'boolean' },
      stream_options: { type: 'object', properties: { include_usage: { type: 'boolean' } } },
      stop: {
        anyOf: [stopText, { type: 'array', maxItems: MAX_STOPS, items: stopText }, { type: 'null' }],
        description: 'The answer ends before whichever of these comes first.',
      },
      metadata: { type: 'object', description: 'Handed to the agent as it is.' },
    },
    required: ['model', 'messages'],
  },
  ChatCompletion: {
    type: 'object',
    properties: {
      id: text,
      object: { const: 'chat.completion' },
      created: { ...count, description: 'Seconds since 1970.' },
      model: text,
      choices: {
        type: 'array',
        description: 'One.',
        items: {
          type: 'object',
          properties: {
            index: count,
            message: {
              type: 'object',
              properties: { role: { const: 'assistant' }, content: text, refusal: { type: 'null' } },
              required: ['role', 'content'],
            },
            logprobs: { type: 'null' },
            finish_reason: { const: 'stop' },
          },
          required: ['index', 'message', 'finish_reason'],
        },
      },
      usage: {
        type: 'object',
        description: 'Estimates of a token for every four bytes, which `estimated` says.',
        properties: {
          prompt_tokens: count, completion_tokens: count, total_tokens: count, estimated: { const: true },
        },
        required: ['prompt_tokens', 'completion_tokens', 'total_tokens'],
      },
    },
    required: ['id', 'object', 'created', 'model', 'choices', 'usage'],
  },
  OpenAIModel: {
    type: 'object',
    properties: {
      id: text, object: { const: 'model' }, created: count, owned_by: text, name: text, description: text,
    },
    required: ['id', 'object', 'created', 'owned_by'],
  },
  OpenAIError: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: {
          message: text, type: text, param: { type: ['string', 'null'] }, code: { type: ['string', 'null'] },
        },
        required: ['message', 'type', 'param', 'code'],
      },
    },
    required: ['error'],
  },
}

/** What the operations refer to. */
export const chatComponents: Components = {
  schemas,
  responses: {
    OpenAIError: {
      description: 'What went wrong', content: { [JSON_TYPE]: { schema: reference('OpenAIError') } },
    },
  },
}
