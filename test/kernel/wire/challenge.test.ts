import assert from 'node:assert/strict'
import { validateHeaderValue } from 'node:http'
import test from 'node:test'
import { formatChallenge, isScope, parseScope } from '../../../lib/kernel/wire/challenge.ts'
import type { BearerParameters } from '../../../lib/kernel/wire/challenge.ts'

const hostile: readonly unknown[] = [
  7, null, undefined, Symbol('a'), 7n, {}, [], ['a'], 'a b', 'a"', 'a", error="x', 'ä', '\n', '',
  { toString() { throw new Error('no') } }, { get length() { throw new Error('no') } },
]

const rows: readonly (readonly [parameters: BearerParameters, challenge: string])[] = [
  [{}, 'Bearer'],
  [{ realm: '' }, 'Bearer'],
  [{ realm: undefined, error: undefined, scope: undefined }, 'Bearer'],
  [{ realm: 'House' }, 'Bearer realm="House"'],
  [{ realm: 'The "best" \\ house\r\nSet-Cookie: a=b' }, 'Bearer realm="The best  houseSet-Cookie: a=b"'],
  [{ realm: '助手' }, 'Bearer'],
  [{ realm: 'Haus für 助手' }, 'Bearer realm="Haus fr"'],
  [{ error: 'insufficient_scope', scope: ['read', 'write'] },
    'Bearer error="insufficient_scope", scope="read write"'],
  [{ scope: [] }, 'Bearer'],
  [{ scope: hostile }, 'Bearer'],
  [{ scope: [...hostile, 'read'] }, 'Bearer scope="read"'],
  [{ resource_metadata: 'https://a.example/.well-known/x' },
    'Bearer resource_metadata="https://a.example/.well-known/x"'],
]

test('a challenge holds what a quoted string can, whatever it is given', () => {
  for (const [parameters, challenge] of rows) {
    assert.equal(formatChallenge(parameters), challenge)
    validateHeaderValue('WWW-Authenticate', challenge)
  }
})

test('a challenge stays short, however many scopes there are', () => {
  const scope = Array.from({ length: 10_000 }, (_, at) => `scope:${at}`)
  assert.ok(formatChallenge({ scope }).length < 2_100)
})

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
