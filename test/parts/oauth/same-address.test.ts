import assert from 'node:assert/strict'
import test from 'node:test'
import { isSameAddress } from '../../../lib/parts/oauth/same-address.ts'

test('two addresses are one apart from a slash at the end, and nothing else is', () => {
  const same = ['https://h/a', 'https://h/a/', 'HTTPS://H:443/a', 'https://h./a', 'https://h/%61']
  for (const one of same) for (const other of same) assert.equal(isSameAddress(one, other), true, one)
  assert.equal(isSameAddress('https://h', 'https://H:443/'), true)
  assert.equal(isSameAddress('https://m\u00fcller.example', 'https://xn--mller-kva.example/'), true)
  assert.equal(isSameAddress('api', 'api'), true)
  for (const [one, other] of [
    ['https://h/a', 'https://h/A'], ['https://h/a', 'http://h/a'], ['https://h:8443', 'https://h'],
    ['https://h/a', 'https://h/a?b'], ['https://h@evil.example/', 'https://h/'],
    ['api', 'api/'], ['api', 'API'],
    ['https://h.evil.example', 'https://h'], ['https://h/a//', 'https://h/a'],
  ] as const) assert.equal(isSameAddress(one, other), false, `${one} ${other}`)
  for (const value of [undefined, null, 7, {}, ['https://h']]) {
    assert.equal(isSameAddress(value, 'https://h'), false)
  }
})
