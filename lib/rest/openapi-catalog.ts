/**
 * What the OpenAPI description says of tools, resources and prompts: of each tool and prompt what it takes
 * and gives itself.
 * Spec: OpenAPI 3.1.1 §4.8.
 */
import { JSON_TYPE } from '../wire/media.ts'
import { EVENT_STREAM } from '../wire/sse.ts'
import { jsonBody, problems } from './openapi-operations.ts'
import { placed } from './openapi-schema.ts'
import type { Prompt } from '../core/prompt.ts'
import type { Tool } from '../core/tool.ts'
import type { Description, MethodOperations } from '../http/exchange.ts'
import type { DocumentPart } from './openapi-operations.ts'

const tags = ['Tools']
const text: DocumentPart = { type: 'string' }

function objectOf(properties: DocumentPart, ...required: readonly string[]): DocumentPart {
  return { type: 'object', properties, required }
}

function listOf(member: string, ...more: readonly string[]): DocumentPart {
  const items = { type: 'array', items: { type: 'object' } }
  const names = [member, ...more]
  return objectOf(Object.fromEntries(names.map((name) => [name, items])), ...names)
}

/** `GET` of the tools. */
export const toolsOperation: DocumentPart = {
  tags, summary: 'List the tools', responses: { 200: jsonBody('The tools', listOf('tools')), ...problems },
}

/** `GET` of the resources. */
export const resourcesOperation: DocumentPart = {
  tags,
  summary: 'List the resources',
  responses: {
    200: jsonBody('The resources and the templates', listOf('resources', 'resourceTemplates')), ...problems,
  },
}

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
    ...problems,
  },
}

/** `GET` of the prompts. */
export const promptsOperation: DocumentPart = {
  tags,
  summary: 'List the prompts',
  responses: { 200: jsonBody('The prompts', listOf('prompts')), ...problems },
}

/** A call of each tool, and each tool itself. */
export function describeTools(tools: readonly Tool[]): Description {
  const schemas: Record<string, unknown> = {}
  const operations = new Map(tools.map((tool): [string, MethodOperations] => (
    [tool.name, { get: shownOperation(tool), post: callOperation(tool, schemas) }]
  )))
  return { operations, schemas }
}

function shownOperation({ name }: Tool): DocumentPart {
  const shown = objectOf({ name: { const: name }, inputSchema: { type: 'object' } }, 'name', 'inputSchema')
  return { tags, summary: `Describe ${name}`, responses: { 200: jsonBody('The tool', shown), ...problems } }
}

function callOperation(
  { name, title, description, input, output }: Tool, schemas: Record<string, unknown>,
): DocumentPart {
  const result = output === undefined ? { description: 'A JSON value, or else text.' }
    : placed(output.json, `${name}.result`, schemas)
  const content = {
    type: 'array', items: { type: 'object' }, description: 'All that came, where it is more than text.',
  }
  const reply = objectOf(
    { tool: { const: name }, result, content, request_id: text }, 'tool', 'result', 'request_id',
  )
  return {
    tags,
    operationId: `call.${name}`,
    summary: title ?? `Call ${name}`,
    ...description !== '' && { description },
    requestBody: {
      required: Array.isArray(input.json['required']) && input.json['required'].length > 0,
      content: { [JSON_TYPE]: { schema: placed(input.json, `${name}.arguments`, schemas) } },
    },
    responses: {
      200: {
        description: 'The result',
        content: {
          [JSON_TYPE]: { schema: reply },
          [EVENT_STREAM]: {
            schema: {
              type: 'string', description: 'Events `progress` and `log`, then `done` or `error`.',
            },
          },
        },
      },
      ...problems,
    },
  }
}

/** Getting each prompt. */
export function describePrompts(prompts: readonly Prompt[]): Description {
  return {
    operations: new Map(prompts.map((prompt) => [prompt.name, { post: getOperation(prompt) }])), schemas: {},
  }
}

function getOperation({ name, title, description, arguments: args }: Prompt): DocumentPart {
  const properties = Object.fromEntries(args.map((argument) => [
    argument.name,
    { ...text, ...argument.description !== undefined && { description: argument.description } },
  ]))
  const required = args.filter((argument) => argument.required === true).map((argument) => argument.name)
  const message = objectOf(
    { role: { enum: ['user', 'assistant'] }, content: { type: 'object' } }, 'role', 'content',
  )
  const messages = { type: 'array', items: message }
  return {
    tags,
    operationId: `get.${name}`,
    summary: title ?? `Get the prompt ${name}`,
    ...description !== '' && { description },
    requestBody: {
      required: required.length > 0, content: { [JSON_TYPE]: { schema: objectOf(properties, ...required) } },
    },
    responses: {
      200: jsonBody('The messages', objectOf({ description: text, messages }, 'messages')), ...problems,
    },
  }
}
