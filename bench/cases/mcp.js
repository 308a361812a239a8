/**
 * MCP: `initialize`, `tools/list` and `tools/call`, as clients of the revisions send them.
 */
import assert from 'node:assert/strict'
import { EVENT_STREAM, KEY, messagesOf, posted } from './case.js'
import { BOTH, handshake, REVISION } from './session.js'

/** What a client of 2026-07-28 says in each request. */
const said = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
}

const text = 'All work and no play. '.repeat(47_663)
const rows = Array.from({ length: 17_500 }, (_, id) => ({ id, name: `Article number ${id}`, price: id / 4 }))

export const mcpCases = [
  called('call', '`tools/call` in a session', 0.92, { hasSession: true }),
  called('call-2026', '`tools/call`, 2026-07-28', 0.92, {
    headers: { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'add' },
    params: { _meta: said },
  }),
  called('call-stateless', '`tools/call` without a session', 0.92, {}),
  called('call-async', '`tools/call` in a session, async tool', 0.87, {
    hasSession: true, tool: 'add_later',
  }),
  called('call-key', '`tools/call` in a session, with a key', 0.84, {
    hasSession: true, door: 'keyed', headers: { 'X-API-Key': KEY },
  }),
  called('call-sse', '`tools/call` answered as SSE, in a session', 0.92, {
    hasSession: true, accept: EVENT_STREAM,
  }),
  begun('initialize', '`initialize`', { endsSessions: true }),
  begun('initialize-full', '`initialize`, the session table is full', { door: 'full', fills: 10_000 }),
  posted({
    name: 'list',
    title: '`tools/list`, 50 tools (bare stringifies)',
    aim: 2.8,
    path: '/mcp',
    accept: BOTH,
    headers: { 'MCP-Protocol-Version': REVISION },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    requests: 1500,
    check(answer) {
      assert.equal(messagesOf(answer).at(-1).result.tools.length, 50)
    },
  }),
  called('text-1mb', '1 MB argument, one string', 0.95, {
    tool: 'count_characters', args: { text }, result: `${text.length} characters`, requests: 32,
  }),
  called('rows-1mb', '1 MB argument, rows', 0.95, {
    tool: 'count_rows', args: { rows }, result: `${rows.length} rows`, requests: 32,
  }),
]

function called(name, title, aim, options) {
  const {
    headers, accept = BOTH, params, tool = 'add', args = { a: 2, b: 3 }, result = '2 + 3 = 5', ...rest
  } = options
  return posted({
    name, title, aim, path: '/mcp', accept, requests: 3000,
    headers: { 'MCP-Protocol-Version': REVISION, ...headers },
    body: { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: tool, arguments: args, ...params } },
    check(answer) {
      assert.equal(messagesOf(answer).at(-1).result.content[0].text, result)
    },
    ...rest,
  })
}

/** `endsSessions`: after a slice. `fills`: so many sessions are there before the first. */
function begun(name, title, options) {
  return {
    ...handshake, name, title, aim: 0.95, requests: 3000,
    check(answer) {
      assert.equal(messagesOf(answer).at(-1).result.protocolVersion, REVISION)
      assert.match(answer.head, /^mcp-session-id: \S+/im)
    },
    ...options,
  }
}
