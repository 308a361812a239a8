import assert from 'node:assert/strict'
import test from 'node:test'
import { compile } from '../../../lib/kernel/schema/compile.ts'
import { automatonOf, effortOf, parsePattern } from '../../../lib/kernel/schema/pattern.ts'
import { STEP } from '../../../lib/kernel/schema/evaluation.ts'
import { costOf, costOfParsing } from '../../fixtures/time.ts'
import type { Matches, PatternTree } from '../../../lib/kernel/schema/pattern.ts'
import type { Fuel } from '../../../lib/kernel/schema/evaluation.ts'

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
  const loose = [
    '^[\\w-.]+$', '^[.-\\d]+$', '[\\\\-\\s-@]', '^[\\w-\\.]+@([\\w-]+\\.)+$', '{{.+}}', '{}', 'a]}{b',
    '\\\\{[^}]{2}}',
  ]
  const texts = ['a-b.c', '1-.', 'a@-.', 'a.b@c-d.', '{{x}}', '{}', 'a]}{b', '\\{ab}', '\\', '-', ' ', '@']
  for (const pattern of loose) {
    const validate = compile({ pattern })
    const native = RegExp(pattern)
    for (const text of texts) assert.equal(validate(text).valid, native.test(text), `${pattern} on ${text}`)
  }
  for (const pattern of ['\\a', '\\Z', '(?i)a', '(?P<n>a)', 'a{2', 'a{,2}', '[b-a]', '[\\w-\\Z]']) {
    assert.throws(() => compile({ pattern }), (error: Error) => error.message.includes(`/${pattern}/u`))
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

const endless: Fuel = { pay: () => {} }

function matcherOf(source: string): Matches {
  return automatonOf(parsePattern(RegExp(source, 'u').source))
}

/** Numbers from 0 up to a bound, the same in every run. */
function chance(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (state * 48_271) % 2_147_483_647
    return state % bound
  }
}

const leaves = [
  'a', 'b', 'c', 'ab', '.', '[ab]', '[^a]', '\\w', '\\W', '\\s', '^', '$', '\\b', '\\B', '\\u{e9}', '',
]
const quantifiers = ['*', '+', '?', '{2}', '{1,}', '{0,2}', '*?', '+?', '??']

function patternFrom(pick: (bound: number) => number, depth: number): string {
  const one = (): string => {
    const kind = depth > 0 ? pick(12) : 0
    if (kind < 5) return leaves[pick(leaves.length)]!
    const inner = patternFrom(pick, depth - 1)
    if (kind < 8) return `(?:${inner})${quantifiers[pick(quantifiers.length)]}`
    if (kind < 9) return `(${inner}|${patternFrom(pick, depth - 1)})`
    return `(?${['=', '!', '<=', '<!'][pick(4)]}${inner})`
  }
  return Array.from({ length: 1 + pick(3) }, one).join('')
}

test('an automaton finds what the runtime finds, in patterns and texts of every shape', () => {
  const pick = chance(7)
  // The runtime looks for look-behinds inside a surrogate pair too, so the two differ there.
  const letters = ['a', 'b', 'c', ' ', '\n', 'é', '_']
  for (let round = 0; round < 3000; round++) {
    const source = patternFrom(pick, 3)
    const native = RegExp(source, 'u')
    const matches = matcherOf(source)
    for (let text = 0; text < 8; text++) {
      const value = Array.from({ length: pick(9) }, () => letters[pick(letters.length)]).join('')
      assert.equal(matches(value, endless), native.test(value), `${source} on ${JSON.stringify(value)}`)
    }
  }
})

test('what was kept of one text is true of the next', () => {
  const matches = matcherOf('^(?:ab?|c)*$')
  for (const [text, yes] of [
    ['', true], ['a', true], ['abc', true], ['abb', false], ['b', false], ['cab', true], ['a', true],
  ] as const) assert.equal(matches(text, endless), yes, text)
})

test('an automaton pays for what it does, and stops where there is nothing left', () => {
  const matches = matcherOf('(?:a?){100}a{100}b')
  let spent = 0
  const counting: Fuel = {
    pay(parts) {
      spent += parts / STEP
    },
  }
  assert.equal(matches('a'.repeat(1000), counting), false)
  assert.ok(spent > 10_000, `${spent} steps`)
  let left = 500 * STEP
  let asked = 0
  const scarce: Fuel = {
    pay(parts) {
      asked++
      left -= parts
      if (left < 0) throw new RangeError('Nothing left')
    },
  }
  assert.throws(() => matcherOf('(?:a?){100}a{100}b')('a'.repeat(1_000_000), scarce), RangeError)
  assert.ok(asked < 100, `asked ${asked} times`)
})

test('an automaton pays in proportion to the length of a text', () => {
  const spentOn = (source: string, text: string): number => {
    let spent = 0
    matcherOf(source)(text, { pay: (parts) => { spent += parts } })
    return spent
  }
  for (const [source, part] of [
    ['^(a+)+$', 'a'], ['(x+x+)+y', 'x'], ['(a?){30}a{30}b', 'a'], ['^(\\w+\\s?)*$', 'a '],
    ['a*a*a*a*a*b', 'a'], ['^(?:a|b|ab|abc)*$', 'abc'], ['^(?:\\b\\w+ ?)*$', 'ab '], ['^(.|\\n)*end$', 'en'],
  ] as const) {
    const once = spentOn(source, `${part.repeat(1000)}!`)
    const twice = spentOn(source, `${part.repeat(2000)}!`)
    assert.ok(twice > once && twice < 2.2 * once, `${source}: ${once} for one, ${twice} for two`)
  }
})

test('a pattern that text after text makes new states of is not remembered without bound', () => {
  const matches = matcherOf('(?:a|b)*a(?:a|b){12}c')
  const before = process.memoryUsage().heapUsed
  const pick = chance(3)
  for (let round = 0; round < 300; round++) {
    const text = Array.from({ length: 100 }, () => 'ab'[pick(2)]).join('')
    assert.equal(matches(text, endless), false)
  }
  assert.ok(process.memoryUsage().heapUsed - before < 100_000_000)
})

test('the size of an automaton is known before it is made', () => {
  const rows = [['abc', 3], ['(?:abc){3}', 16], ['a{1000}', 2002], ['(a)\\1', Infinity]] as const
  for (const [source, size] of rows) {
    assert.equal(effortOf(parsePattern(source)).states, size, source)
  }
})

/** A tree as text: `(a|b)` for a choice, `a{0,1}` for a repetition, `[a b]` for a sequence. */
function written(tree: PatternTree): string {
  switch (tree.kind) {
    case 'character': return tree.source
    case 'assertion': return `<${tree.source}>`
    case 'sequence': return tree.parts.length === 1 ? written(tree.parts[0]!)
      : `[${tree.parts.map(written).join(' ')}]`
    case 'choice': return `(${tree.branches.map(written).join('|')})`
    case 'repetition': return `${written(tree.part)}{${tree.min},${tree.max}}`
    case 'look-around': {
      const { part, isBehind, isNegative } = tree
      return `look${isBehind ? ' behind' : ''}${isNegative ? ' not' : ''} ${written(part)}`
    }
    case 'other': return '?'
  }
}

const rows: readonly (readonly [source: string, tree: string])[] = [
  ['', '[]'],
  ['abc', '[a b c]'],
  ['a|bc|', '(a|[b c]|[])'],
  ['(?:a|b)c', '[(a|b) c]'],
  ['(a)(?<name>b)', '[a b]'],
  ['a*b+?c?d{2}e{3,}f{4,5}?', '[a{0,Infinity} b{1,Infinity} c{0,1} d{2,2} e{3,Infinity} f{4,5}]'],
  ['(ab)*', '[a b]{0,Infinity}'],
  ['^a$|\\b\\B', '([<^> a <$>]|[<\\b> <\\B>])'],
  ['(?=a)(?!b)(?<=c)(?<!d)', '[look a look not b look behind c look behind not d]'],
  ['[a(|)\\]*]+', '[a(|)\\]*]{1,Infinity}'],
  ['[^]]', '[[^] ]]'],
  ['\\.\\(\\p{L}\\u{1F600}\\u0041\\x41\\cA\\0', '[\\. \\( \\p{L} \\u{1F600} \\u0041 \\x41 \\cA \\0]'],
  ['\\ud83d\\ude00*', '\\ud83d\\ude00{0,Infinity}'],
  ['😀+', '😀{1,Infinity}'],
  ['(a)\\1\\k<name>', '[a ? ?]'],
  ['(?i:a)', '[? i : a]'],
]

test('the tree of a pattern has what the pattern says', () => {
  for (const [source, tree] of rows) assert.equal(written(parsePattern(source)), tree, source)
})
