/**
 * What a client began at one process, and does next at another, row by row, on every engine: nothing of it
 * depends on where a request goes. Each request is sent to the process that the row says.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { missing } from '../start.mjs'
import { engines, startFleet } from './deployment.mjs'
import { until } from './servers.mjs'
import { EventStream } from './events.mjs'
import { a2a, ask, modern, session } from './wire.mjs'

const noTest = missing()
const both = 'application/json, text/event-stream'
const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const textOf = ({ content }) => content[0].text

/** The same session at another process. */
function via(url, { headers }) {
  return {
    headers,
    send: (method, params) => ask(url, '/mcp', method, params, headers),
    post: (message, more) => fetch(new URL('/mcp', url), {
      method: 'POST',
      headers: { 'Accept': both, 'Content-Type': 'application/json', ...headers, ...more },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    }),
    get: (more) => EventStream.open(new URL('/mcp', url), { headers: { ...headers, ...more } }),
    end: () => fetch(new URL('/mcp', url), { method: 'DELETE', headers }),
  }
}

const call = (id, name, args = {}, _meta = undefined) => (
  { id, method: 'tools/call', params: { name, arguments: args, ..._meta && { _meta } } }
)

/** Each row is given the addresses of three processes. */
const rows = {
  async 'sessions of every revision'([one, two, three]) {
    for (const revision of revisions) {
      const begun = await session(one, revision)
      assert.equal(begun.opened.protocolVersion, revision)
      for (const url of [two, three, one, two]) {
        const result = await via(url, begun).send('tools/call', { name: 'double', arguments: { a: 4 } })
        assert.equal(textOf(result), '8')
      }
    }
  },
  async 'the end of a session'([one, two, three]) {
    const begun = await session(one)
    await via(three, begun).send('ping')
    assert.equal((await via(two, begun).end()).status, 200)
    for (const url of [two, one, three]) {
      const ping = () => via(url, begun).post({ id: 1, method: 'ping' })
      await until('the session to be gone', async () => (await ping()).status === 404)
    }
  },
  async 'watched resources, and news of them'([one, two, three]) {
    const begun = await session(one)
    await via(two, begun).send('resources/subscribe', { uri: 'note://1' })
    const stream = await via(three, begun).get()
    await via(one, begun).send('tools/call', { name: 'touch', arguments: {} })
    await stream.next(({ method }) => method === 'notifications/resources/updated')
    await via(one, begun).send('resources/unsubscribe', { uri: 'note://1' })
    stream.close()
  },
  async 'how much of its log a session is told'([one, two, three]) {
    const begun = await session(one)
    const told = async (url) => {
      const stream = await EventStream.of(await via(url, begun).post(call(1, 'tell')))
      await stream.next(({ id }) => id === 1)
      const notices = stream.heard.filter(({ method }) => method === 'notifications/message')
      return notices.map(({ params }) => params.data)
    }
    await via(three, begun).send('ping')
    await via(two, begun).send('logging/setLevel', { level: 'error' })
    await until('the level to be known', async () => (await told(three)).length === 1)
    for (const url of [one, two]) assert.deepEqual(await told(url), ['in short'])
    await via(one, begun).send('logging/setLevel', { level: 'debug' })
    for (const url of [two, three]) await until('the new level', async () => (await told(url)).length === 2)
  },
  async 'what one who listens hears of 2026-07-28'([one, two]) {
    const stream = await EventStream.of(await modern(two).listen({ resourceSubscriptions: ['note://1'] }))
    await stream.next(({ method }) => method === 'notifications/subscriptions/acknowledged')
    await modern(one).send('tools/call', { name: 'touch', arguments: {} }, 'touch')
    const told = await stream.next(({ method }) => method === 'notifications/resources/updated')
    assert.equal(told.params.uri, 'note://1')
    stream.close()
  },
  async 'a question that is answered elsewhere'([one, two]) {
    const begun = await session(one)
    const stream = await EventStream.of(await via(one, begun).post(call(1, 'greet')))
    const { id } = await stream.next(({ method }) => method === 'elicitation/create')
    const result = { action: 'accept', content: { name: 'Alice' } }
    assert.equal((await via(two, begun).post({ id, result })).status, 202)
    assert.equal(textOf((await stream.next((message) => message.id === 1)).result), 'Hello Alice')
  },
  async 'a call that is cancelled elsewhere'([one, two]) {
    const begun = await session(one)
    const waiting = call('mine', 'wait', {}, { progressToken: 1 })
    const stream = await EventStream.of(await via(one, begun).post(waiting))
    await stream.next(({ method }) => method === 'notifications/progress')
    const params = { requestId: 'mine' }
    assert.equal((await via(two, begun).post({ method: 'notifications/cancelled', params })).status, 202)
    await stream.ended()
    const count = { name: 'cancelled', arguments: {} }
    const told = async () => textOf(await via(one, begun).send('tools/call', count))
    await until('the call to be cancelled', async () => await told() !== '0')
  },
  async 'a stream that is come back to elsewhere'([one, two, three]) {
    const begun = await session(one)
    const counting = call(1, 'count', {}, { progressToken: 'p' })
    const stream = await EventStream.of(await via(one, begun).post(counting))
    const first = await stream.next(({ method }) => method === 'notifications/progress')
    stream.close()
    // More may have come in one piece with it.
    const lastId = stream.ids.get(first)
    const last = first.params.progress
    for (const url of [two, three]) {
      const rest = await via(url, begun).get({ 'Last-Event-ID': lastId })
      assert.equal(textOf((await rest.next((message) => message.id === 1)).result), 'counted')
      const progress = rest.heard.filter(({ method }) => method === 'notifications/progress')
      assert.deepEqual(progress.map(({ params }) => params.progress), [1, 2, 3].slice(last))
    }
  },
  async 'the pair of 2024, each POST elsewhere'([one, two, three]) {
    const stream = await EventStream.open(new URL('/sse', one))
    const endpoint = await stream.next(() => true, 'endpoint')
    const post = (url, message) => fetch(new URL(endpoint, url), {
      method: 'POST', headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
    const params = {
      protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'wire', version: '1.0.0' },
    }
    assert.equal((await post(two, { id: 0, method: 'initialize', params })).status, 202)
    await stream.next(({ id }) => id === 0)
    await post(three, { method: 'notifications/initialized' })
    for (const [at, url] of [two, three, one, two].entries()) {
      assert.equal((await post(url, call(at + 1, 'double', { a: at }))).status, 202)
      assert.equal(textOf((await stream.next(({ id }) => id === at + 1)).result), String(2 * at))
    }
    stream.close()
  },
  async 'rounds of 2026-07-28'([one, two]) {
    const first = await modern(one).send('tools/call', { name: 'greet', arguments: {} }, 'greet')
    assert.equal(first.resultType, 'input_required')
    const [key] = Object.keys(first.inputRequests)
    const inputResponses = { [key]: { action: 'accept', content: { name: 'Bob' } } }
    const { requestState } = first
    const params = { name: 'greet', arguments: {}, inputResponses, requestState }
    assert.equal(textOf(await modern(two).send('tools/call', params, 'greet')), 'Hello Bob')
  },
  async 'a task of 2025-11-25 that is read, listed and cancelled elsewhere'([one, two, three]) {
    const begun = await session(one)
    const { task: { taskId } } = await begun.send('tools/call', {
      name: 'job', arguments: { name: 'x', ms: 60_000 }, task: { ttl: 100_000 },
    })
    assert.equal((await via(two, begun).send('tasks/get', { taskId })).status, 'working')
    const { tasks } = await via(three, begun).send('tasks/list', {})
    assert.ok(tasks.some((task) => task.taskId === taskId))
    const waiting = via(three, begun).send('tasks/result', { taskId }).catch(({ rpc: error }) => error)
    assert.equal((await via(two, begun).send('tasks/cancel', { taskId })).status, 'cancelled')
    await waiting
    for (const url of [one, two, three]) {
      assert.equal((await via(url, begun).send('tasks/get', { taskId })).status, 'cancelled')
    }
  },
  async 'the result of a task of 2025-11-25, waited for elsewhere'([one, two]) {
    const begun = await session(one)
    const { task: { taskId } } = await begun.send('tools/call', {
      name: 'job', arguments: { name: 'x', ms: 300 }, task: {},
    })
    assert.equal(textOf(await via(two, begun).send('tasks/result', { taskId })), 'done x')
  },
  async 'a task of 2026-07-28 that asks, answered elsewhere'([one, two, three]) {
    const taskId = await modern(one).begin('ask', {})
    let task
    await until('the question', async () => {
      task = await modern(two).send('tasks/get', { taskId }, taskId)
      return task.status === 'input_required'
    })
    const [key] = Object.keys(task.inputRequests)
    const inputResponses = { [key]: { action: 'accept', content: { name: 'Eve' } } }
    await modern(three).send('tasks/update', { taskId, inputResponses }, taskId)
    await until('the end', async () => {
      task = await modern(two).send('tasks/get', { taskId }, taskId)
      return task.status === 'completed'
    })
    assert.equal(textOf(task.result), 'Hello Eve')
  },
  async 'a task of A2A that is read, listed, followed and cancelled elsewhere'([one, two, three]) {
    const id = await a2a(one).begin('work x 60000')
    assert.match((await a2a(two).read(id)).state, /^(submitted|working)$/)
    const { tasks } = await a2a(three).send('ListTasks', {})
    assert.ok(tasks.some((task) => task.id === id))
    const stream = await EventStream.of(await fetch(new URL('/a2a', two), {
      method: 'POST',
      headers: { 'Accept': 'text/event-stream', 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } }),
    }))
    await stream.next(({ result }) => result?.task?.id === id)
    const { status: { state } } = await a2a(three).send('CancelTask', { id })
    assert.equal(state, 'TASK_STATE_CANCELED')
    await stream.next(({ result }) => result?.statusUpdate?.status.state === 'TASK_STATE_CANCELED')
    assert.equal((await a2a(one).read(id)).state, 'canceled')
  },
  async 'a question of an agent, answered elsewhere'([one, two, three]) {
    const id = await a2a(one).begin('greet')
    await until('the question', async () => (await a2a(two).read(id)).state === 'input_required')
    const message = { messageId: 'answer', role: 'ROLE_USER', parts: [{ text: 'Ann' }], taskId: id }
    await a2a(three).send('SendMessage', { message })
    await until('the end', async () => (await a2a(two).read(id)).state === 'completed')
    const { artifacts } = await a2a(one).send('GetTask', { id })
    assert.equal(artifacts[0].parts[0].text, 'Hello Ann')
  },
  async 'a webhook that is told of a task, asked about elsewhere'([one, two, three]) {
    const received = []
    const hook = createServer((request, response) => {
      text(request).then((body) => {
        received.push(JSON.parse(body))
        response.end()
      })
    }).listen(0, '127.0.0.1')
    await once(hook, 'listening')
    try {
      const taskId = await a2a(one).begin('work x 60000')
      const url = `http://127.0.0.1:${hook.address().port}/`
      const kept = await a2a(two).send('CreateTaskPushNotificationConfig', { taskId, id: 'mine', url })
      assert.equal(kept.id, 'mine')
      const gone = await a2a(three).send('CreateTaskPushNotificationConfig', { taskId, id: 'other', url })
      await a2a(one).send('DeleteTaskPushNotificationConfig', { taskId, id: gone.id })
      const { configs } = await a2a(three).send('ListTaskPushNotificationConfigs', { taskId })
      assert.deepEqual(configs.map(({ id }) => id), ['mine'])
      assert.equal((await a2a(one).send('GetTaskPushNotificationConfig', { taskId, id: 'mine' })).url, url)
      await a2a(two).send('CancelTask', { id: taskId })
      const isEnd = ({ statusUpdate }) => statusUpdate?.status.state === 'TASK_STATE_CANCELED'
      await until('the webhook to be told of the end', () => received.some(isEnd))
      await sleep(100)
      assert.equal(received.filter(isEnd).length, 1)
    } finally {
      hook.close()
    }
  },
  async 'a conversation, and a key of a query'([one, two, three]) {
    const query = async (url, headers) => {
      const response = await fetch(url, {
        method: 'POST', headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify({ query: 'history', session_id: `conversation-${one.slice(-4)}` }),
      })
      return [(await response.json()).response, response.headers.get('idempotent-replayed')]
    }
    assert.deepEqual(await query(one), ['0', null])
    assert.deepEqual(await query(two), ['2', null])
    const key = { 'Idempotency-Key': one.slice(-4) }
    assert.deepEqual(await query(three, key), ['4', null])
    assert.deepEqual(await query(one, key), ['4', 'true'])
    assert.deepEqual(await query(two), ['6', null])
  },
}

for (const engine of engines) {
  test(`a client goes on at any process: ${engine.name}`, { skip: noTest || engine.skip }, async (t) => {
    const fleet = await startFleet(engine)
    t.after(() => fleet.close())
    const urls = fleet.urls()
    for (const [name, row] of Object.entries(rows)) {
      for (let turn = 0; turn < urls.length; turn++) {
        await t.test(`${name}, beginning at ${turn + 1}`, { timeout: 120_000 }, () => (
          row([...urls.slice(turn), ...urls.slice(0, turn)])
        ))
      }
    }
  })
}
