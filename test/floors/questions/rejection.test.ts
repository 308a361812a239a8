import assert from 'node:assert/strict'
import test from 'node:test'
import { rejectOneByOne } from '../../../lib/floors/questions/rejection.ts'

test('questions whose run is over are rejected one in a turn, and none once its code has ended', async () => {
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const rejected: string[] = []
  let isSettled = false
  const open = ['a', 'b', 'c'].map((name) => ({
    reject: ({ name: kind, message }: Error) => { rejected.push(`${name} ${kind} ${message}`) },
  }))
  rejectOneByOne(open, 'over', () => isSettled)
  assert.deepEqual(rejected, [])
  await turn()
  assert.deepEqual(rejected, ['a AbortError over'])
  await turn()
  assert.equal(rejected.length, 2)
  isSettled = true
  await turn()
  await turn()
  assert.equal(rejected.length, 2)
})
