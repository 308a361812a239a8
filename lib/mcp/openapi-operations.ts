/**
 * What the OpenAPI description says of the MCP door's operations, as constants. What the messages are, the
 * protocol says.
 * Spec: OpenAPI 3.1.1 §4.8.
 */
import { JSON_TYPE } from '../wire/media.ts'
import { EVENT_STREAM } from '../wire/sse.ts'
import type { Components } from '../http/exchange.ts'

type Operation = Readonly<Record<string, unknown>>

const text: Operation = { type: 'string' }
const anything: Operation = { type: 'object' }
const id: Operation = { type: ['string', 'integer'] }

function reference(name: string): Operation {
  return { $ref: `#/components/schemas/${name}` }
}

/** What the operations refer to. */
export const mcpComponents: Components = {
  schemas: {
    McpRequest: {
      type: 'object',
      properties: { jsonrpc: { const: '2.0' }, id, method: text, params: anything },
      required: ['jsonrpc', 'method'],
    },
    McpAnswer: {
      type: 'object',
      properties: {
        jsonrpc: { const: '2.0' },
        id,
        result: anything,
        error: {
          type: 'object',
          properties: { code: { type: 'integer' }, message: text, data: {} },
          required: ['code', 'message'],
        },
      },
      required: ['jsonrpc'],
    },
  },
  responses: {
    McpError: {
      description: 'What went wrong', content: { [JSON_TYPE]: { schema: reference('McpAnswer') } },
    },
  },
}

function failures(meanings: Readonly<Record<number, string>>): Operation {
  const $ref = '#/components/responses/McpError'
  const known = Object.entries(meanings).map(([status, description]) => [status, { $ref, description }])
  return { ...Object.fromEntries(known), default: { $ref } }
}

const events: Operation = {
  description: 'Events',
  content: { [EVENT_STREAM]: { schema: { ...text, description: 'JSON-RPC messages.' } } },
}

function inHeader(name: string, description: string): Operation {
  return { name, in: 'header', schema: text, description }
}

const sessionParameter = inHeader('Mcp-Session-Id', 'Of `initialize`, where it gave one.')
const versionParameter = inHeader('MCP-Protocol-Version', 'The revision that was negotiated.')

/** `POST` of a message. */
export const callOperation: Operation = {
  tags: ['MCP'],
  summary: 'Send a JSON-RPC message',
  description: 'The Model Context Protocol: `initialize`, `tools/list`, `tools/call` and the rest.',
  parameters: [sessionParameter, versionParameter],
  requestBody: {
    required: true,
    content: {
      [JSON_TYPE]: {
        schema: reference('McpRequest'), example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      },
    },
  },
  responses: {
    200: {
      description: 'The answer, with `result` or with `error`',
      content: {
        [JSON_TYPE]: { schema: reference('McpAnswer') },
        [EVENT_STREAM]: { schema: { ...text, description: 'JSON-RPC messages, the answer last.' } },
      },
    },
    202: { description: 'Taken; no answer is owed' },
    ...failures({
      400: 'The message is malformed, or for a revision that is not spoken',
      404: 'There is no such session',
      406: 'Accept wants neither JSON nor events',
      413: 'The body is too large',
      415: 'The body is not application/json',
      503: 'The server is full or closing down; try again when Retry-After says',
    }),
  },
}

/** `POST` of a message of the oldest transport. */
export const postOperation: Operation = {
  ...callOperation,
  summary: 'Send a JSON-RPC message of the oldest transport',
  description: 'With the `session_id` of a stream at `/sse` the answer comes there; without, it comes here.',
  parameters: [{ name: 'session_id', in: 'query', schema: text, description: 'Of the stream.' }],
}

/** `GET` of what a server says of its own accord. */
export const streamOperation: Operation = {
  tags: ['MCP'],
  summary: 'The stream of a session',
  parameters: [
    { ...sessionParameter, required: true }, versionParameter,
    inHeader('Last-Event-ID', 'Goes on behind this event.'),
  ],
  responses: {
    200: events,
    ...failures({
      400: 'No session is named', 404: 'There is no such session', 406: 'Accept wants no events',
    }),
  },
}

/** `GET` of a session of the oldest transport. */
export const pairOperation: Operation = {
  tags: ['MCP'],
  summary: 'A session of the oldest transport',
  responses: { 200: events, ...failures({ 406: 'Accept wants no events', 503: 'The server is full' }) },
}

/** `DELETE` of a session. */
export const endOperation: Operation = {
  tags: ['MCP'],
  summary: 'End a session',
  parameters: [{ ...sessionParameter, required: true }, versionParameter],
  responses: {
    204: { description: 'Ended' },
    ...failures({ 400: 'No session is named', 404: 'There is no such session' }),
  },
}

/** `GET` of what protects the door. */
export const metadataOperation: Operation = {
  tags: ['MCP'],
  summary: 'Where tokens for this server come from',
  description: 'RFC 9728.',
  responses: {
    200: {
      description: 'The metadata',
      content: {
        [JSON_TYPE]: {
          schema: {
            type: 'object',
            properties: {
              resource: text,
              authorization_servers: { type: 'array', items: text },
              scopes_supported: { type: 'array', items: text },
              bearer_methods_supported: { type: 'array', items: text },
              resource_name: text,
              resource_documentation: text,
            },
            required: ['resource', 'authorization_servers'],
          },
        },
      },
    },
    default: { $ref: '#/components/responses/Problem' },
  },
}
