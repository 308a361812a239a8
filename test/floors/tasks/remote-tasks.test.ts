import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { RemoteTasks } from '../../../lib/floors/tasks/remote-tasks.ts'
import { TaskRecovery } from '../../../lib/floors/tasks/task-recovery.ts'
import { eventually } from '../../fixtures/wire.ts'
import { processNamed, sharedStore, tasksOn } from '../../fixtures/shared-store.ts'
import { keepingTimers } from '../../fixtures/time.ts'
import type { Tasks } from '../../../lib/floors/tasks/tasks.ts'
import type { Content, Store } from '../../../lib/index.ts'
import type { SharedStore } from '../../fixtures/shared-store.ts'
import type {
  Acceptor, ChannelListener, PeerChannel, PeerChannels,
} from '../../../lib/floors/shared/peer-channels.ts'
import type { RunningTask, Task, TaskEvent, TaskMessage } from '../../../lib/floors/tasks/task.ts'
import type { TaskSurroundings } from '../../../lib/floors/tasks/task-recovery.ts'

/** What another process hears that asks for a task to be cancelled here, and whether it was. */
async function cancelled(tasks: Partial<Record<keyof Tasks, unknown>>): Promise<readonly unknown[]> {
  const takes = new Map<string, Acceptor>()
  const on = (kind: string, take: Acceptor): unknown => takes.set(kind, take)
  const lines = { on } as unknown as PeerChannels
  let isCancelled = false
  const run = { cancel: () => { isCancelled = true } }
  const here = { runOf: () => run, whenPersisted: () => undefined, ...tasks } as unknown as Tasks
  new RemoteTasks({ tasks: here } as TaskSurroundings, lines, {} as TaskRecovery)
  const heard = await new Promise((resolve) => {
    takes.get('task-act')!(['cancel', 'ann', 't'], {
      node: 'other', send: resolve, end: () => resolve('the end'),
    })
  })
  return [heard, isCancelled]
}

test('who asks for a task hears whether it was done, and nothing where that cannot be said now', async () => {
  assert.deepEqual(await cancelled({ get: () => ({ id: 't' }) }), ['done', true])
  assert.deepEqual(await cancelled({ get: () => undefined }), ['gone', false])
  assert.deepEqual(await cancelled({ runOf: () => undefined }), ['gone', false])
  const away = new Fault('busy', 'The store does not answer')
  assert.deepEqual(await cancelled({ get: () => Promise.reject(away) }), ['the end', false])
})

test('what others change all the time is tried five times', async () => {
  let version = 0
  let tries = 0
  const task = { id: 't', owner: 'ann', status: { state: 'working' } } as Task
  const at = {
    tasks: { get: () => ({ ...task }), runOf: () => undefined },
    stored: { has: () => true, versionOf: () => ++version },
    cluster: { id: 'here' },
  } as unknown as TaskSurroundings
  const recovery = { end: async () => {
    tries += 1
    return false
  } } as unknown as TaskRecovery
  const remote = new RemoteTasks(at, { on() {} } as unknown as PeerChannels, recovery)
  await assert.rejects(remote.cancel(task), { kind: 'busy' })
  assert.equal(tries, 5)
})

const copy = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Processes that hear each other at once, in order, until one of them is cut off. */
class Network {
  readonly processes = new Map<string, Map<string, Acceptor>>()
  readonly cut = new Set<string>()
  readonly opened: (readonly [kind: string, request: unknown])[] = []
  readonly #ends: (() => void)[] = []

  channelsOf(name: string): PeerChannels {
    const accepts = new Map<string, Acceptor>()
    this.processes.set(name, accepts)
    const open = (node: string, kind: string, request: unknown, listener: ChannelListener): PeerChannel => {
      this.opened.push([kind, request])
      interface Side { listener: ChannelListener | undefined; isOpen: boolean }
      const near: Side = { listener, isOpen: true }
      const far: Side = { listener: undefined, isOpen: true }
      const lose = (): void => {
        if (!near.isOpen || !this.cut.has(node)) return
        near.isOpen = false
        listener.onLost?.()
      }
      this.#ends.push(lose)
      const later = (act: () => void): void => {
        setImmediate(() => this.cut.has(node) ? lose() : act())
      }
      const channelOf = (from: Side, to: Side, at: string): PeerChannel => ({
        node: at,
        send: (value) => {
          if (from.isOpen) later(() => { if (to.isOpen) to.listener?.onMessage?.(copy(value)) })
        },
        end: () => {
          if (!from.isOpen) return
          from.isOpen = false
          later(() => {
            if (!to.isOpen) return
            to.isOpen = false
            to.listener?.onEnd?.()
          })
        },
      })
      later(() => {
        const channel = channelOf(far, near, name)
        far.listener = this.processes.get(node)?.get(kind)?.(copy(request), channel)
        if (far.listener === undefined) channel.end()
      })
      return channelOf(near, far, node)
    }
    const ask = (node: string, kind: string, request: unknown): Promise<unknown> => (
      new Promise((resolve, reject) => {
        if (this.cut.has(node)) return reject(new Fault('not-found', 'It is dead'))
        const late = new Fault('busy', 'Late')
        open(node, kind, request, { onMessage: resolve, onEnd: () => reject(late) })
      })
    )
    const on = (kind: string, take: Acceptor): unknown => accepts.set(kind, take)
    return { on, open, ask } as unknown as PeerChannels
  }

  /** A process dies. */
  kill(name: string): void {
    this.cut.add(name)
    for (const end of this.#ends) end()
  }
}

interface Process {
  readonly tasks: Tasks
  readonly remote: RemoteTasks
  readonly recovery: TaskRecovery
  readonly cluster: { beatMs: number }
}

function processOn(network: Network, store: Store, name: string): Process {
  const cluster = processNamed(name)
  const limits = limitsOf({})
  const tasks = tasksOn(store, cluster, limits)
  const at = { tasks, stored: tasks.stored!, cluster, workload: { isFull: false }, limits, log() {} }
  const recovery = new TaskRecovery(at)
  return { tasks, recovery, cluster, remote: new RemoteTasks(at, network.channelsOf(name), recovery) }
}

/** Two processes, and a task that works at the first. */
async function apart(): Promise<{
  network: Network, store: SharedStore, one: Process, two: Process, id: string, heard: unknown[]
}> {
  const network = new Network()
  const store = sharedStore()
  const [one, two] = [processOn(network, store, 'one'), processOn(network, store, 'two')]
  const heard: unknown[] = []
  const run: RunningTask = {
    onSettled() {}, lose() {},
    answer: (answers) => { heard.push(Object.fromEntries(answers)) },
    refuse: (key, { message }) => { heard.push([key, message]) },
    cancel: () => {
      heard.push('cancel')
      one.tasks.move(id, 'canceled')
    },
  }
  const { id } = await one.tasks.create({
    owner: 'ann', protocol: 'a2a', runnable: { kind: 'agent', name: 'bot' }, contextId: 'c',
    sessionId: undefined, ttlMs: undefined,
  }, run)
  one.tasks.move(id, 'working')
  await one.tasks.whenPersisted(id)
  return { network, store, one, two, id, heard }
}

/** Follows a task; what is heard of it, and what ends that. */
async function followed({ remote, tasks }: Process, id: string): Promise<{ said: string[]; stop(): void }> {
  const said: string[] = []
  const tell = (task: Task): string => `${task.status.state} ${task.artifacts.map((one) => one.id).join()}`
  const task = await tasks.get('ann', id) as Task
  const stop = remote.follow(task, (now) => { said.push(`begin ${tell(now)}`) }, (event, after) => {
    said.push(`${event.what} ${tell(after.task)}`)
  })
  return { said, stop }
}

const text = (said: string): Content => ({ type: 'text', text: said })
const asked = [{ key: 'name', question: { what: 'roots' as const } }]

test('a task is followed where it runs, from as it stands to its end, which is kept by then', async () => {
  const { network, one, two, id } = await apart()
  const here = await followed(one, id)
  const there = await followed(two, id)
  await eventually(() => there.said.length === 1 && here.said.length === 1)
  one.tasks.addArtifact(id, { id: 'a', parts: [text('1')] })
  one.tasks.move(id, 'input-required', { questions: asked })
  await eventually(async () => {
    if (there.said.length < 3) return false
    assert.equal((await two.tasks.get('ann', id))?.status.state, 'input-required')
    return true
  })
  one.tasks.move(id, 'completed', { questions: [] })
  const all = [
    'begin working ', 'artifact working a', 'status input-required a', 'status completed a',
  ]
  await eventually(() => there.said.length === 4 && here.said.length === 4)
  assert.deepEqual([there.said, here.said], [all, all])
  assert.equal((await two.tasks.get('ann', id))?.status.state, 'completed')
  assert.deepEqual(network.opened, [['task-watch', ['ann', id]]])
  // Whoever comes later gets the end, and nothing more.
  const late = await followed(two, id)
  await eventually(() => late.said.length > 0)
  assert.deepEqual(late.said, ['begin completed a'])
  // Nor is anything looked up or told after it.
  for (const { remote } of [one, two]) remote.stopWatchers()
  await new Promise((resolve) => setTimeout(resolve, 5 * two.cluster.beatMs))
  assert.deepEqual([there.said, here.said, late.said.length, network.opened.length], [all, all, 1, 1])
})

test('who leaves hears nothing more, whenever that is', async () => {
  const { one, two, id } = await apart()
  const first = await followed(two, id)
  first.stop()
  const all = [first, await followed(two, id), await followed(one, id)]
  await eventually(() => all[1]!.said.length === 1 && all[2]!.said.length === 1)
  for (const { stop } of all) stop()
  one.tasks.move(id, 'completed')
  await new Promise((resolve) => setTimeout(resolve, 30))
  assert.deepEqual(all.map(({ said }) => said), [[], ['begin working '], ['begin working ']])
})

test('a process is not kept by those who wait to follow a task', async () => {
  const { two, store, id } = await apart()
  const task = await two.tasks.get('ann', id) as Task
  const before = keepingTimers()
  store.read = () => Promise.reject(new Error('away'))
  const stop = two.remote.follow(task, () => assert.fail('begun'), () => assert.fail('told'))
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(keepingTimers(), before)
  stop()
})

test('a task of another owner is followed nowhere, nor is anything done to it', async () => {
  const { network, one, two, id, heard } = await apart()
  const told: unknown[] = []
  const accept = network.processes.get('one')!
  const requests = [
    ['cancel', 'bob', id], ['answer', 'bob', id, [['name', 1]]], ['refuse', 'bob', id, ['a', 'b']],
  ]
  for (const request of requests) {
    accept.get('task-act')!(request, { node: 'two', send: (word) => { told.push(word) }, end() {} })
  }
  accept.get('task-watch')!(['bob', id], {
    node: 'two', send: (word) => { told.push(word) }, end: () => { told.push('end') },
  })
  assert.equal(accept.get('task-watch')!(['ann', 'unknown'], { node: 'two', send() {}, end() {} }), undefined)
  await eventually(() => told.length === 4)
  assert.deepEqual([told.toSorted(), heard], [['end', 'gone', 'gone', 'gone'], []])
  assert.equal((await two.tasks.get('ann', id))?.status.state, 'working')
  assert.equal(await one.tasks.get('bob', id), undefined)
})

test('cancels, answers and refusals go to the process that runs the task, and are kept by then', async () => {
  const { one, two, store, id, heard } = await apart()
  one.tasks.move(id, 'input-required', { questions: asked })
  await one.tasks.whenPersisted(id)
  const task = await two.tasks.get('ann', id) as Task
  const { write } = store
  store.write = (key, ...rest) => {
    assert.notEqual(key.owner, '~two', 'The other process takes the task')
    return write(key, ...rest)
  }
  assert.equal(two.remote.nodeOf(task), 'one')
  assert.equal(one.remote.nodeOf(task), undefined)
  assert.equal(one.remote.nodeOf({ ...task, id: 'gone' }), undefined)
  await two.remote.answer(task, new Map([['name', 'Ann']]))
  await two.remote.refuse(task, 'name', 'no')
  await two.remote.cancel(task)
  assert.deepEqual(heard, [{ name: 'Ann' }, ['name', 'no'], 'cancel'])
  const ended = await two.tasks.get('ann', id) as Task
  assert.deepEqual([ended.status.state, two.remote.nodeOf(ended)], ['canceled', undefined])
})

test('a message is taken once, by a task that waits for it', async () => {
  const { one, two, id } = await apart()
  const message = (at: string): TaskMessage => ({ id: at, role: 'user', parts: [text('Hi')] })
  const working = await two.tasks.get('ann', id) as Task
  assert.equal(await two.remote.deliver(working, message('m-1')), 'late')
  one.tasks.move(id, 'input-required')
  await one.tasks.whenPersisted(id)
  const task = await two.tasks.get('ann', id) as Task
  assert.equal(await two.remote.deliver(task, message('m-1')), 'done')
  assert.equal(await two.remote.deliver(task, message('m-1')), 'late')
  assert.equal(await two.remote.deliver(task, message('m-2')), 'done')
  const { history } = await two.tasks.get('ann', id) as Task
  assert.deepEqual(history.map((one) => one.id), ['m-1', 'm-2'])
  one.tasks.move(id, 'completed')
  await one.tasks.whenPersisted(id)
  assert.equal(await two.remote.deliver(task, message('m-3')), 'gone')
})

test('who follows a task of a dead process is shown it once where it waits, and its end', async () => {
  const { network, one, two, id } = await apart()
  one.tasks.move(id, 'input-required', { questions: asked })
  await one.tasks.whenPersisted(id)
  network.kill('one')
  const there = await followed(two, id)
  await eventually(() => there.said.length === 1)
  // It is looked for again and again.
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.deepEqual(there.said, ['begin input-required '])
  assert.ok(await two.recovery.end(await two.tasks.get('ann', id) as Task, 'failed'))
  // It may be looked for while it has been taken and not ended yet: then it is shown as it waits there, too.
  await eventually(() => there.said.at(-1)!.endsWith(' failed '))
  assert.ok(there.said.slice(0, -1).every((one) => one === 'begin input-required '), there.said.join())
})

test('who follows a task goes with it to the process that takes it', async () => {
  const { network, one, two, id } = await apart()
  const there = await followed(two, id)
  const here = await followed(one, id)
  await eventually(() => there.said.length === 1 && here.said.length === 1)
  await two.tasks.take(await two.tasks.get('ann', id) as Task)
  // The first process hears of it.
  await one.tasks.stored!.recheck()
  await eventually(() => there.said.length === 2 && here.said.length === 2)
  // What they followed before has ended meanwhile, and brings them no second time.
  await new Promise((resolve) => setTimeout(resolve, 40))
  two.tasks.move(id, 'completed')
  await eventually(() => there.said.length === 3 && here.said.length === 3)
  const all = ['begin working ', 'begin working ', 'status completed ']
  assert.deepEqual([there.said, here.said], [all, all])
  const watch = ['task-watch', ['ann', id]]
  assert.deepEqual(network.opened, [watch, watch])
})

test('a task that was taken and has no run yet is asked for here, not where it was before', async () => {
  const { network, one, two, id, heard } = await apart()
  await two.tasks.take(await two.tasks.get('ann', id) as Task)
  const task = await two.tasks.get('ann', id) as Task
  assert.deepEqual([task.node, two.remote.nodeOf(task)], ['one', undefined])
  await two.remote.cancel(task)
  assert.deepEqual([network.opened, heard], [[], []])
  assert.equal((await one.tasks.stored!.get('ann', id))?.status.state, 'canceled')
})

test('who follows what is gone, or at a process that closes, hears that no more comes', async () => {
  const { one, two, id } = await apart()
  const there = await followed(two, id)
  await eventually(() => there.said.length === 1)
  two.remote.stopWatchers()
  assert.deepEqual(there.said, ['begin working ', 'forgotten working '])
  one.tasks.addArtifact(id, { id: 'a', parts: [text('1')] })
  await new Promise((resolve) => setTimeout(resolve, 30))
  assert.equal(there.said.length, 2)
  two.remote.stopWatchers()
  assert.equal(there.said.length, 2)
  const task = await two.tasks.get('ann', id) as Task
  await one.tasks.drop(id)
  const said: string[] = []
  two.remote.follow(task, () => { said.push('begin') }, ({ what }) => { said.push(what) })
  await eventually(() => said.length > 0)
  assert.deepEqual(said, ['forgotten'])
})

/** What another process is sent that follows a task of the first. */
function watchedAt(
  { network, id }: { readonly network: Network; readonly id: string },
): { readonly said: string[]; readonly listener: ChannelListener } {
  const said: string[] = []
  const listener = network.processes.get('one')!.get('task-watch')!(['ann', id], {
    node: 'two',
    send(value) {
      const [event, task] = value as readonly [TaskEvent | null, Task?]
      const state = task === undefined ? '' : ` ${task.status.state} of ${task.node}`
      said.push(`${event?.what ?? 'as it stands:'}${state}`)
    },
    end: () => { said.push('end') },
  })
  assert.ok(listener)
  return { said, listener }
}

test('that a task waits is sent when it is kept, and what comes behind it after that', async () => {
  const at = await apart()
  const { one, store, id } = at
  const { said } = watchedAt(at)
  const writes: (() => void)[] = []
  const { write } = store
  store.write = (...all) => new Promise<void>((resolve) => { writes.push(resolve) }).then(() => write(...all))
  const rest = async (): Promise<void> => { await new Promise((resolve) => setTimeout(resolve, 5)) }
  const all = ['as it stands: working of one']
  assert.deepEqual(said, all)
  one.tasks.move(id, 'working')
  one.tasks.move(id, 'input-required')
  void one.tasks.addArtifact(id, { id: 'a', parts: [text('1')] })
  one.tasks.move(id, 'working')
  all.push('status working of one')
  await rest()
  assert.deepEqual(said, all)
  /** Lets all be written until so many were sent. */
  const sent = (count: number): Promise<void> => eventually(() => {
    for (const go of writes.splice(0)) go()
    return said.length >= count
  })
  all.push('status input-required of one', 'artifact', 'status working of one')
  await sent(all.length)
  assert.deepEqual(said, all)
  // Nothing is behind any more: what follows goes at once.
  void one.tasks.addArtifact(id, { id: 'a', parts: [text('2')] })
  assert.deepEqual(said.splice(all.length), ['artifact'])
  // Of two that are behind, the first has been sent: what follows waits for the second.
  for (const state of ['input-required', 'auth-required'] as const) {
    one.tasks.move(id, state)
    await rest()
  }
  writes.shift()!()
  await rest()
  void one.tasks.addArtifact(id, { id: 'a', parts: [text('3')] })
  assert.deepEqual(said.splice(all.length), ['status input-required of one'])
  await sent(all.length + 2)
  assert.deepEqual(said.splice(all.length), ['status auth-required of one', 'artifact'])
  one.tasks.move(id, 'completed')
  await rest()
  assert.equal(said.length, all.length)
  await sent(all.length + 2)
  assert.deepEqual(said.splice(all.length), ['status completed of one', 'end'])
})

test('who follows is sent an end where no more comes, and nothing after it has left', async () => {
  for (const way of ['forgotten', 'onEnd', 'onLost'] as const) {
    const at = await apart()
    const { said, listener } = watchedAt(at)
    if (way === 'forgotten') at.one.tasks.stopWatchers()
    else listener[way]?.()
    at.one.tasks.move(at.id, 'completed')
    await at.one.tasks.whenPersisted(at.id)
    assert.deepEqual(said.slice(1), way === 'forgotten' ? ['forgotten working of one', 'end'] : [], way)
  }
})

test('who wants to follow a task that is ending hears that no more comes when that is kept', async () => {
  const at = await apart()
  let go = (): void => {}
  const { write } = at.store
  at.store.write = (...all) => new Promise<void>((resolve) => { go = resolve }).then(() => write(...all))
  at.one.tasks.move(at.id, 'completed')
  await new Promise((resolve) => setTimeout(resolve, 5))
  const { said } = watchedAt(at)
  assert.deepEqual(said, [])
  go()
  await eventually(() => said.length > 0)
  assert.deepEqual(said, ['end'])
  assert.equal((await at.two.tasks.get('ann', at.id))?.status.state, 'completed')
})

test('code that follows and throws is a warning, and follows no more', async () => {
  for (const way of ['here', 'there'] as const) {
    const { one, two, id } = await apart()
    const { remote, tasks } = way === 'here' ? one : two
    if (way === 'there') {
      one.tasks.move(id, 'completed')
      await one.tasks.whenPersisted(id)
    }
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
    let begun = 0
    remote.follow(await tasks.get('ann', id) as Task, () => {
      begun += 1
      throw new Error(`No more ${way}`)
    }, () => { begun += 1 })
    assert.equal((await warned).message, `No more ${way}`)
    one.tasks.move(id, 'completed')
    await one.tasks.whenPersisted(id)
    remote.stopWatchers()
    assert.equal(begun, 1, way)
  }
})

test('a process that does not know a task is asked twice, and then once with each beat', async (t) => {
  const { one, two, network, store, id } = await apart()
  const task = await two.tasks.get('ann', id) as Task
  await one.tasks.drop(id)
  await store.write({ collection: 'tasks', owner: 'ann', key: id }, JSON.stringify(task), Infinity, 'any')
  two.cluster.beatMs = 60_000
  const there = await followed(two, id)
  t.after(there.stop)
  await eventually(() => network.opened.length === 2)
  await new Promise((resolve) => setTimeout(resolve, 30))
  assert.deepEqual([network.opened.length, there.said], [2, []])
})

test('where a followed task has gone is looked up once, however long that takes', async (t) => {
  const { one, two, network, store, id } = await apart()
  const there = await followed(two, id)
  t.after(there.stop)
  await eventually(() => there.said.length === 1)
  const { read } = store
  let looks = 0
  store.read = async (key) => {
    looks += 1
    await new Promise((resolve) => setTimeout(resolve, 5 * two.cluster.beatMs))
    return read(key)
  }
  one.tasks.stopWatchers()
  await eventually(() => there.said.length === 2)
  await new Promise((resolve) => setTimeout(resolve, 10 * two.cluster.beatMs))
  assert.deepEqual([looks, network.opened.length], [1, 2])
  assert.deepEqual(there.said, ['begin working ', 'begin working '])
})

test('what a process cannot say now is not done by another in its place', async () => {
  const { one, two, store, id } = await apart()
  one.tasks.move(id, 'input-required', { questions: asked })
  await one.tasks.whenPersisted(id)
  const task = await two.tasks.get('ann', id) as Task
  store.read = () => Promise.reject(new Error('away'))
  const message: TaskMessage = { id: 'm', role: 'user', parts: [text('Hi')] }
  await assert.rejects(two.remote.deliver(task, message), { kind: 'busy' })
  await assert.rejects(two.remote.answer(task, new Map([['name', 'Ann']])), { kind: 'busy' })
  await assert.rejects(two.remote.refuse(task, 'name', 'no'), { kind: 'busy' })
})

test('a task that no process says it has is looked for until it has ended', async () => {
  const { one, two, store, id } = await apart()
  const task = await two.tasks.get('ann', id) as Task
  const key = { collection: 'tasks', owner: 'ann', key: id }
  await one.tasks.drop(id)
  const { node: _node, ...unnamed } = task
  await store.write(key, JSON.stringify(unnamed), Infinity, 'any')
  const warnings: Error[] = []
  const warned = (warning: Error): void => { warnings.push(warning) }
  process.on('warning', warned)
  const there = await followed(two, id)
  await new Promise((resolve) => setTimeout(resolve, 30))
  assert.deepEqual(there.said, [])
  // Nor is it lost where the store does not answer for a while.
  const { read } = store
  store.read = () => Promise.reject(new Error('away'))
  await new Promise((resolve) => setTimeout(resolve, 30))
  store.read = read
  const ended = { ...unnamed, status: { state: 'failed', at: task.status.at } }
  await store.write(key, JSON.stringify(ended), Infinity, 'any')
  await eventually(() => there.said.length > 0)
  process.off('warning', warned)
  assert.deepEqual([there.said, warnings], [['begin failed '], []])
})
