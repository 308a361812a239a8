import assert from 'node:assert/strict'
import test from 'node:test'
import { Workload } from '../../lib/run/workload.ts'
import { Fault } from '../../lib/index.ts'
import { callOf } from '../fixtures/house.ts'
import type { LiveCall } from '../../lib/define/live-call.ts'

const gone = new Fault('cancelled', 'Gone')

test('as many calls run as may', () => {
  const workload = new Workload(2, 'here')
  const calls = [callOf(), callOf()]
  for (const call of calls) {
    workload.check()
    workload.enter(call)
  }
  assert.throws(
    () => workload.check(), { kind: 'busy', message: '2 calls are running here already; try again later' },
  )
  workload.leave(calls[0]!)
  workload.leave(calls[0]!)
  workload.check()
  assert.equal(workload.running, 1)
  new Workload(Infinity, 'here').check()
})

test('one caller who fills all places shuts no other out', () => {
  const workload = new Workload(4, 'here')
  const from = (caller: string): LiveCall => callOf({}, { caller })
  const calls = Array.from({ length: 4 }, () => from('a'))
  for (const call of calls) {
    workload.check(call.origin)
    workload.enter(call)
  }
  const busy = { kind: 'busy' }
  assert.throws(() => workload.check(from('a').origin), busy)
  assert.throws(() => workload.check(), busy)
  const others = [from('b'), from('b')]
  for (const call of others) {
    workload.check(call.origin)
    workload.enter(call)
  }
  assert.throws(() => workload.check(from('c').origin), busy, 'there is an end to it')
  for (const call of [...calls, ...others]) workload.leave(call)
  assert.equal(workload.running, 0)
})

test('all calls can be ended from outside', () => {
  const workload = new Workload(10, 'here')
  const calls = [callOf(), callOf()]
  for (const call of calls) {
    // Whoever is told may leave at once.
    call.onCancel(() => workload.leave(call))
    workload.enter(call)
  }
  workload.cancelAll(gone)
  assert.deepEqual(calls.map(({ reason }) => reason), [gone, gone])
  assert.equal(workload.running, 0)
})

test('who waits for the last call waits for those that somebody waits for, and not for ever', async () => {
  const workload = new Workload(10, 'here')
  await workload.idle(60_000)
  const [running, deserted] = [callOf(), callOf()]
  workload.enter(running)
  workload.enter(deserted)
  deserted.cancel(gone)
  let isIdle = false
  const idle = workload.idle(60_000).then(() => { isIdle = true })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isIdle, false)
  workload.leave(running)
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
