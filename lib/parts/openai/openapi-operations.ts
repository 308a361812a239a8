/** What the OpenAPI description lists for clients of OpenAI. */
import {
  body, described, documentOperation, failures, listOf, objectOf, operation, optionsOf, requestBody, TEXT,
} from '../../floors/openapi/openapi.ts'
import { MAX_STOP_LENGTH, MAX_STOPS } from './chat-stop.ts'
import {
  idempotencyParameter, KEY_IS_RUNNING, KEY_OF_ANOTHER, limitParameter, runProblems, wholeOrEventsBody,
} from '../../floors/reply/openapi-runs.ts'
import type { DocumentPart, Meanings } from '../../floors/openapi/openapi.ts'
import type { DescribedOperations } from '../../floors/openapi/describer.ts'
import type { Components } from '../../kernel/http/message/exchange.ts'

const objects = listOf({ type: 'object' })
const none = { type: 'null' }
const textOrNone = { type: ['string', 'null'] }
const stopText = { ...TEXT, minLength: 1, maxLength: MAX_STOP_LENGTH }

/** What a client says of the calls of its tools. */
const CALLS = 'tool_choice parallel_tool_calls:boolean max_tool_calls'
const calls: DocumentPart = {
  tool_choice: { description: '`auto`, `none`, `required`, a function that is named, or `allowed_tools`.' },
  max_tool_calls: { type: 'integer', minimum: 1, description: 'Calls that one answer may have.' },
}

const schemas: DocumentPart = {
  ChatRequest: objectOf(`model! messages! stream:boolean stream_options stop metadata tools ${CALLS} `
    + 'response_format', {
    ...calls,
    model: described(TEXT, 'The id of an agent or a group.'),
    messages: {
      type: 'array',
      minItems: 1,
      description: 'The whole conversation: the last user message is answered.',
      items: objectOf('role! content tool_calls:object[] tool_call_id', {
        role: { enum: ['user', 'assistant', 'system', 'developer', 'tool', 'function'] },
        content: { description: 'A text, or a list of parts: `text`, `image_url`, `input_audio`, `file`.' },
      }),
    },
    stream_options: optionsOf('include_usage:boolean'),
    stop: {
      anyOf: [stopText, { type: 'array', maxItems: MAX_STOPS, items: stopText }, none],
      description: 'The answer ends before whichever of these comes first.',
    },
    metadata: { type: 'object', description: 'Handed to the agent as it is.' },
    tools: described(objects, 'Functions that the client runs itself; tools of other types are passed over.'),
    response_format: { type: 'object', description: 'What the answer must be.' },
  }),
  ChatCompletion: objectOf('id! object! created! model! choices! usage!', {
    object: { const: 'chat.completion' },
    created: described({ type: 'integer' }, 'Seconds since 1970.'),
    choices: {
      type: 'array',
      description: 'One.',
      items: objectOf('index!:integer message! logprobs finish_reason!', {
        message: objectOf('role! content! reasoning_content refusal tool_calls:object[]', {
          role: { const: 'assistant' }, content: textOrNone, refusal: textOrNone,
        }),
        logprobs: none,
        finish_reason: { enum: ['stop', 'tool_calls'] },
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
  ResponseRequest: objectOf('model! input! instructions previous_response_id stream:boolean store:boolean '
    + `background:boolean generate:boolean tools ${CALLS} text metadata user safety_identifier `
    + 'prompt_cache_key truncation context_management', {
    ...calls,
    model: described(TEXT, 'The id of an agent or a group.'),
    input: {
      description: 'A text, or a list of items: messages, calls of functions, their outputs, and references '
        + 'to items of responses. Of an empty one no agent is asked.',
    },
    generate: { type: 'boolean', description: 'false: no agent is asked, and the input is kept.' },
    previous_response_id: described(TEXT, 'Goes on with the conversation of this response.'),
    tools: described(objects, 'Functions that the client runs itself, also in a `namespace`; tools of other '
      + 'types are passed over.'),
    text: { type: 'object', description: '`format`: what the answer must be.' },
    metadata: { type: 'object', description: 'Handed to the agent as it is.' },
    truncation: {
      enum: ['auto', 'disabled'], description: 'Shown again: an agent gets the whole conversation.',
    },
    context_management: described(objects, 'Nothing is compacted: an agent gets the whole conversation.'),
  }),
  CompactionRequest: objectOf('model! input instructions previous_response_id', {
    model: described(TEXT, 'The id of an agent or a group.'),
    input: { description: 'A text, or a list of items, behind those of the response before.' },
    previous_response_id: described(TEXT, 'A response whose items belong to it.'),
  }),
  Compaction: objectOf('id! object! created_at!:integer output!:object[] usage!:any', {
    object: { const: 'response.compaction' },
  }),
  Response: objectOf('id! object! status! model! output!:object[] error:any usage:any', {
    object: { const: 'response' },
    status: { enum: ['queued', 'in_progress', 'completed', 'failed', 'cancelled'] },
  }),
}

const components: Components = {
  schemas,
  responses: { OpenAIError: body('What went wrong', 'OpenAIError') },
  tags: { OpenAI: { description: 'The same agents, for clients of OpenAI.', rank: 2 } },
}

const openaiProblems: Meanings = {
  ...runProblems,
  400: 'The body is not JSON, or a member of it is wrong or cannot be obeyed: `param` says which',
  404: 'There is no such model',
  409: KEY_IS_RUNNING,
  422: KEY_OF_ANOTHER,
  500: 'The agent failed',
  504: 'The agent took too long',
}

const NO_RESPONSE = 'You have no such response'
const NO_ITEM = 'There is no such model, or you have no item that is referred to'

type OperationName = 'models' | 'model' | 'completion' | 'createResponse' | 'compactResponse' | 'getResponse'
  | 'deleteResponse' | 'cancelResponse' | 'inputItems'

const operations: Readonly<Record<OperationName, DocumentPart>> = {
  models: documentOperation(
    'OpenAI', 'List the agents as models', 'List the agents as models',
    objectOf('object! data!:OpenAIModel[]', { object: { const: 'list' } }), 'OpenAIError',
  ),
  model: documentOperation(
    'OpenAI', 'Describe one agent as a model', 'Describe one agent as a model', 'OpenAIModel', 'OpenAIError',
  ),
  completion: operation('OpenAI', 'Chat', {
    200: wholeOrEventsBody('Chat', 'ChatCompletion', 'Objects `chat.completion.chunk`, then `[DONE]`.'),
    ...failures('OpenAIError', openaiProblems),
  }, {
    description: 'Answers a chat as OpenAI does; with `"stream": true`, in chunks. What a request says of '
      + 'sampling is passed over; what an agent cannot obey (`n`, `logprobs`, '
      + '`modalities`, `audio`) is refused.',
    parameters: [idempotencyParameter],
    requestBody: requestBody('ChatRequest', undefined, true),
  }),
  createResponse: operation('OpenAI', 'Respond', {
    200: wholeOrEventsBody(
      'The response', 'Response', 'Events `response.created` to `response.completed`, then `[DONE]`.',
    ),
    ...failures('OpenAIError', {
      ...openaiProblems,
      404: NO_ITEM,
      409: `The response before has not been completed; or: ${KEY_IS_RUNNING}`,
    }),
  }, {
    parameters: [idempotencyParameter],
    requestBody: requestBody('ResponseRequest', undefined, true),
  }),
  compactResponse: documentOperation(
    'OpenAI', 'Make one item of a conversation', 'The item: send it as `input` instead of what it stands for',
    'Compaction', 'OpenAIError', {
      400: 'The body is not JSON, or a member of it is wrong: `param` says which',
      404: NO_ITEM,
      409: 'The response before has not been completed',
      413: 'The body is too large',
      415: 'The body is not application/json',
    }, { requestBody: requestBody('CompactionRequest', undefined, true) },
  ),
  getResponse: operation('OpenAI', 'Read a response', {
    200: wholeOrEventsBody(
      'The response', 'Response', 'Events `response.created` to the last, then `[DONE]`.',
    ),
    ...failures('OpenAIError', { 400: '`starting_after` is wrong', 404: NO_RESPONSE }),
  }, {
    parameters: [{
      name: 'stream', in: 'query', schema: { type: 'boolean', default: false },
      description: 'Answers with its events, also while it runs.',
    }, {
      name: 'starting_after', in: 'query', schema: { type: 'integer', minimum: 0 },
      description: 'The `sequence_number` behind which a stream begins. Left out: at the first event.',
    }],
  }),
  deleteResponse: documentOperation(
    'OpenAI', 'Delete a response', 'It is deleted',
    objectOf('id! object! deleted!', { object: { const: 'response' }, deleted: { const: true } }),
    'OpenAIError', { 404: NO_RESPONSE },
  ),
  cancelResponse: documentOperation(
    'OpenAI', 'Cancel a response', 'The response', 'Response', 'OpenAIError',
    { 400: 'It does not run in the background', 404: NO_RESPONSE },
  ),
  inputItems: documentOperation(
    'OpenAI', 'List the input of a response', 'The items',
    objectOf('object! data!:object[] first_id!:any last_id!:any has_more!:boolean', {
      object: { const: 'list' },
    }), 'OpenAIError', { 400: 'A parameter is wrong', 404: NO_RESPONSE }, {
      parameters: [limitParameter, {
        name: 'order', in: 'query', schema: { enum: ['asc', 'desc'], default: 'desc' },
        description: 'Whether the first item or the last comes first.',
      }, { name: 'after', in: 'query', schema: TEXT, description: 'The `last_id` of the page before.' }],
    },
  ),
}

export const openaiOperations: DescribedOperations<OperationName> = { operations, components }
