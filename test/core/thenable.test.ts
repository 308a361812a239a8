import assert from 'node:assert/strict'
import test from 'node:test'
import { isThenable } from '../../lib/core/thenable.ts'

test('whatever has a then is waited for, and nothing else', () => {
  for (const value of [Promise.resolve(), { then() {} }, Object.create({ then() {} })]) {
    assert.equal(isThenable(value), true)
  }
  for (const value of [undefined, null, 0, 'then', {}, { then: true }, [], () => {}]) {
    assert.equal(isThenable(value), false)
  }
})
