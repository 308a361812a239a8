import assert from 'node:assert/strict'
import test from 'node:test'
import { parseJson } from '../../../lib/floors/bounds/parse-json.ts'

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

const shallow: readonly (readonly [what: string, json: string, depth: number])[] = [
  ['nothing', '', 1],
  ['a scalar', '1', 1],
  ['exactly the depth', nested(64), 64],
  ['many brackets side by side', `[${Array(200).fill('{}').join()}]`, 64],
  ['many brackets in one string', JSON.stringify(['['.repeat(500)]), 2],
  ['brackets behind an escaped quote', JSON.stringify(['"' + '{'.repeat(500)]), 2],
  ['brackets behind an escaped backslash', `["\\\\",${Array(100).fill('[]').join()}]`, 2],
  ['a string that never closes', `["${'['.repeat(500)}`, 2],
]

const deep: readonly (readonly [what: string, json: string, depth: number])[] = [
  ['one level more', nested(65), 64],
  ['a million levels', '['.repeat(1_000_000), 64],
  ['objects', '{"a":'.repeat(65) + '1' + '}'.repeat(65), 64],
  ['lists and objects by turns', '[{"a":'.repeat(33) + '1' + '}]'.repeat(33), 64],
  ['behind a string with an even run of backslashes', `["\\\\\\\\",${nested(64)}]`, 64],
]

test('a text within its depth is shallow, whatever its strings hold', () => {
  for (const [what, json, depth] of shallow) {
    const parsed = parseJson(json, depth)
    assert.ok(parsed.ok || !parsed.why.includes('deeper'), what)
  }
})

const padding = JSON.stringify('x'.repeat(20_000))

test('a long text is bounded in depth like a short one', () => {
  for (const [what, json, depth] of deep) {
    const why = `The JSON is nested deeper than ${depth + 1} levels`
    assert.deepEqual(parseJson(`{"a":${padding},"b":${json}}`, depth + 1), { ok: false, why }, what)
  }
  for (const [what, json, depth] of shallow.slice(1)) {
    const parsed = parseJson(`[${padding},${json}]`, depth + 1)
    assert.ok(parsed.ok || !parsed.why.includes('deeper'), what)
  }
})

test('a long text with many brackets is counted before it is parsed, whatever stands between them', () => {
  for (const [item, count] of [['[]', 250_000], ['{}', 250_000], ['[               ]', 250_000]] as const) {
    const json = `[${Array(count).fill(item).join(',')}]`
    const why = `The JSON holds more than ${count} objects and lists`
    assert.deepEqual(parseJson(json, 64, count), { ok: false, why }, item)
    assert.ok(parseJson(json, 64, count + 1).ok, item)
  }
})

test('a long list of plain values is counted too; what strings hold is not', () => {
  const list = (count: number): string => `[${Array(count).fill('7').join(',')}]`
  const why = 'The JSON holds more than 50000 values'
  assert.deepEqual(parseJson(list(60_000), 64, 10_000), { ok: false, why })
  assert.ok(parseJson(list(49_000), 64, 10_000).ok)
  assert.ok(parseJson(JSON.stringify({ csv: 'a,b,'.repeat(100_000) }), 64, 10_000).ok)
})

test('a text beyond its depth is not, and is not parsed', () => {
  for (const [what, json, depth] of deep) {
    const why = `The JSON is nested deeper than ${depth} levels`
    assert.deepEqual(parseJson(json, depth), { ok: false, why }, what)
  }
})

test('a text of too many objects and lists is not parsed; what strings hold does not count', () => {
  const why = 'The JSON holds more than 3 objects and lists'
  for (const json of ['[[],[],[]]', '{"a":{},"b":[[]]}', '[[[[', '[{}, "]", {}, {}]']) {
    assert.deepEqual(parseJson(json, 64, 3), { ok: false, why }, json)
  }
  for (const json of ['[[],[]]', '["[[[[{{{{", {}, []]', '[1,2,3,4,5,6,7]', '{"[":"\\\\","{":"[{"}']) {
    assert.ok(parseJson(json, 64, 3).ok, json)
  }
})

test('what is JSON becomes its value, byte order mark or not', () => {
  for (const value of [null, false, 0, -1.5e-7, 'a\u2028b', [], { a: [{ b: {} }] }]) {
    assert.deepEqual(parseJson(JSON.stringify(value), 64), { ok: true, value })
    assert.deepEqual(parseJson(`\ufeff ${JSON.stringify(value)} `, 64), { ok: true, value })
  }
})

test('a key that means something to JavaScript is plain data', () => {
  const parsed = parseJson('{"__proto__":{"admin":true},"constructor":1}', 64)
  assert.ok(parsed.ok)
  assert.deepEqual(Object.keys(parsed.value as object), ['__proto__', 'constructor'])
  assert.equal(({} as Record<string, unknown>)['admin'], undefined)
})

test('what is no JSON is told apart from nothing at all', () => {
  for (const text of ['', ' \n', '\ufeff']) {
    assert.deepEqual(parseJson(text, 64), { ok: false, why: 'The body is empty; JSON is expected' })
  }
  const broken = [
    '{', '{"a":1', '[1,]', '{"a":1,}', "{'a':1}", 'NaN', 'Infinity', '01', '1 2', '{} {}', '// no\n1',
    '"a\nb"', '"\\x"',
    'undefined', '\ufeff\ufeff1',
  ]
  for (const text of broken) {
    assert.deepEqual(parseJson(text, 64), { ok: false, why: 'The body is not JSON' }, text)
  }
})
