import assert from 'node:assert/strict'
import test from 'node:test'
import { costOf } from '../fixtures/time.ts'
import { parseTemplate } from '../../lib/wire/uri-template.ts'

/** RFC 6570 §3.2. */
const values = {
  count: ['one', 'two', 'three'],
  dom: ['example', 'com'],
  dub: 'me/too',
  hello: 'Hello World!',
  half: '50%',
  var: 'value',
  who: 'fred',
  base: 'http://example.com/home/',
  path: '/foo/bar',
  list: ['red', 'green', 'blue'],
  keys: { semi: ';', dot: '.', comma: ',' },
  v: '6',
  x: '1024',
  y: '768',
  empty: '',
  empty_keys: [],
  undef: null,
}

const expansions: readonly (readonly [string, string])[] = [
  // §1.2
  ['{var}', 'value'], ['{hello}', 'Hello%20World%21'], ['{+var}', 'value'], ['{+hello}', 'Hello%20World!'],
  ['{+path}/here', '/foo/bar/here'], ['here?ref={+path}', 'here?ref=/foo/bar'], ['X{#var}', 'X#value'],
  ['X{#hello}', 'X#Hello%20World!'], ['map?{x,y}', 'map?1024,768'],
  ['{x,hello,y}', '1024,Hello%20World%21,768'], ['{+x,hello,y}', '1024,Hello%20World!,768'],
  ['{+path,x}/here', '/foo/bar,1024/here'], ['{#x,hello,y}', '#1024,Hello%20World!,768'],
  ['{#path,x}/here', '#/foo/bar,1024/here'], ['X{.var}', 'X.value'], ['X{.x,y}', 'X.1024.768'],
  ['{/var}', '/value'], ['{/var,x}/here', '/value/1024/here'], ['{;x,y}', ';x=1024;y=768'],
  ['{;x,y,empty}', ';x=1024;y=768;empty'], ['{?x,y}', '?x=1024&y=768'],
  ['{?x,y,empty}', '?x=1024&y=768&empty='], ['?fixed=yes{&x}', '?fixed=yes&x=1024'],
  ['{&x,y,empty}', '&x=1024&y=768&empty='],
  // §3.2.1
  ['{count}', 'one,two,three'], ['{count*}', 'one,two,three'], ['{/count}', '/one,two,three'],
  ['{/count*}', '/one/two/three'], ['{;count}', ';count=one,two,three'],
  ['{;count*}', ';count=one;count=two;count=three'], ['{?count}', '?count=one,two,three'],
  ['{?count*}', '?count=one&count=two&count=three'], ['{&count*}', '&count=one&count=two&count=three'],
  // §3.2.2
  ['{half}', '50%25'], ['O{empty}X', 'OX'], ['O{undef}X', 'OX'], ['{x,empty}', '1024,'],
  ['?{x,empty}', '?1024,'], ['?{x,undef}', '?1024'], ['?{undef,y}', '?768'], ['{var:3}', 'val'],
  ['{var:30}', 'value'], ['{list}', 'red,green,blue'], ['{list*}', 'red,green,blue'],
  ['{keys}', 'semi,%3B,dot,.,comma,%2C'], ['{keys*}', 'semi=%3B,dot=.,comma=%2C'],
  // §3.2.3
  ['{+half}', '50%25'], ['{base}index', 'http%3A%2F%2Fexample.com%2Fhome%2Findex'],
  ['{+base}index', 'http://example.com/home/index'], ['O{+empty}X', 'OX'], ['O{+undef}X', 'OX'],
  ['up{+path}{var}/here', 'up/foo/barvalue/here'], ['{+path:6}/here', '/foo/b/here'],
  ['{+list}', 'red,green,blue'], ['{+list*}', 'red,green,blue'], ['{+keys}', 'semi,;,dot,.,comma,,'],
  ['{+keys*}', 'semi=;,dot=.,comma=,'],
  // §3.2.4
  ['{#half}', '#50%25'], ['foo{#empty}', 'foo#'], ['foo{#undef}', 'foo'],
  ['{#path:6}/here', '#/foo/b/here'], ['{#list*}', '#red,green,blue'], ['{#keys}', '#semi,;,dot,.,comma,,'],
  ['{#keys*}', '#semi=;,dot=.,comma=,'],
  // §3.2.5
  ['{.who}', '.fred'], ['{.who,who}', '.fred.fred'], ['{.half,who}', '.50%25.fred'],
  ['www{.dom*}', 'www.example.com'], ['X{.empty}', 'X.'], ['X{.undef}', 'X'], ['X{.var:3}', 'X.val'],
  ['X{.list}', 'X.red,green,blue'], ['X{.list*}', 'X.red.green.blue'],
  ['X{.keys}', 'X.semi,%3B,dot,.,comma,%2C'], ['X{.keys*}', 'X.semi=%3B.dot=..comma=%2C'],
  ['X{.empty_keys}', 'X'], ['X{.empty_keys*}', 'X'],
  // §3.2.6
  ['{/who,dub}', '/fred/me%2Ftoo'], ['{/var,empty}', '/value/'], ['{/var,undef}', '/value'],
  ['{/var:1,var}', '/v/value'], ['{/list}', '/red,green,blue'], ['{/list*}', '/red/green/blue'],
  ['{/list*,path:4}', '/red/green/blue/%2Ffoo'], ['{/keys}', '/semi,%3B,dot,.,comma,%2C'],
  ['{/keys*}', '/semi=%3B/dot=./comma=%2C'],
  // §3.2.7
  ['{;who}', ';who=fred'], ['{;half}', ';half=50%25'], ['{;empty}', ';empty'],
  ['{;v,empty,who}', ';v=6;empty;who=fred'], ['{;v,bar,who}', ';v=6;who=fred'],
  ['{;hello:5}', ';hello=Hello'], ['{;list}', ';list=red,green,blue'],
  ['{;list*}', ';list=red;list=green;list=blue'], ['{;keys}', ';keys=semi,%3B,dot,.,comma,%2C'],
  ['{;keys*}', ';semi=%3B;dot=.;comma=%2C'],
  // §3.2.8, §3.2.9
  ['{?who}', '?who=fred'], ['{?x,y,undef}', '?x=1024&y=768'], ['{?var:3}', '?var=val'],
  ['{?list}', '?list=red,green,blue'], ['{?list*}', '?list=red&list=green&list=blue'],
  ['{?keys}', '?keys=semi,%3B,dot,.,comma,%2C'], ['{?keys*}', '?semi=%3B&dot=.&comma=%2C'],
  ['{&who}', '&who=fred'], ['{&var:3}', '&var=val'], ['{&list*}', '&list=red&list=green&list=blue'],
  ['{&keys*}', '&semi=%3B&dot=.&comma=%2C'],
]

test('the examples of RFC 6570 expand as the RFC says', () => {
  for (const [template, uri] of expansions) {
    assert.equal(parseTemplate(template).expand(values), uri, template)
  }
})

test('what a URI cannot hold is encoded, in literals and in values', () => {
  assert.equal(parseTemplate('x:/café/{a}').expand({ a: "'é😀'" }), 'x:/caf%C3%A9/%27%C3%A9%F0%9F%98%80%27')
  assert.equal(parseTemplate('{+a}').expand({ a: '%20 %zz é' }), '%20%20%25zz%20%C3%A9')
  assert.equal(parseTemplate('{a}').expand({ a: '\ud800' }), '%EF%BF%BD')
  assert.equal(parseTemplate('{a:2}').expand({ a: '😀😀😀' }), '%F0%9F%98%80%F0%9F%98%80')
  assert.equal(parseTemplate('{n}{b}').expand({ n: 3, b: true }), '3true')
})

test('expanding looks at own members only, and cuts no lists', () => {
  assert.equal(parseTemplate('a{constructor}{__proto__}').expand({}), 'a')
  assert.throws(() => parseTemplate('{list:3}').expand(values), /'list:3' is the beginning of a string/)
})

test('the variables are named once, in order', () => {
  assert.deepEqual(parseTemplate('x:{b}/{a}{?b,c*}').variables, ['b', 'a', 'c'])
})

const broken: readonly (readonly [string, RegExp])[] = [
  ['a/{b', /character 3: the expression is not closed; write '}'/],
  ['a/b}', /character 4: '}' cannot stand in a URI/],
  ['a b', /character 2: ' ' cannot stand/],
  ['100%', /character 4: '%' cannot stand/],
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

test('what was expanded is read back as it was', () => {
  const given = {
    id: "abcd%20 é😀,;&=.'", path: '/x/ y', seg: ['1/2', '', ','], q: '&=#', tags: ['a', 'b&c'],
  }
  const template = parseTemplate('x://{id}/-{+path}/-{/seg*}{?q,tags*}')
  assert.deepEqual({ ...template.match(template.expand(given)) }, given)
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
