import assert from 'node:assert/strict'
import test from 'node:test'
import { costOf } from '../../fixtures/time.ts'
import { decodeBase64, decodeHeaderValue, standardBase64 } from '../../../lib/kernel/wire/base64.ts'

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

test('a header value is literal, or base64 between the two markers', () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['', ''],
    ['plain', 'plain'],
    [' \tplain\t ', 'plain'],
    ['a\tb', 'a\tb'],
    ['=?base64?SGVsbG8=?=', 'Hello'],
    ['  =?base64?SGVsbG8=?=  ', 'Hello'],
    ['=?base64?w6k=?=', 'é'],
    ['=?base64?77u/YQ==?=', '\ufeffa'],
    ['=?base64??=', ''],
    ['=?base64?SGVsbG8?=', undefined],
    ['=?base64?SGVsbG9=?=', undefined],
    ['=?base64?SGV sbG8=?=', undefined],
    ['=?base64?SGVs!!!bG8=?=', undefined],
    ['=?base64?-_8=?=', undefined],
    ['=?base64?/w==?=', undefined],
    ['=?base64?7aCA?=', undefined],
    ['=?base64?SGVsbG8=', '=?base64?SGVsbG8='],
    ['SGVsbG8=?=', 'SGVsbG8=?='],
    ['=?BASE64?SGVsbG8=?=', '=?BASE64?SGVsbG8=?='],
    ['=?base64?=', '=?base64?='],
    ['é', undefined],
    ['a\x7f', undefined],
    ['a\nb', undefined],
    ['\xa0a', undefined],
    ['a\0', undefined],
  ]
  for (const [value, expected] of rows) {
    assert.equal(decodeHeaderValue(value), expected, JSON.stringify(value))
  }
})

test('hostile lengths are read in linear time', () => {
  assert.ok(costOf(() => {
    assert.equal(decodeBase64('A'.repeat(4_000_001)), undefined)
    assert.equal(decodeHeaderValue(' '.repeat(200_000) + 'x' + ' '.repeat(200_000)), 'x')
  }, 1_000) <= 1_000)
})
