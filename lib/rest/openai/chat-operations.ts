/**
 * What the OpenAPI description lists of the paths for clients of OpenAI.
 */
import {
  body, described, failures, jsonOrEvents, objectOf, operation, optionsOf, requestBody, TEXT,
} from '../../wire/openapi.ts'
import {
  idempotencyParameter, KEY_IS_RUNNING, KEY_OF_ANOTHER, replayedHeader,
} from '../reply/idempotent-operation.ts'
import { MAX_STOP_LENGTH, MAX_STOPS } from './chat-stop.ts'
import type { Components } from '../../http/message/exchange.ts'
import type { DocumentPart } from '../../wire/openapi.ts'

const none = { type: 'null' }
const textOrNone = { type: ['string', 'null'] }
const integer = { type: 'integer' }
const stopText = { ...TEXT, minLength: 1, maxLength: MAX_STOP_LENGTH }

/** `GET` of all models. */
export const modelsOperation: DocumentPart = operation('OpenAI', 'List the agents as models', {
  200: body(
    'List the agents as models', objectOf('object! data!:OpenAIModel[]', { object: { const: 'list' } }),
  ),
  ...failures('OpenAIError'),
})

/** `GET` of one model. */
export const modelOperation: DocumentPart = operation('OpenAI', 'Describe one agent as a model', {
  200: body('Describe one agent as a model', 'OpenAIModel'), ...failures('OpenAIError'),
})

/** `POST` of a chat completion. */
export const completionOperation: DocumentPart = operation('OpenAI', 'Chat', {
  200: {
    description: 'Chat',
    headers: replayedHeader,
    content: jsonOrEvents('ChatCompletion', 'Objects `chat.completion.chunk`, then `[DONE]`.'),
  },
  ...failures('OpenAIError', {
    400: 'The body is not JSON, or a member of it is wrong or cannot be obeyed: `param` says which',
    404: 'There is no such model',
    409: KEY_IS_RUNNING,
    413: 'The body, or what came out, is too large',
    415: 'The body is not application/json',
    422: KEY_OF_ANOTHER,
    500: 'The agent failed',
    503: 'The server is full or closing down; try again when Retry-After says',
    504: 'The agent took too long',
  }),
}, {
  description: 'Answers a chat as OpenAI does; with `"stream": true`, in chunks. What a request says of '
    + 'sampling is passed over; what an agent cannot obey (`n`, `logprobs`, '
    + '`modalities`, `audio`) is refused.',
  parameters: [idempotencyParameter],
  requestBody: requestBody('ChatRequest', undefined, true),
})

const schemas: DocumentPart = {
  ChatRequest: objectOf('model! messages! stream:boolean stream_options stop metadata', {
    model: described(TEXT, 'The id of an agent or a group.'),
    messages: {
      type: 'array',
      minItems: 1,
      description: 'The whole conversation: the last user message is answered.',
      items: objectOf('role! content', {
        role: { enum: ['user', 'assistant', 'system', 'developer'] },
        content: { description: 'A text, or a list of parts: `text`, `image_url`, `input_audio`, `file`.' },
      }),
    },
    stream_options: optionsOf('include_usage:boolean'),
    stop: {
      anyOf: [stopText, { type: 'array', maxItems: MAX_STOPS, items: stopText }, none],
      description: 'The answer ends before whichever of these comes first.',
    },
    metadata: { type: 'object', description: 'Handed to the agent as it is.' },
  }),
  ChatCompletion: objectOf('id! object! created! model! choices! usage!', {
    object: { const: 'chat.completion' },
    created: described(integer, 'Seconds since 1970.'),
    choices: {
      type: 'array',
      description: 'One.',
      items: objectOf('index!:integer message! logprobs finish_reason!', {
        message: objectOf('role! content! reasoning_content refusal', {
          role: { const: 'assistant' }, refusal: none,
        }),
        logprobs: none,
        finish_reason: { const: 'stop' },
      }),
    },
    usage: {
      type: 'object',
      description: 'What the agent has counted; or estimates of a token for every four bytes, which '
        + '`estimated` says.',
      ...objectOf('prompt_tokens!:integer completion_tokens!:integer total_tokens!:integer estimated '
        + 'prompt_tokens_details completion_tokens_details', {
        estimated: { const: true },
        prompt_tokens_details: objectOf('cached_tokens:integer'),
        completion_tokens_details: objectOf('reasoning_tokens:integer'),
      }),
    },
  }),
  OpenAIModel: objectOf('id! object! created!:integer owned_by! name description', {
    object: { const: 'model' },
  }),
  OpenAIError: objectOf('error!', {
    error: objectOf('message! type! param! code!', { param: textOrNone, code: textOrNone }),
  }),
}

/** What the operations refer to. */
export const chatComponents: Components = {
  schemas, responses: { OpenAIError: body('What went wrong', 'OpenAIError') },
}
