import assert from 'node:assert/strict'
import test from 'node:test'
import { findHeader, handlerHeaders, readHead } from '../../../lib/kernel/http/message/headers.ts'

const lines = [
  'Host', 'localhost', 'ACCEPT', 'text/html', 'accept', 'application/json', 'X-Api-Key', 'secret', 'Cookie',
  'a=b', 'authorization', 'Bearer secret', '__proto__', 'x', 'constructor', 'y', 'X-Note', 'one', 'x-note',
  'two',
]

test('the headers that matter are read in one scan, whatever their spelling', () => {
  const head = readHead(lines)
  assert.equal(head.host, 'localhost')
  assert.equal(head.accept, 'text/html, application/json')
  assert.equal(head.apiKey, 'secret')
  assert.equal(head.authorization, 'Bearer secret')
  assert.equal(head.contentType, undefined)
})

test('every head has the same shape', () => {
  assert.deepEqual(Object.keys(readHead([])), Object.keys(readHead(lines)))
})

test('other headers are found by name', () => {
  assert.equal(findHeader(lines, 'x-note'), 'one, two')
  assert.equal(findHeader(lines, 'x-none'), undefined)
  assert.equal(findHeader(lines, '__proto__'), 'x')
})

test('a handler is given all headers but the credentials', () => {
  assert.deepEqual([...handlerHeaders(lines)], [
    ['host', 'localhost'], ['accept', 'text/html, application/json'], ['__proto__', 'x'],
    ['constructor', 'y'], ['x-note', 'one, two'],
  ])
})

test('names that anonymousPeers invent are read too, however many there are', () => {
  for (let at = 0; at < 2_000; at++) readHead([`x-${at}`, 'y'])
  assert.equal(readHead(['hOsT', 'a']).host, 'a')
})

test('a header of one value that came twice with the same value is that value', () => {
  const twice = readHead([
    'MCP-Protocol-Version', '2025-11-25, 2025-11-25', 'Mcp-Session-Id', 'a', 'mcp-session-id', 'a',
    'Authorization', 'Bearer x', 'authorization', 'Bearer x', 'Mcp-Name', 'a, a',
    'Content-Type', 'application/json,application/json', 'X-Request-Id', 'one', 'x-request-id', 'two',
  ])
  assert.equal(twice.mcpProtocolVersion, '2025-11-25')
  assert.equal(twice.mcpSessionId, 'a')
  assert.equal(twice.authorization, 'Bearer x')
  assert.equal(twice.contentType, 'application/json')
  assert.equal(twice.requestId, 'one, two')
  // The name of a tool may have a comma.
  assert.equal(twice.mcpName, 'a, a')
})

test('empty elements of a list are no values, in one line or in two', () => {
  const head = readHead([
    'MCP-Protocol-Version', '2025-11-25,', 'Mcp-Session-Id', ', a ,,', 'Authorization', 'Bearer x,',
    'authorization', ', Bearer x', 'Content-Type', 'application/json,', 'X-Request-Id', ',', 'X-Api-Key', 'k',
    'x-api-key', ',', 'A2A-Version', ', ,', 'a2a-version', '1.0', 'Origin', 'https://a.example,',
    'Idempotency-Key', 'one,, two', 'Mcp-Name', 'a,',
  ])
  assert.deepEqual(Object.fromEntries(Object.entries(head).filter(([, value]) => value !== undefined)), {
    mcpProtocolVersion: '2025-11-25', mcpSessionId: 'a', authorization: 'Bearer x', apiKey: 'k',
    contentType: 'application/json', a2aVersion: '1.0', origin: 'https://a.example',
    idempotencyKey: 'one,, two', mcpName: 'a,',
  })
})

test('a header of one value that is empty is none, but for an origin and a key of repeats', () => {
  const head = readHead([
    'MCP-Protocol-Version', '', 'Mcp-Session-Id', '', 'Mcp-Session-Id', 'a', 'A2A-Version', '',
    'Host', '', 'Origin', '', 'Idempotency-Key', '',
  ])
  assert.deepEqual([head.mcpProtocolVersion, head.mcpSessionId, head.a2aVersion], [undefined, 'a', undefined])
  assert.deepEqual([head.host, head.origin, head.idempotencyKey], ['', '', ''])
})

test('what a proxy could read in another way stays as it came', () => {
  const twice = readHead(['Host', 'a', 'host', 'a', 'Transfer-Encoding', 'chunked, chunked'])
  assert.deepEqual([twice.host, twice.transferEncoding], ['a, a', 'chunked, chunked'])
})
