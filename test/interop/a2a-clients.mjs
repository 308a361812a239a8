/**
 * The official clients of A2A of every age against the A2A door: version 1 over JSON-RPC and over HTTP+JSON,
 * version 1 as it speaks to servers of 0.3, and those of 0.3 and 0.2. Each checks in its own way what it
 * gets. Skips itself, and says so, where they are not installed.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createReceiver } from 'node:http'
import { after, before, test } from 'node:test'
import { shows } from './clients.mjs'
import { missing } from './start.mjs'
import { agent as forecaster, tool } from './weather.mjs'

const skip = missing('@a2a-js/sdk', 'a2a-sdk-0.3', 'a2a-sdk-0.2')
if (skip) console.log(`a2a-clients: skipped: ${skip}`)

const load = (path) => (skip ? {} : import(path))
const [sdk, current, middle, old] = await Promise.all(
  ['@a2a-js/sdk', '@a2a-js/sdk/client', 'a2a-sdk-0.3/client', 'a2a-sdk-0.2/client'].map(load),
)
const { createServer } = await load('../../dist/index.js')

const KEY = 'interop-key'
const pixel = 'iVBORw0KGgo='
const schema = { type: 'object', properties: { year: { type: 'integer' } }, required: ['year'] }

const acts = {
  message: async () => ({ text: 'hi', reply: 'message' }),
  ask: async () => ({ text: 'Which year?', state: 'input-required' }),
  async question(call) {
    const { content } = await call.elicit({ message: 'Which year?', schema })
    return `In ${content.year}`
  },
  async slow(call) {
    call.progress(0, 1, 'Working on it')
    await new Promise((_, reject) => call.signal.addEventListener('abort', () => reject(call.signal.reason)))
  },
  async * pieces() {
    yield 'You '
    yield 'said it'
  },
  async parts(call) {
    const link = {
      type: 'resource_link', uri: 'https://example.com/a.txt', name: 'a.txt', mimeType: 'text/plain',
    }
    const image = { type: 'image', data: pixel, mimeType: 'image/png' }
    call.artifact({ name: 'All', parts: ['text', link, image, { type: 'data', data: { year: 1999 } }] })
    return JSON.stringify(call.message.map((part) => part.type))
  },
  refuse: async () => ({ text: 'I do not', state: 'rejected' }),
  async break(call) {
    call.artifact({ parts: ['half'] })
    throw new Error('swordfish')
  },
}

function run(prompt, call) {
  if (prompt.startsWith('weather ')) return forecaster.run(prompt.slice('weather '.length), call)
  if (call.history.at(-1)?.content === 'Which year?') return `In ${prompt}`
  return Object.hasOwn(acts, prompt) ? acts[prompt](call) : `You said ${prompt}`
}

function serve(more) {
  return createServer({
    name: 'Interop', protocol: 'a2a', log: false, graceMs: 0,
    agents: [{ name: 'Bot', description: 'Does as it is told.', replies: 'either', run }],
    ...more,
    a2a: { pushNotifications: { allowInsecure: true, allowPrivate: true }, ...more?.a2a },
  })
}

const servers = {}
const urls = {}
before(async () => {
  if (skip) return
  servers.open = serve()
  servers.old = serve({ a2a: { card: '0.3' } })
  servers.locked = serve({ apiKey: KEY, a2a: { extendedCard: { description: 'Does more than it says.' } } })
  for (const [name, server] of Object.entries(servers)) {
    const { port } = await server.listen(0)
    urls[name] = `http://127.0.0.1:${port}`
  }
})
after(() => Promise.all(Object.values(servers).map((server) => server.close())))

const withKey = (input, init) => {
  const headers = new Headers(init?.headers)
  headers.set('X-API-Key', KEY)
  return fetch(input, { ...init, headers })
}

/** A task, a message or an event, of any version, in the words of none. */
function plain(value) {
  const { task, message, statusUpdate, artifactUpdate } = value
  const one = task ?? message ?? statusUpdate ?? artifactUpdate ?? value
  const stateOf = (state) => state.replace('TASK_STATE_', '').toLowerCase().replace('_', '-')
  const textOf = (parts) => (parts ?? []).map((part) => part.text ?? '').join('')
  const artifacts = one.artifacts ?? (one.artifact === undefined ? [] : [one.artifact])
  const what = one.artifact !== undefined ? 'artifact' : one.status === undefined ? 'message'
    : one.id === undefined ? 'status' : 'task'
  return {
    what, id: one.taskId ?? one.id, raw: one,
    state: one.status && stateOf(one.status.state),
    said: textOf(one.status?.message?.parts ?? one.parts),
    text: artifacts.map(({ parts }) => textOf(parts)).join('|'),
    isFinal: one.final,
  }
}

const codes = {
  TaskNotFoundError: -32001, TaskNotCancelableError: -32002, UnsupportedOperationError: -32004,
  ContentTypeNotSupportedError: -32005, RequestMalformedError: -32602,
}

/** The number of what a client threw, by the class that it made of it. */
function codeOf(error) {
  const name = error.constructor.name.replace(/^(JsonRpc|Rest)/, '')
  const [, said] = /[Cc]ode: (-\d+)/.exec(error.message) ?? []
  if (name === 'A2AErrorImpl' && error.statusCode === 400) return -32602
  return codes[name] ?? (said === undefined ? error.code ?? error.errorResponse?.error.code : Number(said))
}

/** Version 1 of the official client. */
function currentClient(Factory, row, name, legacy) {
  const legacyCompat = { enabled: legacy === true }
  const connect = (url, fetchImpl) => new current.ClientFactory(
    current.ClientFactoryOptions.createFrom(current.ClientFactoryOptions.default, {
      transports: [new Factory({ fetchImpl, legacyCompat })],
      preferredTransports: [new Factory().protocolName],
      cardResolver: new current.DefaultAgentCardResolver({ fetchImpl, legacyCompat }),
    }),
  ).createFromUrl(url)
  const json = (event) => sdk.StreamResponse.toJSON(event)
  const taskOf = (task) => plain(sdk.Task.toJSON(task))
  const request = (text, { taskId, contextId, parts = [{ text }], ...configuration } = {}) => {
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts, taskId, contextId }
    return sdk.SendMessageRequest.fromJSON({ message, configuration })
  }
  const url = legacy === true ? 'old' : 'open'
  let client
  return {
    row, name,
    has: { list: legacy !== true, extended: legacy !== true },
    async connect() { client ??= await connect(urls[url]) },
    card: () => client.getAgentCard(),
    async send(text, more) {
      const result = await client.sendMessage(request(text, more))
      return plain(result.status === undefined ? sdk.Message.toJSON(result) : sdk.Task.toJSON(result))
    },
    start: (text) => client.sendMessage(request(text, { returnImmediately: true })).then(taskOf),
    async * stream(text, more) {
      for await (const event of client.sendMessageStream(request(text, more))) yield plain(json(event))
    },
    async * subscribe(id) {
      for await (const event of client.resubscribeTask({ id, tenant: '' })) yield plain(json(event))
    },
    get: (id, historyLength) => client.getTask({ id, tenant: '', historyLength }).then(taskOf),
    cancel: (id) => client.cancelTask({ id, tenant: '' }).then(taskOf),
    list: (more) => client.listTasks(sdk.ListTasksRequest.fromJSON(more)),
    push: {
      make: (taskId, url, id) => client.createTaskPushNotificationConfig(
        sdk.TaskPushNotificationConfig.fromJSON({
          taskId, id, url, token: 'tok', authentication: { scheme: 'Bearer', credentials: 'secret' },
        }),
      ),
      get: async (taskId, id) => (await client.getTaskPushNotificationConfig({ taskId, id, tenant: '' })).url,
      list: async (taskId) => (await client.listTaskPushNotificationConfig({
        taskId, tenant: '', pageSize: 0, pageToken: '',
      })).configs.map((config) => config.url),
      remove: (taskId, id) => client.deleteTaskPushNotificationConfig({ taskId, id, tenant: '' }),
    },
    extended: async () => (await connect(urls.locked, withKey)).getAgentCard(),
    data: (data) => ({ parts: [{ data }] }),
  }
}

const oldRequest = (text, {
  taskId, contextId, parts = [{ kind: 'text', text }], ...configuration
} = {}) => ({
  message: { kind: 'message', messageId: randomUUID(), role: 'user', parts, taskId, contextId },
  configuration: { acceptedOutputModes: [], ...configuration },
})
const oldData = (data) => ({ parts: [{ kind: 'data', data }] })
const oldConfig = (taskId, url, id) => ({
  taskId,
  pushNotificationConfig: {
    id, url, token: 'tok', authentication: { schemes: ['Bearer'], credentials: 'secret' },
  },
})

/** The client of 0.3. */
function middleClient() {
  let client
  return {
    row: 'a2a-0.3', name: '0.3.14',
    has: { extended: true, finals: true },
    async connect() { client ??= await new middle.ClientFactory().createFromUrl(urls.open) },
    card: () => client.getAgentCard(),
    send: (text, more) => client.sendMessage(oldRequest(text, more)).then(plain),
    start: (text) => client.sendMessage(oldRequest(text, { blocking: false })).then(plain),
    async * stream(text, more) {
      for await (const event of client.sendMessageStream(oldRequest(text, more))) yield plain(event)
    },
    async * subscribe(id) {
      for await (const event of client.resubscribeTask({ id })) yield plain(event)
    },
    get: (id, historyLength) => client.getTask({ id, historyLength }).then(plain),
    cancel: (id) => client.cancelTask({ id }).then(plain),
    push: {
      make: (taskId, url, id) => client.setTaskPushNotificationConfig(oldConfig(taskId, url, id)),
      async get(taskId, id) {
        const params = { id: taskId, pushNotificationConfigId: id }
        return (await client.getTaskPushNotificationConfig(params)).pushNotificationConfig.url
      },
      async list(id) {
        const configs = await client.listTaskPushNotificationConfig({ id })
        return configs.map((config) => config.pushNotificationConfig.url)
      },
      remove: (id, configId) => client.deleteTaskPushNotificationConfig({
        id, pushNotificationConfigId: configId,
      }),
    },
    async extended() {
      const factory = new middle.ClientFactory({
        transports: [new middle.JsonRpcTransportFactory({ fetchImpl: withKey })],
        cardResolver: new middle.DefaultAgentCardResolver({ fetchImpl: withKey }),
      })
      return (await factory.createFromUrl(urls.locked)).getAgentCard()
    },
    data: oldData,
  }
}

/** The client of 0.2, which hands out whole answers. */
function oldClient() {
  let client
  const result = (answer) => {
    if (answer.error !== undefined) throw Object.assign(new Error(answer.error.message), answer.error)
    return answer.result
  }
  const task = (answer) => plain(result(answer))
  return {
    row: 'a2a-0.2', name: '0.2.5',
    has: { finals: true },
    async connect() { client ??= new old.A2AClient(urls.open) },
    card: () => client.getAgentCard(),
    send: (text, more) => client.sendMessage(oldRequest(text, more)).then(task),
    start: (text) => client.sendMessage(oldRequest(text, { blocking: false })).then(task),
    async * stream(text, more) {
      for await (const event of client.sendMessageStream(oldRequest(text, more))) yield plain(event)
    },
    async * subscribe(id) {
      for await (const event of client.resubscribeTask({ id })) yield plain(event)
    },
    get: (id, historyLength) => client.getTask({ id, historyLength }).then(task),
    cancel: (id) => client.cancelTask({ id }).then(task),
    push: {
      async make(taskId, url, id) {
        return result(await client.setTaskPushNotificationConfig(oldConfig(taskId, url, id)))
      },
      async get(id) {
        return result(await client.getTaskPushNotificationConfig({ id })).pushNotificationConfig.url
      },
    },
    data: oldData,
  }
}

const clients = skip ? [{ name: 'every client' }] : [
  currentClient(current.JsonRpcTransportFactory, 'a2a-jsonrpc', '1.3.0 JSON-RPC'),
  currentClient(current.RestTransportFactory, 'a2a-rest', '1.3.0 HTTP+JSON'),
  currentClient(current.JsonRpcTransportFactory, 'a2a-1-as-0.3', '1.3.0 as 0.3', true),
  middleClient(),
  oldClient(),
]

/** Runs a test with each client, or with those that can do what it is about. */
function withClients(what, body, canDo = () => true) {
  for (const client of clients) {
    if (!skip && !canDo(client)) continue
    test(`${client.name}: ${what}`, { skip, timeout: 120_000 }, async (t) => {
      await client.connect()
      await body(client, t)
    })
  }
}

async function all(events) {
  const list = []
  for await (const event of events) list.push(event)
  return list
}

/** Something that answers to posts and remembers them. */
async function receiver(t) {
  const posts = []
  const server = createReceiver((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk) => { body += chunk }).on('end', () => {
      posts.push({ headers: request.headers, body: JSON.parse(body) })
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { posts, url: `http://127.0.0.1:${server.address().port}/hook` }
}

async function until(what, holds) {
  const end = Date.now() + 20_000
  while (!await holds()) {
    assert.ok(Date.now() < end, `${what} did not happen`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const refusedWith = (code) => (error) => {
  assert.equal(codeOf(error), code, error.stack)
  return true
}

withClients('the card is found', async ({ card }) => {
  const { name, skills } = await card()
  assert.equal(name, 'Bot')
  assert.ok(skills.length > 0)
})

withClients('a message becomes a task that has ended', async ({ send }) => {
  const { what, state, text } = await send('hello')
  assert.deepEqual([what, state, text], ['task', 'completed', 'You said hello'])
})

withClients('a message may be answered with one', async ({ send }) => {
  const { what, said } = await send('message')
  assert.deepEqual([what, said], ['message', 'hi'])
})

withClients('a task that is rejected, or fails, says so and nothing more', async (client, t) => {
  const { send, start, get, row } = client
  shows(t, row, 'error')
  const refused = await send('refuse')
  assert.deepEqual([refused.state, refused.said], ['rejected', 'I do not'])
  const { id } = await start('break')
  await until('the end', async () => (await get(id)).state === 'failed')
  assert.doesNotMatch((await get(id)).said, /swordfish/)
})

withClients('parts of every kind go in and come out', async ({ send, data }) => {
  const { raw } = await send('parts')
  const [made, said] = raw.artifacts
  assert.equal(made.name, 'All')
  assert.equal(made.parts.length, 4)
  const all = JSON.stringify(made.parts)
  for (const part of ['"text"', 'https://example.com/a.txt', 'a.txt', pixel, '1999']) {
    assert.ok(all.includes(part), `${part} in ${all}`)
  }
  assert.equal(said.parts[0].text, '["text"]')
  const { state } = await send('', data({ year: 7 }))
  assert.equal(state, 'completed')
})

withClients('a stream begins with the task and ends with its end', async ({ stream, has }) => {
  const events = await all(stream('pieces'))
  assert.equal(events[0].what, 'task')
  const artifacts = events.filter(({ what }) => what === 'artifact')
  assert.equal(artifacts.map(({ text }) => text).join(''), 'You said it')
  assert.equal(events.at(-1).state, 'completed')
  if (has.finals) {
    const finals = events.filter(({ isFinal }) => isFinal === true)
    assert.deepEqual(finals.map(({ state }) => state), ['completed'])
  }
})

withClients('two turns with a tool, in pieces', async ({ stream, row }, t) => {
  shows(t, row, 'two turns', 'tool', 'stream')
  let contextId
  for (const [city, before] of [['Rome', 0], ['Oslo', 1]]) {
    const events = await all(stream(`weather ${city}`, { contextId }))
    contextId = events[0].raw.contextId
    const pieces = events.filter(({ what }) => what === 'artifact').map(({ text }) => text)
    assert.deepEqual(pieces.filter((piece) => piece !== ''), [`${before} before; `, `sunny in ${city}`])
    assert.ok(events.some(({ said }) => said.includes(tool.name)), JSON.stringify(events))
    assert.equal(events.at(-1).state, 'completed')
  }
})

withClients('a stream of a message has that message alone', async ({ stream }) => {
  assert.deepEqual((await all(stream('message'))).map(({ what, said }) => [what, said]), [['message', 'hi']])
})

withClients('a task is read, with as much history as is asked for', async ({ send, get }) => {
  const { id } = await send('hello')
  const { state, text, raw } = await get(id)
  assert.deepEqual([state, text, raw.history.length], ['completed', 'You said hello', 1])
  assert.equal((await get(id, 0)).raw.history?.length ?? 0, 0)
})

withClients('an agent asks for more, and the next message goes on', async ({ send, stream }) => {
  const asked = await send('ask')
  assert.deepEqual([asked.state, asked.said], ['input-required', 'Which year?'])
  const answered = await send('1999', { taskId: asked.id })
  assert.deepEqual([answered.id, answered.state, answered.text], [asked.id, 'completed', 'In 1999'])
  const events = await all(stream('ask'))
  assert.equal(events.at(-1).state, 'input-required')
  const more = await all(stream('2000', { taskId: events[0].id }))
  assert.equal(more.at(-1).state, 'completed')
})

withClients('a question within a run is answered by a text, or by data', async ({ send, data, row }, t) => {
  shows(t, row, 'question')
  for (const answer of [['1999'], ['', data({ year: 1999 })]]) {
    const asked = await send('question')
    assert.equal(asked.state, 'input-required')
    assert.match(asked.said, /Which year\?/)
    const [text, more] = answer
    const answered = await send(text, { taskId: asked.id, ...more })
    assert.deepEqual([answered.state, answered.text], ['completed', 'In 1999'])
  }
})

withClients('a task that runs is followed, canceled, and canceled again', async (client) => {
  const { id, state } = await client.start('slow')
  assert.ok(['submitted', 'working'].includes(state), state)
  const followed = all(client.subscribe(id))
  await until('the work', async () => (await client.get(id)).said === 'Working on it')
  assert.equal((await client.cancel(id)).state, 'canceled')
  const events = await followed
  assert.deepEqual([events[0].what, events.at(-1).state], ['task', 'canceled'])
  assert.equal((await client.cancel(id)).state, 'canceled')
})

withClients('what is not there, or over, has its own error', async (client) => {
  const { id } = await client.send('hello')
  await assert.rejects(client.get('unknown'), refusedWith(-32001))
  await assert.rejects(client.send('more', { taskId: 'unknown' }), refusedWith(-32001))
  await assert.rejects(client.send('more', { taskId: id }), refusedWith(-32004))
  await assert.rejects(client.cancel(id), refusedWith(-32002))
  await assert.rejects(all(client.subscribe('unknown')), refusedWith(-32001))
  await assert.rejects(all(client.subscribe(id)), refusedWith(-32004))
  await assert.rejects(all(client.stream('more', { taskId: 'unknown' })), refusedWith(-32001))
  await assert.rejects(client.send('', { parts: [] }), refusedWith(-32602))
})

withClients('webhooks are made, read, listed and deleted, and hear what happens', async (client, t) => {
  const { posts, url } = await receiver(t)
  const { id, state } = await client.send('ask')
  assert.equal(state, 'input-required')
  await client.push.make(id, url, 'hook-1')
  assert.equal(await client.push.get(id, 'hook-1'), url)
  if (client.push.list !== undefined) {
    await client.push.make(id, `${url}/2`, 'hook-2')
    assert.deepEqual(await client.push.list(id), [url, `${url}/2`])
    await client.push.remove(id, 'hook-2')
    assert.deepEqual(await client.push.list(id), [url])
  }
  await client.send('1999', { taskId: id })
  await until('the end', () => posts.some(({ body }) => plain(body).state === 'completed'))
  const { headers, body } = posts.at(-1)
  assert.equal(headers.authorization, 'Bearer secret')
  assert.equal(headers['x-a2a-notification-token'], 'tok')
  assert.equal(plain(body).id, id)
})

withClients('tasks are listed, page by page', async ({ send, list }) => {
  for (const text of ['one', 'two', 'three']) await send(text)
  const first = await list({ pageSize: 2 })
  assert.deepEqual([first.tasks.length, first.pageSize], [2, 2])
  assert.ok(first.totalSize >= 3)
  const second = await list({ pageSize: 2, pageToken: first.nextPageToken })
  const ids = new Set([...first.tasks, ...second.tasks].map(({ id }) => id))
  assert.equal(ids.size, first.tasks.length + second.tasks.length)
  await assert.rejects(list({ pageToken: 'no token' }), refusedWith(-32602))
}, ({ has }) => has.list)

withClients('with a key there is an extended card', async ({ extended }) => {
  assert.equal((await extended()).description, 'Does more than it says.')
}, ({ has }) => has.extended)
