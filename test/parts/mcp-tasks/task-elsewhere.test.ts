// Tasks of both generations in a fleet: whatever is asked about one may come to any process, and a process
// may die while it runs, or while it waits for its client.
import assert from 'node:assert/strict'
import { Fault } from '../../../lib/index.ts'
import { test } from '../../fixtures/at-once.ts'
import { eventually, gate } from '../../fixtures/client.ts'
import { fleetOf, listed, mortal } from '../../fixtures/fleet.ts'
import { begin, LegacySession, modern, said } from '../mcp/client.ts'
import { EventStream } from '../../fixtures/events.ts'
import { answer, capabilities, form, get, reaches, started, update } from './task-client.ts'
import type { TestContext } from 'node:test'
import type { Call, ServerOptions, TriportServer } from '../../../lib/index.ts'
import type { Connection, Fleet } from '../../fixtures/fleet.ts'
import type { Json } from '../../fixtures/events.ts'

type Run = (call: Call, args: Json) => unknown

/** Processes that serve the tool `work` as a task. One dies when its store is cut. */
function fleet(
  t: TestContext, count: number, run: Run, options: Partial<ServerOptions> = {},
  beside: { recover?: 'rerun' } = {},
): Promise<Fleet> {
  return fleetOf(t, count, {
    tools: [{
      name: 'work', task: 'optional', inputSchema: { type: 'object' }, ...beside,
      run: (args: object, call: Call) => run(call, args),
    }],
    ...options,
  })
}

function via(server: TriportServer, { headers, opened }: LegacySession): LegacySession {
  return new LegacySession(server, headers, opened)
}

async function begun(session: LegacySession, args: object = {}): Promise<string> {
  return (await session.ask('tools/call', { name: 'work', arguments: args, task: {} })).result.task.taskId
}

async function ends(session: LegacySession, taskId: string, status = 'completed'): Promise<Json> {
  let task: Json
  await eventually(async () => {
    task = (await session.ask('tasks/get', { taskId })).result
    return task?.status === status
  }, `the task was ${status}`)
  return task
}

async function waits(session: LegacySession, taskId: string): Promise<EventStream> {
  return new EventStream(await session.send('tasks/result', { taskId }))
}

/** The question on a stream; what tells of the state of tasks is passed over. */
async function question(stream: EventStream): Promise<Json> {
  for (;;) {
    const message = await stream.next()
    assert.ok(message, 'a question comes')
    if (message.method === 'elicitation/create') return message
  }
}

const asks: Run = async (call, { who }) => {
  const receipt = await call.once('pay', () => `${who ?? 'nobody'} paid`)
  const { content } = await call.elicit({ key: 'name', message: 'Name?', schema: form })
  return `${String(content?.['name'])}: ${receipt}, run ${call.run}`
}

test('a task of 2025 is read, listed, waited for and cancelled at any process', async (t) => {
  const held = gate<string>()
  const run: Run = (_call, { wait }) => wait === true ? held.promise : new Promise(() => {})
  const { servers: [one, two, three] } = await fleet(t, 3, run)
  const session = await begin(one!)
  const other = via(two!, session)
  const taskId = await begun(session, { wait: true })
  assert.equal((await other.ask('tasks/get', { taskId })).result.status, 'working')
  assert.deepEqual((await other.ask('tasks/list')).result.tasks.map((task: Json) => task.taskId), [taskId])
  const waiting = Promise.all([session, other].map((one) => one.ask('tasks/result', { taskId })))
  held.open('done')
  assert.deepEqual((await waiting).map(({ result }) => said(result)), ['done', 'done'])
  assert.equal((await via(three!, session).ask('tasks/get', { taskId })).result.status, 'completed')
  const stuck = await begun(session)
  assert.equal((await other.ask('tasks/cancel', { taskId: stuck })).result.status, 'cancelled')
  assert.equal((await session.ask('tasks/get', { taskId: stuck })).result.status, 'cancelled')
  assert.equal((await other.ask('tasks/cancel', { taskId: stuck })).error.code, -32602)
})

test('a cancel of 2025 that comes late to the process of the task says that the task ended', async (t) => {
  const [work, way] = [gate<string>(), gate()]
  const { servers: [one, two], connections } = await fleet(t, 2, () => work.promise)
  const session = await begin(one!)
  const other = via(two!, session)
  const taskId = await begun(session)
  assert.equal((await other.ask('tasks/get', { taskId })).result.status, 'working')
  const { publish } = connections[1]!
  connections[1]!.publish = async (...all) => {
    await way.promise
    return publish(...all)
  }
  const canceling = other.ask('tasks/cancel', { taskId })
  await other.ask('tasks/get', { taskId })
  work.open('done')
  await ends(other, taskId)
  way.open()
  assert.equal((await canceling).error.code, -32602)
})

test('a task of 2026 is read, answered, listened to and cancelled at any process', async (t) => {
  const { servers: [one, two, three] } = await fleet(t, 3, async (call) => {
    call.detach()
    return asks(call, {})
  })
  const taskId = await started(one!)
  const shown = await reaches(two!, taskId, 'input_required')
  assert.deepEqual(Object.keys(shown.inputRequests), ['name'])
  const listening = new EventStream(await modern(three!, 'subscriptions/listen', {
    notifications: { taskIds: [taskId] },
  }, { capabilities }))
  const told = async (status: string): Promise<Json> => {
    for (;;) {
      const message = await listening.next()
      assert.ok(message, status)
      if (message.params?.status === status) return message.params
    }
  }
  await told('input_required')
  const updated = await update(two!, taskId, { name: { action: 'accept', content: { name: 'Ann' } } })
  assert.deepEqual(updated.error, undefined)
  assert.equal(said((await told('completed')).result), 'Ann: nobody paid, run 1')
  await listening.cancel()
  for (const server of [one!, two!, three!]) assert.equal((await get(server, taskId)).status, 'completed')
  const next = await started(one!)
  await reaches(two!, next, 'input_required')
  await answer(three!, 'cancel', { taskId: next })
  for (const server of [one!, two!, three!]) await reaches(server, next, 'cancelled')
})

/** A task that was begun, and what a client sees of it at a server. */
interface Begun {
  readonly id: string
  state(server: TriportServer): Promise<string>
  result(server: TriportServer): Promise<Json>
}

/** How each generation begins a task and looks at it. */
interface Generation { begin(server: TriportServer, args: object): Promise<Begun> }

const generations: readonly (readonly [string, Generation])[] = [
  ['2025', {
    async begin(server, args) {
      const session = await begin(server, '2025-11-25', { elicitation: {} })
      const id = await begun(session, args)
      return {
        id,
        state: async (at) => (await via(at, session).ask('tasks/get', { taskId: id })).result?.status,
        result: async (at) => (await via(at, session).ask('tasks/result', { taskId: id })).result,
      }
    },
  }],
  ['2026', {
    async begin(server, args) {
      const response = await modern(server, 'tools/call', { name: 'work', arguments: args }, { capabilities })
      const id = ((await response.json()) as Json).result.taskId
      return {
        id,
        state: async (at) => (await get(at, id))?.status,
        result: async (at) => (await get(at, id)).result,
      }
    },
  }],
]

for (const [name, generation] of generations) {
  test(`a tool that says so is run again when its process has died, with what it had: ${name}`, async (t) => {
    const paid: unknown[] = []
    const seen: unknown[] = []
    const { servers: [one, two], connections: [store] } = await fleet(t, 2, async (call, args) => {
      const receipt = await call.once('pay', async () => paid.push(args))
      await call.once('log', () => undefined)
      seen.push([args, call.run, call.principal.id, call.client?.name, call.can('elicit')])
      if (call.run === 1) await new Promise(() => {})
      return `receipt ${receipt} in run ${call.run}`
    }, mortal, { recover: 'rerun' })
    const task = await generation.begin(one!, { n: 7 })
    await eventually(() => seen.length === 1)
    store!.isCut = true
    await eventually(async () => await task.state(two!) === 'completed')
    assert.equal(said(await task.result(two!)), 'receipt 1 in run 2')
    assert.deepEqual(seen, [1, 2].map((run) => [{ n: 7 }, run, 'anonymous', 'test', true]))
    assert.deepEqual(paid, [{ n: 7 }])
  })

  test(`a tool that does not say so has run once, and its task has failed: ${name}`, async (t) => {
    let runs = 0
    const { servers: [one, two], connections: [store] } = await fleet(t, 2, () => {
      runs += 1
      return new Promise(() => {})
    }, mortal)
    const task = await generation.begin(one!, {})
    store!.isCut = true
    await eventually(async () => await task.state(two!) === 'failed')
    assert.equal(runs, 1)
  })
}

/** Cuts a process off from all others, and waits until they know. */
async function die({ connections, memory }: Fleet, at: number, left: number): Promise<void> {
  const store = connections[at] as Connection
  store.isCut = true
  await eventually(() => listed(memory, 'leases', '~').length === left)
}

test('a question of 2026 outlives its process: its answer reruns the tool, not what was done', async (t) => {
  let paid = 0
  const all = await fleet(t, 3, async (call, args) => {
    call.detach()
    await call.once('count', () => { paid += 1 })
    return asks(call, args)
  }, mortal)
  const [one, two, three] = all.servers
  const taskId = await started(one!)
  await reaches(two!, taskId, 'input_required')
  await die(all, 0, 2)
  assert.equal((await get(two!, taskId)).status, 'input_required')
  const answers = { name: { action: 'accept', content: { name: 'Ann' } } }
  const both = await Promise.all([two!, three!].map((server) => update(server, taskId, answers)))
  assert.deepEqual(both.map(({ error }) => error), [undefined, undefined])
  const task = await reaches(three!, taskId, 'completed')
  assert.equal(said(task.result), 'Ann: nobody paid, run 1')
  assert.equal(paid, 1)
})

test('answers of rounds before there was a task are not asked for again by its next run', async (t) => {
  const all = await fleet(t, 2, async (call) => {
    const first = await call.elicit({ key: 'first', message: 'First?', schema: form })
    call.detach()
    const second = await call.elicit({ message: 'Second?', schema: form })
    return `${String(first.content?.['name'])} ${String(second.content?.['name'])}`
  }, mortal)
  const [one, two] = all.servers
  const call = async (more: object): Promise<Json> => {
    const params = { name: 'work', arguments: {}, ...more }
    const response = await modern(one!, 'tools/call', params, { capabilities })
    return ((await response.json()) as Json).result
  }
  const accept = (name: string): object => ({ action: 'accept', content: { name } })
  const round = await call({})
  assert.equal(round.resultType, 'input_required')
  const { requestState } = round
  const { taskId } = await call({ requestState, inputResponses: { first: accept('Ann') } })
  const shown = await reaches(two!, taskId, 'input_required')
  await die(all, 0, 1)
  const [key] = Object.keys(shown.inputRequests)
  await update(two!, taskId, { [key!]: accept('Lee') })
  assert.equal(said((await reaches(two!, taskId, 'completed')).result), 'Ann Lee')
})

test('a question of 2025 is asked where its client waits, and its answer reaches the run', async (t) => {
  const { servers: [one, two] } = await fleet(t, 2, asks)
  const session = await begin(one!, '2025-11-25', { elicitation: {} })
  const taskId = await begun(session, { who: 'Bob' })
  const other = via(two!, session)
  await ends(other, taskId, 'input_required')
  const stream = await waits(other, taskId)
  const asked = await question(stream)
  assert.deepEqual(asked.params._meta, { 'io.modelcontextprotocol/related-task': { taskId } })
  await other.answer(asked.id, { action: 'accept', content: { name: 'Ann' } })
  assert.equal(said((await stream.rest()).at(-1)!.result), 'Ann: Bob paid, run 1')
})

test('one question is asked on one stream, and on the next when that one has gone', async (t) => {
  // With the first heartbeat a stream on which nothing is said begins.
  const { servers: [one, two, three] } = await fleet(t, 3, asks, { heartbeatMs: 50 })
  const session = await begin(one!, '2025-11-25', { elicitation: {} })
  const taskId = await begun(session)
  await ends(session, taskId, 'input_required')
  const first = await waits(via(two!, session), taskId)
  const asked = await question(first)
  assert.match(asked.id, /^ask-1@/)
  const second = await waits(via(three!, session), taskId)
  const next = second.next()
  const none = await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 200, 'none'))])
  assert.equal(none, 'none')
  await via(two!, session).notify('notifications/cancelled', { requestId: 2 })
  await first.cancel()
  await via(one!, session).answer(asked.id, { action: 'accept', content: { name: 'Ann' } })
  assert.equal(said((await next).result), 'Ann: nobody paid, run 1')
})

test('a question of 2025 outlives its process: asked again, its answer begins the tool again', async (t) => {
  const all = await fleet(t, 3, asks, mortal)
  const [one, two, three] = all.servers
  const session = await begin(one!, '2025-11-25', { elicitation: {} })
  const taskId = await begun(session, { who: 'Bob' })
  const other = via(two!, session)
  await ends(other, taskId, 'input_required')
  await die(all, 0, 2)
  const stream = await waits(other, taskId)
  const asked = await question(stream)
  await via(three!, session).answer(asked.id, { action: 'accept', content: { name: 'Ann' } })
  assert.equal(said((await stream.rest()).at(-1)!.result), 'Ann: Bob paid, run 1')
})

test('a question of 2025 that outlives its process and is refused ends its task', async (t) => {
  const all = await fleet(t, 3, asks, mortal)
  const [one, two, three] = all.servers
  const session = await begin(one!, '2025-11-25', { elicitation: {} })
  const taskId = await begun(session)
  const other = via(two!, session)
  await ends(other, taskId, 'input_required')
  await die(all, 0, 2)
  const stream = await waits(other, taskId)
  const asked = await question(stream)
  await via(three!, session).post({ jsonrpc: '2.0', id: asked.id, error: { code: -1, message: 'no' } })
  assert.match((await ends(other, taskId, 'failed')).statusMessage, /refused to answer: no/)
})

test('a question of 2025 that outlives its run and is refused later ends its task', async (t) => {
  const { servers: [one, two] } = await fleet(t, 2, asks, { askTimeoutMs: 50 })
  const session = await begin(one!, '2025-11-25', { elicitation: {} })
  for (const waiting of [() => session.listen(), (taskId: string) => waits(session, taskId)]) {
    const taskId = await begun(session)
    const stream = await waiting(taskId)
    const asked = await question(stream)
    await eventually(() => one!.status().calls.running === 0)
    assert.equal((await ends(session, taskId, 'input_required')).status, 'input_required')
    await session.post({ jsonrpc: '2.0', id: asked.id, error: { code: -1, message: 'no' } })
    assert.match((await ends(via(two!, session), taskId, 'failed')).statusMessage, /refused to answer: no/)
  }
})

test('a refusal of 2025 reaches the run that asked, in another process', async (t) => {
  const { servers: [one, two] } = await fleet(t, 2, (call) => (
    call.elicit({ message: 'Who?', schema: form }).then(() => 'answered', (error: Error) => error.message)
  ))
  const session = await begin(one!, '2025-11-25', { elicitation: {} })
  const taskId = await begun(session)
  const other = via(two!, session)
  const stream = await waits(other, taskId)
  const asked = await question(stream)
  await other.post({ jsonrpc: '2.0', id: asked.id, error: { code: -1, message: 'no' } })
  await ends(other, taskId)
  assert.match(said((await session.ask('tasks/result', { taskId })).result), /refused to answer: no/)
})

test('the stream of a session hears of its tasks, also where they do not run', async (t) => {
  const held = gate<string>()
  const { servers: [one, two] } = await fleet(t, 2, () => held.promise)
  const session = await begin(one!, '2025-11-25', { elicitation: {} })
  const stream = await via(two!, session).listen()
  const taskId = await begun(session)
  held.open('done')
  let status: Json
  do status = await stream.next()
  while (status.params?.status !== 'completed')
  assert.deepEqual([status.method, status.params.taskId], ['notifications/tasks/status', taskId])
})

test('without an answer in time a run ends, its question stays, and a late one begins it anew', async (t) => {
  let runs = 0
  const { servers: [one, two] } = await fleet(t, 2, async (call, args) => {
    runs += 1
    call.detach()
    return asks(call, args)
  }, { askTimeoutMs: 50 })
  const taskId = await started(one!)
  await reaches(two!, taskId, 'input_required')
  await eventually(() => one!.status().calls.running === 0)
  for (const server of [two!, one!]) {
    assert.equal((await get(server, taskId)).status, 'input_required')
  }
  await update(two!, taskId, { name: { action: 'accept', content: { name: 'Ann' } } })
  assert.equal(said((await reaches(one!, taskId, 'completed')).result), 'Ann: nobody paid, run 1')
  assert.equal(runs, 2)
})

test('a client that cannot be asked what a task asks hurts nobody, and hears what it can', async (t) => {
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  const tools = [{ name: 'look', inputSchema: { type: 'object' } }]
  for (const count of [1, 2]) {
    const { servers } = await fleet(t, count, async (call) => {
      call.detach()
      await call.once('wait', () => new Promise((resolve) => setImmediate(resolve)))
      return (await call.sample({ key: 'said', messages, maxTokens: 9, tools })).model
    })
    const able = { ...capabilities, sampling: { tools: {} } }
    const [one, other] = [servers[0]!, servers.at(-1)!]
    const response = await modern(one, 'tools/call', { name: 'work', arguments: {} }, { capabilities: able })
    const { taskId } = ((await response.json()) as Json).result
    const listening = new EventStream(await modern(other, 'subscriptions/listen', {
      notifications: { taskIds: [taskId] },
    }, { capabilities }))
    await eventually(async () => (await get(one, taskId, { capabilities: able })).status === 'input_required')
    const inputResponses = { said: { role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' } }
    await answer(other, 'update', { taskId, inputResponses }, { capabilities: able })
    for (;;) {
      const message = await listening.next()
      assert.ok(message)
      if (message.params?.status !== 'completed') continue
      assert.equal(said(message.params.result), 'm')
      break
    }
    await listening.cancel()
  }
})

test('a session that cannot be asked waits for the result, and another of its client is asked', async (t) => {
  for (const count of [1, 2]) {
    const { servers } = await fleet(t, count, async (call) => {
      await call.once('wait', () => new Promise((resolve) => setTimeout(resolve, 50)))
      return asks(call, {})
    }, { apiKey: [{ id: 'ann', key: 'ann-1234567890' }] })
    const headers = { 'X-API-Key': 'ann-1234567890' }
    const [one, other] = [servers[0]!, servers.at(-1)!]
    const able = await begin(one, '2025-11-25', { elicitation: {} }, headers)
    const unable = await begin(other, '2025-11-25', {}, headers)
    const taskId = await begun(able)
    const waiting = unable.ask('tasks/result', { taskId })
    const stream = await waits(via(other, able), taskId)
    const asked = await question(stream)
    await able.answer(asked.id, { action: 'accept', content: { name: 'Ann' } })
    assert.equal(said((await stream.rest()).at(-1)!.result), 'Ann: nobody paid, run 1', `${count}`)
    assert.equal(said((await waiting).result), 'Ann: nobody paid, run 1')
  }
})

test('a task that was given up before it was promised is refused, and never without a word', async (t) => {
  const run = (_prompt: unknown, call: Call): Promise<string> => new Promise((_resolve, reject) => {
    call.signal.addEventListener('abort', () => reject(call.signal.reason))
  })
  const { servers: [server], connections: [connection] } = await fleetOf(t, 1, {
    tools: [
      { name: 'work', task: 'required', run }, { name: 'may', task: 'optional', run: (args, call) => {
        call.detach()
        return run(args, call)
      } },
    ],
  })
  const session = await begin(server!)
  const write = connection!.write
  // Whoever finds a process silent puts something in the place of what it has announced.
  connection!.write = async (place, value, keepMs, expected) => {
    if (place.collection.endsWith('/tasks') && expected === 0) await write(place, 'null', 60_000, 0)
    return write(place, value, keepMs, expected)
  }
  const answers = [
    await session.send('tools/call', { name: 'work', arguments: {}, task: {} }),
    await modern(server!, 'tools/call', { name: 'work', arguments: {} }, { capabilities }),
    await modern(server!, 'tools/call', { name: 'may', arguments: {} }, { capabilities }),
  ]
  for (const [at, response] of answers.entries()) {
    const text = await response.text()
    assert.equal(response.status, 503, `${at}: ${text}`)
    assert.match(text, /"error":.*silent for too long; try again/, `${at}`)
  }
})

test('a call that is refused while its task is on its way into the store leaves none behind', async (t) => {
  const kinds = ['busy', 'forbidden', 'cancelled'] as const
  const { servers: [server] } = await fleet(t, 1, async (call, { kind }) => {
    call.detach()
    throw new Fault(kind, 'Not now')
  })
  for (const kind of kinds) {
    const params = { name: 'work', arguments: { kind } }
    const { result } = await (await modern(server!, 'tools/call', params, { capabilities })).json() as Json
    assert.equal(result.resultType, 'task')
    const task = (await answer(server!, 'get', { taskId: result.taskId })).result
    assert.equal(task.status, kind === 'cancelled' ? 'cancelled' : 'failed')
  }
  await eventually(() => server!.status().tasks.running === 0)
})
