/**
 * Webhooks are registered, removed and given up, tasks go on, end and make room for others, and receivers,
 * name servers and the store fail, all at random. Afterwards nothing is held. `SEED` repeats a run.
 */
import { tasksOf } from '../../../lib/floors/tasks/tasks-floor.ts'
import { sharedOf } from '../../../lib/floors/shared/shared-of.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import { memoryStore } from '../../../lib/index.ts'
import { eventually } from '../../fixtures/client.ts'
import { listed } from '../../fixtures/fleet.ts'
import { config, house, taskOf, webhook } from '../../fixtures/webhook.ts'
import type { Lookup } from '../../../lib/floors/outbound/host-lookups.ts'
import type { Task } from '../../../lib/floors/tasks/task.ts'
import type { MaybePromise } from '../../../lib/kernel/util/thenable.ts'
import type { Store } from '../../../lib/index.ts'
import type { Answerer } from '../../fixtures/webhook.ts'

const STEPS = 3_000
const soon = (ms: number): Promise<void> => new Promise((resolve) => { setTimeout(resolve, ms) })

test('whatever fails and whoever leaves, nothing is held for webhooks in the end', async (t) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
  t.diagnostic(`SEED=${seed}`)
  let state = seed
  const below = (most: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return Math.floor(state / 0x80000000 * most)
  }
  let isCalm = false

  const answers: readonly Answerer[] = [
    () => {},
    (response) => response.socket!.destroy(),
    (response) => response.writeHead(503, { 'retry-after': '1' }).end(),
    (response) => response.writeHead(400).end(),
    (response) => { response.write('a') },
    (response) => response.end(),
    (response) => response.end(),
  ]
  const hook = await webhook(t, (response, nth, request) => {
    if (isCalm) response.end()
    else answers[below(answers.length)]!(response, nth, request)
  })
  const found = [{ address: '127.0.0.1', family: 4 }]
  const lookup: Lookup = async () => {
    const what = isCalm ? 0 : below(5)
    if (what === 1) throw new Error('There is no such name')
    // Longer than it is waited for.
    if (what === 2) await soon(150)
    return found
  }
  const inner = memoryStore({ isShared: true })
  const flaky = async <T>(collection: string, act: () => MaybePromise<T>): Promise<T> => {
    if (below(3) === 0) await soon(below(4))
    if (!isCalm && collection.includes('/push-') && below(20) === 0) throw new Error('The store is away')
    return act()
  }
  const store: Store = {
    ...inner,
    read: (key) => flaky(key.collection, () => inner.read(key)),
    write: (key, value, keepMs, expected) => (
      flaky(key.collection, () => inner.write(key, value, keepMs, expected))
    ),
    remove: (key, expected) => flaky(key.collection, () => inner.remove(key, expected)),
    list: (collection, owner, limit, before) => (
      flaky(collection, () => inner.list(collection, owner, limit, before))
    ),
  }
  const options = { timeoutMs: 60, retryDelaysMs: [3, 10] }
  const { push, service, close } = house(t, options, store, { lookup, leaseMs: 200 })

  const tasks = tasksOf(service)
  const running: Task[] = []
  const steps: readonly ((task: Task) => unknown)[] = [
    async () => running.push(await taskOf(service, `owner ${below(4)}`)),
    ...Array.from({ length: 4 }, () => (task: Task) => {
      const host = below(2) === 0 ? '127.0.0.1' : `${below(5)}.test`
      const url = `http://${host}:${hook.port}/`
      return push.register(task, config(url, { id: `${below(3)}` }), below(2) === 0 ? '1.0' : '0.3')
    }),
    ...Array.from({ length: 3 }, () => (task: Task) => push.remove(task, `${below(3)}`)),
    ({ id }) => tasks.addArtifact(id, { id: 'x', parts: [{ type: 'text', text: 'm'.repeat(below(3_000)) }] }),
    (task) => {
      running.splice(running.indexOf(task), 1)
      return below(4) === 0 ? tasks.drop(task.id) : tasks.move(task.id, 'completed')
    },
  ]
  for (let step = 0; step < STEPS; step++) {
    const task = running[below(running.length)]
    const act = running.length < 5 ? steps[0]! : steps[below(steps.length)]!
    // What fails is the client's to hear, and no more than that.
    const done = (async () => act(task!))().catch(() => {})
    if (running.length < 5) await done
    if (step % 20 === 0) await soon(1)
  }
  isCalm = true
  for (const { id } of running) tasks.move(id, 'completed')
  const idle = { waiting: 0, posting: 0, lookups: 0, bytes: 0 }
  await eventually(() => Object.values(push.status).every((held) => held === 0), 'nothing is held')
  const { id } = sharedOf(service)!.cluster
  await eventually(() => listed(inner, 'push-events', `~${id}`).length === 0, 'nothing is kept')
  await close()
  assert.deepEqual(push.status, idle)
  for (const name of ['leases', 'members']) assert.deepEqual(listed(inner, name, '~'), [], name)
})
