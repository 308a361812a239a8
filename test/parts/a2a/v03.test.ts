import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { A2aFault } from '../../../lib/parts/a2a/model/faults.ts'
import { v03 } from '../../fixtures/a2a-client/v03.ts'
import { sent } from './sent.ts'
import type { ClientCodec } from '../../fixtures/a2a-client/client.ts'
import type { TaskView } from '../../../lib/parts/a2a/model/model.ts'

/** What was asked, and what came of it: one result, or the events of a stream, or the body of a webhook. */
interface Golden {
  readonly request?: { readonly method: string; readonly params: unknown }
  readonly result?: unknown
  readonly results?: readonly unknown[]
  readonly push?: unknown
}

// From the root of the checkout, where tests are started: compiled ones lie elsewhere than what they read.
const folder = 'test/fixtures/a2a/0.3'
const codecs = Object.values(v03.operations) as readonly ClientCodec<unknown, unknown>[]
const taskCodec = v03.operations.get as ClientCodec<unknown, TaskView>

for (const file of readdirSync(folder).sort()) {
  const golden = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Golden
  const { request, result, results = [result], push } = golden
  test(`0.3/${file} is written as it was read`, () => {
    if (push !== undefined) {
      const task = taskCodec.decodeResult(push)
      assert.deepEqual(JSON.parse(v03.formatPush({ what: 'task', task }, task)), push)
      return
    }
    const codec = codecs.find(({ method }) => method === request?.method)
    assert(codec !== undefined)
    assert.deepEqual(sent(codec.encodeRequest(codec.decodeRequest(request?.params, 256))), request?.params)
    for (const one of results) assert.deepEqual(sent(codec.encodeResult(codec.decodeResult(one))), one)
  })
}

test('every operation has the method of 0.3', () => {
  assert.deepEqual(Object.entries(v03.operations).map(([name, { method }]) => [name, method]), [
    ['send', 'message/send'],
    ['stream', 'message/stream'],
    ['get', 'tasks/get'],
    ['list', 'tasks/list'],
    ['cancel', 'tasks/cancel'],
    ['subscribe', 'tasks/resubscribe'],
    ['push-create', 'tasks/pushNotificationConfig/set'],
    ['push-get', 'tasks/pushNotificationConfig/get'],
    ['push-list', 'tasks/pushNotificationConfig/list'],
    ['push-delete', 'tasks/pushNotificationConfig/delete'],
    ['extended-card', 'agent/getAuthenticatedExtendedCard'],
  ])
})

test('a webhook gets the whole task, whatever happened', () => {
  const status = { state: 'working', at: '2026-01-02T03:04:05.678Z' } as const
  const task = {
    id: 't1', contextId: 'c1', status, artifacts: [], history: undefined, metadata: undefined,
  }
  const ids = { taskId: 't1', contextId: 'c1' }
  const body = {
    kind: 'task', id: 't1', contextId: 'c1', status: { state: 'working', timestamp: status.at },
    artifacts: [],
  }
  assert.deepEqual(JSON.parse(v03.formatPush({ what: 'task', task }, task)), body)
  assert.deepEqual(JSON.parse(v03.formatPush({ what: 'status', ...ids, status, isLast: false }, task)), body)
  assert.deepEqual([v03.pushesTasks, v03.pushType], [true, 'application/json'])
})

test('an extension that only 1.0 has a number for is what is not supported', () => {
  const fault = new A2aFault('EXTENSION_SUPPORT_REQUIRED', 'Say that you speak it')
  assert.deepEqual(v03.encodeFault(fault, fault.message), {
    code: -32004, message: 'This operation is not supported', data: { detail: 'Say that you speak it' },
  })
})

test('a list of tasks is the bare list, and all that is known of its page is how long it is', () => {
  const codec = v03.operations.list as ClientCodec<unknown, unknown>
  const page = { tasks: [], nextPageToken: 'x', pageSize: 50, totalSize: 7 }
  assert.deepEqual(codec.encodeResult(page), [])
  assert.deepEqual(codec.decodeResult([]), { tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 })
  assert.throws(() => codec.decodeResult({ tasks: [] }), {
    kind: 'invalid', message: 'result must be a list',
  })
})
