import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Clock } from '../../lib/core/clock.ts'

/** Calls, and what is awaited between them: `+` begin, `-` end, a number of milliseconds. */
type Course = readonly ('+' | '-' | number)[]

const courses: readonly (readonly [what: string, ms: number, course: Course, rings: number])[] = [
  ['rings once', 20, [80], 1],
  ['does not ring early', 2_000, [40], 0],
  ['never rings without a limit', Infinity, [20], 0],
  ['takes a limit beyond what a timer can count', 2 ** 40, [20], 0],
  ['stands still', 40, ['+', 120], 0],
  ['goes on', 40, ['+', 80, '-', 120], 1],
  ['stands still while one of several waits', 40, ['+', '+', 20, '-', 120], 0],
  ['goes on when none of several waits', 40, ['+', '+', 20, '-', '-', 120], 1],
  ['counts only what was not waited for', 300, [20, '+', 500, '-', 20], 0],
]

test('a limit counts the time in which nothing is waited for', async () => {
  await Promise.all(courses.map(async ([what, ms, course, expected]) => {
    const clock = new Clock()
    let rings = 0
    clock.limit(ms, () => { rings++ })
    for (const step of course) {
      if (step === '+') clock.begin()
      else if (step === '-') clock.end()
      else await sleep(step)
    }
    assert.equal(rings, expected, what)
    clock.clear()
  }))
})

test('a clock that stands still before it has a limit starts when the wait is over', async () => {
  const clock = new Clock()
  let rings = 0
  clock.begin()
  clock.limit(10, () => { rings++ })
  await sleep(40)
  assert.equal(rings, 0)
  clock.end()
  await sleep(60)
  assert.equal(rings, 1)
})

test('a cleared clock does not ring, whatever ends later', async () => {
  const clock = new Clock()
  clock.limit(10, () => assert.fail('it rang'))
  clock.begin()
  clock.clear()
  clock.end()
  await sleep(30)
})
