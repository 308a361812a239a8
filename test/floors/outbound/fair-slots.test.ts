import assert from 'node:assert/strict'
import test from 'node:test'
import { FairSlots } from '../../../lib/floors/outbound/fair-slots.ts'

const never = new AbortController().signal

test('so many enter in all and of one owner, and owners who wait take turns', async () => {
  const slots = new FairSlots('tests', { max: 3, maxPerOwner: 2 })
  const entered: string[] = []
  const leave = new Map<string, () => void>()
  const all = ['ann', 'ann', 'ann', 'ann', 'bob', 'bob', 'eve'].map(async (owner, nth) => {
    leave.set(`${owner}${nth}`, (await slots.enter(owner, never))!)
    entered.push(`${owner}${nth}`)
  })
  await Promise.all([all[0], all[1], all[4]])
  assert.deepEqual([entered, slots.taken, slots.waiting], [['ann0', 'ann1', 'bob4'], 3, 4])
  for (const [who, next] of [['ann0', 2], ['ann1', 5], ['bob4', 6], ['eve6', 3]] as const) {
    leave.get(who)!()
    await all[next]
  }
  assert.deepEqual(entered.slice(3), ['ann2', 'bob5', 'eve6', 'ann3'])
})

test('a place is given back once, however often it is said', async () => {
  const slots = new FairSlots('tests', { max: 2, maxPerOwner: 1 })
  const leave = (await slots.enter('ann', never))!
  await slots.enter('bob', never)
  for (let again = 0; again < 3; again++) leave()
  assert.equal(slots.taken, 1)
  await slots.enter('ann', never)
  leave()
  assert.equal(slots.taken, 2)
})

test('who waits no longer takes no place, and who is gone already does not even wait', async () => {
  const slots = new FairSlots('tests', { max: 1, maxPerOwner: 1 })
  const leave = (await slots.enter('ann', never))!
  const gone = new AbortController()
  const waiting = slots.enter('bob', gone.signal)
  const next = slots.enter('eve', never)
  assert.equal(slots.waiting, 2)
  gone.abort()
  assert.equal(await waiting, undefined)
  assert.equal(await slots.enter('bob', gone.signal), undefined)
  assert.deepEqual([slots.taken, slots.waiting], [1, 1])
  leave()
  ;(await next)!()
  assert.deepEqual([slots.taken, slots.waiting], [0, 0])
})

test('no more wait than may, in all and of one owner', async () => {
  const slots = new FairSlots('tests', { max: 1, maxPerOwner: 1, maxWaiting: 3, maxWaitingPerOwner: 2 })
  const leave = (await slots.enter('ann', never))!
  const waiting = ['ann', 'ann', 'bob'].map((owner) => slots.enter(owner, never))
  assert.equal(await slots.enter('eve', never), undefined)
  leave()
  const first = (await waiting[0])!
  const last = slots.enter('eve', never)
  assert.equal(await slots.enter('eve', never), undefined)
  assert.deepEqual([slots.taken, slots.waiting], [1, 3])
  first()
  for (const next of [waiting[2], waiting[1], last]) (await next)!()
  assert.deepEqual([slots.taken, slots.waiting], [0, 0])
})
