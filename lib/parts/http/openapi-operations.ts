/** What the OpenAPI description lists of plain HTTP: queries, the catalog, and conversations. */
import { CONVERSATION_ID } from '../../floors/conversations/conversation-page.ts'
import {
  described, documentOperation, failures, headerParameter, listOf, objectOf, operation, requestBody, TEXT,
} from '../../floors/openapi/openapi.ts'
import { placed } from '../../floors/openapi/openapi-schema.ts'
import {
  endProblems, idempotencyParameter, limitParameter, repeatProblems, runProblems, wholeOrEventsBody,
} from '../../floors/reply/openapi-runs.ts'
import { JSON_TYPE } from '../../kernel/wire/media.ts'
import { httpComponents } from './openapi-components.ts'
import type { DocumentPart, Meanings } from '../../floors/openapi/openapi.ts'
import type { DescribedOperations } from '../../floors/openapi/describer.ts'
import type { Prompt } from '../../kernel/define/prompt.ts'
import type { Tool } from '../../kernel/define/tool.ts'
import type { Description, MethodOperations } from '../../kernel/http/message/exchange.ts'

/** What is said of a skill, by its path. */
interface DescribedSkill { readonly path: string; readonly description: string }

const storeProblem: Meanings = { 503: 'The store cannot be reached; try again when Retry-After says' }
const NO_CONVERSATION = 'You have no such conversation'
const argumentProblems: Meanings = { 422: 'The arguments are wrong, and `errors` lists how' }

const sessionId = { ...TEXT, pattern: CONVERSATION_ID.source }

type OperationName = 'query' | 'agents' | 'agent' | 'conversations' | 'conversation' | 'removeConversation'
  | 'tools' | 'prompts' | 'resources' | 'readResource' | 'skills'

const operations: Readonly<Record<OperationName, DocumentPart>> = {
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
  conversations: documentOperation(
    'HTTP', 'List your conversations', 'A page, the one that was used last first', 'Conversations', 'Problem',
    { 422: 'The limit or the cursor is wrong', ...storeProblem }, {
      parameters: [limitParameter, {
        name: 'cursor', in: 'query', schema: TEXT, description: 'The `next_cursor` of the page before.',
      }],
    },
  ),
  conversation: documentOperation(
    'HTTP', 'Read a conversation', 'Its messages, the oldest first', 'Conversation', 'Problem',
    { 404: NO_CONVERSATION, ...storeProblem },
  ),
  removeConversation: operation('HTTP', 'Forget a conversation', {
    204: { description: 'It is forgotten' },
    ...failures('Problem', { 404: NO_CONVERSATION, ...storeProblem }),
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
}

/** The operations that are the same on every server. */
export const httpOperations: DescribedOperations<OperationName> = { operations, components: httpComponents }

/** The operations of each tool. */
export function describeTools(tools: readonly Tool[]): Description {
  const schemas: Record<string, unknown> = {}
  const named = new Map(tools.map((tool): [string, MethodOperations] => (
    [tool.name, { get: shownOperation(tool), post: callOperation(tool, schemas) }]
  )))
  return { named, components: { ...httpComponents, schemas: { ...httpComponents.schemas, ...schemas } } }
}

function shownOperation({ name }: Tool): DocumentPart {
  const more = { operationId: `tool.${name}` }
  return documentOperation('Tools', `Describe ${name}`, 'The tool', 'Tool', 'Problem', {}, more)
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
  const named = new Map(prompts.map((prompt) => [prompt.name, { post: getOperation(prompt) }]))
  return { named, components: httpComponents }
}

function getOperation({ name, title, description, arguments: args }: Prompt): DocumentPart {
  const properties = Object.fromEntries(args.map((one) => (
    [one.name, { ...TEXT, description: one.description }]
  )))
  const required = args.filter((one) => one.required === true).map((one) => one.name)
  const summary = title ?? `Get the prompt ${name}`
  const problems = { ...runProblems, ...argumentProblems }
  return documentOperation('Tools', summary, 'The messages', 'PromptMessages', 'Problem', problems, {
    operationId: `prompt.${name}`,
    description: description || undefined,
    requestBody: requestBody({ type: 'object', properties, required }, undefined, required.length > 0),
  })
}

/** The skills by their paths. */
export function describeSkills(skills: readonly DescribedSkill[]): Description {
  const named = new Map(skills.map(({ path, description }) => [path, {
    get: documentOperation('Tools', `Describe the skill ${path}`, 'The skill', 'Skill', 'Problem', {}, {
      operationId: `skill.${path.replaceAll('/', '.')}`, description,
    }),
  }]))
  return { named, components: httpComponents }
}

/** The files of the skills. */
export function describeSkillFiles(skills: readonly DescribedSkill[]): Description {
  const named = new Map(skills.map(({ path }) => [path, {
    get: operation('Tools', `Read a file of the skill ${path}`, {
      200: { description: 'What it holds, with its own media type', content: { '*/*': {} } },
      ...failures('Problem', { 404: 'There is no such file', ...endProblems }),
    }, { operationId: `skill.${path.replaceAll('/', '.')}.file` }),
  }]))
  return { named, components: httpComponents }
}
