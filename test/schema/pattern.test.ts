import assert from 'node:assert/strict'
import test from 'node:test'
import { compile } from '../../lib/schema/compile.ts'
import { costOf, costOfParsing } from '../fixtures/time.ts'

/** Patterns as people write them; the automaton and the runtime must agree on each. */
const ordinary = [
  '^[a-z]+(-[a-z]+)*$', '^([a-z0-9]+(-[a-z0-9]+)*\\.)+[a-z]{2,}$', '(a|b|ab)*c', '^(\\w+\\s?)*$',
  '^(?:a?){20}a{20}$', '^(?=.*\\d)(?=.*[a-z])(?!.*\\s\\s)(?:\\w+ ?)+$', '(?<=(?:ab)+)c', '(?<!x)y+(z|zz)*$',
  '^(a|)*b$', '\\b(foo|bar)+\\b', '^((a{2,3}){1,}|b)+$', '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$', '^(.|\\n)*end$',
  '^(\\p{L}+[\\u{1F600}-\\u{1F64F}]?)+$',
  '^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_\'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$',
  '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*))*))?$',
  '^(?:(?:25[0-5]|2[0-4]\\d|[01]?\\d\\d?)\\.){3}(?:25[0-5]|2[0-4]\\d|[01]?\\d\\d?)$', '^$|^(x{2})+$',
  '[\\]\\-a]+$',
]

const texts = [
  '', 'a', 'ab', 'abc', 'ababc', 'c', 'foo-bar', 'foo--bar', 'foo.example.com', 'foo bar', 'foofoo bar',
  'a1 b2', 'xy', 'yzzz', 'aaaa', 'aaab', 'b', 'x@y.z', 'joe.bloggs@example.com', 'x@y', 'the\nend', 'é😀é',
  '1.2', '1.2-a.3', '01.2', '10.0.0.255', '10.0.0.256', 'xxxx', 'xxx', 'a'.repeat(25), ']', 'a-]',
  '😀', '\ud83d', 'foo bar baz', 'foofoobar',
]

test('a pattern that runs on the automaton matches what the runtime matches', () => {
  for (const pattern of ordinary) {
    const native = RegExp(pattern, 'u')
    // Long enough that the runtime would be too slow, were it as bad as it may be.
    const validate = compile({ pattern: `(?:${pattern})|^(?:(?:(?:never)*)*)*never$` })
    for (const text of texts) assert.equal(validate(text).valid, native.test(text), `${pattern} on ${text}`)
  }
})

test('ordinary patterns are taken', () => {
  for (const pattern of ordinary) {
    const native = RegExp(pattern, 'u')
    const validate = compile({ pattern })
    for (const text of texts) assert.equal(validate(text).valid, native.test(text), `${pattern} on ${text}`)
  }
})

test('escapes that everybody writes are taken, what means something else is refused', () => {
  assert.ok(compile({ pattern: '^\\d{3}\\-\\d{4}\\@\\"\\:$' })('555-1234@":').valid)
  assert.ok(compile({ pattern: '^[\\w\\-\\@]+$' })('a-b@c').valid)
  for (const pattern of ['\\a', '\\Z', '(?i)a', '(?P<n>a)', 'a{2', '[b-a]']) {
    assert.throws(() => compile({ pattern }), TypeError)
  }
})

test('no pattern is slow on any string', () => {
  const limit = 30 * costOfParsing()
  const rows = [
    ['^(a+)+$', 'a'], ['^(a|a)*$', 'a'], ['(x+x+)+y', 'x'], ['^(.*)*$', '\n'], ['(a?){30}a{30}b', 'a'],
    ['\\s+$', ' '], ['^(\\w+\\s?)*$', 'a'], ['a*a*a*a*a*a*a*b', 'a'], ['^(?=(a+)+$)b', 'a'],
    ['(?:(?:a{1,9}){1,9}){1,9}b', 'a'], ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'],
    ['(.*)(.*)(.*)(.*)(.*)(.*)[^\\n]x', 'a'], [`${'a?'.repeat(40)}${'a'.repeat(40)}b`, 'a'],
    ['^(?:a|b|c|d|e|f|g|ab|abc)*$', 'abcdefg'], ['(?<=(a+)+)b', 'a'], ['(?!(a|aa)+b)c', 'a'],
  ] as const
  for (const [pattern, part] of rows) {
    // What doubles with each character, or grows with a power of the length, is found before it takes for
    // ever.
    for (const length of [30, 100, 1000, 60_000, 90_000]) {
      const text = `${part.repeat(length / part.length)}!`
      // An automaton that is there already would be quicker.
      const took = costOf(() => assert.equal(compile({ pattern })(text).valid, false, pattern), limit)
      assert.ok(took <= limit, `${pattern} took ${took} ms for ${length} characters`)
    }
  }
})

test('a pattern that only backtracking can match is refused where that could take for ever', () => {
  assert.throws(() => compile({ pattern: '^(a+)+\\1$' }), /\/pattern: the pattern could take for ever; write/)
  assert.throws(() => compile({ pattern: '^((a{1,99}){1,99}){1,99}$' }), /without .* huge repetitions/)
  assert.throws(() => compile({ patternProperties: { '^(?:(a+)+\\1)$': true } }), /\/patternProperties\//)
  assert.ok(compile({ pattern: '^(["\']).*\\1$' })('"x"').valid)
})

test('a pattern that is nested too deeply is refused in a sentence', () => {
  const pattern = '('.repeat(20_000) + ')'.repeat(20_000)
  assert.throws(() => compile({ pattern }), /^TypeError: .*\/pattern: /)
  assert.throws(() => compile({ pattern: '('.repeat(5000) + ')'.repeat(5000) }), /nested too deeply/)
})

test('long strings are matched like short ones', () => {
  for (const [pattern, part, yes] of [
    ['^a*$', 'a', true], ['^(?:ab|c)*$', 'abc', true], ['a$', 'b', false], ['(\\w+)+$', 'a', true],
    ['^[^@]+@[^@]+$', 'x', false],
  ] as const) {
    const text = part.repeat(1_000_000 / part.length)
    assert.equal(compile({ pattern })(text).valid, yes, pattern)
  }
})
