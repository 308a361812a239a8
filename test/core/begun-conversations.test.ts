import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { BegunConversations, NO_SLOT } from '../../lib/core/begun-conversations.ts'
import type { SlotHolder } from '../../lib/core/begun-conversations.ts'

class Holder implements SlotHolder {
  firstSlot: number = NO_SLOT
  lastSlot: number = NO_SLOT
}

test('a slot is found by its id alone, and by no other', () => {
  const all = new BegunConversations<Holder>(1_000)
  const holder = new Holder()
  const ids = Array.from({ length: 1_000 }, () => randomUUID())
  assert.equal(all.find(ids[0]!), NO_SLOT)
  for (const [at, id] of ids.entries()) {
    all.add(holder, id, { asked: `q${at}`, answered: `a${at}` }, 0, at)
  }
  for (const [at, id] of ids.entries()) {
    const slot = all.find(id)
    assert.deepEqual(all.textsOf(slot), { asked: `q${at}`, answered: `a${at}` })
    assert.deepEqual([all.begunAt(slot), all.holderOf(slot)], [at, holder])
  }
  const [known = ''] = ids
  for (const other of ['', known.slice(1), `${known} `, known.toUpperCase(), known.replace(/.$/, '!')]) {
    assert.equal(all.find(other), NO_SLOT)
  }
})

test('a slot that was given back is taken again, by whoever comes', () => {
  const all = new BegunConversations<Holder>(65)
  const holders = [new Holder(), new Holder()]
  const kept: { id: string; text: string }[] = []
  for (let at = 0; at < 20_000; at++) {
    const one = { id: randomUUID(), text: at % 3 === 0 ? 'x'.repeat(300) + at : `text ${at}` }
    all.add(holders[at % 2]!, one.id, { asked: one.text, answered: '' }, 0, at)
    kept.push(one)
    if (kept.length < 65) continue
    // Now one from the front, now one from the middle.
    const [gone] = kept.splice(at % 64, 1)
    all.remove(all.find(gone!.id))
    assert.equal(all.find(gone!.id), NO_SLOT)
  }
  for (const { id, text } of kept) assert.equal(all.textsOf(all.find(id)).asked, text)
})

test('those of a holder stand in the order in which they were begun', () => {
  const all = new BegunConversations<Holder>(100)
  const [ann, bob] = [new Holder(), new Holder()]
  const ids = Array.from({ length: 6 }, () => randomUUID())
  for (const [at, id] of ids.entries()) {
    all.add(at % 2 === 0 ? ann : bob, id, { asked: '', answered: '' }, 0, at)
  }
  all.remove(all.find(ids[2]!))
  const begun: number[] = []
  for (const holder of [ann, bob]) {
    while (holder.firstSlot !== NO_SLOT) {
      begun.push(all.begunAt(holder.firstSlot))
      all.remove(holder.firstSlot)
    }
  }
  assert.deepEqual(begun, [0, 4, 1, 3, 5])
  assert.deepEqual([ann.lastSlot, bob.lastSlot], [NO_SLOT, NO_SLOT])
})
