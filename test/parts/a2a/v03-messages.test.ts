import assert from 'node:assert/strict'
import test from 'node:test'
import {
  decodeV03Event, decodeV03Message, decodeV03SendResult, decodeV03Task, v03,
} from '../../fixtures/a2a-client/v03.ts'
import { sent } from './sent.ts'
import type { JsonMembers, Message, StreamEvent, TaskView } from '../../../lib/parts/a2a/model/model.ts'
import type { TaskState } from '../../../lib/floors/tasks/task.ts'

function encodeEvent(event: StreamEvent): JsonMembers {
  return v03.operations.stream!.encodeResult(event) as JsonMembers
}

function encodeTask(task: TaskView): JsonMembers {
  return v03.operations.get!.encodeResult(task) as JsonMembers
}

const at = '2026-01-02T03:04:05.678Z'
const unset = { metadata: undefined, extensions: undefined, referenceTaskIds: undefined }
const question: Message = {
  id: 'm1', role: 'user', parts: [{ type: 'text', text: 'hi' }], contextId: 'c1', taskId: 't1', ...unset,
}
const answer: Message = {
  id: 'm2', role: 'agent', parts: [{ type: 'text', text: 'yes' }, { type: 'data', data: null }],
  contextId: 'c1', taskId: 't1', metadata: { mood: 1 }, extensions: ['https://e.example'],
  referenceTaskIds: ['t0'],
}
const bare: TaskView = {
  id: 't1', contextId: 'c1', status: { state: 'submitted', at }, artifacts: undefined, history: undefined,
  metadata: undefined,
}
const whole: TaskView = {
  id: 't1',
  contextId: 'c1',
  status: { state: 'completed', at, message: answer },
  artifacts: [
    { id: 'a1', parts: [{ type: 'text', text: 'one' }] },
    {
      id: 'a2', name: 'Two', description: 'The second', parts: [{ type: 'text', text: '' }],
      metadata: { mood: 1 }, extensions: ['https://e.example'],
    },
  ],
  history: [question, answer],
  metadata: { mood: 1 },
}

test('messages, tasks and events are read as they were written', () => {
  const states: readonly TaskState[] = [
    'submitted', 'working', 'input-required', 'auth-required', 'completed', 'failed', 'canceled', 'rejected',
  ]
  const ids = { taskId: 't1', contextId: 'c1' }
  const artifact = { id: 'a1', parts: [{ type: 'text', text: 'one' } as const] }
  const events: readonly StreamEvent[] = [
    { what: 'message', message: question },
    { what: 'message', message: answer },
    { what: 'message', message: { ...question, contextId: undefined, taskId: undefined } },
    { what: 'task', task: bare },
    { what: 'task', task: whole },
    { what: 'task', task: { ...bare, artifacts: [], history: [], metadata: {} } },
    ...states.map((state): StreamEvent => ({ what: 'task', task: { ...bare, status: { state, at } } })),
    { what: 'status', ...ids, status: bare.status, isLast: false },
    { what: 'status', ...ids, status: whole.status, isLast: true },
    { what: 'artifact', ...ids, artifact, append: false, last: true },
    { what: 'artifact', ...ids, artifact, append: true, last: false },
  ]
  for (const event of events) {
    const written = sent(encodeEvent(event))
    assert.deepEqual(decodeV03Event(written), event)
    if (event.what === 'message' || event.what === 'task') {
      assert.deepEqual(decodeV03SendResult(written), event)
    }
  }
  assert.deepEqual(decodeV03Task(sent(encodeTask(whole)), 'result'), whole)
})

test('each thing says its kind, and the last status says that it is final', () => {
  const ids = { taskId: 't1', contextId: 'c1' }
  const { status } = bare
  const artifact = { id: 'a1', parts: [] }
  const rows: readonly (readonly [event: StreamEvent, marks: object])[] = [
    [{ what: 'message', message: question }, { kind: 'message' }],
    [{ what: 'task', task: bare }, { kind: 'task' }],
    [{ what: 'status', ...ids, status, isLast: false }, { kind: 'status-update', final: false }],
    [{ what: 'status', ...ids, status, isLast: true }, { kind: 'status-update', final: true }],
    [
      { what: 'artifact', ...ids, artifact, append: false, last: true },
      { kind: 'artifact-update', append: false, lastChunk: true },
    ],
  ]
  for (const [event, marks] of rows) {
    const written = sent(encodeEvent(event)) as object
    assert.deepEqual(written, { ...written, ...marks })
  }
})

test('a message that waits in a task says which task it is of', () => {
  const said = { id: 'm3', role: 'agent', parts: [{ type: 'text', text: 'wait' }] } as const
  const task: TaskView = { ...bare, status: { state: 'working', at, message: said }, history: [said] }
  const { status, history } = encodeTask(task) as { status: { message: object }; history: object[] }
  for (const message of [status.message, history[0]]) {
    assert.deepEqual(sent(message), {
      kind: 'message', messageId: 'm3', role: 'agent', parts: [{ kind: 'text', text: 'wait' }],
      contextId: 'c1', taskId: 't1',
    })
  }
})

test('a message never has no parts, and an artifact neither', () => {
  const { parts } = encodeEvent({ what: 'message', message: { ...question, parts: [] } })
  const nothing = [{ kind: 'text', text: '' }]
  assert.deepEqual(sent(parts), nothing)
  const artifact = { id: 'a1', parts: [] }
  const { artifacts } = encodeTask({ ...bare, artifacts: [artifact] })
  assert.deepEqual(sent(artifacts), [{ artifactId: 'a1', parts: nothing }])
  const event = encodeEvent({
    what: 'artifact', taskId: 't1', contextId: 'c1', artifact, append: true, last: true,
  })
  assert.deepEqual((sent(event) as { artifact: object }).artifact, { artifactId: 'a1', parts: nothing })
})

test('results of old and of careless servers are read', () => {
  const task = sent(encodeTask(bare)) as Record<string, unknown>
  const { kind, ...untold } = task
  assert.equal(kind, 'task')
  assert.deepEqual(decodeV03Event(untold), { what: 'task', task: bare })
  const status = { state: 'working', timestamp: at }
  assert.deepEqual(decodeV03Event({ taskId: 't1', contextId: 'c1', status }), {
    what: 'status', taskId: 't1', contextId: 'c1', status: { state: 'working', at }, isLast: false,
  })
  assert.deepEqual(decodeV03Event({ taskId: 't1', contextId: 'c1', artifact: { artifactId: 'a' } }), {
    what: 'artifact', taskId: 't1', contextId: 'c1', artifact: { id: 'a', parts: [] },
    append: false, last: false,
  })
  const said = { role: 'agent', messageId: 'm', parts: [] }
  const message = { id: 'm', role: 'agent', parts: [], contextId: undefined, taskId: undefined, ...unset }
  assert.deepEqual(decodeV03Event(said), { what: 'message', message })
  const times: readonly (readonly [timestamp: unknown, read: string])[] = [
    ['2025-04-02T16:59:25.331844', '2025-04-02T16:59:25.331Z'],
    ['2025-04-02T16:59:25', '2025-04-02T16:59:25.000Z'],
    ['2025-04-02T16:59:25+02:00', '2025-04-02T14:59:25.000Z'],
  ]
  for (const [timestamp, read] of times) {
    const { status } = decodeV03Task({ ...task, status: { state: 'unknown', timestamp } }, 'result')
    assert.equal(status.at, read)
  }
  const begun = Date.now()
  const { status: undated } = decodeV03Task({ ...task, status: { state: 'unknown' } }, 'result')
  assert.equal(undated.state, 'working')
  assert(Date.parse(undated.at) >= begun)
})

test('messages of clients that write in snake_case are read', () => {
  assert.deepEqual(decodeV03Message({
    role: 'user', message_id: 'm1', context_id: 'c1', task_id: 't1', reference_task_ids: ['t0'], parts: [],
    metadata: null, extensions: [],
  }, 'message'), { ...question, parts: [], referenceTaskIds: ['t0'] })
})

test('a result that is wrong is refused with the member and what it must be', () => {
  const task = sent(encodeTask(bare)) as object
  const rows: readonly (readonly [result: unknown, said: string])[] = [
    [null, 'result is missing; it must be an object'],
    [[], 'result must be an object'],
    [{}, 'result.kind must be one of task, message, status-update, artifact-update'],
    [{ kind: 'tasks' }, 'result.kind must be one of task, message, status-update, artifact-update'],
    [{ ...task, id: '' }, 'result.id must be a non-empty string of at most 8192 bytes'],
    [{ ...task, contextId: 7 }, 'result.contextId must be a non-empty string of at most 8192 bytes'],
    [{ ...task, status: undefined }, 'result.status is missing; it must be an object'],
    [{ ...task, status: {} }, 'result.status.state is missing; it must be the state of a task'],
    [
      { ...task, status: { state: 'done' } },
      'result.status.state must be one of submitted, working, input-required, auth-required, completed, '
        + 'failed, canceled, rejected, unknown',
    ],
    [
      { ...task, status: { state: 'working', timestamp: 'now' } },
      'result.status.timestamp must be a time as in 2026-07-28T12:00:00.000Z',
    ],
    [{ ...task, history: {} }, 'result.history must be a list'],
    [
      { ...task, history: [{ role: 'user', messageId: 'm' }] },
      'result.history[0].parts must be a list with at least one item',
    ],
    [{ ...task, artifacts: [{ parts: [] }] },
      'result.artifacts[0].artifactId must be a non-empty string of at most 8192 bytes'],
    [
      { ...task, artifacts: [{ artifactId: 'a', parts: [{}] }] },
      'result.artifacts[0].parts[0].kind must be one of text, file, data',
    ],
    [{ kind: 'message', parts: [] }, 'result.role is missing; it must be user or agent'],
    [{ kind: 'status-update', status: {} }, 'result.taskId must be a non-empty string of at most 8192 bytes'],
    [
      { kind: 'artifact-update', taskId: 't', contextId: 'c' },
      'result.artifact is missing; it must be an object',
    ],
  ]
  for (const [result, said] of rows) {
    assert.throws(() => decodeV03Event(result), { kind: 'invalid', message: said })
  }
  const status = { kind: 'status-update', taskId: 't', contextId: 'c', status: { state: 'working' } }
  assert.throws(() => decodeV03SendResult(status), { message: 'result.kind must be one of task, message' })
})
