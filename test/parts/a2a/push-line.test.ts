import assert from 'node:assert/strict'
import test from 'node:test'
import { PushLine } from '../../../lib/parts/a2a/push/push-line.ts'
import { PushOutbox } from '../../../lib/parts/a2a/push/push-outbox.ts'
import { FairSlots } from '../../../lib/floors/outbound/fair-slots.ts'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { memoryStore } from '../../../lib/index.ts'
import { eventually } from '../../fixtures/client.ts'
import { sender } from '../../fixtures/webhook.ts'
import type { KeptPushConfig } from '../../../lib/parts/a2a/push/push-config.ts'
import type { LineContext } from '../../../lib/parts/a2a/push/push-line.ts'
import type { TakenOver } from '../../../lib/parts/a2a/push/push-outbox.ts'

/** A line whose receiver answers as it is told, and what was posted to it. */
interface Desk {
  readonly line: PushLine
  readonly posted: readonly string[]
  readonly logged: readonly string[]
  readonly given: readonly PushLine[]
}

const config: KeptPushConfig = {
  id: 'a', taskId: 't', url: 'https://hooks.example.com/secret', token: undefined, authentication: undefined,
  dialect: '1.0', position: 1, stamp: '1',
}

function desk(answer: (body: string, nth: number) => Promise<number>, more: Partial<LineContext> = {}): Desk {
  const posted: string[] = []
  const logged: string[] = []
  const given: PushLine[] = []
  const log: LineContext['log'] = (_level, message, fields) => {
    logged.push(JSON.stringify([message, fields]))
  }
  const line = new PushLine({ owner: 'ann', id: 't' }, config, {
    log, outbox: new PushOutbox(memoryStore(), log, undefined),
    slots: new FairSlots('tests', { max: 8, maxPerOwner: 8 }),
    retryDelaysMs: [1],
    async post(_config, body) {
      posted.push(body)
      return { status: await answer(body, posted.length - 1), retryAfterMs: undefined }
    },
    taskBody: async () => 'task',
    resized: () => {},
    gaveUp: (one) => { given.push(one) },
    ...more,
  })
  return { line, posted, logged, given }
}

test('what waits is posted one at a time and in order, and a line with nothing to do is idle', async () => {
  let running = 0
  const { line, posted } = desk(async () => {
    assert.equal(++running, 1)
    await new Promise((resolve) => { setImmediate(resolve) })
    running--
    return 200
  })
  assert.equal(line.isIdle, true)
  const empty = line.bytes
  for (const body of ['one', 'two', 'three']) line.add(body)
  assert.equal(line.isIdle, false)
  assert.equal(line.bytes, empty + 'onetwothree'.length * 2)
  await eventually(() => line.isIdle)
  assert.deepEqual(posted, ['one', 'two', 'three'])
  assert.equal(line.bytes, empty)
})

test('one that has no room posts the task as it stands for all that happened, once', async () => {
  const { line, posted } = desk(async () => 200)
  line.add('one')
  line.add('two', false)
  line.add('three')
  line.add(undefined)
  await eventually(() => line.isIdle)
  assert.deepEqual(posted, ['one', 'task'])
})

test('as many bytes wait as may, and instead of one more the task as it stands', async () => {
  for (const [more, posted] of [[0, 3], [1, 2]] as const) {
    const answers: (() => void)[] = []
    const { line, posted: bodies } = desk(() => new Promise((resolve) => answers.push(() => resolve(200))))
    line.add('one')
    await eventually(() => answers.length === 1)
    line.add('two')
    const last = 'x'.repeat((1_048_576 - line.bytes) / 2 + more)
    line.add(last)
    await eventually(() => {
      for (const answer of answers.splice(0)) answer()
      return line.isIdle
    })
    assert.deepEqual(bodies, posted === 3 ? ['one', 'two', last] : ['one', 'task'])
  }
})

test('as many events wait as may, and instead of one more the task as it stands', async () => {
  const left = { owner: 'ann', taskId: 't', configId: 'a', kept: Promise.resolve(undefined) }
  for (const [count, posted] of [[256, 257], [257, 2]] as const) {
    for (const isAdopted of [false, true]) {
      const answers: (() => void)[] = []
      const { line, posted: bodies } = desk(() => new Promise((resolve) => answers.push(() => resolve(200))))
      line.add('one')
      await eventually(() => answers.length === 1)
      const waiting = Array.from({ length: count }, (_one, nth) => `${nth}`)
      if (isAdopted) line.adopt(waiting.map((body) => ({ ...left, body })))
      else for (const body of waiting) line.add(body)
      while (!line.isIdle) {
        for (const answer of answers.splice(0)) answer()
        await new Promise(setImmediate)
      }
      assert.equal(bodies.length, posted, `${count} ${isAdopted}`)
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
    const { line, posted, logged } = desk(answer)
    line.add('x')
    await eventually(() => line.isIdle)
    assert.equal(posted.length, count, what)
    assert.equal(logged.length, 1)
    assert.ok(logged[0]!.includes('hooks.example.com') && !logged[0]!.includes('secret'), logged[0])
  }
})

test('after three given up in a row so is the line, but not where another takes its place', async () => {
  const fails = desk(async () => 400)
  for (const body of ['1', '2', '3', '4']) fails.line.add(body)
  await eventually(() => fails.line.isIdle)
  assert.deepEqual(fails.posted, ['1', '2', '3'])
  assert.deepEqual(fails.given, [fails.line])
  const goesOn: Desk = desk(async (body) => {
    if (body === '2') goesOn.line.replacedBy({ ...config, stamp: '2' })
    return 400
  })
  for (const body of ['1', '2', '3', '4']) goesOn.line.add(body)
  await eventually(() => goesOn.posted.length === 4)
  assert.deepEqual(goesOn.posted, ['1', '2', '3', '4'])
})

test('one that nobody wants any more posts nothing more, nor does one whose server closes', async () => {
  const dropped: Desk = desk(async () => {
    dropped.line.drop()
    return 200
  })
  for (const body of ['one', 'two']) dropped.line.add(body)
  await eventually(() => dropped.line.isIdle)
  dropped.line.add('three')
  assert.deepEqual([dropped.posted, dropped.line.isIdle], [['one'], true])
  const closed: Desk = desk(async () => {
    closed.line.leave()
    return 503
  })
  for (const body of ['one', 'two']) closed.line.add(body)
  await eventually(() => closed.line.isIdle)
  assert.deepEqual([closed.posted, closed.logged], [['one'], []])
})

test('what is over gives back once, breaks off what is on its way, and takes nothing any more', async (t) => {
  const store = memoryStore({ isShared: true })
  const { outbox, nodes } = sender(t, store)
  const kept = async (): Promise<number> => (await store.list('push-events', `~${nodes.id}`, 100)).length
  for (const end of ['drop', 'leave'] as const) {
    const slots = new FairSlots('tests', { max: 1, maxPerOwner: 1 })
    let broken = 0
    const { line } = desk(async () => 200, { slots, outbox, post: (_config, _body, { signal }) => (
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          broken++
          reject(signal.reason)
        })
      })
    ) })
    for (const body of ['one', 'two', undefined]) line.add(body)
    await outbox.written()
    await eventually(() => slots.taken === 1)
    assert.equal(await kept(), 2)
    for (let again = 0; again < 3; again++) line[end]()
    assert.deepEqual([line.bytes, line.isOver, broken], [0, true, 1])
    line.add('three')
    line.drop()
    await eventually(() => line.isIdle)
    assert.deepEqual([slots.taken, slots.waiting, line.bytes], [0, 0, 0])
    await eventually(async () => await kept() === (end === 'drop' ? 0 : 2))
  }
})

test('a task that is read for ever holds up nothing that was dropped', async () => {
  const slots = new FairSlots('tests', { max: 1, maxPerOwner: 1 })
  const { line } = desk(async () => 200, { slots, taskBody: () => new Promise(() => {}) })
  line.add(undefined)
  await eventually(() => slots.taken === 1)
  line.drop()
  await eventually(() => slots.taken === 0)
  assert.equal(line.isIdle, true)
})

test('of what another process left no more is held than of what happens here', async () => {
  const held = desk(async () => 200)
  const event = { owner: 'ann', taskId: 't', configId: 'a', kept: Promise.resolve(undefined) }
  held.line.adopt(Array.from({ length: 3 }, (_one, nth) => ({ ...event, body: `${nth}`.repeat(300_000) })))
  assert.ok(held.line.bytes < 10_000, `${held.line.bytes} bytes`)
  await eventually(() => held.line.isIdle)
  assert.deepEqual(held.posted, ['task'])
})

test('what another process left is posted in order, and the task as it stands alone if asked', async () => {
  const left = (body: string | undefined): TakenOver => (
    { owner: 'ann', taskId: 't', configId: 'a', body, kept: Promise.resolve(undefined) }
  )
  const some = desk(async () => 200)
  some.line.adopt([left('one'), left('two')])
  await eventually(() => some.line.isIdle)
  assert.deepEqual(some.posted, ['one', 'two'])
  const whole = desk(async () => 200)
  whole.line.adopt([left('one'), left(undefined), left('two')])
  await eventually(() => whole.line.isIdle)
  assert.deepEqual(whole.posted, ['task'])
})
