import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent, defineGroup } from '../../../lib/preset/define.ts'
import { Fault } from '../../../lib/index.ts'
import { noAdapters } from '../../../lib/kernel/define/adapters.ts'
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

test('an agent is told that a stream of texts of the AI SDK hides what fails', async () => {
  const { service, logged } = serviceOf()
  const plain = (): ReadableStream<string> => new Blob(['Tea']).stream().pipeThrough(new TextDecoderStream())
  const textStream = (): object => Object.assign(plain(), {
    async* [Symbol.asyncIterator]() { yield 'Tea' },
  })
  const told = defineAgent({ name: 'Told', run: () => textStream() as AsyncIterable<string> })
  assert.equal((await ask(service, told, 'hi', callOf())).text, 'Tea')
  const own = defineAgent(plain)
  assert.equal((await ask(service, own, 'hi', callOf())).text, 'Tea')
  assert.deepEqual(linesOf(logged), [
    `warning The agent 'Told' returned a textStream of the AI SDK, which just ends where its model fails; `
      + 'return the result that it is of, as streamText({ … })',
  ])
})

test('a stream that ends without a piece fails, where its server knows the AI SDK', async () => {
  const empty = defineAgent(() => new ReadableStream<string>({ start: (control) => { control.close() } }))
  const { service, logged } = serviceOf()
  await assert.rejects(async () => ask(service, empty, 'hi', callOf()), ({ cause }: Fault) => (
    /an agent returned a stream that ended without a piece\. A textStream of the AI SDK/.test(String(cause))
  ))
  assert.equal(logged.length, 1)
  const bare = { ...service, adapters: noAdapters }
  assert.equal((await ask(bare, empty, 'hi', callOf())).text, '')
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
