import assert from 'node:assert/strict'
import test from 'node:test'
import { dialects, rowOf } from '../../../lib/parts/a2a/codec/dialects.ts'

test('the table has every dialect, the plain one first', () => {
  assert.equal(dialects[0]?.name, 'plain')
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
    ['message/send', { message: { kind: 'message', role: 'user', parts: [text] } }, '0.3'],
    ['message/send', { message: { role: 'user', parts: [text, { ...text, kind: 'text' }] } }, '0.3'],
    ['message/stream', { message: { role: 'user', parts: [text] } }, '0.3'],
    ['tasks/get', { id: '1' }, '0.3'],
    ['SendMessage', { message: {} }, '1.0'],
    ['sendMessage', { message: {} }, undefined],
    ['tasks/send', { message: {} }, undefined],
    ['__proto__', {}, undefined],
    ['constructor', {}, undefined],
    ['Message/Send', {}, undefined],
  ]
  for (const [method, params, dialect] of rows) {
    assert.equal(rowOf(method, params)?.dialect.name, dialect, `${method} ${JSON.stringify(params)}`)
  }
})
