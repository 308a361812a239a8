/**
 * Webhooks whose process is killed before their receiver takes anything: another process posts what was kept,
 * each event once and in order, on every engine.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { missing } from '../start.mjs'
import { engines, startFleet } from './deployment.mjs'
import { until } from './servers.mjs'
import { a2a } from './wire.mjs'

const TASKS = 5
const END = 'TASK_STATE_COMPLETED'
const settings = { leaseMs: 3_000 }
const noTest = missing()

for (const engine of engines) {
  test(`webhooks outlive their process: ${engine.name}`, { skip: noTest || engine.skip }, async (t) => {
    const received = []
    let isBack = false
    const hook = createServer(async (request, response) => {
      const { task, statusUpdate, artifactUpdate } = JSON.parse(await text(request))
      const { id, taskId = id } = task ?? statusUpdate ?? artifactUpdate
      const state = (task ?? statusUpdate)?.status.state ?? 'artifact'
      received.push({ taskId, state, isTaken: isBack })
      response.writeHead(isBack ? 200 : 503).end()
    }).listen(0, '127.0.0.1')
    await once(hook, 'listening')
    t.after(() => hook.close())
    const fleet = await startFleet(engine, { count: 2, settings })
    t.after(() => fleet.close())
    const url = `http://127.0.0.1:${hook.address().port}/`
    const [one, two] = fleet.urls().map((at) => a2a(at))
    const ids = []
    for (let nth = 0; nth < TASKS; nth++) {
      const taskId = await one.begin('work x 3000')
      ids.push(taskId)
      await (nth % 2 ? one : two).send('CreateTaskPushNotificationConfig', { taskId, id: 'mine', url })
    }
    await until('the tasks to end', async () => (
      (await Promise.all(ids.map((id) => two.read(id)))).every(({ state }) => state === 'completed')
    ))
    await until('a first try of each', () => ids.every((id) => received.some(({ taskId }) => taskId === id)))
    await fleet.kill(0)
    isBack = true
    const taken = (id) => received.filter(({ taskId, isTaken }) => isTaken && taskId === id)
    await until('all to be taken', () => ids.every((id) => taken(id).at(-1)?.state === END))
    for (const id of ids) {
      assert.deepEqual(taken(id).map(({ state }) => state), ['TASK_STATE_WORKING', 'artifact', END])
    }
  })
}
