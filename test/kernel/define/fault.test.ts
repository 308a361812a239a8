import assert from 'node:assert/strict'
import test from 'node:test'
import { asFault, publicMessage } from '../../../lib/kernel/define/fault.ts'
import { describe } from '../../../lib/kernel/define/log.ts'
import type * as fault from '../../../lib/kernel/define/fault.ts'
import { ask, callOf, serviceOf } from '../../fixtures/house.ts'
import { defineAgent, Fault } from '../../../lib/kernel.ts'
import type { FaultKind } from '../../../lib/kernel/define/fault.ts'

test('the kinds of fault are a closed set', () => {
  assert.throws(
    () => new Fault('teapot' as FaultKind, 'Short and stout'),
    /^TypeError: 'teapot' is no kind of Fault; write one of invalid, /,
  )
  const fault = new Fault('conflict', 'Taken', { by: 'bob' }, { cause: 7 })
  assert.ok(fault instanceof Error)
  assert.deepEqual(
    [fault.name, fault.kind, fault.message, fault.detail, fault.cause],
    ['Fault', 'conflict', 'Taken', { by: 'bob' }, 7],
  )
})

test('a fault that says nothing says at least its kind', () => {
  for (const message of ['', undefined]) {
    assert.equal(new Fault('not-found', message as string).message, 'not-found')
  }
})

test('a fault of another copy of this library is one; a class that extends it asks for its own', async () => {
  // Under another address a module is loaded another time; packed, all of the kernel is one.
  const load = async (path: string): Promise<typeof fault> => (
    await import(new URL(`../../../lib/${path}?copy`, import.meta.url).href)
  )
  const alone = await load('kernel/define/fault.js')
  const other = alone.Fault === Fault ? await load('kernel.js') : alone
  const theirs = new other.Fault('not-found', 'No such fruit')
  assert.notEqual(other.Fault, Fault)
  assert.ok(theirs instanceof Fault)
  assert.equal(asFault(theirs), theirs)
  class Missing extends Fault {}
  const missing = new Missing('not-found', 'No such fruit')
  assert.deepEqual([missing instanceof Missing, missing instanceof Fault, theirs instanceof Missing],
    [true, true, false])
  for (const none of [null, undefined, 7, 'a', {}, new Error('a'), { name: 'Fault', kind: 'failed' }]) {
    assert.equal((none as unknown) instanceof Fault, false)
  }
})

test('what was thrown is a fault of its own, or a defect with what was thrown as its cause', () => {
  const fault = new Fault('busy', 'Later')
  assert.equal(asFault(fault), fault)
  for (const thrown of [new Error('a'), 'a', null, undefined, 7n, Object.create(null)]) {
    const made = asFault(thrown)
    assert.deepEqual([made.kind, made.message, made.cause], ['internal', 'Internal error', thrown])
  }
})

const sentences: readonly (readonly [thrown: unknown, exposed: boolean, said: string])[] = [
  [new Fault('failed', 'No ink'), false, 'No ink'],
  [new Error('secret'), false, 'Internal error (request r-1)'],
  [new Fault('internal', 'secret'), false, 'Internal error (request r-1)'],
  [new Fault('failed', 'No ink'), true, 'No ink'],
  [new Error('secret'), true, 'secret'],
  ['secret', true, 'secret'],
  [null, true, 'null'],
  [{ a: 1 }, true, '{"a":1}'],
  [Object.create(null), true, '{}'],
  [undefined, true, 'Internal error (request r-1)'],
]

test('what may not be looked at is a defect too, and its run ends', async () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  for (const thrown of [proxy, new Proxy({}, { get() { throw new Error('no') } })]) {
    const fault = asFault(thrown)
    assert.equal(fault.kind, 'internal')
    assert.match(publicMessage(fault, 'r', true), /^What was thrown cannot be looked at$/)
    assert.equal(describe(thrown), '[object Object]')
    const agent = defineAgent(() => Promise.reject(thrown))
    await assert.rejects(async () => ask(serviceOf().service, agent, 'hi', callOf()), { kind: 'internal' })
  }
})

test('a caller reads what was meant for it, and of a defect only the id of its request', () => {
  for (const [thrown, exposed, said] of sentences) {
    assert.equal(publicMessage(asFault(thrown), 'r-1', exposed), said)
  }
})
