import assert from 'node:assert/strict'
import test from 'node:test'
import { Workload } from '../../../lib/kernel/run/workload.ts'
import { callOf } from '../../fixtures/house.ts'
import { Fault } from '../../../lib/kernel.ts'
import type { RunLease } from '../../../lib/kernel/run/workload.ts'
import type { LiveCall } from '../../../lib/kernel/define/live-call.ts'

const gone = new Fault('cancelled', 'Gone')

test('as many calls run as may', () => {
  const workload = new Workload(2, 'here')
  const calls = [callOf(), callOf()]
  const places = calls.map((call) => {
    workload.check()
    return workload.enter(call)
  })
  assert.throws(
    () => workload.check(), { kind: 'busy', message: '2 calls are running here already; try again later' },
  )
  places[0]!.leave()
  places[0]!.leave()
  workload.check()
  assert.equal(workload.running, 1)
  new Workload(Infinity, 'here').check()
})

test('one caller who fills all places shuts no other out', () => {
  const workload = new Workload(4, 'here')
  const from = (caller: string): LiveCall => callOf({}, { caller })
  const calls = Array.from({ length: 4 }, () => from('a'))
  const begin = (call: LiveCall): RunLease => {
    workload.check(call.origin)
    return workload.enter(call)
  }
  const places = calls.map(begin)
  const busy = { kind: 'busy' }
  assert.throws(() => workload.check(from('a').origin), busy)
  assert.throws(() => workload.check(), busy)
  const others = [from('b'), from('b')].map(begin)
  assert.throws(() => workload.check(from('c').origin), busy, 'there is an end to it')
  for (const place of [...places, ...others]) place.leave()
  assert.equal(workload.running, 0)
})

test('all calls can be ended from outside', () => {
  const workload = new Workload(10, 'here')
  const calls = [callOf(), callOf()]
  for (const call of calls) {
    // Whoever is told may leave at once.
    const place = workload.enter(call)
    call.onCancel(() => place.leave())
  }
  workload.cancelAll(gone)
  assert.deepEqual(calls.map(({ reason }) => reason), [gone, gone])
  assert.equal(workload.running, 0)
})

test('who waits for the last call waits for those that somebody waits for, and not for ever', async () => {
  const workload = new Workload(10, 'here')
  await workload.idle(60_000)
  const [running, deserted] = [callOf(), callOf()]
  const place = workload.enter(running)
  workload.enter(deserted)
  deserted.cancel(gone)
  let isIdle = false
  const idle = workload.idle(60_000).then(() => { isIdle = true })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isIdle, false)
  place.leave()
  await idle
  const late = callOf()
  workload.enter(late)
  const deserting = workload.idle(60_000)
  late.cancel(gone)
  workload.notifyIfIdle()
  await deserting
  workload.enter(callOf())
  await workload.idle(10)
})
