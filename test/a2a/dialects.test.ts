import assert from 'node:assert/strict'
import test from 'node:test'
import { dialects, methodNames, rowOf } from '../../lib/a2a/dialects.ts'

test('the table has the plain dialect, and its methods are the methods of the door', () => {
  assert.deepEqual(dialects.map(({ name }) => name), ['plain'])
  assert.deepEqual(methodNames, ['message/send'])
})

test('a request picks its dialect by method, then by the shape of its params', () => {
  const text = { type: 'text', text: 'hello' }
  const rows: readonly (readonly [method: string, params: unknown, dialect: string | undefined])[] = [
    ['message/send', { message: { role: 'user', parts: [text] } }, 'plain'],
    ['message/send', { message: { role: 'user', parts: [{ text: 'hello' }] } }, 'plain'],
    ['message/send', { message: { role: 'user', parts: [{ ...text, kind: null }] } }, 'plain'],
    ['message/send', { message: { role: 'user', parts: 'none' } }, 'plain'],
    ['message/send', { message: 'none' }, 'plain'],
    ['message/send', undefined, 'plain'],
    ['message/send', { message: { kind: 'message', role: 'user', parts: [text] } }, undefined],
    ['message/send', { message: { role: 'user', parts: [text, { ...text, kind: 'text' }] } }, undefined],
    ['message/stream', { message: { role: 'user', parts: [text] } }, undefined],
    ['tasks/get', { id: '1' }, undefined],
    ['SendMessage', { message: {} }, undefined],
    ['tasks/send', { message: {} }, undefined],
    ['__proto__', {}, undefined],
    ['constructor', {}, undefined],
    ['Message/Send', {}, undefined],
  ]
  for (const [method, params, dialect] of rows) {
    assert.equal(rowOf(method, params)?.dialect.name, dialect, `${method} ${JSON.stringify(params)}`)
  }
})
