import assert from 'node:assert/strict'
import test from 'node:test'
import { Pending } from '../../lib/http/access/pending.ts'

test('what settles in time comes through, and its place is free', async () => {
  const pending = new Pending(1, 1_000)
  for (let round = 0; round < 3; round++) {
    pending.check()
    assert.equal(await pending.wait(Promise.resolve(round)), round)
    await assert.rejects(pending.wait(Promise.reject(new Error('down'))), /down/)
  }
})

test('what settles late is nobody\'s error, and frees its place once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const pending = new Pending(1, 1_000)
  let fail: (error: Error) => void = () => {}
  const waited = pending.wait(new Promise((_resolve, reject) => { fail = reject }))
  t.mock.timers.tick(1_000)
  await assert.rejects(waited, { name: 'Unavailable' })
  t.mock.timers.tick(1_000)
  pending.check()
  const other = pending.wait(new Promise(() => {}))
  fail(new Error('too late'))
  await new Promise((resolve) => setImmediate(resolve))
  assert.throws(() => pending.check(), { name: 'Unavailable' })
  t.mock.timers.tick(1_000)
  await assert.rejects(other, { name: 'Unavailable' })
})

test('without a limit a promise is waited for as long as it takes', async () => {
  const pending = new Pending(Infinity, Infinity)
  const waited = Array.from({ length: 5_000 }, (_, at) => pending.wait(Promise.resolve(at)))
  pending.check()
  assert.equal((await Promise.all(waited)).length, 5_000)
})
