import assert from 'node:assert/strict'
import test from 'node:test'
import {
  Clock, MAX_TIMER_MS, startDeadline, withDeadline, IdleWaiters,
} from '../../../lib/kernel/util/clock.ts'
import { holdUp, standingTime } from '../../fixtures/time.ts'

/** What happens to a clock: `+` begin, `-` end, a number of milliseconds that pass. */
type Course = readonly ('+' | '-' | number)[]

const courses: readonly (readonly [what: string, ms: number, course: Course, rings: number])[] = [
  ['rings at its time', 20, [20], 1],
  ['rings once', 20, [80], 1],
  ['does not ring early', 20, [19], 0],
  ['rings at once without any time', 0, [1], 1],
  ['never rings without a limit', Infinity, [2_000], 0],
  ['takes a limit beyond what a timer can count', MAX_TIMER_MS + 1, [2_000], 0],
  ['stands still', 40, ['+', 120], 0],
  ['goes on', 40, ['+', 80, '-', 40], 1],
  ['stands still while one of several waits', 40, ['+', '+', 20, '-', 120], 0],
  ['goes on when none of several waits', 40, ['+', '+', 20, '-', '-', 40], 1],
  ['counts what was not waited for', 40, [30, '+', 500, '-', 10], 1],
  ['counts nothing else', 40, [30, '+', 500, '-', 9], 0],
  ['rings no more after it has', 40, [40, '+', 40, '-', 40], 1],
]

test('a limit counts the time in which nothing is waited for', (t) => {
  const pass = standingTime(t)
  for (const [what, ms, course, expected] of courses) {
    const clock = new Clock()
    let rings = 0
    clock.limit(ms, () => { rings++ })
    for (const step of course) {
      if (step === '+') clock.stop()
      else if (step === '-') clock.resume()
      else pass(step)
    }
    assert.equal(rings, expected, what)
    clock.clear()
  }
})

test('a clock that stands still before it has a limit starts when the wait is over', (t) => {
  const pass = standingTime(t)
  const clock = new Clock()
  let rings = 0
  clock.stop()
  clock.limit(10, () => { rings++ })
  pass(40)
  assert.equal(rings, 0)
  clock.resume()
  pass(9)
  assert.equal(rings, 0)
  pass(1)
  assert.equal(rings, 1)
})

test('a new limit takes the place of the one before', (t) => {
  const pass = standingTime(t)
  const clock = new Clock()
  const rung: string[] = []
  clock.limit(10, () => rung.push('first'))
  pass(5)
  clock.limit(10, () => rung.push('second'))
  pass(9)
  assert.deepEqual(rung, [])
  pass(20)
  assert.deepEqual(rung, ['second'])
})

test('a cleared clock does not ring, whatever ends later', (t) => {
  const pass = standingTime(t)
  const clock = new Clock()
  clock.limit(10, () => assert.fail('it rang'))
  clock.stop()
  clock.clear()
  clock.resume()
  pass(30)
})

test('a real timer rings too, and one in the background lets the process end', async () => {
  await new Promise<void>((resolve) => new Clock().limit(1, resolve))
  const timers = (): number => process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length
  const before = timers()
  const [clock, background] = [new Clock(), new Clock()]
  background.limit(60_000, () => {}, true)
  assert.equal(timers(), before)
  clock.limit(60_000, () => {})
  assert.equal(timers(), before + 1)
  for (const one of [clock, background]) one.clear()
})

const LIMIT_MS = 20

test('an answer that came while this process was held up is heard, however long that was', async () => {
  for (const heldUpMs of [25, 60, 110, 300]) {
    const outcome = await new Promise((resolve) => {
      const stop = startDeadline(LIMIT_MS, () => resolve('given up'))
      // It is read in a later turn.
      setImmediate(() => setImmediate(() => {
        stop()
        resolve('heard')
      }))
      holdUp(heldUpMs)
    })
    assert.equal(outcome, 'heard', `${heldUpMs} ms`)
  }
})

test('what does not come is given up, also by a process that was held up', async () => {
  for (const heldUpMs of [0, 60, 300]) {
    const began = performance.now()
    const given = new Promise<void>((resolve) => { startDeadline(LIMIT_MS, resolve) })
    holdUp(heldUpMs)
    await given
    assert.ok(performance.now() - began >= LIMIT_MS - 1)
  }
})

test('without a limit nothing is given up, and nothing keeps the process', () => {
  const before = process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length
  startDeadline(Infinity, () => assert.fail('it was given up'))()
  startDeadline(Infinity, () => assert.fail('it was given up'))
  assert.equal(process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length, before)
})

test('a promise has its outcome, or that of its deadline', async () => {
  const late = (): Error => new Error('late')
  assert.equal(await withDeadline(Promise.resolve(1), LIMIT_MS, late), 1)
  await assert.rejects(withDeadline(Promise.reject(new Error('failed')), LIMIT_MS, late), /failed/)
  await assert.rejects(withDeadline(new Promise(() => {}), LIMIT_MS, late), /late/)
})

test('who waits for idleness waits until it is there, or for so long', async () => {
  const idle = new IdleWaiters()
  const waits = [idle.wait(Infinity), idle.wait(60_000)]
  idle.notify()
  await Promise.all(waits)
  idle.notify()
  await idle.wait(1)
})
