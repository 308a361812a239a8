import assert from 'node:assert/strict'
import test from 'node:test'
import { startDeadline, withDeadline } from '../../lib/util/deadline.ts'
import { holdUp } from '../fixtures/time.ts'

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
