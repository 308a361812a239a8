/**
 * The schemas and responses that operations of the HTTP door refer to, as constants, and the choice of those
 * that a description needs.
 * Spec: OpenAPI 3.1.1 §4.8.7.
 */
import { CONVERSATION_ID } from '../../state/conversation.ts'
import { described, listOf, objectOf, schemaReference } from '../../wire/openapi.ts'
import { PROBLEM_JSON } from '../../wire/problem.ts'
import type { Components } from '../../http/message/exchange.ts'
import type { DocumentPart } from '../../wire/openapi.ts'

const text: DocumentPart = { type: 'string' }
const count: DocumentPart = { type: 'integer', minimum: 0 }
const anything: DocumentPart = { type: 'object' }

/** What the lists of MCP's things have in common. */
const shown: DocumentPart = {
  name: text, title: text, description: text, icons: listOf(anything), _meta: anything,
}
const annotations = anything
const storeState: DocumentPart = {
  enum: ['reached', 'away'], description: 'Of the store that is shared with other processes.',
}

const inText = 'What you want to know'
const otherName = { ...text, minLength: 1, description: `${inText}, for clients that call it so.` }

const schemas: DocumentPart = {
  Query: {
    type: 'object',
    description: 'One of `query`, `message`, `prompt`, `input` and `messages`, and what belongs to it.',
    properties: {
      query: { ...text, minLength: 1, description: `${inText}.` },
      message: otherName,
      prompt: otherName,
      input: otherName,
      messages: described({
        ...listOf(objectOf({
          role: { enum: ['user', 'assistant', 'system'] },
          content: { oneOf: [text, listOf(objectOf({ type: { const: 'text' }, text }, 'type', 'text'))] },
        }, 'role', 'content')),
        minItems: 1,
      }, 'A whole conversation: the last user message is the query.'),
      session_id: { ...text, pattern: CONVERSATION_ID.source, description: 'Goes on with a conversation.' },
      metadata: described(anything, 'Handed to the agent as it is.'),
      stream: { type: 'boolean', description: 'Answer with events.' },
    },
  },
  Reply: objectOf({
    response: described(text, 'What the agent said.'),
    agent: text,
    query: text,
    session_id: described(text, 'Send it with the next query to go on.'),
    request_id: text,
    data: { description: 'Structured output, where the agent gives some.' },
    content: described(listOf(schemaReference('Content')), 'What there is besides text.'),
    state: { enum: ['input-required', 'auth-required'], description: 'The agent wants to hear more.' },
    results: described(
      listOf(objectOf({ agent: text, response: text, error: text }, 'agent')),
      'What each agent of a group said, or why it failed.',
    ),
    final_response: described(text, 'The reply of a group; the same as `response`.'),
  }, 'response', 'agent', 'query', 'session_id', 'request_id'),
  Content: objectOf({
    type: { enum: ['text', 'image', 'audio', 'resource', 'resource_link', 'data'] },
    text,
    data: { description: 'Base64 of an image or a sound, or a JSON value.' },
    mimeType: text,
    resource: objectOf({ uri: text, mimeType: text, text, blob: text }, 'uri'),
    uri: text,
    name: text,
  }, 'type'),
  Agent: objectOf({
    id: text, name: text, description: text,
    skills: listOf(objectOf({
      id: text, name: text, description: text, tags: listOf(text), examples: listOf(text),
    }, 'id', 'name', 'description')),
  }, 'id', 'name', 'description'),
  Agents: objectOf({ agents: listOf(schemaReference('Agent')) }, 'agents'),
  Tool: objectOf({
    ...shown,
    inputSchema: described(anything, 'JSON Schema of the arguments.'),
    outputSchema: described(anything, 'JSON Schema of the result.'),
    annotations,
  }, 'name', 'inputSchema'),
  Tools: objectOf({ tools: listOf(schemaReference('Tool')) }, 'tools'),
  Resource: objectOf({ uri: text, ...shown, mimeType: text, size: count, annotations }, 'uri', 'name'),
  ResourceTemplate: objectOf(
    { uriTemplate: text, ...shown, mimeType: text, annotations }, 'uriTemplate', 'name',
  ),
  Resources: objectOf({
    resources: listOf(schemaReference('Resource')),
    resourceTemplates: listOf(schemaReference('ResourceTemplate')),
  }, 'resources', 'resourceTemplates'),
  Prompt: objectOf({
    ...shown,
    arguments: listOf(
      objectOf({ name: text, title: text, description: text, required: { type: 'boolean' } }, 'name'),
    ),
  }, 'name', 'arguments'),
  Prompts: objectOf({ prompts: listOf(schemaReference('Prompt')) }, 'prompts'),
  PromptMessages: objectOf({
    description: text,
    messages: listOf(objectOf({
      role: { enum: ['user', 'assistant'] }, content: schemaReference('Content'),
    }, 'role', 'content')),
  }, 'messages'),
  Welcome: objectOf({ message: text, endpoints: listOf(text), docs: text }, 'message', 'endpoints', 'docs'),
  Health: objectOf({
    status: { const: 'ok' }, endpoints: listOf(text), name: text, version: text, store: storeState,
  }, 'status', 'endpoints', 'name', 'version'),
  Ready: objectOf({ status: { const: 'ready' }, store: storeState }, 'status'),
  Problem: {
    ...objectOf({
      type: text,
      title: text,
      status: { type: 'integer' },
      detail: text,
      error: text,
      request_id: text,
      errors: listOf(objectOf({ path: text, message: text }, 'path', 'message')),
    }, 'type', 'title', 'status', 'detail', 'error', 'request_id'),
    description: 'RFC 9457. `detail` and `error` are the same sentence; further members say more.',
  },
}

/** What operations of all doors may refer to. */
export const ownComponents: Components = {
  schemas,
  responses: {
    Problem: {
      description: 'What went wrong', content: { [PROBLEM_JSON]: { schema: schemaReference('Problem') } },
    },
  },
}

const REFERENCE = /^#\/components\/(schemas|responses)\/([^/]+)/

/** The components that a part of a document refers to, and those that they refer to themselves. */
export function componentsFor(part: unknown, pools: readonly Components[]): Components {
  const picked = { schemas: {}, responses: {} }
  const pick = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (name === '$ref' && typeof member === 'string') follow(member)
      else pick(member)
    }
  }
  const follow = (reference: string): void => {
    const [, kind, name = ''] = REFERENCE.exec(reference) ?? []
    if (kind !== 'schemas' && kind !== 'responses') return
    const known: Record<string, unknown> = picked[kind]
    if (Object.hasOwn(known, name)) return
    const pool = pools.find((one) => Object.hasOwn(one[kind] ?? {}, name))
    if (pool === undefined) return
    known[name] = pool[kind]?.[name]
    pick(known[name])
  }
  pick(part)
  return picked
}
