import assert from 'node:assert/strict'
import test from 'node:test'
import {
  foreignTo, isAsyncIterable, isIterable, jsonOf, readPieces,
} from '../../../lib/kernel/define/output.ts'
import { callOf } from '../../fixtures/house.ts'
import { Fault } from '../../../lib/kernel.ts'

test('what is read piece by piece is no list, and has no JSON form of its own', () => {
  const rows: readonly (readonly [value: unknown, isNow: boolean, isLater: boolean])[] = [
    [(function* () {})(), true, false], [(async function* () {})(), false, true], [new Set(), true, false],
    [new Blob([]).stream(), false, true], [[], false, false], [Buffer.from('a'), false, false],
    ['text', false, false], [null, false, false], [undefined, false, false], [{}, false, false],
  ]
  for (const [value, isNow, isLater] of rows) {
    assert.deepEqual([isIterable(value), isAsyncIterable(value)], [isNow, isLater])
  }
})

test('pieces are taken one by one, promises among them waited for, and the end is told', async () => {
  const taken: unknown[] = []
  const pieces = (function* () { yield 'a'; yield Promise.resolve('b'); return Promise.resolve('c') })()
  await readPieces(pieces, callOf(), {
    take: async (piece, isEnd) => { taken.push([piece, isEnd]) },
  })
  assert.deepEqual(taken, [['a', false], ['b', false], ['c', true]])
})

test('whoever breaks ends the reading, and the generator may clean up', async () => {
  for (const broken of ['taking', 'making']) {
    let isTidy = false
    const pieces = (async function* () {
      try {
        yield 'a'
        if (broken === 'making') throw new Error('broken')
        yield 'b'
      } finally {
        isTidy = true
      }
    })()
    const take = (): void => { if (broken === 'taking') throw new Error('broken') }
    await assert.rejects(readPieces(pieces, callOf(), { take }), { message: 'broken' })
    assert.equal(isTidy, true)
  }
})

test('what gives no objects is broken, and what never waits lets others have their turn', async () => {
  const broken = { next: () => 5 as never }
  const noObject = { name: 'TypeError', message: /gives no object/ }
  await assert.rejects(readPieces(broken, callOf(), { take() {} }), noObject)
  const call = callOf()
  const endless = (function* () { for (;;) yield '' })()
  setImmediate(() => call.cancel(new Fault('timeout', 'It was too long')))
  await assert.rejects(readPieces(endless, call, { take() {} }), { message: 'It was too long' })
})

const fine: readonly (readonly [value: unknown, json: string])[] = [
  ['a', '"a"'], [7, '7'], [null, 'null'], [[], '[]'], [{}, '{}'], [{ a: { b: {} } }, '{"a":{"b":{}}}'],
  [[{}, '{}'], '[{},"{}"]'], [new Date(0), '"1970-01-01T00:00:00.000Z"'], [new URL('x:1'), '"x:1"'],
  [{ a: undefined, b: () => 1 }, '{}'], [{ cause: new Error('a') }, '{"cause":{}}'],
  [{ map: Object.assign(new Map(), { toJSON: () => ({}) }) }, '{"map":{}}'],
]

test('a JSON value is its text', () => {
  for (const [value, json] of fine) {
    assert.equal(jsonOf('A tool', value), json)
    assert.equal(foreignTo(value), undefined)
  }
})

const lost: readonly (readonly [value: unknown, sentence: string])[] = [
  [new Map([['a', 1]]), 'A tool returned a Map; return Object.fromEntries(map)'],
  [new Set([1]), 'A tool returned a Set; return [...set]'],
  [new WeakMap(), 'A tool returned a WeakMap; return a plain object'],
  [Promise.resolve(1), 'A tool returned a promise; return await promise'],
  [new Response('a'), 'A tool returned a Response; return await response.text(), await response.json(), '
    + 'or what it was made of'],
  [new Headers(), 'A tool returned Headers; return Object.fromEntries(headers)'],
  [new FormData(), 'A tool returned FormData; return Object.fromEntries(form)'],
  [new URLSearchParams(), 'A tool returned URLSearchParams; return Object.fromEntries(parameters)'],
  [new Blob([]), 'A tool returned a Blob; return a content block with its bytes'],
  [new ReadableStream(), 'A tool returned a stream; return what is in it'],
  [(function* () { yield 1 })(), 'A tool returned a generator; return [...generator]'],
  [new Error('a'), 'A tool returned an Error; throw it'],
  [new TypeError('a'), 'A tool returned an Error; throw it'],
  [new Uint8Array(1), 'A tool returned bytes; return a content block, as in '
    + `{ type: 'image', data: bytes, mimeType: 'image/png' }`],
  [{ a: [{ b: new Map() }] }, 'A tool returned what holds a Map; write Object.fromEntries(map) in its place'],
  [[Promise.resolve(1)], 'A tool returned what holds a promise; write await promise in its place'],
  [undefined, 'A tool returned undefined, which JSON cannot represent'],
  [() => 1, 'A tool returned a function, which JSON cannot represent'],
]

test('what JSON would lose is refused, with what to write in its place', () => {
  for (const [value, message] of lost) {
    assert.throws(() => jsonOf('A tool', value), { name: 'TypeError', message })
  }
})

test('a value that is nested deeper than the stack is walked all the same', () => {
  let deep: unknown = {}
  for (let level = 0; level < 2_000; level++) deep = [deep]
  assert.match(jsonOf('A tool', deep), /^\[+\{\}\]+$/)
})
