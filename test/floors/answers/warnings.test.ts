import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent, defineGroup, Fault } from '../../../lib/kernel.ts'
import { ask, callOf, serviceOf } from '../../fixtures/house.ts'
import type { Logged } from '../../fixtures/house.ts'

function linesOf(logged: readonly Logged[]): readonly string[] {
  return logged.map(([level, message]) => `${level} ${message}`)
}

const silent = 'so its answer is empty; return a text, and await what it is made of'

test('an agent that returns undefined is told once, wherever it answers', async () => {
  const { service, logged } = serviceOf()
  const now = defineAgent({ name: 'Now', run: () => {} })
  const later = defineAgent({ name: 'Later', run: async () => {} })
  for (let round = 0; round < 2; round++) {
    assert.equal((await ask(service, now, 'hi', callOf())).text, '')
    assert.equal((await ask(service, later, 'hi', callOf(), () => {})).text, '')
  }
  const member = defineAgent({ name: 'Member', run: () => {} })
  await ask(service, defineGroup({ name: 'Group', agents: [now, member] }), 'hi', callOf())
  assert.deepEqual(linesOf(logged), [
    `warning The agent 'Now' returned undefined, ${silent}`,
    `warning The agent 'Later' returned undefined, ${silent}`,
    `warning The agent 'Member' returned undefined, ${silent}`,
  ])
  assert.equal(logged[0]?.[2]['request'], 'r-1')
})

test('an agent is told once of members that its answers lose', async () => {
  const { service, logged } = serviceOf()
  const loses = (more: object) => () => ({ text: 'Tea', ...more })
  const told = defineAgent({ name: 'Told', run: loses({ sources: [1], cost: 2 }) })
  for (let round = 0; round < 2; round++) assert.equal((await ask(service, told, 'hi', callOf())).text, 'Tea')
  await ask(service, defineAgent(loses({ data: 1, state: 'completed', reply: 'message' })), 'hi', callOf())
  assert.deepEqual(linesOf(logged), [
    `warning The agent 'Told' returned an answer with "sources, cost", which callers do not get; write it `
      + 'into data, as in { text, data: { sources } }',
  ])
})

test('an agent that means to say nothing is not told', async () => {
  const { service, logged } = serviceOf()
  const cancelled = callOf()
  await ask(service, defineAgent(() => ''), 'hi', callOf())
  await ask(service, defineAgent(() => null), 'hi', callOf())
  await ask(service, defineAgent(async function* () {}), 'hi', callOf())
  await ask(service, defineAgent((_prompt, call) => call.artifact({ parts: ['a'] })), 'hi', callOf())
  const gone = ask(service, defineAgent(async (_prompt, call) => {
    cancelled.cancel(new Fault('cancelled', 'Gone'))
    assert.equal(call.signal.aborted, true)
  }), 'hi', cancelled)
  await assert.rejects(async () => gone, { kind: 'cancelled' })
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(logged, [])
})
