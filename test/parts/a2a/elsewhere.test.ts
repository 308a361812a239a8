// Tasks that run at one process, asked about at another.
import assert from 'node:assert/strict'
import test from 'node:test'
import { eventually, gate } from '../../fixtures/client.ts'
import { mortal, patient, sharedMemory } from '../../fixtures/fleet.ts'
import { callerOf, sumOf, tellOf } from './caller.ts'
import type { TestContext } from 'node:test'
import type { Call, Content, Store, StoreKey } from '../../../lib/index.ts'
import type { Caller } from './caller.ts'

test('what happens to a task is heard at any process, in order, from the moment of asking', async (t) => {
  const shared = sharedMemory()
  const [first, second] = [gate(), gate()]
  const run = async function * (): AsyncGenerator<string> {
    yield 'one '
    await first.promise
    yield 'two '
    await second.promise
    yield 'three'
  }
  const one = callerOf(t, run, { store: shared.connect(), ...patient })
  const other = callerOf(t, run, { store: shared.connect(), ...patient })
  const { id } = await one.task('hello', { isBlocking: false })
  await eventually(async () => (await one.get(id)).artifacts?.length === 1)
  const here = await one.subscribe(id)
  const there = await other.subscribe(id)
  const begun = [await here.next(), await there.next()]
  assert.deepEqual(tellOf(begun[1]!), tellOf(begun[0]!))
  first.open()
  second.open()
  assert.deepEqual((await there.rest()).map(tellOf), (await here.rest()).map(tellOf))
  assert.equal(sumOf(await other.get(id)), 'completed: one two three')
})

test('a task is cancelled by way of any process, where it runs', async (t) => {
  const shared = sharedMemory()
  let aborted = 0
  const run = (_prompt: string, call: Call): Promise<string> => new Promise((_resolve, reject) => {
    call.signal.addEventListener('abort', () => {
      aborted += 1
      reject(call.signal.reason)
    })
  })
  const one = callerOf(t, run, { store: shared.connect(), ...patient })
  const other = callerOf(t, run, { store: shared.connect(), ...patient })
  const { id } = await one.task('hello', { isBlocking: false })
  assert.equal((await other.cancel(id)).status.state, 'canceled')
  await eventually(() => aborted === 1)
  assert.equal((await one.get(id)).status.state, 'canceled')
})

/** An agent that answers when its gate opens, at two processes: what the other says waits at a gate, too. */
function farApart(t: TestContext, leaseMs: number): {
  readonly work: ReturnType<typeof gate<void>>
  readonly way: ReturnType<typeof gate<void>>
  readonly one: Caller
  readonly other: Caller
} {
  const shared = sharedMemory()
  const [work, way] = [gate(), gate()]
  const run = async (): Promise<string> => {
    await work.promise
    return 'done'
  }
  const store = shared.connect()
  const slow: Store = { ...store, publish: async (...all) => {
    await way.promise
    return store.publish(...all)
  } }
  const one = callerOf(t, run, { store: shared.connect(), ...patient, leaseMs })
  const other = callerOf(t, run, { store: slow, ...patient, leaseMs })
  return { work, way, one, other }
}

test('a cancel that comes late to the process of the task says that the task has ended', async (t) => {
  const { work, way, one, other } = farApart(t, 8_000)
  const { id } = await one.task('hello', { isBlocking: false })
  assert.equal((await other.get(id)).status.state, 'working')
  const canceling = other.cancel(id)
  // It has read the task by then.
  await other.get(id)
  work.open()
  await eventually(async () => (await other.get(id)).status.state === 'completed')
  way.open()
  await assert.rejects(canceling, { code: -32002 })
})

test('who asks for a task at another process as it ends is told at once', async (t) => {
  // Nobody looks again by himself for longer than a test waits.
  const { work, way, one, other } = farApart(t, 400_000)
  const { id } = await one.task('hello', { isBlocking: false })
  const events = await other.subscribe(id)
  let heard = ''
  const listening = events.rest().then((all) => { heard = all.map(tellOf).join() })
  await other.get(id)
  work.open()
  await eventually(async () => (await other.get(id)).status.state === 'completed')
  way.open()
  await eventually(() => heard !== '', 'it is told')
  assert.equal(heard, 'task completed: done')
  await listening
})

test('who listens at another process hears that the one that ran the task has died', async (t) => {
  const shared = sharedMemory()
  const store = shared.connect()
  t.after(() => { store.isCut = false })
  const run = (): Promise<string> => new Promise(() => {})
  const one = callerOf(t, run, { store, ...mortal })
  const other = callerOf(t, run, { store: shared.connect(), ...mortal })
  const { id } = await one.task('hello', { isBlocking: false })
  const events = await other.subscribe(id)
  assert.match(tellOf((await events.next())!), /working/)
  store.isCut = true
  const rest = await events.rest()
  assert.match(tellOf(rest.at(-1)!), /^failed/)
  assert.ok(rest.every(({ what }) => what !== 'task'), rest.map(tellOf).join())
  assert.equal((await other.get(id)).status.state, 'failed')
})

const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const

/** Two processes of one agent that asks for names until it has heard enough of them, and how often it ran. */
function asking(t: TestContext, names: number, options = patient): {
  readonly callers: readonly Caller[]
  readonly runs: () => number
  readonly cut: () => void
} {
  const shared = sharedMemory()
  const connections = [shared.connect(), shared.connect()]
  let runs = 0
  const run = async function * (_prompt: string, call: Call): AsyncGenerator<string> {
    runs += 1
    for (let n = 1; n <= names; n++) {
      const { content } = await call.elicit({ message: `Name ${n}?`, schema: form })
      yield `${String(content?.['name'])} `
    }
  }
  t.after(() => { connections[0]!.isCut = false })
  return {
    callers: connections.map((store) => callerOf(t, run, { store, ...options })),
    runs: () => runs,
    cut: () => { connections[0]!.isCut = true },
  }
}

test('an answer is brought to the run that waits for it, at whatever process it comes', async (t) => {
  const { callers: [one, other], runs } = asking(t, 2)
  const { id } = await one!.task('hello', { id: 'm-1' })
  const again = await other!.task('Ann', { taskId: id, id: 'm-2' })
  assert.equal(sumOf(again), 'input-required (Name 2?|{"schema":' + JSON.stringify(form) + '}): Ann ')
  const ids = again.history?.map((message) => message.id)
  assert.deepEqual(ids?.filter((one) => /^m-/.test(one)), ['m-1', 'm-2'])
  assert.equal(sumOf(await other!.task('Bob', { taskId: id, id: 'm-3' })), 'completed: Ann Bob ')
  assert.equal(sumOf(await one!.get(id)), 'completed: Ann Bob ')
  assert.equal(runs(), 1)
})

test('who answers at another process may stream what follows', async (t) => {
  const { callers: [one, other], runs } = asking(t, 2)
  const { id } = await one!.task('hello')
  const events = (await (await other!.stream('Ann', { taskId: id })).rest()).map(tellOf)
  assert.match(events[0]!, /^task working|^task input-required/)
  assert.match(events.at(-1)!, /input-required \(Name 2\?/)
  // It ended there, though the process that it came by does not run the task.
  const last = (await (await other!.stream('Bob', { taskId: id })).rest()).map(tellOf)
  assert.match(last.at(-1)!, /completed/)
  assert.equal(runs(), 1)
})

test('a message that answers nothing is asked again where the run is, and is in the history', async (t) => {
  const { callers: [one, other], runs } = asking(t, 1)
  const { id } = await one!.task('hello')
  const nothing: readonly Content[] = [{ type: 'data', data: { other: 1 } }]
  const still = await other!.task(nothing, { taskId: id, id: 'm-2' })
  assert.match(sumOf(still), /^input-required \(Name 1\?\|.*\|The answer does not fit the form: name: is /)
  assert.equal(still.history?.filter((message) => message.id === 'm-2').length, 1)
  const events = (await (await other!.stream(nothing, { taskId: id })).rest()).map(tellOf)
  assert.equal(events.length, 1, events.join())
  await assert.rejects(other!.task(nothing, { taskId: id, id: 'm-2' }), /was sent before/)
  assert.equal(sumOf(await other!.task('Ann', { taskId: id, id: 'm-2' })), 'completed: Ann ')
  assert.equal(runs(), 1)
})

test('of answers that come at once at several processes one is taken', async (t) => {
  const { callers, runs } = asking(t, 1)
  const { id } = await callers[0]!.task('hello')
  const said = ['Ann', 'Bob', 'Cid', 'Dan'].map((name, n) => callers[n % 2]!.task(name, { taskId: id }))
  const settled = await Promise.allSettled(said)
  const taken = settled.filter((one) => one.status === 'fulfilled')
  assert.equal(taken.length, 1, JSON.stringify(settled))
  for (const one of settled) {
    if (one.status === 'rejected') assert.match(String(one.reason.detail), /quicker|is completed|is working/)
  }
  assert.equal(runs(), 1)
})

test('where the run has died with its process, an answer begins it again', async (t) => {
  const { callers: [one, other], runs, cut } = asking(t, 2, mortal)
  const { id } = await one!.task('hello')
  cut()
  // The lease of its process has to be over before anybody may go on.
  await eventually(async () => {
    const answer = await other!.task('Ann', { taskId: id }).catch((error: unknown) => {
      assert.match(String(error), /-32\d+ .*try again|quicker/)
    })
    return answer !== undefined
  })
  assert.equal(sumOf(await other!.task('Bob', { taskId: id })), 'completed: Ann Bob ')
  assert.equal(runs(), 2)
})

test('that a task waits is written again where the store failed, so that any process knows', async (t) => {
  const shared = sharedMemory()
  const held = gate()
  const run = async (prompt: string): Promise<unknown> => {
    if (prompt !== 'hello') return `went ${prompt}`
    await held.promise
    return { state: 'input-required', text: 'Where to?' }
  }
  const store = shared.connect()
  let refused = 0
  // Each write of a task fails until the first that is written again.
  const failing: Store = {
    ...store,
    write: (place, value, ...more) => {
      if (!place.collection.endsWith('/tasks') || !value.includes('input-required') || refused === 2) {
        return store.write(place, value, ...more)
      }
      refused++
      return Promise.reject(new Error('read ECONNRESET'))
    },
  }
  const one = callerOf(t, run, { store: failing, ...mortal })
  const other = callerOf(t, run, { store: shared.connect(), ...mortal })
  const { id } = await one.task('hello', { isBlocking: false })
  held.open()
  await eventually(async () => (await one.get(id)).status.state === 'input-required')
  assert.equal((await other.get(id)).status.state, 'working')
  await eventually(async () => (await other.get(id)).status.state === 'input-required')
  assert.equal(refused, 2)
  assert.equal(sumOf(await other.task('on', { taskId: id })), 'completed: went on')
})

test('whichever access to a task fails, its stream ends, and what was begun goes on', async (t) => {
  const shared = sharedMemory()
  const run = async function * (prompt: string): AsyncGenerator<unknown> {
    yield `${prompt} `
    await new Promise((resolve) => { setTimeout(resolve, 5) })
    yield prompt === 'ask' ? { state: 'input-required', text: 'Where to?' } : 'there'
  }
  const store = shared.connect()
  let left = Infinity
  const act = <T>({ collection }: StoreKey, work: () => Promise<T>): Promise<T> => (
    collection.endsWith('/tasks') && left-- === 0 ? Promise.reject(new Error('read ECONNRESET')) : work()
  )
  const failing: Store = {
    ...store,
    read: (place) => act(place, async () => store.read(place)),
    write: (place, ...more) => act(place, async () => store.write(place, ...more)),
  }
  const sure = callerOf(t, run, { store: shared.connect(), ...mortal })
  const here = callerOf(t, run, { store: failing, ...mortal })
  const elsewhere = callerOf(t, run, { store: failing, ...mortal })
  const rows: readonly (readonly [what: string, by: Caller, first: Caller | undefined])[] = [
    ['a new task', here, undefined], ['one that waits here', here, here],
    ['one that waits elsewhere', elsewhere, here],
  ]
  for (const [what, by, first] of rows) {
    let isOver = false
    for (let works = 0; !isOver; works++) {
      const waiting = await first?.task('ask')
      left = works
      let id = waiting?.id
      const stream = by.stream('go', id === undefined ? {} : { taskId: id })
      const told = await stream.then((heard) => heard.rest()).then((events) => {
        const [begun] = events
        if (begun?.what === 'task') id = begun.task.id
        return events.map(tellOf)
      }, (error: unknown) => [String(error)])
      isOver = left >= 0
      left = Infinity
      assert.match(told.at(-1)!, isOver ? /^completed$/ : /^completed$|^Error: -32603 /, `${what}, ${works}`)
      if (told.length > 1) await eventually(async () => sumOf(await sure.get(id!)).startsWith('completed'))
    }
  }
})
