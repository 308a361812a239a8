import assert from 'node:assert/strict'
import test from 'node:test'
import { isScope, parseScope } from '../../lib/wire/scope.ts'

test('a scope is visible ASCII without quotation marks and backslashes', () => {
  for (const scope of ['a', 'orders:read', 'https://api.example/x?y#z', '!', '~', 'a'.repeat(256)]) {
    assert.equal(isScope(scope), true, scope)
  }
  const others = [
    '', ' ', 'a b', 'a"', 'a\\b', 'a\n', 'ä', '\u007f', 'a'.repeat(257), 7, null, undefined, ['a'],
  ]
  for (const value of others) assert.equal(isScope(value), false, String(value))
})

test('a text of scopes is split at its spaces', () => {
  assert.deepEqual(parseScope('orders:write-own'), ['orders:write-own'])
  assert.deepEqual(parseScope(' a  b '), ['a', 'b'])
  assert.deepEqual(parseScope(''), [])
})
