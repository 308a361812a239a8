import assert from 'node:assert/strict'
import test from 'node:test'
import { A2aFault, a2aErrors } from '../../../lib/parts/a2a/model/faults.ts'
import { FieldFault } from '../../../lib/parts/a2a/model/fields.ts'
import { encodeHttpFault, encodeHttpRefusal, v1Errors } from '../../../lib/parts/a2a/codec/errors.ts'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { decodeV1Fault } from '../../fixtures/a2a-client/v1.ts'
import type { A2aReason } from '../../../lib/parts/a2a/model/faults.ts'
import type { FaultKind } from '../../../lib/kernel/define/fault.ts'

const reasons = Object.keys(a2aErrors) as A2aReason[]
const info = 'type.googleapis.com/google.rpc.ErrorInfo'
const localized = { '@type': 'type.googleapis.com/google.rpc.LocalizedMessage', locale: 'en', message: 'why' }
const badRequest = {
  '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ description: 'why' }],
}

test('each of the errors that A2A names has its number, its words and its reason', () => {
  for (const reason of reasons) {
    const { code, message, httpStatus, status } = a2aErrors[reason]
    const details = [{ '@type': info, reason, domain: 'a2a-protocol.org', metadata: { detail: 'why' } }]
    const fault = new A2aFault(reason, 'why')
    assert.deepEqual(v1Errors.encodeFault(fault, 'why'), { code, message, data: details })
    assert.deepEqual(encodeHttpFault(fault, 'why'), {
      status: httpStatus, body: { error: { code: httpStatus, status, message: 'why', details } },
    })
  }
})

test('every other fault has its number, the words of the table, and its sentence in a detail', () => {
  const unsupported = 'This operation is not supported'
  const supported = {
    '@type': info, reason: 'UNSUPPORTED_OPERATION', domain: 'a2a-protocol.org', metadata: { detail: 'why' },
  }
  type Row = readonly [
    kind: FaultKind, code: number, message: string, detail: object, httpStatus: number, status: string,
  ]
  const rows: readonly Row[] = [
    ['invalid', -32602, 'Invalid params', badRequest, 400, 'INVALID_ARGUMENT'],
    ['unauthenticated', -32600, 'Invalid request', localized, 401, 'UNAUTHENTICATED'],
    ['forbidden', -32600, 'Invalid request', localized, 403, 'PERMISSION_DENIED'],
    ['not-found', -32602, 'Invalid params', badRequest, 404, 'NOT_FOUND'],
    ['conflict', -32004, unsupported, supported, 400, 'FAILED_PRECONDITION'],
    ['unsupported', -32004, unsupported, supported, 400, 'FAILED_PRECONDITION'],
    ['too-large', -32602, 'Invalid params', badRequest, 413, 'INVALID_ARGUMENT'],
    ['busy', -32603, 'Internal error', localized, 503, 'UNAVAILABLE'],
    ['timeout', -32603, 'Internal error', localized, 504, 'DEADLINE_EXCEEDED'],
    ['cancelled', -32603, 'Internal error', localized, 503, 'UNAVAILABLE'],
    ['failed', -32603, 'Internal error', localized, 500, 'INTERNAL'],
    ['internal', -32603, 'Internal error', localized, 500, 'INTERNAL'],
  ]
  for (const [kind, code, message, detail, httpStatus, status] of rows) {
    const fault = new Fault(kind, 'why')
    assert.deepEqual(v1Errors.encodeFault(fault, 'why'), { code, message, data: [detail] }, kind)
    assert.deepEqual(encodeHttpFault(fault, 'why'), {
      status: httpStatus, body: { error: { code: httpStatus, status, message: 'why', details: [detail] } },
    }, kind)
  }
})

test('a wrong member is a violation of its field; HTTP+JSON has no params around it', () => {
  const fault = new FieldFault('params.message.parts', 'must be a list with at least one item')
  const violation = (description: string): object => ({
    '@type': badRequest['@type'], fieldViolations: [{ field: 'message.parts', description }],
  })
  assert.deepEqual(v1Errors.encodeFault(fault, fault.message).data, [
    violation('params.message.parts must be a list with at least one item'),
  ])
  const { body } = encodeHttpFault(fault, fault.message)
  const error = body.error as { readonly message: string; readonly details: unknown }
  assert.equal(error.message, 'message.parts must be a list with at least one item')
  assert.deepEqual(error.details, [violation(error.message)])
})

test('what an author attaches stands behind the sentence, in metadata as texts', () => {
  const rows: readonly (readonly [detail: unknown, metadata: object])[] = [
    [
      { taskId: 't1', n: 7, deep: { a: [1] }, gone: undefined },
      { taskId: 't1', n: '7', deep: '{"a":[1]}' },
    ],
    [['a'], { data: '["a"]' }],
    [null, { data: 'null' }],
    [{ detail: 'other' }, {}],
  ]
  for (const [detail, metadata] of rows) {
    const fault = new A2aFault('TASK_NOT_FOUND', 'why', detail)
    const [own] = v1Errors.encodeFault(fault, 'why').data as readonly object[]
    assert.deepEqual(own && 'metadata' in own && own.metadata, { ...metadata, detail: 'why' })
    assert.deepEqual(v1Errors.encodeFault(new Fault('failed', 'why', detail), 'why').data, [
      localized, { '@type': 'type.googleapis.com/google.protobuf.Value', value: detail },
    ])
  }
})

test('a defect shows nothing of itself, whatever is attached to it', () => {
  const said = 'Internal error (request r1)'
  const fault = new Fault('internal', 'db down', { dsn: 'secret' })
  assert.deepEqual(v1Errors.encodeFault(fault, said).data, [{ ...localized, message: said }])
  const own = new A2aFault('INVALID_AGENT_RESPONSE', 'db down', { dsn: 'secret' })
  assert.doesNotMatch(JSON.stringify(v1Errors.encodeFault(own, said)), /secret|db down/)
  assert.doesNotMatch(JSON.stringify(encodeHttpFault(own, said)), /secret|db down/)
})

test('a sentence is bounded, whatever a client made it of', () => {
  const said = 'x'.repeat(100_000)
  assert.ok(JSON.stringify(v1Errors.encodeFault(new Fault('invalid', said), said)).length < 1500)
  assert.ok(JSON.stringify(encodeHttpFault(new Fault('failed', said), said)).length < 3000)
})

test('an error is read as it was meant', () => {
  const faults: readonly Fault[] = [
    ...reasons.map((reason) => new A2aFault(reason, 'why')),
    new A2aFault('TASK_NOT_FOUND', 'why', { taskId: 't1' }),
    new FieldFault('params.id', 'must be a string'),
    new Fault('invalid', 'why'),
    new Fault('invalid', 'why', { field: [1] }),
    new Fault('failed', 'why'),
    new Fault('failed', 'why', null),
  ]
  for (const fault of faults) {
    const read = decodeV1Fault(JSON.parse(JSON.stringify(v1Errors.encodeFault(fault, fault.message))))
    assert.deepEqual({ ...read, message: read.message }, { ...fault, message: fault.message })
    assert.equal(read.constructor, fault.constructor)
  }
})

test('errors of other servers are read as far as they can be', () => {
  const rows: readonly (readonly [error: Parameters<typeof decodeV1Fault>[0], fault: object])[] = [
    [{ code: -32001, message: 'Nope' }, { kind: 'not-found', message: 'Nope', reason: 'TASK_NOT_FOUND' }],
    [
      { code: -32099, message: 'Nope', data: [{ '@type': info, reason: 'VERSION_NOT_SUPPORTED' }] },
      { kind: 'unsupported', message: 'Nope', reason: 'VERSION_NOT_SUPPORTED' },
    ],
    [
      { code: -32099, message: 'Nope', data: [7, { '@type': info, reason: 'constructor', metadata: 7 }] },
      { kind: 'failed', message: 'Nope' },
    ],
    [
      { code: -32600, message: 'Invalid request', data: { detail: 'why' } },
      { kind: 'invalid', message: 'why' },
    ],
    [
      { code: -32602, message: 'Nope', data: [{ ...badRequest, fieldViolations: 'none' }] },
      { kind: 'invalid', message: 'Nope' },
    ],
    [{ code: -32603, message: 'Nope', data: 'db' }, { kind: 'failed', message: 'Nope' }],
  ]
  for (const [error, fault] of rows) {
    const read = decodeV1Fault(error)
    for (const [name, value] of Object.entries(fault)) assert.equal(Reflect.get(read, name), value, name)
  }
})

test('a refusal before the body was read has the form of HTTP+JSON', () => {
  const rows: readonly (readonly [status: number, name: string])[] = [
    [400, 'INVALID_ARGUMENT'], [401, 'UNAUTHENTICATED'], [403, 'PERMISSION_DENIED'], [404, 'NOT_FOUND'],
    [405, 'UNIMPLEMENTED'], [413, 'INVALID_ARGUMENT'], [429, 'RESOURCE_EXHAUSTED'], [500, 'INTERNAL'],
    [503, 'UNAVAILABLE'],
  ]
  for (const [status, name] of rows) {
    assert.deepEqual(encodeHttpRefusal(status, 'why'), {
      status, body: { error: { code: status, status: name, message: 'why', details: [localized] } },
    })
  }
  const { status, body } = encodeHttpRefusal(415, 'why', 'CONTENT_TYPE_NOT_SUPPORTED')
  assert.deepEqual([status, body.error['code'], body.error['status']], [415, 415, 'INVALID_ARGUMENT'])
  assert.deepEqual(body.error['details'], [{
    '@type': info, reason: 'CONTENT_TYPE_NOT_SUPPORTED', domain: 'a2a-protocol.org',
    metadata: { detail: 'why' },
  }])
})
