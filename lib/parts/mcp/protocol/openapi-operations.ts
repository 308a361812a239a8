/**
 * What the OpenAPI description lists of MCP. The messages themselves are defined by the protocol.
 */
import {
  body, described, failures, headerParameter, jsonOrEvents, listOf, objectOf, operation, requestBody,
  schemaReference, TEXT,
} from '../../../floors/openapi/openapi.ts'
import { EVENT_STREAM } from '../../../kernel/wire/sse.ts'
import type { Components } from '../../../kernel/http/message/exchange.ts'
import type { DescribedOperations } from '../../../floors/openapi/describer.ts'
import type { DocumentPart, Meanings } from '../../../floors/openapi/openapi.ts'

const rpc = { jsonrpc: { const: '2.0' }, id: { type: ['string', 'integer'] } }

const components: Components = {
  schemas: {
    McpRequest: objectOf('jsonrpc! id method! params:object', rpc),
    McpAnswer: objectOf('jsonrpc! id result:object error', {
      ...rpc, error: objectOf('code!:integer message! data', { data: {} }),
    }),
  },
  responses: { McpError: body('What went wrong', 'McpAnswer') },
  tags: { MCP: { description: 'The Model Context Protocol.', rank: 4 } },
}

const events = body('Events', described(TEXT, 'JSON-RPC messages.'), EVENT_STREAM)

function orBatch(name: string): DocumentPart {
  return { oneOf: [schemaReference(name), { ...listOf(name), minItems: 1 }] }
}

const refusals: Meanings = {
  400: 'The message is malformed, a batch that its revision does not have, or of an unknown revision',
  404: 'There is no such session',
  413: 'The body is too large',
  415: 'The body is not application/json',
  503: 'The server is full or closing down; try again when Retry-After says',
}
const sessionRefusals: Meanings = { 400: 'No session is named', 404: 'There is no such session' }

const sessionParameter = headerParameter('Mcp-Session-Id', TEXT, 'Of `initialize`, where it gave one.')
const versionParameter = headerParameter('MCP-Protocol-Version', TEXT, 'The revision that was negotiated.')
const sessionParameters = [{ ...sessionParameter, required: true }, versionParameter]
const message = requestBody(
  orBatch('McpRequest'), { jsonrpc: '2.0', id: 1, method: 'tools/list' }, true,
)

type OperationName = 'call' | 'post' | 'stream' | 'legacySse' | 'end' | 'serverCard'

const operations: Readonly<Record<OperationName, DocumentPart>> = {
  /** `POST /mcp` */
  call: operation('MCP', 'Send a JSON-RPC message', {
    200: {
      description: 'The answer, with `result` or with `error`',
      content: jsonOrEvents(orBatch('McpAnswer'), 'JSON-RPC messages, the answer last.'),
    },
    202: { description: 'Taken; no answer is owed' },
    ...failures('McpError', { ...refusals, 406: 'Accept wants neither JSON nor events' }),
  }, {
    description: 'The Model Context Protocol: `initialize`, `tools/list`, `tools/call` and the rest. In '
      + 'revision 2025-03-26, which is also meant where neither a session nor a revision is named, the body '
      + 'may be a JSON-RPC batch: a list of messages, answered with a list, or with an event for each.',
    parameters: [sessionParameter, versionParameter],
    requestBody: message,
  }),
  /** `POST /messages` */
  post: operation(
    'MCP', 'Send a JSON-RPC message of the oldest transport',
    {
      200: body('The answer, with `result` or with `error`', 'McpAnswer'),
      202: body('Taken; what is owed for it comes on the stream', TEXT, 'text/plain'),
      ...failures('McpError', refusals),
    },
    {
      description: 'With the `session_id` of a stream at `/sse` the answer comes there; without, it comes '
        + 'here. Where that session is of revision 2025-03-26 the body may be a JSON-RPC batch: a list of '
        + 'messages, answered there with a list.',
      parameters: [{ name: 'session_id', in: 'query', schema: TEXT, description: 'Of the stream.' }],
      requestBody: message,
    },
  ),
  /** `GET /mcp` */
  stream: operation(
    'MCP', 'The stream of a session',
    { 200: events, ...failures('McpError', { ...sessionRefusals, 406: 'Accept wants no events' }) },
    {
      parameters: [
        ...sessionParameters, headerParameter('Last-Event-ID', TEXT, 'Goes on behind this event.'),
      ],
    },
  ),
  /** `GET /sse` */
  legacySse: operation('MCP', 'A session of the oldest transport', {
    200: events, ...failures('McpError', { 406: 'Accept wants no events', 503: 'The server is full' }),
  }),
  /** `DELETE /mcp` */
  end: operation(
    'MCP', 'End a session',
    { 200: { description: 'Ended' }, ...failures('McpError', sessionRefusals) },
    { parameters: sessionParameters },
  ),
  /** `GET` of the server card, and of the catalog that leads to it. */
  serverCard: operation(
    'MCP', 'What this server is, before a client connects',
    {
      200: body('The document', { type: 'object' }),
      304: { description: 'Unchanged' },
      ...failures('Problem'),
    },
    { description: 'SEP-2127, a draft.' },
  ),
}

export const mcpOperations: DescribedOperations<OperationName> = { operations, components }
