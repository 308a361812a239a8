import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { FieldFault } from '../../../lib/parts/a2a/model/fields.ts'
import { v1 } from '../../fixtures/a2a-client/v1.ts'
import type { ClientCodec } from '../../fixtures/a2a-client/client.ts'
import type {
  Card, Message, OperationName, PushConfig, Requests, Results, StreamEvent, TaskView,
} from '../../../lib/parts/a2a/model/model.ts'

interface Golden { readonly method: string; readonly request?: unknown; readonly result?: unknown }

// From the root of the checkout, where tests are started: compiled ones lie elsewhere than what they read.
const folder = 'test/fixtures/a2a/1.0'
const at = '2026-07-28T12:00:00.000Z'

function codecOf(name: OperationName): ClientCodec<unknown, unknown> {
  return v1.operations[name] as ClientCodec<unknown, unknown>
}

const byMethod = new Map(Object.values(v1.operations).map((codec) => {
  return [codec.method, codec as ClientCodec<unknown, unknown>]
}))

/** What a JSON text of the value says. */
function wire(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

for (const file of readdirSync(folder).sort()) {
  const { method, ...golden } = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Golden
  test(`1.0/${file} is read, and written again as it stands there`, () => {
    const codec = byMethod.get(method)
    assert.ok(codec !== undefined, method)
    if ('request' in golden) {
      assert.deepEqual(wire(codec.encodeRequest(codec.decodeRequest(golden.request, 256))), golden.request)
    }
    if ('result' in golden) {
      assert.deepEqual(wire(codec.encodeResult(codec.decodeResult(golden.result))), golden.result)
    }
  })
}

test('all eleven operations have their methods, and no other dialect has these', () => {
  assert.deepEqual([...byMethod.keys()], [
    'SendMessage', 'SendStreamingMessage', 'GetTask', 'ListTasks', 'CancelTask', 'SubscribeToTask',
    'CreateTaskPushNotificationConfig', 'GetTaskPushNotificationConfig', 'ListTaskPushNotificationConfigs',
    'DeleteTaskPushNotificationConfig', 'GetExtendedAgentCard',
  ])
  assert.equal(v1.hasTasks, true)
})

const none = { metadata: undefined, extensions: undefined, referenceTaskIds: undefined }
const message: Message = {
  id: 'm1', role: 'user', parts: [{ type: 'text', text: 'hi' }], contextId: undefined, taskId: undefined,
  ...none,
}
const reply: Message = {
  id: 'm2', role: 'agent', parts: [{ type: 'data', data: null }], contextId: 'c1', taskId: 't1',
  metadata: { task_id: 1 }, extensions: ['urn:x'], referenceTaskIds: ['t0'],
}
const { contextId: _context, taskId: _task, ...said } = reply
const task: TaskView = {
  id: 't1', contextId: 'c1', status: { state: 'working', at, message: said },
  artifacts: [{ id: 'a1', parts: [{ type: 'text', text: 'x' }] }], history: [{ ...said, role: 'user' }],
  metadata: { a: 1 },
}
const bare: TaskView = {
  id: 't2', contextId: 'c1', status: { state: 'completed', at }, artifacts: undefined, history: undefined,
  metadata: undefined,
}
const push: PushConfig & { readonly taskId: string } = {
  id: 'p1', taskId: 't1', url: 'https://a.example/hook', token: 'x',
  authentication: { schemes: ['Bearer'], credentials: 'abc' },
}
const barePush = { ...push, token: undefined, authentication: undefined }
const artifact = {
  id: 'a1', name: 'Report', description: 'All', parts: [{ type: 'text' as const, text: 'x' }],
  metadata: { b: 1 }, extensions: ['urn:x'],
}
const events: readonly StreamEvent[] = [
  { what: 'task', task },
  { what: 'message', message: reply },
  { what: 'artifact', taskId: 't1', contextId: 'c1', artifact, append: true, last: false },
  { what: 'artifact', taskId: 't1', contextId: 'c1', artifact, append: false, last: true },
  { what: 'status', taskId: 't1', contextId: 'c1', status: task.status, isLast: false },
  ...(['submitted', 'working'] as const).map((state): StreamEvent => {
    return { what: 'status', taskId: 't1', contextId: 'c1', status: { state, at }, isLast: false }
  }),
  ...([
    'input-required', 'auth-required', 'completed', 'failed', 'canceled', 'rejected',
  ] as const).map((state): StreamEvent => {
    return { what: 'status', taskId: 't1', contextId: 'c1', status: { state, at }, isLast: true }
  }),
]
const card: Card = {
  name: 'Golden', description: 'Answers.', version: '1.0.0',
  interfaces: [{ url: 'https://a.example/a2a', binding: 'JSONRPC', version: '1.0', tenant: undefined }],
  provider: undefined, documentationUrl: undefined, iconUrl: undefined, streams: true, pushes: false,
  hasExtendedCard: false, extensions: [], inputModes: ['text/plain'], outputModes: ['text/plain'],
  skills: [{ id: 'chat', name: 'Chat', description: 'Talks', tags: ['chat'] }],
  schemes: new Map(), security: [],
}

const requests: { readonly [name in OperationName]: readonly Requests[name][] } = {
  'send': [
    {
      tenant: undefined, message, outputModes: undefined, historyLength: undefined, isBlocking: true,
      push: undefined, metadata: undefined,
    },
    {
      tenant: 'blue', message: { ...reply, role: 'user' }, outputModes: ['text/plain'], historyLength: 0,
      isBlocking: false, push: { ...push, id: undefined, taskId: undefined }, metadata: { b_c: [] },
    },
  ],
  'stream': [{
    tenant: undefined, message, outputModes: ['a/b'], historyLength: 2, isBlocking: true, push: undefined,
    metadata: undefined,
  }],
  'get': [
    { tenant: undefined, id: 't1', historyLength: undefined, metadata: undefined },
    { tenant: 'blue', id: 't1', historyLength: 0, metadata: undefined },
  ],
  'list': [
    {
      tenant: undefined, contextId: undefined, state: undefined, pageSize: 50, pageToken: '',
      historyLength: undefined, changedSince: undefined, withArtifacts: false,
    },
    {
      tenant: 'blue', contextId: 'c1', state: 'auth-required', pageSize: 1, pageToken: 'x', historyLength: 0,
      changedSince: at, withArtifacts: true,
    },
  ],
  'cancel': [{ tenant: 'blue', id: 't1', historyLength: undefined, metadata: { a: 1 } }],
  'subscribe': [{ tenant: 'blue', id: 't1', historyLength: undefined, metadata: undefined }],
  'push-create': [
    { tenant: 'blue', config: push },
    { tenant: undefined, config: { ...barePush, id: undefined } },
  ],
  'push-get': [{ tenant: undefined, taskId: 't1', id: 'p1' }],
  'push-list': [
    { tenant: undefined, taskId: 't1', pageSize: undefined, pageToken: '' },
    { tenant: 'blue', taskId: 't1', pageSize: 5, pageToken: 'x' },
  ],
  'push-delete': [{ tenant: 'blue', taskId: 't1', id: 'p1' }],
  'extended-card': [{ tenant: undefined }, { tenant: 'blue' }],
}

const results: { readonly [name in OperationName]: readonly Results[name][] } = {
  'send': [{ what: 'task', task }, { what: 'task', task: bare }, { what: 'message', message: reply }],
  'stream': events,
  'get': [task, bare],
  'list': [
    { tasks: [task, { ...bare, artifacts: [] }], nextPageToken: 'x', pageSize: 2, totalSize: 7 },
    { tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 },
  ],
  'cancel': [bare],
  'subscribe': events,
  'push-create': [push, barePush],
  'push-get': [push],
  'push-list': [{ configs: [push, barePush], nextPageToken: 'x' }, { configs: [], nextPageToken: '' }],
  'push-delete': [undefined],
  'extended-card': [card],
}

test('whatever is asked is understood as it was meant', () => {
  for (const name of Object.keys(requests) as OperationName[]) {
    const codec = codecOf(name)
    for (const request of requests[name]) {
      assert.deepEqual(codec.decodeRequest(wire(codec.encodeRequest(request)), 256), request, name)
    }
  }
})

test('whatever is answered is understood as it was meant', () => {
  for (const name of Object.keys(results) as OperationName[]) {
    const codec = codecOf(name)
    for (const result of results[name]) {
      assert.deepEqual(codec.decodeResult(wire(codec.encodeResult(result))), result, name)
    }
  }
})

test('a webhook gets each event as a stream does', () => {
  for (const event of events) {
    const body: unknown = JSON.parse(v1.formatPush(event, task))
    assert.deepEqual(codecOf('stream').decodeResult(body), event)
    assert.equal(Object.keys(body as object).length, 1)
  }
  assert.equal(v1.pushType, 'application/a2a+json')
  assert.equal(v1.pushesTasks, false)
})

const lenient: readonly (readonly [name: OperationName, given: unknown, strict: unknown])[] = [
  [
    'send',
    {
      tenant: '', metadata: null, unknown: { deep: [1] },
      message: {
        message_id: 'm1', context_id: 'c1', task_id: 't1', role: 1, kind: 'message', extensions: [],
        reference_task_ids: ['t0'], metadata: { task_id: 't9', message_id: null },
        parts: [
          { kind: 'text', text: 'a', raw: null, url: null, data: null, media_type: 'text/csv' },
          { raw: '-_8', media_type: 'a/b' }, { data: null, text: null }, { data: { a_b: null } },
        ],
      },
      configuration: {
        accepted_output_modes: ['a/b'], history_length: '2', return_immediately: true, blocking: 'ignored',
        task_push_notification_config: { task_id: '', url: 'https://a.example/', authentication: null },
      },
    },
    {
      message: {
        messageId: 'm1', contextId: 'c1', taskId: 't1', role: 'ROLE_USER', referenceTaskIds: ['t0'],
        metadata: { task_id: 't9', message_id: null },
        parts: [
          { text: 'a', mediaType: 'text/csv' }, { raw: '+/8=', mediaType: 'a/b' }, { data: null },
          { data: { a_b: null } },
        ],
      },
      configuration: {
        acceptedOutputModes: ['a/b'], historyLength: 2, returnImmediately: true,
        taskPushNotificationConfig: { url: 'https://a.example/' },
      },
    },
  ],
  [
    'send',
    {
      message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: '' }], contextId: '', taskId: null },
      configuration: { returnImmediately: false, acceptedOutputModes: null },
    },
    { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: '' }] } },
  ],
  ['get', { id: 't1', history_length: '0', metadata: 7 }, { id: 't1', historyLength: 0 }],
  ['cancel', { id: 't1', metadata: null, historyLength: -1 }, { id: 't1' }],
  ['subscribe', { id: 't1', historyLength: 'x', metadata: 7 }, { id: 't1' }],
  ['list', undefined, { pageSize: 50 }],
  ['list', { status: 'TASK_STATE_UNSPECIFIED', pageSize: null, includeArtifacts: false }, { pageSize: 50 }],
  ['list', { status: 0, page_size: '7', contextId: '' }, { pageSize: 7 }],
  ['list', { status: 8 }, { status: 'TASK_STATE_AUTH_REQUIRED', pageSize: 50 }],
  [
    'list',
    {
      context_id: 'c1', page_token: 'x', history_length: 1, include_artifacts: true,
      status_timestamp_after: '2026-07-28T14:00:00+02:00',
    },
    {
      contextId: 'c1', pageSize: 50, pageToken: 'x', historyLength: 1, includeArtifacts: true,
      statusTimestampAfter: at,
    },
  ],
  ['push-list', { task_id: 't1', page_size: 0, page_token: '' }, { taskId: 't1' }],
  ['push-get', { task_id: 't1', id: 'p1' }, { taskId: 't1', id: 'p1' }],
  ['push-create', { task_id: 't1', url: 'urn:x', id: '' }, { taskId: 't1', url: 'urn:x' }],
  ['extended-card', undefined, {}],
]

test('what clients really send is read as what they mean', () => {
  for (const [name, given, strict] of lenient) {
    const codec = codecOf(name)
    const meant = codec.decodeRequest(given, 256)
    assert.deepEqual(wire(codec.encodeRequest(meant)), strict, JSON.stringify(given))
  }
})

const long = 'x'.repeat(257)
const text = { text: 'a' }
const send = (more: object): unknown => {
  return { message: { messageId: 'm1', role: 'ROLE_USER', parts: [text], ...more } }
}
const one = 'params.message.parts[1] must have exactly one of text, raw, url and data'
const name256 = 'must be a string of at most 256 bytes'
const id256 = 'must be a non-empty string of at most 256 bytes'
const states = 'TASK_STATE_SUBMITTED, TASK_STATE_WORKING, TASK_STATE_COMPLETED, TASK_STATE_FAILED, '
  + 'TASK_STATE_CANCELED, TASK_STATE_INPUT_REQUIRED, TASK_STATE_REJECTED, TASK_STATE_AUTH_REQUIRED, '
  + 'TASK_STATE_UNSPECIFIED'
const refusals: readonly (readonly [name: OperationName, params: unknown, said: string])[] = [
  ['send', undefined, 'params is missing; it must be an object'],
  ['send', null, 'params is missing; it must be an object'],
  ['send', [], 'params must be an object'],
  ['send', {}, 'params.message is missing; it must be an object'],
  ['send', send({ role: undefined }), 'params.message.role is missing; a client writes ROLE_USER'],
  ['send', send({ role: 'ROLE_AGENT' }), 'params.message.role must be ROLE_USER'],
  ['send', send({ role: 'user' }), 'params.message.role must be ROLE_USER'],
  ['send', send({ role: 2 }), 'params.message.role must be ROLE_USER'],
  ['send', send({ role: 0 }), 'params.message.role must be ROLE_USER'],
  ['send', send({ messageId: '' }), `params.message.messageId ${id256}`],
  ['send', send({ messageId: long }), `params.message.messageId ${id256}`],
  ['send', send({ contextId: 7 }), `params.message.contextId ${name256}`],
  ['send', send({ taskId: long }), `params.message.taskId ${name256}`],
  ['send', send({ metadata: [] }), 'params.message.metadata must be an object'],
  ['send', send({ extensions: 'urn:x' }), 'params.message.extensions must be a list of strings'],
  ['send', send({ referenceTaskIds: [''] }), `params.message.referenceTaskIds[0] ${id256}`],
  ['send', send({ parts: [] }), 'params.message.parts must be a list with at least one item'],
  ['send', send({ parts: text }), 'params.message.parts must be a list with at least one item'],
  ['send', send({ parts: ['a'] }), 'params.message.parts[0] must be an object'],
  ['send', send({ parts: [text, {}] }), one],
  ['send', send({ parts: [text, { text: null }] }), one],
  ['send', send({ parts: [text, { kind: 'file', file: { uri: 'urn:x' } }] }),
    `${one}: "file" would not be seen`],
  ['send', send({ parts: [text, { kind: 'video', src: 'urn:x' }] }), `${one}: "video" would not be seen`],
  ['send', send({ parts: [text, { type: 'text', body: 'a' }] }), `${one}: "body" would not be seen`],
  ['send', send({ parts: [text, { inlineData: {}, metadata: {} }] }),
    `${one}: "inlineData" would not be seen`],
  ['send', send({ parts: [text, { text: 'a', url: 'b' }] }), one],
  ['send', send({ parts: [text, { raw: 'AAEC', data: 0 }] }), one],
  ['send', send({ parts: [{ text: 7 }] }), 'params.message.parts[0].text must be a string'],
  ['send', send({ parts: [{ raw: '%' }] }), 'params.message.parts[0].raw must be a string of Base64'],
  ['send', send({ parts: [{ url: '' }] }), 'params.message.parts[0].url must be a non-empty string'],
  ['send', send({ parts: [{ ...text, filename: 7 }] }),
    'params.message.parts[0].filename must be a string of at most 8192 bytes'],
  ['send', { ...send({}) as object, configuration: 'a' }, 'params.configuration must be an object'],
  ['send', { ...send({}) as object, tenant: long }, `params.tenant ${name256}`],
  ['send', { ...send({}) as object, configuration: { historyLength: -1 } },
    'params.configuration.historyLength must be an integer from 0 to 2147483647'],
  ['send', { ...send({}) as object, configuration: { returnImmediately: 'yes' } },
    'params.configuration.returnImmediately must be true or false'],
  ['send', { ...send({}) as object, configuration: { taskPushNotificationConfig: {} } },
    'params.configuration.taskPushNotificationConfig.url must be a non-empty string of at most 8192 bytes'],
  ['get', {}, `params.id ${id256}`],
  ['get', { id: 7 }, `params.id ${id256}`],
  ['get', { id: 't1', historyLength: 1.5 }, 'params.historyLength must be an integer from 0 to 2147483647'],
  ['cancel', { id: '' }, `params.id ${id256}`],
  ['cancel', { id: 't1', metadata: 'a' }, 'params.metadata must be an object'],
  ['subscribe', undefined, 'params is missing; it must be an object'],
  ['list', [], 'params must be an object'],
  ['list', { pageSize: 0 }, 'params.pageSize must be an integer from 1 to 100'],
  ['list', { pageSize: 101 }, 'params.pageSize must be an integer from 1 to 100'],
  ['list', { historyLength: -5 }, 'params.historyLength must be an integer from 0 to 2147483647'],
  ['list', { status: 'TASK_STATE_RUNNING' }, `params.status must be one of ${states}`],
  ['list', { statusTimestampAfter: '-1' },
    'params.statusTimestampAfter must be a time as in 2026-07-28T12:00:00.000Z'],
  ['list', { includeArtifacts: 1 }, 'params.includeArtifacts must be true or false'],
  ['push-create', { url: 'urn:x' }, `params.taskId ${id256}`],
  ['push-create', { taskId: 't1' }, 'params.url must be a non-empty string of at most 8192 bytes'],
  ['push-create', { taskId: 't1', url: 'urn:x', authentication: {} },
    'params.authentication.scheme must be a non-empty string of at most 8192 bytes'],
  ['push-get', { taskId: 't1' }, `params.id ${id256}`],
  ['push-delete', { id: 'p1' }, `params.taskId ${id256}`],
  ['push-list', { taskId: 't1', pageSize: -1 }, 'params.pageSize must be an integer from 0 to 2147483647'],
  ['extended-card', 'a', 'params must be an object'],
]

test('what is wrong is refused with the member and what it must be', () => {
  for (const [name, params, said] of refusals) {
    assert.throws(() => codecOf(name).decodeRequest(params, 256), (thrown) => {
      assert.ok(thrown instanceof FieldFault)
      assert.equal(thrown.message, said)
      assert.ok(said.startsWith(`${thrown.field} `))
      return true
    }, `${name} ${JSON.stringify(params)}`)
  }
})

test('an answer of another dialect is none of this one', () => {
  const eventSaid = 'result must have exactly one of task, message, statusUpdate and artifactUpdate'
  const rows: readonly (readonly [name: OperationName, value: unknown, said: string])[] = [
    ['send', null, 'result is missing; it must be an object'],
    ['send', { kind: 'task', id: 't1' }, 'result must have exactly one of task and message'],
    ['send', { task: {}, message: {} }, 'result must have exactly one of task and message'],
    ['stream', { kind: 'status-update', taskId: 't1', final: true }, eventSaid],
    ['stream', { task: {}, statusUpdate: {} }, eventSaid],
    ['get', { id: 't1' }, 'result.status is missing; it must be an object'],
    ['get', { id: 't1', status: { state: 'completed' } }, `result.status.state must be one of ${
      states.replace(', TASK_STATE_UNSPECIFIED', '')}`],
    ['push-delete', 'ok', 'result must be an object'],
    ['extended-card', { name: 'x', url: 'https://a.example' },
      'card.capabilities is missing; it must be an object'],
  ]
  for (const [name, value, said] of rows) {
    assert.throws(() => codecOf(name).decodeResult(value), { kind: 'invalid', message: said }, said)
  }
})

test('no member of another dialect is written, and nothing that is not set', () => {
  const [, , , , status] = events
  assert.ok(status !== undefined)
  const written = JSON.stringify([
    v1.operations.send?.encodeResult({ what: 'task', task }), v1.operations.stream?.encodeResult(status),
    v1.operations['push-list']?.encodeResult({ configs: [barePush], nextPageToken: '' }),
  ])
  assert.doesNotMatch(written, /"kind"|"final"|null,|false|""|:\[\]/)
})

const url = 'https://client.example.com/webhook'

test('of several schemes of a receiver the first is written, and none without credentials of its own', () => {
  const rows: readonly (readonly [schemes: readonly string[], written: object | undefined])[] = [
    [['Bearer', 'Basic'], { scheme: 'Bearer', credentials: 'abc' }],
    [[], undefined],
  ]
  for (const [schemes, written] of rows) {
    const authentication = { schemes, credentials: 'abc' }
    const config = { id: 'p1', taskId: 't1', url, token: undefined, authentication }
    const result = v1.operations['push-get']!.encodeResult(config) as { authentication?: object }
    assert.deepEqual(result.authentication, written)
  }
})

test('addresses and secrets are bounded', () => {
  const long = 'x'.repeat(8193)
  const rows: readonly (readonly [config: object, field: string])[] = [
    [{ url: long }, 'params.url'],
    [{ url, token: long }, 'params.token'],
    [{ url, authentication: { scheme: long } }, 'params.authentication.scheme'],
    [{ url, authentication: { scheme: 'Bearer', credentials: long } }, 'params.authentication.credentials'],
  ]
  for (const [config, field] of rows) {
    const { decodeRequest } = v1.operations['push-create']!
    assert.throws(() => decodeRequest({ taskId: 't1', ...config }, 256), { kind: 'invalid', field }, field)
  }
})
