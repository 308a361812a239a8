import { tasksOf } from '../../../lib/floors/tasks/tasks-floor.ts'
import { sharedOf } from '../../../lib/floors/shared/shared-of.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import { RunMemory } from '../../../lib/floors/tasks/run-memory.ts'
import { TaskRun } from '../../../lib/floors/tasks/task-run.ts'
import { Fault } from '../../../lib/kernel.ts'
import { callOf, serviceOf } from '../../fixtures/house.ts'
import { sharedMemory } from '../../fixtures/shared-memory.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { LiveCall } from '../../../lib/kernel/define/live-call.ts'
import type { Question } from '../../../lib/kernel/define/question.ts'
import type { Task, TaskSeed, TaskTurn } from '../../../lib/floors/tasks/task.ts'
import type { TaskClient } from '../../../lib/floors/tasks/task-run.ts'
import type { ServerOptions } from '../../../lib/index.ts'

const OWNER = 'anonymous'
const schema = { type: 'object', properties: { name: { type: 'string' } } }
const seed: TaskSeed = {
  owner: OWNER, protocol: 'mcp', runnable: { kind: 'tool', name: 't' }, contextId: '', sessionId: undefined,
  ttlMs: undefined,
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface Begun {
  readonly run: TaskRun
  readonly call: LiveCall
  readonly task: () => Task
  readonly logged: readonly unknown[]
}

/** A call that has become a task. */
function begun(client: Partial<TaskClient> = {}, options: Partial<ServerOptions> = {}, said?: string): Begun {
  const { service, logged } = serviceOf(options)
  const call = callOf({ can: () => false })
  const run = new TaskRun(service, call, { can: () => true, ...client })
  assert.equal(run.isTask, false)
  const { id } = run.begin({
    owner: OWNER, protocol: 'mcp', runnable: { kind: 'tool', name: 't' }, contextId: '', sessionId: undefined,
    ttlMs: undefined,
  }, said) as Task
  return { run, call, logged, task: () => tasksOf(service).get(OWNER, id) as Task }
}

test('a call that becomes a task has the task for its channel, and works', () => {
  const { run, call, task } = begun({}, {}, 'on my way')
  assert.equal(run.isTask && call.channel === run && call.can('roots'), true)
  const { state, message } = task().status
  assert.deepEqual([state, message?.parts], ['working', [{ type: 'text', text: 'on my way' }]])
})

const ends: readonly (readonly [
  what: string, end: (run: TaskRun) => void, state: string, said: unknown, result: unknown,
])[] = [
  ['a result', (run) => run.complete({ a: [1] }), 'completed', undefined, { a: [1] }],
  ['nothing', (run) => run.complete(undefined), 'completed', undefined, undefined],
  ['what JSON cannot say', (run) => run.complete({ a: 1n }), 'failed', { kind: 'internal' }, undefined],
  ['too much', (run) => run.complete('x'.repeat(3_000)), 'failed', { kind: 'too-large' }, undefined],
  ['a fault', (run) => run.fail(new Fault('conflict', 'No', { by: 'ann' })), 'failed',
    { kind: 'conflict', message: 'No', detail: { by: 'ann' } }, undefined],
  ['a fault whose detail is no JSON', (run) => run.fail(new Fault('conflict', 'No', { big: 1n })), 'failed',
    { kind: 'conflict', message: 'No' }, undefined],
  ['a defect', (run) => run.fail(new TypeError('secret')), 'failed', { kind: 'internal' }, undefined],
  ['a cancellation from within', (run) => run.fail(new Fault('cancelled', 'Gone')), 'canceled',
    undefined, undefined],
  ['a cancellation', (run) => run.cancel(), 'canceled', undefined, undefined],
]

test('a task ends once, as it first did, and says why', () => {
  for (const [what, end, state, fault, result] of ends) {
    const { run, task } = begun({}, { maxResultBytes: 3_000 })
    end(run)
    const ended = task()
    assert.deepEqual([ended.status.state, ended.result], [state, result], what)
    if (typeof fault === 'object') assert.deepEqual({ ...ended.fault, ...fault }, ended.fault, what)
    else assert.equal(ended.fault, undefined, what)
    assert.equal(ended.status.message === undefined, state === 'completed', what)
    assert.doesNotMatch(JSON.stringify(ended), /secret/)
    for (const [, again] of ends) again(run)
    run.progress(1, 1, 'late')
    run.artifact({ parts: ['late'] })
    assert.deepEqual(task(), ended, what)
  }
})

test('what is kept of a result does not change with what the handler holds', () => {
  const { run, task } = begun()
  const result = { list: [1] }
  run.complete(result)
  result.list.push(2)
  assert.deepEqual(task().result, { list: [1] })
})

test('a task that is cancelled ends its call', () => {
  const { run, call } = begun()
  run.cancel()
  assert.deepEqual([call.signal.aborted, call.reason?.kind], [true, 'cancelled'])
})

test('questions that are asked together are shown together, each by a key of its own', async () => {
  const { run, task } = begun()
  const ask = (key?: string): Promise<unknown> => run.ask({
    what: 'elicit', message: 'Who?', schema, ...key !== undefined && { key },
  })
  const answers = [ask(), ask('who'), ask('who'), ask()]
  assert.equal(task().status.state, 'working')
  await turn()
  assert.equal(task().status.state, 'input-required')
  assert.deepEqual(task().questions.map(({ key }) => key), ['elicit', 'who', 'who-2', 'elicit-2'])
  // What it tells meanwhile does not hide them.
  run.progress(1, 2, 'waiting')
  assert.equal(task().status.state, 'input-required')
  run.answer(new Map<string, unknown>([['who', 1], ['strange', 2], ['elicit-2', 3]]))
  assert.deepEqual(task().questions.map(({ key }) => key), ['elicit', 'who-2'])
  run.refuse('who-2', new Fault('failed', 'will not'))
  run.answer(new Map([['elicit', 4]]))
  assert.equal(task().status.state, 'working')
  assert.deepEqual(await Promise.allSettled(answers).then((all) => all.map((one) => (
    one.status === 'fulfilled' ? one.value : (one.reason as Error).message
  ))), [4, 1, 'will not', 3])
  // A key is used once in a task's life.
  void ask('who')
  await turn()
  assert.deepEqual(task().questions.map(({ key }) => key), ['who-3'])
  run.cancel()
})

test('what the client answered before is not asked, and what it cannot be asked does not wait', async () => {
  const { run, task } = begun({
    known: ({ what }) => what === 'sample' ? 'known' : undefined,
    check: ({ what }) => { if (what === 'roots') throw new Fault('unsupported', 'No roots') },
  })
  assert.equal(await run.ask({ what: 'sample', messages: [], maxTokens: 1 }), 'known')
  assert.throws(() => run.ask({ what: 'roots' }), { kind: 'unsupported' })
  await turn()
  assert.equal(task().status.state, 'working')
})

test('an answer that does not come in time is a timeout, and the task goes on', async (t) => {
  const pass = standingTime(t)
  const { run, task } = begun({}, { askTimeoutMs: 50 })
  const answer = run.ask({ what: 'roots' })
  await turn()
  pass(49)
  assert.equal(task().status.state, 'input-required')
  pass(1)
  await assert.rejects(answer, { kind: 'timeout', message: /within 50 ms/ })
  assert.equal(task().status.state, 'working')
})

test('a question whose time is over before it was shown waits for its answer all the same', (t) => {
  const pass = standingTime(t)
  const { run, task } = begun({ isResumable: true }, { askTimeoutMs: 50 })
  run.ask({ what: 'elicit', message: 'Name?', schema }).catch(() => {})
  pass(50)
  assert.deepEqual([task().status.state, task().questions.length], ['input-required', 1])
})

test('at its end a task lets its handler clean up, and nobody is asked any longer', async () => {
  const { run, task } = begun()
  const answers = [run.ask({ what: 'roots' }), run.ask({ what: 'roots' })]
  await turn()
  run.cancel()
  assert.deepEqual(task().questions, [])
  for (const answer of answers) await assert.rejects(answer, { name: 'AbortError' })
})

test('progress, side effects and ends of addresses go to the client, log lines to the server', async () => {
  const heard: unknown[] = []
  const { run, task, logged } = begun({
    progress: (...told) => { heard.push(told) },
    once: async (key) => `kept ${key}`,
    completeElicitation: (id) => { heard.push(id) },
  })
  run.progress(1, undefined, undefined)
  run.progress(2, 3, 'half')
  run.completeElicitation('e-1')
  run.log('warning', 'full', 'disk')
  assert.deepEqual(heard, [[1, undefined, undefined, task().id], [2, 3, 'half', task().id], 'e-1'])
  assert.deepEqual(task().status.message?.parts, [{ type: 'text', text: 'half' }])
  assert.equal(await run.once('k', () => assert.fail('it ran')), 'kept k')
  assert.equal(await begun().run.once('k', () => 'ran'), 'ran')
  assert.deepEqual(logged, [['warning', 'full', { request: 'r-1', logger: 'disk' }]])
})

test('artifacts stand in the task as they come', () => {
  const { run, task } = begun()
  run.artifact({ id: 'a', parts: ['1'] })
  run.artifact({ id: 'a', parts: ['2'], append: true })
  const [artifact, ...others] = task().artifacts
  assert.deepEqual([artifact?.parts.length, others], [2, []])
})

test('a run whose client takes its time ends, its questions stay, and another takes its place', async (t) => {
  const pass = standingTime(t)
  const { service } = serviceOf({ askTimeoutMs: 50 })
  const client = { can: () => true, isResumable: true }
  const waiting = {
    id: 't-1', owner: OWNER, protocol: 'a2a' as const, runnable: { kind: 'agent' as const, name: 'a' },
    contextId: 'c', sessionId: undefined, ttlMs: undefined,
  }
  const task = (): Task => tasksOf(service).get(OWNER, 't-1') as Task
  const call = callOf({ can: () => false })
  const run = new TaskRun(service, call, client)
  await run.begin(waiting)
  const answers = [run.ask({ what: 'roots' }), run.ask({ what: 'roots' })]
  await turn()
  pass(50)
  assert.deepEqual([call.signal.aborted, tasksOf(service).runOf('t-1')], [true, undefined])
  for (const answer of answers) await assert.rejects(answer, { name: 'AbortError' })
  // Whatever the run still says is nothing to the task.
  run.complete('late')
  run.fail(new Error('late'))
  run.end('completed', undefined)
  run.answer(new Map([['roots', 1]]))
  assert.deepEqual([task().status.state, task().questions.length], ['input-required', 2])
  const next = new TaskRun(service, callOf({ can: () => false }), client)
  next.resume('t-1')
  assert.deepEqual([task().status.state, tasksOf(service).runOf('t-1') === next], ['working', true])
  next.end('completed', [{ type: 'text', text: 'done' }])
  assert.deepEqual([task().status.state, task().questions], ['completed', []])
})

test('a turn may end without the task, which then waits without a run', () => {
  const { run, task } = begun()
  run.end('input-required', [{ type: 'text', text: 'Which?' }])
  run.end('completed', undefined)
  run.progress(1, 1, 'late')
  assert.deepEqual([task().status.state, task().status.message?.parts], [
    'input-required', [{ type: 'text', text: 'Which?' }],
  ])
})

test('a turn that ends while it asks leaves no timer behind', () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length
  const before = timers()
  const { run, task } = begun()
  void run.ask({ what: 'roots' })
  assert.equal(timers(), before + 1)
  run.end('input-required', [{ type: 'text', text: 'Which?' }])
  assert.deepEqual([timers(), task().questions], [before, []])
})

test('pieces make one artifact, their texts one text, and none comes after the end', () => {
  const { run, task } = begun()
  const text = (said: string): { type: 'text'; text: string } => ({ type: 'text', text: said })
  void run.piece('a', text('You '), false, false)
  void run.piece('a', text('said'), true, true)
  void run.piece('a', { type: 'data', data: 1 }, true, true)
  run.end('completed', undefined)
  void run.piece('a', text(' more'), true, true)
  assert.deepEqual(task().artifacts, [{ id: 'a', parts: [text('You said'), { type: 'data', data: 1 }] }])
})

const turnBegun = { messageId: 'm1', metadata: { a: 1 } }

test('a turn that asked nothing and did nothing once has no memory', () => {
  assert.equal(new RunMemory(() => turnBegun, 100, undefined).turn, undefined)
})

test('answers and results are found again by the memory that is made of them', () => {
  const memory = new RunMemory(() => turnBegun, 100, undefined)
  memory.begin()
  assert.deepEqual(memory.turn, { ...turnBegun, answers: {}, results: {} })
  const question = { what: 'elicit', message: 'Who?', schema: { type: 'object' } } as const
  const asked = ['name', '__proto__'].map((key) => ({ key, question }))
  memory.keepAnswers(new Map([['name', { action: 'accept' }]]), asked)
  memory.keepAnswers(new Map([['__proto__', 1]]), asked)
  memory.keepResult('paid', { id: 7 })
  memory.keepResult('nothing', undefined)
  const again = new RunMemory(() => turnBegun, 100, JSON.parse(JSON.stringify(memory.turn)))
  assert.deepEqual(again.answer('name', question), { action: 'accept' })
  assert.equal(again.answer('__proto__', question), 1)
  assert.deepEqual(again.result('paid'), { id: 7 })
  // What gave nothing has happened all the same.
  assert.equal(again.result('nothing'), null)
  for (const key of ['constructor', '__proto__']) assert.equal(again.result(key), undefined, key)
  assert.equal(again.answer('constructor', question), undefined)
})

test('an answer that was kept is to what was asked, and to nothing else', async () => {
  const memory = new RunMemory(() => turnBegun, 100, undefined)
  const asking = (kept: RunMemory): TaskRun => {
    const run = new TaskRun(serviceOf().service, callOf(), { can: () => true }, kept)
    run.begin({
      owner: OWNER, protocol: 'a2a', runnable: { kind: 'agent', name: 't' }, contextId: '', ttlMs: undefined,
      sessionId: undefined,
    })
    return run
  }
  const form = (message: string): Question => ({ what: 'elicit', message, schema })
  const url = (elicitationId: string): Question => (
    { what: 'elicit-url', key: 'u', message: 'Go', url: 'https://a.example/', elicitationId }
  )
  const first = asking(memory)
  const [book, go] = [first.ask(form('Book?')), first.ask(url('1'))]
  first.answer(new Map<string, unknown>([['elicit', 'yes'], ['u', 'gone'], ['strange', 'yes']]))
  assert.deepEqual([await book, await go], ['yes', 'gone'])
  const again = (): TaskRun => (
    asking(new RunMemory(() => turnBegun, 100, JSON.parse(JSON.stringify(memory.turn)) as TaskTurn))
  )
  const rerun = again()
  assert.deepEqual([await rerun.ask(form('Book?')), await rerun.ask(url('2'))], ['yes', 'gone'])
  for (const question of [form('Pay?'), { ...form('Book?'), key: 'strange' }]) {
    const other = again()
    assert.equal(await Promise.race([other.ask(question), turn().then(() => 'asked')]), 'asked')
    other.cancel()
  }
})

test('a result that was kept changes no more, and all of them together are bounded', () => {
  const memory = new RunMemory(() => turnBegun, 20, undefined)
  const result = { n: 1 }
  memory.keepResult('a', result)
  result.n = 2
  assert.deepEqual(memory.result('a'), { n: 1 })
  assert.throws(() => memory.keepResult('b', 'x'.repeat(20)), {
    kind: 'too-large', message: 'The results of call.once are larger than 20 bytes',
  })
  assert.equal(memory.result('b'), undefined)
})

test('a result that is refused for its size takes nothing from the room of the next', () => {
  const memory = new RunMemory(() => turnBegun, 20, undefined)
  memory.keepResult('a', 'x'.repeat(8))
  assert.throws(() => memory.keepResult('b', 'x'.repeat(9)), { kind: 'too-large' })
  // Ten bytes with their quotes, as the first: exactly what is left.
  assert.equal(memory.keepResult('b', 'x'.repeat(8)), 'x'.repeat(8))
  assert.throws(() => memory.keepResult('c', 0), { kind: 'too-large' })
  // Two characters of three bytes each, and the quotes: not four characters.
  const small = new RunMemory(() => turnBegun, 7, undefined)
  assert.throws(() => small.keepResult('a', '\u20ac\u20ac'), { kind: 'too-large' })
})

test('what an earlier run has kept counts in the next', () => {
  const before = { ...turnBegun, answers: {}, results: { a: '\u20ac' } }
  const full = new RunMemory(() => turnBegun, 11, before)
  assert.throws(() => full.keepResult('b', 0), { kind: 'too-large' })
  assert.equal(new RunMemory(() => turnBegun, 12, before).keepResult('b', 0), 0)
})

test('the first answer to a question counts, also in a run that begins again', async () => {
  const { service } = serviceOf()
  const memory = new RunMemory(() => turnBegun, 1_000, undefined)
  const run = new TaskRun(service, callOf({ can: () => false }), { can: () => true }, memory)
  await run.begin(seed)
  const asked = [run.ask({ what: 'roots', key: 'where' }), run.ask({ what: 'roots', key: 'who' })]
  await turn()
  run.answer(new Map([['where', 'here']]))
  run.answer(new Map([['where', 'there'], ['never', 'asked']]))
  assert.deepEqual(memory.turn?.answers, { where: 'here' })
  run.answer(new Map([['who', 'me'], ['where', 'nowhere']]))
  assert.deepEqual(memory.turn?.answers, { where: 'here', who: 'me' })
  assert.deepEqual(await Promise.all(asked), ['here', 'me'])
})

test('a side effect whose task another process has by now does not happen', async () => {
  const { service } = serviceOf()
  const call = callOf({ can: () => false })
  const run = new TaskRun(service, call, { can: () => true }, new RunMemory(() => turnBegun, 99, undefined))
  await run.begin(seed)
  let count = 0
  assert.equal(await run.remember('k', () => ++count), 1)
  run.lose(new Fault('busy', 'Silent for too long'))
  await assert.rejects(run.remember('l', () => ++count), {
    kind: 'cancelled', message: 'Another process has the task',
  })
  // What has happened already has.
  assert.equal(await run.remember('k', () => ++count), 1)
  assert.deepEqual([count, call.reason?.kind, call.over], [1, 'cancelled', true])
})

test('a run whose task was never promised is ended with the reason for that', () => {
  const call = callOf({ can: () => false })
  new TaskRun(serviceOf().service, call, { can: () => true }).lose(new Fault('busy', 'Silent for too long'))
  assert.deepEqual([call.reason?.kind, call.reason?.message], ['busy', 'Silent for too long'])
})

test('the result of a side effect is written before it is returned, also of an early one', async (t) => {
  const store = sharedMemory().connect()
  const { service } = serviceOf({ secret: 'the secret of a service', store })
  t.after(async () => {
    await sharedOf(service)?.cluster.close(true)
    service.timers.close()
  })
  await sharedOf(service)?.cluster.ready()
  const memory = new RunMemory(() => turnBegun, 99, undefined)
  const run = new TaskRun(service, callOf({ can: () => false }), { can: () => true }, memory)
  let isWritten = false
  const begun = Promise.resolve(run.begin(seed)).then((task) => {
    isWritten = true
    return task
  })
  assert.equal(await run.remember('early', () => 'first'), 'first')
  assert.ok(isWritten)
  const { id } = await begun
  const kept = async (): Promise<Task> => {
    const read = await tasksOf(service).stored!.get(OWNER, id)
    assert.ok(read)
    return read
  }
  assert.deepEqual((await kept()).turn?.results, { early: 'first' })
  assert.equal(await run.remember('late', () => 'second'), 'second')
  assert.deepEqual((await kept()).turn?.results, { early: 'first', late: 'second' })
  run.complete(1)
  await tasksOf(service).whenPersisted(id)
  await tasksOf(service).stored?.written()
})

test('a turn that ends without the task leaves it without a run', () => {
  const { service } = serviceOf()
  const run = new TaskRun(service, callOf({ can: () => false }), { can: () => true })
  const { id } = run.begin(seed) as Task
  run.end('input-required', undefined)
  assert.equal(tasksOf(service).runOf(id), undefined)
  run.complete(1)
  run.fail(new Error('late'))
  assert.equal((tasksOf(service).get(OWNER, id) as Task).status.state, 'input-required')
})

test('what is left to do elsewhere is shown as soon as the rest has been answered', async () => {
  const show: TaskClient['show'] = (open) => ({
    state: open.every(({ key }) => key === 'there') ? 'auth-required' : 'input-required',
    message: [{ type: 'text', text: open.map(({ key }) => key).join() }],
  })
  const { run, task } = begun({ show })
  const seen = (): readonly unknown[] => [
    task().status.state, task().status.message?.parts, task().questions.map(({ key }) => key),
  ]
  void run.ask({ what: 'roots', key: 'here' })
  void run.ask({ what: 'roots', key: 'there' })
  await turn()
  assert.deepEqual(seen(), ['input-required', [{ type: 'text', text: 'here,there' }], ['here', 'there']])
  run.answer(new Map([['here', 1]]))
  assert.deepEqual(seen(), ['auth-required', [{ type: 'text', text: 'there' }], ['there']])
  run.cancel()
})
