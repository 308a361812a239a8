import assert from 'node:assert/strict'
import test from 'node:test'
import { request } from '../../fixtures/wire.ts'
import { fleetOf } from '../../fixtures/fleet.ts'

test('a task that was given up before it was promised is refused, and never without a word', async (t) => {
  const run = (): Promise<string> => new Promise(() => {})
  const { servers: [server], connections: [connection] } = await fleetOf(t, 1, {
    agents: [{ name: 'Bot', run }], protocol: 'a2a',
  })
  const write = connection!.write
  // Whoever finds a process silent puts something in the place of what it has announced.
  connection!.write = async (place, value, keepMs, expected) => {
    if (place.collection.endsWith('/tasks') && expected === 0) await write(place, 'null', 60_000, 0)
    return write(place, value, keepMs, expected)
  }
  const message = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hello' }] }
  const response = await server!.fetch(request('/a2a', {
    jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message },
  }))
  assert.equal(response.status, 503)
  assert.match(await response.text(), /"error":.*silent for too long; try again/)
})
