/** What a session holds of what its client sends, of a whole heap. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { decodeAbilities, decodeClient } from '../../../lib/parts/mcp/protocol/client.ts'
import { keptBytes } from '../../fixtures/heap.ts'
import { request } from '../../fixtures/client.ts'
import { begin, modern, post, serveMcp } from './client.ts'
import type { LegacySession } from './client.ts'

test('long settings take the room of their text, and are as they were for whoever reads them', async () => {
  const many = Array.from({ length: 2_000 }, () => ({}))
  const settings = JSON.stringify({ many, own: { ['__proto__']: 1 } })
  const all: unknown[] = []
  const kept = await keptBytes(50, (at) => {
    const abilities = decodeAbilities({ extensions: { [`e${at}`]: JSON.parse(settings) as object } })
    all.push(abilities, decodeClient({ name: 'a', version: '1' }, abilities))
  })
  assert.ok(kept < 3 * settings.length, `${kept}`)
  const read = decodeAbilities({ extensions: { '__proto__x': {}, 'a': JSON.parse(settings) as object } })
  for (const { extensions } of [read, decodeClient({ name: 'a' }, read)!]) {
    assert.deepEqual({ ...extensions }, { '__proto__x': {}, 'a': JSON.parse(settings) })
    assert.equal(extensions?.['constructor'], undefined)
  }
})

/** More than any client needs. */
const LARGE = 256 * 1024
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
const large = (n: number): string => `${n} `.padEnd(LARGE, 'x')
/** What one session may take with all that is kept: sixteen of these fit into what its client sent. */
const LITTLE = LARGE / 8

test('a session keeps little of a large initialize', async (t) => {
  const server = serveMcp(t, { tools: [{ name: 'tool', run: () => '' }] })
  const kept = await keptBytes(15, async (n) => {
    const response = await post(server, {
      jsonrpc: '2.0', id: 0, method: 'initialize', params: {
        protocolVersion: '2025-11-25',
        clientInfo: { name: large(n), version: large(n), title: large(n), description: large(n) },
        capabilities: {
          [large(n)]: {}, elicitation: { form: { more: large(n) } }, experimental: { a: large(n) },
          extensions: { a: { small: 1 }, b: large(n), [large(n)]: {} },
        },
        _meta: { more: large(n) },
      },
    })
    assert.equal(response.status, 200)
    await response.text()
  })
  assert.ok(kept < LITTLE, `${Math.round(kept)} bytes are kept of each`)
})

test('a session keeps little of large requests, and nothing of those that it refuses', async (t) => {
  const server = serveMcp(t, {
    tools: [{ name: 'tool', description: 'Is called.', run: () => '' }],
    resources: [{ uri: 'test://r', name: 'r', read: () => '' }],
  })
  const session: LegacySession = await begin(server)
  const tries: readonly ((n: number) => Promise<Response>)[] = [
    (n) => session.send('tools/call', { name: large(n) }),
    (n) => session.send('tools/call', { name: 'tool', arguments: { text: large(n) } }),
    (n) => session.send('tools/call', { name: 'tool', _meta: { progressToken: large(n), more: large(n) } }),
    (n) => session.send(large(n)),
    (n) => session.send('ping', {}, large(n)),
    (n) => session.send('resources/subscribe', { uri: large(n) }),
    (n) => session.send('resources/unsubscribe', { uri: large(n) }),
    (n) => session.send('logging/setLevel', { level: large(n) }),
    (n) => session.notify('notifications/cancelled', { requestId: large(n), reason: large(n) }),
    (n) => session.answer(large(n), { text: large(n) }),
    (n) => session.send('tools/list', { cursor: large(n) }),
    (n) => session.send('tasks/get', { taskId: large(n) }),
    (n) => post(server, ping, {}, `/messages/?session_id=${large(n).slice(0, 8_000)}`),
    (n) => server.fetch(request('/mcp', undefined, { 'Mcp-Session-Id': large(n).slice(0, 8_000) }, 'DELETE')),
    (n) => modern(server, 'tools/call', { name: 'tool' }, { id: n, meta: {
      'io.modelcontextprotocol/clientInfo': { name: large(n), version: large(n) }, more: large(n),
    }, capabilities: { [large(n)]: {}, extensions: { [large(n)]: large(n) } } }),
  ]
  for (const [at, one] of tries.entries()) {
    const kept = await keptBytes(4, async (n) => { await (await one(n)).text() })
    assert.ok(kept < LITTLE, `${Math.round(kept)} bytes are kept of each try of number ${at}`)
  }
})
