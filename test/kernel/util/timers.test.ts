import assert from 'node:assert/strict'
import test from 'node:test'
import { Timers } from '../../../lib/kernel/util/timers.ts'
import { standingTime } from '../../fixtures/time.ts'
import { eventually } from '../../fixtures/kernel.ts'
import type { Timed } from '../../../lib/kernel/util/timers.ts'

/** Writes its name when its time is up. */
class Note implements Timed {
  previous: Timed | undefined
  next: Timed | undefined
  dueAtMs = 0
  readonly #write: () => void

  constructor(write: () => void) {
    this.#write = write
  }

  timeIsUp(): void { this.#write() }
}

test('each is told once, when its own time is over', (t) => {
  const pass = standingTime(t)
  const timers = new Timers()
  const told: string[] = []
  for (const [name, ms] of [['a', 20], ['b', 50], ['c', 20]] as const) {
    timers.of(ms).add(new Note(() => told.push(name)))
    pass(10)
  }
  const course: string[] = []
  for (let at = 30; at < 80; at += 10) {
    course.push(`${at} ${told.join('')}`)
    pass(10)
  }
  assert.deepEqual(course, ['30 a', '40 ac', '50 ac', '60 acb', '70 acb'])
})

test('who has left is not told, and holds up nobody behind him', (t) => {
  const pass = standingTime(t)
  const queue = new Timers().of(20)
  const told: string[] = []
  const [a, b, c] = ['a', 'b', 'c'].map((name) => new Note(() => told.push(name))) as [Note, Note, Note]
  for (const note of [a, b, c]) {
    queue.add(note)
    pass(5)
  }
  queue.remove(a)
  queue.remove(a)
  pass(9)
  assert.deepEqual(told, [])
  pass(1)
  assert.deepEqual(told, ['b'])
  queue.remove(c)
  pass(100)
  assert.deepEqual(told, ['b'])
  queue.add(a)
  pass(19)
  assert.deepEqual(told, ['b'])
  pass(1)
  assert.deepEqual(told, ['b', 'a'])
})

test('whoever is told may begin again, take others out, or throw', (t) => {
  const pass = standingTime(t)
  const queue = new Timers().of(20)
  const told: string[] = []
  const last = new Note(() => told.push('last'))
  const again = new Note(() => {
    told.push('again')
    queue.add(again)
    queue.remove(last)
    queue.add(last)
  })
  queue.add(again)
  queue.add(last)
  pass(39)
  assert.deepEqual(told, ['again'])
  queue.remove(again)
  pass(1)
  assert.deepEqual(told, ['again', 'last'])
  queue.add(new Note(() => { throw new Error('no') }))
  queue.add(last)
  assert.throws(() => pass(20), /no/)
  pass(5)
  assert.deepEqual(told, ['again', 'last', 'last'])
})

test('a process has a reason to live while something waits, and no longer', () => {
  const count = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = count()
  const timers = new Timers()
  const [one, other] = [new Note(() => {}), new Note(() => {})]
  timers.of(60_000).add(one)
  timers.of(60_000).add(other)
  assert.equal(count(), before + 1)
  timers.of(60_000).remove(one)
  assert.equal(count(), before + 1)
  timers.of(60_000).remove(other)
  assert.equal(count(), before)
  timers.of(60_000).add(one)
  assert.equal(count(), before + 1)
  timers.of(60_000).remove(one)
  assert.equal(count(), before)
})

test('nothing is left behind the end but what waits', (t) => {
  const cleared = t.mock.method(globalThis, 'clearTimeout')
  const timers = new Timers()
  const [one, other] = [new Note(() => {}), new Note(() => {})]
  timers.of(60_000).add(one)
  timers.of(70_000).add(other)
  timers.of(60_000).remove(one)
  timers.close()
  assert.equal(cleared.mock.callCount(), 1)
  timers.of(70_000).remove(other)
  timers.close()
  assert.equal(process.getActiveResourcesInfo().includes('Timeout'), false)
})

test('by the real clock nobody is told early', async () => {
  const queue = new Timers().of(30)
  const late: number[] = []
  const begin = (): void => {
    const begun = performance.now()
    queue.add(new Note(() => late.push(performance.now() - begun)))
  }
  for (let at = 0; at < 20; at++) setTimeout(begin, at)
  await eventually(() => late.length === 20, 'all are told')
  assert.deepEqual(late.filter((ms) => ms < 29), [])
})

test('where no other timer can be made, those that wait end at once, and nothing is thrown', (t) => {
  const pass = standingTime(t)
  const queue = new Timers().of(20)
  const told: string[] = []
  queue.add(new Note(() => told.push('a')))
  pass(10)
  queue.add(new Note(() => told.push('b')))
  const failing = t.mock.method(globalThis, 'setTimeout', () => { throw new Error('No timer is left') })
  pass(10)
  assert.deepEqual(told, ['a', 'b'])
  failing.mock.restore()
  queue.add(new Note(() => told.push('c')))
  pass(20)
  assert.deepEqual(told, ['a', 'b', 'c'])
})
