import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { serveA2a } from './caller.ts'
import type { TestContext } from 'node:test'
import type { AgentLike, Run } from '../../../lib/kernel/define/agent.ts'
import type { FaultKind } from '../../../lib/kernel/define/fault.ts'
import type { TriportServer } from '../../../lib/preset/create-server.ts'
import type { ServerOptions } from '../../../lib/preset/options.ts'

const A2A_JSON = 'application/a2a+json'

interface Detail {
  readonly '@type': string
  readonly reason?: string
  readonly domain?: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly fieldViolations?: readonly { readonly field?: string; readonly description: string }[]
}

interface Task {
  readonly id: string
  readonly contextId: string
  readonly status: { readonly state: string }
}

/** The members that are looked at, of whatever was answered. */
interface Body extends Partial<Task> {
  readonly task?: Task
  readonly message?: { readonly parts: readonly { readonly text?: string }[] }
  readonly tasks?: readonly (Task & { readonly artifacts?: unknown })[]
  readonly nextPageToken?: string
  readonly configs?: readonly { readonly id: string }[]
  readonly history?: readonly unknown[]
  readonly error?: {
    readonly code: number
    readonly status: string
    readonly message: string
    readonly details: readonly Detail[]
  }
}

interface Told {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Body
}

const bot: Run = async function * (prompt, call) {
  if (prompt === 'ask') {
    yield { text: 'Which year?', state: 'input-required' as const }
    return
  }
  if (prompt === 'wait') {
    await new Promise((resolve) => call.signal.addEventListener('abort', resolve, { once: true }))
    return
  }
  yield `You said ${prompt}`
}

const muse = { name: 'Muse', run: (prompt: string) => `Muse heard ${prompt}` }

/** A server of two agents, the first of which is given. */
function serveBoth(
  t: TestContext, options: Partial<ServerOptions> = {}, agent: AgentLike = { name: 'Bot', run: bot },
): TriportServer {
  return serveA2a(t, { agents: [agent, muse], ...options })
}

type Headed = Record<string, string>

/** `line` is a method and a path. A body that is no text goes as JSON, and then says so. */
async function tell(
  server: TriportServer, line: string, body?: unknown, headers: Headed = {},
): Promise<Told> {
  const [method = '', path = ''] = line.split(' ')
  const isJson = body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)
  const response = await server.fetch(new Request(`http://triport.test${path}`, {
    method,
    headers: isJson ? { 'content-type': 'application/json', ...headers } : headers,
    body: body === undefined ? null : isJson ? JSON.stringify(body) : body,
  }))
  const text = await response.text()
  const isAnswer = text !== '' && response.headers.get('content-type')?.endsWith('json') === true
  const { status, headers: said } = response
  return { status, headers: said, text, body: isAnswer ? JSON.parse(text) as Body : {} }
}

let messageCount = 0

function saying(text: string, more: object = {}): object {
  return { message: { messageId: `m-${++messageCount}`, role: 'ROLE_USER', parts: [{ text }], ...more } }
}

async function begin(server: TriportServer, text: string, base = '', more: object = {}): Promise<Task> {
  const { body, text: said } = await tell(server, `POST ${base}/message:send`, { ...saying(text), ...more })
  assert.ok(body.task, said)
  return body.task
}

/** What begins and goes on until it is ended. */
function beginWaiting(server: TriportServer, base = ''): Promise<Task> {
  return begin(server, 'wait', base, { configuration: { returnImmediately: true } })
}

interface StreamEvent { readonly event: string | undefined; readonly data: object }

function eventsOf(text: string): readonly StreamEvent[] {
  return text.split('\n\n').filter((block) => /^data: /m.test(block)).map((block) => ({
    event: /^event: (.*)$/m.exec(block)?.[1],
    data: JSON.parse(/^data: (.*)$/m.exec(block)![1]!) as object,
  }))
}

function reasonOf({ body }: Told): string | undefined {
  return body.error?.details[0]?.reason
}

function fieldOf({ body }: Told): string | undefined {
  return body.error?.details[0]?.fieldViolations?.[0]?.field
}

test('a message becomes a task, which is read, listed and canceled, at each agent', async (t) => {
  const server = serveBoth(t)
  for (const base of ['', '/agents/muse', '/agents/bot']) {
    const task = await begin(server, 'hi', base)
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    const read = await tell(server, `GET ${base}/tasks/${task.id}`)
    assert.deepEqual([read.status, read.body], [200, task])
    const list = await tell(server, `GET ${base}/tasks`)
    assert.deepEqual(list.body.tasks?.map(({ id }) => id).includes(task.id), true)
    assert.deepEqual(Object.keys(list.body).sort(), ['nextPageToken', 'pageSize', 'tasks', 'totalSize'])
  }
  const waiting = await beginWaiting(server)
  const canceled = await tell(server, `POST /tasks/${waiting.id}:cancel`)
  assert.deepEqual([canceled.status, canceled.body.status?.state], [200, 'TASK_STATE_CANCELED'])
})

test('a task belongs to the agent whose path it was begun at', async (t) => {
  const server = serveBoth(t)
  const { id } = await begin(server, 'hi', '/agents/muse')
  assert.equal(reasonOf(await tell(server, `GET /tasks/${id}`)), 'TASK_NOT_FOUND')
  assert.equal((await tell(server, `GET /agents/muse/tasks/${id}`)).status, 200)
})

test('an agent that answers with messages does so here too', async (t) => {
  const server = serveBoth(t, {}, { name: 'Bot', replies: 'message', run: () => 'ok' })
  const { status, body } = await tell(server, 'POST /message:send', saying('hi'))
  assert.deepEqual([status, body.message?.parts], [200, [{ text: 'ok' }]])
})

test('an agent that answers with messages has no task to go on with', async (t) => {
  let runs = 0
  const run = (): string => `${++runs}`
  const server = serveBoth(t, {}, { name: 'Bot', replies: 'message', run })
  for (const path of ['send', 'stream']) {
    const told = await tell(server, `POST /message:${path}`, saying('hi', { taskId: 'none' }))
    assert.equal(reasonOf(told), 'TASK_NOT_FOUND', path)
  }
  assert.equal(runs, 0)
})

test('data of an agent that answers with messages is a part, in the place of its own text', async (t) => {
  const data = { k: 1 }
  for (const [answer, parts] of [
    [{ data }, [{ data }]], [{ text: 'a', data }, [{ text: 'a' }, { data }]],
    [{ text: JSON.stringify(data), data }, [{ data }]],
  ] as const) {
    const server = serveBoth(t, {}, { name: 'Bot', replies: 'message', run: () => answer })
    assert.deepEqual((await tell(server, 'POST /message:send', saying('hi'))).body.message?.parts, parts)
    const [streamed] = eventsOf((await tell(server, 'POST /message:stream', saying('hi'))).text)
    assert.deepEqual((streamed!.data as Body).message?.parts, parts)
    // Plain clients read the first text.
    const asked = { jsonrpc: '2.0', id: 1, method: 'message/send', params: {
      message: { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
    } }
    const plain = JSON.parse((await tell(server, 'POST /a2a', asked)).text)
    assert.deepEqual(plain.result.message.parts, [
      { type: 'text', text: 'text' in answer ? answer.text : JSON.stringify(data) },
    ])
  }
})

test('a stream is events without an envelope: first the task, last how it ended', async (t) => {
  const server = serveBoth(t)
  const accept = { accept: A2A_JSON }
  const { status, headers, text } = await tell(server, 'POST /message:stream', saying('hi'), accept)
  assert.deepEqual([status, headers.get('content-type')], [200, 'text/event-stream'])
  const events = eventsOf(text)
  assert.deepEqual(Object.keys(events[0]!.data), ['task'])
  assert.match(JSON.stringify(events.at(-1)), /"statusUpdate":.*TASK_STATE_COMPLETED/)
  assert.deepEqual(events.map(({ event }) => event), events.map(() => undefined))
})

test('what goes wrong behind the first event is the last event', async (t) => {
  const server = serveBoth(t, {}, {
    name: 'Bot', replies: 'message', run: () => { throw new Error('secret') },
  })
  const { status, text } = await tell(server, 'POST /message:stream', saying('hi'))
  const [last] = eventsOf(text)
  assert.deepEqual([status, last?.event], [200, 'error'])
  assert.match(JSON.stringify(last?.data),
    /^\{"error":\{"code":500,"status":"INTERNAL","message":"Internal error/)
  assert.doesNotMatch(text, /secret/)
})

test('subscribing is GET and POST, asks for no body, and has its colon in either spelling', async (t) => {
  const server = serveBoth(t)
  for (const line of ['GET /tasks/{}:subscribe', 'POST /tasks/{}:subscribe', 'POST /tasks/{}%3Asubscribe']) {
    const { id } = await begin(server, 'ask')
    const reading = tell(server, line.replace('{}', id))
    assert.equal((await tell(server, `POST /tasks/${id}%3acancel`)).status, 200)
    const events = eventsOf((await reading).text)
    assert.match(JSON.stringify(events[0]), /\{"task":.*TASK_STATE_INPUT_REQUIRED/)
    assert.match(JSON.stringify(events.at(-1)), /TASK_STATE_CANCELED/)
  }
})

test('what is wrong before the first event is an ordinary answer', async (t) => {
  const server = serveBoth(t)
  const { id } = await begin(server, 'hi')
  for (const method of ['GET', 'POST']) {
    const told = await tell(server, `${method} /tasks/${id}:subscribe`)
    assert.deepEqual([told.status, reasonOf(told)], [400, 'UNSUPPORTED_OPERATION'])
  }
  assert.equal((await tell(server, 'POST /message:stream', {})).status, 400)
})

test('what is wrong only beside what is kept is named as a member, too', async (t) => {
  const server = serveBoth(t, { a2a: { pushNotifications: { allowPrivate: true, allowInsecure: true } } })
  const { id: taskId } = await begin(server, 'ask')
  const going = (more: object): object => (
    { message: { messageId: 'same', role: 'ROLE_USER', parts: [{ text: 'ask' }], taskId, ...more } }
  )
  const said = await tell(server, 'POST /message:send', going({ contextId: 'another' }))
  assert.deepEqual([said.status, fieldOf(said)], [400, 'message.contextId'])
  assert.equal((await tell(server, 'POST /message:send', going({}))).status, 200)
  const again = await tell(server, 'POST /message:send', going({}))
  assert.deepEqual([again.status, fieldOf(again)], [400, 'message.messageId'])
  const list = await tell(server, `GET /tasks/${taskId}/pushNotificationConfigs?pageToken=none`)
  assert.deepEqual([list.status, fieldOf(list)], [400, 'pageToken'])
})

test('the webhooks of a task are registered, listed, read and removed', async (t) => {
  const server = serveBoth(t, { a2a: { pushNotifications: { allowPrivate: true, allowInsecure: true } } })
  const { id } = await begin(server, 'ask')
  const configs = `/tasks/${id}/pushNotificationConfigs`
  // The task of the path, whatever the body says.
  const made = await tell(server, `POST ${configs}`, {
    id: 'urn:a b', url: 'http://127.0.0.1:9/', taskId: 'other', task_id: 'other',
  })
  assert.deepEqual([made.status, made.body], [200, { taskId: id, id: 'urn:a b', url: 'http://127.0.0.1:9/' }])
  const list = await tell(server, `GET ${configs}?pageSize=1&pageToken=`)
  assert.deepEqual(list.body.configs?.map((config) => config.id), ['urn:a b'])
  assert.deepEqual((await tell(server, `GET ${configs}/urn:a%20b`)).body, made.body)
  const removed = await tell(server, `DELETE ${configs}/urn%3Aa%20b`)
  const { status, text, headers } = removed
  assert.deepEqual([status, text, headers.get('content-type')], [200, '{}', 'application/json'])
  assert.equal((await tell(server, `GET ${configs}/urn:a%20b`)).status, 404)
})

test('what may stand in the query is read from there, and nothing else', async (t) => {
  const server = serveBoth(t)
  const first = await begin(server, 'one')
  const second = await begin(server, 'two')
  const rows: readonly (readonly [query: string, ids: readonly string[], artifacts?: boolean])[] = [
    ['', [second.id, first.id]],
    ['?nothing=1&nothing=2&__proto__=x', [second.id, first.id]],
    ['?pageSize=1', [second.id]],
    ['?page_size=1&includeArtifacts=true', [second.id], true],
    ['?include_artifacts=false&status=TASK_STATE_COMPLETED', [second.id, first.id]],
    [`?contextId=${first.contextId}&historyLength=0`, [first.id]],
    ['?status=TASK_STATE_WORKING', []],
    ['?statusTimestampAfter=2999-01-01T00%3A00%3A00.000Z', []],
    ['?contextId=&pageToken=', [second.id, first.id]],
    ['?pageSize=&historyLength=&status=&includeArtifacts=&statusTimestampAfter=', [second.id, first.id]],
  ]
  for (const [query, ids, artifacts = false] of rows) {
    const { body } = await tell(server, `GET /tasks${query}`)
    assert.deepEqual(body.tasks?.map(({ id }) => id), ids, query)
    assert.equal(body.tasks?.some((task) => task.artifacts !== undefined), artifacts, query)
  }
  const { body: { nextPageToken } } = await tell(server, 'GET /tasks?pageSize=1')
  const next = await tell(server, `GET /tasks?pageSize=1&pageToken=${encodeURIComponent(nextPageToken!)}`)
  assert.deepEqual([next.body.tasks?.map(({ id }) => id), next.body.nextPageToken], [[first.id], ''])
  assert.equal((await tell(server, `GET /tasks/${first.id}?historyLength=0`)).body.history, undefined)
  assert.equal((await tell(server, `GET /tasks/${first.id}`)).body.history?.length, 1)
})

test('a member that is wrong is named, wherever it stands', async (t) => {
  const server = serveBoth(t)
  const { id } = await begin(server, 'one')
  const rows: readonly (readonly [line: string, body: unknown, field: string | undefined])[] = [
    ['GET /tasks?pageSize=0', undefined, 'pageSize'],
    ['GET /tasks?pageSize=ten', undefined, 'pageSize'],
    ['GET /tasks?pageSize=1&pageSize=1', undefined, 'pageSize'],
    ['GET /tasks?pageSize=1&page_size=2', undefined, 'pageSize'],
    ['GET /tasks?includeArtifacts=yes', undefined, 'includeArtifacts'],
    ['GET /tasks?status=completed', undefined, 'status'],
    ['GET /tasks?pageToken=x', undefined, 'pageToken'],
    ['GET /tasks?statusTimestampAfter=-1', undefined, 'statusTimestampAfter'],
    [`GET /tasks/${id}?historyLength=-1`, undefined, 'historyLength'],
    ['POST /message:send', {}, 'message'],
    ['POST /message:send', { message: { messageId: '1', role: 'ROLE_USER', parts: [] } }, 'message.parts'],
    ['POST /message:send', [], undefined],
    ['POST /message:send', 7, undefined],
    [`POST /tasks/${id}:cancel`, { metadata: 7 }, 'metadata'],
  ]
  for (const [line, body, field] of rows) {
    const told = await tell(server, line, body)
    const { error } = told.body
    assert.deepEqual([told.status, error?.status, fieldOf(told)], [400, 'INVALID_ARGUMENT', field], line)
    assert.equal(error?.details[0]?.['@type'], 'type.googleapis.com/google.rpc.BadRequest')
    assert.doesNotMatch(told.text, /params/)
  }
})

test('what cannot be read is 400', async (t) => {
  const server = serveBoth(t)
  const json = { 'content-type': 'application/json' }
  const bodies = ['', '{', 'null', '{} tail', '[', new Uint8Array([0x22, 0xff, 0x22]), '{"a":'.repeat(70)]
  for (const body of bodies) {
    const told = await tell(server, 'POST /message:send', body, json)
    const { code, status } = told.body.error ?? {}
    assert.deepEqual([told.status, code, status], [400, 400, 'INVALID_ARGUMENT'])
  }
})

test('a body needs one of two media types, and one that may be left out needs none', async (t) => {
  const server = serveBoth(t)
  const text = JSON.stringify(saying('hi'))
  const types: readonly (readonly [type: string, status: number])[] = [
    ['application/json', 200], [A2A_JSON, 200], ['Application/A2A+JSON; charset=UTF-8', 200],
    ['text/plain', 415], ['application/xml', 415], [`${A2A_JSON}; charset=latin1`, 415],
  ]
  for (const [type, status] of types) {
    const told = await tell(server, 'POST /message:send', text, { 'content-type': type })
    assert.equal(told.status, status, type)
    if (status === 415) assert.equal(reasonOf(told), 'CONTENT_TYPE_NOT_SUPPORTED')
  }
  const { id } = await beginWaiting(server)
  const told = await tell(server, `POST /tasks/${id}:cancel`, '{}', { 'content-type': 'text/plain' })
  assert.equal(told.status, 415)
  // As a client of forms sends nothing at all.
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' }
  assert.equal((await tell(server, `POST /tasks/${id}:cancel`, undefined, form)).status, 200)
  const unnamed = new Uint8Array([0x7b, 0x7d])
  for (const body of [undefined, {}, { metadata: { why: 'late' } }, unnamed]) {
    assert.equal((await tell(server, `POST /tasks/${id}:cancel`, body)).status, 200)
  }
})

test('the answer has the media type of the protocol where the client knows it', async (t) => {
  const server = serveBoth(t)
  const rows: readonly (readonly [headers: Headed, type: string])[] = [
    [{}, 'application/json'],
    [{ accept: '*/*' }, 'application/json'],
    [{ accept: 'text/html' }, 'application/json'],
    [{ accept: `${A2A_JSON}, application/json` }, A2A_JSON],
    [{ accept: 'application/json;q=1, Application/A2A+json;q=0.5' }, A2A_JSON],
  ]
  for (const [headers, type] of rows) {
    for (const [line, status] of [['GET /tasks', 200], ['GET /tasks/none', 404]] as const) {
      const told = await tell(server, line, undefined, headers)
      assert.deepEqual([told.status, told.headers.get('content-type')], [status, type])
      assert.equal(told.headers.get('cache-control'), 'private, no-store')
    }
    for (const [line, status] of [['POST /tasks', 405], ['POST /tasks/1:resume', 404]] as const) {
      const told = await tell(server, line, undefined, headers)
      assert.deepEqual([told.status, told.headers.get('content-type')], [status, type])
    }
  }
  const told = await tell(server, 'POST /message:send', saying('hi'), { 'content-type': A2A_JSON })
  assert.equal(told.headers.get('content-type'), A2A_JSON)
})

test('version 1.0 is spoken, and what names no version means it', async (t) => {
  const server = serveBoth(t)
  for (const version of ['1.0', ' 1.0 ', '1', '1.0.1', '']) {
    const told = await tell(server, 'GET /tasks', undefined, { 'a2a-version': version })
    assert.equal(told.status, 200, version)
    const query = `A2A-Version=${encodeURIComponent(version)}`
    assert.equal((await tell(server, `GET /tasks?${query}`)).status, 200, version)
  }
  for (const version of ['0.3', '0.2.5', '1.1', '2.0', 'x', '1.0, 0.3']) {
    for (const told of [
      await tell(server, 'GET /tasks', undefined, { 'a2a-version': version }),
      await tell(server, `POST /message:send?A2A-Version=${version}`, saying('hi')),
    ]) {
      assert.deepEqual([told.status, reasonOf(told)], [400, 'VERSION_NOT_SUPPORTED'], version)
      assert.equal(told.body.error?.details[0]?.domain, 'a2a-protocol.org')
    }
  }
})

test('a task that is not there is not found, whatever is asked of it', async (t) => {
  const server = serveBoth(t, { a2a: { pushNotifications: true } })
  const config = { url: 'https://example.com/hook' }
  const rows: readonly (readonly [line: string, body?: unknown])[] = [
    ['GET /tasks/none'], ['GET /tasks/none:delete'], ['POST /tasks/none:cancel'],
    ['GET /tasks/none:subscribe'],
    ['POST /tasks/none:subscribe'], ['GET /tasks/none/pushNotificationConfigs'],
    ['POST /tasks/none/pushNotificationConfigs', config], ['GET /tasks/none/pushNotificationConfigs/1'],
    ['DELETE /tasks/none/pushNotificationConfigs/1'],
    ['POST /message:send', saying('hi', { taskId: 'none' })],
    ['POST /message:stream', saying('hi', { taskId: 'none' })],
  ]
  for (const [line, body] of rows) {
    const told = await tell(server, line, body)
    assert.deepEqual([told.status, told.body.error?.status, reasonOf(told)],
      [404, 'NOT_FOUND', 'TASK_NOT_FOUND'], line)
  }
})

test('where nothing is posted to webhooks, that is said before anything else', async (t) => {
  const server = serveBoth(t)
  const configs = '/tasks/none/pushNotificationConfigs'
  for (const line of [`GET ${configs}`, `DELETE ${configs}/1`]) {
    const told = await tell(server, line)
    assert.deepEqual([told.status, reasonOf(told)], [400, 'PUSH_NOTIFICATION_NOT_SUPPORTED'])
  }
})

test('a refusal is in the form of the binding, with the headers that belong to it', async (t) => {
  const rateLimit = { perMinute: 1, burst: 2 }
  const server = serveBoth(t, { apiKey: 'key-of-ann', maxBodyBytes: 1_000, rateLimit })
  const ann = { 'x-api-key': 'key-of-ann' }
  const rows: readonly (readonly [string, unknown, Headed, number, string, string?])[] = [
    ['GET /tasks', undefined, {}, 401, 'UNAUTHENTICATED', 'www-authenticate'],
    ['GET /agents/none/tasks', undefined, ann, 404, 'NOT_FOUND'],
    ['POST /tasks', {}, ann, 405, 'UNIMPLEMENTED', 'allow'],
    ['GET /message:send', undefined, ann, 405, 'UNIMPLEMENTED', 'allow'],
    ['POST /tasks/1', {}, ann, 405, 'UNIMPLEMENTED', 'allow'],
    ['POST /tasks/1:resume', {}, ann, 404, 'NOT_FOUND'],
    ['POST /agents/muse/tasks/1:resume', {}, ann, 404, 'NOT_FOUND'],
    ['POST /message:send', saying('x'.repeat(1_000)), ann, 413, 'INVALID_ARGUMENT'],
    ['POST /message:send', 'x', { ...ann, 'content-type': 'text/plain' }, 415, 'INVALID_ARGUMENT'],
    ['POST /message:send', saying('hi'), ann, 429, 'RESOURCE_EXHAUSTED', 'retry-after'],
  ]
  for (const [line, body, headers, code, name, header] of rows) {
    const told = await tell(server, line, body, headers)
    const { error } = told.body
    assert.deepEqual([told.status, error?.code, error?.status], [code, code, name], line)
    assert.ok(error?.message !== undefined && error.details.length === 1, line)
    if (header !== undefined) assert.ok(told.headers.has(header), `${line} ${header}`)
  }
  await server.close()
  const told = await tell(server, 'GET /tasks', undefined, ann)
  assert.deepEqual([told.status, told.body.error?.status], [503, 'UNAVAILABLE'])
  assert.ok(told.headers.has('retry-after'))
})

test('tenants have paths of their own, and the one in the path is the one that counts', async (t) => {
  const server = serveBoth(t, { a2a: { tenants: ['acme', 'org:Straße 7'] } })
  for (const base of ['', '/agents/muse']) {
    for (const tenant of ['acme', 'org:Straße 7']) {
      const at = `${base}/${encodeURIComponent(tenant)}`
      const { id } = await begin(server, 'hi', at, { tenant: 'other' })
      assert.equal((await tell(server, `GET ${at}/tasks/${id}?tenant=other`)).status, 200)
      const asked = `GET ${base}/tasks/${id}?tenant=${encodeURIComponent(tenant)}`
      assert.equal((await tell(server, asked)).status, 200)
      assert.equal(reasonOf(await tell(server, `GET ${base}/tasks/${id}`)), 'TASK_NOT_FOUND')
      assert.deepEqual((await tell(server, `GET ${at}/tasks`)).body.tasks?.map((task) => task.id), [id])
      assert.equal((await tell(server, `POST ${at}/tasks/${id}:cancel`)).status, 400)
    }
  }
  const { id } = await begin(server, 'hi', '', { tenant: 'acme' })
  assert.equal((await tell(server, `GET /acme/tasks/${id}`)).status, 200)
})

test('a tenant that was not declared is refused in both bindings', async (t) => {
  for (const a2a of [{}, { tenants: ['acme'] }]) {
    const server = serveBoth(t, { a2a })
    for (const told of [
      await tell(server, 'GET /tasks?tenant=other'),
      await tell(server, 'POST /message:send', { ...saying('hi'), tenant: 'other' }),
      await tell(server, 'GET /extendedAgentCard?tenant=other'),
      ...a2a.tenants === undefined ? [] : [await tell(server, 'GET /other/tasks')],
    ]) {
      const { error } = told.body
      assert.deepEqual([told.status, error?.status, fieldOf(told)], [400, 'INVALID_ARGUMENT', 'tenant'])
    }
    for (const [method, params] of [['ListTasks', {}], ['GetTask', { id: 'none' }]] as const) {
      const rpc = await tell(server, 'POST /a2a', {
        jsonrpc: '2.0', id: 1, method, params: { ...params, tenant: 'other' },
      })
      assert.deepEqual([rpc.status, rpc.body.error?.code], [200, -32602])
      assert.match(rpc.text, /"field":"tenant"/)
    }
  }
  const { status, headers } = await tell(serveBoth(t), 'GET /other/tasks')
  assert.deepEqual([status, headers.get('content-type')], [404, 'application/problem+json'])
})

test('a card of 0.3 alone has no address of this binding, which answers all the same', async (t) => {
  const server = serveBoth(t, { a2a: { card: '0.3' } })
  const { text } = await tell(server, 'GET /.well-known/agent-card.json')
  assert.doesNotMatch(text, /HTTP\+JSON/)
  await begin(server, 'hi')
})

test('a tenant is not called like a path of this binding', (t) => {
  for (const tenant of ['tasks', 'message:send', 'message:stream', 'extendedAgentCard', 'a2a', 'agents']) {
    const options = { a2a: { tenants: [tenant] } }
    assert.throws(() => serveBoth(t, options), /is a path already; choose another name/)
  }
})

test('extensions that are active are named in the header that asked for them', async (t) => {
  const uri = 'https://example.com/ext'
  const server = serveBoth(t, { a2a: { extensions: [{ uri, required: true }] } })
  for (const path of ['/message:send', '/message:stream']) {
    const told = await tell(server, `POST ${path}`, saying('hi'), { 'a2a-extensions': `${uri}, urn:other` })
    assert.deepEqual([told.status, told.headers.get('a2a-extensions')], [200, uri])
    const refused = await tell(server, `POST ${path}`, saying('hi'))
    assert.deepEqual([refused.status, reasonOf(refused)], [400, 'EXTENSION_SUPPORT_REQUIRED'])
  }
})

test('each kind of fault has its status and its name', async (t) => {
  const rows: readonly (readonly [FaultKind, status: number, name: string])[] = [
    ['invalid', 400, 'INVALID_ARGUMENT'], ['unauthenticated', 401, 'UNAUTHENTICATED'],
    ['forbidden', 403, 'PERMISSION_DENIED'], ['not-found', 404, 'NOT_FOUND'],
    ['conflict', 400, 'FAILED_PRECONDITION'], ['unsupported', 400, 'FAILED_PRECONDITION'],
    ['too-large', 413, 'INVALID_ARGUMENT'], ['busy', 503, 'UNAVAILABLE'],
    ['timeout', 504, 'DEADLINE_EXCEEDED'], ['failed', 500, 'INTERNAL'],
  ]
  for (const [kind, ...owed] of rows) {
    const run = (): never => { throw new Fault(kind, 'why') }
    const server = serveBoth(t, {}, { name: 'Bot', replies: 'message', run })
    const { status, headers, body: { error } } = await tell(server, 'POST /message:send', saying('hi'))
    assert.deepEqual([status, error?.status, error?.message, error?.code], [...owed, 'why', owed[0]], kind)
    assert.equal(headers.has('www-authenticate'), status === 401)
    assert.equal(headers.get('retry-after'), status === 503 ? '1' : null)
  }
})

test('a detail that is not JSON is left out, and a reply that is too large is refused', async (t) => {
  const run: Run = (prompt) => {
    if (prompt === 'long') return 'x'.repeat(2_000)
    throw new Fault('invalid', 'why', { count: 1n })
  }
  const server = serveBoth(t, { maxResultBytes: 1_000 }, { name: 'Bot', replies: 'message', run })
  const odd = await tell(server, 'POST /message:send', saying('odd'))
  assert.deepEqual([odd.status, odd.body.error?.message, odd.body.error?.details.length], [400, 'why', 1])
  const long = await tell(server, 'POST /message:send', saying('long'))
  assert.deepEqual([long.status, long.body.error?.code], [413, 413])
})

test('HEAD answers as GET does, without a body', async (t) => {
  const server = serveBoth(t)
  const { id } = await begin(server, 'ask')
  for (const path of ['/tasks', `/tasks/${id}`, `/tasks/${id}:subscribe`]) {
    const { status, text } = await tell(server, `HEAD ${path}`)
    assert.deepEqual([status, text], [200, ''], path)
  }
})

test('over a socket, below a mount path and beside the other doors, it is the same', async (t) => {
  const server = serveBoth(t, { protocol: 'all', mountPath: '/bots', a2a: { tenants: ['acme'] } })
  const { url } = await server.listen(0)
  const headers = { 'content-type': A2A_JSON }
  for (const base of [url, `${url}/acme`, `${url}/agents/muse`]) {
    const said = { method: 'POST', headers, body: JSON.stringify(saying('hi')) }
    const sent = await fetch(`${base}/message:send`, said)
    const { task } = await sent.json() as Body
    assert.deepEqual([sent.status, sent.headers.get('content-type')], [200, A2A_JSON])
    assert.equal((await fetch(`${base}/tasks/${task!.id}`)).status, 200)
    const late = await fetch(`${base}/tasks/${task!.id}%3Acancel`, { method: 'POST' })
    assert.equal(((await late.json()) as Body).error?.details[0]?.reason, 'TASK_NOT_CANCELABLE')
    const stream = await fetch(`${base}/message:stream`, said)
    assert.ok(eventsOf(await stream.text()).length > 1)
  }
})

test('the description of the server has every path, with what its query may hold', async (t) => {
  const { body } = await tell(serveBoth(t), 'GET /openapi.json')
  const { paths } = body as {
    paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>>
  }
  for (const base of ['', '/agents/muse']) {
    assert.deepEqual(Object.keys(paths[`${base}/tasks/{id}:subscribe`] ?? {}), ['post', 'get'])
    assert.deepEqual(Object.keys(paths[`${base}/tasks/{taskId}/pushNotificationConfigs/{id}`] ?? {}),
      ['get', 'delete'])
    const parameters = paths[`${base}/tasks/{id}`]?.['get']?.parameters?.map((one) => `${one.in} ${one.name}`)
    assert.deepEqual(parameters, ['path id', 'query historyLength'])
    assert.ok(paths[`${base}/message:send`]?.['post'])
    assert.equal(paths[`${base}/tasks`]?.['get']?.parameters?.length, 7)
  }
})
