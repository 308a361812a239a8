/**
 * What is measured, one entry a case: the request, how its answer is known to be right, and how a server
 * that is written by hand answers it.
 *
 * By hand means: what triport has to put together for each request, ids included, is put together there
 * too; only where triport may send the same bytes every time (health) are they kept.
 */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { add, ERRAND, FEW_PIECES, PIECES, run, SHORT_STORY, SLOW_STORY, STORY } from './author.js'

const JSON_TYPE = 'application/json'
const EVENT_STREAM = 'text/event-stream'

const mcpHeaders = { 'Content-Type': JSON_TYPE, 'Accept': `${JSON_TYPE}, ${EVENT_STREAM}` }

const health = JSON.stringify({
  status: 'ok',
  endpoints: [
    '/', '/health', '/healthz', '/ready', '/docs', '/openapi.json', '/agents', '/agents/list', '/tools',
    '/v1/models', '/v1/chat/completions', '/mcp', '/sse', '/messages/', '/messages', '/a2a', '/a2a/',
    '/.well-known/agent-card.json', '/.well-known/agent.json', '/a2a/.well-known/agent-card.json',
    '/a2a/.well-known/agent.json', '/message:send', '/message:stream', '/tasks', '/extendedAgentCard',
    '/status',
  ],
  name: 'Assistant',
  version: '1.0.0',
})

const listed = [
  {
    name: 'execute_assistant_task',
    description: 'Executes the primary task of Assistant with the given prompt. '
      + 'Repeats what it hears, or tells a story.',
    inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    title: 'Assistant',
  },
  ...Array.from({ length: 49 }, (_, index) => ({
    name: index === 0 ? 'add' : `add_${index + 1}`,
    description: 'Adds two numbers.',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
  })),
]

/**
 * `requests` is how many one slice of a round sends. `check` gets `{ status, lines, body }` and throws
 * where that is wrong. `answer` is the server by hand: response, parsed body, headers.
 */
export const cases = [
  // The agent returns a string, at once; then a promise of one.
  asked('post', 'What is the capital of France?', 3000),
  asked('post-async', ERRAND, 3000),
  // It tells a story of 200 pieces, which are all ready; then one in each turn of the event loop.
  streamed('stream', STORY, 150),
  streamed('stream-slow', SLOW_STORY, 40),
  {
    name: 'health',
    method: 'GET',
    path: '/health',
    headers: { 'Accept': '*/*' },
    requests: 4000,
    check({ body }) {
      assert.equal(JSON.parse(body).status, 'ok')
    },
    answer(response) {
      send(response, requestId(), health)
    },
  },
  // A tool that returns a string: in the revision that most clients speak, and in the newest, whose
  // headers must say what the body says.
  called('mcp-call', { 'MCP-Protocol-Version': '2025-06-18' }, {}, (result) => result),
  called('mcp-call-2026', {
    'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'add',
  }, {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
    },
  }, (result) => ({
    resultType: 'complete',
    _meta: {
      'io.modelcontextprotocol/serverInfo': {
        name: 'Assistant', version: '1.0.0', description: 'Repeats what it hears, or tells a story.',
      },
    },
    ...result,
  })),
  {
    name: 'mcp-list',
    method: 'POST',
    path: '/mcp',
    headers: { ...mcpHeaders, 'MCP-Protocol-Version': '2025-06-18' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    requests: 3000,
    check({ body }) {
      assert.equal(JSON.parse(body).result.tools.length, 50)
    },
    // By hand the list is put together for each request, as it would be by one who has not thought of it.
    answer(response, { id }) {
      send(response, requestId(), JSON.stringify({ jsonrpc: '2.0', id, result: { tools: listed } }))
    },
  },
  {
    name: 'a2a-send',
    method: 'POST',
    path: '/a2a',
    headers: { 'Content-Type': JSON_TYPE, 'Accept': '*/*' },
    body: JSON.stringify({
      jsonrpc: '2.0', id: '1', method: 'message/send',
      params: { message: { role: 'user', parts: [{ type: 'text', text: 'What is the capital of France?' }] } },
    }),
    requests: 3000,
    check({ body }) {
      assert.equal(JSON.parse(body).result.message.parts[0].text, 'You said: What is the capital of France?')
    },
    answer(response, { id, params }) {
      const text = run(params.message.parts[0].text)
      const message = {
        role: 'agent', parts: [{ type: 'text', text }], messageId: randomUUID(), contextId: randomUUID(),
      }
      send(response, requestId(), JSON.stringify({ jsonrpc: '2.0', id, result: { message } }))
    },
  },
  // A task is made, run, kept and answered, as clients of 1.0 and of 0.3 have it; by hand it is only written.
  tasked('a2a-task-1.0', 'SendMessage', 'TASK_STATE_COMPLETED', { role: 'ROLE_USER' }, {}, {
    history: ({ messageId, role, parts }, ids) => ({ messageId, ...ids, role, parts }),
    wrap: (task) => ({ task }),
  }),
  tasked('a2a-task-0.3', 'message/send', 'completed', { kind: 'message', role: 'user' }, { kind: 'text' }, {
    history: ({ messageId, role, parts }, ids) => ({ kind: 'message', messageId, role, parts, ...ids }),
    wrap: (task) => ({ kind: 'task', ...task }),
  }),
  {
    name: 'a2a-stream',
    method: 'POST',
    path: '/a2a',
    headers: { 'Content-Type': JSON_TYPE, 'Accept': EVENT_STREAM },
    body: JSON.stringify({
      jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage',
      params: { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: SHORT_STORY }] } },
    }),
    requests: 1000,
    check({ body }) {
      assert.equal(body.match(/"artifactUpdate"/gm).length, FEW_PIECES + 1)
      assert.match(body, /TASK_STATE_COMPLETED[^\n]+\n\n$/)
    },
    async answer(response, { id, params: { message } }) {
      response.writeHead(200, {
        'Content-Type': EVENT_STREAM, 'X-Request-Id': requestId(),
        'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no',
      })
      const [taskId, contextId, artifactId] = [randomUUID(), randomUUID(), randomUUID()]
      const tell = (result) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`
      const status = (state) => ({ state, timestamp: new Date().toISOString() })
      response.write(tell({
        task: {
          id: taskId, contextId, status: status('TASK_STATE_WORKING'), artifacts: [],
          history: [{ messageId: message.messageId, contextId, taskId, role: message.role, parts: message.parts }],
        },
      }))
      const update = (text, more) => tell({
        artifactUpdate: { taskId, contextId, artifact: { artifactId, parts: [{ text }] }, ...more },
      })
      let count = 0
      for await (const piece of run(message.parts[0].text)) {
        response.write(update(piece, count++ > 0 ? { append: true } : {}))
      }
      response.write(update('', { append: true, lastChunk: true }))
      response.end(tell({ statusUpdate: { taskId, contextId, status: status('TASK_STATE_COMPLETED') } }))
    },
  },
]

function tasked(name, method, state, said, kind, { history, wrap }) {
  return {
    name,
    method: 'POST',
    path: '/a2a',
    headers: { 'Content-Type': JSON_TYPE, 'Accept': '*/*' },
    body: JSON.stringify({
      jsonrpc: '2.0', id: 1, method,
      params: { message: { messageId: 'm1', ...said, parts: [{ ...kind, text: 'What is the capital of France?' }] } },
    }),
    requests: 2000,
    check({ body }) {
      assert.match(body, /"text":"You said: What is the capital of France\?"/)
    },
    answer(response, { id, params: { message } }) {
      const text = run(message.parts[0].text)
      const [taskId, contextId] = [randomUUID(), randomUUID()]
      const task = {
        id: taskId, contextId, status: { state, timestamp: new Date().toISOString() },
        artifacts: [{ artifactId: randomUUID(), parts: [{ ...kind, text }] }],
        history: [history(message, { contextId, taskId })],
      }
      send(response, requestId(), JSON.stringify({ jsonrpc: '2.0', id, result: wrap(task) }))
    },
  }
}

function asked(name, query, requests) {
  return {
    name,
    method: 'POST',
    path: '/',
    headers: { 'Content-Type': JSON_TYPE, 'Accept': '*/*' },
    body: JSON.stringify({ query }),
    requests,
    check({ body }) {
      assert.equal(JSON.parse(body).response, `You said: ${query}`)
    },
    answer(response, message) {
      const id = requestId()
      const reply = (text) => send(response, id, JSON.stringify(replyTo(message.query, text, id)))
      const text = run(message.query)
      if (text instanceof Promise) text.then(reply)
      else reply(text)
    },
  }
}

function called(name, headers, params, stamp) {
  return {
    name,
    method: 'POST',
    path: '/mcp',
    headers: { ...mcpHeaders, ...headers },
    body: JSON.stringify({
      jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add', arguments: { a: 2, b: 3 }, ...params },
    }),
    requests: 3000,
    check({ body }) {
      assert.equal(JSON.parse(body).result.content[0].text, '2 + 3 = 5')
    },
    answer(response, { id, params: { arguments: args } }) {
      const result = stamp({ content: [{ type: 'text', text: add(args) }] })
      send(response, requestId(), JSON.stringify({ jsonrpc: '2.0', id, result }))
    },
  }
}

function streamed(name, query, requests) {
  return {
    name,
    method: 'POST',
    path: '/',
    headers: { 'Content-Type': JSON_TYPE, 'Accept': EVENT_STREAM },
    body: JSON.stringify({ query }),
    requests,
    check({ body }) {
      assert.equal(body.match(/^event: delta$/gm).length, PIECES)
      assert.match(body, /\nevent: done\ndata: {"response":"Piece 1 [^\n]+\n\n$/)
    },
    async answer(response, message) {
      const id = requestId()
      response.writeHead(200, {
        'Content-Type': EVENT_STREAM, 'X-Request-Id': id,
        'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no',
      })
      let text = ''
      let events = 0
      for await (const piece of run(message.query)) {
        text += piece
        response.write(`id: ${++events}\nevent: delta\ndata: ${JSON.stringify({ text: piece })}\n\n`)
      }
      const done = JSON.stringify(replyTo(message.query, text, id))
      response.end(`id: ${++events}\nevent: done\ndata: ${done}\n\n`)
    },
  }
}

const prefix = randomBytes(5).toString('hex')
let count = 0

function requestId() {
  return `${prefix}-${(++count).toString(36)}`
}

function replyTo(query, text, id) {
  return { response: text, agent: 'Assistant', query, session_id: randomUUID(), request_id: id }
}

function send(response, id, body) {
  response.writeHead(200, {
    'Content-Type': JSON_TYPE, 'X-Request-Id': id, 'Content-Length': Buffer.byteLength(body),
  })
  response.end(body)
}
