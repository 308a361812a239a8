/**
 * MCP by hand: `initialize`, `tools/list` and `tools/call` over Streamable HTTP, in JSON or as an event.
 */
import { agent, tools } from '../author.js'
import { EventStream, randomId, requestId, send } from './reply.js'

const listed = [
  {
    name: 'execute_assistant_task',
    description: `Executes the primary task of Assistant with the given prompt. ${agent.description}`,
    inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    title: agent.name,
  },
  ...tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
]

const runs = new Map(tools.map(({ name, run }) => [name, run]))

/** `POST /mcp`. */
export function mcp(response, message, headers) {
  switch (message.method) {
    case 'initialize': return initialize(response, message)
    case 'tools/list': return send(response, requestId(), resultOf(message.id, { tools: listed }))
    case 'tools/call': return call(response, message, headers)
    default: response.writeHead(202, { 'X-Request-Id': requestId(), 'Content-Length': 0 }).end()
  }
}

/** `DELETE /mcp`. */
export function end(response) {
  response.writeHead(204, { 'X-Request-Id': requestId() }).end()
}

/** The text of a result. */
export function resultOf(id, result) {
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

/** What a tool gives: text, or a promise of it. */
export function runTool({ name, arguments: args }) {
  return runs.get(name)(args)
}

function initialize(response, { id, params }) {
  const result = {
    protocolVersion: params.protocolVersion,
    capabilities: { tools: { listChanged: true }, logging: {} },
    serverInfo: { name: agent.name, version: '1.0.0' },
  }
  send(response, requestId(), resultOf(id, result), { 'Mcp-Session-Id': randomId(24) })
}

function call(response, { id, params }, headers) {
  const isModern = headers['mcp-protocol-version'] === '2026-07-28'
  const answer = (text) => {
    const content = [{ type: 'text', text }]
    const body = resultOf(id, isModern ? stamped(content) : { content })
    if (headers.accept !== 'text/event-stream') return send(response, requestId(), body)
    const stream = new EventStream(response, requestId())
    stream.end(`data: ${body}\n\n`)
  }
  const text = runTool(params)
  if (text instanceof Promise) text.then(answer)
  else answer(text)
}

/** The result of a revision that has no sessions: it says who answers each time. */
function stamped(content) {
  return {
    resultType: 'complete',
    _meta: {
      'io.modelcontextprotocol/serverInfo': {
        name: agent.name, version: '1.0.0', description: agent.description,
      },
    },
    content,
  }
}
