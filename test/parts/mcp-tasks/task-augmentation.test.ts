/**
 * Task-augmented requests of 2025-11-25 as clients see them: what is offered, a task from its beginning to
 * its result, questions on the streams of the session, and tasks of the client's own.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/index.ts'
import { eventually, gate } from '../../fixtures/client.ts'
import { answerOf, begin, post, said, serveMcp } from '../mcp/client.ts'
import { EventStream } from '../../fixtures/events.ts'
import { form, serveWork } from './task-client.ts'
import type { Call } from '../../../lib/index.ts'
import type { LegacySession } from '../mcp/client.ts'
import type { Json } from '../../fixtures/events.ts'

const RELATED = 'io.modelcontextprotocol/related-task'

/** Begins a task with the tool `work`; the task as it is answered. */
async function started(session: LegacySession, more: object = {}): Promise<Json> {
  const { result } = await session.ask('tools/call', { name: 'work', task: {}, ...more })
  return result.task
}

async function reaches(session: LegacySession, taskId: string, status: string): Promise<Json> {
  let task: Json
  await eventually(async () => {
    task = (await session.ask('tasks/get', { taskId })).result
    return task.status === status
  }, `the task was ${status}`)
  return task
}

test('tasks are offered where a tool may be one, and the tool says so', async (t) => {
  const offering = await begin(serveWork(t, 'optional', () => 'done'))
  assert.deepEqual(offering.opened.capabilities.tasks, {
    list: {}, cancel: {}, requests: { tools: { call: {} } },
  })
  const [tool] = (await offering.ask('tools/list')).result.tools
  assert.deepEqual(tool.execution, { taskSupport: 'optional' })
  const plain = await begin(serveWork(t, 'forbidden', () => 'done'))
  assert.equal('tasks' in plain.opened.capabilities, false)
  assert.equal('execution' in (await plain.ask('tools/list')).result.tools[0], false)
  for (const method of ['get', 'result', 'list', 'cancel']) {
    assert.equal((await plain.ask(`tasks/${method}`, { taskId: 'x' })).error.code, -32601)
  }
  // Without the capability, what asks for a task is passed over.
  assert.equal(said((await plain.ask('tools/call', { name: 'work', task: {} })).result), 'done')
})

test('the client decides, and the tool has its say', async (t) => {
  const required = await begin(serveWork(t, 'required', () => 'done'))
  assert.equal((await required.ask('tools/call', { name: 'work' })).error.code, -32601)
  const optional = await begin(serveWork(t, 'optional', () => 'done'))
  assert.equal(said((await optional.ask('tools/call', { name: 'work' })).result), 'done')
  const mixed = await begin(serveMcp(t, { tools: [
    { name: 'work', task: 'optional', run: () => 'done' }, { name: 'plain', run: () => 'done' },
  ] }))
  const { error } = await mixed.ask('tools/call', { name: 'plain', task: {} })
  assert.deepEqual([error.code, error.data.detail],
    [-32601, 'The tool plain does not run as a task; call it without params.task'])
  for (const task of [7, 'x', { ttl: 0 }, { ttl: 'long' }]) {
    assert.equal((await optional.ask('tools/call', { name: 'work', task })).error.code, -32602)
  }
})

test('a time to live that is null is one of the server', async (t) => {
  const session = await begin(serveWork(t, 'optional', () => 'done', { taskKeepMs: 60_000 }))
  const { ttl } = await started(session, { task: { ttl: null } })
  assert.ok(ttl >= 60_000)
})

test('a call is answered with a task at once, and its result is there later for whoever waits', async (t) => {
  const { promise, open } = gate<string>()
  const session = await begin(serveWork(t, 'optional', () => promise))
  const task = await started(session, { task: { ttl: 60_000 } })
  assert.deepEqual([task.status, task.ttl, task.pollInterval], ['working', 60_000, 1_000])
  assert.deepEqual(Object.keys((await session.ask('tasks/get', { taskId: task.taskId })).result).toSorted(),
    ['createdAt', 'lastUpdatedAt', 'pollInterval', 'status', 'taskId', 'ttl'])
  const waiting = session.ask('tasks/result', { taskId: task.taskId })
  open('done')
  const { result } = await waiting
  assert.equal(said(result), 'done')
  assert.deepEqual(result._meta, { [RELATED]: { taskId: task.taskId } })
  assert.deepEqual((await session.ask('tasks/result', { taskId: task.taskId })).result, result)
  assert.equal((await reaches(session, task.taskId, 'completed')).ttl, 60_000)
})

test('a tool that fails fails its task, and the result is what the call would have been', async (t) => {
  const session = await begin(serveWork(t, 'optional', () => { throw new Error('secret') }))
  const { taskId } = await started(session)
  await reaches(session, taskId, 'failed')
  const { result } = await session.ask('tasks/result', { taskId })
  assert.equal(result.isError, true)
  assert.match(said(result), /^Internal error/)
  const unknown = await session.ask('tasks/result', { taskId: 'x' })
  assert.deepEqual([unknown.error.code, unknown.error.data.detail], [-32602, 'Unknown task: x'])
})

for (const [kind, code] of [['busy', -32603], ['forbidden', -32600], ['unauthenticated', -32600]] as const) {
  test(`a task that ended with ${kind} is no refusal of who asks for its result`, async (t) => {
    const session = await begin(serveWork(t, 'optional', () => { throw new Fault(kind, 'No', { x: 1 }) }))
    const { taskId } = await started(session)
    await reaches(session, taskId, 'failed')
    const response = await session.send('tasks/result', { taskId })
    // Neither a later time nor another credential would give another answer.
    assert.deepEqual([response.status, response.headers.get('retry-after')], [200, null])
    assert.equal(response.headers.get('www-authenticate'), null)
    const { error } = await answerOf(response)
    assert.deepEqual([error.code, error.data], [code, { detail: 'No', x: 1 }])
  })
}

const failures: readonly (readonly [what: string, run: (call: Call) => unknown, why: RegExp])[] = [
  ['what it throws', () => { throw new Fault('failed', 'No luck') }, /^No luck$/],
  ['what it throws later', async () => { throw new Fault('conflict', 'No luck') }, /^No luck$/],
  ['what is no business of a model', () => { throw new Fault('busy', 'Not now') }, /^Not now$/],
  ['a defect', () => { throw new Error('secret') }, /^Internal error \(request [^)]+\)$/],
  ['what it returns', () => ({ content: ['No ', 'luck'], isError: true }), /^No luck$/],
  [
    'something after it told of its progress', (call) => {
      call.progress(1, 2, 'half way')
      throw new Fault('failed', 'No luck')
    }, /^No luck$/,
  ],
  ['a long story', () => { throw new Fault('failed', 'x'.repeat(5_000)) }, /^x{900,1000}…$/],
]

for (const [what, run, why] of failures) {
  test(`a task that fails by ${what} says why`, async (t) => {
    const session = await begin(serveWork(t, 'optional', run))
    const { taskId } = await started(session)
    assert.match((await reaches(session, taskId, 'failed')).statusMessage, why)
    const { result: { tasks } } = await session.ask('tasks/list')
    assert.match(tasks[0].statusMessage, why)
  })
}

test('a task is cancelled once, and what it says later is dropped', async (t) => {
  const { promise, open } = gate<string>()
  let signal: AbortSignal | undefined
  const session = await begin(serveWork(t, 'optional', (call) => {
    signal = call.signal
    return promise
  }))
  const { taskId } = await started(session)
  const waiting = session.ask('tasks/result', { taskId })
  const { result } = await session.ask('tasks/cancel', { taskId })
  assert.equal(result.status, 'cancelled')
  assert.equal(signal?.aborted, true)
  assert.equal((await waiting).error.code, -32600)
  open('late')
  assert.equal((await reaches(session, taskId, 'cancelled')).status, 'cancelled')
  assert.equal((await session.ask('tasks/cancel', { taskId })).error.code, -32602)
})

test('a question of a task goes out on the stream of whoever waits for its result', async (t) => {
  const server = serveWork(t, 'optional', async (call) => {
    const { content } = await call.elicit({ message: 'Who?', schema: form })
    return `Hello ${String(content?.['name'])}`
  })
  const session = await begin(server, '2025-11-25', { elicitation: {} })
  const { taskId } = await started(session)
  await reaches(session, taskId, 'input_required')
  const stream = new EventStream(await session.send('tasks/result', { taskId }))
  const question = await stream.next()
  assert.equal(question.method, 'elicitation/create')
  assert.deepEqual(question.params._meta, { [RELATED]: { taskId } })
  await session.answer(question.id, { action: 'accept', content: { name: 'Ada' } })
  assert.equal(said((await stream.next()).result), 'Hello Ada')
})

test('what was asked where nobody listens is asked again on the next stream of its client', async (t) => {
  const { promise, open } = gate<void>()
  const server = serveWork(t, 'optional', async (call) => {
    await promise
    const { content } = await call.elicit({ message: 'Who?', schema: form })
    return `Hello ${String(content?.['name'])}`
  }, { heartbeatMs: 50 })
  const session = await begin(server, '2025-11-25', { elicitation: {} })
  const { taskId } = await started(session)
  const leaving = new AbortController()
  const message = { jsonrpc: '2.0', id: 'first', method: 'tasks/result', params: { taskId } }
  const first = session.post(message, {}, leaving.signal)
  const isWaiting = async (): Promise<boolean> => (await session.send('ping', {}, 'first')).status === 400
  await eventually(isWaiting, 'the first waited')
  leaving.abort()
  await first
  open()
  await reaches(session, taskId, 'input_required')
  const second = new EventStream(await session.send('tasks/result', { taskId }))
  const early = await second.next()
  assert.equal(early.method, 'elicitation/create')
  await second.cancel()
  const third = new EventStream(await session.send('tasks/result', { taskId }))
  const question = await third.next()
  assert.equal(question.method, 'elicitation/create')
  assert.notEqual(question.id, early.id)
  // What is asked again elsewhere is taken back where it was asked before.
  await session.answer(early.id, { action: 'accept', content: { name: 'Bob' } })
  await session.answer(question.id, { action: 'accept', content: { name: 'Ada' } })
  assert.equal(said((await third.next()).result), 'Hello Ada')
})

test('a question of a task outlives the session that it was asked in', async (t) => {
  const apiKey = [{ id: 'ann', key: 'the key of ann' }]
  const server = serveWork(t, 'optional', async (call) => (
    (await call.elicit({ message: 'Who?', schema: form })).action
  ), { apiKey })
  const client = (): Promise<LegacySession> => (
    begin(server, '2025-11-25', { elicitation: {} }, { 'X-API-Key': 'the key of ann' })
  )
  const before = await client()
  const stream = await before.listen()
  const { taskId } = await started(before)
  let heard
  while (heard?.method !== 'elicitation/create') heard = await stream.next()
  assert.equal((await before.end()).status, 200)
  const session = await client()
  await reaches(session, taskId, 'input_required')
  const waiting = new EventStream(await session.send('tasks/result', { taskId }))
  const question = await waiting.next()
  assert.equal(question.method, 'elicitation/create')
  await session.answer(question.id, { action: 'decline' })
  assert.equal(said((await waiting.next()).result), 'decline')
})

test('the stream of a session hears of its tasks, and carries their questions and progress', async (t) => {
  const server = serveWork(t, 'optional', async (call) => {
    call.progress(1, 2, 'Half')
    const { action } = await call.elicit({ message: 'Who?', schema: form })
    return action
  })
  const session = await begin(server, '2025-11-25', { elicitation: {} })
  const stream = await session.listen()
  const { taskId } = await started(session, { _meta: { progressToken: 'p' } })
  const heard: Json[] = []
  let question: Json
  while (question === undefined) {
    const message = await stream.next()
    heard.push(message)
    if (message.method === 'elicitation/create') question = message
  }
  const statuses = heard.filter(({ method }) => method === 'notifications/tasks/status')
  assert.deepEqual(statuses.map(({ params }) => params.status).at(-1), 'input_required')
  assert.ok(statuses.every(({ params }) => params.taskId === taskId && params._meta === undefined))
  const progress = heard.filter(({ method }) => method === 'notifications/progress')
  assert.ok(progress.some(({ params }) => params.progressToken === 'p'))
  const mark = { 'io.modelcontextprotocol/related-task': { taskId } }
  for (const { params } of progress) assert.deepEqual(params._meta, mark)
  await session.answer(question.id, { action: 'decline' })
  await reaches(session, taskId, 'completed')
  assert.equal(said((await session.ask('tasks/result', { taskId })).result), 'decline')
})

test('an answer that is none, and a refusal, are told to the handler; its task goes on', async (t) => {
  const server = serveWork(t, 'optional', async (call) => (
    await call.elicit({ message: 'Who?', schema: form })
      .then(() => 'answered', (error: Error) => error.message)
  ))
  const session = await begin(server, '2025-11-25', { elicitation: {} })
  const stream = await session.listen()
  for (const reply of [{ result: { action: 'shrug' } }, { error: { code: -1, message: 'no' } }]) {
    const { taskId } = await started(session)
    let message = await stream.next()
    while (message.method !== 'elicitation/create') message = await stream.next()
    await session.post({ jsonrpc: '2.0', id: message.id, ...reply })
    await reaches(session, taskId, 'completed')
    const { result } = await session.ask('tasks/result', { taskId })
    assert.match(said(result), /needs an action|refused to answer: no/)
  }
})

test('tasks are listed to the session that began them, paged; with a key, to whoever has it', async (t) => {
  const server = serveWork(t, 'optional', () => 'done', { mcp: { pageSize: 2 } })
  const [one, other] = [await begin(server), await begin(server)]
  const ids: string[] = []
  for (let count = 0; count < 3; count++) ids.unshift((await started(one)).taskId)
  const first = (await one.ask('tasks/list')).result
  const second = (await one.ask('tasks/list', { cursor: first.nextCursor })).result
  const listed = [...first.tasks, ...second.tasks].map((task: Json) => task.taskId)
  assert.deepEqual([listed, second.nextCursor], [ids, undefined])
  assert.deepEqual((await other.ask('tasks/list')).result.tasks, [])
  assert.equal((await one.ask('tasks/list', { cursor: 'x' })).error.code, -32602)

  const apiKey = ['ada', 'bob'].map((id) => ({ id, key: `${id}-0123456789` }))
  const keyed = serveWork(t, 'optional', () => 'done', { apiKey })
  const as = (id: string): Promise<LegacySession> => (
    begin(keyed, '2025-11-25', {}, { 'X-API-Key': `${id}-0123456789` })
  )
  const { taskId } = await started(await as('ada'))
  const { tasks } = (await (await as('ada')).ask('tasks/list')).result
  assert.deepEqual(tasks.map((task: Json) => task.taskId), [taskId])
  assert.deepEqual((await (await as('bob')).ask('tasks/list')).result.tasks, [])
  assert.equal((await (await as('bob')).ask('tasks/get', { taskId })).error.code, -32602)
})

test('a page of tasks begins behind the last one, though that is gone, for its owner alone', async (t) => {
  const gates = Array.from({ length: 6 }, () => gate<string>())
  const apiKey = ['ada', 'bob'].map((id) => ({ id, key: `${id}-0123456789` }))
  const server = serveMcp(t, {
    tools: [{
      name: 'work', task: 'optional', inputSchema: { type: 'object' },
      run: ({ n }: Json) => gates[n]?.promise ?? 'done',
    }],
    apiKey, maxTasks: 6, mcp: { pageSize: 2 },
  })
  const [ada, bob] = await Promise.all(apiKey.map(({ key }) => (
    begin(server, '2025-11-25', {}, { 'X-API-Key': key })
  )))
  const ids: string[] = []
  for (let n = 0; n < 6; n++) ids.unshift((await started(ada!, { arguments: { n } })).taskId)
  // Those that were begun last have ended first, and so are the first to make room.
  for (const [at, id] of ids.entries()) {
    gates[5 - at]!.open('done')
    await reaches(ada!, id, 'completed')
  }
  const page = async (session: LegacySession, cursor?: string): Promise<Json> => (
    (await session.ask('tasks/list', { cursor })).result
  )
  const idsOf = ({ tasks }: Json): unknown => tasks.map((task: Json) => task.taskId)
  const first = await page(ada!)
  assert.deepEqual(idsOf(first), ids.slice(0, 2))
  for (let count = 0; count < 2; count++) {
    await reaches(bob!, (await started(bob!)).taskId, 'completed')
  }
  assert.deepEqual(idsOf(await page(ada!)), ids.slice(2, 4))
  const second = await page(ada!, first.nextCursor)
  assert.deepEqual(idsOf(second), ids.slice(2, 4))
  const third = await page(ada!, second.nextCursor)
  assert.deepEqual([idsOf(third), third.nextCursor], [ids.slice(4), undefined])
  const { error } = await bob!.ask('tasks/list', { cursor: first.nextCursor })
  assert.equal(error.code, -32602)
})

test('whoever waits may cancel the waiting, and the task goes on', async (t) => {
  const { promise, open } = gate<string>()
  const session = await begin(serveWork(t, 'optional', () => promise))
  const { taskId } = await started(session)
  const waiting = session.send('tasks/result', { taskId }, 'w')
  await new Promise((resolve) => setImmediate(resolve))
  await session.notify('notifications/cancelled', { requestId: 'w' })
  assert.equal((await waiting).status, 202)
  open('done')
  await reaches(session, taskId, 'completed')
})

test('what waits for a task is bounded, with its body, also where its client has left', async (t) => {
  const { promise, open } = gate<string>()
  const server = serveWork(t, 'optional', () => promise, { maxStreams: 3 })
  const { url } = await server.listen(0)
  const { taskId } = await started(await begin(server))
  const filler = 'x'.repeat(60_000)
  const message = (id: number, more: object = {}): object => (
    { jsonrpc: '2.0', id, method: 'tasks/result', params: { taskId, ...more } }
  )
  const headers = { 'MCP-Protocol-Version': '2025-11-25', 'Accept': 'application/json' }
  const wait = (id: number): Promise<Response> => post(server, message(id), headers)
  const leaver = new AbortController()
  const left = fetch(`${url}/mcp`, {
    method: 'POST', body: JSON.stringify(message(1, { filler })), signal: leaver.signal,
    headers: { ...headers, 'Content-Type': 'application/json' },
  })
  await eventually(() => server.status().bodies.bytes > filler.length, 'the body has come')
  leaver.abort()
  await assert.rejects(left)
  for (let count = 0; count < 5; count++) await (await fetch(`${url}/health`)).text()
  assert.ok(server.status().bodies.bytes > filler.length)
  const second = wait(2)
  const third = wait(3)
  await new Promise((resolve) => setImmediate(resolve))
  const refused = await wait(4)
  assert.equal(refused.status, 503)
  assert.match((await refused.json() as Json).error.data.detail, /wait for their tasks already; try again/)
  open('done')
  for (const response of await Promise.all([second, third])) {
    assert.equal(said((await answerOf(response)).result), 'done')
  }
  assert.equal((await wait(5)).status, 200)
  await eventually(() => server.status().bodies.bytes === 0, 'no body is held')
})

test('what refuses a call refuses the task', async (t) => {
  const server = serveWork(t, 'optional', () => 'done')
  const session = await begin(server)
  assert.equal((await session.ask('tools/call', { name: 'none', task: {} })).error.code, -32602)
  const full = await begin(serveWork(t, 'optional', () => new Promise(() => {}), { maxTasks: 1 }))
  await started(full)
  assert.equal((await full.ask('tools/call', { name: 'work', task: {} })).error.code, -32603)
})

const abilities = {
  elicitation: {},
  sampling: {},
  tasks: { requests: { elicitation: { create: {} }, sampling: { createMessage: {} } } },
}

test('a client that works on a question as a task of its own is asked for the result', async (t) => {
  const sampled = { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' }
  const server = serveWork(t, 'forbidden', async (call: Call) => {
    const { content } = await call.sample({ messages: [], maxTokens: 1, task: { ttlMs: 5_000 } })
    return (content as Json).text
  })
  const session = await begin(server, '2025-11-25', abilities)
  const stream = await session.stream('work')
  const question = await stream.next()
  assert.deepEqual(question.params.task, { ttl: 5_000 })
  await session.answer(question.id, { task: { taskId: 'theirs', status: 'working' } })
  const wish = await stream.next()
  assert.deepEqual([wish.method, wish.params], ['tasks/result', { taskId: 'theirs' }])
  await session.answer(wish.id, sampled)
  assert.equal(said((await stream.next()).result), 'Paris')
})

for (const cancel of [{}, undefined]) {
  const how = cancel === undefined ? 'is not asked for the result any more' : 'is asked to cancel it'
  test(`a client whose own task is not needed any more ${how}`, async (t) => {
    const tasks = { ...abilities.tasks, ...cancel !== undefined && { cancel } }
    const server = serveWork(t, 'forbidden', (call: Call) => (
      call.sample({ messages: [], maxTokens: 1, task: {} })
    ), { askTimeoutMs: 50 })
    const session = await begin(server, '2025-11-25', { ...abilities, tasks })
    const stream = await session.stream('work')
    const question = await stream.next()
    await session.answer(question.id, { task: { taskId: 'theirs', status: 'working' } })
    const wish = await stream.next()
    const end = await stream.next()
    if (cancel === undefined) {
      assert.deepEqual([end.method, end.params.requestId], ['notifications/cancelled', wish.id])
    } else {
      assert.deepEqual([end.method, end.params], ['tasks/cancel', { taskId: 'theirs' }])
      assert.equal((await session.answer(end.id, { taskId: 'theirs', status: 'cancelled' })).status, 202)
    }
    assert.match(said((await stream.next()).result), /did not answer within 50 ms/)
  })
}

test('a client that knows no tasks is asked without one', async (t) => {
  const server = serveWork(t, 'forbidden', async (call: Call) => (
    (await call.elicit({ message: 'Who?', schema: form, task: {} })).action
  ))
  const session = await begin(server, '2025-11-25', { elicitation: {} })
  const stream = await session.stream('work')
  const question = await stream.next()
  assert.equal('task' in question.params, false)
  await session.answer(question.id, { action: 'cancel' })
  assert.equal(said((await stream.next()).result), 'cancel')
})
