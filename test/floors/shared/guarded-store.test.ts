import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { guardedStore } from '../../../lib/floors/shared/guarded-store.ts'
import { Fault } from '../../../lib/kernel.ts'
import { memoryStore } from '../../../lib/floors/memory/memory-store.ts'
import { eventually } from '../../fixtures/wire.ts'
import { keptBytes } from '../../fixtures/heap.ts'
import { holdUp, keepingTimers, standingTime } from '../../fixtures/time.ts'
import type { GuardedStore } from '../../../lib/floors/shared/guarded-store.ts'
import type { Store } from '../../../lib/index.ts'

const key = { collection: 'things', owner: 'ann', key: 'one' }

/** How a store behaves from now on. */
type Mood = 'well' | 'slow' | 'silent' | Error

/** A guarded store, and the way to spoil what is behind it. */
function guarded(storeTimeoutMs = 20): {
  guard: GuardedStore; turn: (mood: Mood) => void; asked: () => number; said: string[]
} {
  const inner = memoryStore({ isShared: true })
  let mood: Mood = 'well'
  let asked = 0
  const act = <T>(work: () => T): T | Promise<Awaited<T>> => {
    asked += 1
    if (mood === 'slow') return Promise.resolve(pause(1).then(() => pause(1)).then(work))
    if (mood === 'silent') return new Promise<never>(() => {})
    if (mood !== 'well') return Promise.reject(mood)
    return work()
  }
  const store: Store = {
    isShared: true,
    read: (...all) => act(() => inner.read(...all)),
    write: (...all) => act(() => inner.write(...all)),
    remove: (...all) => act(() => inner.remove(...all)),
    list: (...all) => act(() => inner.list(...all)),
    publish: (...all) => act(() => inner.publish(...all)),
    follow: (...all) => act(() => inner.follow(...all)),
  }
  const said: string[] = []
  const guard = guardedStore(store, limitsOf({ storeTimeoutMs }), (_level, text) => { said.push(text) })
  return { guard, turn: (next) => { mood = next }, asked: () => asked, said }
}

const isBusy = { name: 'Fault', kind: 'busy', message: 'The store cannot be reached now; try again later' }

test('a store that is well answers as it does without a guard, and at once where it can', () => {
  const { guard } = guarded()
  const version = guard.write(key, 'a', 1_000, 0)
  assert.equal(guard.write(key, 'b', 1_000, 0), undefined)
  assert.deepEqual(guard.read(key), { key: 'one', value: 'a', version })
  assert.deepEqual(guard.list('things', 'ann', 10), [guard.read(key)])
  const heard: string[] = []
  const stop = guard.follow('topic', 'now', (text) => heard.push(text))
  assert.ok(typeof stop === 'function')
  guard.publish('topic', 'x')
  assert.deepEqual(heard, ['x'])
  stop()
  assert.equal(guard.remove(key, 'any'), true)
})

test('a store that is silent is waited for three times, and then not any more', async () => {
  const { guard, turn, asked, said } = guarded()
  turn('silent')
  await Promise.all([1, 2, 3].map(() => assert.rejects(async () => guard.read(key), isBusy)))
  assert.ok(guard.isUnavailable)
  const before = asked()
  let isLater = false
  setImmediate(() => { isLater = true })
  for (const call of [
    () => guard.read(key), () => guard.write(key, 'a', 1, 0), () => guard.remove(key, 'any'),
    () => guard.list('things', 'ann', 1), () => guard.publish('topic', 'x'),
    () => guard.follow('topic', 'now', () => {}),
  ]) await assert.rejects(async () => call(), isBusy)
  assert.equal(isLater, false)
  assert.equal(asked(), before)
  assert.equal(said.length, 1)
  guard.close?.()
})

test('an answer that came while this process was held up is heard', async () => {
  const { guard, turn } = guarded()
  guard.write(key, 'a', Infinity, 0)
  turn('slow')
  for (const ms of [60, 300]) {
    const answers = [1, 2, 3].map(() => guard.read(key))
    holdUp(ms)
    for (const answer of answers) assert.equal((await answer)?.value, 'a')
    assert.equal(guard.isUnavailable, false)
  }
})

test('a store that is silent is given up by a process that was held up, too', async () => {
  const { guard, turn } = guarded()
  turn('silent')
  const answers = [1, 2, 3].map(() => guard.read(key))
  holdUp(300)
  await Promise.all(answers.map((answer) => assert.rejects(async () => answer, isBusy)))
  assert.ok(guard.isUnavailable)
  guard.close?.()
})

test('whether a store is there again is found out without a call, and told', async () => {
  const { guard, turn, said } = guarded()
  let returns = 0
  guard.onReturn(() => { returns += 1 })
  turn(new Error('connect ECONNREFUSED'))
  for (const _ of [1, 2, 3]) await assert.rejects(async () => guard.read(key), isBusy)
  await eventually(() => guard.isUnavailable)
  turn('well')
  await eventually(() => !guard.isUnavailable)
  assert.equal(guard.read(key), undefined)
  assert.deepEqual([returns, said.length], [1, 2])
})

test('two failures with an answer in between are no reason to give a store up', async () => {
  const { guard, turn } = guarded()
  for (const _ of [1, 2, 3]) {
    turn('silent')
    await Promise.all([1, 2].map(() => assert.rejects(async () => guard.read(key), isBusy)))
    turn('well')
    guard.read(key)
  }
  assert.equal(guard.isUnavailable, false)
})

test('what a store refuses is told as it is, and is no sign that it is away', async () => {
  const { guard, turn, asked } = guarded()
  for (const refusal of [new Fault('too-large', 'Too much'), new Fault('busy', 'No room')]) {
    turn(refusal)
    for (const _ of [1, 2, 3, 4]) await assert.rejects(async () => guard.write(key, 'a', 1, 0), refusal)
  }
  assert.equal(asked(), 8)
  assert.equal(guard.isUnavailable, false)
})

test('what an engine throws at its caller does not put it away for others', async () => {
  const inner = memoryStore({ isShared: true })
  const guard = guardedStore({
    ...inner, isShared: true,
    write: () => Promise.reject(new Error('invalid byte sequence')),
  }, limitsOf({ storeTimeoutMs: 20 }), () => {})
  for (const _ of [1, 2, 3, 4]) await assert.rejects(async () => guard.write(key, 'a', 1, 0), isBusy)
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(guard.isUnavailable, false)
})

test('what is larger than a store may be given never reaches it', async () => {
  const { guard, asked } = guarded()
  const small = guardedStore(guard, limitsOf({ maxValueBytes: 10 }), () => {})
  const isTooLarge = { kind: 'too-large' }
  await assert.rejects(async () => small.write(key, 'eleven byte', 1_000, 0), isTooLarge)
  await assert.rejects(async () => small.publish('topic', 'ééééééé'), isTooLarge)
  assert.equal(asked(), 0)
  assert.ok(small.write(key, 'ten bytes!', 1_000, 0))
})

test('who begins to hear too late hears nothing', async () => {
  const inner = memoryStore({ isShared: true })
  let stops = 0
  let begin = (): void => {}
  const guard = guardedStore({
    ...inner, isShared: true,
    follow: () => new Promise((resolve) => { begin = () => resolve(() => { stops += 1 }) }),
  }, limitsOf({ storeTimeoutMs: 20 }), () => {})
  await assert.rejects(async () => guard.follow('topic', 'now', () => {}), isBusy)
  begin()
  await eventually(() => stops === 1)
})

test('without a limit, a store that takes its time is neither late nor away', async () => {
  const { guard, turn, said } = guarded(Infinity)
  turn('slow')
  for (let nth = 0; nth < 4; nth++) assert.equal(await guard.read(key), undefined)
  turn(new Error('Not this'))
  const refused = [1, 2, 3].map(() => assert.rejects(async () => guard.read(key), isBusy))
  // What it is asked now, whether it is there, it answers in its own time.
  turn('slow')
  await Promise.all(refused)
  await pause(30)
  assert.deepEqual([guard.isUnavailable, said], [false, []])
})

test('a store that is away is asked each second until it is back, and given up anew', async (t) => {
  const pass = standingTime(t)
  const { guard, turn, asked, said } = guarded()
  const turns = async (): Promise<void> => {
    for (let nth = 0; nth < 6; nth++) await new Promise(setImmediate)
  }
  const returns: string[] = []
  guard.onReturn(() => returns.push('one'))
  guard.onReturn(() => returns.push('two'))
  for (const time of [1, 2]) {
    turn(new Error('connect ECONNREFUSED'))
    for (const nth of [1, 2, 3]) {
      assert.equal(guard.isUnavailable, false, `${nth}`)
      await assert.rejects(async () => guard.read(key), isBusy)
    }
    await turns()
    assert.equal(guard.isUnavailable, true)
    for (const _ of [1, 2]) {
      const before = asked()
      pass(999)
      await turns()
      assert.equal(asked(), before)
      pass(1)
      await turns()
      assert.deepEqual([asked(), guard.isUnavailable], [before + 1, true])
    }
    turn('well')
    pass(1_000)
    await turns()
    assert.equal(guard.isUnavailable, false)
    assert.deepEqual([returns.length, said.length], [2 * time, 2 * time])
  }
  turn(new Error('connect ECONNREFUSED'))
  for (const _ of [1, 2, 3]) await assert.rejects(async () => guard.read(key), isBusy)
  await turns()
  guard.close?.()
  const before = asked()
  turn('well')
  pass(3_000)
  await turns()
  assert.deepEqual([asked(), returns.length], [before, 4])
})

test('a store that was closed while it was asked is neither there nor away, and asked no more', async (t) => {
  const pass = standingTime(t)
  const turns = async (): Promise<void> => {
    for (let nth = 0; nth < 6; nth++) await new Promise(setImmediate)
  }
  for (const end of [undefined, new Error('connect ECONNREFUSED')]) {
    const inner = memoryStore({ isShared: true })
    let read = (): Promise<undefined> => Promise.reject(new Error('connect ECONNREFUSED'))
    let asked = 0
    const said: string[] = []
    const guard = guardedStore({ ...inner, read: () => {
      asked += 1
      return read()
    } }, limitsOf({ storeTimeoutMs: 20_000 }), (_level, text) => { said.push(text) })
    guard.onReturn(() => { said.push('return') })
    for (const _ of [1, 2, 3]) await assert.rejects(async () => guard.read(key), isBusy)
    await turns()
    let answer = (): void => {}
    read = () => new Promise((resolve, reject) => {
      answer = () => end === undefined ? resolve(undefined) : reject(end)
    })
    pass(1_000)
    guard.close?.()
    answer()
    await turns()
    pass(3_000)
    await turns()
    assert.deepEqual([asked, said.length], [5, 1])
  }
})

test('a process is kept neither by the question whether its store is there nor by the next', async () => {
  const { guard, turn } = guarded(60_000)
  const before = keepingTimers()
  turn(new Error('connect ECONNREFUSED'))
  const refused = [1, 2, 3].map(() => assert.rejects(async () => guard.read(key), isBusy))
  // What is asked after the third.
  turn('silent')
  await Promise.all(refused)
  assert.equal(keepingTimers(), before)
  const away = guarded()
  away.turn(new Error('connect ECONNREFUSED'))
  for (const _ of [1, 2, 3]) await assert.rejects(async () => away.guard.read(key), isBusy)
  await eventually(() => away.guard.isUnavailable)
  assert.equal(keepingTimers(), before)
  away.guard.close?.()
})

test('of the question whether a store is there nothing is left once it is answered', async () => {
  const { guard, turn } = guarded(600_000)
  turn(new Error('invalid byte sequence'))
  const perQuestion = await keptBytes(500, async () => {
    for (const _ of [1, 2]) await assert.rejects(async () => guard.read(key), isBusy)
    const third = assert.rejects(async () => guard.read(key), isBusy)
    turn('well')
    await third
    turn(new Error('invalid byte sequence'))
  })
  assert.equal(guard.isUnavailable, false)
  assert.ok(perQuestion < 100, `${perQuestion} bytes are held for each question`)
})

test('an answer that was given up counts once, however it ends', async (t) => {
  const pass = standingTime(t)
  const inner = memoryStore({ isShared: true })
  const ends: ((error?: Error) => void)[] = []
  const guard = guardedStore({
    ...inner, isShared: true,
    read: () => new Promise((resolve, reject) => {
      ends.push((error) => error === undefined ? resolve(undefined) : reject(error))
    }),
  }, limitsOf({ storeTimeoutMs: 20 }), () => {})
  const turns = async (): Promise<void> => {
    for (let nth = 0; nth < 6; nth++) await new Promise(setImmediate)
  }
  const late = async (): Promise<void> => {
    const answer = assert.rejects(async () => guard.read(key), isBusy)
    pass(40)
    await answer
  }
  await late()
  await late()
  for (const end of ends.splice(0)) end(new Error('ECONNRESET'))
  await turns()
  // Nobody asks whether the store is there.
  pass(100)
  await turns()
  assert.deepEqual([ends.length, guard.isUnavailable], [0, false])
  // Nor does an answer that comes too late say that it is.
  await late()
  assert.equal(guard.isUnavailable, true)
  ends.splice(0)[0]!()
  await turns()
  assert.equal(guard.isUnavailable, true)
  guard.close?.()
})

test('a store is given up once, however many find it silent, and not where it was closed', async (t) => {
  const pass = standingTime(t)
  for (const isClosed of [false, true]) {
    const { guard, turn, asked, said } = guarded()
    turn('silent')
    const refused = [1, 2, 3, 4, 5].map(() => assert.rejects(async () => guard.read(key), isBusy))
    if (isClosed) guard.close?.()
    pass(40)
    await Promise.all(refused)
    assert.deepEqual([guard.isUnavailable, said.length], isClosed ? [false, 0] : [true, 1])
    const before = asked()
    pass(1_000)
    assert.equal(asked() - before, isClosed ? 0 : 1)
    guard.close?.()
  }
})

test('what says by itself that it was not reached is told as it is', async () => {
  const { guard, turn } = guarded()
  const away = new Fault('busy', 'Redis is away', undefined, { cause: new Error('ECONNREFUSED') })
  turn(away)
  for (const _ of [1, 2]) await assert.rejects(async () => guard.read(key), (error) => error === away)
  guard.close?.()
})
