import assert from 'node:assert/strict'
import test from 'node:test'
import { PushQueue } from '../../../lib/parts/a2a/push/push-queue.ts'
import { FairSlots } from '../../../lib/floors/outbound/fair-slots.ts'
import { Quota } from '../../../lib/kernel/util/quota.ts'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { memoryStore } from '../../../lib/index.ts'
import { eventually } from '../../fixtures/client.ts'
import { sender } from '../../fixtures/webhook.ts'
import type { KeptPushConfig } from '../../../lib/parts/a2a/push/push-config.ts'
import type { QueueContext } from '../../../lib/parts/a2a/push/push-queue.ts'
import type { KeptEvent } from '../../../lib/parts/a2a/push/push-outbox.ts'

/** A queue whose receiver answers as it is told, and what was posted to it. */
interface Desk {
  readonly queue: PushQueue
  readonly posted: string[]
  readonly logged: readonly string[]
  readonly given: readonly PushQueue[]
  /** Those of left events that are kept no longer. */
  readonly forgotten: readonly string[]
  left(body: string): KeptEvent
}

const config: KeptPushConfig = {
  id: 'a', taskId: 't', url: 'https://hooks.example.com/secret', token: undefined, authentication: undefined,
  dialect: '1.0', position: 1, stamp: '1',
}

function desk(
  answer: (body: string, nth: number) => Promise<number>, more: Partial<QueueContext> = {},
): Desk {
  const posted: string[] = []
  const logged: string[] = []
  const given: PushQueue[] = []
  const forgotten: string[] = []
  const log: QueueContext['log'] = (_level, message, fields) => {
    logged.push(JSON.stringify([message, fields]))
  }
  const queue = new PushQueue({ owner: 'ann', id: 't' }, config, {
    log, bytes: new Quota('tests', Infinity), keep: () => undefined,
    slots: new FairSlots('tests', { max: 8, maxPerOwner: 8 }),
    retryDelaysMs: [1],
    async post(_config, body) {
      posted.push(body)
      return { status: await answer(body, posted.length - 1), retryAfterMs: undefined }
    },
    taskBody: async () => 'task',
    began: () => {},
    ended: () => {},
    gaveUp: (one) => { given.push(one) },
    ...more,
  })
  const left = (body: string): KeptEvent => (
    { written: Promise.resolve(true), forget: () => { forgotten.push(body) } }
  )
  return { queue, posted, logged, given, forgotten, left }
}

test('what waits is posted one at a time and in order, and a queue with nothing to do is idle', async () => {
  let running = 0
  const { queue, posted } = desk(async () => {
    assert.equal(++running, 1)
    await new Promise((resolve) => { setImmediate(resolve) })
    running--
    return 200
  })
  assert.equal(queue.isIdle, true)
  assert.equal(queue.bytes, 0)
  for (const body of ['one', 'two', 'three']) queue.add(body)
  assert.equal(queue.isIdle, false)
  assert.equal(queue.bytes, 'onetwothree'.length * 2)
  await eventually(() => queue.isIdle)
  assert.deepEqual(posted, ['one', 'two', 'three'])
  assert.equal(queue.bytes, 0)
})

test('one that has no room posts the task as it stands for all that happened, once', async () => {
  const { queue, posted } = desk(async () => 200, { bytes: new Quota('tests', 6) })
  queue.add('one')
  queue.add('two')
  queue.add('three')
  queue.add(undefined)
  await eventually(() => queue.isIdle)
  assert.deepEqual(posted, ['one', 'task'])
})

test('as many bytes wait as may, and instead of one more the task as it stands', async () => {
  for (const [more, posted] of [[0, 3], [1, 2]] as const) {
    const answers: (() => void)[] = []
    const { queue, posted: bodies } = desk(() => new Promise((resolve) => answers.push(() => resolve(200))))
    queue.add('one')
    await eventually(() => answers.length === 1)
    queue.add('two')
    const last = 'x'.repeat((1_048_576 - queue.bytes) / 2 + more)
    queue.add(last)
    await eventually(() => {
      for (const answer of answers.splice(0)) answer()
      return queue.isIdle
    })
    assert.deepEqual(bodies, posted === 3 ? ['one', 'two', last] : ['one', 'task'])
  }
})

test('as many events wait as may, and instead of one more the task as it stands', async () => {
  for (const [count, posted] of [[256, 257], [257, 2]] as const) {
    for (const isLeft of [false, true]) {
      const answers: (() => void)[] = []
      const { queue, posted: bodies, forgotten, left } = desk(() => (
        new Promise((resolve) => answers.push(() => resolve(200)))
      ))
      queue.add('one')
      await eventually(() => answers.length === 1)
      for (let nth = 0; nth < count; nth++) queue.add(`${nth}`, isLeft ? left(`${nth}`) : undefined)
      while (!queue.isIdle) {
        for (const answer of answers.splice(0)) answer()
        await new Promise(setImmediate)
      }
      assert.equal(bodies.length, posted, `${count} ${isLeft}`)
      assert.equal(forgotten.length, isLeft ? count : 0)
    }
  }
})

test('an answer that will not change is not asked for again, nor is an address that is refused', async () => {
  const tries: readonly (readonly [what: string, answer: () => Promise<number>, count: number])[] = [
    ['400', async () => 400, 1], ['301', async () => 301, 1], ['503', async () => 503, 2],
    ['nobody there', async () => { throw new Error('gone') }, 2],
    ['refused', async () => { throw new Fault('invalid', 'leads inward') }, 1],
  ]
  for (const [what, answer, count] of tries) {
    const { queue, posted, logged } = desk(answer)
    queue.add('x')
    await eventually(() => queue.isIdle)
    assert.equal(posted.length, count, what)
    assert.equal(logged.length, 1)
    assert.ok(logged[0]!.includes('hooks.example.com') && !logged[0]!.includes('secret'), logged[0])
  }
})

test('after three given up in a row so is the queue, but not where another takes its place', async () => {
  const fails = desk(async () => 400)
  for (const body of ['1', '2', '3', '4']) fails.queue.add(body)
  await eventually(() => fails.queue.isIdle)
  assert.deepEqual(fails.posted, ['1', '2', '3'])
  assert.deepEqual(fails.given, [fails.queue])
  const goesOn: Desk = desk(async (body) => {
    if (body === '2') goesOn.queue.replacedBy({ ...config, stamp: '2' })
    return 400
  })
  for (const body of ['1', '2', '3', '4']) goesOn.queue.add(body)
  await eventually(() => goesOn.posted.length === 4)
  assert.deepEqual(goesOn.posted, ['1', '2', '3', '4'])
})

test('one that nobody wants any more posts nothing more, nor does one whose server closes', async () => {
  const dropped: Desk = desk(async () => {
    dropped.queue.drop()
    return 200
  })
  for (const body of ['one', 'two']) dropped.queue.add(body)
  await eventually(() => dropped.queue.isIdle)
  dropped.queue.add('three')
  assert.deepEqual([dropped.posted, dropped.queue.isIdle], [['one'], true])
  const closed: Desk = desk(async () => {
    closed.queue.leave()
    return 503
  })
  for (const body of ['one', 'two']) closed.queue.add(body)
  await eventually(() => closed.queue.isIdle)
  assert.deepEqual([closed.posted, closed.logged], [['one'], []])
})

test('what is over gives back once, breaks off what is on its way, and takes nothing any more', async (t) => {
  const store = memoryStore({ isShared: true })
  const { outbox, nodes } = sender(t, store)
  const kept = async (): Promise<number> => (await store.list('push-events', `~${nodes.id}`, 100)).length
  for (const end of ['drop', 'leave'] as const) {
    const slots = new FairSlots('tests', { max: 1, maxPerOwner: 1 })
    let broken = 0
    const { queue } = desk(async () => 200, { slots, keep: (_queue, body) => (
      outbox.keep({ owner: 'ann', taskId: 't', configId: 'a', body })
    ), post: (_config, _body, { signal }) => (
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          broken++
          reject(signal.reason)
        })
      })
    ) })
    for (const body of ['one', 'two', undefined]) queue.add(body)
    await outbox.written()
    await eventually(() => slots.taken === 1)
    assert.equal(await kept(), 3)
    for (let again = 0; again < 3; again++) queue[end]()
    assert.deepEqual([queue.bytes, queue.isOver, broken], [0, true, 1])
    queue.add('three')
    queue.drop()
    await eventually(() => queue.isIdle)
    assert.deepEqual([slots.taken, slots.waiting, queue.bytes], [0, 0, 0])
    await eventually(async () => await kept() === (end === 'drop' ? 0 : 3))
  }
})

test('a task that is read for ever holds up nothing that was dropped', async () => {
  const slots = new FairSlots('tests', { max: 1, maxPerOwner: 1 })
  const { queue } = desk(async () => 200, { slots, taskBody: () => new Promise(() => {}) })
  queue.add(undefined)
  await eventually(() => slots.taken === 1)
  queue.drop()
  await eventually(() => slots.taken === 0)
  assert.equal(queue.isIdle, true)
})

test('of what another process left no more is held than of what happens here', async () => {
  const { queue, posted, forgotten, left } = desk(async () => 200)
  for (let nth = 0; nth < 4; nth++) queue.add(`${nth}`.repeat(300_000), left(`${nth}`))
  assert.ok(queue.bytes < 1_048_576, `${queue.bytes} bytes`)
  await eventually(() => queue.isIdle)
  assert.deepEqual(posted, ['0'.repeat(300_000), 'task'])
  assert.deepEqual(forgotten, ['1', '3', '0', '2'])
})

test('what another process left is posted in order, and the task as it stands for what follows', async () => {
  const { queue, posted, forgotten, left } = desk(async () => 200)
  for (const body of ['one', 'two']) queue.add(body, left(body))
  await eventually(() => queue.isIdle)
  assert.deepEqual(posted.splice(0), ['one', 'two'])
  queue.add(undefined, left('whole'))
  for (const body of ['three', 'four']) queue.add(body, left(body))
  await eventually(() => queue.isIdle)
  assert.equal(posted[0], 'task')
  assert.deepEqual(forgotten.toSorted(), ['four', 'one', 'three', 'two', 'whole'])
})

test('a task as it stands, of another process, takes the place of what follows alone', async () => {
  const { queue, posted, forgotten, left } = desk(async () => 200)
  for (const body of ['one', 'two', undefined, 'three']) queue.add(body, left(body ?? 'whole'))
  await eventually(() => queue.isIdle)
  assert.deepEqual(posted, ['one', 'two', 'task'])
  assert.deepEqual(forgotten.toSorted(), ['one', 'three', 'two', 'whole'])
})
