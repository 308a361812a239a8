/**
 * What the OpenAPI description says of tools, resources and prompts: of each tool and prompt what it takes
 * and gives itself.
 * Spec: OpenAPI 3.1.1 §4.8.
 */
import { JSON_TYPE } from '../../wire/media.ts'
import { jsonBody, objectOf, schemaReference } from '../../wire/openapi.ts'
import {
  documentOperation, endProblems, idempotencyParameter, problems, repeatProblems, runProblems,
  wholeOrEventsBody,
} from './openapi-operations.ts'
import { placed } from './openapi-schema.ts'
import type { Prompt } from '../../define/prompt.ts'
import type { Tool } from '../../define/tool.ts'
import type { Description, MethodOperations } from '../../http/message/exchange.ts'
import type { DocumentPart } from '../../wire/openapi.ts'

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
