/**
 * When a run becomes a task, what it asks then, and how it ends.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../../lib/index.ts'
import { eventually, gate } from '../../fixtures/client.ts'
import { standingTime } from '../../fixtures/time.ts'
import { begin, said } from '../mcp/client.ts'
import {
  answer, callWork, capabilities, form, get, reaches, serveWork, started, TASKS, update, work,
} from './task-client.ts'
import type { Call } from '../../../lib/index.ts'
import type { Json } from '../../fixtures/events.ts'

const accept = (name: string): object => ({ action: 'accept', content: { name } })

const quick: Readonly<Record<string, () => unknown>> = {
  'a plain value': () => 'done',
  'a promise that is kept at once': async () => 'done',
  'several turns of microtasks': async () => {
    for (let n = 0; n < 100; n++) await null
    return 'done'
  },
}

for (const [name, run] of Object.entries(quick)) {
  test(`a run that ends before the event loop turns is a task only where it must be: ${name}`, async (t) => {
    const result = await work(serveWork(t, 'optional', run))
    assert.deepEqual([result.resultType, said(result)], ['complete', 'done'])
    const server = serveWork(t, 'required', run)
    assert.equal(said((await reaches(server, await started(server), 'completed')).result), 'done')
    assert.equal((await work(serveWork(t, 'forbidden', run))).resultType, 'complete')
  })
}

test('a run that goes on becomes a task, which can be read at once and has the result later', async (t) => {
  const { promise, open } = gate<string>()
  const server = serveWork(t, 'optional', () => promise)
  const result = await work(server)
  const { taskId, createdAt, lastUpdatedAt, ttlMs, _meta, ...rest } = result
  assert.deepEqual(rest, { resultType: 'task', status: 'working', pollIntervalMs: 1000 })
  assert.ok(createdAt <= lastUpdatedAt && ttlMs >= 3_600_000 && Number.isInteger(ttlMs))
  assert.ok(_meta !== undefined)
  const now = await get(server, taskId)
  assert.deepEqual([now.resultType, now.taskId, now.status], ['complete', taskId, 'working'])
  assert.equal(now.createdAt, createdAt)
  open('done')
  const done = await reaches(server, taskId, 'completed')
  assert.deepEqual(done.result.content, [{ type: 'text', text: 'done' }])
  assert.equal(done.result.resultType, 'complete')
  for (const shape of [result, now, done]) {
    for (const old of ['requestState', 'ttl', 'pollInterval', 'task']) assert.ok(!(old in shape), old)
  }
})

test('without tasks in the tool, the client or the revision, a call waits for its result', async (t) => {
  const slow = async (): Promise<string> => sleep(5, 'done')
  assert.equal(said(await work(serveWork(t, 'forbidden', slow))), 'done')
  assert.equal(said(await work(serveWork(t, 'optional', slow), {}, { capabilities: {} })), 'done')
  const session = await begin(serveWork(t, 'required', slow), '2025-06-18', capabilities)
  assert.equal(said(await session.call('work')), 'done')
})

test('a tool that needs a task refuses a client that knows none, before it runs', async (t) => {
  let runs = 0
  const server = serveWork(t, 'required', () => ++runs)
  const response = await callWork(server, {}, { capabilities: { extensions: {} } })
  const { error } = await response.json() as Json
  assert.deepEqual([response.status, error.code, runs], [400, -32021, 0])
  assert.deepEqual(error.data.requiredCapabilities, { extensions: { [TASKS]: {} } })
})

test('a handler that asks first has its rounds first; what it did in them is not done again', async (t) => {
  let effects = 0
  const server = serveWork(t, 'required', async (call) => {
    const effect = await call.once('effect', () => ++effects)
    const { content } = await call.elicit({ key: 'who', message: 'Who?', schema: form })
    // From the next turn on it is a task.
    await turn()
    const again = await call.once('effect', () => ++effects)
    const { action } = await call.elicit({ key: 'sure', message: 'Sure?', schema: form })
    return `${String(content?.['name'])} ${action} ${effect} ${again}`
  })
  const round = await work(server)
  assert.deepEqual([round.resultType, Object.keys(round.inputRequests)], ['input_required', ['who']])
  const { requestState } = round
  const result = await work(server, { inputResponses: { who: accept('Ada') }, requestState })
  assert.equal(result.resultType, 'task')
  assert.ok(!('requestState' in result) && !('inputRequests' in result))
  const asking = await reaches(server, result.taskId, 'input_required')
  assert.deepEqual(Object.keys(asking.inputRequests), ['sure'])
  await update(server, result.taskId, { sure: { action: 'decline' } })
  const done = await reaches(server, result.taskId, 'completed')
  assert.deepEqual([said(done.result), effects], ['Ada decline 1 1', 1])
})

test('a handler that detaches is a task from then on; what it asked already is asked there', async (t) => {
  const server = serveWork(t, 'optional', async (call) => {
    const before = call.elicit({ key: 'before', message: 'Before?', schema: form })
    call.detach()
    const after = call.elicit({ key: 'after', message: 'After?', schema: form })
    return (await Promise.all([before, after])).map(({ content }) => content?.['name']).join(' ')
  })
  const id = await started(server)
  const { inputRequests } = await reaches(server, id, 'input_required')
  assert.deepEqual(inputRequests.before, {
    method: 'elicitation/create', params: { message: 'Before?', requestedSchema: form },
  })
  assert.deepEqual(Object.keys(inputRequests).sort(), ['after', 'before'])
  await update(server, id, { after: accept('b'), before: accept('a') })
  assert.equal(said((await reaches(server, id, 'completed')).result), 'a b')
})

test('answers may come one by one; strange keys are passed over, a wrong answer spoils all', async (t) => {
  const server = serveWork(t, 'required', async (call) => {
    call.detach()
    const ask = (): ReturnType<Call['elicit']> => call.elicit({ key: 'name', message: 'Name?', schema: form })
    const names = (await Promise.all([ask(), ask()])).map(({ content }) => content?.['name'])
    return [...names, (await ask()).action].join(' ')
  })
  const id = await started(server)
  const keysOf = async (): Promise<string[]> => Object.keys((await get(server, id)).inputRequests)
  await reaches(server, id, 'input_required')
  assert.deepEqual(await keysOf(), ['name', 'name-2'])
  const wrong = await update(server, id, { 'name': accept('a'), 'name-2': { action: 'accept' } })
  assert.equal(wrong.error.code, -32602)
  assert.match(wrong.error.data.detail, /inputResponses\.name-2/)
  assert.deepEqual(await keysOf(), ['name', 'name-2'])
  const { result } = await update(server, id, { name: accept('a'), strange: 1 })
  assert.deepEqual(Object.keys(result), ['resultType', '_meta'])
  assert.deepEqual(await keysOf(), ['name-2'])
  // What is answered is answered: its key means nothing any more.
  await update(server, id, { 'name': accept('c'), 'name-2': accept('b') })
  await reaches(server, id, 'input_required')
  assert.deepEqual(await keysOf(), ['name-3'])
  await update(server, id, { 'name-3': { action: 'cancel' } })
  assert.equal(said((await reaches(server, id, 'completed')).result), 'a b cancel')
  assert.equal((await update(server, id, {})).result.resultType, 'complete')
})

test('an answer that does not come in time is a timeout for the handler, who may go on', async (t) => {
  const server = serveWork(t, 'required', async (call) => {
    call.detach()
    const asked = [1, 2].map(() => call.elicit({ message: 'Well?', schema: form }))
    const settled = await Promise.allSettled(asked)
    return settled.map((one) => one.status === 'rejected' ? (one.reason as Fault).kind : 'answered').join(' ')
  }, { askTimeoutMs: 20 })
  assert.equal(said((await reaches(server, await started(server), 'completed')).result), 'timeout timeout')
})

const ends: readonly (readonly [string, (call: Call) => unknown, (task: Json) => void, string, object?])[] = [
  ['what the tool failed at', () => { throw new Fault('failed', 'No luck') },
    ({ result }) => assert.deepEqual([result.isError, said(result)], [true, 'No luck']), 'completed'],
  ['a defect', () => { throw new Error('secret') },
    ({ result }) => assert.match(said(result), /^Internal error/), 'completed'],
  ['the end of its time', () => new Promise(() => {}),
    ({ result }) => assert.deepEqual([result.isError, said(result)], [true, 'work: No result within 20 ms']),
    'completed', { toolTimeoutMs: 20 }],
  ['what is no business of a model', () => { throw new Fault('busy', 'Not now') },
    ({ error, statusMessage }) => assert.deepEqual(
      [error.code, error.data.detail, statusMessage], [-32603, 'Not now', 'Not now'],
    ), 'failed'],
  ['any other fault of the tool', () => { throw new Fault('conflict', 'Not now') },
    ({ result }) => assert.deepEqual([result.isError, said(result)], [true, 'Not now']), 'completed'],
  ['a client that cannot be asked', (call) => call.roots(),
    ({ error }) => assert.deepEqual(error.data.requiredCapabilities, { roots: {} }), 'failed'],
  ['what JSON cannot say', () => ({ content: ['x'], _meta: { big: 1n } }),
    ({ error }) => assert.match(error.data.detail, /^Internal error/), 'failed'],
  ['more than fits beside the task', () => 'x'.repeat(1_850),
    ({ error }) => assert.equal(error.code, -32600), 'failed', { maxResultBytes: 2_048 }],
]

for (const [name, run, check, status, limits] of ends) {
  test(`a task ends as ${status} with ${name}`, async (t) => {
    const late = serveWork(t, 'optional', async (call) => {
      call.detach()
      return run(call)
    }, limits)
    const task = await reaches(late, await started(late), status)
    check(task)
    assert.ok('result' in task !== 'error' in task)
  })
}

test('a call that is refused is no task; one that fails at once is, where there must be one', async (t) => {
  const failing = serveWork(t, 'required', () => { throw new Fault('conflict', 'Not now') })
  assert.equal((await reaches(failing, await started(failing), 'completed')).result.isError, true)
  const refusing = serveWork(t, 'required', () => { throw new Fault('forbidden', 'Not you') })
  assert.equal((await callWork(refusing)).status, 403)
  assert.equal((await callWork(serveWork(t, 'required', (call) => call.roots()))).status, 400)
})

test('a task that is cancelled hears of it, working or asking, and stays cancelled', async (t) => {
  for (const isAsking of [false, true]) {
    const heard: string[] = []
    const server = serveWork(t, 'required', async (call) => {
      call.signal.addEventListener('abort', () => heard.push('signal'))
      call.detach()
      const asked = [1, 2].map(() => call.elicit({ message: 'Well?', schema: form }))
      if (!isAsking) await sleep(10_000, '', { signal: call.signal })
      for (const one of asked) await one.catch((error: Error) => heard.push(error.name))
      return 'late'
    })
    const id = await started(server)
    await reaches(server, id, 'input_required')
    const cancel = async (): Promise<Json> => (await answer(server, 'cancel', { taskId: id })).result
    assert.deepEqual(Object.keys(await cancel()), ['resultType', '_meta'])
    const { status, statusMessage, lastUpdatedAt } = await get(server, id)
    assert.deepEqual([status, statusMessage], ['cancelled', 'The client has cancelled the task'])
    await eventually(() => heard.length === (isAsking ? 3 : 1))
    assert.deepEqual(Object.keys(await cancel()), ['resultType', '_meta'])
    assert.equal((await get(server, id)).lastUpdatedAt, lastUpdatedAt)
  }
})

test('a client that leaves cancels what is no task yet, and no task', async (t) => {
  for (const isTask of [true, false]) {
    const leaving = new AbortController()
    let signal: AbortSignal | undefined
    const { promise, open } = gate<string>()
    const server = serveWork(t, 'optional', (call) => {
      signal = call.signal
      isTask ? call.detach() : leaving.abort()
      return promise
    })
    const result = work(server, {}, { signal: leaving.signal })
    if (!isTask) {
      assert.equal(await result, undefined)
      await eventually(() => signal?.aborted === true)
      continue
    }
    const { taskId } = await result
    leaving.abort()
    await sleep(5)
    open('done')
    assert.equal(said((await reaches(server, taskId, 'completed')).result), 'done')
    assert.equal(signal?.aborted, false)
  }
})

test('the time limit stands still while a task asks, and goes on after', async (t) => {
  const pass = standingTime(t)
  const server = serveWork(t, 'required', async (call) => {
    call.detach()
    await call.elicit({ key: 'go', message: 'Go?', schema: form })
    await new Promise(() => {})
  }, { toolTimeoutMs: 40 })
  const id = await started(server)
  await reaches(server, id, 'input_required')
  pass(60)
  assert.equal((await get(server, id)).status, 'input_required')
  await update(server, id, { go: accept('x') })
  await reaches(server, id, 'working')
  pass(40)
  assert.match(said((await reaches(server, id, 'completed')).result), /within 40 ms/)
})

test('what a task says of its progress is its message; nothing else of it and no log goes out', async (t) => {
  const { promise, open } = gate<string>()
  const shown = gate()
  const server = serveWork(t, 'required', async (call) => {
    call.log('error', 'early')
    call.progress(1, 3, 'One')
    await shown.promise
    call.progress(2, 3, 'Two')
    call.log('error', 'late')
    call.progress(3)
    return promise
  })
  const meta = { 'progressToken': 0, 'io.modelcontextprotocol/logLevel': 'debug' }
  const response = await callWork(server, {}, { meta })
  assert.equal(response.headers.get('content-type'), 'application/json')
  const { result } = await response.json() as Json
  assert.deepEqual([result.resultType, result.statusMessage], ['task', 'One'])
  shown.open()
  await reaches(server, result.taskId, 'working', ({ statusMessage }) => statusMessage === 'Two')
  open('done')
  assert.ok(!('statusMessage' in await reaches(server, result.taskId, 'completed')))
})

test('without room for a task, a tool that needs one is busy and any other runs as ever', async (t) => {
  const { promise, open } = gate<string>()
  const busy = serveWork(t, 'required', () => promise, { maxTasks: 1 })
  const id = await started(busy)
  const { status, headers } = await callWork(busy)
  assert.deepEqual([status, headers.get('retry-after')], [503, '1'])
  open('done')
  await reaches(busy, id, 'completed')
  await started(busy)

  const other = gate<string>()
  const free = serveWork(t, 'optional', () => other.promise, { maxTasks: 1 })
  await started(free)
  const plain = work(free)
  await sleep(10)
  other.open('done')
  assert.equal(said(await plain), 'done')
})

test('a server that closes cancels its tasks when the grace is over', async (t) => {
  let signal: AbortSignal | undefined
  const server = serveWork(t, 'required', (call) => {
    signal = call.signal
    return new Promise(() => {})
  }, { graceMs: 20 })
  await started(server)
  assert.equal(signal?.aborted, false)
  await server.close()
  assert.equal(signal?.aborted, true)
})
