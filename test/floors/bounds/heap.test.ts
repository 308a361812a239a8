import assert from 'node:assert/strict'
import test from 'node:test'
import { NOT_IN_HEAP, Heap } from '../../../lib/floors/bounds/heap.ts'
import type { Order } from '../../../lib/floors/bounds/heap.ts'

interface Runner { time: number; place: number }

const bySpeed: Order<Runner> = {
  isBefore: (one, other) => one.time < other.time,
  placeOf: (runner) => runner.place,
  place(runner, at) { runner.place = at },
}

test('the first and the second are known at any time, whoever comes, changes and leaves', () => {
  const ranking = new Heap<Runner>(bySpeed)
  const running: Runner[] = []
  let seed = 3
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 0x80000000
    return (seed >> 8) % below
  }
  assert.deepEqual([ranking.first, ranking.second], [undefined, undefined])
  for (let at = 0; at < 20_000; at++) {
    const what = random(5)
    // Half of the time more come than leave, then more leave than come.
    if (what < (at % 2_000 < 1_000 ? 3 : 1)) {
      const runner = { time: random(1_000), place: NOT_IN_HEAP }
      running.push(runner)
      ranking.add(runner)
    } else if (running.length > 0 && what === 4) {
      const runner = running[random(running.length)]!
      runner.time = random(1_000)
      ranking.moved(runner)
    } else if (running.length > 0) {
      const [runner] = running.splice(random(running.length), 1)
      ranking.remove(runner!)
      assert.equal(runner!.place, NOT_IN_HEAP)
    }
    const times = running.map(({ time }) => time).toSorted((one, other) => one - other)
    assert.deepEqual([ranking.first?.time, ranking.second?.time], [times[0], times[1]], `round ${at}`)
    if (at % 500 === 0) assert.deepEqual([...ranking.inOrder()].map(({ time }) => time), times)
  }
})
