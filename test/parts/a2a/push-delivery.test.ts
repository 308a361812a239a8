import { tasksOf } from '../../../lib/floors/tasks/tasks-floor.ts'
import { sharedOf } from '../../../lib/floors/shared/shared-of.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import { memoryStore } from '../../../lib/index.ts'
import { eventually, serve } from '../../fixtures/client.ts'
import { listed } from '../../fixtures/fleet.ts'
import { config, firstHeld, house, taskOf, webhook, wordDialect, wordsOf } from '../../fixtures/webhook.ts'
import type { Dialect } from '../../../lib/parts/a2a/model/dialect.ts'
import type { Task } from '../../../lib/floors/tasks/task.ts'
import type { MemoryStore, TriportServer } from '../../../lib/index.ts'
import type { House } from '../../fixtures/webhook.ts'

/** A task that waits where it began, told of to a webhook, and goes on at another process. */
async function handOver(
  began: House, goesOn: House, hook: Awaited<ReturnType<typeof webhook>>,
): Promise<Task> {
  const { id } = await taskOf(began.service)
  await began.push.register(await tasksOf(began.service).get('ann', id) as Task, config(hook.url), '1.0')
  tasksOf(began.service).move(id, 'input-required')
  await hook.until(2)
  await tasksOf(began.service).whenPersisted(id)
  const tasks = tasksOf(goesOn.service)
  const task = await tasks.get('ann', id) as Task
  await tasks.take(task)
  tasks.resume(id, { onSettled() {}, answer() {}, refuse() {}, cancel() {}, lose() {} })
  goesOn.push.follow(task)
  await hook.until(3)
  return task
}

const part = { type: 'text', text: 'more' } as const

test('a webhook gets the task as it stands, and then each event, in order', async (t) => {
  const { service, push } = house(t)
  const hook = await webhook(t, (response) => { setTimeout(() => response.end(), 3) })
  const task = await taskOf(service)
  tasksOf(service).move(task.id, 'working')
  await push.register(tasksOf(service).get('ann', task.id) as typeof task, config(hook.url), '1.0')
  tasksOf(service).addArtifact(task.id, { id: 'x', parts: [part] })
  tasksOf(service).addArtifact(task.id, { id: 'x', parts: [part] }, { append: true })
  tasksOf(service).move(task.id, 'input-required')
  tasksOf(service).move(task.id, 'completed')
  assert.deepEqual(wordsOf(await hook.until(5)), [
    'task working 0', 'artifact x', 'artifact x', 'status input-required', 'status completed',
  ])
  await eventually(() => push.status.waiting === 0, 'nothing waits')
  assert.equal(hook.received.length, 5)
  assert.equal(hook.connections, 1)
})

test('the headers are those of the dialect and of the configuration', async (t) => {
  const { service, push } = house(t)
  const hook = await webhook(t)
  const task = await taskOf(service)
  const authentication = { schemes: ['Bearer', 'Basic'], credentials: 'the key' }
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  const whole = config(hook.url, { id: 'a', token: 'the token', authentication })
  await push.register(task, whole, '1.0', traceparent)
  const [first] = await hook.until(1)
  assert.equal(first!.headers['traceparent'], traceparent)
  assert.equal(first!.headers['content-type'], 'application/a2a+json')
  assert.equal(first!.headers['authorization'], 'Bearer the key')
  assert.equal(first!.headers['x-a2a-notification-token'], 'the token')
  const without = { schemes: ['Bearer'], credentials: undefined }
  await push.register(task, config(hook.url, { id: 'b', authentication: without }), '0.3', 'nonsense')
  const second = (await hook.until(2))[1]!
  assert.equal(second.headers['content-type'], 'application/json')
  assert.equal(second.headers['authorization'], undefined)
  assert.equal(second.headers['traceparent'], undefined)
  assert.equal(second.headers['x-a2a-notification-token'], undefined)
})

test('each configuration is posted to in its own dialect, and a slow one holds up no other', async (t) => {
  const { service, push } = house(t)
  const quick = await webhook(t)
  const slow = await webhook(t, () => {})
  const task = await taskOf(service)
  await push.register(task, config(slow.url, { id: 'slow' }), '1.0')
  await push.register(task, config(quick.url, { id: 'old' }), '0.3')
  await quick.until(1)
  tasksOf(service).addArtifact(task.id, { id: 'x', parts: [part] })
  await quick.until(2)
  tasksOf(service).move(task.id, 'completed')
  await quick.until(3)
  assert.deepEqual(wordsOf(quick.received), ['task submitted 0', 'task submitted 1', 'task completed 1'])
  assert.equal(slow.received.length, 1)
})

test('where the whole task is posted, the last of several that wait says them all', async (t) => {
  const { service, push } = house(t)
  const { answer, release } = firstHeld()
  const hook = await webhook(t, answer)
  const task = await taskOf(service)
  await push.register(task, config(hook.url), '0.3')
  await hook.until(1)
  for (let count = 0; count < 50; count++) {
    tasksOf(service).addArtifact(task.id, { id: `x${count}`, parts: [part] })
  }
  tasksOf(service).move(task.id, 'completed')
  release()
  await eventually(() => push.status.waiting === 0, 'nothing waits')
  assert.deepEqual(wordsOf(hook.received), ['task submitted 0', 'task completed 50'])
})

test('where more waits than may, the task as it stands is posted in its place', async (t) => {
  const { service, push } = house(t)
  const { answer, release } = firstHeld()
  const hook = await webhook(t, answer)
  const task = await taskOf(service)
  await push.register(task, config(hook.url), '1.0')
  await hook.until(1)
  for (let count = 0; count < 300; count++) {
    tasksOf(service).addArtifact(task.id, { id: `x${count}`, parts: [part] })
  }
  release()
  await eventually(() => push.status.waiting === 0, 'nothing waits')
  assert.deepEqual(wordsOf(hook.received), ['task submitted 0', 'task submitted 300'])
  tasksOf(service).move(task.id, 'completed')
  assert.equal(wordsOf(await hook.until(3))[2], 'status completed')
})

test('what waits is bounded in bytes too', async (t) => {
  const formatPush: Dialect['formatPush'] = (event) => (
    JSON.stringify(event.what === 'task' ? 'task' : 'x'.repeat(400_000))
  )
  const { service, push } = house(t, {}, undefined, {
    dialectOf: (name) => ({ ...wordDialect(name), formatPush }),
  })
  const { answer, release } = firstHeld()
  const hook = await webhook(t, answer)
  const task = await taskOf(service)
  await push.register(task, config(hook.url), '1.0')
  await hook.until(1)
  for (let count = 0; count < 3; count++) tasksOf(service).addArtifact(task.id, { id: 'x', parts: [part] })
  release()
  await eventually(() => push.status.waiting === 0, 'nothing waits')
  assert.deepEqual(wordsOf(hook.received), ['task', 'task'])
})

for (const status of [408, 429, 500, 502, 503, 599]) {
  test(`after ${status} it is tried again, and what follows waits for it`, async (t) => {
    const { service, push, lines } = house(t)
    const hook = await webhook(t, (response, nth) => {
      response.writeHead(nth === 1 || nth === 2 ? status : 200).end()
    })
    const task = await taskOf(service)
    await push.register(task, config(hook.url), '1.0')
    tasksOf(service).move(task.id, 'working')
    tasksOf(service).move(task.id, 'completed')
    assert.deepEqual(wordsOf(await hook.until(5)), [
      'task submitted 0', 'status working', 'status working', 'status working', 'status completed',
    ])
    assert.deepEqual(lines, [])
  })
}

for (const status of [301, 302, 307, 308, 400, 401, 404, 410, 422]) {
  test(`after ${status} it is not tried again, and what follows is posted`, async (t) => {
    const { service, push, lines } = house(t)
    const target = await webhook(t)
    const hook = await webhook(t, (response, nth) => {
      response.writeHead(nth === 1 ? status : 200, { location: target.url }).end()
    })
    const task = await taskOf(service)
    await push.register(task, config(hook.url), '1.0')
    tasksOf(service).move(task.id, 'working')
    tasksOf(service).move(task.id, 'completed')
    assert.deepEqual(wordsOf(await hook.until(3)), ['task submitted 0', 'status working', 'status completed'])
    await eventually(() => push.status.waiting === 0, 'nothing waits')
    assert.equal(target.received.length, 0)
    assert.deepEqual(lines.map(({ message }) => message), ['A webhook did not take an event'])
    assert.match(lines[0]!.text, new RegExp(`HTTP ${status}`))
  })
}

test('a receiver that is away or too slow is tried again', async (t) => {
  const { service, push } = house(t, { timeoutMs: 400 })
  const hook = await webhook(t, (response, nth) => {
    if (nth === 0) response.socket!.destroy()
    else if (nth > 1) response.end()
  })
  await push.register(await taskOf(service), config(hook.url), '1.0')
  await hook.until(3)
  await eventually(() => push.status.waiting === 0, 'nothing waits')
  assert.equal(hook.received.length, 3)
})

test('a receiver is waited for as it asks', async (t) => {
  const { service, push } = house(t)
  const hook = await webhook(t, (response, nth) => {
    if (nth === 0) response.writeHead(503, { 'retry-after': '1' })
    response.end()
  })
  await push.register(await taskOf(service), config(hook.url), '1.0')
  const [first, second] = await hook.until(2)
  assert.ok(second!.at - first!.at >= 990, `${second!.at - first!.at} ms`)
})

test('after its tries an event is given up, and after three such events the configuration is', async (t) => {
  const { service, push, lines } = house(t, { retryDelaysMs: [1] })
  const hook = await webhook(t, (response) => response.writeHead(500).end())
  const task = await taskOf(service)
  await push.register(task, config(hook.url), '1.0')
  for (const state of ['working', 'input-required', 'working', 'completed'] as const) {
    tasksOf(service).move(task.id, state)
  }
  await eventually(async () => (await push.configs.of(task)).length === 0, 'the configuration is gone')
  assert.deepEqual(wordsOf(hook.received), [
    'task submitted 0', 'task submitted 0', 'status working', 'status working', 'status input-required',
    'status input-required',
  ])
  assert.equal(push.status.waiting, 0)
  assert.match(lines.at(-1)!.message, /does not take its events: it is forgotten/)
})

test('one that is given up takes no other of its task with it, however long that runs', async (t) => {
  const store = memoryStore()
  const kept: number[] = []
  const { service, push } = house(t, { retryDelaysMs: [] }, { ...store, write(key, value, keepMs, expected) {
    if (key.collection === 'push-configs') kept.push(keepMs)
    return store.write(key, value, keepMs, expected)
  } })
  const bad = await webhook(t, (response) => response.writeHead(400).end())
  const task = await taskOf(service)
  await push.register(task, config((await webhook(t)).url, { id: 'good' }), '1.0')
  await push.register(task, config(bad.url, { id: 'bad' }), '1.0')
  for (const state of ['working', 'input-required'] as const) tasksOf(service).move(task.id, state)
  await eventually(async () => (await push.configs.of(task)).length === 1, 'it is given up')
  assert.deepEqual(kept, [Infinity, Infinity, Infinity])
})

test('one that is deleted gets nothing more, and one that takes its place gets what waits', async (t) => {
  const { service, push } = house(t, { retryDelaysMs: [5, 5, 5, 5, 5, 5, 5, 5, 5, 5] })
  const away = await webhook(t, (response) => response.writeHead(503).end())
  const back = await webhook(t)
  const task = await taskOf(service)
  await push.register(task, config(away.url), '1.0')
  tasksOf(service).move(task.id, 'working')
  await away.until(1)
  await push.register(task, config(back.url), '1.0')
  assert.deepEqual(wordsOf(await back.until(3)).slice(0, 2), ['task submitted 0', 'status working'])
  await push.remove(task, 'a')
  tasksOf(service).move(task.id, 'completed')
  await eventually(() => push.status.waiting === 0, 'nothing waits')
  assert.equal(back.received.length, 3)
  await push.register(task, config(back.url, { id: 'a' }), '1.0')
  await back.until(4)
})

test('a task that has ended is posted once, as it stands', async (t) => {
  const { service, push } = house(t)
  const hook = await webhook(t)
  const task = await taskOf(service)
  tasksOf(service).move(task.id, 'completed')
  await push.register(tasksOf(service).get('ann', task.id) as typeof task, config(hook.url), '1.0')
  assert.deepEqual(wordsOf(await hook.until(1)), ['task completed 0'])
  await eventually(() => push.status.waiting === 0, 'nothing waits')
})

test('a name is looked up for each post, and one that has turned inward is not posted to', async (t) => {
  let lookups = 0
  const { service, push, lines } = house(t, { allowPrivate: false }, undefined, {
    async lookup() { return [{ address: lookups++ === 0 ? '8.8.8.8' : '127.0.0.1', family: 4 }] },
  })
  const hook = await webhook(t)
  const url = `http://rebinding.example.com:${hook.port}/`
  await push.checkUrl(url, 'ann')
  await push.register(await taskOf(service), config(url), '1.0')
  await eventually(() => push.status.waiting === 0, 'it is given up')
  assert.equal(lookups, 2)
  assert.equal(hook.received.length, 0)
  assert.match(lines[0]!.text, /leads to this machine/)
})

test('the address that was checked is the one that is connected to', async (t) => {
  let lookups = 0
  const { service, push } = house(t, {}, undefined, {
    async lookup() {
      lookups++
      return [{ address: '127.0.0.1', family: 4 }]
    },
  })
  const hook = await webhook(t)
  await push.register(await taskOf(service), config(`http://hooks.invalid:${hook.port}/`), '1.0')
  await hook.until(1)
  assert.equal(lookups, 1)
})

test('a name that is not found now may be registered, one that leads inward may not', async (t) => {
  const { push } = house(t, { allowPrivate: false }, undefined, {
    async lookup(name) {
      if (name.startsWith('inside')) return [{ address: '10.0.0.1', family: 4 }]
      throw new Error('ENOTFOUND')
    },
  })
  await push.checkUrl('https://later.example.com/', 'ann')
  await assert.rejects(async () => push.checkUrl('https://inside.example.com/', 'ann'), { kind: 'invalid' })
  await assert.rejects(async () => push.checkUrl('https://169.254.169.254/', 'ann'), { kind: 'invalid' })
})

test('nothing secret is logged, not even of an address', async (t) => {
  const { service, push, lines } = house(t, { retryDelaysMs: [] })
  const hook = await webhook(t, (response) => response.writeHead(401).end('hidden-answer'))
  const task = await taskOf(service)
  const authentication = { schemes: ['Bearer'], credentials: 'hidden-key' }
  const url = `${hook.url}/hidden-path?key=hidden-query`
  await push.register(task, config(url, { token: 'hidden-token', authentication }), '1.0')
  for (const state of ['working', 'completed'] as const) tasksOf(service).move(task.id, state)
  await eventually(() => push.status.waiting === 0, 'it is given up')
  assert.ok(lines.length > 2)
  for (const { text } of lines) assert.doesNotMatch(text, /hidden/)
})

test('receivers of one owner that do not answer hold up nobody else', async (t) => {
  const { service, push } = house(t)
  const silent = await webhook(t, () => {})
  const hook = await webhook(t)
  for (let count = 0; count < 40; count++) {
    await push.register(await taskOf(service, 'eve'), config(silent.url), '1.0')
  }
  await silent.until(1)
  await push.register(await taskOf(service, 'ann'), config(hook.url), '1.0')
  await hook.until(1)
  assert.ok(push.status.waiting >= 40)
})

test('many webhooks may wait for their next try, without a warning', async (t) => {
  const warnings: string[] = []
  const hear = ({ name }: Error): void => { warnings.push(name) }
  process.on('warning', hear)
  t.after(() => process.off('warning', hear))
  const { service, push } = house(t, { retryDelaysMs: [60_000] })
  const away = await webhook(t, (response) => response.writeHead(503).end())
  for (let count = 0; count < 12; count++) {
    await push.register(await taskOf(service, `owner ${count}`), config(away.url), '1.0')
  }
  await away.until(12)
  // The last answer has come when a post behind it has been answered, too.
  await fetch(away.url, { method: 'POST' })
  assert.equal(push.status.waiting, 12)
  assert.deepEqual(warnings.filter((name) => name === 'MaxListenersExceededWarning'), [])
})

test('closing ends what is on its way and what waits', async (t) => {
  const { service, push, lines } = house(t, { retryDelaysMs: [60_000] })
  const silent = await webhook(t, () => {})
  const away = await webhook(t, (response) => response.writeHead(503).end())
  const task = await taskOf(service)
  await push.register(task, config(silent.url, { id: 'silent' }), '1.0')
  await push.register(task, config(away.url, { id: 'away' }), '1.0')
  await Promise.all([silent.until(1), away.until(1)])
  const end = push.idle(20)
  await end
  await push.close()
  tasksOf(service).move(task.id, 'completed')
  assert.deepEqual(lines, [])
  assert.equal(silent.received.length + away.received.length, 2)
})

const shared = (): MemoryStore => memoryStore({ isShared: true })

test('what was not delivered before a restart is delivered after it, in order', async (t) => {
  const store = shared()
  const before = house(t, { retryDelaysMs: [60_000] }, store)
  let isBack = false
  const hook = await webhook(t, (response) => response.writeHead(isBack ? 200 : 503).end())
  const task = await taskOf(before.service)
  await before.push.register(task, config(hook.url, { token: 'token' }), '1.0')
  tasksOf(before.service).move(task.id, 'working')
  tasksOf(before.service).addArtifact(task.id, { id: 'x', parts: [part] })
  tasksOf(before.service).move(task.id, 'completed')
  await hook.until(1)
  await before.close()
  isBack = true
  const after = house(t, {}, store)
  const received = await hook.until(5)
  assert.deepEqual(wordsOf(received).slice(1), [
    'task submitted 0', 'status working', 'artifact x', 'status completed',
  ])
  assert.equal(received[4]!.headers['x-a2a-notification-token'], 'token')
  await eventually(() => after.push.status.waiting === 0, 'nothing waits')
  const node = sharedOf(before.service)!.cluster.id
  const kept = (): readonly unknown[] => listed(store, 'push-events', `~${node}`)
  await eventually(() => kept().length === 0, 'nothing is kept')
})

test('after a restart a dialect of whole tasks says the task as it stands then', async (t) => {
  const store = shared()
  const before = house(t, { retryDelaysMs: [60_000] }, store)
  let isBack = false
  const hook = await webhook(t, (response) => response.writeHead(isBack ? 200 : 503).end())
  const task = await taskOf(before.service)
  await before.push.register(task, config(hook.url), '0.3')
  await hook.until(1)
  tasksOf(before.service).move(task.id, 'completed')
  await eventually(() => {
    const [entry] = listed(store, 'tasks', 'ann')
    return entry !== undefined && entry.value.includes('completed')
  }, 'the task is kept')
  await before.close()
  isBack = true
  const after = house(t, {}, store)
  assert.deepEqual(wordsOf(await hook.until(2)).slice(1), ['task completed 0'])
  await eventually(() => after.push.status.waiting === 0, 'nothing waits')
  assert.equal(hook.received.length, 2)
})

test('a process that lives keeps its events, and those of one that is gone are taken over', async (t) => {
  const store = shared()
  let isBack = false
  const hook = await webhook(t, (response) => response.writeHead(isBack ? 200 : 503).end())
  const gone = house(t, { retryDelaysMs: [60_000] }, store)
  await gone.push.register(await taskOf(gone.service), config(hook.url), '1.0')
  await hook.until(1)
  isBack = true
  const { cluster: nodes } = sharedOf(house(t, {}, store, { leaseMs: 100 }).service)!
  let looks = 0
  nodes.onBeat(() => { looks += nodes.mayJudge ? 1 : 0 })
  await eventually(() => looks > 2, 'it has looked twice')
  assert.equal(hook.received.length, 1)
  // As one that was killed.
  await sharedOf(gone.service)!.cluster.close(false)
  await hook.until(2)
})

test('whichever process runs a task posts its events, whoever registered the webhook', async (t) => {
  const store = shared()
  const runs = house(t, {}, store)
  const asks = house(t, {}, store)
  const hook = await webhook(t)
  const task = await taskOf(runs.service)
  const seen = await tasksOf(asks.service).get('ann', task.id)
  await asks.push.register(seen!, config(hook.url), '1.0')
  await hook.until(1)
  tasksOf(runs.service).move(task.id, 'working')
  await hook.until(2)
  await asks.push.remove(seen!, 'a')
  // Heard on a topic that answers at once, and read from a store that does.
  await new Promise((resolve) => { setImmediate(resolve) })
  tasksOf(runs.service).move(task.id, 'completed')
  await eventually(() => runs.push.status.waiting + asks.push.status.waiting === 0, 'nothing waits')
  assert.deepEqual(wordsOf(hook.received), ['task submitted 0', 'status working'])
})

test('a store that fails delays nothing, and is told once', async (t) => {
  const store = shared()
  const { service, push, lines } = house(t, {}, { ...store, write(key, value, keepMs, expected) {
    if (/push-[es]/.test(key.collection)) throw new Error('away')
    return store.write(key, value, keepMs, expected)
  } })
  const hook = await webhook(t)
  const task = await taskOf(service)
  await push.register(task, config(hook.url), '1.0')
  tasksOf(service).move(task.id, 'completed')
  await hook.until(2)
  assert.equal(lines.filter(({ message }) => /could not be kept: some may be lost/.test(message)).length, 1)
})

test('a task is not kept as ended before all that happened before is kept for its webhooks', async (t) => {
  const memory = shared()
  const held: (() => void)[] = []
  const ends: string[] = []
  const { service, push } = house(t, {}, { ...memory, write(key, value, keepMs, expected) {
    const write = (): number | undefined => memory.write(key, value, keepMs, expected)
    if (key.collection.endsWith('push-events') && value.includes('artifact x')) {
      return new Promise((resolve) => { held.push(() => resolve(write())) })
    }
    if (key.collection.endsWith('/tasks') && value.includes('completed')) ends.push(value)
    return write()
  } })
  const hook = await webhook(t)
  const task = await taskOf(service)
  await push.register(task, config(hook.url), '1.0')
  tasksOf(service).addArtifact(task.id, { id: 'x', parts: [part] })
  tasksOf(service).move(task.id, 'completed')
  await eventually(() => held.length > 0, 'what happened is being kept')
  await hook.until(2)
  assert.deepEqual(ends, [])
  held[0]!()
  await hook.until(3)
  await tasksOf(service).whenPersisted(task.id)
  assert.equal(ends.length, 1)
})

test('a task that waited, and goes on in another process, is posted about from there', async (t) => {
  const store = shared()
  const began = house(t, {}, store)
  const goesOn = house(t, {}, store)
  const hook = await webhook(t)
  const task = await handOver(began, goesOn, hook)
  const tasks = tasksOf(goesOn.service)
  const { id } = task
  // Where it began it is lost, and its configurations are the other's.
  await tasksOf(began.service).get('ann', id)
  tasks.move(id, 'completed')
  assert.deepEqual(wordsOf(await hook.until(4)), [
    'task submitted 0', 'status input-required', 'task input-required 0', 'status completed',
  ])
  assert.equal((await began.push.configs.of(task)).length, 1)
  await eventually(() => began.push.status.bytes === 0, 'nothing is held where it was')
})

test('what waits where a task was is not posted behind what the process posts that has it now', async (t) => {
  const store = shared()
  const began = house(t, { retryDelaysMs: [60_000] }, store)
  const goesOn = house(t, {}, store)
  const hook = await webhook(t, (response, nth) => response.writeHead(nth === 1 ? 503 : 200).end())
  const task = await handOver(began, goesOn, hook)
  const tasks = tasksOf(goesOn.service)
  const { id } = task
  await tasksOf(began.service).get('ann', id)
  await eventually(() => began.push.status.waiting === 0, 'nothing waits where it was')
  tasks.move(id, 'completed')
  assert.deepEqual(wordsOf(await hook.until(4)), [
    'task submitted 0', 'status input-required', 'task input-required 0', 'status completed',
  ])
  await eventually(() => goesOn.push.status.waiting === 0, 'nothing waits where it is')
  assert.equal(hook.received.length, 4)
})

test('one of another process that is removed while it is read gets nothing any more', async (t) => {
  const store = shared()
  let reads = 0
  let release: () => void = () => {}
  const isReleased = new Promise<void>((resolve) => { release = resolve })
  const runs = house(t, {}, {
    ...store,
    read(key) {
      const entry = store.read(key)
      // The first is of the message of the other process.
      return /push-configs$/.test(key.collection) && ++reads === 1 ? isReleased.then(() => entry) : entry
    },
  })
  const other = house(t, {}, store)
  const hook = await webhook(t)
  const { id } = await taskOf(runs.service)
  await tasksOf(runs.service).whenPersisted(id)
  const task = await tasksOf(other.service).get('ann', id) as Task
  await other.push.register(task, config(hook.url), '1.0')
  await eventually(() => reads === 1, 'it is read')
  await runs.push.remove(await tasksOf(runs.service).get('ann', id) as Task, 'a')
  release()
  await eventually(() => reads >= 3 && runs.push.status.waiting === 0, 'it was read again')
  const count = hook.received.length
  tasksOf(runs.service).move(id, 'completed')
  await eventually(() => runs.push.status.waiting === 0, 'nothing waits')
  assert.deepEqual(wordsOf(hook.received).slice(count), [])
})

test('what has made room for others has no configurations any more', async (t) => {
  const { service, push } = house(t)
  const hook = await webhook(t)
  const task = await taskOf(service)
  await push.register(task, config(hook.url), '1.0')
  await hook.until(1)
  await tasksOf(service).drop(task.id)
  await eventually(async () => (await push.configs.of(task)).length === 0)
})

test('a server tells for how many webhooks something waits', async (t) => {
  const agents = [{ name: 'Bot', run: () => 'yes' }]
  const serverWith = (pushNotifications: boolean): TriportServer => (
    serve(t, { protocol: 'a2a', agents, a2a: { pushNotifications } })
  )
  assert.equal(serverWith(false).status().webhooks, undefined)
  assert.deepEqual(serverWith(true).status().webhooks, { waiting: 0, posting: 0, lookups: 0, bytes: 0 })
})
