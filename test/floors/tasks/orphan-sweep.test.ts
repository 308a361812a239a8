// One look at a time at what dead processes have left, where nothing happens but what the test says.
import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { memoryStore } from '../../../lib/floors/memory/memory-store.ts'
import { reapOrphans } from '../../../lib/floors/tasks/orphan-reaper.ts'
import { formatRun, runKeyOf, taskKeyOf } from '../../../lib/floors/tasks/stored-tasks.ts'
import { TaskRecovery } from '../../../lib/floors/tasks/task-recovery.ts'
import { taskOf } from '../../../lib/floors/tasks/task.ts'
import { processNamed, tasksOn } from '../../fixtures/shared-store.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { Tasks } from '../../../lib/floors/tasks/tasks.ts'
import type { MemoryStore } from '../../../lib/index.ts'
import type { ClusterMembership } from '../../../lib/floors/shared/cluster.ts'
import type { GuardedStore } from '../../../lib/floors/shared/guarded-store.ts'
import type { Task, TaskSeed } from '../../../lib/floors/tasks/task.ts'

const AT = '2026-01-01T00:00:00.000Z'
const DAY_MS = 24 * 60 * 60_000
const seed: TaskSeed = {
  owner: 'ann', protocol: 'mcp', runnable: { kind: 'tool', name: 'work' }, contextId: '',
  sessionId: undefined, ttlMs: undefined, turn: { isRerun: true, answers: {}, results: {} },
}

/** What the process that looks knows of itself and of others. */
interface Known {
  isLeased: boolean
  mayJudge: boolean
  heirs: number
  readonly alive: Set<string>
  readonly left: Map<string, number>
}

interface House {
  readonly memory: MemoryStore
  readonly store: GuardedStore
  readonly tasks: Tasks
  readonly known: Known
  readonly ran: readonly Task[]
  readonly looked: readonly string[]
  readonly logged: readonly string[]
  /** One beat, and all that comes of it. */
  beat(): Promise<void>
  /** Whether what a process has left is still announced, and how many. */
  announced(node: string): number
  member(node: string): string | undefined
}

function house(): House {
  const memory = memoryStore({ isShared: true })
  const store: GuardedStore = { ...memory, isShared: true, isUnavailable: false, onReturn() {} }
  const known: Known = { isLeased: true, mayJudge: true, heirs: 0, alive: new Set(), left: new Map() }
  const beats: (() => void)[] = []
  const looked: string[] = []
  const more = {
    onBeat: (listener: () => void) => beats.push(listener),
    onLapse() {},
    isAlive: async (node: string) => known.alive.has(node),
    takeOver: async (node: string) => {
      looked.push(node)
      const left = known.left.get(node) ?? 0
      known.left.set(node, left - 1)
      return left > 0
    },
  }
  const cluster = Object.defineProperties({ ...processNamed('here'), ...more }, {
    isLeased: { get: () => known.isLeased },
    mayJudge: { get: () => known.mayJudge },
    heirs: { get: () => known.heirs },
  }) as unknown as ClusterMembership
  const limits = limitsOf({})
  const tasks = tasksOn(store, cluster, limits)
  const logged: string[] = []
  const log = (_level: string, text: string): void => { logged.push(text) }
  const at = { tasks, stored: tasks.stored!, cluster, workload: { isFull: false }, limits, log }
  const recovery = new TaskRecovery(at)
  const ran: Task[] = []
  recovery.register('mcp', { serves: () => true, run: (task) => { ran.push(task) } })
  reapOrphans(at, recovery, store)
  return {
    memory, store, tasks, known, ran, looked, logged,
    async beat() {
      for (const listener of beats) listener()
      for (let count = 0; count < 50; count++) await new Promise((resolve) => setImmediate(resolve))
    },
    announced: (node) => memory.list('runs', `~${node}`, Infinity).length,
    member: (node) => memory.read({ collection: 'members', owner: '~', key: node })?.value,
  }
}

function join({ memory }: House, node: string, value = ''): void {
  memory.write({ collection: 'members', owner: '~', key: node }, value, Infinity, 'any')
}

function lease({ memory }: House, node: string): void {
  memory.write({ collection: 'leases', owner: '~', key: node }, 'token', Infinity, 'any')
}

/** A task that a process has left as it worked. */
function leave({ memory }: House, node: string, more: Partial<Task> = {}): Task {
  const task = { ...taskOf(seed, AT, { state: 'working', at: AT }), node, ...more }
  memory.write(taskKeyOf('ann', task.id), JSON.stringify(task), Infinity, 0)
  memory.write(runKeyOf(node, task), formatRun(task), Infinity, 'any')
  return task
}

test('all that a dead process has left is found, however many pages that is', async () => {
  for (const count of [999, 1_000, 1_001]) {
    const one = house()
    join(one, 'dead')
    for (let at = 0; at < count; at++) leave(one, 'dead', { status: { state: 'completed', at: AT } })
    await one.beat()
    assert.equal(one.announced('dead'), 0, String(count))
  }
})

test('so are all dead processes, and all that live', async () => {
  const one = house()
  for (let at = 0; at < 1_001; at++) join(one, `dead-${at}`)
  for (let at = 0; at < 1_001; at++) {
    join(one, `live-${at}`)
    lease(one, `live-${at}`)
  }
  await one.beat()
  assert.deepEqual([one.member('dead-0'), one.member('dead-1000')], ['gone', 'gone'])
  assert.deepEqual([one.member('live-0'), one.member('live-1000')], ['', ''])
  assert.equal(one.looked.length, 1_001)
})

test('few are looked at together, and one process after the other', async () => {
  const one = house()
  const waiting: (() => void)[] = []
  let most = 0
  const { read } = one.store
  one.store.read = async (key) => {
    if (key.collection !== 'tasks') return read(key)
    await new Promise<void>((resolve) => { most = Math.max(most, waiting.push(resolve)) })
    return read(key)
  }
  for (const node of ['dead', 'late']) {
    join(one, node)
    for (let at = 0; at < 17; at++) leave(one, node, { status: { state: 'completed', at: AT } })
  }
  await one.beat()
  assert.equal(waiting.length, 16)
  assert.equal(one.looked.length, 1)
  // Nothing begins anew meanwhile.
  await one.beat()
  assert.equal(waiting.length, 16)
  for (let round = 0; round < 4; round++) {
    for (const go of waiting.splice(0)) go()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.deepEqual([most, one.looked.length], [16, 2])
  for (const go of waiting.splice(0)) go()
})

test('a look that fails is no hindrance to the next, whatever the store does not do', async () => {
  const ways: readonly (readonly [method: 'list' | 'read' | 'write' | 'remove', ran: number])[] = [
    ['list', 0], ['read', 0], ['write', 0], ['remove', 1],
  ]
  for (const [method, ran] of ways) {
    const one = house()
    join(one, 'dead')
    const task = leave(one, 'dead')
    const own = leave(one, 'here', { status: { state: 'completed', at: AT } })
    one.tasks.stored!.unconfirmedWrites.set(own.id, { owner: 'ann', version: 1 })
    const asIs = one.store[method]
    const away = (): Promise<never> => Promise.reject(new Error('not reached'))
    Object.assign(one.store, { [method]: away })
    await one.beat()
    assert.equal(one.ran.length, ran, method)
    Object.assign(one.store, { [method]: asIs })
    await one.beat()
    assert.deepEqual(one.ran.map(({ id }) => id), [task.id], method)
  }
})

test('a task that no process serves fails when its process has been dead for long enough', async (t) => {
  const pass = standingTime(t)
  const one = house()
  join(one, 'dead')
  const task = leave(one, 'dead', { protocol: 'a2a' })
  const { rerunWaitMs } = limitsOf({})
  await one.beat()
  pass(rerunWaitMs - 1)
  await one.beat()
  assert.equal((await one.tasks.get('ann', task.id))?.status.state, 'working')
  pass(1)
  await one.beat()
  assert.equal((await one.tasks.get('ann', task.id))?.status.state, 'failed')
})

test('nobody is judged without a lease, nor too early but who said that it closed', async () => {
  const one = house()
  join(one, 'silent')
  join(one, 'closed', 'closed')
  const [silent, closed] = [leave(one, 'silent'), leave(one, 'closed')]
  one.known.isLeased = false
  await one.beat()
  assert.deepEqual([one.ran, one.looked], [[], []])
  one.known.isLeased = true
  one.known.mayJudge = false
  await one.beat()
  assert.deepEqual(one.ran.map(({ id }) => id), [closed.id])
  one.known.mayJudge = true
  await one.beat()
  assert.deepEqual(one.ran.map(({ id }) => id), [closed.id, silent.id])
})

test('what another process changes as it is ended stays announced, and is looked at again', async () => {
  const one = house()
  join(one, 'dead')
  const task = leave(one, 'dead', { turn: undefined })
  const { write } = one.store
  one.store.write = (key, ...rest) => {
    // As this process begins to take it.
    if (key.collection === 'runs') {
      const other = JSON.stringify({ ...task, node: 'other' })
      one.memory.write(taskKeyOf('ann', task.id), other, Infinity, 'any')
    }
    return write(key, ...rest)
  }
  await one.beat()
  assert.deepEqual([one.announced('dead'), one.logged], [1, []])
  await one.beat()
  assert.deepEqual([one.announced('dead'), one.logged], [0, []])
  assert.equal((await one.tasks.get('ann', task.id))?.status.state, 'working')
})

test('a task that is here is not looked for, whatever became of a write of it', async () => {
  const one = house()
  const task = await one.tasks.create(seed)
  one.tasks.stored!.unconfirmedWrites.set(task.id, { owner: 'ann', version: 0 })
  await one.beat()
  assert.ok(one.tasks.isCurrent(task))
  assert.notEqual(one.memory.read(taskKeyOf('ann', task.id))?.value, 'null')
})

test('who has a lease lives, also one that has come since the leases were read', async () => {
  const one = house()
  for (const node of ['leased', 'returned']) {
    join(one, node)
    leave(one, node)
  }
  lease(one, 'leased')
  one.known.alive.add('returned')
  await one.beat()
  assert.deepEqual([one.ran, one.looked], [[], []])
})

test('a name is remembered for a day when nothing is left, and looked at again now and then', async () => {
  const one = house()
  join(one, 'dead')
  one.known.left.set('dead', 1)
  await one.beat()
  assert.equal(one.member('dead'), '')
  const keeps: number[] = []
  const { write } = one.store
  one.store.write = (key, value, keepMs, expected) => {
    if (value === 'gone') keeps.push(keepMs)
    return write(key, value, keepMs, expected)
  }
  await one.beat()
  assert.deepEqual([one.member('dead'), keeps, one.looked.length], ['gone', [DAY_MS], 2])
  const late = leave(one, 'dead')
  for (let sweeps = 3; sweeps < 24; sweeps++) await one.beat()
  assert.deepEqual([one.looked.length, one.ran.length], [2, 0])
  await one.beat()
  assert.deepEqual([one.looked.length, one.ran.map(({ id }) => id)], [3, [late.id]])
  // Who takes over something else for the first time looks at once.
  one.known.heirs = 1
  await one.beat()
  await one.beat()
  // It stays as it is: another day would begin.
  assert.deepEqual([one.looked.length, keeps.length], [4, 1])
})

test('for how long a process is dead is counted anew once nothing of it was left', async (t) => {
  const pass = standingTime(t)
  const one = house()
  join(one, 'dead')
  await one.beat()
  assert.equal(one.member('dead'), 'gone')
  pass(limitsOf({}).rerunWaitMs)
  const late = leave(one, 'dead', { protocol: 'a2a' })
  for (let sweeps = 1; sweeps < 24; sweeps++) await one.beat()
  assert.deepEqual([one.looked.length, (await one.tasks.get('ann', late.id))?.status.state], [2, 'working'])
})

test('what is only reserved, or has no second run, is ended and never run again', async () => {
  const one = house()
  join(one, 'dead')
  const ids = [leave(one, 'dead', { isReserved: true }), leave(one, 'dead', { turn: undefined })]
  await one.beat()
  assert.deepEqual([one.ran, one.announced('dead')], [[], 0])
  for (const { id } of ids) {
    const task = await one.tasks.get('ann', id)
    assert.deepEqual([task?.status.state, task?.node, task?.fault?.kind], ['failed', 'here', 'failed'])
  }
  assert.deepEqual(one.logged, Array(2).fill('The process of a task has ended, and the task with it'))
})

test('what waits for its client is left as it is, where an answer can begin it again', async () => {
  const one = house()
  join(one, 'dead')
  const status = { state: 'input-required', at: AT } as const
  const turn = { answers: {}, results: {} }
  const kept = [
    leave(one, 'dead', { status, turn }), leave(one, 'dead', { status, turn: undefined, protocol: 'a2a' }),
  ]
  const lost = leave(one, 'dead', { status, turn: undefined })
  const other = leave(one, 'dead', { node: 'elsewhere' })
  await one.beat()
  assert.deepEqual([one.ran, one.announced('dead')], [[], 0])
  for (const { id } of kept) assert.equal((await one.tasks.get('ann', id))?.node, 'dead')
  assert.equal((await one.tasks.get('ann', lost.id))?.status.state, 'failed')
  assert.equal((await one.tasks.get('ann', other.id))?.node, 'elsewhere')
})

test('an announced task that was never written can be written no more, for a day', async () => {
  const one = house()
  join(one, 'dead')
  const { id } = leave(one, 'dead')
  const key = taskKeyOf('ann', id)
  one.memory.remove(key, 'any')
  const keeps: number[] = []
  const { write } = one.store
  one.store.write = (at, value, keepMs, expected) => {
    if (value === 'null') keeps.push(keepMs)
    return write(at, value, keepMs, expected)
  }
  await one.beat()
  assert.deepEqual([one.memory.read(key)?.value, keeps, one.announced('dead')], ['null', [DAY_MS], 0])
})

test('one that arrives at that moment is looked at again, as is one that has gone again', async () => {
  for (const way of ['arrives', 'goes again', 'of this process'] as const) {
    const node = way === 'of this process' ? 'here' : 'dead'
    const one = house()
    for (const dead of ['another', 'dead']) join(one, dead)
    const task = leave(one, node)
    const key = taskKeyOf('ann', task.id)
    one.memory.remove(key, 'any')
    if (node === 'here') one.tasks.stored!.unconfirmedWrites.set(task.id, { owner: 'ann', version: 0 })
    const others = ['dead', 'another'].map((dead) => leave(one, dead).id)
    const { write } = one.store
    one.store.write = (at, value, keepMs, expected) => {
      if (value !== 'null') return write(at, value, keepMs, expected)
      if (way !== 'goes again') one.memory.write(key, JSON.stringify(task), Infinity, 'any')
      return way === 'goes again' ? undefined : write(at, value, keepMs, expected)
    }
    await one.beat()
    // The others do not wait for it.
    assert.deepEqual(one.ran.map(({ id }) => id), others, way)
    assert.ok(one.memory.read(runKeyOf(node, task)), way)
    one.store.write = write
    await one.beat()
    assert.equal(one.memory.read(runKeyOf(node, task)), undefined, way)
    const ran = way === 'arrives' ? [...others, task.id] : others
    assert.deepEqual(one.ran.map(({ id }) => id), ran, way)
    const isRefused = one.memory.read(key)?.value === 'null'
    assert.equal(isRefused, way !== 'arrives', way)
  }
})

test('what cannot be read gives its place to a tombstone in one look', async () => {
  const one = house()
  join(one, 'dead')
  const { id } = leave(one, 'dead')
  one.memory.write(taskKeyOf('ann', id), 'no JSON', Infinity, 'any')
  await one.beat()
  assert.deepEqual([one.memory.read(taskKeyOf('ann', id))?.value, one.announced('dead')], ['null', 0])
})

test('what has been announced anew since it was read stays announced', async () => {
  const one = house()
  join(one, 'dead')
  const task = leave(one, 'dead', { status: { state: 'completed', at: AT } })
  const { read } = one.store
  one.store.read = (key) => {
    one.memory.write(runKeyOf('dead', task), formatRun(task), Infinity, 'any')
    return read(key)
  }
  await one.beat()
  assert.equal(one.announced('dead'), 1)
})

/** What becomes of a write of this process that got no answer, by what is in the store. */
const writes: readonly (readonly [
  what: string, version: 'none' | 'same' | 'other', stored: Partial<Task> | undefined,
  state: string | undefined, ran: number, isUnconfirmed: boolean,
])[] = [
  ['a task that nobody was promised, which did not arrive', 'none', undefined, undefined, 0, false],
  ['the same, which did', 'none', {}, undefined, 0, false],
  ['the same, which another process ended', 'none', { node: 'other' }, 'working', 0, false],
  ['one that was promised, and runs here again', 'other', {}, 'working', 1, true],
  ['one that is not to run again', 'other', { turn: undefined }, 'failed', 0, false],
  ['one of another process, which may still arrive', 'same', { node: 'other' }, 'working', 0, true],
  ['one of another process, which has gone on', 'other', { node: 'other' }, 'working', 0, false],
  ['one of another process, which has ended', 'same', {
    node: 'other', status: { state: 'completed', at: AT },
  }, 'completed', 0, false],
  ['one that is gone', 'same', undefined, undefined, 0, false],
]

test('a write of which no answer came is followed until it is known what became of it', async () => {
  for (const [what, version, stored, state, ran, isUnconfirmed] of writes) {
    const one = house()
    const task = leave(one, 'here', stored)
    const key = taskKeyOf('ann', task.id)
    const entry = one.memory.read(key)!
    if (stored === undefined) one.memory.remove(key, 'any')
    const before = version === 'none' ? 0 : version === 'same' ? entry.version : entry.version + 1
    one.tasks.stored!.unconfirmedWrites.set(task.id, { owner: 'ann', version: before })
    await one.beat()
    const known = await one.tasks.get('ann', task.id)
    assert.deepEqual([known?.status.state, one.ran.length], [state, ran], what)
    assert.equal(one.tasks.stored!.unconfirmedWrites.has(task.id), isUnconfirmed, what)
    assert.equal(one.announced('here'), isUnconfirmed ? 1 : 0, what)
    const isRefused = version === 'none' && stored?.node === undefined
    assert.equal(one.memory.read(key)?.value === 'null', isRefused, what)
  }
})

test('a process that has handed over its tasks begins no run, of theirs or of others', async () => {
  for (const isHandedOver of [false, true]) {
    const one = house()
    join(one, 'dead')
    const [own, other] = ['here', 'dead'].map((node) => leave(one, node)) as [Task, Task]
    one.tasks.stored!.unconfirmedWrites.set(own.id, { owner: 'ann', version: 1 })
    if (isHandedOver) one.tasks.stored!.handOver()
    await one.beat()
    assert.equal(one.ran.length, isHandedOver ? 0 : 2)
    for (const { id } of [own, other]) {
      const { turn } = JSON.parse(one.memory.read(taskKeyOf('ann', id))!.value) as Task
      assert.equal(turn?.run, isHandedOver ? undefined : 2, 'each run counts')
    }
    assert.deepEqual([one.announced('here'), one.announced('dead')], isHandedOver ? [1, 1] : [2, 0])
  }
})
