import assert from 'node:assert/strict'
import test from 'node:test'
import { decodeV1Event, decodeV1Task, decodeV1TaskPage, v1 } from '../../fixtures/a2a-client/v1.ts'

const encodeTask = v1.operations.get!.encodeResult

test('a state is read by its name and by its number', () => {
  const names = [
    'TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED', 'TASK_STATE_FAILED',
    'TASK_STATE_CANCELED', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_REJECTED', 'TASK_STATE_AUTH_REQUIRED',
  ]
  const { decodeRequest } = v1.operations.list!
  for (const [index, name] of names.entries()) {
    const { state } = decodeRequest({ status: name }, 256)
    assert.ok(state !== undefined, name)
    assert.equal(decodeRequest({ status: index + 1 }, 256).state, state, name)
    const task = { id: 't1', contextId: 'c1', artifacts: undefined, history: undefined, metadata: undefined }
    const { status } = encodeTask({ ...task, status: { state, at: '' } }) as { status: { state: string } }
    assert.equal(status.state, name)
  }
  assert.throws(() => decodeRequest({ status: names.length + 1 }, 256), { kind: 'invalid' })
})

test('a task of another server may tell less than ours, and at any offset', () => {
  const task = decodeV1Task({ id: 't1', status: { state: 3 } }, 'result')
  assert.deepEqual(task.status, { state: 'completed', at: '' })
  assert.deepEqual(JSON.parse(JSON.stringify(encodeTask(task))), {
    id: 't1', status: { state: 'TASK_STATE_COMPLETED' },
  })
  const timestamp = '2026-07-28T14:00:00.123456+02:00'
  const { status } = decodeV1Task({ id: 't1', context_id: 'c1', status: { state: 2, timestamp } }, 'result')
  assert.equal(status.at, '2026-07-28T12:00:00.123Z')
})

test('each message of a task says that it is of it', () => {
  const message = { id: 'm1', role: 'agent', parts: [{ type: 'text', text: 'x' }] } as const
  const { status, history } = encodeTask({
    id: 't1', contextId: 'c1', status: { state: 'working', at: '2026-07-28T12:00:00.000Z', message },
    artifacts: undefined, history: [message], metadata: undefined,
  }) as { status: { message: unknown }; history: readonly unknown[] }
  for (const one of [status.message, history[0]]) {
    assert.deepEqual(one, {
      messageId: 'm1', contextId: 'c1', taskId: 't1', role: 'ROLE_AGENT', parts: [{ text: 'x' }],
    })
  }
})

test('members may have the names of the definition in results too', () => {
  assert.deepEqual(decodeV1TaskPage({ tasks: null, next_page_token: null, page_size: '7', total_size: 9 }), {
    tasks: [], nextPageToken: '', pageSize: 7, totalSize: 9,
  })
  const status = { status_update: { task_id: 't1', context_id: 'c1', status: { state: 2 } } }
  assert.deepEqual(decodeV1Event(status), {
    what: 'status', taskId: 't1', contextId: 'c1', status: { state: 'working', at: '' }, isLast: false,
  })
  const artifact = {
    artifact_update: { task_id: 't1', artifact: { artifact_id: 'a1', parts: null }, last_chunk: true },
  }
  assert.deepEqual(decodeV1Event(artifact), {
    what: 'artifact', taskId: 't1', contextId: '', artifact: { id: 'a1', parts: [] }, append: false,
    last: true,
  })
})
