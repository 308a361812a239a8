import assert from 'node:assert/strict'
import test from 'node:test'
import { PushSlots } from '../../lib/a2a/push-slots.ts'

test('so many enter in all and of one owner, who has waited longest first', async () => {
  const slots = new PushSlots(3, 2)
  const entered: string[] = []
  const all = ['ann', 'ann', 'ann', 'bob', 'bob', 'eve'].map((owner, nth) => {
    return slots.enter(owner).then(() => { entered.push(`${owner}${nth}`) })
  })
  await Promise.all([all[0], all[1], all[3]])
  assert.deepEqual(entered, ['ann0', 'ann1', 'bob3'])
  slots.leave('bob')
  await all[4]
  slots.leave('ann')
  await all[2]
  slots.leave('ann')
  slots.leave('ann')
  await Promise.all(all)
  assert.deepEqual(entered, ['ann0', 'ann1', 'bob3', 'bob4', 'ann2', 'eve5'])
})
