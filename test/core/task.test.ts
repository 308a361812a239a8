import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../lib/core/defaults.ts'
import { isFinished, Tasks } from '../../lib/core/task.ts'
import { memoryStore } from '../../lib/index.ts'
import type { Artifact, Task, TaskEvent, TaskState } from '../../lib/core/task.ts'
import type { Content, Limits, Store } from '../../lib/index.ts'

function tasksWith(
  limits: Partial<Limits> = {}, store: Store = memoryStore({ maxEntries: 100, maxBytes: 1e6 }),
): Tasks {
  return new Tasks(limitsOf(limits), store)
}

const states: readonly TaskState[] = [
  'submitted', 'working', 'input-required', 'auth-required', 'completed', 'failed', 'canceled', 'rejected',
]
const ends: readonly TaskState[] = ['completed', 'failed', 'canceled', 'rejected']

/** Which states may follow, besides every end. */
const follows: Readonly<Partial<Record<TaskState, readonly TaskState[]>>> = {
  'submitted': ['working', 'input-required', 'auth-required'],
  'working': ['working', 'input-required', 'auth-required'],
  'input-required': ['submitted', 'working', 'input-required'],
  'auth-required': ['working', 'input-required', 'auth-required'],
}

/** A task that was brought to a state. */
function taskIn(tasks: Tasks, state: TaskState): Task {
  const task = tasks.create('ann', 'context')
  if (state !== 'submitted') assert.equal(tasks.move(task.id, state), true)
  return task
}

test('a state follows another only where the table says so, and nothing follows an end', () => {
  for (const from of states) {
    for (const to of states) {
      const tasks = tasksWith()
      const task = taskIn(tasks, from)
      const expected = !isFinished(from) && (ends.includes(to) || follows[from]?.includes(to) === true)
      assert.equal(tasks.move(task.id, to), expected, `${from} to ${to}`)
      assert.equal((tasks.get('ann', task.id) as Task).status.state, expected ? to : from)
    }
  }
  assert.deepEqual(states.filter(isFinished), ends)
  assert.equal(tasksWith().move('nothing', 'working'), false)
})

test('a task is seen by its owner alone, running and finished', () => {
  const tasks = tasksWith()
  const task = tasks.create('ann', 'context')
  for (const state of ['working', 'completed'] as const) {
    tasks.move(task.id, state)
    assert.equal((tasks.get('ann', task.id) as Task).status.state, state)
    assert.equal(tasks.get('bob', task.id), undefined)
    assert.deepEqual(tasks.list('bob'), [])
    assert.deepEqual(tasks.list('ann'), [task.id])
    assert.equal(tasks.watch('bob', task.id, () => assert.fail('told')), undefined)
  }
})

test('times rise strictly, even within one millisecond', () => {
  const tasks = tasksWith()
  const times: string[] = []
  for (let at = 0; at < 50; at++) times.push(tasks.create('ann', 'context').createdAt)
  assert.deepEqual([...new Set(times)].toSorted(), times)
  for (const time of times) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

const text = (said: string): Content => ({ type: 'text', text: said })

test('watchers are told the same in the same order, from the task as it stood, until it is finished', () => {
  const tasks = tasksWith()
  const { id } = tasks.create('ann', 'context')
  const told: Record<string, string[]> = { first: [], second: [], gone: [] }
  const watch = (name: string): (() => void) => {
    const watched = tasks.watch('ann', id, (event: TaskEvent, task) => {
      told[name]!.push(
        event.what === 'status' ? event.status.state : `${event.artifact.id} ${task.artifacts.length}`,
      )
    })
    assert.ok(watched)
    told[name]!.push(`from ${watched.task.status.state}`)
    return watched.stop
  }
  watch('first')
  const leave = watch('gone')
  tasks.move(id, 'working')
  leave()
  watch('second')
  tasks.addArtifact(id, { id: 'a', parts: [text('1')] })
  tasks.move(id, 'completed')
  tasks.move(id, 'failed')
  tasks.addArtifact(id, { id: 'b', parts: [] })
  assert.deepEqual(told, {
    first: ['from submitted', 'working', 'a 1', 'completed'],
    second: ['from working', 'a 1', 'completed'],
    gone: ['from submitted', 'working'],
  })
})

test('an artifact is added, added to, or replaced', () => {
  const tasks = tasksWith()
  const { id } = tasks.create('ann', 'context')
  const flags: unknown[] = []
  tasks.watch('ann', id, (event) => { if (event.what === 'artifact') flags.push([event.append, event.last]) })
  const part = (id_: string, said: string, name?: string): Artifact => ({
    id: id_, ...name !== undefined && { name }, parts: [text(said)],
  })
  tasks.addArtifact(id, part('a', '1', 'Notes'), true, false)
  tasks.addArtifact(id, part('a', '2'), true, false)
  tasks.addArtifact(id, part('b', '3'))
  tasks.addArtifact(id, part('b', '4'))
  assert.deepEqual((tasks.get('ann', id) as Task).artifacts, [
    { id: 'a', name: 'Notes', parts: [text('1'), text('2')] }, { id: 'b', parts: [text('4')] },
  ])
  assert.deepEqual(flags, [[false, false], [true, false], [false, true], [false, true]])
})

test('a snapshot does not change', () => {
  const tasks = tasksWith()
  const before = tasks.create('ann', 'context', [], { kept: 1 })
  tasks.move(before.id, 'working')
  tasks.addArtifact(before.id, { id: 'a', parts: [] })
  tasks.addMessage(before.id, { id: 'm', role: 'user', parts: [] })
  tasks.keep(before.id, { kept: 2 })
  assert.deepEqual(
    [before.status.state, before.artifacts, before.history, before.extra], ['submitted', [], [], { kept: 1 }],
  )
  const after = tasks.get('ann', before.id) as Task
  assert.deepEqual(
    [after.status.state, after.artifacts.length, after.history.length, after.extra],
    ['working', 1, 1, { kept: 2 }],
  )
})

test('a finished task takes nothing more', () => {
  const tasks = tasksWith()
  const { id } = tasks.create('ann', 'context')
  tasks.move(id, 'completed', [text('done')])
  assert.equal(tasks.addMessage(id, { id: 'm', role: 'agent', parts: [] }), false)
  assert.equal(tasks.addArtifact(id, { id: 'a', parts: [] }), false)
  assert.equal(tasks.keep(id, {}), false)
  assert.equal(tasks.watch('ann', id, () => {}), undefined)
  const kept = tasks.get('ann', id) as Task
  assert.deepEqual([kept.status.message, kept.artifacts, kept.history], [[text('done')], [], []])
  assert.equal(tasks.live, 0)
})

test('as many tasks run as may, and finished ones make room', () => {
  const tasks = tasksWith({ maxTasks: 2 })
  const first = tasks.create('ann', 'context')
  tasks.create('ann', 'context')
  assert.throws(
    () => tasks.create('bob', 'context'),
    { kind: 'busy', message: '2 tasks are running already; try again later' },
  )
  tasks.move(first.id, 'canceled')
  tasks.create('bob', 'context')
})

test('tasks are listed newest first, running before finished', () => {
  const tasks = tasksWith()
  const [a, b, c, d] = Array.from({ length: 4 }, () => tasks.create('ann', 'context').id)
  tasks.move(a!, 'completed')
  tasks.move(c!, 'completed')
  assert.deepEqual(tasks.list('ann'), [d, b, c, a])
})

test('a finished task is gone when its time is over', async () => {
  const tasks = tasksWith({ taskKeepMs: 20 })
  const { id } = tasks.create('ann', 'context')
  tasks.move(id, 'completed')
  assert.ok(tasks.get('ann', id))
  await new Promise((resolve) => setTimeout(resolve, 40))
  assert.equal(tasks.get('ann', id), undefined)
})

/** A store far away, that says that it has something when it is let. */
function remote(): Store & { readonly release: (error?: Error) => void } {
  const memory = memoryStore()
  let settle: ((error?: Error) => void) | undefined
  return {
    ...memory,
    read: async (place) => memory.read(place),
    write: (place, value, keepMs, expected) => new Promise((resolve, reject) => {
      // It may be there before its keeper knows.
      const version = memory.write(place, value, keepMs, expected)
      settle = (error) => error === undefined ? resolve(version) : reject(error)
    }),
    list: async (collection, owner, limit) => memory.list(collection, owner, limit),
    release: (error) => settle?.(error),
  }
}

test('until a remote store has a finished task it is read here, once, and takes nothing more', async () => {
  const store = remote()
  const tasks = tasksWith({}, store)
  const { id } = tasks.create('ann', 'context')
  tasks.move(id, 'completed')
  assert.equal((tasks.get('ann', id) as Task).status.state, 'completed')
  assert.equal(tasks.addArtifact(id, { id: 'a', parts: [] }), false)
  assert.equal(tasks.addMessage(id, { id: 'm', role: 'user', parts: [] }), false)
  assert.equal(tasks.watch('ann', id, () => {}), undefined)
  assert.deepEqual(await tasks.list('ann'), [id])
  store.release()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(tasks.live, 0)
  assert.equal((await tasks.get('ann', id))?.status.state, 'completed')
})

test('a store that fails, at once or later, leaves no task behind', async () => {
  const later = remote()
  const broken: Store = { ...later, write: () => { throw new Error('no room') } }
  for (const store of [later, broken]) {
    const tasks = tasksWith({}, store)
    tasks.move(tasks.create('ann', 'context').id, 'completed')
    later.release(new Error('no room'))
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(tasks.live, 0)
  }
  const tasks = tasksWith()
  const { id } = tasks.create('ann', 'context', [], { n: 1n })
  assert.equal(tasks.move(id, 'completed'), true)
  assert.equal(tasks.live, 0)
})
