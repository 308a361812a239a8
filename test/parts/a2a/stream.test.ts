import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/kernel.ts'
import { taskStream, turnStream } from '../../../lib/parts/a2a/tasks/stream.ts'
import { eventually, gate, jsonOf } from '../../fixtures/client.ts'
import { Caller, callerOf, replayed, serveA2a, serveBot, sumOf, tellOf, wordsOf } from './caller.ts'
import type { AgentTurn } from '../../../lib/parts/a2a/tasks/agent-turn.ts'
import type { StreamEvent } from '../../../lib/parts/a2a/model/model.ts'
import type { A2aRequest } from '../../../lib/parts/a2a/tasks/request.ts'
import type { Task } from '../../../lib/floors/tasks/task.ts'

/** The raw events of a stream. */
async function framesOf(response: Response): Promise<readonly string[]> {
  return (await response.text()).split('\n\n').filter((frame) => frame !== '')
}

function resultIn(frame: string): Record<string, unknown> {
  return (JSON.parse(frame.replace(/^data: /, '')) as { result: Record<string, unknown> }).result
}

test('a stream begins with the task, tells each piece as it comes, and ends with the task', async (t) => {
  const bot = callerOf(t, async function * () {
    yield 'You '
    yield 'said '
    yield 'hello'
  })
  const events = await (await bot.stream('hello')).rest()
  assert.deepEqual(events.map(tellOf), ['task working', '=You ', '+said ', '+hello', '+.', 'completed'])
  const [first, ...rest] = events
  assert.ok(first?.what === 'task')
  const ids = new Set(rest.flatMap((event) => event.what === 'artifact' ? [event.artifact.id] : []))
  assert.equal(ids.size, 1)
  assert.equal(sumOf(await bot.get(first.task.id)), 'completed: You said hello')
  for (const event of rest) {
    assert.ok(event.what === 'artifact' || event.what === 'status')
    assert.deepEqual([event.taskId, event.contextId], [first.task.id, first.task.contextId])
  }
})

test('an answer that comes whole is one artifact', async (t) => {
  for (const run of [() => 'hello', async () => 'hello']) {
    const events = await (await callerOf(t, run).stream('hello')).rest()
    assert.deepEqual(events.map(tellOf), ['task working', '=hello.', 'completed'])
  }
})

test('what is said about the state stands in the last event and in no artifact', async (t) => {
  for (const state of ['input-required', 'auth-required', 'failed', 'rejected']) {
    const bot = callerOf(t, async function * () {
      yield 'So far. '
      yield { text: 'Which?', state }
    })
    const events = await (await bot.stream('hello')).rest()
    assert.deepEqual(events.map(tellOf), ['task working', '=So far. ', '+.', `${state} (Which?)`])
  }
})

test('0.3 says of each status whether the stream ends behind it, 1.0 just ends', async (t) => {
  const server = serveA2a(t, {
    agents: [{ name: 'Bot', run: async (prompt, call) => {
      call.progress(1, 2, 'half')
      return { text: 'Which?', state: prompt === 'ask' ? 'input-required' as const : 'completed' as const }
    } }],
  })
  for (const text of ['ask', 'do']) {
    const part = { kind: 'text', text }
    const message = { kind: 'message', role: 'user', messageId: text, parts: [part] }
    const frames = await framesOf(await new Caller(server, { dialect: '0.3' }).raw('stream', { message }))
    const statuses = frames.map(resultIn).filter(({ kind }) => kind === 'status-update')
    const finals = statuses.map(({ final }) => final)
    assert.equal(finals.at(-1), true, text)
    assert.equal(finals.slice(0, -1).includes(true), false, text)
    const params = { message: { role: 'ROLE_USER', messageId: text, parts: [{ text }] } }
    const newer = await framesOf(await new Caller(server).raw('stream', params))
    assert.doesNotMatch(newer.join(), /"final"|"kind"/)
  }
})

test('all who watch are told the same in one order, and with their beginning it is the whole', async (t) => {
  let go = gate()
  const bot = callerOf(t, async function * (_prompt, call) {
    for (let count = 0; count < 20; count++) {
      await go.promise
      go = gate()
      yield `${count} `
      if (count % 5 === 0) call.artifact({ id: 'extra', parts: [`extra ${count}`], append: true })
    }
  })
  const streams = [await bot.stream('hello')]
  const first = await streams[0]!.next()
  assert.ok(first?.what === 'task')
  const { id } = first.task
  const firsts: StreamEvent[] = [first]
  for (let count = 0; count < 20; count++) {
    if (count % 3 === 0) {
      const stream = await bot.subscribe(id)
      streams.push(stream)
      firsts.push((await stream.next())!)
    }
    const before = go
    go.open()
    await eventually(() => go !== before || count === 19)
  }
  const told = await Promise.all(streams.map((stream) => stream.rest()))
  const whole = (await bot.get(id)).artifacts?.map(({ parts }) => wordsOf(parts).replaceAll('|', ''))
  assert.equal(whole?.length, 2)
  for (const [at, events] of told.entries()) {
    const begun = firsts[at]
    assert.ok(begun?.what === 'task')
    const made = replayed(begun.task, events).map(({ parts }) => wordsOf(parts).replaceAll('|', ''))
    assert.deepEqual(made.toSorted(), whole?.toSorted(), String(at))
    assert.deepEqual(events, told[0]!.slice(-events.length), String(at))
  }
})

test('a subscriber to a task that waits sees its next turn', async (t) => {
  const bot = callerOf(t, (prompt) => (
    prompt === 'this' ? 'done' : { text: 'Which?', state: 'input-required' }
  ))
  const { id } = await bot.task('hello')
  const events = await bot.subscribe(id)
  assert.equal(tellOf((await events.next())!), 'task input-required (Which?)')
  const sent = await (await bot.stream('this', { taskId: id })).rest()
  assert.deepEqual(sent.map(tellOf), ['task working', '=done.', 'completed'])
  assert.deepEqual((await events.rest()).map(tellOf), ['working', '=done.', 'completed'])
})

test('a task that has ended is not subscribed to, an unknown one neither', async (t) => {
  const server = serveA2a(t, { agents: [{ name: 'Bot', run: () => 'done' }] })
  const bot = new Caller(server)
  const { id } = await bot.task('hello')
  await assert.rejects(bot.subscribe(id), { code: -32004, detail: /completed/ })
  await assert.rejects(bot.subscribe('unknown'), { code: -32001 })
})

test('0.3 answers with a stream what is asked to stream, even where it is an error', async (t) => {
  const server = serveA2a(t, { agents: [{ name: 'Bot', run: () => 'done' }] })
  const old = new Caller(server, { dialect: '0.3' })
  const { id } = await old.task('hello')
  const message = { kind: 'message', messageId: 'm-1', role: 'user', parts: [{ kind: 'text', text: 'more' }] }
  const rows = [
    ['subscribe', { id }, -32004], ['subscribe', { id: 'unknown' }, -32001], ['subscribe', {}, -32602],
    ['stream', { message: { ...message, taskId: id } }, -32004], ['stream', {}, -32602],
  ] as const
  for (const [operation, params, code] of rows) {
    const response = await old.raw(operation, params)
    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type')!, /^text\/event-stream/)
    const [frame, ...more] = await framesOf(response)
    assert.deepEqual([frame?.split('\n')[0], more], ['event: error', []])
    assert.match(frame!, new RegExp(`"code":${code}`))
  }
})

test('a reader that leaves is nothing to the task, nor to others', async (t) => {
  const open = gate()
  const bot = callerOf(t, async function * () {
    yield 'one '
    await open.promise
    yield 'two'
  })
  const leaving = await bot.stream('hello')
  const first = await leaving.next()
  assert.ok(first?.what === 'task')
  const staying = await bot.subscribe(first.task.id)
  await leaving.leave()
  open.open()
  const told = await staying.rest()
  assert.equal(tellOf(told.at(-1)!), 'completed')
  assert.equal(sumOf(await bot.get(first.task.id)), 'completed: one two')
})

test('a reader that does not read is dropped alone, and holds back neither others nor the run', async (t) => {
  const bot = callerOf(t, async function * () {
    for (let count = 0; count < 200; count++) yield `${count}:${'x'.repeat(10_000)}`
  }, { maxStreamBytes: 100_000 })
  const { id } = await bot.task('hello', { isBlocking: false })
  const slow = await bot.subscribe(id)
  const first = await slow.next()
  assert.equal(first?.what, 'task')
  const quick = await (await bot.subscribe(id)).rest()
  assert.equal(tellOf(quick.at(-1)!), 'completed')
  const last = quick.at(-3)
  assert.ok(last?.what === 'artifact')
  assert.match(wordsOf(last.artifact.parts), /^199:/)
  const left: StreamEvent[] = []
  const dropped = (async () => {
    for (let event = await slow.next(); event !== undefined; event = await slow.next()) left.push(event)
  })()
  await dropped.catch(() => {})
  assert.ok(left.length < quick.length / 2, String(left.length))
})

test('an agent is held back where all who watch are behind, and goes on when one has read', async (t) => {
  let said = 0
  const bot = callerOf(t, async function * () {
    for (; said < 1_000; said++) {
      yield 'x'.repeat(10_000)
      // Others have their turn.
      if (said % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  })
  const stream = await bot.stream('hello')
  const first = await stream.next()
  assert.ok(first?.what === 'task')
  let before = -1
  await eventually(async () => {
    const isStill = before === said
    before = said
    await new Promise((resolve) => setTimeout(resolve, 20))
    return isStill
  })
  assert.ok(said < 500, String(said))
  const told = await stream.rest()
  assert.equal(tellOf(told.at(-1)!), 'completed')
})

test('a stream for which there is no room begins no task, and its error answers its request', async (t) => {
  const held = gate()
  let runs = 0
  const run = async (prompt: string): Promise<string> => {
    runs++
    if (prompt === 'hold') await held.promise
    return prompt
  }
  const server = serveBot(t, run, { maxStreams: 1 })
  const caller = new Caller(server)
  const first = await caller.stream('hold')
  const begun = await first.next()
  assert.ok(begun?.what === 'task')
  for (const dialect of ['0.3', '1.0'] as const) {
    const other = new Caller(server, { dialect })
    await assert.rejects(other.stream('hello'), { code: -32603, status: 503, detail: /Too many streams/ })
    await assert.rejects(other.subscribe(begun.task.id), { code: -32603, status: 503 })
    const refused = await other.raw('subscribe', { id: begun.task.id })
    assert.equal((await jsonOf(refused))['id'], 1)
    assert.notEqual(refused.headers.get('retry-after'), null)
  }
  assert.equal(runs, 1)
  assert.equal((await caller.list()).totalSize, 1)
  held.open()
  await first.rest()
  assert.deepEqual((await (await caller.stream('hello')).rest()).map(tellOf).at(-1), 'completed')
})

test('what was missed of a task elsewhere is told as changes, and the task is not shown twice', () => {
  const artifact = (id: string, text: string): object => ({ id, parts: [{ type: 'text', text }] })
  const standing = (state: string, at: string, ...artifacts: object[]): Task => (
    { id: 't', contextId: 'c', status: { state, at }, history: [], artifacts } as unknown as Task
  )
  const waits = standing('input-required', '1', artifact('a', 'one'))
  for (const [then, told] of [
    [waits, ['task input-required: one']],
    [standing('working', '2', artifact('a', 'one'), artifact('b', 'two')),
      ['task input-required: one', '=two.', 'working']],
    [standing('completed', '2', artifact('a', 'other')),
      ['task input-required: one', '=other.', 'completed', 'end']],
  ] as const) {
    const heard: string[] = []
    let show: ((task: Task) => void) | undefined
    const remoteTasks = { follow: (_task: Task, begin: (task: Task) => void) => {
      show = begin
      return () => {}
    } }
    const tasks = { watch: () => undefined, whenPersisted: () => undefined }
    const service = { use: () => ({ tasks, remoteTasks }) }
    taskStream({ context: { service, tasks } } as unknown as A2aRequest, waits, undefined).open({
      closed: false, ready: async () => {}, end: () => { heard.push('end') },
      send: (event) => heard.push(tellOf(event)) > 0,
    })
    show!(waits)
    show!(then)
    assert.deepEqual(heard, told)
  }
})

test('a turn whose task cannot be read runs on, and its stream ends with why', async () => {
  const busy = new Fault('busy', 'The store cannot be reached now; try again later')
  const rows: readonly (readonly [what: string, read: () => unknown, end: unknown])[] = [
    ['rejects', async () => { throw busy }, busy],
    ['throws', () => { throw busy }, busy],
    ['is gone', async () => undefined, undefined],
  ]
  for (const [what, get, end] of rows) {
    const ended: unknown[] = []
    let [runs, disconnects] = [0, 0]
    const turn = {
      taskId: 't-1', isShown: true, call: { disconnect: () => { disconnects++ } },
      onShown: (listener: () => void) => listener(),
      execute: () => { runs++; return new Promise(() => {}) },
    }
    const request = { context: { tasks: { get } }, exchange: { origin: { principal: { id: 'anonymous' } } } }
    const close = turnStream(request as unknown as A2aRequest, turn as unknown as AgentTurn, undefined).open({
      closed: false, ready: async () => {}, send: () => true, end: (error) => { ended.push(error) },
    })
    await new Promise((resolve) => { setImmediate(resolve) })
    assert.deepEqual([ended, runs], [[end], 1], what)
    close?.()
    assert.equal(disconnects, 0, what)
  }
})
