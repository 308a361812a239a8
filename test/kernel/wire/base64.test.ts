import assert from 'node:assert/strict'
import test from 'node:test'
import { costOf } from '../../fixtures/time.ts'
import { decodeBase64, standardBase64 } from '../../../lib/kernel/wire/base64.ts'

function text(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString('latin1')
}

test('the test vectors of RFC 4648 are read', () => {
  const vectors = [
    ['', ''], ['f', 'Zg=='], ['fo', 'Zm8='], ['foo', 'Zm9v'], ['foob', 'Zm9vYg=='], ['fooba', 'Zm9vYmE='],
    ['foobar', 'Zm9vYmFy'], ['\xfb\xff', '+/8='],
  ] as const
  for (const [plain, encoded] of vectors) assert.equal(text(decodeBase64(encoded)), plain)
})

test('what is not canonical, padded, standard base64 is none', () => {
  const bad = [
    'Zg', 'Zg=', 'Zg===', 'Zh==', 'Zm9=', 'Zm9v\n', ' Zm9v', 'Zm 9v', 'Zm9v====', 'Zg==Zg==', '-_8=',
    '=', '====', 'Zm9vé', 'Zm9v-TAMPERED', 'A', 'Zm9v\0',
  ]
  for (const value of bad) assert.equal(decodeBase64(value), undefined, value)
})

test('base64 of either alphabet, padded or not, has one standard spelling', () => {
  const rows = [
    ['', ''], ['Zg==', 'Zg=='], ['Zg', 'Zg=='], ['Zm8', 'Zm8='], ['-_8=', '+/8='], ['-_8', '+/8='],
    ['Zg=', undefined], ['A', undefined], ['Zm9v=', undefined], ['Zm 9', undefined], ['Zg==Zg==', undefined],
  ] as const
  for (const [given, standard] of rows) assert.equal(standardBase64(given), standard, given)
})

test('URL-safe base64 is read without padding', () => {
  const rows = [['', ''], ['f', 'Zg'], ['foo', 'Zm9v'], ['\xfb\xff\xfe', '-__-']] as const
  for (const [plain, encoded] of rows) {
    assert.equal(text(decodeBase64(encoded, 'base64url')), plain)
  }
  for (const value of ['Zg==', 'Zh', '+/8', 'Zm9v-TAMPERED', 'Zm9v.', 'Z', 'Zg\n']) {
    assert.equal(decodeBase64(value, 'base64url'), undefined, value)
  }
})

test('hostile lengths are read in linear time', () => {
  assert.ok(costOf(() => {
    assert.equal(decodeBase64('A'.repeat(4_000_001)), undefined)
  }, 1_000) <= 1_000)
})
