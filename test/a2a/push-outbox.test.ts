import assert from 'node:assert/strict'
import test from 'node:test'
import { PushOutbox } from '../../lib/a2a/push/push-outbox.ts'
import { memoryStore } from '../../lib/index.ts'
import { eventually } from '../fixtures/client.ts'
import type { TestContext } from 'node:test'
import type { TakenOver } from '../../lib/a2a/push/push-outbox.ts'
import type { Store } from '../../lib/index.ts'

const event = (taskId: string, body: string | undefined = undefined): Omit<TakenOver, 'kept'> => (
  { owner: 'ann', taskId, configId: 'a', body }
)

function outbox(t: TestContext, store: Store, lines: string[] = []): PushOutbox {
  const one = new PushOutbox(store, (_level, message) => { lines.push(message) }, 60_000)
  t.after(() => one.close())
  return one
}

/** What is kept for deliveries: events, and the leases of those who post them. */
async function keptIn(store: Store): Promise<readonly [events: number, leases: number]> {
  const count = async (name: string): Promise<number> => (await store.list(name, '~push', 100)).length
  return [await count('push-events'), await count('push-senders')]
}

const bodies = (lines: readonly (readonly TakenOver[])[]): unknown => (
  lines.map((line) => line.map(({ body }) => body))
)

test('an event is kept until it is forgotten', async (t) => {
  const store = memoryStore({ isShared: true })
  const one = outbox(t, store)
  const kept = one.keep(event('t', 'body'))
  await kept
  assert.deepEqual(await keptIn(store), [1, 1])
  one.forget(kept)
  await eventually(async () => (await keptIn(store))[0] === 0)
})

test('what the store did not remove is removed at the next look, and posted by nobody', async (t) => {
  const store = memoryStore({ isShared: true })
  let isUnavailable = true
  const one = outbox(t, { ...store, remove(key, expected) {
    if (isUnavailable && key.collection === 'push-events') throw new Error('away')
    return store.remove(key, expected)
  } })
  const kept = [one.keep(event('t', '1')), one.keep(event('t', '2'))]
  await Promise.all(kept)
  for (const each of kept) one.forget(each)
  await one.takeOver(Infinity)
  assert.deepEqual(await keptIn(store), [2, 1])
  assert.deepEqual(await outbox(t, store).takeOver(Infinity), [])
  isUnavailable = false
  await one.takeOver(Infinity)
  assert.deepEqual(await keptIn(store), [0, 1])
})

test('where the store is not shared nothing is kept', async (t) => {
  const store = memoryStore()
  const one = outbox(t, store)
  const kept = one.keep(event('t'))
  assert.deepEqual([one.isKept, kept], [false, undefined])
  one.forget(kept)
  assert.deepEqual(await keptIn(store), [0, 0])
})

test('those of a process that closed are taken over, of each configuration in order, once', async (t) => {
  const store = memoryStore({ isShared: true })
  const [gone, here, other] = [1, 2, 3].map(() => outbox(t, store))
  for (const [task, body] of [['t', '1'], ['u', '2'], ['t', undefined], ['t', '4']] as const) {
    void gone!.keep(event(task, body))
  }
  void here!.keep(event('own', 'own'))
  assert.deepEqual(await here!.takeOver(Infinity), [])
  await gone!.close()
  const taken = await here!.takeOver(Infinity)
  assert.deepEqual(bodies(taken), [['1', undefined, '4'], ['2']])
  assert.deepEqual(await other!.takeOver(Infinity), [])
  for (const { kept } of taken.flat()) here!.forget(kept)
  await eventually(async () => (await keptIn(store))[0] === 1)
})

test('of two that take over at one time each event has one', async (t) => {
  const store = memoryStore({ isShared: true })
  const [gone, one, other] = [1, 2, 3].map(() => outbox(t, store))
  for (let count = 0; count < 20; count++) void gone!.keep(event('t', `${count}`))
  await gone!.close()
  const both = await Promise.all([one!, other!].map((each) => each.takeOver(Infinity)))
  const taken = both.flat(2).map(({ body }) => body)
  assert.equal(taken.length, 20)
  assert.equal(new Set(taken).size, 20)
})

test('a store that fails is told of once, and nothing rejects', async (t) => {
  const store = memoryStore({ isShared: true })
  const lines: string[] = []
  const fail = async (): Promise<never> => { throw new Error('away') }
  const one = outbox(t, { ...store, write: fail, list: fail }, lines)
  const kept = [one.keep(event('t')), one.keep(event('t'))]
  assert.deepEqual(await Promise.all(kept), [undefined, undefined])
  assert.deepEqual(await one.takeOver(Infinity), [])
  for (const each of kept) one.forget(each)
  assert.equal(lines.length, 1)
})
