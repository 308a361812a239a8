import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFrontmatter } from '../../../lib/parts/skills/frontmatter.ts'
import { costOf } from '../../fixtures/time.ts'

function read(text: string): unknown {
  return JSON.parse(JSON.stringify(parseFrontmatter('SKILL.md', `---\n${text}\n---\n# Body\n`)))
}

/** [what is written, its value]: the values are those of the YAML packages of npm, in 1.1 and in 1.2. */
const rows: readonly (readonly [text: string, value: unknown])[] = [
  ['a: b', { a: 'b' }],
  ['a: b c  # not this', { a: 'b c' }],
  ['a: http://x.y/#z', { a: 'http://x.y/#z' }],
  ['# one\n\na: b\n# two\nc-d: e', { 'a': 'b', 'c-d': 'e' }],
  [`a: 'it''s: so' # x`, { a: `it's: so` }],
  ['a: "x\\n\\u00e9 # y"', { a: 'x\né # y' }],
  ['a: true\nb: false\nc: null\nd:\ne: 1\nf: -2.5\ng: 1.2.3', {
    a: true, b: false, c: null, d: null, e: 1, f: -2.5, g: '1.2.3',
  }],
  ['a: one\n  two\n  three', { a: 'one two three' }],
  ['a: |\n  one\n    two\n\n  three\nb: c', { a: 'one\n  two\n\nthree\n', b: 'c' }],
  ['a: |-\n  one', { a: 'one' }],
  ['a: |+\n  one\n\nb: c', { a: 'one\n\n', b: 'c' }],
  ['a: |+\n\nb: >\nc: d', { a: '\n', b: '', c: 'd' }],
  ['a: one\n  two # three', { a: 'one two' }],
  ['a: >\n  one\n  two\n\n  three', { a: 'one two\nthree\n' }],
  ['a: >-\n  one\n  two', { a: 'one two' }],
  ['a:\n  b: c\n  d:\n    e: f', { a: { b: 'c', d: { e: 'f' } } }],
  ['a:\n- b\n- "c"\nd:\n  - e', { a: ['b', 'c'], d: ['e'] }],
  [`a: [b, 'c, d', "e", 1]\nf: []`, { a: ['b', 'c, d', 'e', 1], f: [] }],
  [`"a": b\n'c': d`, { a: 'b', c: 'd' }],
  ['__proto__: a', JSON.parse('{"__proto__":"a"}')],
  ['', {}],
]

test('what all readers of YAML read alike is read', () => {
  for (const [text, value] of rows) assert.deepEqual(read(text), value, text)
  assert.deepEqual(parseFrontmatter('a', '\uFEFF---\r\nname: b\r\n---\r\n'), { name: 'b' })
  assert.deepEqual(parseFrontmatter('a', '---\nname: b\n---'), { name: 'b' })
})

const refused: readonly (readonly [text: string, message: RegExp])[] = [
  ['a: yes', /^SKILL\.md, line 2: it has yes without quotes, which some read as no text; write/],
  ['a: 2024-01-01', /line 2: it has 2024-01-01 without quotes/],
  ['a: 01', /line 2: it has 01 without quotes/],
  ['a: 1_000', /line 2: it has 1_000 without quotes/],
  ['a: 1:30', /line 2: it has 1:30 without quotes/],
  ['y: a', /line 2: it has the name y; quote it/],
  ['a: b: c', /line 2: it has a colon in its text; write '…' around it/],
  ['a: b\n\nc', /line 4: it is no member; write name: value/],
  ['a: b\n\n  c', /line 4: it goes on with a text behind a blank line or a comment; write \| or >/],
  ['a:b', /line 2: it is no member/],
  ['a: b\na: c', /line 3: it says 'a' a second time; leave one of them out/],
  ['a: b\n\tc: d', /line 3: it is indented with a tab; use spaces/],
  ['a:\n  b: c\n d: e', /line 4: it is indented unlike what is above it; align it/],
  ['a: &b c', /line 2: it has a text that begins with &; write '…' around it/],
  ['a: *b', /begins with \*/],
  ['a: !b c', /begins with !/],
  ['a: {b: c}', /begins with \{/],
  ['a: @b', /begins with @/],
  ['a: "b', /line 2: it is no text in double quotes; end it with "/],
  [`a: 'b`, /line 2: it has no ' at its end/],
  ['a: [b, [c]]', /line 2: it is no plain list; write its items below/],
  ['a: [b #c]', /line 2: it is no plain list/],
  ['a: [b', /line 2: it is no plain list/],
  ['- a', /line 2: write members, as in name: my-skill/],
  ['a:\n  - b: c', /line 3: it is an item that is no single value/],
  ['a: |2\n  b', /line 2: it has \|2; write \| or >/],
  ['a: >\n  b\n    c', /line 4: it is indented more than its text/],
  ['a: |\n    b\n  c', /line 4: it is indented less than the first line/],
  [Array.from({ length: 12 }, (_, at) => `${' '.repeat(at)}a:`).join('\n'), /deeper than 8 levels/],
]

test('what they read differently, or not at all, is refused with its line', () => {
  for (const [text, message] of refused) assert.throws(() => read(text), { name: 'TypeError', message }, text)
})

test('a long line takes no longer than its length', () => {
  for (const long of [`b${' '.repeat(100_000)}c`, `${'1'.repeat(100_000)}b`, `1${'_'.repeat(100_000)}b`]) {
    const took = costOf(() => assert.deepEqual(read(`a: ${long}`), { a: long }), 500)
    assert.ok(took <= 500, `${long.slice(0, 3)} took ${took} ms`)
  }
})

test('a file without frontmatter says how to write it', () => {
  const remedy = 'write ---, name: …, description: … and --- again'
  for (const text of ['', '# Title', ' ---\nname: a\n---', '----\n']) {
    const why = text.startsWith('---') ? 'has no line --- that ends its frontmatter'
      : 'does not begin with frontmatter'
    assert.throws(() => parseFrontmatter('a.md', text), { message: `a.md, line 1: it ${why}; ${remedy}` })
  }
  assert.throws(() => parseFrontmatter('a.md', '---\nname: a\n'), { message: /has no line --- that ends/ })
})
