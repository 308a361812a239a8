import assert from 'node:assert/strict'
import test from 'node:test'
import { A2aFault, a2aErrors } from '../../../lib/parts/a2a/model/faults.ts'
import { oldErrors } from '../../../lib/parts/a2a/codec/errors.ts'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { decodeRpcFault } from '../../fixtures/a2a-client/client.ts'
import type { A2aReason } from '../../../lib/parts/a2a/model/faults.ts'
import type { RpcError } from '../../../lib/floors/jsonrpc/jsonrpc.ts'

function roundTrip(fault: Fault): Fault {
  return decodeRpcFault(JSON.parse(JSON.stringify(oldErrors.encodeFault(fault, fault.message))) as RpcError)
}

test('each of A2A\'s own errors has its number and its words, and is read as itself', () => {
  for (const [name, { code, message, kind }] of Object.entries(a2aErrors)) {
    if (name === 'EXTENSION_SUPPORT_REQUIRED') continue
    // A defect shows nothing of itself.
    const detail = kind === 'internal' ? undefined : { taskId: 't' }
    const fault = new A2aFault(name as A2aReason, 'why', { taskId: 't' })
    const data = { ...detail, detail: 'why' }
    assert.deepEqual(oldErrors.encodeFault(fault, 'why'), { code, message, data })
    const read = roundTrip(fault)
    assert(read instanceof A2aFault, name)
    assert.deepEqual([read.reason, read.kind, read.message], [name, fault.kind, 'why'])
    assert.deepEqual(read.detail, detail)
  }
})

test('an extension that is missing has the number of what is not supported', () => {
  const { code, message } = a2aErrors.UNSUPPORTED_OPERATION
  const fault = new A2aFault('EXTENSION_SUPPORT_REQUIRED', 'why')
  assert.deepEqual(oldErrors.encodeFault(fault, 'why'), { code, message, data: { detail: 'why' } })
})

test('what is attached to a fault is read as it was', () => {
  const details = [undefined, { field: 'year' }, { field: 'year', data: 1 }, ['a', 'b'], 7, 'text', null]
  for (const detail of details) {
    const { kind, message, detail: read } = roundTrip(new Fault('invalid', 'why', detail))
    assert.deepEqual([kind, message, read], ['invalid', 'why', detail])
  }
})

test('a number says less than a kind does', () => {
  const rows = [
    ['invalid', 'invalid'], ['not-found', 'invalid'], ['too-large', 'invalid'],
    ['unauthenticated', 'invalid'], ['forbidden', 'invalid'], ['conflict', 'unsupported'],
    ['unsupported', 'unsupported'], ['busy', 'failed'],
    ['timeout', 'failed'], ['cancelled', 'failed'], ['failed', 'failed'], ['internal', 'failed'],
  ] as const
  for (const [kind, read] of rows) assert.equal(roundTrip(new Fault(kind, 'why')).kind, read, kind)
})

test('an error of another server is read as far as it goes', () => {
  const rows: readonly (readonly [error: RpcError, kind: string, message: string, detail: unknown])[] = [
    [{ code: -32602, message: 'Bad' }, 'invalid', 'Bad', undefined],
    [{ code: -32602, message: 'Bad', data: 'id' }, 'invalid', 'Bad', 'id'],
    [{ code: -32602, message: 'Bad', data: { detail: 7 } }, 'invalid', 'Bad', { detail: 7 }],
    [{ code: -32001, message: 'Gone', data: null }, 'not-found', 'Gone', null],
    [{ code: -32000, message: 'Own' }, 'failed', 'Own', undefined],
  ]
  for (const [error, kind, message, detail] of rows) {
    const fault = decodeRpcFault(error)
    assert.deepEqual([fault.kind, fault.message, fault.detail], [kind, message, detail])
  }
})

test('a sentence is cut where it is too long, whatever stands beside it', () => {
  const { data } = oldErrors.encodeFault(new Fault('failed', 'x'.repeat(5_000), { a: 1 }), 'x'.repeat(5_000))
  assert((data as { detail: string }).detail.length < 1_024)
})
