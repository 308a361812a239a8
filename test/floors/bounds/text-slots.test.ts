import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { NO_SLOT, TextSlots } from '../../../lib/floors/bounds/text-slots.ts'
import type { SlotHolder } from '../../../lib/floors/bounds/text-slots.ts'

class Holder implements SlotHolder {
  firstSlot: number = NO_SLOT
  lastSlot: number = NO_SLOT
}

test('a slot is found by its id alone, and by no other', () => {
  const all = new TextSlots<Holder>(1_000, 2, 256)
  const holder = new Holder()
  const ids = Array.from({ length: 1_000 }, () => randomUUID())
  assert.equal(all.find(ids[0]!), NO_SLOT)
  for (const [at, id] of ids.entries()) {
    all.add(holder, id, [`q${at}`, `a${at}`], 0, at)
  }
  for (const [at, id] of ids.entries()) {
    const slot = all.find(id)
    assert.deepEqual(all.textsOf(slot), [`q${at}`, `a${at}`])
    assert.deepEqual([all.idOf(slot), all.begunAt(slot), all.holderOf(slot)], [id, at, holder])
  }
  const [known = ''] = ids
  for (const other of ['', known.slice(1), `${known} `, known.toUpperCase(), known.replace(/.$/, '!')]) {
    assert.equal(all.find(other), NO_SLOT)
  }
})

test('a slot that was given back is taken again, by whoever comes', () => {
  const all = new TextSlots<Holder>(65, 2, 256)
  const holders = [new Holder(), new Holder()]
  const kept: { id: string; text: string }[] = []
  for (let at = 0; at < 20_000; at++) {
    const one = { id: randomUUID(), text: at % 3 === 0 ? 'x'.repeat(300) + at : `text ${at}` }
    all.add(holders[at % 2]!, one.id, [one.text, ''], 0, at)
    kept.push(one)
    if (kept.length < 65) continue
    // Now one from the front, now one from the middle.
    const [gone] = kept.splice(at % 64, 1)
    all.remove(all.find(gone!.id))
    assert.equal(all.find(gone!.id), NO_SLOT)
  }
  for (const { id, text } of kept) assert.equal(all.textsOf(all.find(id))[0], text)
})

test('texts come out as they went in, however long, and whatever their characters', () => {
  const characters = ['x', 'é', '€', '𝄞', '\ud800']
  const all = new TextSlots<Holder>(2_000, 3, 100)
  const holder = new Holder()
  // What finds room in a cell, what just does not, and what is far from it.
  for (const length of [...Array.from({ length: 70 }, (_, at) => at), 1_000, 70_000]) {
    for (const character of characters) {
      const ending = 'x'.repeat(Math.max(0, length - 3)) + character.repeat(Math.min(3, length))
      for (const texts of [[ending, '', 'last'], ['', character, ending], ['ask', ending, character]]) {
        const id = randomUUID()
        const slot = all.add(holder, id, texts, 5, 0)
        assert.deepEqual(all.textsOf(slot), texts)
        assert.equal(all.textOf(slot, 1), texts[1])
        assert.equal(all.idOf(slot), id)
        assert.equal(all.bytesOf(slot), 5 + Buffer.byteLength(texts.join('')))
      }
    }
  }
})

test('those of a holder stand in the order in which they were begun', () => {
  const all = new TextSlots<Holder>(100, 2, 256)
  const [ann, bob] = [new Holder(), new Holder()]
  const ids = Array.from({ length: 6 }, () => randomUUID())
  for (const [at, id] of ids.entries()) {
    all.add(at % 2 === 0 ? ann : bob, id, ['', ''], 0, at)
  }
  assert.deepEqual([...all.of(ann)].map((slot) => all.begunAt(slot)), [4, 2, 0])
  all.remove(all.find(ids[2]!))
  assert.equal(all.count, 5)
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
