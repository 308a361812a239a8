import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/index.ts'
import { eventually, gate } from '../../fixtures/client.ts'
import { standingTime } from '../../fixtures/time.ts'
import { Caller, callerOf, serveA2a, sumOf, tellOf } from './caller.ts'
import type { Run } from './caller.ts'

const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }

test('a message begins a task, which is answered when it has ended', async (t) => {
  const runs: readonly (readonly [what: string, run: Run])[] = [
    ['at once', (prompt) => `You said ${prompt}`],
    ['later', async (prompt) => `You said ${prompt}`],
    ['piece by piece', async function * (prompt) {
      yield 'You '
      yield `said ${prompt}`
    }],
  ]
  for (const [what, run] of runs) {
    const bot = callerOf(t, run)
    const task = await bot.task('hello')
    assert.equal(sumOf(task), 'completed: You said hello', what)
    assert.deepEqual(await bot.get(task.id), task, what)
    assert.deepEqual(task.history?.map(({ role }) => role), ['user'], what)
  }
})

test('what an agent says of its state is the state\'s message, and no artifact', async (t) => {
  const states = ['input-required', 'auth-required', 'failed', 'rejected'] as const
  for (const state of states) {
    const answer = { text: 'Because', state }
    const runs: readonly Run[] = [() => answer, async () => answer, async function * () { yield answer }]
    for (const run of runs) {
      assert.equal(sumOf(await callerOf(t, run).task('hello')), `${state} (Because)`)
    }
  }
})

test('what an agent throws ends its task: with the words of a Fault, and none of a defect', async (t) => {
  const ends: readonly (readonly [thrown: unknown, end: RegExp])[] = [
    [new Fault('failed', 'No luck'), /^failed \(No luck\)$/],
    [new Fault('invalid', 'No such city'), /^failed \(No such city\)$/],
    [new Fault('not-found', 'No such city'), /^failed \(No such city\)$/],
    [new Fault('busy', 'Full'), /^failed \(Full\)$/],
    [new Fault('timeout', 'Too slow'), /^failed \(Too slow\)$/],
    [new Fault('cancelled', 'Not any more'), /^canceled \(Not any more\)$/],
    [new Fault('internal', 'secret'), /^failed \(Internal error \(request [\w-]+\)\)$/],
    [new TypeError('secret'), /^failed \(Internal error \(request [\w-]+\)\)$/],
    [null, /^failed \(Internal error \(request [\w-]+\)\)$/],
  ]
  for (const [thrown, end] of ends) {
    const runs: readonly Run[] = [() => { throw thrown }, async () => { throw thrown }]
    for (const run of runs) assert.match(sumOf(await callerOf(t, run).task('hello')), end)
  }
})

test('a task that takes longer than its agent may fails', async (t) => {
  const bot = callerOf(t, () => new Promise(() => {}), { agentTimeoutMs: 20 })
  assert.equal(sumOf(await bot.task('hello')), 'failed (No result within 20 ms)')
})

test('a client that does not want to wait gets the task as it begins', async (t) => {
  for (const dialect of ['1.0', '0.3'] as const) {
    const open = gate()
    const server = serveA2a(t, { agents: [{ name: 'Bot', run: () => open.promise.then(() => 'done') }] })
    const bot = new Caller(server, { dialect })
    const task = await bot.task('hello', { isBlocking: false })
    assert.equal(sumOf(task), 'working', dialect)
    open.open()
    await eventually(async () => sumOf(await bot.get(task.id)) === 'completed: done')
  }
})

test('what runs while its client waits is there for whoever looks, and goes on', async (t) => {
  const looks: Readonly<Record<string, (bot: Caller, id: string) => Promise<unknown>>> = {
    list: async (bot, id) => (await bot.list()).tasks.map((task) => [task.id === id, sumOf(task)]).join(),
    get: async (bot, id) => sumOf(await bot.get(id)),
    subscribe: async (bot, id) => tellOf((await (await bot.subscribe(id)).next())!),
    send: (bot, id) => bot.send('more', { taskId: id }).catch(({ code }: { code: number }) => code),
    cancel: async (bot, id) => sumOf(await bot.cancel(id)),
  }
  const seen: Record<string, unknown> = {}
  for (const [name, look] of Object.entries(looks)) {
    const open = gate()
    let taskId: string | undefined
    const server = serveA2a(t, {
      agents: [{
        name: 'Bot',
        run: async (_prompt, call) => {
          taskId = call.taskId
          await open.promise
          return 'done'
        },
      }],
    })
    const bot = new Caller(server)
    const asked = bot.task('hello')
    await eventually(() => taskId !== undefined)
    assert.equal(server.status().tasks?.running, 1)
    seen[name] = await look(bot, taskId!)
    open.open()
    const task = await asked
    assert.equal(task.id, taskId)
    seen[name] = [seen[name], sumOf(task)]
    assert.deepEqual(await bot.get(task.id), task)
  }
  const done = 'completed: done'
  assert.deepEqual(seen, {
    list: ['true,working', done], get: ['working', done], subscribe: ['task working', done],
    send: [-32004, done], cancel: ['canceled (The client has cancelled the task)',
      'canceled (The client has cancelled the task)'],
  })
})

test('a client waits no longer than blockingWaitMs, and the task goes on', async (t) => {
  const open = gate()
  const bot = callerOf(t, () => open.promise.then(() => 'done'), { blockingWaitMs: 20 })
  const task = await bot.task('hello')
  assert.equal(sumOf(task), 'working')
  open.open()
  await eventually(async () => sumOf(await bot.get(task.id)) === 'completed: done')
})

test('a client may wait for as long as it takes', async (t) => {
  for (const blockingWaitMs of [Infinity, 2 ** 40]) {
    const run = (): Promise<string> => new Promise((resolve) => setTimeout(resolve, 30, 'done'))
    const bot = callerOf(t, run, { blockingWaitMs })
    assert.equal(sumOf(await bot.task('hello')), 'completed: done', String(blockingWaitMs))
  }
})

test('of a client that leaves while it waits nothing is left, not even a timer', async (t) => {
  const blockingWaitMs = 123_456
  const { setTimeout: set, clearTimeout: clear } = globalThis
  const timers = new Set<unknown>()
  t.after(() => Object.assign(globalThis, { setTimeout: set, clearTimeout: clear }))
  Object.assign(globalThis, {
    setTimeout: (act: () => void, ms: number) => {
      const timer = set(act, ms)
      if (ms === blockingWaitMs) timers.add(timer)
      return timer
    },
    clearTimeout: (timer: NodeJS.Timeout) => {
      timers.delete(timer)
      clear(timer)
    },
  })
  const open = gate()
  const bot = callerOf(t, () => open.promise.then(() => 'done'), { blockingWaitMs })
  const client = new AbortController()
  const asked = bot.task('hello', { signal: client.signal })
  await eventually(() => timers.size === 1)
  client.abort()
  await eventually(() => timers.size === 0)
  await asked.catch(() => {})
  open.open()
})

test('a client that leaves ends no task', async (t) => {
  const open = gate()
  let signal: AbortSignal | undefined
  const bot = callerOf(t, (_prompt, call) => {
    signal = call.signal
    return open.promise.then(() => 'done')
  })
  const client = new AbortController()
  const left = bot.send('hello', { signal: client.signal })
  await eventually(() => signal !== undefined)
  client.abort()
  const [task] = (await bot.list()).tasks
  assert.equal(signal?.aborted, false)
  open.open()
  await eventually(async () => sumOf(await bot.get(task!.id)) === 'completed: done')
  await left
})

test('a client that leaves ends a run that answers with a message, or has shown no task yet', async (t) => {
  for (const replies of ['message', 'either'] as const) {
    for (const how of ['send', 'stream'] as const) {
      let signal: AbortSignal | undefined
      const bot = callerOf(t, (_prompt, call) => {
        signal = call.signal
        return new Promise(() => {})
      }, {}, { replies })
      const client = new AbortController()
      const left = how === 'send' ? bot.send('hello', { signal: client.signal })
        : bot.stream('hello', { signal: client.signal }).then((events) => events.rest())
      left.catch(() => {})
      await eventually(() => signal !== undefined)
      client.abort()
      await eventually(() => signal?.aborted === true, `${replies} ${how}`)
    }
  }
})

test('an agent may answer with a message in the place of a task, before it has shown one', async (t) => {
  const answer = { text: 'hi', reply: 'message' }
  const bot = callerOf(t, async (prompt, call) => {
    if (prompt === 'artifact') call.artifact({ parts: ['a'] })
    return prompt !== 'pieces' ? answer : (async function * () {
      yield 'a piece, '
      yield answer
    })()
  }, {}, { replies: 'either' })
  const message = await bot.send('message', { contextId: 'c-1' })
  assert.ok(message.what === 'message')
  assert.deepEqual(
    [message.message.contextId, message.message.taskId, message.message.role], ['c-1', undefined, 'agent'],
  )
  assert.equal(tellOf(message), 'message hi')
  assert.equal((await bot.list()).totalSize, 0)
  assert.deepEqual((await (await bot.stream('message')).rest()).map(tellOf), ['message hi'])
  assert.equal(sumOf(await bot.task('artifact')), 'completed (hi): a')
  assert.equal(sumOf(await bot.task('pieces')), 'completed: a piece, hi')
})

test('the words of a progress show the task, its numbers and a line of the log do not', async (t) => {
  const open = gate()
  const lines: unknown[] = []
  const log = (...line: readonly unknown[]): void => { lines.push(line[1]) }
  const bot = callerOf(t, async (prompt, call) => {
    call.log('info', 'it begins')
    call.progress(1, 2)
    if (prompt === 'words') call.progress(2, 2, 'half of it')
    await open.promise
    return { text: 'hi', reply: 'message' }
  }, { log }, { replies: 'either' })
  const events = await bot.stream('words')
  assert.equal(tellOf((await events.next())!), 'task working')
  assert.equal(tellOf((await events.next())!), 'working (half of it)')
  const numbers = bot.send('numbers')
  await eventually(() => lines.filter((line) => line === 'it begins').length === 2)
  assert.equal((await bot.list()).totalSize, 1)
  open.open()
  assert.equal(tellOf(await numbers), 'message hi')
  assert.equal(tellOf((await events.rest()).at(-1)!), 'completed (hi)')
})

test('an agent that answers with messages takes no webhook, and does nothing for it', async (t) => {
  const bot = callerOf(t, () => assert.fail('it was run'), { a2a: { pushNotifications: true } }, {
    replies: 'message',
  })
  const push = 'https://hooks.example.com/'
  const refusal = { code: -32003, detail: /has no tasks; leave the push configuration out/ }
  await assert.rejects(bot.send('hello', { push }), refusal)
  await assert.rejects(bot.stream('hello', { push }), refusal)
})

test('a message to a task that works, or that has ended, is refused', async (t) => {
  const open = gate()
  const bot = callerOf(t, () => open.promise.then(() => 'done'))
  const { id } = await bot.task('hello', { isBlocking: false })
  const refused = { code: -32004 }
  await assert.rejects(bot.send('more', { taskId: id }), { ...refused, detail: /working/ })
  await assert.rejects(bot.stream('more', { taskId: id }), { ...refused, detail: /working/ })
  open.open()
  await eventually(async () => sumOf(await bot.get(id)) === 'completed: done')
  await assert.rejects(bot.send('more', { taskId: id }), { ...refused, detail: /completed/ })
  assert.equal((await bot.get(id)).history?.length, 1)
})

test('a message to a task that waits must fit it', async (t) => {
  const bot = callerOf(t, () => ({ text: 'Which?', state: 'input-required' }))
  const { id, contextId } = await bot.task('hello', { id: 'm-1' })
  const invalid = { code: -32602 }
  await assert.rejects(
    bot.send('this', { taskId: id, contextId: 'other' }), { ...invalid, detail: /contextId/ },
  )
  await assert.rejects(bot.send('hello', { taskId: id, id: 'm-1' }), { ...invalid, detail: /messageId/ })
  await assert.rejects(bot.send('this', { taskId: 'unknown' }), { code: -32001 })
  assert.equal((await bot.get(id)).history?.length, 1)
  assert.equal(sumOf(await bot.task('this', { taskId: id, contextId })), 'input-required (Which?)')
})

test('the history tells who said what, in order, and is shown as far as it is wanted', async (t) => {
  const bot = callerOf(t, (prompt) => (
    prompt === 'this' ? `You chose ${prompt}` : { text: 'Which?', state: 'input-required' }
  ))
  const { id } = await bot.task('hello')
  const task = await bot.task('this', { taskId: id })
  const said = (history = task.history): unknown => history?.map(({ role, parts }) => (
    `${role} ${parts.map((part) => part.type === 'text' && part.text).join()}`
  ))
  assert.deepEqual(said(), ['user hello', 'agent Which?', 'user this'])
  assert.deepEqual(said((await bot.get(id, { historyLength: 2 })).history), ['agent Which?', 'user this'])
  assert.equal((await bot.get(id, { historyLength: 0 })).history, undefined)
  assert.deepEqual(said((await bot.task('hello', { historyLength: 1 })).history), ['user hello'])
})

test('an answer to a question goes to the run that has asked', async (t) => {
  const bot = callerOf(t, async (_prompt, call) => {
    const { content } = await call.elicit({ message: 'Your name?', schema })
    return `Hello ${content?.['name'] as string}`
  })
  const asked = await bot.task('hello')
  assert.equal(sumOf(asked), `input-required (Your name?|${JSON.stringify({ schema })})`)
  const answers = [[{ type: 'data' as const, data: { name: 'Ann' } }], 'Ann']
  for (const answer of answers) {
    const { id } = await bot.task('hello')
    const task = await bot.task(answer, { taskId: id })
    assert.equal(sumOf(task), 'completed: Hello Ann')
    assert.deepEqual(task.history?.map(({ role }) => role), ['user', 'agent', 'user'])
  }
})

test('what does not answer a question is heard, and it is asked again with what is wrong', async (t) => {
  const bot = callerOf(t, async (_prompt, call) => {
    const { content } = await call.elicit({ message: 'Your name?', schema })
    return `Hello ${content?.['name'] as string}`
  })
  const { id, status } = await bot.task('hello')
  await bot.task([{ type: 'data', data: {} }], { taskId: id })
  const again = await bot.task([{ type: 'data', data: { name: 1 } }], { taskId: id })
  assert.equal(again.status.state, 'input-required')
  const why = 'The answer does not fit the form: name: must be a string, got number 1.'
  assert.deepEqual(again.status.message?.parts, [...status.message?.parts ?? [], { type: 'text', text: why }])
  assert.ok(again.status.at > status.at)
  assert.equal(again.history?.at(-1)?.role, 'user')
  assert.equal(sumOf(await bot.task('Ann', { taskId: id })), 'completed: Hello Ann')
})

test('parts of a type that the agent does not read are refused, but not before their task', async (t) => {
  const server = serveA2a(t, {
    agents: [{
      name: 'Bot', inputModes: ['text/*', 'image/png'],
      run: () => ({ text: 'More?', state: 'input-required' }),
    }],
  })
  const bot = new Caller(server)
  const png = [{ type: 'image' as const, data: 'AA==', mimeType: 'image/png' }]
  const pdf = [{
    type: 'resource_link' as const, uri: 'http://a.test/b.pdf', name: 'b.pdf', mimeType: 'application/pdf',
  }]
  const { id } = await bot.task(png)
  await assert.rejects(bot.send(pdf), { code: -32005, detail: /application\/pdf; send text\/\*, image\/png/ })
  await assert.rejects(bot.send(pdf, { taskId: id }), { code: -32005 })
  await assert.rejects(bot.send(pdf, { taskId: 'unknown' }), { code: -32001 })
  assert.equal((await bot.get(id)).history?.length, 1)
})

test('where no more tasks may run, a message is refused before its agent does anything', async (t) => {
  const open = gate()
  let runs = 0
  const bot = callerOf(t, async () => {
    runs += 1
    await open.promise
    throw new Error('late')
  }, { maxTasks: 1 })
  const { id } = await bot.task('hello', { isBlocking: false })
  for (const isBlocking of [true, false]) {
    await assert.rejects(bot.send('hello', { isBlocking }), { code: -32603, status: 503 })
  }
  await assert.rejects(bot.stream('hello'), { code: -32603, status: 503 })
  assert.equal(runs, 1)
  open.open()
  await eventually(async () => (await bot.get(id)).status.state === 'failed')
  assert.equal((await bot.task('hello')).status.state, 'failed')
})

test('a task that waits makes no room while its run does, and stops waiting in the end', async (t) => {
  const pass = standingTime(t)
  const parked: string[] = []
  const bot = callerOf(t, async (prompt, call) => {
    if (prompt === 'ask') call.signal.addEventListener('abort', () => parked.push(prompt))
    if (prompt === 'ask') await call.elicit({ message: 'Name?', schema })
    return { text: 'Which?', state: 'input-required' }
  }, { maxTasks: 1, waitingTaskKeepMs: 30, askTimeoutMs: 20 })
  const asking = await bot.task('ask')
  await assert.rejects(bot.send('hello'), { code: -32603, status: 503 })
  pass(20)
  await eventually(() => parked.length === 1)
  assert.equal((await bot.get(asking.id)).status.state, 'input-required')
  const waiting = await bot.task('hello')
  await assert.rejects(bot.get(asking.id), { code: -32001 })
  pass(29)
  assert.equal((await bot.get(waiting.id)).status.state, 'input-required')
  pass(1)
  await assert.rejects(bot.get(waiting.id), { code: -32001 })
  await assert.rejects(bot.send('this', { taskId: waiting.id }), { code: -32001 })
})

test('what tasks hold is counted, and let go', async (t) => {
  const open = gate()
  const server = serveA2a(t, {
    agents: [{ name: 'Bot', run: (prompt) => prompt === 'wait' ? open.promise.then(() => 'done') : prompt }],
    taskKeepMs: 60_000, maxTasks: 2,
  })
  const bot = new Caller(server)
  assert.deepEqual(server.status().tasks, { running: 0, finished: 0, bytes: 0 })
  const { id } = await bot.task('wait', { isBlocking: false })
  const { bytes } = server.status().tasks
  assert.ok(bytes > 1_000 && bytes < 5_000, String(bytes))
  await bot.task('x'.repeat(10_000))
  const more = server.status().tasks
  assert.deepEqual([more.running, more.finished], [1, 1])
  // Once as a message, once as an artifact.
  assert.ok(more.bytes - bytes > 40_000 && more.bytes - bytes < 50_000, String(more.bytes))
  open.open()
  await eventually(async () => sumOf(await bot.get(id)) === 'completed: done')
  await bot.task('x')
  await bot.task('x')
  const less = server.status().tasks
  assert.deepEqual([less.running, less.finished], [0, 2])
  assert.ok(less.bytes < 6_000, String(less.bytes))
})

test('an agent whose task finds no room is told at once that nobody wants its answer', async (t) => {
  let signal: AbortSignal | undefined
  const bot = callerOf(t, async (_prompt, call) => {
    signal = call.signal
    await new Promise((resolve) => setImmediate(resolve))
    throw new Error('late')
  }, { maxTasksBytes: 20_000 })
  await assert.rejects(bot.send('x'.repeat(15_000)), { code: -32603, status: 503 })
  assert.equal(signal?.aborted, true)
  assert.equal((await bot.list()).totalSize, 0)
})
