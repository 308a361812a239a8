import { tasksOf } from '../../../lib/floors/tasks/tasks-floor.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import { dialectNamed, dialects } from '../../../lib/parts/a2a/codec/dialects.ts'
import { operations } from '../../../lib/parts/a2a/tasks/operations.ts'
import { createSeal } from '../../../lib/kernel/wire/seal.ts'
import { eventually } from '../../fixtures/client.ts'
import { serviceOf } from '../../fixtures/house.ts'
import { sharedStore } from '../../fixtures/shared-store.ts'
import { a2aLimits } from '../../../lib/parts/a2a/model/limits.ts'
import type {
  OperationName, SendRequest, StreamEvent, TaskRequest, TaskView,
} from '../../../lib/parts/a2a/model/model.ts'
import type { EventStream, A2aRequest } from '../../../lib/parts/a2a/tasks/request.ts'
import type { Store } from '../../../lib/index.ts'

/** A visit to an agent that asks back once, and then answers. */
function visitTo(store?: Store): A2aRequest {
  const run = (prompt: string): object => (
    prompt === 'done' ? { text: 'done' } : { text: 'Which?', state: 'input-required' }
  )
  const { service } = serviceOf({ agents: [{ name: 'Bot', run }], ...store !== undefined && { store } })
  const origin = {
    requestId: 'r', principal: { id: 'ann', scopes: [] }, headers: new Map(), header: () => undefined,
    onDisconnect: () => {},
  }
  return {
    context: {
      service, tasks: tasksOf(service), options: { takesKeys: () => false }, limits: a2aLimits.defaults,
      seal: createSeal(undefined, 'test'),
    },
    agent: service.catalog.root!, dialect: dialectNamed('1.0'),
    exchange: { baseUrl: 'https://a.example', params: new Map(), origin },
  } as unknown as A2aRequest
}

function saying(text: string, taskId?: string): SendRequest {
  return {
    tenant: undefined, outputModes: undefined, historyLength: undefined, isBlocking: true, push: undefined,
    metadata: undefined,
    message: {
      id: `m-${text}`, role: 'user', parts: [{ type: 'text', text }], contextId: undefined, taskId,
      metadata: undefined, extensions: undefined, referenceTaskIds: undefined,
    },
  }
}

function about(id: string, historyLength?: number): TaskRequest {
  return { tenant: undefined, id, historyLength, metadata: undefined }
}

/** Begins a task, which waits. */
async function begun(visit: A2aRequest): Promise<TaskView> {
  const result = await operations.send!(visit, saying('first'))
  assert.ok(result.what === 'task')
  return result.task
}

/** The events of a stream, to its end. */
function eventsOf(stream: EventStream): Promise<readonly StreamEvent[]> {
  return new Promise((resolve, reject) => {
    const events: StreamEvent[] = []
    stream.open({
      closed: false,
      send: (event) => events.push(event) > 0,
      ready: async () => {},
      end: (thrown) => { if (thrown === undefined) resolve(events); else reject(thrown) },
    })
  })
}

test('whatever a dialect can spell is answered, and whatever is answered a dialect can spell', () => {
  const spelled = new Set(dialects.flatMap((dialect) => Object.keys(dialect.operations)))
  assert.deepEqual(Object.keys(operations).sort(), [...spelled].sort())
  assert.deepEqual(Object.keys(dialectNamed('1.0').operations).sort(), [...spelled].sort())
})

/** What each operation does with a task that waits, as far as it can be seen from outside. */
const deeds: readonly (readonly [
  name: OperationName, act: (visit: A2aRequest, id: string) => unknown, expected: unknown, state: string,
])[] = [
  ['send', async (visit, id) => {
    const result = await operations.send!(visit, saying('done', id))
    return result.what === 'task' && result.task.id === id && result.task.status.state
  }, 'completed', 'completed'],
  ['stream', async (visit, id) => {
    const events = await eventsOf(await operations.stream!(visit, saying('done', id)))
    return events.map((event) => event.what === 'status' ? event.status.state : event.what)
  }, ['task', 'artifact', 'completed'], 'completed'],
  ['get', async (visit, id) => {
    const { id: same, status } = await operations.get!(visit, about(id))
    return [same === id, status.state]
  }, [true, 'input-required'], 'input-required'],
  ['list', async (visit, id) => {
    const { tasks } = await operations.list!(visit, {
      tenant: undefined, contextId: undefined, state: undefined, pageSize: 10, pageToken: '',
      historyLength: 0, changedSince: undefined, withArtifacts: false,
    })
    return tasks.map((task) => task.id === id)
  }, [true], 'input-required'],
  ['cancel', async (visit, id) => (await operations.cancel!(visit, about(id))).status.state,
    'canceled', 'canceled'],
  ['subscribe', async (visit, id) => {
    const events = eventsOf(await operations.subscribe!(visit, about(id)))
    tasksOf(visit.context.service).move(id, 'failed')
    return (await events).map((event) => event.what === 'status' ? event.status.state : event.what)
  }, ['task', 'failed'], 'failed'],
]

for (const [name, act, expected, state] of deeds) {
  test(`${name} does what its name says, and nothing besides`, async () => {
    const visit = visitTo()
    const { id } = await begun(visit)
    assert.deepEqual(await act(visit, id), expected)
    assert.equal((await operations.get!(visit, about(id))).status.state, state)
    assert.equal((tasksOf(visit.context.service).list('ann') as readonly unknown[]).length, 1)
  })
}

test('a task comes with as much history as is asked for, from this process or from a store', async () => {
  const store = sharedStore()
  for (const [writes, reads] of [[visitTo(), undefined], [visitTo(store), visitTo(store)]] as const) {
    const { id } = await begun(writes)
    await operations.send!(writes, saying('done', id))
    if (reads !== undefined) {
      await eventually(async () => (await operations.get!(reads, about(id))).status.state === 'completed')
    }
    const rows: readonly (readonly [length: number | undefined, said: readonly string[] | undefined])[] = [
      [undefined, ['m-first', '', 'm-done']], [9, ['m-first', '', 'm-done']], [1, ['m-done']], [0, undefined],
    ]
    for (const [historyLength, said] of rows) {
      const got = operations.get!(reads ?? writes, about(id, historyLength))
      assert.equal(got instanceof Promise, reads !== undefined)
      const history = (await got).history?.map((one) => one.role === 'user' ? one.id : '')
      assert.deepEqual(history, said, `${historyLength}`)
    }
  }
})

test('a task of somebody else, or of another tenant, is not there for any operation on tasks', async () => {
  const visit = visitTo()
  const { id } = await begun(visit)
  const { origin } = visit.exchange
  const bob = {
    ...visit, exchange: { ...visit.exchange, origin: { ...origin, principal: { id: 'bob', scopes: [] } } },
  } as A2aRequest
  const tries: Partial<Record<OperationName, () => unknown>> = {
    send: () => operations.send!(bob, saying('done', id)),
    stream: () => operations.stream!(bob, saying('done', id)),
    get: () => operations.get!(bob, about(id)),
    cancel: () => operations.cancel!(bob, about(id)),
    subscribe: () => operations.subscribe!(bob, about(id)),
  }
  for (const [name, attempt] of Object.entries(tries)) {
    await assert.rejects(async () => attempt(), { reason: 'TASK_NOT_FOUND' }, name)
  }
  const elsewhere = async (): Promise<unknown> => operations.get!(visit, { ...about(id), tenant: 'acme' })
  await assert.rejects(elsewhere, { reason: 'TASK_NOT_FOUND' })
  assert.equal((await operations.get!(visit, about(id))).status.state, 'input-required')
})

test('what this server was not told to have is refused by its own operation', async () => {
  const visit = visitTo()
  const { id: taskId } = await begun(visit)
  const one = { tenant: undefined, taskId, id: 'a' }
  const config = {
    ...one, url: 'https://a.example/', token: undefined, authentication: undefined,
  }
  const page = { ...one, pageSize: undefined, pageToken: '' }
  const noPush = 'PUSH_NOTIFICATION_NOT_SUPPORTED'
  const noCard = 'UNSUPPORTED_OPERATION'
  const rows: readonly (readonly [name: OperationName, act: () => unknown, reason: string])[] = [
    ['push-create', () => operations['push-create']!(visit, { tenant: undefined, config }), noPush],
    ['push-get', () => operations['push-get']!(visit, one), noPush],
    ['push-list', () => operations['push-list']!(visit, page), noPush],
    ['push-delete', () => operations['push-delete']!(visit, one), noPush],
    ['extended-card', () => operations['extended-card']!(visit, { tenant: undefined }), noCard],
  ]
  for (const [name, act, because] of rows) {
    await assert.rejects(async () => act(), { reason: because }, name)
  }
})

test('what this server has besides is found by its operation', async () => {
  const visit = visitTo()
  const options = { ...visit.context.options, extendedCard: { description: 'Sells.' } }
  const context = { ...visit.context, options }
  const card = await operations['extended-card']!({ ...visit, context }, { tenant: undefined })
  assert.equal(card.description, 'Sells.')
})
