import assert from 'node:assert/strict'
import test from 'node:test'
import { takeTurn, turn, whenTurnIsFree } from '../../lib/http/turn.ts'

const nextTurn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve) })

test('a turn that is taken is free again in the next one', async () => {
  assert.equal(turn.isTaken, false)
  takeTurn()
  assert.equal(turn.isTaken, true)
  await nextTurn()
  assert.equal(turn.isTaken, false)
})

test('of large pieces of work one is done in a turn, in the order in which they came', async () => {
  const done: number[] = []
  for (const piece of [1, 2, 3]) {
    whenTurnIsFree(() => {
      done.push(piece)
      takeTurn()
    })
  }
  for (const expected of [[1], [1, 2], [1, 2, 3]]) {
    await nextTurn()
    assert.deepEqual(done, expected)
  }
  await nextTurn()
  assert.equal(turn.isTaken, false)
})

test('small pieces that have waited are done in one turn', async () => {
  const done: number[] = []
  for (const piece of [1, 2, 3]) whenTurnIsFree(() => done.push(piece))
  assert.deepEqual(done, [])
  await nextTurn()
  assert.deepEqual(done, [1, 2, 3])
})
