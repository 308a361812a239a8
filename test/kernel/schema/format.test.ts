import assert from 'node:assert/strict'
import test from 'node:test'
import { compile } from '../../../lib/kernel/schema/compile.ts'
import { costOf, costOfParsing } from '../../fixtures/time.ts'

const long = (letter: string, length: number): string => letter.repeat(length)

/** What each format takes and refuses, apart from what the official suite asks. */
const table: Readonly<Record<string, { readonly yes: readonly string[]; readonly no: readonly string[] }>> = {
  'date-time': {
    yes: [
      '2024-02-29T23:59:59Z',
      '1985-04-12t23:20:50.52z',
      '2016-12-31T15:59:60-08:00',
      '2000-01-01T00:00:00+23:59',
    ],
    no: [
      '2023-02-29T00:00:00Z',
      '2024-01-01 00:00:00Z',
      '2024-01-01T00:00:00',
      '2016-12-31T23:59:60+01:00',
      '',
    ],
  },
  date: {
    yes: ['2000-02-29', '0001-01-01', '9999-12-31'],
    no: ['1900-02-29', '2024-04-31', '2024-1-1', '2024-01-01\n'],
  },
  time: {
    yes: ['00:00:00Z', '23:59:60Z', '00:29:60+00:30'],
    no: ['24:00:00Z', '12:00Z', '12:00:60Z', '12:00:00'],
  },
  duration: {
    yes: ['P1Y2M3DT4H5M6S', 'PT36H', 'P2W', 'P0D'],
    no: ['P', 'PT', 'P1Y2D', 'P1W1D', 'P1.5D', 'p1d'],
  },
  email: {
    yes: [
      'a@b',
      'a.b+c@example.com',
      '"a b\\"c"@example.com',
      'x@[127.0.0.1]',
      'x@[IPv6:::1]',
      `${long('a', 64)}@b.c`,
    ],
    no: [
      'a',
      '@b',
      'a@',
      'a@b.',
      'a@-b',
      'a b@c',
      'é@b.c',
      'a@[1.2.3]',
      `${long('a', 65)}@b.c`,
      `a@${long('b', 256)}`,
    ],
  },
  'idn-email': {
    yes: ['δοκιμή@παράδειγμα.δοκιμή', '"é é"@b'],
    no: ['δοκιμή', `${long('é', 33)}@b`, 'a@b..c'],
  },
  hostname: {
    yes: ['localhost', 'a--b.example', 'xn--bcher-kva.example', long('a', 63), '1.2'],
    no: ['', 'a..b', '-a', 'a-', 'a_b', long('a', 64), 'xn--bcher', 'xn--a', 'bücher.example', 'a.b.'],
  },
  'idn-hostname': {
    yes: [
      'bücher.example',
      'faß.de',
      '例え。テスト',
      'xn--bcher-kva',
      'a·l'.replace('a', 'l'),
      'نامه‌ای',
      'क्‍ष',
    ],
    no: ['Bücher.example', 'a·l', 'ab--cd', '𝕏.com', 'a\u200db', 'אa', '0א', '。', `${long('ü', 62)}`],
  },
  ipv4: { yes: ['0.0.0.0', '255.255.255.255'], no: ['256.0.0.1', '01.1.1.1', '1.1.1', '1.1.1.1 '] },
  ipv6: {
    yes: ['::', '::1', '1::', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7::', '::ffff:1.2.3.4', '64:ff9b::192.0.2.33'],
    no: [
      '',
      ':',
      ':::',
      '1::2::3',
      '1:2:3:4:5:6:7:8::',
      '1:2:3:4:5:6:7',
      '12345::',
      '::1%eth0',
      '1.2.3.4',
      '::1.2.3',
    ],
  },
  uri: {
    yes: [
      'http://a',
      'urn:a:b',
      'mailto:a@b',
      'http://[v1.a:b]/',
      'a:',
      'http://u:p@h:80/p?q=/?#f',
      'file:///x',
      'a:/',
    ],
    no: [
      '',
      '/a',
      '//a',
      'http://[::1',
      'http://[::g]',
      'http://a b',
      'http://a/%2',
      '1a:b',
      'http://h:x/',
      'http://é',
    ],
  },
  'uri-reference': {
    yes: ['', 'a', '/a', '//a', '?q', '#f', './a:b', 'http://a'],
    no: ['a b', '\\', 'a:b c', '1:2', '%'],
  },
  iri: { yes: ['http://é.ü/ß?\ue000'], no: ['é', 'http://a b', 'http://a/\ue000', 'http://\ud800'] },
  'iri-reference': { yes: ['é', '/ß#é'], no: ['a\\b', '#\ue000'] },
  'uri-template': {
    yes: ['', 'http://a/{b}{?c,d*}{+e:3}', '{%41}', 'a%20b', '{;x.y}'],
    no: ['{', '}', '{}', '{a', '{a b}', '{:3}', '{a:10000}', 'a b', '%2', '{a,}', '<a>'],
  },
  uuid: {
    yes: ['123e4567-E89b-12d3-a456-426614174000'],
    no: ['123e4567e89b12d3a456426614174000', '{123e4567-e89b}'],
  },
  'json-pointer': { yes: ['', '/', '/a~0b/~1', '/\n'], no: ['a', '/~', '/~2', '#/a'] },
  'relative-json-pointer': { yes: ['0', '1/a', '0#', '10/~0'], no: ['', '-1', '01', '0##', '/a', '1#/a'] },
  regex: { yes: ['^a+$', '\\p{L}', '(?<n>a)\\k<n>'], no: ['(', '\\a', '[b-a]', '(?<n>)(?<n>)'] },
}

for (const [format, { yes, no }] of Object.entries(table)) {
  test(`${format} follows its specification`, () => {
    const validate = compile({ format }, { formats: true })
    for (const text of yes) assert.ok(validate(text).valid, `${format} takes ${JSON.stringify(text)}`)
    for (const text of no) assert.ok(!validate(text).valid, `${format} refuses ${JSON.stringify(text)}`)
  })
}

test('formats are annotations unless they are asked for, and say nothing about what is no string', () => {
  assert.ok(compile({ format: 'date' })('x').valid)
  assert.ok(compile({ format: 'unheard-of' }, { formats: true })('x').valid)
  for (const value of [1, null, true, [], {}])
    assert.ok(compile({ format: 'date' }, { formats: true })(value).valid)
})

test('a regular expression of more than 1,000 characters is refused', () => {
  const validate = compile({ format: 'regex' }, { formats: true })
  assert.ok(validate('a'.repeat(1000)).valid)
  const { errors } = validate('a'.repeat(1001))
  assert.equal(errors[0]?.message, 'must be a valid regex of at most 1,000 characters')
})

test('no format takes long for a long string', () => {
  const texts = ['a', '-', '.', 'xn--', ':', '/', '%41', '{a}', '1', '~', '"', '\u0301', 'א'].map((part) =>
    part.repeat(50_000),
  )
  const limit = 30 * costOfParsing()
  for (const format of Object.keys(table)) {
    const validate = compile({ format }, { formats: true })
    for (const text of texts) {
      const took = costOf(() => validate(`${text}!`), limit)
      assert.ok(took <= limit, `${format} took ${took} ms for ${text.slice(0, 3)}…`)
    }
  }
})

test('the content of strings is an annotation, in draft-07 too', () => {
  const content = { contentEncoding: 'base64', contentMediaType: 'application/json' }
  const latest = 'https://json-schema.org/draft/2020-12/schema'
  for (const $schema of [latest, 'http://json-schema.org/draft-07/schema#'])
    assert.ok(compile({ $schema, ...content }, { formats: true })('{').valid)
})
