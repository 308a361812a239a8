import assert from 'node:assert/strict'
import test from 'node:test'
import { v03 } from '../../fixtures/a2a-client/v03.ts'
import { sent } from './sent.ts'
import type { ClientCodec } from '../../fixtures/a2a-client/client.ts'
import type { OperationName } from '../../../lib/parts/a2a/model/model.ts'

const least = {
  id: 'p1', taskId: 't1', url: 'https://a.example', token: undefined, authentication: undefined,
}
const most = {
  ...least, token: 'key', authentication: { schemes: ['Bearer', 'Basic'], credentials: 'secret' },
}
const bare = { ...least, authentication: { schemes: [], credentials: undefined } }

function codecOf(name: OperationName): ClientCodec<unknown, unknown> {
  return v03.operations[name] as ClientCodec<unknown, unknown>
}

test('requests and results are read as they were written', () => {
  const named = { tenant: undefined, taskId: 't1', id: 'p1' }
  const all = { tenant: undefined, taskId: 't1', pageSize: undefined, pageToken: '' }
  const requests: readonly (readonly [name: OperationName, request: unknown])[] = [
    ['push-create', { tenant: undefined, config: least }],
    ['push-create', { tenant: undefined, config: most }],
    ['push-create', { tenant: undefined, config: bare }],
    ['push-get', named],
    ['push-get', { ...named, id: undefined }],
    ['push-list', all],
    ['push-delete', named],
  ]
  for (const [name, request] of requests) {
    const { decodeRequest, encodeRequest } = codecOf(name)
    assert.deepEqual(decodeRequest(sent(encodeRequest(request)), 256), request, name)
  }
  const results: readonly (readonly [name: OperationName, result: unknown])[] = [
    ['push-create', most],
    ['push-get', least],
    ['push-list', { configs: [least, most], nextPageToken: '' }],
    ['push-list', { configs: [], nextPageToken: '' }],
    ['push-delete', undefined],
  ]
  for (const [name, result] of results) {
    const { decodeResult, encodeResult } = codecOf(name)
    assert.deepEqual(decodeResult(sent(encodeResult(result))), result, name)
  }
})

test('what the dialect cannot say of a list is left out', () => {
  const { decodeRequest, encodeRequest, encodeResult } = codecOf('push-list')
  const asked = { tenant: undefined, taskId: 't1', pageSize: 3, pageToken: 'x' }
  assert.deepEqual(decodeRequest(sent(encodeRequest(asked)), 256), {
    ...asked, pageSize: undefined, pageToken: '',
  })
  assert(Array.isArray(encodeResult({ configs: [least], nextPageToken: 'x' })))
  assert.equal(codecOf('push-delete').encodeResult(undefined), null)
})

test('a configuration without an id is called like its task, and none asked for is the first', () => {
  const params = { taskId: 't1', pushNotificationConfig: { url: 'https://a.example', id: '' } }
  assert.deepEqual(codecOf('push-create').decodeRequest(params, 256), {
    tenant: undefined, config: { ...least, id: 't1' },
  })
  assert.deepEqual(codecOf('push-get').decodeRequest({ id: 't1', metadata: {} }, 256), {
    tenant: undefined, taskId: 't1', id: undefined,
  })
})

test('clients that write in snake_case are read', () => {
  const params = { task_id: 't1', push_notification_config: { id: 'p1', url: 'https://a.example' } }
  assert.deepEqual(codecOf('push-create').decodeRequest(params, 256), { tenant: undefined, config: least })
  const named = { id: 't1', push_notification_config_id: 'p1' }
  assert.deepEqual(codecOf('push-delete').decodeRequest(named, 256), {
    tenant: undefined, taskId: 't1', id: 'p1',
  })
})

test('params that are wrong are refused with the member and what it must be', () => {
  const url = 'https://a.example'
  const at = 'params.pushNotificationConfig'
  const set = (config: unknown): unknown => ({ taskId: 't1', pushNotificationConfig: config })
  const anId = 'must be a non-empty string of at most 256 bytes'
  const rows: readonly (readonly [name: OperationName, params: unknown, said: string])[] = [
    ['push-create', undefined, 'params is missing; it must be an object'],
    ['push-create', { pushNotificationConfig: { url } }, `params.taskId ${anId}`],
    ['push-create', { taskId: 't1', url }, `${at} is missing; it must be an object`],
    ['push-create', set({}), `${at}.url must be an absolute URL`],
    ['push-create', set({ url: '' }), `${at}.url must be an absolute URL`],
    ['push-create', set({ url, id: 7 }), `${at}.id must be a string of at most 256 bytes`],
    ['push-create', set({ url, token: 7 }), `${at}.token must be a string of at most 8192 bytes`],
    ['push-create', set({ url, authentication: 'Bearer' }), `${at}.authentication must be an object`],
    ['push-create', set({ url, authentication: { schemes: 'Bearer' } }),
      `${at}.authentication.schemes must be a list of strings`],
    ['push-create', set({ url, authentication: { schemes: [], credentials: 7 } }),
      `${at}.authentication.credentials must be a string of at most 8192 bytes`],
    ['push-get', {}, `params.id ${anId}`],
    ['push-get', { id: 't1', pushNotificationConfigId: 7 },
      'params.pushNotificationConfigId must be a string of at most 256 bytes'],
    ['push-list', { taskId: 't1' }, `params.id ${anId}`],
    ['push-delete', { id: 't1' }, `params.pushNotificationConfigId ${anId}`],
  ]
  for (const [name, params, said] of rows) {
    assert.throws(() => codecOf(name).decodeRequest(params, 256), { kind: 'invalid', message: said }, said)
  }
  assert.throws(() => codecOf('push-list').decodeResult({}), { message: 'result must be a list' })
  assert.throws(() => codecOf('push-list').decodeResult([{}]), {
    message: 'result[0].taskId must be a non-empty string of at most 8192 bytes',
  })
})
