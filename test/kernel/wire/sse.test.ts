import assert from 'node:assert/strict'
import test from 'node:test'
import { formatEvent } from '../../../lib/kernel/wire/sse.ts'

test('an event is written with its id and name, or without', () => {
  assert.equal(formatEvent('{}'), 'data: {}\n\n')
  assert.equal(formatEvent('{}', 'delta', '7'), 'id: 7\nevent: delta\ndata: {}\n\n')
})
