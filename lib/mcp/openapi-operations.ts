/**
 * What the OpenAPI description says of the MCP door's operations, as constants. What the messages are, the
 * protocol says.
 * Spec: OpenAPI 3.1.1 §4.8.
 */
import { JSON_TYPE } from '../wire/media.ts'
import {
  described, failures, headerParameter, jsonBody, jsonOrEvents, listOf, objectOf, schemaReference,
} from '../wire/openapi.ts'
import { EVENT_STREAM } from '../wire/sse.ts'
import type { Components } from '../http/exchange.ts'
import type { DocumentPart } from '../wire/openapi.ts'

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

const sessionParameter = headerParameter('Mcp-Session-Id', text, 'Of `initialize`, where it gave one.')
const versionParameter = headerParameter('MCP-Protocol-Version', text, 'The revision that was negotiated.')

/** `POST` of a message. */
export const callOperation: DocumentPart = {
  tags: ['MCP'],
  summary: 'Send a JSON-RPC message',
  description: 'The Model Context Protocol: `initialize`, `tools/list`, `tools/call` and the rest.',
  parameters: [sessionParameter, versionParameter],
  requestBody: {
    required: true,
    content: {
      [JSON_TYPE]: {
        schema: schemaReference('McpRequest'), example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      },
    },
  },
  responses: {
    200: {
      description: 'The answer, with `result` or with `error`',
      content: jsonOrEvents(schemaReference('McpAnswer'), 'JSON-RPC messages, the answer last.'),
    },
    202: { description: 'Taken; no answer is owed' },
    ...failures('McpError', {
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
export const postOperation: DocumentPart = {
  ...callOperation,
  summary: 'Send a JSON-RPC message of the oldest transport',
  description: 'With the `session_id` of a stream at `/sse` the answer comes there; without, it comes here.',
  parameters: [{ name: 'session_id', in: 'query', schema: text, description: 'Of the stream.' }],
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
