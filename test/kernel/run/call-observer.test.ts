import assert from 'node:assert/strict'
import test from 'node:test'
import { ask, callOf, serviceOf } from '../../fixtures/house.ts'
import { defineAgent } from '../../../lib/kernel.ts'
import type { KernelOptions } from '../../../lib/kernel.ts'

test('whoever wants to know of a call is told once, at its end', async () => {
  const told: unknown[] = []
  const { service } = serviceOf({ onCall: ({ kind, name, outcome }) => { told.push([kind, name, outcome]) } })
  await ask(service, defineAgent({ name: 'Echo', run: async (prompt) => prompt }), 'hi', callOf())
  await assert.rejects(async () => ask(service, defineAgent(() => { throw new Error('no') }), 'hi', callOf()))
  assert.deepEqual(told, [['agent', 'Echo', 'ok'], ['agent', 'Assistant', 'internal']])
})

test('a listener that fails, now or later, is logged and hurts nobody', async () => {
  const listeners: readonly NonNullable<KernelOptions['onCall']>[] = [
    () => { throw new Error('full') }, async () => { throw new Error('full') },
  ]
  for (const onCall of listeners) {
    const { service, logged } = serviceOf({ onCall })
    const answer = await ask(service, defineAgent(() => 'ok'), 'hi', callOf())
    assert.equal(answer.text, 'ok')
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(logged.map(([level, message]) => `${level} ${message}`), ['error onCall failed'])
  }
})
