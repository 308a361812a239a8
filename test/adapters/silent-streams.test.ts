/** Streams that hide what fails, as those of texts of the AI SDK do. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent } from '../../lib/index.ts'
import { noAdapters } from '../../lib/kernel/define/adapters.ts'
import { ask, callOf, serviceOf } from './house.ts'
import type { Fault } from '../../lib/index.ts'

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
  assert.deepEqual(logged.map(([level, message]) => `${level} ${message}`), [
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
