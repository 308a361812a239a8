/** Who follows a task is let go by the end of the stream where a server closes. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { jsonOf, request, serve } from '../../fixtures/client.ts'
import { EventStream } from '../../fixtures/events.ts'
import { fleetOf } from '../../fixtures/fleet.ts'

test('who follows a task that goes on elsewhere is let go by the end of its stream', async (t) => {
  const agents = [{ name: 'Slow', recover: 'rerun' as const, run: () => new Promise<string>(() => {}) }]
  const { servers: [one, two, three] } = await fleetOf(t, 3, { agents, protocol: 'a2a' })
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
  const own = new EventStream(await one!.fetch(request('/message:stream', { message })))
  const { task: { id } } = await own.next()
  const subscribed = await two!.fetch(request(`/tasks/${id}:subscribe`, undefined, {}, 'POST'))
  const followed = new EventStream(subscribed)
  assert.equal((await followed.next()).task.id, id)
  await two!.close()
  assert.deepEqual(await followed.rest(), [])
  await one!.close()
  assert.deepEqual(await own.rest(), [])
  const task = await jsonOf(await three!.fetch(request(`/tasks/${id}`)))
  assert.equal((task['status'] as { state: string }).state, 'TASK_STATE_WORKING')
})

test('who follows a task that waits for its client is let go by the end of the stream', async (t) => {
  const run = (): object => ({ text: 'Which?', state: 'input-required' })
  const server = serve(t, { agents: [{ name: 'Asks', run }], protocol: 'a2a' })
  const ask = (method: string, params: object): Promise<Response> => (
    server.fetch(request('/a2a', { jsonrpc: '2.0', id: 1, method, params }))
  )
  const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hi' }] }
  const { result } = await jsonOf(await ask('message/send', { message })) as { result: { id: string } }
  const followed = new EventStream(await ask('tasks/resubscribe', { id: result.id }))
  assert.equal((await followed.next()).result.status.state, 'input-required')
  await server.close()
  assert.deepEqual(await followed.rest(), [])
})
