import assert from 'node:assert/strict'
import test from 'node:test'
import { setMember } from '../../lib/cli/edit-json.ts'

const entry = { command: 'node', args: ['a.js'] }
const path = ['servers', 'shop'] as const
const put = (text: string, value: unknown = entry): string => setMember(text, path, value)

/** An entry as it is written two levels deep, by the unit of its file. */
const written = (unit: string, eol = '\n'): string => (
  JSON.stringify(entry, null, unit).replaceAll('\n', eol + unit + unit)
)

const W = written('  ')

const rows: readonly (readonly [before: string, after: string])[] = [
  ['', `{\n  "servers": {\n    "shop": ${W}\n  }\n}\n`],
  [' \n', `{\n  "servers": {\n    "shop": ${W}\n  }\n}\n`],
  ['{}', `{\n  "servers": {\n    "shop": ${W}\n  }\n}`],
  ['{\n}\n', `{\n  "servers": {\n    "shop": ${W}\n  }\n}\n`],
  ['{ "a": 1 }', `{ "a": 1,\n  "servers": {\n    "shop": ${W}\n  }\n}`],
  ['{\n  "a": [1, {}],\n  "b": "}"\n}\n',
    `{\n  "a": [1, {}],\n  "b": "}",\n  "servers": {\n    "shop": ${W}\n  }\n}\n`],
  ['{\n  "servers": {}\n}', `{\n  "servers": {\n    "shop": ${W}\n  }\n}`],
  ['{\n  "servers": { // none\n  }\n}', `{\n  "servers": {\n    "shop": ${W} // none\n  }\n}`],
  ['{\n  "servers": {\n    "b": {} // last\n  },\n  "c": 1\n}',
    `{\n  "servers": {\n    "b": {}, // last\n    "shop": ${W}\n  },\n  "c": 1\n}`],
  ['{\n  "servers": {\n    "b": {}, /* last */\n  }, // all\n}',
    `{\n  "servers": {\n    "b": {}, /* last */\n    "shop": ${W}\n  }, // all\n}`],
  ['// mine\n{\n  "servers": {\n    "shop": { "old": true }, // ours\n    "b": {}\n  }\n}\n// end\n',
    `// mine\n{\n  "servers": {\n    "shop": ${W}, // ours\n    "b": {}\n  }\n}\n// end\n`],
  ['{\n\t"a": 1\n}', `{\n\t"a": 1,\n\t"servers": {\n\t\t"shop": ${written('\t')}\n\t}\n}`],
  ['{\r\n    "a": 1\r\n}\r\n',
    `{\r\n    "a": 1,\r\n    "servers": {\r\n        "shop": ${written('    ', '\r\n')}\r\n    }\r\n}\r\n`],
  ['\uFEFF{}', `\uFEFF{\n  "servers": {\n    "shop": ${W}\n  }\n}`],
  // Of two members of one name the last counts.
  ['{"servers":{"shop":1,"shop":2}}', `{"servers":{"shop":1,"shop":${W}}}`],
  ['{"x":"servers","y":{"servers":{"shop":1}}}',
    `{"x":"servers","y":{"servers":{"shop":1}},\n  "servers": {\n    "shop": ${W}\n  }\n}`],
  ['{"__proto__":{"servers":{}}}', `{"__proto__":{"servers":{}},\n  "servers": {\n    "shop": ${W}\n  }\n}`],
]

test('a member is set, and all else stays as it is written, comments and commas too', () => {
  for (const [before, after] of rows) {
    assert.equal(put(before), after)
    assert.equal(put(after), after, 'set again, nothing changes')
  }
})

test('what is there already is left as it is written', () => {
  const text = '{"servers":{"shop":{"args":[ "a.js", ], /* in any order */ "command":"node"}}}'
  assert.equal(put(text), text)
  assert.notEqual(put(text, { command: 'node' }), text)
})

const refused: readonly (readonly [text: string, sentence: RegExp])[] = [
  ['[]', /^line 1 is no JSON at '\[\]'$/],
  ['{\n  "a": 1\n  "b": 2\n}', /^line 3 is no JSON at '"b":'$/],
  ['{\n  a: 1\n}', /^line 2 is no JSON at 'a:'$/],
  ['{ "a": 1', /^line 1 is no JSON at the end$/],
  ['{ "a": "x\n" }', /^line 1 is no JSON at '"x'$/],
  [`{ 'a': 1 }`, /^line 1 is no JSON at ''a':'$/],
  ['{} {}', /^line 1 is no JSON at '\{\}'$/],
  ['{ "a": 01 }', /^line 1 is no JSON at '01'$/],
  ['{ "a": "\\x" }', /is no JSON at/],
  ['{ "a": /* open }', /^line 1 is no JSON at '\/\*'$/],
  ['{ "servers": [] }', /^'servers' is no object$/],
  ['{ "servers": null }', /^'servers' is no object$/],
]

test('a text that is no JSON object is not changed, and the line is named', () => {
  for (const [text, sentence] of refused) assert.throws(() => put(text), { message: sentence }, text)
})
