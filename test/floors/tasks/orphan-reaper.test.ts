// Tasks of processes that share a store: none that was promised is lost, ended twice, or left working.
import assert from 'node:assert/strict'
import { formatRun, runKeyOf } from '../../../lib/floors/tasks/stored-tasks.ts'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { guardedStore } from '../../../lib/floors/shared/guarded-store.ts'
import { ClusterMembership } from '../../../lib/floors/shared/cluster.ts'
import { reapOrphans } from '../../../lib/floors/tasks/orphan-reaper.ts'
import { TaskRecovery } from '../../../lib/floors/tasks/task-recovery.ts'
import { taskOf } from '../../../lib/floors/tasks/task.ts'
import { Workload } from '../../../lib/kernel/run/workload.ts'
import { createSeal } from '../../../lib/kernel/wire/seal.ts'
import { test } from '../../fixtures/at-once.ts'
import { eventually } from '../../fixtures/wire.ts'
import { damages } from '../../fixtures/damaged-store.ts'
import { sharedMemory } from '../../fixtures/shared-memory.ts'
import { tasksOn } from '../../fixtures/shared-store.ts'
import type { Tasks } from '../../../lib/floors/tasks/tasks.ts'
import type { TestContext } from 'node:test'
import type { Fault } from '../../../lib/kernel/define/fault.ts'
import type { RunningTask, Task } from '../../../lib/floors/tasks/task.ts'
import type { TaskSeed } from '../../../lib/floors/tasks/task.ts'
import type { Connection, SharedMemory } from '../../fixtures/shared-memory.ts'

interface Process {
  readonly tasks: Tasks
  readonly nodes: ClusterMembership
  readonly store: Connection
  readonly recovery: TaskRecovery
}

const AT = '2026-01-01T00:00:00.000Z'
// Longer than a store that is there again may go unnoticed.
const LEASE_MS = 1_500

async function processOn(t: TestContext, shared: SharedMemory, leaseMs = LEASE_MS): Promise<Process> {
  const store = shared.connect()
  const limits = limitsOf({ leaseMs, storeTimeoutMs: 200 })
  const guard = guardedStore(store, limits, () => {})
  const nodes = new ClusterMembership(guard, createSeal('the secret of all'), limits, () => {})
  const tasks = tasksOn(guard, nodes, limits)
  const workload = new Workload(10, 'here')
  const at = { tasks, stored: tasks.stored!, cluster: nodes, workload, limits, log() {} }
  const recovery = new TaskRecovery(at)
  reapOrphans(at, recovery, guard)
  t.after(() => {
    store.isCut = false
    return nodes.close(true)
  })
  await nodes.ready()
  return { tasks, nodes, store, recovery }
}

const seed: TaskSeed = {
  owner: 'ann', protocol: 'a2a', runnable: { kind: 'agent', name: 'bot' }, contextId: 'c',
  sessionId: undefined, ttlMs: undefined,
}

function runOf(): RunningTask & { cancels: number } {
  return {
    cancels: 0, onSettled() {}, answer() {}, refuse() {},
    cancel() { this.cancels += 1 },
    lose() { this.cancels += 1 },
  }
}

/** A task that works at a process, and is kept. */
async function working({ tasks }: Process, run: RunningTask = runOf()): Promise<string> {
  const { id } = await tasks.create(seed, run)
  tasks.move(id, 'working')
  await tasks.whenPersisted(id)
  return id
}

async function stateOf({ tasks }: Process, id: string): Promise<string | undefined> {
  return (await tasks.get('ann', id))?.status.state
}

test('a run is announced before its task is there, and not any more when it has ended', async (t) => {
  const shared = sharedMemory()
  const one = await processOn(t, shared)
  const announced = (): number => shared.memory.list('runs', `~${one.nodes.id}`, 10).length
  const { id } = await one.tasks.create(seed, runOf())
  assert.equal(announced(), 1)
  assert.equal((await one.tasks.get('ann', id))?.status.state, 'working')
  one.tasks.move(id, 'working')
  one.tasks.move(id, 'completed')
  await eventually(() => announced() === 0)
  const [entry] = shared.memory.list('tasks', 'ann', 10)
  const { status, node } = JSON.parse(entry!.value)
  assert.deepEqual([status.state, node], ['completed', one.nodes.id])
})

test('what a dead process ran has failed, and what waits for its client goes on waiting', async (t) => {
  const shared = sharedMemory()
  const [one, two] = [await processOn(t, shared), await processOn(t, shared)]
  const ids = await Promise.all([1, 2, 3, 4].map(async (at) => {
    const { id } = await one.tasks.create({ ...seed, protocol: at === 4 ? 'mcp' : 'a2a' }, runOf())
    one.tasks.move(id, 'working')
    if (at > 2) one.tasks.move(id, 'input-required')
    await one.tasks.whenPersisted(id)
    return id
  }))
  one.store.isCut = true
  await eventually(async () => (
    await stateOf(two, ids[0]!) === 'failed' && await stateOf(two, ids[1]!) === 'failed'
  ))
  // An answer can begin the run of an agent again; of a tool it is not known with what.
  await eventually(async () => await stateOf(two, ids[3]!) === 'failed')
  assert.equal(await stateOf(two, ids[2]!), 'input-required')
  const task = await two.tasks.get('ann', ids[0]!) as Task
  assert.deepEqual(task.fault, {
    kind: 'failed', message: 'The process that ran it has ended; whether it took effect is not known',
  })
  await eventually(() => shared.memory.list('runs', `~${one.nodes.id}`, 10).length === 0)
})

test('what of a dead process cannot be read goes, and stops no one from taking over the rest', async (t) => {
  const shared = sharedMemory()
  const { memory } = shared
  const [one, two] = [await processOn(t, shared), await processOn(t, shared)]
  const runs = { collection: 'runs', owner: `~${one.nodes.id}` }
  const ids: string[] = []
  const begun = async (value: string): Promise<void> => {
    ids.push(await working(one))
    memory.write({ ...runs, key: `damaged-${ids.length}` }, value, Infinity, 0)
  }
  for (const value of ['', 'no JSON', 'null', '{}', '["ann"]', '["ann",1]', '[', '[]']) await begun(value)
  const damaged = ids.slice(0, -1)
  one.store.isCut = true
  for (const [at, change] of Object.values(damages).slice(0, damaged.length).entries()) {
    const key = { collection: 'tasks', owner: 'ann', key: damaged[at]! }
    const { value } = memory.read(key)!
    memory.write(key, change(value), Infinity, 'any')
  }
  await eventually(() => memory.list(runs.collection, runs.owner, 100).length === 0)
  assert.equal(await stateOf(two, ids.at(-1)!), 'failed')
  assert.deepEqual((await two.tasks.list('ann')).map(({ id }) => id), [ids.at(-1)])
  // Nobody brings back what is gone.
  for (const id of damaged) {
    assert.equal(memory.read({ collection: 'tasks', owner: 'ann', key: id })?.value, 'null')
  }
})

test('a process of which the name says nothing is judged no sooner than one that lives', async (t) => {
  const shared = sharedMemory()
  const [one, two] = [await processOn(t, shared), await processOn(t, shared)]
  const asked: string[] = []
  two.nodes.onDead(async (node) => {
    asked.push(`${node} ${two.nodes.mayJudge}`)
    return false
  })
  shared.memory.write({ collection: 'members', owner: '~', key: 'someone' }, '{"odd":true}', Infinity, 0)
  await eventually(() => asked.length > 0)
  assert.deepEqual(asked, ['someone true'])
  assert.ok(one.nodes.isLeased)
})

test('a process that was silent for too long overwrites nothing', async (t) => {
  const shared = sharedMemory()
  const [one, two] = [await processOn(t, shared), await processOn(t, shared)]
  const id = await working(one)
  one.store.isCut = true
  await eventually(async () => await stateOf(two, id) === 'failed')
  // Its end is on its way into the store before this process can know that others have ended it.
  one.tasks.move(id, 'completed', { result: 1 })
  one.store.isCut = false
  // While its own end is not kept, nor known to be too late, it says that it is busy.
  const isBusy = (fault: unknown): undefined => assert.equal((fault as Fault).kind, 'busy') as undefined
  await eventually(async () => await stateOf(one, id).catch(isBusy) === 'failed')
  await one.tasks.whenPersisted(id)
  assert.equal(await stateOf(two, id), 'failed')
})

test('when the store itself was away, nobody is taken for dead', async (t) => {
  const shared = sharedMemory()
  const all = [await processOn(t, shared), await processOn(t, shared)]
  const ids = await Promise.all(all.map((one) => working(one)))
  for (const { store } of all) store.isCut = true
  await eventually(() => shared.memory.list('leases', '~', 10).length === 0)
  for (const { store } of all) store.isCut = false
  await eventually(() => all.every(({ nodes }) => nodes.mayJudge))
  for (const [at, id] of ids.entries()) {
    assert.equal(await stateOf(all[1 - at]!, id), 'working')
    all[at]!.tasks.move(id, 'completed')
    await eventually(async () => await stateOf(all[1 - at]!, id) === 'completed')
  }
})

test('how a task ended is kept as soon as the store is there again', async (t) => {
  const shared = sharedMemory()
  const [one, two] = [await processOn(t, shared), await processOn(t, shared)]
  const id = await working(one)
  for (const { store } of [one, two]) store.isCut = true
  one.tasks.move(id, 'completed', { result: 'all of it' })
  await new Promise((resolve) => setTimeout(resolve, LEASE_MS))
  for (const { store } of [one, two]) store.isCut = false
  await eventually(async () => await stateOf(two, id).catch(() => '') === 'completed')
  assert.equal((await two.tasks.get('ann', id))?.result, 'all of it')
})

test('a task whose process died before it was written never comes to be', async (t) => {
  const shared = sharedMemory()
  const [one, two] = [await processOn(t, shared), await processOn(t, shared)]
  const { write } = one.store
  let resume = (): void => {}
  one.store.write = (key, ...rest) => {
    if (key.collection !== 'tasks') return write(key, ...rest)
    one.store.isCut = true
    return new Promise((resolve, reject) => {
      resume = () => {
        one.store.isCut = false
        void Promise.resolve(write(key, ...rest)).then(resolve, reject)
      }
    })
  }
  const created = Promise.resolve(one.tasks.create(seed, runOf()))
  await assert.rejects(created, { kind: 'busy' })
  await eventually(() => shared.memory.list('tasks', 'ann', 10).length === 1)
  resume()
  await eventually(() => one.nodes.isLeased)
  assert.deepEqual(shared.memory.list('tasks', 'ann', 10).map(({ value }) => value), ['null'])
  assert.deepEqual(await two.tasks.list('ann'), [])
})

test('a task that cannot be promised is not: without the store no run begins', async (t) => {
  const one = await processOn(t, sharedMemory())
  one.store.isCut = true
  await assert.rejects(async () => one.tasks.create(seed, runOf()), { kind: 'busy' })
  assert.equal(one.tasks.running, 0)
})

/** From now on what one process writes to a collection arrives, and its answer does not; so often. */
function deafen({ store }: Process, collection: string, times = 1): void {
  const { write } = store
  let left = times
  store.write = (key, ...rest) => {
    const answer = Promise.resolve(write(key, ...rest))
    if (key.collection !== collection || left === 0) return answer
    left -= 1
    return answer.then(() => new Promise(() => {}))
  }
}

test('a write whose answer never came is known again as one of its own', async (t) => {
  const shared = sharedMemory()
  const [one, two] = [await processOn(t, shared), await processOn(t, shared)]
  const run = runOf()
  const { id } = await one.tasks.create(seed, run)
  deafen(one, 'tasks')
  one.tasks.move(id, 'working')
  await one.tasks.whenPersisted(id)
  one.tasks.addArtifact(id, { id: 'a', parts: [{ type: 'text', text: 'whole' }] })
  one.tasks.move(id, 'completed', { result: 1 })
  await eventually(async () => await stateOf(two, id) === 'completed')
  assert.equal(run.cancels, 0)
  assert.equal((await two.tasks.get('ann', id))?.artifacts.length, 1)
})

test('a task whose client was refused never comes to be, though it was written', async (t) => {
  const shared = sharedMemory()
  const one = await processOn(t, shared)
  deafen(one, 'tasks')
  await assert.rejects(async () => one.tasks.create(seed, runOf()), { kind: 'busy' })
  assert.equal(one.tasks.running, 0)
  await eventually(() => shared.memory.list('tasks', 'ann', 10)[0]?.value === 'null')
  await eventually(() => shared.memory.list('runs', `~${one.nodes.id}`, 10).length === 0)
  assert.deepEqual(await one.tasks.list('ann'), [])
})

test('nobody hears of an end that another process has not let be', async (t) => {
  const shared = sharedMemory()
  const [one, two] = [await processOn(t, shared), await processOn(t, shared)]
  const id = await working(one)
  const told: string[] = []
  one.tasks.watch('ann', id, (event) => {
    told.push(event.what === 'status' ? event.status.state : event.what)
  })
  one.store.isCut = true
  await eventually(async () => await stateOf(two, id) === 'failed')
  one.tasks.move(id, 'completed', { result: 1 })
  await assert.rejects(async () => one.tasks.get('ann', id), { kind: 'busy' })
  one.store.isCut = false
  await eventually(async () => await stateOf(one, id).catch(() => '') === 'failed')
  assert.deepEqual(told, ['forgotten'])
})

test('a task that went on after its process was taken for dead is announced again', async (t) => {
  const shared = sharedMemory()
  const [one, two] = [await processOn(t, shared), await processOn(t, shared)]
  const announced = (): number => shared.memory.list('runs', `~${one.nodes.id}`, 10).length
  const { id } = await one.tasks.create(seed, runOf())
  one.tasks.move(id, 'input-required')
  await one.tasks.whenPersisted(id)
  one.store.isCut = true
  await eventually(() => announced() === 0)
  one.store.isCut = false
  await eventually(() => one.nodes.isLeased)
  one.tasks.move(id, 'working')
  await one.tasks.whenPersisted(id)
  assert.equal(announced(), 1)
  one.store.isCut = true
  await eventually(async () => await stateOf(two, id) === 'failed')
})

test('a process that comes back looks at once what others have taken', async (t) => {
  const shared = sharedMemory()
  const [one, two] = [await processOn(t, shared), await processOn(t, shared)]
  const run = runOf()
  const id = await working(one, run)
  one.store.isCut = true
  await eventually(async () => await stateOf(two, id) === 'failed')
  assert.equal(run.cancels, 0)
  one.store.isCut = false
  await eventually(() => run.cancels === 1)
})

test('what is taken from a process that lives is known there at once', async (t) => {
  const shared = sharedMemory()
  const [one, two] = [await processOn(t, shared), await processOn(t, shared)]
  const run = runOf()
  const { id } = await one.tasks.create(seed, run)
  one.tasks.move(id, 'input-required')
  await one.tasks.whenPersisted(id)
  const seen = await two.tasks.get('ann', id) as Task
  await two.tasks.take(seen)
  assert.ok(two.tasks.isCurrent(seen))
  await eventually(() => run.cancels === 1)
})

test('growing artifacts are written at most four times a second, and whole with what follows', async (t) => {
  const shared = sharedMemory()
  const one = await processOn(t, shared)
  const id = await working(one)
  let writes = 0
  const { write } = one.store
  one.store.write = (key, ...rest) => {
    if (key.collection === 'tasks') writes += 1
    return write(key, ...rest)
  }
  const begunAt = performance.now()
  let said = ''
  await eventually(() => {
    one.tasks.addPiece(id, { id: 'a', parts: [{ type: 'text', text: 'x' }] }, said !== '', false)
    said += 'x'
    return writes === 3
  }, 'some writes')
  const most = Math.ceil((performance.now() - begunAt) / 250) + 1
  assert.ok(writes <= most, `${writes} of ${most}`)
  const kept = (): Task => JSON.parse(shared.memory.list('tasks', 'ann', 1)[0]!.value)
  one.tasks.addPiece(id, { id: 'a', parts: [{ type: 'text', text: '.' }] }, true, true)
  one.tasks.move(id, 'input-required')
  await one.tasks.whenPersisted(id)
  assert.deepEqual(kept().artifacts[0]?.parts, [{ type: 'text', text: `${said}.` }])
})

test('for how long a process is dead is counted anew once nothing is known of it, or it lived', async (t) => {
  const shared = sharedMemory()
  const { recovery, store } = await processOn(t, shared, 300)
  const seen: number[] = []
  t.mock.method(recovery, 'decideRecovery', (_task: Task, sinceMs: number) => {
    seen.push(sinceMs)
    return 'later'
  })
  const dead = 'dead-one'
  const at = { owner: '~', key: dead }
  const member = { ...at, collection: 'members' }
  const lease = { ...at, collection: 'leases' }
  const { memory } = shared
  const task: Task = { ...taskOf(seed, AT, { state: 'working', at: AT }), node: dead }
  memory.write({ collection: 'tasks', owner: 'ann', key: task.id }, JSON.stringify(task), Infinity, 0)
  memory.write(runKeyOf(dead, task), formatRun(task), Infinity, 0)
  memory.write(member, '', Infinity, 0)
  /** Until all processes were looked at once more, from the first to the last. */
  const looked = async (): Promise<void> => {
    const listed = (): number => store.asked.get('list') ?? 0
    const before = listed()
    await eventually(() => listed() >= before + 6)
  }
  const ways: readonly (readonly [what: string, come: () => unknown, go: () => unknown])[] = [
    ['forgotten', () => memory.remove(member, 'any'), () => memory.write(member, '', Infinity, 'any')],
    ['alive', () => memory.write(lease, '', Infinity, 'any'), () => memory.remove(lease, 'any')],
  ]
  for (const [what, come, go] of ways) {
    const count = seen.length
    await eventually(() => seen.length > count + 1 && seen.at(-1)! > 0)
    come()
    await looked()
    const known = seen.length
    const from = performance.now()
    go()
    await eventually(() => seen.length > known)
    const passedMs = performance.now() - from
    assert.ok(seen[known]! <= passedMs, `${what}: ${seen[known]} of ${passedMs} ms`)
  }
})

test('what a process leaves is taken over until nothing is left, at once where it was closed', async (t) => {
  const shared = sharedMemory()
  const gone = await processOn(t, shared, 60_000)
  gone.nodes.keepName()
  await gone.nodes.close(true)
  const next = await processOn(t, shared, 8_000)
  const name = (): string | undefined => (
    shared.memory.list('members', '~', 10).find(({ key }) => key === gone.nodes.id)?.value
  )
  assert.equal(name(), 'closed')
  const left = ['one', 'two']
  next.nodes.onDead(async (node) => node === gone.nodes.id && left.pop() !== undefined)
  await eventually(() => name() === 'gone')
  assert.deepEqual([left, next.nodes.mayJudge], [[], false])
})
