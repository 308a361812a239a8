import assert from 'node:assert/strict'
import test from 'node:test'
import {
  decoded, isAnything, isText, manyOf, among, optional, readStored, recordOf, warnOfUnreadable,
} from '../../../lib/floors/shared/stored-value.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { Log } from '../../../lib/index.ts'

interface Pair { readonly one: string; readonly two?: unknown }

const isPair = recordOf<Pair>({ one: isText, two: isAnything })

function logged(): { readonly log: Log; readonly lines: unknown[] } {
  const lines: unknown[] = []
  return { lines, log: (...line) => { lines.push(line) } }
}

function read(value: string, log?: Log): Pair | undefined {
  return readStored('pairs', { key: 'a', value, version: 7 }, decoded(isPair), log)
}

test('a kept value is read, and what is none counts as absent', () => {
  assert.deepEqual(read('{"one":"1","two":[2],"three":3}'), { one: '1', two: [2], three: 3 })
  const { log, lines } = logged()
  assert.deepEqual(read('{"one":"1"}', log), { one: '1' })
  assert.equal(readStored('pairs', undefined, decoded(isPair), log), undefined)
  assert.deepEqual(lines, [])
  for (const value of ['', '{"one":"1"', 'no JSON', 'null', '1', '"one"', '[]', '{}', '{"one":1}']) {
    assert.equal(read(value), undefined, value)
  }
  const failing = (): never => { throw new Error('a decoder that fails') }
  assert.equal(readStored('pairs', { key: 'a', value: '1', version: 7 }, failing, log), undefined)
  assert.equal(lines.length, 1)
})

test('what cannot be read is logged without itself, once a minute for each collection and log', (t) => {
  const pass = standingTime(t)
  const one = logged()
  const other = logged()
  const line = ['warning', 'A kept value cannot be read and counts as absent: it is damaged, or of another '
    + 'version; it goes when it is written again, is deleted, or expires',
  { collection: 'pairs', version: 7 }]
  read('a secret that must not be shown', one.log)
  read('a secret that must not be shown', one.log)
  assert.deepEqual(one.lines, [line])
  read('the same', other.log)
  assert.deepEqual(other.lines, [line])
  warnOfUnreadable('others', { version: 8 }, one.log)
  assert.equal(one.lines.length, 2)
  pass(59_999)
  read('still', one.log)
  assert.equal(one.lines.length, 2)
  pass(1)
  read('again', one.log)
  read('again', one.log)
  assert.deepEqual(one.lines.slice(2), [line])
})

test('forms are checked to the last member', () => {
  const isWhole = recordOf<{ readonly all: readonly Pair[]; readonly word: string; readonly text?: string }>({
    all: manyOf(isPair), word: among('yes', 'no'), text: optional(isText),
  })
  const whole = { all: [{ one: '1' }, { one: '2' }], word: 'no', text: 'a' }
  assert.ok(isWhole(whole))
  assert.ok(isWhole({ all: [], word: 'yes' }))
  for (const more of [
    { all: undefined }, { all: {} }, { all: [{ one: '1' }, { two: 2 }] }, { word: 'perhaps' },
    { word: undefined }, { text: 1 }, { text: null },
  ]) {
    assert.ok(!isWhole({ ...whole, ...more }), JSON.stringify(more))
  }
})
