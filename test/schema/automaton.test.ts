import assert from 'node:assert/strict'
import test from 'node:test'
import { automatonOf, parsePattern, stateCount } from '../../lib/schema/pattern.ts'
import { STEP } from '../../lib/schema/run.ts'
import type { Matches } from '../../lib/schema/pattern.ts'
import type { Fuel } from '../../lib/schema/run.ts'

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
    assert.equal(stateCount(parsePattern(source)), size, source)
  }
})
