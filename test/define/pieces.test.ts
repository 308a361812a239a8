import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../lib/index.ts'
import { isAsyncIterable, isIterable, readPieces } from '../../lib/define/pieces.ts'
import { callOf } from '../fixtures/house.ts'

test('what is read piece by piece is no list, and has no JSON form of its own', () => {
  const rows: readonly (readonly [value: unknown, isNow: boolean, isLater: boolean])[] = [
    [(function* () {})(), true, false], [(async function* () {})(), false, true], [new Set(), true, false],
    [new Blob([]).stream(), false, true], [[], false, false], [Buffer.from('a'), false, false],
    ['text', false, false], [null, false, false], [undefined, false, false], [{}, false, false],
  ]
  for (const [value, isNow, isLater] of rows) {
    assert.deepEqual([isIterable(value), isAsyncIterable(value)], [isNow, isLater])
  }
})

test('pieces are taken one by one, promises among them waited for, and the end is told', async () => {
  const taken: unknown[] = []
  const pieces = (function* () { yield 'a'; yield Promise.resolve('b'); return Promise.resolve('c') })()
  await readPieces(pieces, callOf(), {
    take: async (piece, isEnd) => { taken.push([piece, isEnd]) },
  })
  assert.deepEqual(taken, [['a', false], ['b', false], ['c', true]])
})

test('whoever breaks ends the reading, and the generator may clean up', async () => {
  for (const broken of ['taking', 'making']) {
    let isTidy = false
    const pieces = (async function* () {
      try {
        yield 'a'
        if (broken === 'making') throw new Error('broken')
        yield 'b'
      } finally {
        isTidy = true
      }
    })()
    const take = (): void => { if (broken === 'taking') throw new Error('broken') }
    await assert.rejects(readPieces(pieces, callOf(), { take }), { message: 'broken' })
    assert.equal(isTidy, true)
  }
})

test('what gives no objects is broken, and what never waits lets others have their turn', async () => {
  const broken = { next: () => 5 as never }
  const noObject = { name: 'TypeError', message: /gives no object/ }
  await assert.rejects(readPieces(broken, callOf(), { take() {} }), noObject)
  const call = callOf()
  const endless = (function* () { for (;;) yield '' })()
  setImmediate(() => call.cancel(new Fault('timeout', 'It was too long')))
  await assert.rejects(readPieces(endless, call, { take() {} }), { message: 'It was too long' })
})
