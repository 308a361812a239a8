/** Protocols beside each other: whose a path is, and what is sent to that of another. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { echo, jsonOf, request, serve } from '../fixtures/client.ts'
import type { AgentOutput, Call } from '../../lib/index.ts'

test('an input of AG-UI that is sent to an agent is told where it goes', async (t) => {
  const server = serve(t, { agents: [echo] })
  const astray = await server.fetch(request('/agents/echo', {
    threadId: 't', runId: 'r', tools: [], context: [],
    messages: [{ id: '1', role: 'user', content: 'Hello' }],
  }))
  assert.equal(astray.status, 422)
  assert.match(await astray.text(), /is an input of AG-UI; send it to the path of the agent .* \/agui/)
})

test('a client that cannot offer tools is answered by an agent that calls them', async (t) => {
  const finding = (_prompt: string, { clientTools: [tool] }: Call): AgentOutput => (
    tool === undefined ? 'No tools.' : { toolCalls: [{ name: tool.name, args: { of: 'tea' } }] }
  )
  const server = serve(t, { agents: [{ name: 'Finding', run: finding }] })
  assert.equal((await server.fetch(request('/', { query: 'x' }))).status, 200)
})

test('what another door has behind its first segment stays its own, whatever it is called', async (t) => {
  const server = serve(t, {
    agents: [{ ...echo, name: 'Tasks' }], tools: [{ name: 'tasks', run: () => 'ran' }], protocol: 'all',
    a2a: { tenants: ['acme'] },
  })
  const said = async (path: string, body?: object): Promise<string> => (
    (await server.fetch(request(path, body))).text()
  )
  assert.match(await said('/tools/tasks', {}), /ran/)
  assert.match(await said('/tools/tasks'), /"name":"tasks"/)
  assert.match(await said('/agents/tasks'), /"id":"tasks"/)
  assert.deepEqual((JSON.parse(await said('/agents/tasks/tasks')) as { tasks: unknown }).tasks, [])
  assert.match(await said('/', { query: 'hi' }), /You said hi/)
})

test('POST / is never A2A', async (t) => {
  const server = serve(t, { agents: [echo], protocol: 'all', mountPath: '/bots' })
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
  const rpc = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }
  for (const body of [rpc, { message }]) {
    assert.equal((await server.fetch(request('/bots/', body))).status, 422)
  }
  for (const path of ['/agents/echo', '/agents/list']) {
    assert.equal((await jsonOf(await server.fetch(request(`/bots${path}`))))['status'], undefined, path)
  }
})
