// Tasks that run at one process, asked about at another.
import assert from 'node:assert/strict'
import test from 'node:test'
import { eventually } from '../fixtures/client.ts'
import { sharedMemory } from '../fixtures/fleet.ts'
import { gate } from '../mcp/client.ts'
import { callerOf, sumOf, tellOf } from './caller.ts'
import type { Call } from '../../lib/index.ts'

const times = { leaseMs: 600, storeTimeoutMs: 500 }

test('what happens to a task is heard at any process, in order, from the moment at which it is asked', async (t) => {
  const shared = sharedMemory()
  const [first, second] = [gate(), gate()]
  const run = async function * (): AsyncGenerator<string> {
    yield 'one '
    await first.promise
    yield 'two '
    await second.promise
    yield 'three'
  }
  const one = callerOf(t, run, { store: shared.connect(), ...times })
  const other = callerOf(t, run, { store: shared.connect(), ...times })
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
  const one = callerOf(t, run, { store: shared.connect(), ...times })
  const other = callerOf(t, run, { store: shared.connect(), ...times })
  const { id } = await one.task('hello', { isBlocking: false })
  assert.equal((await other.cancel(id)).status.state, 'canceled')
  await eventually(() => aborted === 1)
  assert.equal((await one.get(id)).status.state, 'canceled')
})

test('who listens at another process hears that the one that ran the task has died', async (t) => {
  const shared = sharedMemory()
  const store = shared.connect()
  t.after(() => { store.isCut = false })
  const run = (): Promise<string> => new Promise(() => {})
  const one = callerOf(t, run, { store, ...times })
  const other = callerOf(t, run, { store: shared.connect(), ...times })
  const { id } = await one.task('hello', { isBlocking: false })
  const events = await other.subscribe(id)
  assert.match(tellOf((await events.next())!), /working/)
  store.isCut = true
  const last = (await events.rest()).at(-1)!
  assert.match(tellOf(last), /failed/)
  assert.equal((await other.get(id)).status.state, 'failed')
})
