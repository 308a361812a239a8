/** What a task keeps of the request that began it. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { eventually, listen } from '../../fixtures/client.ts'

test('what a task was begun with is counted until its run ends, and not its request', async (t) => {
  const running: (() => void)[] = []
  const run = (): Promise<string> => new Promise((resolve) => { running.push(() => resolve('done')) })
  const { url, server } = await listen(t, { agents: [run], protocol: 'a2a' })
  const parts = [{ kind: 'data', data: { many: Array.from({ length: 20_000 }, () => []) } }]
  const ask = (id: number): Promise<Response> => fetch(`${url}/a2a`, {
    method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0', id, method: 'message/send',
      params: {
        message: { kind: 'message', messageId: `m-${id}`, role: 'user', parts },
        configuration: { blocking: false },
      },
    }),
  })
  for (const id of [1, 2]) assert.match(await (await ask(id)).text(), /"working"/)
  const both = server.status().bodies.bytes
  assert.ok(both > 2 * 20_000 * 50, `${both}`)
  running[0]!()
  await eventually(() => server.status().bodies.bytes < both * 0.7, 'one is held')
  running[1]!()
  await eventually(() => server.status().bodies.bytes === 0, 'nothing is held')
})
