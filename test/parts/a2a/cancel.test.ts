import assert from 'node:assert/strict'
import test from 'node:test'
import { eventually, gate } from '../../fixtures/client.ts'
import { Caller, callerOf, serveA2a, sumOf, tellOf } from './caller.ts'
import type { Call } from '../../../lib/index.ts'

const schema = { type: 'object', properties: { name: { type: 'string' } } }

test('a task that is canceled aborts its run, and what that still says is dropped', async (t) => {
  let signal: AbortSignal | undefined
  const open = gate()
  const bot = callerOf(t, async function * (_prompt, call) {
    signal = call.signal
    yield 'one'
    await open.promise
    call.artifact({ parts: ['late'] })
    call.progress(1, 1, 'late')
    yield 'late'
    return 'late'
  }, { cancelWaitMs: 20 })
  const stream = await bot.stream('hello')
  const first = await stream.next()
  assert.ok(first?.what === 'task')
  const { id } = first.task
  await eventually(async () => sumOf(await bot.get(id)) === 'working: one')
  const canceled = await bot.cancel(id)
  assert.equal(sumOf(canceled), 'canceled (The client has cancelled the task): one')
  assert.equal(signal?.aborted, true)
  assert.deepEqual(
    (await stream.rest()).map(tellOf), ['=one', 'canceled (The client has cancelled the task)'],
  )
  open.open()
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(await bot.get(id), canceled)
})

test('a task that is canceled stays so, in every dialect; another that has ended cannot be', async (t) => {
  const server = serveA2a(t, {
    agents: [{ name: 'Bot', run: (prompt) => prompt === 'wait' ? new Promise<string>(() => {}) : prompt }],
    cancelWaitMs: 1,
  })
  for (const dialect of ['1.0', '0.3'] as const) {
    const bot = new Caller(server, { dialect })
    const { id } = await bot.task('wait', { isBlocking: false })
    const canceled = await bot.cancel(id)
    assert.equal(canceled.status.state, 'canceled')
    assert.deepEqual(await bot.cancel(id), canceled)
    const ended = await bot.task('hello')
    await assert.rejects(bot.cancel(ended.id), { code: -32002, detail: /completed/ })
    await assert.rejects(bot.cancel('unknown'), { code: -32001 })
  }
})

test('a client waits for the run to come to its end, but no longer than cancelWaitMs', async (t) => {
  let isOver = false
  const quick = callerOf(t, (_prompt, call) => new Promise((_resolve, reject) => {
    call.signal.addEventListener('abort', () => setTimeout(() => {
      isOver = true
      reject(new Error('stopped'))
    }, 10))
  }), { cancelWaitMs: Infinity })
  await quick.cancel((await quick.task('hello', { isBlocking: false })).id)
  assert.equal(isOver, true)
  const deaf = callerOf(t, () => new Promise(() => {}), { cancelWaitMs: 10 })
  await deaf.cancel((await deaf.task('hello', { isBlocking: false })).id)
})

test('a task that waits for its client is canceled, with a run or without one', async (t) => {
  let signal: AbortSignal | undefined
  const bot = callerOf(t, async (prompt, call) => {
    signal = call.signal
    if (prompt === 'ask') await call.elicit({ message: 'Name?', schema })
    return { text: 'Which?', state: 'input-required' }
  })
  const waiting = await bot.task('hello')
  assert.equal((await bot.cancel(waiting.id)).status.state, 'canceled')
  await assert.rejects(bot.send('this', { taskId: waiting.id }), { code: -32004 })
  const asking = await bot.task('ask')
  assert.equal((await bot.cancel(asking.id)).status.state, 'canceled')
  assert.equal(signal?.aborted, true)
})

test('who waits for a task hears that it is canceled', async (t) => {
  const bot = callerOf(t, () => new Promise(() => {}), { cancelWaitMs: 1 })
  const waiting = bot.task('hello')
  await eventually(async () => (await bot.list()).totalSize === 1)
  const [task] = (await bot.list()).tasks
  await bot.cancel(task!.id)
  assert.equal((await waiting).status.state, 'canceled')
})

test('the run of a tool is waited for as an agent\'s is', async (t) => {
  const steps: string[] = []
  const stop = {
    name: 'stop', description: 'Stops slowly.',
    run: (_args: object, call: Call) => new Promise<string>((resolve) => {
      call.signal.addEventListener('abort', () => setImmediate(() => {
        steps.push('stopped')
        resolve('late')
      }))
    }),
  }
  const desk = new Caller(serveA2a(t, { name: 'Desk', tools: [stop], cancelWaitMs: Infinity }))
  const { id } = await desk.task([{ type: 'data', data: { skill: 'stop' } }], { isBlocking: false })
  const canceled = await desk.cancel(id)
  steps.push(canceled.status.state)
  assert.deepEqual(steps, ['stopped', 'canceled'])
})
