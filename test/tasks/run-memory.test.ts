import assert from 'node:assert/strict'
import test from 'node:test'
import { RunMemory } from '../../lib/tasks/run-memory.ts'

const begun = { messageId: 'm1', metadata: { a: 1 } }

test('a turn that asked nothing and did nothing once has no memory', () => {
  assert.equal(new RunMemory(() => begun, 100, undefined).turn, undefined)
})

test('answers and results are found again by the memory that is made of them', () => {
  const memory = new RunMemory(() => begun, 100, undefined)
  memory.begin()
  assert.deepEqual(memory.turn, { ...begun, answers: {}, results: {} })
  memory.keepAnswers(new Map([['name', { action: 'accept' }]]))
  memory.keepAnswers(new Map([['__proto__', 1]]))
  memory.keepResult('paid', { id: 7 })
  memory.keepResult('nothing', undefined)
  const again = new RunMemory(() => begun, 100, JSON.parse(JSON.stringify(memory.turn)))
  assert.deepEqual(again.answer('name'), { action: 'accept' })
  assert.equal(again.answer('__proto__'), 1)
  assert.deepEqual(again.result('paid'), { id: 7 })
  // What gave nothing has happened all the same.
  assert.equal(again.result('nothing'), null)
  for (const key of ['constructor', '__proto__']) assert.equal(again.result(key), undefined, key)
  assert.equal(again.answer('constructor'), undefined)
})

test('a result that was kept changes no more, and all of them together are bounded', () => {
  const memory = new RunMemory(() => begun, 20, undefined)
  const result = { n: 1 }
  memory.keepResult('a', result)
  result.n = 2
  assert.deepEqual(memory.result('a'), { n: 1 })
  assert.throws(() => memory.keepResult('b', 'x'.repeat(20)), {
    kind: 'too-large', message: 'The results of call.once are larger than 20 bytes',
  })
  assert.equal(memory.result('b'), undefined)
})
