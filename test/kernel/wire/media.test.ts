import assert from 'node:assert/strict'
import test from 'node:test'
import { mainTypeOf, oneMediaType, parseMediaType } from '../../../lib/kernel/wire/media.ts'

const types: readonly (readonly [value: string, type: string | undefined, charset?: string])[] = [
  ['application/json', 'application/json'],
  ['  Application/JSON ', 'application/json'],
  ['application/json;', 'application/json'],
  ['application/json; charset=UTF-8', 'application/json', 'utf-8'],
  ['application/json;charset="utf-8"; profile=x', 'application/json', 'utf-8'],
  ['application/json; profile="a;b, \\";"; charset=utf-8', 'application/json', 'utf-8'],
  ['application/json ; CHARSET=latin1', 'application/json', 'latin1'],
  ['application/a2a+json', 'application/a2a+json'],
  ['text/plain; a=application/json', undefined],
  ['application/json, text/plain', undefined],
  ['application/json; charset', undefined],
  ['application/json; charset=', undefined],
  ['application/json; charset=a b', undefined],
  ['application json', undefined],
  ['json', undefined],
  ['', undefined],
]

test('a content type is read with its charset, or not at all', () => {
  for (const [value, type, charset] of types) {
    assert.deepEqual(parseMediaType(value), type === undefined ? undefined : { type, charset }, value)
  }
})

test('a content type that came twice, or with empty elements, is one type', () => {
  for (const value of ['application/json,', ', application/json', 'application/json, , application/json']) {
    assert.deepEqual(oneMediaType(value), { type: 'application/json', charset: undefined }, value)
  }
  const both = oneMediaType('application/json,, application/json; charset=utf-8')
  assert.deepEqual(both, { type: 'application/json', charset: 'utf-8' })
  for (const value of [',', 'application/json, text/plain,']) assert.equal(oneMediaType(value), undefined)
})

test('the main type of a media type is in lower case', () => {
  assert.deepEqual(['IMAGE/PNG', 'image/png', ' audio/x', 'image', ''].map(mainTypeOf),
    ['image', 'image', 'audio', '', ''])
})
