import assert from 'node:assert/strict'
import test from 'node:test'
import { requireIcons, requireText, requireTimeout, scopesOf, show, slug } from '../../lib/define/validate.ts'

const slugs: readonly (readonly [name: string, id: string])[] = [
  ['Assistant', 'assistant'],
  ['Support Bot', 'support-bot'],
  ['  Support -- Bot!  ', 'support-bot'],
  ['Déjà Vu', 'deja-vu'],
  ['Ünïcödé №1', 'unicode-no1'],
  ['ﬁne ①', 'fine-1'],
  ['a_b.c', 'a-b-c'],
  ['GPT-4o', 'gpt-4o'],
  ['__proto__', 'proto'],
  ['Помощник 7', '7'],
  ['x'.repeat(48), 'x'.repeat(48)],
]

test('an id is made of a name', () => {
  for (const [name, id] of slugs) assert.equal(slug(name), id, name)
})

const unfit: readonly (readonly [name: string, sentence: RegExp])[] = [
  ['', /has no letter or digit to make an id of; give an id, as in \{ id: 'helper' \}/],
  ['!!!', /The name '!!!' has no letter or digit/],
  ['助手', /has no letter or digit/],
  ['x'.repeat(49), /has 49 characters; give a shorter name, or an id of at most 48/],
  ['List', /The id 'list' is taken by the list of agents; choose another name/],
]

test('a name of which no id can be made says what to write instead', () => {
  for (const [name, sentence] of unfit) assert.throws(() => slug(name), sentence)
})

test('a value is shown shortly, and never whole', () => {
  const values: readonly (readonly [value: unknown, shown: string])[] = [
    ['a "b"', '"a \\"b\\""'], ['x'.repeat(100), `"${'x'.repeat(60)}…"`], [7, '7'], [null, 'null'],
    [undefined, 'undefined'], [[1], 'an array'], [{ secret: 1 }, 'an object'], [() => 1, 'a function'],
    [Symbol('a'), 'Symbol(a)'], [7n, '7'],
  ]
  for (const [value, shown] of values) assert.equal(show(value), shown)
})

test('a time limit is a number above zero', () => {
  for (const ms of [undefined, 1, 0.5, Infinity]) requireTimeout('The tool', ms)
  for (const ms of [0, -1, NaN, '5', null]) {
    assert.throws(
      () => requireTimeout('The tool', ms),
      /^TypeError: The tool has timeoutMs .*; write milliseconds above zero/,
    )
  }
})

test('a text that may be left out is a text', () => {
  for (const value of [undefined, '', 'a']) requireText('The tool', 'title', value)
  for (const value of [null, 7, {}]) {
    assert.throws(() => requireText('The tool', 'title', value), /has title .*; write a string/)
  }
})

test('scopes are a list of names as OAuth has them', () => {
  assert.deepEqual(scopesOf('It', undefined), [])
  assert.deepEqual(scopesOf('It', ['orders:read', 'b']), ['orders:read', 'b'])
  assert.ok(Object.isFrozen(scopesOf('It', ['a'])))
  for (const scopes of ['orders:write', 7, {}, [7], [['a']]]) {
    assert.throws(() => scopesOf('It', scopes), /^TypeError: It has scopes .*; write a list of strings/)
  }
  for (const scope of ['', 'a b', 'a"b', 'a\\b', 'ä', 'a\n', 'a'.repeat(257)]) {
    assert.throws(() => scopesOf('It', ['a', scope]), /^TypeError: It has the scope ".*; write one name/)
  }
})

test('an icon lies behind an address of the web, or is in it', () => {
  const fine = [
    'https://example.com/a.png', 'http://127.0.0.1:8000/a.svg?b', 'HTTPS://example.com', 'data:,',
    'https://bücher.example/a', 'data:image/png;base64,AAAA', `data:image/svg+xml,${'x'.repeat(100_000)}`,
  ]
  for (const src of fine) requireIcons('It', [{ src }])
  const others = [
    '', 'a', '/a.png', './a.png', '//example.com/a.png', 'example.com/a.png', 'https:', 'https://',
    'https:/a.png', 'https://a b/', ' https://example.com/a.png', 'data:', 'data:image/png',
    'javascript:alert(1)', 'file:///a.png', 'ftp://example.com/a.png', 'ws://example.com/a.png',
    'app://a.png', 'blob:https://example.com/1',
  ]
  const remedy = `write an address, as in 'https://example.com/a.png', or the picture itself, as in `
    + `'data:image/png;base64,…'`
  for (const src of others) {
    const message = `It, in its icons, has src ${show(src)}; ${remedy}`
    assert.throws(() => requireIcons('It', [{ src }]), { name: 'TypeError', message })
  }
})
