/**
 * What the OpenAPI description says of the MCP door's operations, as constants. What the messages are, the
 * protocol says.
 * Spec: OpenAPI 3.1.1 §4.8.
 */
import { JSON_TYPE } from '../../wire/media.ts'
import {
  described, failures, headerParameter, jsonBody, jsonOrEvents, listOf, objectOf, schemaReference,
} from '../../wire/openapi.ts'
import { EVENT_STREAM } from '../../wire/sse.ts'
import type { Components } from '../../http/message/exchange.ts'
import type { DocumentPart } from '../../wire/openapi.ts'

const text: DocumentPart = { type: 'string' }
const anything: DocumentPart = { type: 'object' }
const id: DocumentPart = { type: ['string', 'integer'] }

/** What the operations refer to. */
export const mcpComponents: Components = {
  schemas: {
    McpRequest: objectOf(
      { jsonrpc: { const: '2.0' }, id, method: text, params: anything }, 'jsonrpc', 'method',
    ),
    McpAnswer: objectOf({
      jsonrpc: { const: '2.0' },
      id,
      result: anything,
      error: objectOf({ code: { type: 'integer' }, message: text, data: {} }, 'code', 'message'),
    }, 'jsonrpc'),
  },
  responses: { McpError: jsonBody('What went wrong', schemaReference('McpAnswer')) },
}

const events: DocumentPart = {
  description: 'Events',
  content: { [EVENT_STREAM]: { schema: described(text, 'JSON-RPC messages.') } },
}

/** Any of these, or a batch of them. */
function orBatch(name: string): DocumentPart {
  return { oneOf: [schemaReference(name), { ...listOf(schemaReference(name)), minItems: 1 }] }
}

const refusals: Readonly<Record<number, string>> = {
  400: 'The message is malformed, a batch that its revision does not have, or for a revision not spoken here',
  404: 'There is no such session',
  413: 'The body is too large',
  415: 'The body is not application/json',
  503: 'The server is full or closing down; try again when Retry-After says',
}

const sessionParameter = headerParameter('Mcp-Session-Id', text, 'Of `initialize`, where it gave one.')
const versionParameter = headerParameter('MCP-Protocol-Version', text, 'The revision that was negotiated.')

/** `POST` of a message. */
export const callOperation: DocumentPart = {
  tags: ['MCP'],
  summary: 'Send a JSON-RPC message',
  description: 'The Model Context Protocol: `initialize`, `tools/list`, `tools/call` and the rest. In '
    + 'revision 2025-03-26, which is also meant where neither a session nor a revision is named, the body '
    + 'may be a JSON-RPC batch: a list of messages, answered with a list, or with an event for each.',
  parameters: [sessionParameter, versionParameter],
  requestBody: {
    required: true,
    content: {
      [JSON_TYPE]: {
        schema: orBatch('McpRequest'), example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      },
    },
  },
  responses: {
    200: {
      description: 'The answer, with `result` or with `error`',
      content: jsonOrEvents(orBatch('McpAnswer'), 'JSON-RPC messages, the answer last.'),
    },
    202: { description: 'Taken; no answer is owed' },
    ...failures('McpError', { ...refusals, 406: 'Accept wants neither JSON nor events' }),
  },
}

/** `POST` of a message of the oldest transport. */
export const postOperation: DocumentPart = {
  ...callOperation,
  summary: 'Send a JSON-RPC message of the oldest transport',
  description: 'With the `session_id` of a stream at `/sse` the answer comes there; without, it comes here. '
    + 'Where that session is of revision 2025-03-26 the body may be a JSON-RPC batch: a list of messages, '
    + 'answered there with a list.',
  parameters: [{ name: 'session_id', in: 'query', schema: text, description: 'Of the stream.' }],
  responses: {
    200: jsonBody('The answer, with `result` or with `error`', schemaReference('McpAnswer')),
    202: {
      description: 'Taken; what is owed for it comes on the stream',
      content: { 'text/plain': { schema: text } },
    },
    ...failures('McpError', refusals),
  },
}

/** `GET` of what a server says of its own accord. */
export const streamOperation: DocumentPart = {
  tags: ['MCP'],
  summary: 'The stream of a session',
  parameters: [
    { ...sessionParameter, required: true }, versionParameter,
    headerParameter('Last-Event-ID', text, 'Goes on behind this event.'),
  ],
  responses: {
    200: events,
    ...failures('McpError', {
      400: 'No session is named', 404: 'There is no such session', 406: 'Accept wants no events',
    }),
  },
}

/** `GET` of a session of the oldest transport. */
export const pairOperation: DocumentPart = {
  tags: ['MCP'],
  summary: 'A session of the oldest transport',
  responses: {
    200: events, ...failures('McpError', { 406: 'Accept wants no events', 503: 'The server is full' }),
  },
}

/** `DELETE` of a session. */
export const endOperation: DocumentPart = {
  tags: ['MCP'],
  summary: 'End a session',
  parameters: [{ ...sessionParameter, required: true }, versionParameter],
  responses: {
    204: { description: 'Ended' },
    ...failures('McpError', { 400: 'No session is named', 404: 'There is no such session' }),
  },
}

/** `GET` of what protects the door. */
export const metadataOperation: DocumentPart = {
  tags: ['MCP'],
  summary: 'Where tokens for this server come from',
  description: 'RFC 9728.',
  responses: {
    200: jsonBody('The metadata', objectOf({
      resource: text,
      authorization_servers: listOf(text),
      scopes_supported: listOf(text),
      bearer_methods_supported: listOf(text),
      resource_name: text,
      resource_documentation: text,
    }, 'resource', 'authorization_servers')),
    ...failures('Problem'),
  },
}
