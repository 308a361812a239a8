import assert from 'node:assert/strict'
import test from 'node:test'
import { PLAIN_TEXTS, plainOf, taskOfPlain } from '../../lib/tasks/plain-task.ts'
import { Tasks } from '../../lib/tasks/tasks.ts'
import { limitsOf } from '../../lib/define/limits.ts'
import { memoryStore } from '../../lib/index.ts'
import { randomUuid } from '../../lib/wire/random.ts'
import type { Content } from '../../lib/define/content.ts'
import type { Task, TaskMessage } from '../../lib/tasks/task.ts'

const AT = '2026-07-28T12:00:00.000Z'
const words = (text: string): Content => ({ type: 'text', text })
const said: TaskMessage = { id: 'm', role: 'user', parts: [words('asked')] }
const plain: Task = {
  id: 't', owner: 'ann', protocol: 'a2a', runnable: { kind: 'agent', name: 'bot' }, isReserved: false,
  tenant: undefined, contextId: 'c', sessionId: undefined, createdAt: AT, ttlMs: undefined,
  status: { state: 'completed', at: AT }, artifacts: [{ id: 'a', parts: [words('answered')] }],
  history: [said], questions: [], turn: undefined, result: undefined, fault: undefined,
}

test('a task of a text asked and a text answered comes out as it went in', () => {
  for (const task of [plain, { ...plain, createdAt: '2026-07-28T11:00:00.000Z' }]) {
    const kept = plainOf(task)
    assert.ok(kept !== undefined)
    assert.equal(kept.length, PLAIN_TEXTS)
    assert.deepEqual(taskOfPlain('t', 'ann', plain, kept), task)
  }
})

const more: readonly (readonly [what: string, more: Partial<Task>])[] = [
  ['that has failed', { status: { state: 'failed', at: AT } }],
  ['that says something of its end', { status: { state: 'completed', at: AT, message: said } }],
  ['of a process', { node: 'n' }],
  ['that is reserved', { isReserved: true }],
  ['of a tenant', { tenant: 'x' }],
  ['of a session', { sessionId: 's' }],
  ['with a time to live', { ttlMs: 1 }],
  ['that is kept for another run', { turn: { answers: {}, results: {} } }],
  ['with a result', { result: null }],
  ['with a fault', { fault: { kind: 'failed', message: 'x' } }],
  ['with a question', { questions: [{ key: 'k', question: { what: 'roots' } }] }],
  ['without an artifact', { artifacts: [] }],
  ['with two artifacts', { artifacts: [...plain.artifacts, { id: 'b', parts: [] }] }],
  ['with a named artifact', { artifacts: [{ ...plain.artifacts[0]!, name: 'n' }] }],
  ['with a described artifact', { artifacts: [{ ...plain.artifacts[0]!, description: 'd' }] }],
  ['with a marked artifact', { artifacts: [{ ...plain.artifacts[0]!, metadata: {} }] }],
  ['with an extended artifact', { artifacts: [{ ...plain.artifacts[0]!, extensions: [] }] }],
  ['with an empty artifact', { artifacts: [{ id: 'a', parts: [] }] }],
  ['with two parts', { artifacts: [{ id: 'a', parts: [words('1'), words('2')] }] }],
  ['with data', { artifacts: [{ id: 'a', parts: [{ type: 'data', data: 1 }] }] }],
  ['with a marked text', { artifacts: [{ id: 'a', parts: [{ type: 'text', text: '', _meta: {} }] }] }],
  ['without a history', { history: [] }],
  ['with a longer history', { history: [said, said] }],
  ['that an agent began', { history: [{ ...said, role: 'agent' }] }],
  ['with a marked message', { history: [{ ...said, metadata: {} }] }],
  ['with an extended message', { history: [{ ...said, extensions: [] }] }],
  ['that speaks of another', { history: [{ ...said, referenceTaskIds: [] }] }],
  ['with a message of two parts', { history: [{ ...said, parts: [words('1'), words('2')] }] }],
  ['with an annotated text', {
    history: [{ ...said, parts: [{ type: 'text', text: '', annotations: { priority: 1 } }] }],
  }],
]

for (const [what, members] of more) {
  test(`a task ${what} is more than that`, () => {
    assert.equal(plainOf({ ...plain, ...members }), undefined)
  })
}

async function listed(tasks: Tasks, owner: string): Promise<readonly Task[]> {
  return (await tasks.list(owner)).map(({ task }) => task)
}

test('a task that was over at once is read as it was told, as often as somebody does', async () => {
  const tasks = new Tasks(limitsOf({}), memoryStore(), () => {})
  const seeds = [
    { ...plain, id: randomUuid() }, { ...plain, id: randomUuid(), tenant: 'x' }, { ...plain, id: 'short' },
    { ...plain, id: randomUuid(), history: [{ ...said, parts: [words('€'.repeat(1_000))] }] },
  ]
  const told = seeds.map((seed) => tasks.record(seed, {
    state: 'completed', message: undefined, artifacts: plain.artifacts, fault: undefined,
  }))
  assert.deepEqual(await listed(tasks, 'ann'), told.toReversed())
  assert.deepEqual(tasks.list('bob'), [])
  for (const task of told) {
    assert.deepEqual(tasks.get('ann', task.id), task)
    assert.equal(tasks.get('ann', task.id), tasks.get('ann', task.id))
    assert.equal(tasks.get('bob', task.id), undefined)
    assert.equal(tasks.move(task.id, 'working'), false)
    assert.equal(tasks.watch('ann', task.id, () => {}), undefined)
  }
  assert.deepEqual(await listed(tasks, 'ann'), told.toReversed())
  assert.deepEqual([tasks.finished, tasks.running], [told.length, 0])
})

test('a task that took its time is read as it was told, too', async () => {
  const tasks = new Tasks(limitsOf({}), memoryStore(), () => {})
  const seeds = [{}, { tenant: 'x' }, { id: 'short' }, { history: [] }]
  const told: Task[] = []
  for (const more of seeds) {
    const { id } = await tasks.create({ ...plain, id: randomUuid(), ...more })
    const heard: unknown[] = []
    tasks.watch('ann', id, (event, { task }) => void heard.push([event, task]))
    tasks.move(id, 'working')
    for (const piece of ['€ 1, ', 'two, ', 'three']) {
      void tasks.addPiece(id, { id: 'a', parts: [words(piece)] }, true, false)
    }
    tasks.move(id, 'completed')
    const task = await tasks.get('ann', id)
    assert.ok(task !== undefined)
    assert.deepEqual(task.artifacts, [{ id: 'a', parts: [words('€ 1, two, three')] }])
    assert.deepEqual(heard.at(-1), [{ what: 'status', status: task.status }, task])
    told.push(task)
  }
  assert.deepEqual(await listed(tasks, 'ann'), told.toReversed())
  assert.deepEqual([tasks.finished, tasks.running], [told.length, 0])
})

test('what counts for more as texts stays as it is', async () => {
  // 3 bytes in UTF-8 and one character each, which is 4 among texts and 2 in a task.
  const answered = '€'.repeat(10_000)
  const tasks = new Tasks(limitsOf({ maxTasksBytes: 30_000 }), memoryStore(), () => {})
  const { id } = await tasks.create({ ...plain, id: randomUuid() })
  tasks.move(id, 'working')
  void tasks.addArtifact(id, { id: 'a', parts: [words(answered)] })
  tasks.move(id, 'completed')
  const task = await tasks.get('ann', id)
  assert.deepEqual(task?.artifacts, [{ id: 'a', parts: [words(answered)] }])
  assert.ok(tasks.bytes <= 30_000)
})
