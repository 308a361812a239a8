import assert from 'node:assert/strict'
import test from 'node:test'
import { plain } from '../../../lib/parts/a2a/codec/plain.ts'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import type { FaultKind } from '../../../lib/kernel/define/fault.ts'

test('every kind of fault has its number and its words', () => {
  const unsupported = 'This operation is not supported'
  const rows: readonly (readonly [FaultKind, number, string])[] = [
    ['invalid', -32602, 'Invalid params'],
    ['unauthenticated', -32600, 'Invalid request'],
    ['forbidden', -32600, 'Invalid request'],
    ['not-found', -32602, 'Invalid params'],
    ['conflict', -32004, unsupported],
    ['unsupported', -32004, unsupported],
    ['too-large', -32602, 'Invalid params'],
    ['busy', -32603, 'Internal error'],
    ['timeout', -32603, 'Internal error'],
    ['cancelled', -32603, 'Internal error'],
    ['failed', -32603, 'Internal error'],
    ['internal', -32603, 'Internal error'],
  ]
  for (const [kind, code, message] of rows) {
    const error = plain.encodeFault(new Fault(kind, 'why'), 'why')
    assert.deepEqual(error, { code, message, data: { detail: 'why' } }, kind)
  }
})

test('what an author attaches stands beside the sentence and never in its place', () => {
  const rows: readonly (readonly [detail: unknown, data: object])[] = [
    [{ field: 'year' }, { field: 'year', detail: 'why' }],
    [{ detail: 'other' }, { detail: 'why' }],
    [['a', 'b'], { data: ['a', 'b'], detail: 'why' }],
    [7, { data: 7, detail: 'why' }],
    [null, { data: null, detail: 'why' }],
  ]
  for (const [detail, data] of rows) {
    assert.deepEqual(plain.encodeFault(new Fault('failed', 'why', detail), 'why').data, data)
  }
})

test('a defect shows nothing of itself, whatever is attached to it', () => {
  const { data } = plain.encodeFault(new Fault('internal', 'db down', { dsn: 'secret' }), 'Internal error')
  assert.deepEqual(data, { detail: 'Internal error' })
})
