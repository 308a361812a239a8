import assert from 'node:assert/strict'
import test from 'node:test'
import { nearest, rejectUnknown } from '../../../lib/kernel/schema/options.ts'

const known = ['name', 'apiKey', 'run', 'id', 'timeoutMs', 'inputSchema'] as const

const meant: readonly (readonly [name: string, nearest: string | undefined])[] = [
  ['apikey', 'apiKey'],
  ['APIKEY', 'apiKey'],
  ['api_key', 'apiKey'],
  ['apiKeys', 'apiKey'],
  ['apKey', 'apiKey'],
  ['apiKye', 'apiKey'],
  ['aipKye', 'apiKey'],
  ['inputshcema', 'inputSchema'],
  ['timeout', 'timeoutMs'],
  ['nmae', 'name'],
  ['Name', 'name'],
  ['rum', 'run'],
  ['ib', 'id'],
  ['time', undefined],
  ['mail', undefined],
  ['nam', 'name'],
  ['ru', 'run'],
  ['ox', undefined],
  ['x', undefined],
  ['', undefined],
  ['apiKeyIds', undefined],
  ['constructor', undefined],
  ['x'.repeat(10_000), undefined],
]

test('a wrong name is near to what a slip or two of the keyboard would make of it', () => {
  for (const [name, expected] of meant) assert.equal(nearest(name, known), expected, name)
})

test('of two that are near the nearer one is meant, and then the first', () => {
  assert.equal(nearest('paths', ['pats', 'path']), 'pats')
  assert.equal(nearest('PATH', ['pats', 'path']), 'path')
})

const refused: readonly (readonly [given: object, sentence: string])[] = [
  [{ apikey: 'k' }, `launch has no option 'apikey'; did you mean 'apiKey'?`],
  [{ name: 'a', apikey: undefined }, `launch has no option 'apikey'; did you mean 'apiKey'?`],
  [{ colour: 'red' }, `launch has no option 'colour'; it has name, apiKey, run, id, timeoutMs, inputSchema`],
  [JSON.parse('{"__proto__": 1}') as object,
    `launch has no option '__proto__'; it has name, apiKey, run, id, timeoutMs, inputSchema`],
  [{ 'a\n\u0007b': 1 }, `launch has no option 'a b'; it has name, apiKey, run, id, timeoutMs, inputSchema`],
]

test('an option that nobody knows is refused, whatever its value', () => {
  for (const [given, message] of refused) {
    assert.throws(() => rejectUnknown('launch', given, known), { name: 'TypeError', message })
  }
})

const odd: readonly (readonly [given: unknown, shown: string])[] = [
  [null, 'null'], [7, 'number'], ['./state.db', 'string'], [[1], 'an array'], [() => 1, 'function'],
]

test('options are an object', () => {
  for (const [given, shown] of odd) {
    const message = `launch takes its options as an object, not ${shown}; `
      + 'it has name, apiKey, run, id, timeoutMs, inputSchema'
    assert.throws(() => rejectUnknown('launch', given as object, known), { name: 'TypeError', message })
  }
})

test('what is not an own, named, enumerable member is no option', () => {
  class Base { get inherited(): number { return 1 } }
  const given = Object.assign(new Base(), { name: 'a', [Symbol('apikey')]: 1 })
  Object.defineProperty(given, 'hidden', { value: 1, enumerable: false })
  rejectUnknown('launch', given, known)
  rejectUnknown('launch', {}, [])
})

test('no getter is called', () => {
  const unread = { get apikey() { return assert.fail('read') } }
  assert.throws(() => rejectUnknown('launch', unread, known), /apiKey/)
})

test('however long the names are, the sentence stays below 1 KiB', () => {
  const many = Array.from({ length: 500 }, (_, at) => `option${at}`)
  const rows: readonly (readonly [object, readonly string[]])[] = [
    [{ colour: 1 }, many], [{ ['助'.repeat(5_000)]: 1 }, many], [{ colour: 1 }, []],
  ]
  for (const [given, names] of rows) {
    assert.throws(() => rejectUnknown('助'.repeat(500), given, names), ({ message }: Error) => {
      return Buffer.byteLength(message) < 1_024
    })
  }
  assert.throws(() => rejectUnknown('launch', { colour: 1 }, many), / and \d+ more$/)
  assert.throws(() => rejectUnknown('launch', { colour: 1 }, []), /; it has none$/)
})
