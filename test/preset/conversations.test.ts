import assert from 'node:assert/strict'
import test from 'node:test'
import { testClient } from '../../lib/index.ts'
import { echo, jsonOf, request, serve } from '../fixtures/client.ts'

test('conversations of A2A and of tools are listed by plain HTTP too', async (t) => {
  const server = serve(t, { agents: [echo], protocol: 'all', apiKey: [{ id: 'ann', key: 'ann-key' }] })
  const headers = { 'x-api-key': 'ann-key' }
  const ann = testClient(server, { headers })
  await ann.a2a.send('over A2A', { contextId: 'context-of-ann' })
  await ann.mcp.callTool('ask_echo', { message: 'over MCP', session_id: 'session-of-ann' })
  const { conversations } = await jsonOf(await server.fetch(request('/conversations', undefined, headers)))
  const ids = (conversations as { session_id: string }[]).map(({ session_id: id }) => id)
  assert.deepEqual(ids.toSorted(), ['context-of-ann', 'session-of-ann'])
})
