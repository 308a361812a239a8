/**
 * The A2A door by hand, as its tables have it: the card, the status, and `message/send` with parts that
 * carry `type`. Needs no package; the clients of the newer dialects have files of their own.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { missing, startEverything } from './start.mjs'

const skip = missing()
const KEY = 'interop-key'

let server
before(async () => { if (!skip) server = await startEverything({ API_KEY: KEY }) })
after(() => server?.stop())

async function send(message, headers = {}) {
  const response = await fetch(`${server.url}/a2a`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': KEY, ...headers },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  })
  return { status: response.status, body: await response.json() }
}

const request = (parts, id = 'request-1') => ({
  jsonrpc: '2.0', method: 'message/send', id, params: { message: { role: 'user', parts } },
})

for (const path of ['/.well-known/agent.json', '/.well-known/agent-card.json']) {
  test(`GET ${path} is the card, without a key`, { skip }, async () => {
    const response = await fetch(server.url + path)
    assert.equal(response.status, 200)
    const card = await response.json()
    assert.equal(card.name, 'Echo')
    assert.equal(card.description, 'Says what it is told.')
    assert.equal(new URL(card.url).pathname, '/a2a')
    assert.equal(typeof card.version, 'string')
    const { streaming, pushNotifications, stateTransitionHistory } = card.capabilities
    assert.deepEqual([streaming, pushNotifications, stateTransitionHistory], [true, false, false])
    for (const skill of card.skills) {
      for (const member of ['id', 'name', 'description']) assert.equal(typeof skill[member], 'string')
    }
  })
}

test('GET /status is the status record, without a key', { skip }, async () => {
  const response = await fetch(`${server.url}/status`)
  assert.equal(response.status, 200)
  const status = await response.json()
  assert.equal(status.status, 'ok')
  assert.equal(typeof status.name, 'string')
  assert.equal(typeof status.version, 'string')
})

test('message/send answers with the message of the agent', { skip }, async () => {
  const { status, body } = await send(request([{ type: 'text', text: 'hello' }]))
  assert.equal(status, 200)
  assert.equal(body.jsonrpc, '2.0')
  assert.equal(body.id, 'request-1')
  assert.equal(body.result.message.role, 'agent')
  assert.deepEqual(body.result.message.parts, [{ type: 'text', text: 'hello' }])
})

test('a part may leave out its type, and a file may come along', { skip }, async () => {
  const parts = [{ text: 'hello' }, { uri: 'https://example.com/a.png', mimeType: 'image/png' }]
  const { status, body } = await send(request(parts))
  assert.equal(status, 200)
  assert.deepEqual(body.result.message.parts, [{ type: 'text', text: 'hello' }])
})

const errors = [
  [
    'an unknown method', { jsonrpc: '2.0', method: 'no/such', id: 'a', params: {} }, 200, -32601,
    'Method not found', 'a',
  ],
  [
    'no message', { jsonrpc: '2.0', method: 'message/send', id: 'b', params: {} }, 200, -32602,
    'Invalid params', 'b',
  ],
  ['no parts', request(undefined, 'c'), 200, -32602, 'Invalid params', 'c'],
  ['parts that are none', request([{ nothing: 1 }], 'd'), 200, -32602, 'Invalid params', 'd'],
  [
    'another version of JSON-RPC', { ...request([{ text: 'x' }], 'e'), jsonrpc: '1.0' }, 200, -32600,
    'Invalid request', 'e',
  ],
  ['no JSON', '{"jsonrpc": ', 400, -32700, 'Parse error', null],
]

for (const [what, message, status, code, text, id] of errors) {
  test(`${what} is ${code} ${text}`, { skip }, async () => {
    const answer = await send(message)
    assert.equal(answer.status, status)
    assert.equal(answer.body.error.code, code)
    assert.equal(answer.body.error.message, text)
    assert.equal(answer.body.id, id)
  })
}

test('without the key, or with a wrong one, nobody is answered', { skip }, async () => {
  for (const key of ['', 'wrong']) {
    const { status, body } = await send(request([{ text: 'hello' }]), { 'X-API-Key': key })
    assert.equal(status, 401)
    assert.equal(body.error.code, -32600)
  }
  const bearer = await send(request([{ text: 'hello' }]), { 'Authorization': `Bearer ${KEY}` })
  assert.equal(bearer.status, 200)
})
