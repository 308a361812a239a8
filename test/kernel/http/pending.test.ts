import assert from 'node:assert/strict'
import test from 'node:test'
import { Pending } from '../../../lib/kernel/http/access/auth.ts'

test('what settles in time comes through, and its place is free', async () => {
  const pending = new Pending(1, 1_000)
  for (let round = 0; round < 3; round++) {
    pending.check('a')
    assert.equal(await pending.wait(Promise.resolve(round), 'a'), round)
    await assert.rejects(pending.wait(Promise.reject(new Error('down')), 'a'), /down/)
  }
})

test('what settles late is nobody\'s error, and frees its place once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const pending = new Pending(1, 1_000)
  let fail: (error: Error) => void = () => {}
  const waited = pending.wait(new Promise((_resolve, reject) => { fail = reject }), 'a')
  t.mock.timers.tick(1_000)
  await assert.rejects(waited, { name: 'Unavailable' })
  t.mock.timers.tick(1_000)
  pending.check('a')
  const other = pending.wait(new Promise(() => {}), 'a')
  fail(new Error('too late'))
  await new Promise((resolve) => setImmediate(resolve))
  assert.throws(() => pending.check('a'), { name: 'Unavailable' })
  t.mock.timers.tick(1_000)
  await assert.rejects(other, { name: 'Unavailable' })
})

test('without a limit a promise is waited for as long as it takes', async () => {
  const pending = new Pending(Infinity, Infinity)
  const waited = Array.from({ length: 5_000 }, (_, at) => pending.wait(Promise.resolve(at), 'a'))
  pending.check('a')
  assert.equal((await Promise.all(waited)).length, 5_000)
})

test('one who takes every place shuts nobody out', async () => {
  const pending = new Pending(4, Infinity)
  const settle: (() => void)[] = []
  const take = (caller: string): Promise<void> => {
    pending.check(caller)
    return pending.wait(new Promise((resolve) => { settle.push(resolve) }), caller)
  }
  const waited = Array.from({ length: 4 }, () => take('a'))
  assert.throws(() => take('a'), { name: 'Unavailable' })
  waited.push(take('b'), take('b'))
  assert.throws(() => take('b'), { name: 'Unavailable' })
  for (const one of settle) one()
  await Promise.all(waited)
  for (let place = 0; place < 4; place++) void take('b')
  assert.throws(() => take('b'), { name: 'Unavailable' })
})
