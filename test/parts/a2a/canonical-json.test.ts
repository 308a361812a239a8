import assert from 'node:assert/strict'
import test from 'node:test'
import { formatCanonicalJson } from '../../../lib/parts/a2a/model/canonical-json.ts'

test('the example of RFC 8785 comes out as it stands there', () => {
  const input = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`
  const output = '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
    + String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`
  assert.equal(formatCanonicalJson(JSON.parse(input)), output)
})

test('names are in the order of their UTF-16 code units, at every depth', () => {
  // RFC 8785 §3.2.3: an emoji stands before a Hebrew letter, whose code point is lower.
  const names = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\u{1f600}', '\ufb33']
  const shuffled = Object.fromEntries(names.toReversed().map((name) => [name, 0]))
  const text = formatCanonicalJson([{ a: shuffled }])
  const places = names.map((name) => text.indexOf(`${JSON.stringify(name)}:0`))
  assert.deepEqual(places, places.toSorted((one, other) => one - other))
  assert.match(formatCanonicalJson(shuffled), /^\{"\\r":0,"1":0,/)
  const deep = { b: [{ d: 1, c: 2 }], a: { f: '', e: {} } }
  assert.equal(formatCanonicalJson(deep), '{"a":{"e":{},"f":""},"b":[{"c":2,"d":1}]}')
})

const rows: readonly (readonly [value: unknown, text: string])[] = [
  [-0, '0'], [1e21, '1e+21'], [5e-324, '5e-324'], [9007199254740992, '9007199254740992'],
  [0.1 + 0.2, '0.30000000000000004'], ['\u2028</\u007f', '"\u2028</\u007f"'],
  ['\b\f\t\u001f', String.raw`"\b\f\t\u001f"`],
  [[], '[]'], [{ a: undefined }, '{}'], [JSON.parse('{"__proto__":1}'), '{"__proto__":1}'],
]

test('numbers and texts are as ECMAScript writes them', () => {
  for (const [value, text] of rows) assert.equal(formatCanonicalJson(value), text)
})

test('what has no canonical form is refused', () => {
  for (const value of [NaN, Infinity, 1n, undefined, () => 1, [undefined], '\ud800', { '\udc00': 1 }]) {
    assert.throws(() => formatCanonicalJson(value), TypeError)
  }
})
