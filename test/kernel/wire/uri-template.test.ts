import assert from 'node:assert/strict'
import test from 'node:test'
import { costOf } from '../../fixtures/time.ts'
import { parseTemplate } from '../../../lib/kernel/wire/uri-template.ts'

test('the variables are named once, in order', () => {
  assert.deepEqual(parseTemplate('x:{b}/{a}{?b,c*}').variables, ['b', 'a', 'c'])
})

const broken: readonly (readonly [string, RegExp])[] = [
  ['a/{b', /character 3: the expression is not closed; write '}'/],
  ['a/b}', /character 4: '}' cannot stand in a URI/],
  ['a b', /character 2: ' ' cannot stand/],
  ['100%', /character 4: '%' cannot stand/],
  ['{b} c', /character 4: ' ' cannot stand/],
  ['%', /character 1: '%' cannot stand/],
  ['a{}', /character 3: '' is no variable/],
  ['a{+}', /character 4: '' is no variable/],
  ['a{b,}', /character 5: '' is no variable/],
  ['a{b c}', /character 3: 'b c' is no variable/],
  ['{b,c-d}', /character 4: 'c-d' is no variable/],
  ['{{b}}', /character 2: '{b' is no variable/],
  ['{=b}', /character 2: '=' is no operator; write one of \+ #/],
  ['{|b}', /'\|' is no operator/],
  ['{b:0}', /'b:0' is no variable/],
  ['{b:10000}', /'b:10000' is no variable/],
  ['{b*:3}', /is no variable/],
  ['{.b.}', /'b\.' is no variable/],
]

test('a broken template says what is wrong and where', () => {
  for (const [template, message] of broken) {
    assert.throws(() => parseTemplate(template), { name: 'TypeError', message }, template)
  }
})

type Values = Readonly<Record<string, string | readonly string[]>>

const readings: readonly (readonly [string, string, Values | undefined])[] = [
  ['docs://readme', 'docs://readme', {}],
  ['docs://readme', 'docs://readme2', undefined],
  ['', '', {}],
  // simple
  ['users://{id}', 'users://7', { id: '7' }],
  ['users://{id}', 'users://', undefined],
  ['users://{id}', 'users://7/x', undefined],
  ['users://{id}', 'users://7?x', undefined],
  ['users://{id}', 'users://7#x', undefined],
  ['users://{id}', 'users://a%20b', { id: 'a b' }],
  // What is one segment is not two for whoever gets it.
  ['users://{id}', 'users://a%2Fb', undefined],
  ['users://{id}', 'users://a%3fb', undefined],
  ['users://{id}', 'users://a%23b', undefined],
  ['users://{id}', 'users://%61%2e', { id: 'a.' }],
  ['users://{id}', 'users://me@x.org:1,2', { id: 'me@x.org:1,2' }],
  ['users://{id}/posts/{post}', 'users://7/posts/9', { id: '7', post: '9' }],
  ['x:{a,b}', 'x:1,2', { a: '1', b: '2' }],
  ['x:{a,b}', 'x:1', { a: '1' }],
  ['x:{a,b}', 'x:1,2,3', undefined],
  ['x:{a*}', 'x:1,2,3', { a: ['1', '2', '3'] }],
  ['x:{a*}', 'x:1', { a: ['1'] }],
  ['{name}.{ext}', 'a.tar.gz', { name: 'a.tar', ext: 'gz' }],
  ['{a}{b}', 'xyz', { a: 'xy', b: 'z' }],
  ['{a:2}{b}', 'wxyz', { a: 'wx', b: 'yz' }],
  ['{a:2}{b}', '%C3%A9yzz', { a: 'éy', b: 'zz' }],
  ['{a:1}/{a:2}{b}', 'x/xyzz', { a: 'xy', b: 'zz' }],
  ['{a:2}', 'xyz', undefined],
  ['{a:200}', 'x'.repeat(200), { a: 'x'.repeat(200) }],
  ['{a:200}', 'x'.repeat(201), undefined],
  // No value ends within a character.
  ['{a}{b}', 'xy%C3%A9', { a: 'xy', b: 'é' }],
  ['{a}{b}', 'é😀', { a: 'é', b: '😀' }],
  ['{a}{b}', '😀', undefined],
  // reserved and fragment
  ['file:///{+path}', 'file:///a/b%20c?d#e', { path: 'a/b c?d#e' }],
  ['file:///{+path}', 'file:///', undefined],
  ['x:{+a,b}', 'x:/1,/2', { a: '/1', b: '/2' }],
  ['x:{+a*}', 'x:/1,/2', { a: ['/1', '/2'] }],
  ['x:{+a}/{b}', 'x:1/2/3', { a: '1/2', b: '3' }],
  ['x{#part}', 'x#a/b?c', { part: 'a/b?c' }],
  ['x{#part}', 'x#', { part: '' }],
  ['x{#part}', 'x', {}],
  // labels and segments
  ['x{.ext}', 'x.tar.gz', { ext: 'tar.gz' }],
  ['x{.a,b}', 'x.1.2', { a: '1', b: '2' }],
  ['x{.a*}', 'x.1.2.3', { a: ['1', '2', '3'] }],
  ['{name}{.ext}', 'a', { name: 'a' }],
  ['{name}{.ext}', 'a.b', { name: 'a', ext: 'b' }],
  ['x{/a}', 'x/1', { a: '1' }],
  ['x{/a}', 'x/1/2', undefined],
  ['x{/a,b}', 'x/1/2', { a: '1', b: '2' }],
  ['x{/a,b}', 'x/1', { a: '1' }],
  ['x{/seg*}', 'x/1/2//3', { seg: ['1', '2', '', '3'] }],
  ['x{/seg*}', 'x', {}],
  ['x{/seg*}/end', 'x/1/end/end', { seg: ['1', 'end'] }],
  ['x{/seg*}{.ext}', 'x/a.b/c.txt', { seg: ['a.b', 'c'], ext: 'txt' }],
  // named
  ['m{;a,b}', 'm;b;a=3', { a: '3', b: '' }],
  ['m{;ab,a}', 'm;a=1;ab=2', { a: '1', ab: '2' }],
  ['m{;a}', 'm;ab', undefined],
  ['s{?q,limit}', 's?limit=5&q=a%26b', { q: 'a&b', limit: '5' }],
  ['s{?q,limit}', 's?q=', { q: '' }],
  ['s{?q,limit}', 's', {}],
  ['s{?q}', 's?q=a/b?c=d', { q: 'a/b?c=d' }],
  ['s{?q}', 's?', undefined],
  ['s{?q}', 's?q', undefined],
  ['s{?q}', 's?r=1', undefined],
  ['s{?q}', 's?q=1&r=2', undefined],
  ['s{?q}', 's?q=1&q=2', undefined],
  ['s{?q}', 's?q=1&q=1', { q: '1' }],
  ['s{?q*}', 's?q=1&q=2', { q: ['1', '2'] }],
  ['s?a=1{&b}', 's?a=1&b=2', { b: '2' }],
  ['{+path}{?q}', 'a?b?q=1', { path: 'a?b', q: '1' }],
  ['{+path}{?q}{#f}', '/a/b?q=1#z', { path: '/a/b', q: '1', f: 'z' }],
  // one variable twice, and prefixes
  ['{x}/{x}', 'a/a', { x: 'a' }],
  ['{x}/{x}', 'a/b', undefined],
  ['{x:1}/{x}', 'a/abc', { x: 'abc' }],
  ['{x:1}/{x}', 'b/abc', undefined],
  ['{x:3}/{x}', 'ab/abc', undefined],
  ['{x:2}', '%F0%9F%98%80b', { x: '😀b' }],
  ['{x:2}', 'abc', undefined],
  // escapes
  ['x:/café/{a}', 'x:/caf%c3%a9/1', { a: '1' }],
  ['x:/caf%c3%a9/{a}', 'x:/café/é ü', { a: 'é ü' }],
  ['{a}', '%', undefined],
  ['{a}', '%F', undefined],
  ['{a}', '%zz', undefined],
  ['{a}', '%FF', undefined],
  ['{a}', '%C3', undefined],
  ['{a}', '%EF%BF%BD', { a: '\ufffd' }],
]

test('a URI is read back', () => {
  for (const [template, uri, expected] of readings) {
    const found = parseTemplate(template).match(uri)
    assert.deepEqual(found && { ...found }, expected, `${template} ${uri}`)
  }
})

test('a URI as RFC 6570 expands it is read back to what it was made of', () => {
  const given = {
    id: "abcd%20 é😀,;&=.'", path: '/x/ y', seg: ['1/2', '', ','], q: '&=#', tags: ['a', 'b&c'],
  }
  const uri = 'x://abcd%2520%20%C3%A9%F0%9F%98%80%2C%3B%26%3D.%27/-/x/%20y'
    + '/-/1%2F2//%2C?q=%26%3D%23&tags=a&tags=b%26c'
  assert.deepEqual({ ...parseTemplate('x://{id}/-{+path}/-{/seg*}{?q,tags*}').match(uri) }, given)
})

test('variables have no prototype, so no name is special', () => {
  const found = parseTemplate('{__proto__}/{constructor}').match('a/b')!
  assert.equal(Object.getPrototypeOf(found), null)
  assert.deepEqual(Object.entries(found), [['__proto__', 'a'], ['constructor', 'b']])
})

test('a hostile URI takes bounded time', () => {
  const hostile: readonly (readonly [string, string])[] = [
    ['{a}{b}{c}{d}{e}{f}{g}{h}!x', 'a!'.repeat(4_096)],
    ['{+a}{+b}{+c}{+d}/end', '/'.repeat(8_192)],
    ['{a*}{b*}{c*}{d*}!', 'a,'.repeat(4_096)],
    ['x{/a*}{/b*}{/c*}{/d*}!', 'x' + '/a'.repeat(4_000)],
    ['x{?a*,aa*,aaa*}!', 'x?' + 'a=&'.repeat(2_700)],
    ['{a}{.b}{.c}{.d}{.e}!', '.'.repeat(8_192)],
    ['{a}', '%41'.repeat(2_000) + '%'],
    ['{a}', '%C3'.repeat(2_000)],
  ]
  for (const [template, uri] of hostile) {
    const took = costOf(() => assert.equal(parseTemplate(template).match(uri), undefined, template), 1_000)
    assert.ok(took <= 1_000, `${template} took ${took} ms`)
  }
})

test('a URI that is too long matches nothing', () => {
  const template = parseTemplate('x:{+a}')
  assert.equal(template.match('x:' + 'a'.repeat(8_190))?.['a']?.length, 8_190)
  assert.equal(template.match('x:' + 'a'.repeat(8_191)), undefined)
})
