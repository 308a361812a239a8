// Tasks in a store that several servers share, or one server before and after a restart.
import assert from 'node:assert/strict'
import test from 'node:test'
import { memoryStore } from '../../../lib/index.ts'
import { eventually, gate } from '../../fixtures/client.ts'
import { sharedStore } from '../../fixtures/shared-store.ts'
import { webhook } from '../../fixtures/webhook.ts'
import { callerOf, Refused, sumOf, tellOf } from './caller.ts'
import type { Call } from '../../../lib/index.ts'

const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const

const asks = async (_prompt: string, call: Call): Promise<string> => {
  const { content } = await call.elicit({ message: 'Name?', schema })
  return `Hello ${content?.['name'] as string}`
}

test('a task that has ended is read, listed and not gone on with by any server', async (t) => {
  const store = sharedStore()
  const one = callerOf(t, (prompt) => `You said ${prompt}`, { store })
  const task = await one.task('hello')
  const other = callerOf(t, () => 'never', { store })
  assert.deepEqual(await other.get(task.id), task)
  assert.equal(sumOf(task), 'completed: You said hello')
  assert.deepEqual((await other.list({ withArtifacts: true })).tasks, [task])
  await assert.rejects(other.send('more', { taskId: task.id }), { code: -32004 })
  await assert.rejects(other.cancel(task.id), { code: -32002 })
  await assert.rejects(other.subscribe(task.id), { code: -32004 })
})

test('a run begins again with its own message, which may have the id of one before', async (t) => {
  const store = sharedStore()
  const run = async (prompt: string, call: Call): Promise<object | string> => (
    prompt === 'first' ? { text: 'More?', state: 'input-required' } : `${prompt}: ${await asks(prompt, call)}`
  )
  const one = callerOf(t, run, { store })
  const { id } = await one.task('first', { id: 'm' })
  await one.task('second', { id: 'm', taskId: id })
  const other = callerOf(t, run, { store })
  assert.equal(sumOf(await other.task('Ann', { taskId: id })), 'completed: second: Hello Ann')
})

test('a task that waits is gone on with by another server, with all that was said', async (t) => {
  const store = sharedStore()
  const run = (prompt: string, call: Call): object | string => (
    prompt === 'this'
      ? `${call.history.length} before ${prompt}`
      : { text: 'Which?', state: 'input-required' }
  )
  const { id, contextId } = await callerOf(t, run, { store }).task('hello')
  const other = callerOf(t, run, { store })
  const task = await other.task('this', { taskId: id })
  assert.equal(sumOf(task), 'completed: 2 before this')
  assert.equal(task.contextId, contextId)
  assert.deepEqual(task.history?.map(({ role }) => role), ['user', 'agent', 'user'])
})

test('a webhook is told of what happens to a task at whichever server it goes on', async (t) => {
  const store = memoryStore({ isShared: true })
  const run = (prompt: string): object | string => (
    prompt === 'this' ? 'done' : { text: 'Which?', state: 'input-required' }
  )
  const options = { store, a2a: { pushNotifications: { allowInsecure: true, allowPrivate: true } } }
  const [one, other] = [1, 2].map(() => callerOf(t, run, options))
  const hook = await webhook(t)
  const { id } = await one!.task('hello', { push: hook.url })
  assert.equal(sumOf(await other!.task('this', { taskId: id })), 'completed: done')
  const received = await hook.until(2)
  await eventually(() => /COMPLETED/.test(received.at(-1)!.body), 'its end is told')
})

test('a webhook is told that a task was canceled, at whichever server it was', async (t) => {
  const runs = {
    'it runs nowhere': () => ({ text: 'Which?', state: 'input-required' }),
    'its run waits': asks,
  } as const
  for (const [when, run] of Object.entries(runs)) {
    const store = memoryStore({ isShared: true })
    const options = { store, a2a: { pushNotifications: { allowInsecure: true, allowPrivate: true } } }
    const [one, other] = [1, 2].map(() => callerOf(t, run, options))
    const hook = await webhook(t)
    const { id } = await one!.task('hello', { push: hook.url })
    await hook.until(1)
    assert.equal((await other!.cancel(id)).status.state, 'canceled', when)
    await eventually(() => /CANCELED/.test(hook.received.at(-1)!.body), `where ${when}, its end is told`)
  }
})

test('a question is answered at another server, which runs it again where its run is gone', async (t) => {
  for (const how of ['parked', 'still there'] as const) {
    const store = sharedStore()
    let paid = 0
    let aborted = 0
    const run = async (prompt: string, call: Call): Promise<string> => {
      call.signal.addEventListener('abort', () => { aborted += 1 })
      const receipt = await call.once('pay', () => ++paid)
      return `${await asks(prompt, call)} ${prompt} ${call.messageId} ${receipt}`
    }
    const one = callerOf(t, run, { store, ...how === 'parked' && { askTimeoutMs: 5 } })
    const { id } = await one.task('hello', { id: 'm-1' })
    if (how === 'parked') await eventually(() => aborted === 1)
    const other = callerOf(t, run, { store })
    const task = await other.task('Ann', { taskId: id })
    assert.equal(sumOf(task), 'completed: Hello Ann hello m-1 1', how)
    assert.deepEqual(await one.get(id), task, how)
    assert.equal(aborted, how === 'parked' ? 1 : 0, how)
    await assert.rejects(one.send('Bob', { taskId: id }), { code: -32004 }, how)
  }
})

test('a turn that is run again says its answer again, and not beside what it said before', async (t) => {
  for (const store of [undefined, sharedStore()]) {
    let aborted = 0
    const run = async function * (_prompt: string, call: Call): AsyncGenerator<string> {
      call.signal.addEventListener('abort', () => { aborted += 1 })
      yield 'Hello '
      const { content } = await call.elicit({ message: 'Name?', schema })
      yield String(content?.['name'])
    }
    const callers = [1, 2].map(() => callerOf(t, run, { askTimeoutMs: 5, ...store && { store } }))
    const [one, other] = store === undefined ? [callers[0]!, callers[0]!] : callers
    const { id } = await one!.task('hello')
    await eventually(() => aborted === 1)
    const task = await other!.task('Ann', { taskId: id })
    assert.equal(sumOf(task), 'completed: Hello Ann')
    assert.equal(task.artifacts?.length, 1)
  }
})

test('of several answers at the same time one is taken, at whichever server', async (t) => {
  for (const servers of [1, 2]) {
    const store = sharedStore(2)
    let runs = 0
    const run = async (prompt: string, call: Call): Promise<string> => {
      const said = await asks(prompt, call)
      runs += 1
      return said
    }
    const all = Array.from({ length: servers }, () => callerOf(t, run, { store }))
    const { id } = await all[0]!.task('hello')
    const sent = ['Ann', 'Bob', 'Cid'].map((name, at) => all[at % servers]!.task(name, { taskId: id }))
    const ends = await Promise.allSettled(sent)
    const won = ends.filter((end) => end.status === 'fulfilled')
    assert.equal(won.length, 1, `${servers}: ${JSON.stringify(ends)}`)
    for (const end of ends) {
      if (end.status === 'rejected') assert.equal((end.reason as Refused).code, -32004)
    }
    assert.equal(runs, 1)
    assert.match(sumOf(won[0]!.value), /^completed: Hello (Ann|Bob|Cid)$/)
    assert.equal(won[0]!.value.history?.length, 3)
  }
})

test('what is no answer is heard at another server too, and the question waits for the next', async (t) => {
  const store = sharedStore()
  const one = callerOf(t, asks, { store })
  const other = callerOf(t, asks, { store })
  const { id } = await one.task('hello')
  const data = [{ type: 'data' as const, data: { name: 1 } }]
  const again = await other.task(data, { taskId: id })
  assert.equal(again.status.state, 'input-required')
  assert.deepEqual(await one.get(id), again)
  assert.equal(sumOf(await one.task('Ann', { taskId: id })), 'completed: Hello Ann')
  assert.equal((await other.get(id)).history?.length, 5)
})

test('any server cancels a task, and the one that runs it finds out', async (t) => {
  const store = sharedStore()
  const open = gate()
  let signal: AbortSignal | undefined
  const one = callerOf(t, async function * (_prompt, call) {
    signal = call.signal
    await open.promise
    yield 'late'
    yield 'later'
  }, { store })
  const other = callerOf(t, asks, { store })
  const running = await one.task('hello', { isBlocking: false })
  const canceled = await other.cancel(running.id)
  assert.equal(canceled.status.state, 'canceled')
  open.open()
  await eventually(() => signal?.aborted === true)
  assert.deepEqual(await one.get(running.id), canceled)
  const waiting = await other.task('hello')
  assert.equal((await one.cancel(waiting.id)).status.state, 'canceled')
  assert.equal((await other.get(waiting.id)).status.state, 'canceled')
  assert.equal((await other.cancel(waiting.id)).status.state, 'canceled')
})

test('times of a task rise, whichever server goes on with it', async (t) => {
  const store = sharedStore()
  const { id, status } = await callerOf(t, asks, { store }).task('hello')
  // The clock of the next server is behind.
  const now = Date.now()
  t.mock.method(Date, 'now', () => now - 60_000)
  const task = await callerOf(t, asks, { store }).task('Ann', { taskId: id })
  assert.ok(task.status.at > status.at, `${task.status.at} ${status.at}`)
})

test('an agent may answer with a message in the place of a task, and no server has the task', async (t) => {
  const store = sharedStore()
  const bot = callerOf(t, async (prompt, call) => {
    if (prompt === 'artifact') call.artifact({ parts: ['a'] })
    return { text: 'hi', reply: 'message' }
  }, { store }, { replies: 'either' })
  assert.equal(tellOf(await bot.send('message')), 'message hi')
  assert.deepEqual((await (await bot.stream('message')).rest()).map(tellOf), ['message hi'])
  assert.equal((await bot.list()).totalSize, 0)
  assert.equal(sumOf(await bot.task('artifact')), 'completed (hi): a')
})

test('a task that cannot be kept is not promised, and its agent not run', async (t) => {
  const store = sharedStore()
  let runs = 0
  const bot = callerOf(t, () => {
    runs += 1
    return 'done'
  }, { store })
  store.failWith(new Error('secret'))
  const error = await bot.send('hello').then(() => undefined, (thrown: unknown) => thrown)
  assert.ok(error instanceof Refused)
  assert.deepEqual([error.code, runs], [-32603, 0])
  assert.doesNotMatch(error.detail, /secret/)
})
