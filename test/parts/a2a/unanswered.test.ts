// What ends a wait for a task before the task does. Whoever waits is answered, or sees the stream end.
import assert from 'node:assert/strict'
import test from 'node:test'
import { eventually, gate } from '../../fixtures/client.ts'
import { patient, sharedMemory } from '../../fixtures/fleet.ts'
import { Caller, serveBot, sumOf, tellOf } from './caller.ts'
import type { Call } from '../../../lib/index.ts'

const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const

test('a server that closes ends the streams of tasks that wait without a run', async (t) => {
  const server = serveBot(t, () => ({ state: 'input-required', text: 'What?' }))
  const ends = []
  for (const dialect of ['0.3', '1.0'] as const) {
    const caller = new Caller(server, { dialect })
    const { id } = await caller.task('hello')
    const events = await caller.subscribe(id)
    assert.match(tellOf((await events.next())!), /input-required/)
    ends.push(events.rest())
  }
  await server.close()
  for (const rest of ends) assert.deepEqual(await rest, [])
  assert.equal(server.status().streams.open, 0)
})

test('one that closes lets go of what another runs, which goes on there', async (t) => {
  const shared = sharedMemory()
  const held = gate()
  const run = async (prompt: string, call: Call): Promise<string> => {
    if (prompt === 'ask') await call.elicit({ message: 'Name?', schema: form })
    await held.promise
    return 'done'
  }
  const stores = [shared.connect(), shared.connect()]
  const [here, there] = stores.map((store) => serveBot(t, run, { store, ...patient }))
  const [one, other] = [new Caller(here!), new Caller(there!)]
  const working = await one.task('hello', { isBlocking: false })
  const asked = await one.task('ask')
  const events = await other.subscribe(working.id)
  assert.match(tellOf((await events.next())!), /working/)
  const said = stores[1]!.asked.get('publish')!
  const answer = other.task([{ type: 'data', data: { name: 'Ann' } }], { taskId: asked.id })
  // It brings the answer, hangs up, and follows the task.
  await eventually(() => stores[1]!.asked.get('publish')! >= said + 3)
  await there!.close()
  assert.deepEqual(await events.rest(), [])
  assert.equal((await answer).status.state, 'working')
  assert.equal(there!.status().streams.open, 0)
  held.open()
  for (const { id } of [working, asked]) {
    await eventually(async () => (await one.get(id)).status.state === 'completed')
    assert.equal(sumOf(await one.get(id)), 'completed: done')
  }
})

test('a server that closes does not wait for the answer that a run waits for', async (t) => {
  let reason: unknown
  const server = serveBot(t, async (_prompt, call) => {
    call.signal.addEventListener('abort', () => { reason = call.signal.reason })
    return JSON.stringify(await call.elicit({ message: 'Name?', schema: form }))
  }, { graceMs: 60_000 })
  const { status } = await new Caller(server).task('hello')
  assert.equal(status.state, 'input-required')
  assert.equal(server.status().calls.running, 1)
  await server.close()
  assert.match(String(reason), /closing down/)
})
