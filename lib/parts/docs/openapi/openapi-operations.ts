/**
 * What the OpenAPI description lists of plain HTTP: queries, the catalog, and the server itself.
 */
import { CONVERSATION_ID } from '../../../floors/conversations/conversation-page.ts'
import { IDEMPOTENCY_KEY } from '../../../floors/idempotency/idempotency.ts'
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import {
  body, described, failures, headerParameter, jsonOrEvents, listOf, objectOf, operation, requestBody, TEXT,
} from '../../../floors/openapi/openapi.ts'
import { placed } from './openapi-schema.ts'
import type { ServedSkill } from '../../skills/skill.ts'
import type { Prompt } from '../../../kernel/define/prompt.ts'
import type { Tool } from '../../../kernel/define/tool.ts'
import type { Description, MethodOperations } from '../../../kernel/http/message/exchange.ts'
import type { DocumentPart, Meanings, SchemaLike } from '../../../floors/openapi/openapi.ts'

const idempotencyParameter: DocumentPart = headerParameter(
  'Idempotency-Key', { ...TEXT, pattern: IDEMPOTENCY_KEY.source },
  'A key of your own for this one request: sent again with it, nothing is run again, and the '
    + 'reply of the first time comes, with `Idempotent-Replayed: true`.',
)

/** The header of a reply. */
const replayedHeader: DocumentPart = {
  'Idempotent-Replayed': {
    description: 'The reply is that of the first request with this Idempotency-Key.',
    schema: { const: 'true' },
  },
}

const KEY_IS_RUNNING =
  'The request of this Idempotency-Key is running; try again when Retry-After says'
const KEY_OF_ANOTHER = 'The Idempotency-Key belongs to another request'

/** How what is run may fail. */
const endProblems: Meanings = {
  500: 'It was tried and failed',
  503: 'The server is full or closing down; try again when Retry-After says',
  504: 'It took too long',
}
/** What may go wrong wherever a body is read and something is run. */
const runProblems: Meanings = {
  400: 'The body is not JSON, or a header is malformed',
  413: 'The body, or what came out, is too large',
  415: 'The body is not application/json',
  ...endProblems,
}
/** What may go wrong besides, where a request may have an `Idempotency-Key` and a reply be events. */
const repeatProblems: Meanings = {
  ...runProblems,
  406: 'Accept wants neither JSON nor events',
  409: KEY_IS_RUNNING,
}
/** The same for clients of OpenAI. */
const openaiProblems: Meanings = {
  ...runProblems,
  400: 'The body is not JSON, or a member of it is wrong or cannot be obeyed: `param` says which',
  404: 'There is no such model',
  409: KEY_IS_RUNNING,
  422: KEY_OF_ANOTHER,
  500: 'The agent failed',
  504: 'The agent took too long',
}
const storeProblem: Meanings = { 503: 'The store cannot be reached; try again when Retry-After says' }
const NO_CONVERSATION = 'You have no such conversation'
const argumentProblems: Meanings = { 422: 'The arguments are wrong, and `errors` lists how' }

const NO_RESPONSE = 'You have no such response'
const NO_ITEM = 'There is no such model, or you have no item that is referred to'

const sessionId = { ...TEXT, pattern: CONVERSATION_ID.source }

const uiExample = {
  id: 'chat-0001', messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
}
const aguiExample = {
  threadId: 'thread-1', runId: 'run-1', messages: [{ id: '1', role: 'user', content: 'Hello' }],
}

/** A reply that is whole, or events, as `Accept` prefers. `events` lists which there are. */
function wholeOrEventsBody(description: string, schema: SchemaLike, events: string): DocumentPart {
  return { description, headers: replayedHeader, content: jsonOrEvents(schema, events) }
}

/** A run whose reply is always events. */
function streamOperation(
  tag: string, summary: string, description: string, input: DocumentPart,
): DocumentPart {
  return operation(tag, summary, {
    200: { description, headers: replayedHeader, content: { 'text/event-stream': { schema: TEXT } } },
    ...failures('Problem', {
      ...runProblems, 409: KEY_IS_RUNNING, 422: `The body is wrong; or: ${KEY_OF_ANOTHER}`,
    }),
  }, { parameters: [idempotencyParameter], requestBody: input })
}

/** `GET` of one JSON document. */
function documentOperation(tag: string, summary: string, description: string, schema: string): DocumentPart {
  return operation(tag, summary, { 200: body(description, schema), ...failures('Problem') })
}

/** An operation of the server itself, that needs nothing. */
export function serviceOperation(
  summary: string, response: DocumentPart, more: Readonly<Record<number, unknown>> = {},
): DocumentPart {
  return operation('Service', summary, { 200: response, ...more, ...failures('Problem') })
}

type OperationName = 'query' | 'agui' | 'ui-stream' | 'resumeUiStream' | 'stopUiStream' | 'agents' | 'agent'
  | 'conversations' | 'conversation' | 'removeConversation'
  | 'tools' | 'prompts' | 'resources' | 'readResource' | 'welcome' | 'health' | 'ready' | 'docs' | 'openapi'
  | 'llms' | 'skills' | 'models' | 'model' | 'completion' | 'createResponse'
  | 'compactResponse' | 'getResponse' | 'deleteResponse' | 'cancelResponse' | 'inputItems'

/** The operations that are the same on every server. */
export const httpOperations: Readonly<Record<OperationName, DocumentPart>> = {
  query: operation('HTTP', 'Ask', {
    200: wholeOrEventsBody('The reply', 'Reply',
      'Events `delta`, in a group after a `step` that names the agent; `tool` (`id`, `name`, `state`: '
        + '`running`, `done` or `failed`, `args`, `result`) and `reasoning` (`text`), in a group with '
        + '`agent`, where the agent says what it does; then `done` or `error`.'),
    ...failures('Problem', {
      ...repeatProblems,
      422: 'A member of the body is wrong, which `errors` lists, or the agent rejects the query',
    }),
  }, {
    description: 'Sends a query and gets the reply: whole, or as events with `Accept: text/event-stream` or '
      + '`"stream": true`.',
    parameters: [
      headerParameter('X-Session-Id', sessionId, 'The same as `session_id` in the body.'),
      idempotencyParameter,
    ],
    requestBody: requestBody('Query', { query: 'What is 12 * (3 + 4)?' }, true),
  }),
  agents: documentOperation('HTTP', 'List the agents', 'The agents', 'Agents'),
  agent: documentOperation('HTTP', 'Describe one agent', 'The agent', 'Agent'),
  agui: streamOperation(
    'AG-UI', 'Run', 'The events of the run', requestBody('RunAgentInput', aguiExample, true),
  ),
  'ui-stream': streamOperation(
    'AI SDK', 'Chat', 'The UI message stream, in its version 1', requestBody('UIChat', uiExample, true),
  ),
  resumeUiStream: operation('AI SDK', 'Go on with a chat', {
    200: {
      description: 'The stream of the run that goes on, from its begin',
      content: { 'text/event-stream': { schema: TEXT } },
    },
    204: { description: 'There is no stream to go on with' }, ...failures('Problem'),
  }),
  stopUiStream: operation('AI SDK', 'Stop a chat', {
    204: { description: 'No run of the chat goes on' }, ...failures('Problem'),
  }),
  conversations: operation('HTTP', 'List your conversations', {
    200: body('A page, the one that was used last first', 'Conversations'),
    ...failures('Problem', { 422: 'The limit or the cursor is wrong', ...storeProblem }),
  }, {
    parameters: [{
      name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      description: 'How many a page may have.',
    }, { name: 'cursor', in: 'query', schema: TEXT, description: 'The `next_cursor` of the page before.' }],
  }),
  conversation: operation('HTTP', 'Read a conversation', {
    200: body('Its messages, the oldest first', 'Conversation'),
    ...failures('Problem', { 404: NO_CONVERSATION, ...storeProblem }),
  }),
  removeConversation: operation('HTTP', 'Forget a conversation', {
    204: { description: 'It is forgotten' },
    ...failures('Problem', { 404: NO_CONVERSATION, ...storeProblem }),
  }),
  models: operation('OpenAI', 'List the agents as models', {
    200: body(
      'List the agents as models', objectOf('object! data!:OpenAIModel[]', { object: { const: 'list' } }),
    ),
    ...failures('OpenAIError'),
  }),
  model: operation('OpenAI', 'Describe one agent as a model', {
    200: body('Describe one agent as a model', 'OpenAIModel'), ...failures('OpenAIError'),
  }),
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
  compactResponse: operation('OpenAI', 'Make one item of a conversation', {
    200: body('The item: send it as `input` instead of what it stands for', 'Compaction'),
    ...failures('OpenAIError', {
      400: 'The body is not JSON, or a member of it is wrong: `param` says which',
      404: NO_ITEM,
      409: 'The response before has not been completed',
      413: 'The body is too large',
      415: 'The body is not application/json',
    }),
  }, { requestBody: requestBody('CompactionRequest', undefined, true) }),
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
  deleteResponse: operation('OpenAI', 'Delete a response', {
    200: body('It is deleted', objectOf('id! object! deleted!', {
      object: { const: 'response' }, deleted: { const: true },
    })),
    ...failures('OpenAIError', { 404: NO_RESPONSE }),
  }),
  cancelResponse: operation('OpenAI', 'Cancel a response', {
    200: body('The response', 'Response'),
    ...failures('OpenAIError', { 400: 'It does not run in the background', 404: NO_RESPONSE }),
  }),
  inputItems: operation('OpenAI', 'List the input of a response', {
    200: body('The items', objectOf('object! data! first_id! last_id! has_more!:boolean', {
      object: { const: 'list' }, data: listOf({ type: 'object' }), first_id: {}, last_id: {},
    })),
    ...failures('OpenAIError', { 404: NO_RESPONSE }),
  }),
  tools: documentOperation('Tools', 'List the tools', 'The tools', 'Tools'),
  prompts: documentOperation('Tools', 'List the prompts', 'The prompts', 'Prompts'),
  resources: documentOperation('Tools', 'List the resources', 'The resources and the templates', 'Resources'),
  skills: documentOperation('Tools', 'List the skills', 'The skills', 'Skills'),
  readResource: operation('Tools', 'Read a resource', {
    200: {
      description: 'What it holds, with its own media type; several contents are a JSON object',
      content: { '*/*': {}, [JSON_TYPE]: {} },
    },
    ...failures('Problem', {
      404: 'There is no such resource',
      413: 'What it holds is too large',
      422: 'The parameter `uri` is missing or malformed',
      ...endProblems,
    }),
  }, {
    parameters: [{
      name: 'uri', in: 'query', required: true, schema: { ...TEXT, format: 'uri' },
      description: 'One of the list, or one that fits a template.',
    }],
  }),
  welcome: serviceOperation('Welcome', body('What there is', 'Welcome'), {
    303: { description: 'A browser is sent to the page', headers: { Location: { schema: TEXT } } },
  }),
  health: {
    ...serviceOperation('Whether the server is up', body('It is', 'Health')),
    parameters: [{
      name: 'verbose', in: 'query', allowEmptyValue: true, schema: TEXT,
      description: 'Tells how the store is that is shared with others, too.',
    }],
  },
  ready: serviceOperation('Whether the server takes work', body('It does', 'Ready'),
    failures('Problem', { 503: 'It is closing down' })),
  docs: serviceOperation('Interactive documentation', body('A page', TEXT, 'text/html'),
    { 304: { description: 'The client has it already' } }),
  llms: serviceOperation('What is here, for models', body('Markdown', TEXT, 'text/plain')),
  openapi: serviceOperation('This description', body('OpenAPI 3.1', { type: 'object' })),
}

/** The operations of each tool. */
export function describeTools(tools: readonly Tool[]): Description {
  const schemas: Record<string, unknown> = {}
  const named = new Map(tools.map((tool): [string, MethodOperations] => (
    [tool.name, { get: shownOperation(tool), post: callOperation(tool, schemas) }]
  )))
  return { named, components: { schemas } }
}

function shownOperation({ name }: Tool): DocumentPart {
  const responses = { 200: body('The tool', 'Tool'), ...failures('Problem') }
  return operation('Tools', `Describe ${name}`, responses, { operationId: `tool.${name}` })
}

function callOperation(
  { name, title, description, input, output, scopes }: Tool, schemas: Record<string, unknown>,
): DocumentPart {
  const result = output === undefined ? { description: 'A JSON value, or else text.' }
    : placed(output.json, `${name}.result`, schemas)
  const reply = objectOf('tool! result! content usage:Usage request_id!', {
    tool: { const: name },
    result,
    content: described(listOf('Content'), 'All that came, where it is more than text.'),
  })
  const scopesText = scopes.length === 0 ? '' : `Needs the scope ${scopes.join(' and the scope ')}.`
  const { required } = input.json
  return operation('Tools', title ?? `Call ${name}`, {
    200: wholeOrEventsBody('The result', reply, 'Events `progress` and `log`, then `done` or `error`.'),
    ...failures('Problem', { ...repeatProblems, ...argumentProblems }),
  }, {
    operationId: `call.${name}`,
    description: [description, scopesText].filter((one) => one !== '').join('\n\n') || undefined,
    parameters: [idempotencyParameter],
    requestBody: requestBody(
      placed(input.json, `${name}.arguments`, schemas), undefined,
      Array.isArray(required) && required.length > 0,
    ),
  })
}

/** The operation of each prompt. */
export function describePrompts(prompts: readonly Prompt[]): Description {
  return { named: new Map(prompts.map((prompt) => [prompt.name, { post: getOperation(prompt) }])) }
}

function getOperation({ name, title, description, arguments: args }: Prompt): DocumentPart {
  const properties = Object.fromEntries(args.map((one) => (
    [one.name, { ...TEXT, description: one.description }]
  )))
  const required = args.filter((one) => one.required === true).map((one) => one.name)
  return operation('Tools', title ?? `Get the prompt ${name}`, {
    200: body('The messages', 'PromptMessages'),
    ...failures('Problem', { ...runProblems, ...argumentProblems }),
  }, {
    operationId: `prompt.${name}`,
    description: description || undefined,
    requestBody: requestBody({ type: 'object', properties, required }, undefined, required.length > 0),
  })
}

/** The skills by their paths. */
export function describeSkills(skills: readonly ServedSkill[]): Description {
  return { named: new Map(skills.map(({ path, description }) => [path, {
    get: operation('Tools', `Describe the skill ${path}`, {
      200: body('The skill', 'Skill'), ...failures('Problem'),
    }, { operationId: `skill.${path.replaceAll('/', '.')}`, description }),
  }])) }
}

/** The files of the skills. */
export function describeSkillFiles(skills: readonly ServedSkill[]): Description {
  return { named: new Map(skills.map(({ path }) => [path, {
    get: operation('Tools', `Read a file of the skill ${path}`, {
      200: { description: 'What it holds, with its own media type', content: { '*/*': {} } },
      ...failures('Problem', { 404: 'There is no such file', ...endProblems }),
    }, { operationId: `skill.${path.replaceAll('/', '.')}.file` }),
  }])) }
}
