import assert from 'node:assert/strict'
import test from 'node:test'
import { costOf } from '../../fixtures/time.ts'
import { decodeHeaderValue } from '../../../lib/parts/mcp/protocol/header-value.ts'

test('a header value of a hostile length is read in linear time', () => {
  const blank = ' '.repeat(200_000)
  assert.ok(costOf(() => assert.equal(decodeHeaderValue(`${blank}x${blank}`), 'x'), 1_000) <= 1_000)
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
