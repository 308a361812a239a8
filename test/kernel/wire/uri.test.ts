import assert from 'node:assert/strict'
import test from 'node:test'
import { isAtOrBelow, normalAddress, normalUri } from '../../../lib/kernel/wire/uri.ts'

test('a path lies below another where a slash says so', () => {
  const rows: readonly (readonly [path: string, top: string, isThere: boolean])[] = [
    ['/team', '/team', true], ['/team/', '/team', true], ['/team/a/b', '/team', true],
    ['/team/a', '/team/', true], ['/team/', '/team/', true], ['/a', '/', true],
    ['/teams', '/team', false], ['/team', '/team/', false], ['/tea', '/team', false],
    ['/a/team', '/team', false], ['note://1/a', 'note://1', true], ['note://10', 'note://1', false],
  ]
  for (const [path, top, isThere] of rows) assert.equal(isAtOrBelow(path, top), isThere, `${path} ${top}`)
})

const addresses: readonly (readonly [address: string, normal: string])[] = [
  ['https://h', 'https://h/'], ['https://h?a', 'https://h/?a'], ['https://h#a', 'https://h/#a'],
  ['HTTPS://API.Example.COM/A', 'https://api.example.com/A'], ['https://h:443/a', 'https://h/a'],
  ['https://h:0443', 'https://h/'], ['https://h:/a', 'https://h/a'], ['http://h:80', 'http://h/'],
  ['http://h:443/', 'http://h:443/'], ['ws://h:80/a', 'ws://h/a'], ['wss://h:443', 'wss://h/'],
  ['https://h.:8443/a', 'https://h:8443/a'], ['https://h./', 'https://h/'],
  ['https://[::1]:443', 'https://[::1]/'],
  ['https://h/%7ea%2f', 'https://h/~a%2F'], ['https://h/a/', 'https://h/a/'],
  ['https://u@H/', 'https://u@H/'],
  ['file:/a', 'file:///a'], ['FILE://localhost/a', 'file:///a'], ['file:///a', 'file:///a'],
  ['docs://Readme', 'docs://Readme'], ['docs://a:443/', 'docs://a:443/'], ['urn:A:b', 'urn:A:b'],
  ['https://', 'https://'], ['https:///a', 'https:///a'], ['not an address', 'not%20an%20address'],
]

test('an address has one normal form, and the beginning of one keeps what may go on', () => {
  for (const [address, normal] of addresses) {
    assert.equal(normalAddress(address), normal)
    assert.equal(normalAddress(normal), normal)
  }
  for (const beginning of ['https://', 'https://h', 'https://h.', 'https://h:', 'https://h:443', 'file:/']) {
    assert.equal(normalUri(beginning), beginning)
  }
  assert.equal(normalUri('HTTPS://API.'), 'https://api.')
})
