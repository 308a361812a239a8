/** Values of megabytes that are made to be expensive. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { compile } from '../../../lib/kernel/schema/compile.ts'
import { costOf } from '../../fixtures/time.ts'
import { doubling, list, row } from './rows.ts'
import type { JsonSchema } from '../../../lib/kernel/schema/compile.ts'

type Costly = readonly [what: string, schema: JsonSchema, make: () => unknown]

/** Values that are made to be expensive, for schemas that people write; too much of all of them. */
const costly: readonly Costly[] = [
  ['a slow pattern on many texts', { items: { pattern: '^(a+)+$' } },
    () => list(10_000, () => 'a'.repeat(420))],
  ['a look-around on many texts', { items: { pattern: '^(?:(?!-)\\w+ ?)*$' } },
    () => list(10_000, () => 'word '.repeat(20))],
  ['word edges on many texts', { items: { pattern: '^(?:\\b\\w+\\s?)*$' } },
    () => list(10_000, () => 'a '.repeat(100))],
  ['a pattern on one text', { pattern: '^(a|aa)*$' }, () => 'a'.repeat(4_194_304)],
  ['a back-reference on one text', { pattern: '^(["\']).*\\1$' }, () => `"${'a'.repeat(4_000_000)}"`],
  ['a pattern of names', { patternProperties: { '^(n+)+\\d+$': true } },
    () => Object.fromEntries(list(60_000, (at) => [`${'n'.repeat(60)}${at}`, 1]))],
  ['a format on one text', { format: 'uri' }, () => `http://${'a'.repeat(4_194_304)}`],
  ['expressions', { items: { format: 'regex' } },
    () => list(4000, (at) => `${'\\p{L}'.repeat(190)}${at}`)],
  ['foreign names of hosts', { items: { format: 'idn-hostname' } },
    () => list(60_000, (at) => `実例${at}.テスト`)],
  ['many items that differ', { uniqueItems: true }, () => list(1_000_000, (at) => at)],
  ['many items to be looked for', { allOf: list(20, () => ({ not: { contains: { const: 'x' } } })) },
    () => list(1_000_000, (at) => at)],
  ['many items to be remembered', { allOf: list(20, () => ({ items: true })), unevaluatedItems: false },
    () => list(1_000_000, (at) => at)],
  ['many names to be remembered', { allOf: list(20, () => ({ additionalProperties: true })),
    unevaluatedProperties: false }, () => Object.fromEntries(list(100_000, (at) => [`n${at}`, 1]))],
  ['many alternatives',
    { items: { anyOf: [...list(500, (at) => ({ const: `c${at}` })), { type: 'integer' }] } },
    () => list(1_000_000, (at) => at)],
  ['many constants', { items: { enum: list(1000, (at) => ({ a: { b: at } })) } },
    () => list(100_000, (at) => ({ a: { b: at % 1000 } }))],
  ['many objects without properties', { items: row }, () => list(1_400_000, () => ({ id: 1, name: 'x' }))],
  ['many objects without names',
    { items: { dependentRequired: Object.fromEntries(list(200, (at) => [`d${at}`, ['x']])) } },
    () => list(500_000, () => ({}))],
  ['references that double', { $ref: '#/$defs/0', $defs: doubling }, () => 1],
  ['references to everywhere', { items: { $ref: '#' } }, () => JSON.parse(`[${'[],'.repeat(1_390_000)}[]]`)],
  ['decimals', { items: { multipleOf: 0.01 } }, () => list(490_000, () => 1e300)],
  ['a holey array', { items: true }, () => Object.assign([], { length: 4_000_000_000 })],
  ['a count of characters', { allOf: list(20, () => ({ maxLength: 2_000_000 })) },
    () => '😀'.repeat(1_000_000)],
]

test('a value that takes too much work is refused soon, in a sentence', () => {
  for (const [what, schema, make] of costly) {
    const validate = compile(schema, { formats: true })
    const value = make()
    const { valid, errors, more } = validate(value)
    assert.deepEqual([valid, more, errors], [false, true, [{
      path: '',
      keyword: 'maxSteps',
      message: 'is too costly to check against this schema (maxSteps 500000)',
      actual: errors[0]?.actual,
    }]], what)
    const took = costOf(() => validate(value), 300)
    assert.ok(took <= 300, `${what} took ${took} ms`)
  }
})
