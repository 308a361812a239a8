import assert from 'node:assert/strict'
import test from 'node:test'
import { memoryStore } from '../../../lib/index.ts'
import { eventually } from '../../fixtures/client.ts'
import { damages } from '../../fixtures/damaged-store.ts'
import { sender } from '../../fixtures/webhook.ts'
import type { TakenOver, Undelivered } from '../../../lib/parts/a2a/push/push-outbox.ts'
import type { Store } from '../../../lib/index.ts'
import type { Sender } from '../../fixtures/webhook.ts'

const event = (taskId: string, body: string | undefined = undefined): Undelivered => (
  { owner: 'ann', taskId, configId: 'a', body }
)

/** What is kept of a process: events, and whether its name is. */
async function keptOf(store: Store, { nodes }: Sender): Promise<readonly [events: number, name: string]> {
  const name = await store.read({ collection: 'members', owner: '~', key: nodes.id })
  return [(await store.list('push-events', `~${nodes.id}`, 100)).length, name?.value ?? 'none']
}

/** What a process takes over of another, and whether there may be more. */
async function takenBy(
  { outbox }: Sender, node: string, maxBytes = Infinity,
): Promise<readonly [isMore: boolean, events: readonly TakenOver[]]> {
  let taken: readonly TakenOver[] = []
  const isMore = await outbox.takeOver(node, maxBytes, async (events) => { taken = events })
  return [isMore, taken]
}

const bodies = (events: readonly TakenOver[]): unknown => events.map(({ body }) => body)

test('an event is kept until it is forgotten', async (t) => {
  const store = memoryStore({ isShared: true })
  const one = sender(t, store)
  const kept = one.outbox.keep(event('t', 'body'))
  await kept!.written
  assert.deepEqual(await keptOf(store, one), [1, ''])
  kept!.forget()
  await eventually(async () => (await keptOf(store, one))[0] === 0)
  await one.close()
  assert.deepEqual(await keptOf(store, one), [0, 'none'])
})

test('what the store did not remove is removed at the next beat, and posted by no other', async (t) => {
  const store = memoryStore({ isShared: true })
  let isUnavailable = true
  const one = sender(t, { ...store, remove(key, expected) {
    if (isUnavailable && key.collection === 'push-events') throw new Error('away')
    return store.remove(key, expected)
  } }, [], 200)
  const kept = [one.outbox.keep(event('t', '1')), one.outbox.keep(event('t', '2'))]
  for (const each of kept) await each!.written
  for (const each of kept) each!.forget()
  await new Promise((resolve) => { setImmediate(resolve) })
  assert.deepEqual(await keptOf(store, one), [2, ''])
  isUnavailable = false
  await eventually(async () => (await keptOf(store, one))[0] === 0)
})

test('those of a process that closed are taken over in order, once', async (t) => {
  const store = memoryStore({ isShared: true })
  const [gone, here, other] = [1, 2, 3].map(() => sender(t, store))
  const { id } = gone!.nodes
  for (const [task, body] of [['t', '1'], ['u', '2'], ['t', undefined], ['t', '4']] as const) {
    void gone!.outbox.keep(event(task, body))
  }
  await gone!.close()
  assert.deepEqual(await keptOf(store, gone!), [4, 'closed'])
  const [isMore, events] = await takenBy(here!, id)
  assert.deepEqual([isMore, bodies(events)], [true, ['1', '2', undefined, '4']])
  assert.deepEqual(await takenBy(other!, id), [true, []])
  for (const { kept } of events) kept.forget()
  await eventually(async () => (await keptOf(store, gone!))[0] === 0)
  assert.deepEqual(await takenBy(other!, id), [false, []])
})

test('what cannot be read is not taken over, and what lies behind it is', async (t) => {
  const store = memoryStore({ isShared: true })
  const lines: string[] = []
  const limits: number[] = []
  const here = sender(t, { ...store, list(collection, owner, limit, before) {
    if (collection === 'push-events') limits.push(limit)
    return store.list(collection, owner, limit, before)
  } }, lines)
  const gone = sender(t, store)
  const { id } = gone.nodes
  void gone.outbox.keep(event('t', '1'))
  await gone.close()
  const { value } = store.list('push-events', `~${id}`, 1)[0]!
  const whole = JSON.parse(value) as object
  const wrong = [
    ...Object.values(damages).map((change) => change(value)),
    ...[...Object.keys(whole), 'body'].map((name) => JSON.stringify({ ...whole, [name]: [] })),
  ]
  // More than a page of them.
  for (let count = 0; count < 110; count++) {
    const key = { collection: 'push-events', owner: `~${id}`, key: `damaged-${count}` }
    store.write(key, wrong[count % wrong.length]!, 60_000, 0)
  }
  const [isMore, taken] = await takenBy(here, id)
  assert.deepEqual([isMore, bodies(taken), limits], [true, ['1'], [100, 100]])
  assert.equal(lines.length, 1)
})

test('what one took over and had no time to post is taken over from it', async (t) => {
  const store = memoryStore({ isShared: true })
  const [gone, next, last] = [1, 2, 3].map(() => sender(t, store))
  void gone!.outbox.keep(event('t', '1'))
  await gone!.close()
  const { id } = gone!.nodes
  assert.deepEqual(bodies((await takenBy(next!, id))[1]), ['1'])
  await next!.close()
  assert.deepEqual(bodies((await takenBy(last!, id))[1]), ['1'])
})

test('of two that take over at one time each event has one', async (t) => {
  const store = memoryStore({ isShared: true })
  const [gone, one, other] = [1, 2, 3].map(() => sender(t, store))
  for (let count = 0; count < 20; count++) void gone!.outbox.keep(event('t', `${count}`))
  await gone!.close()
  const { id } = gone!.nodes
  const both = await Promise.all([one!, other!].map((each) => takenBy(each, id)))
  const taken = both.flatMap(([, events]) => events).map(({ body }) => body)
  assert.equal(taken.length, 20)
  assert.equal(new Set(taken).size, 20)
})

test('no more is taken over than there is room for, and the rest is for the next look', async (t) => {
  const store = memoryStore({ isShared: true })
  const [gone, next] = [1, 2].map(() => sender(t, store))
  for (let count = 0; count < 3; count++) void gone!.outbox.keep(event('t', `${count}`))
  await gone!.close()
  const { id } = gone!.nodes
  for (const [maxBytes, count] of [[0, 0], [1, 1], [Infinity, 2]] as const) {
    const [isMore, events] = await takenBy(next!, id, maxBytes)
    assert.deepEqual([isMore, events.length], [true, count])
  }
})

test('a store that fails is told of once, and keeping does not reject', async (t) => {
  const store = memoryStore({ isShared: true })
  const lines: string[] = []
  const fail = async (): Promise<never> => { throw new Error('away') }
  const { outbox } = sender(t, { ...store, write: fail }, lines)
  const kept = [outbox.keep(event('t')), outbox.keep(event('t'))]
  for (const each of kept) assert.equal(await each!.written, false)
  for (const each of kept) each!.forget()
  assert.equal(lines.length, 1)
})

test('what could not be adopted is taken over again by the next look', async (t) => {
  const store = memoryStore({ isShared: true })
  const lines: string[] = []
  const [gone, next] = [sender(t, store), sender(t, store, lines)]
  for (const body of ['1', '2']) void gone.outbox.keep(event('t', body))
  await gone.close()
  const { id } = gone.nodes
  assert.equal(await next.outbox.takeOver(id, Infinity, async () => { throw new Error('away') }), true)
  assert.match(lines.join(), /could not be taken over/)
  assert.deepEqual(bodies((await takenBy(next, id))[1]), ['1', '2'])
  assert.deepEqual((await takenBy(next, id))[1], [])
})
