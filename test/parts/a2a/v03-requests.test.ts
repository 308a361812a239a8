import assert from 'node:assert/strict'
import test from 'node:test'
import { v03 } from '../../fixtures/a2a-client/v03.ts'
import { sent } from './sent.ts'
import type { ClientCodec } from '../../fixtures/a2a-client/client.ts'
import type { Message, OperationName, Requests, SendRequest } from '../../../lib/parts/a2a/model/model.ts'

type Codec<name extends OperationName> = ClientCodec<Requests[name], unknown>

function codecOf<name extends OperationName>(name: name): Codec<name> {
  return v03.operations[name] as Codec<name>
}

const said: Message = {
  id: 'm1', role: 'user', parts: [{ type: 'text', text: 'hi' }], contextId: undefined, taskId: undefined,
  metadata: undefined, extensions: undefined, referenceTaskIds: undefined,
}
const least: SendRequest = {
  tenant: undefined, message: said, outputModes: undefined, historyLength: undefined, isBlocking: true,
  push: undefined, metadata: undefined,
}
const most: SendRequest = {
  tenant: undefined,
  message: {
    ...said, contextId: 'c1', taskId: 't1', metadata: { a: 1 }, extensions: ['https://e.example'],
    referenceTaskIds: ['t0'],
  },
  outputModes: ['text/plain'],
  historyLength: 0,
  isBlocking: false,
  push: {
    id: 'p1', taskId: undefined, url: 'https://a.example', token: 'key',
    authentication: { schemes: ['Bearer'], credentials: 'secret' },
  },
  metadata: {},
}
const task = { tenant: undefined, id: 't1', historyLength: undefined, metadata: undefined }
const list = {
  tenant: undefined, contextId: undefined, state: undefined, pageSize: 100, pageToken: '',
  historyLength: undefined, changedSince: undefined, withArtifacts: true,
}

test('what a client asks is what a server reads', () => {
  const rows: { readonly [name in OperationName]?: readonly Requests[name][] } = {
    'send': [least, most, { ...least, historyLength: 3 }],
    'stream': [least, most],
    'get': [task, { ...task, historyLength: 0, metadata: { a: 1 } }],
    'cancel': [task, { ...task, metadata: { a: 1 } }],
    'subscribe': [task],
    'list': [list, {
      ...list, contextId: 'c1', state: 'input-required', pageSize: 1, pageToken: 'x', historyLength: 2,
      changedSince: '2026-01-02T03:04:05.678Z', withArtifacts: false,
    }],
    'extended-card': [{ tenant: undefined }],
  }
  for (const [name, requests] of Object.entries(rows)) {
    const codec = codecOf(name as OperationName) as ClientCodec<unknown, unknown>
    for (const request of requests) {
      assert.deepEqual(codec.decodeRequest(sent(codec.encodeRequest(request)), 256), request, name)
    }
  }
})

test('there are no tenants to ask', () => {
  const fault = { kind: 'unsupported', message: 'A2A 0.3 has no tenants; use an interface of 1.0' }
  const push = { tenant: 'blue', taskId: 't1', id: 'p1' }
  const rows: readonly (() => unknown)[] = [
    () => codecOf('send').encodeRequest({ ...least, tenant: 'blue' }),
    () => codecOf('get').encodeRequest({ ...task, tenant: 'blue' }),
    () => codecOf('list').encodeRequest({ ...list, tenant: 'blue' }),
    () => codecOf('extended-card').encodeRequest({ tenant: 'blue' }),
    () => codecOf('push-get').encodeRequest(push),
    () => codecOf('push-list').encodeRequest({ ...push, pageSize: undefined, pageToken: '' }),
    () => codecOf('push-create').encodeRequest({ tenant: 'blue', config: { ...most.push!, taskId: 't1' } }),
  ]
  for (const ask of rows) assert.throws(ask, fault)
})

test('a request waits unless it says that it does not', () => {
  const message = { role: 'user', messageId: 'm', parts: [{ text: 'hi' }] }
  const rows: readonly (readonly [configuration: unknown, isBlocking: boolean])[] = [
    [undefined, true], [null, true], [{}, true], [{ blocking: null }, true], [{ blocking: true }, true],
    [{ blocking: false }, false], [{ historyLength: 1 }, true],
  ]
  for (const [configuration, isBlocking] of rows) {
    assert.equal(codecOf('send').decodeRequest({ message, configuration }, 256).isBlocking, isBlocking)
  }
  // Some servers do not wait where a configuration is silent.
  assert.deepEqual(sent(codecOf('send').encodeRequest({ ...least, historyLength: 1 })['configuration']), {
    historyLength: 1, blocking: true,
  })
  assert.equal(codecOf('send').encodeRequest(least)['configuration'], undefined)
})

test('requests of old and of careless clients are read', () => {
  const { decodeRequest } = codecOf('send')
  const message = { role: 'user', messageId: 'm1', parts: [{ type: 'text', text: 'hi' }] }
  assert.deepEqual(decodeRequest({ message, color: 'red' }, 256), least)
  assert.deepEqual(decodeRequest({
    message: { ...message, contextId: '', taskId: null, metadata: null, referenceTaskIds: [] },
    metadata: null,
    configuration: { acceptedOutputModes: [], historyLength: null, pushNotificationConfig: null },
  }, 256), least)
  assert.deepEqual(decodeRequest({
    message,
    configuration: {
      accepted_output_modes: ['text/plain'], history_length: 0, blocking: false,
      push_notification_config: sent(most.push),
    },
    metadata: {},
  }, 256), { ...most, message: said })
  assert.deepEqual(codecOf('get').decodeRequest({ id: 't1', history_length: '2' }, 256), {
    ...task, historyLength: 2,
  })
  for (const params of [undefined, null, {}]) {
    assert.deepEqual(codecOf('list').decodeRequest(params, 256), list)
  }
  assert.deepEqual(codecOf('list').decodeRequest({
    context_id: 'c1', page_size: 5, page_token: 'x', status_timestamp_after: '2026-01-02T03:04:05Z',
    include_artifacts: false,
  }, 256), {
    ...list, contextId: 'c1', pageSize: 5, pageToken: 'x', changedSince: '2026-01-02T03:04:05.000Z',
    withArtifacts: false,
  })
  for (const params of [undefined, null, {}, []]) {
    assert.deepEqual(codecOf('extended-card').decodeRequest(params, 256), { tenant: undefined })
  }
})

test('params that are wrong are refused with the member and what it must be', () => {
  const parts = [{ kind: 'text', text: 'hi' }]
  const message = { kind: 'message', role: 'user', messageId: 'm1', parts }
  const long = 'ü'.repeat(129)
  const anId = 'must be a non-empty string of at most 256 bytes'
  const rows: readonly (readonly [operation: OperationName, params: unknown, said: string])[] = [
    ['send', undefined, 'params is missing; it must be an object'],
    ['send', [], 'params must be an object'],
    ['send', {}, 'params.message is missing; it must be an object'],
    ['send', { message: 'hi' }, 'params.message must be an object'],
    ['send', { message: { ...message, kind: 'task' } }, 'params.message.kind must be message'],
    ['send', { message: { ...message, role: undefined } }, 'params.message.role is missing; it must be user'],
    ['send', { message: { ...message, role: 'agent' } }, 'params.message.role must be user'],
    ['send', { message: { ...message, role: 'ROLE_USER' } }, 'params.message.role must be user'],
    ['send', { message: { ...message, messageId: undefined } }, `params.message.messageId ${anId}`],
    ['send', { message: { ...message, messageId: '' } }, `params.message.messageId ${anId}`],
    ['send', { message: { ...message, messageId: long } }, `params.message.messageId ${anId}`],
    ['send', { message: { ...message, contextId: 7 } },
      'params.message.contextId must be a string of at most 256 bytes'],
    ['send', { message: { ...message, taskId: long } },
      'params.message.taskId must be a string of at most 256 bytes'],
    ['send', { message: { ...message, parts: undefined } },
      'params.message.parts must be a list with at least one item'],
    ['send', { message: { ...message, parts: {} } },
      'params.message.parts must be a list with at least one item'],
    ['send', { message: { ...message, parts: [] } },
      'params.message.parts must be a list with at least one item'],
    ['send', { message: { ...message, parts: [parts[0], { kind: 'video' }] } },
      'params.message.parts[1].kind must be one of text, file, data: "video" would not be seen'],
    ['send', { message: { ...message, metadata: 'x' } }, 'params.message.metadata must be an object'],
    ['send', { message: { ...message, extensions: 'x' } },
      'params.message.extensions must be a list of strings'],
    ['send', { message: { ...message, referenceTaskIds: [''] } },
      `params.message.referenceTaskIds[0] ${anId}`],
    ['send', { message, metadata: [] }, 'params.metadata must be an object'],
    ['send', { message, configuration: [] }, 'params.configuration must be an object'],
    ['send', { message, configuration: { blocking: 'no' } },
      'params.configuration.blocking must be true or false'],
    ['send', { message, configuration: { historyLength: -1 } },
      'params.configuration.historyLength must be an integer from 0 to 2147483647'],
    ['send', { message, configuration: { acceptedOutputModes: [7] } },
      'params.configuration.acceptedOutputModes[0] must be a non-empty string of at most 8192 bytes'],
    ['send', { message, configuration: { pushNotificationConfig: {} } },
      'params.configuration.pushNotificationConfig.url must be an absolute URL'],
    ['stream', { message: { ...message, role: 'agent' } }, 'params.message.role must be user'],
    ['get', undefined, 'params is missing; it must be an object'],
    ['get', {}, `params.id ${anId}`],
    ['get', { id: 7 }, `params.id ${anId}`],
    ['get', { id: 't', historyLength: -1 }, 'params.historyLength must be an integer from 0 to 2147483647'],
    ['get', { id: 't', historyLength: 1.5 }, 'params.historyLength must be an integer from 0 to 2147483647'],
    ['cancel', { id: 't', metadata: 'x' }, 'params.metadata must be an object'],
    ['subscribe', { id: '' }, `params.id ${anId}`],
    ['list', [], 'params must be an object'],
    ['list', { pageSize: 0 }, 'params.pageSize must be an integer from 1 to 100'],
    ['list', { includeArtifacts: 1 }, 'params.includeArtifacts must be true or false'],
    ['list', { statusTimestampAfter: '-1' },
      'params.statusTimestampAfter must be a time as in 2026-07-28T12:00:00.000Z'],
  ]
  for (const [operation, params, said] of rows) {
    const { decodeRequest } = codecOf(operation)
    assert.throws(() => decodeRequest(params, 256), { kind: 'invalid', message: said }, said)
  }
})
