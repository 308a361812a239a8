/**
 * What the OpenAPI description says of the HTTP door's own operations, as constants.
 * Spec: OpenAPI 3.1.1 §4.8.
 */
import { CONVERSATION_ID } from '../../state/conversation.ts'
import { IDEMPOTENCY_KEY } from '../../state/idempotency.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import {
  failures, headerParameter, jsonBody, jsonOrEvents, objectOf, schemaReference,
} from '../../wire/openapi.ts'
import { placed } from './openapi-schema.ts'
import type { Prompt } from '../../define/prompt.ts'
import type { Tool } from '../../define/tool.ts'
import type { Description, MethodOperations } from '../../http/message/exchange.ts'
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

const tag = 'Tools'
const tags = [tag]
const text: DocumentPart = { type: 'string' }
const argumentProblems = { 422: 'The arguments are wrong, and `errors` lists how' }

/** `GET` of the tools. */
export const toolsOperation: DocumentPart = documentOperation(tag, 'List the tools', 'The tools', 'Tools')

/** `GET` of the resources. */
export const resourcesOperation: DocumentPart = documentOperation(
  tag, 'List the resources', 'The resources and the templates', 'Resources',
)

/** `GET` of the prompts. */
export const promptsOperation: DocumentPart = documentOperation(
  tag, 'List the prompts', 'The prompts', 'Prompts',
)

/** `GET` of what a resource holds. */
export const readOperation: DocumentPart = {
  tags,
  summary: 'Read a resource',
  parameters: [{
    name: 'uri', in: 'query', required: true, schema: { type: 'string', format: 'uri' },
    description: 'One of the list, or one that fits a template.',
  }],
  responses: {
    200: {
      description: 'What it holds, with its own media type; several contents are a JSON object',
      content: { '*/*': {}, [JSON_TYPE]: {} },
    },
    ...problems({
      404: 'There is no such resource',
      413: 'What it holds is too large',
      422: 'The parameter `uri` is missing or malformed',
      ...endProblems,
    }),
  },
}

/** A call of each tool, and each tool itself. */
export function describeTools(tools: readonly Tool[]): Description {
  const schemas: Record<string, unknown> = {}
  const named = new Map(tools.map((tool): [string, MethodOperations] => (
    [tool.name, { get: shownOperation(tool), post: callOperation(tool, schemas) }]
  )))
  return { named, components: { schemas } }
}

function shownOperation({ name }: Tool): DocumentPart {
  const responses = { 200: jsonBody('The tool', schemaReference('Tool')), ...problems() }
  return { tags, operationId: `tool.${name}`, summary: `Describe ${name}`, responses }
}

function callOperation(
  { name, title, description, input, output, scopes }: Tool, schemas: Record<string, unknown>,
): DocumentPart {
  const result = output === undefined ? { description: 'A JSON value, or else text.' }
    : placed(output.json, `${name}.result`, schemas)
  const content = {
    type: 'array',
    items: schemaReference('Content'),
    description: 'All that came, where it is more than text.',
  }
  const reply = objectOf(
    { tool: { const: name }, result, content, request_id: text }, 'tool', 'result', 'request_id',
  )
  const needed = scopes.length === 0 ? '' : `Needs the scope ${scopes.join(' and the scope ')}.`
  const said = [description, needed].filter((one) => one !== '').join('\n\n')
  return {
    tags,
    operationId: `call.${name}`,
    summary: title ?? `Call ${name}`,
    ...said !== '' && { description: said },
    parameters: [idempotencyParameter],
    requestBody: {
      required: Array.isArray(input.json['required']) && input.json['required'].length > 0,
      content: { [JSON_TYPE]: { schema: placed(input.json, `${name}.arguments`, schemas) } },
    },
    responses: {
      200: wholeOrEventsBody('The result', reply, 'Events `progress` and `log`, then `done` or `error`.'),
      ...problems({ ...repeatProblems, ...argumentProblems }),
    },
  }
}

/** Getting each prompt. */
export function describePrompts(prompts: readonly Prompt[]): Description {
  return {
    named: new Map(prompts.map((prompt) => [prompt.name, { post: getOperation(prompt) }])),
  }
}

function getOperation({ name, title, description, arguments: args }: Prompt): DocumentPart {
  const properties = Object.fromEntries(args.map((argument) => [
    argument.name,
    { ...text, ...argument.description !== undefined && { description: argument.description } },
  ]))
  const required = args.filter((argument) => argument.required === true).map((argument) => argument.name)
  return {
    tags,
    operationId: `prompt.${name}`,
    summary: title ?? `Get the prompt ${name}`,
    ...description !== '' && { description },
    requestBody: {
      required: required.length > 0, content: { [JSON_TYPE]: { schema: objectOf(properties, ...required) } },
    },
    responses: {
      200: jsonBody('The messages', schemaReference('PromptMessages')),
      ...problems({ ...runProblems, ...argumentProblems }),
    },
  }
}

/** An operation of the server itself, that needs nothing. */
export function serviceOperation(
  summary: string, response: DocumentPart, more: Readonly<Record<number, unknown>> = {},
): DocumentPart {
  return { tags: ['Service'], summary, responses: { 200: response, ...more, ...problems() } }
}

/** `GET` of what there is. */
export const welcomeOperation: DocumentPart = serviceOperation(
  'Welcome', jsonBody('What there is', schemaReference('Welcome')),
  { 303: { description: 'A browser is sent to the page', headers: { Location: { schema: text } } } },
)

/** `GET` of whether the server is up. */
export const healthOperation: DocumentPart = {
  ...serviceOperation('Whether the server is up', jsonBody('It is', schemaReference('Health'))),
  parameters: [{
    name: 'verbose', in: 'query', allowEmptyValue: true, schema: text,
    description: 'Tells how the store is that is shared with others, too.',
  }],
}

/** `GET` of whether it takes work. */
export const readyOperation: DocumentPart = serviceOperation(
  'Whether the server takes work', jsonBody('It does', schemaReference('Ready')),
  problems({ 503: 'It is closing down' }),
)

/** `GET` of the page. */
export const docsOperation: DocumentPart = serviceOperation(
  'Interactive documentation', { description: 'A page', content: { 'text/html': { schema: text } } },
  { 304: { description: 'The client has it already' } },
)

/** `GET` of the description. */
export const openapiOperation: DocumentPart = serviceOperation(
  'This description', jsonBody('OpenAPI 3.1', { type: 'object' }),
)
