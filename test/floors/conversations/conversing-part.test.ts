/** A part that is written with the floor of conversations. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { answerMessage } from '../../../lib/conversations.ts'
import { conversationsOf } from '../../../lib/floors/conversations/conversation.ts'
import { createServer, defineAgent, defineGroup, LiveCall, problemReply } from '../../../lib/kernel.ts'
import { shareStore } from '../../../lib/stores/shared.ts'
import { callOf, serviceOf } from '../../fixtures/house.ts'
import { request, serve, sharedMemory } from '../../fixtures/kernel.ts'
import type { Part } from '../../../lib/kernel.ts'

test('what a part tells in the status hides nothing that a floor tells', () => {
  const conversing: Part = {
    name: 'conversing',
    open(kernel) {
      conversationsOf(kernel)
      const handle = (): { status: number } => ({ status: 204 })
      const endpoints = [{ path: '/', methods: ['GET'], refuse: problemReply, handle }]
      return { endpoints, status: () => ({ conversations: 0 }) }
    },
  }
  const options = { agents: [() => ''], parts: [conversing], log: false } as const
  assert.throws(() => createServer(options), /'conversations' already, and the part 'conversing'/)
})

test('a store is shared by what the sentence names, and a part answers with an agent', async (t) => {
  const memory = sharedMemory()
  const asking: Part = {
    name: 'asking',
    open: (kernel) => ({
      endpoints: [{
        path: '/ask', methods: ['POST'], accepts: ['text/plain'], refuse: problemReply,
        async handle({ body: prompt, origin }) {
          const call = new LiveCall(origin, { protocol: 'http' }, {})
          const message = { prompt, conversationId: 'one', isNamed: true }
          const { text } = await answerMessage(kernel, kernel.catalog.agents[0]!, message, call)
          return { status: 200, type: 'text/plain', body: text }
        },
      }],
    }),
  }
  const agent = defineAgent({ name: 'Count', run: (_, { history }) => String(history.length) })
  const options = {
    agents: [agent], tools: [], parts: [asking], store: memory.connect(), secret: 'the secret of all servers',
  }
  assert.throws(() => createServer(options), /import \{ shareStore \} from 'triport\/shared'/)
  const server = serve(t, { ...options, share: shareStore })
  for (const count of ['0', '2']) {
    const response = await server.fetch(request('/ask', 'hi', { 'content-type': 'text/plain' }))
    assert.equal(await response.text(), count)
  }
})

test('a part of an older form gets what it reads, or a sentence that says what to write', async () => {
  const { service } = serviceOf()
  const agent = defineAgent({ name: 'Poet', run: async function* () { yield 'a'; yield 'b' } })
  const group = defineGroup({ name: 'Poets', agents: [agent] })
  const message = { prompt: 'hi', conversationId: undefined, isNamed: false }
  const told: unknown[] = []
  const tell = (...more: readonly unknown[]): unknown => (
    Reflect.apply(answerMessage, undefined, [service, group, message, callOf(), ...more])
  )
  await tell((piece: { text: string }) => told.push(piece.text))
  await tell(({ type, text }: { type: string; text?: string }) => told.push([type, text]), true)
  assert.deepEqual(told, ['a', 'b', ['step', undefined], ['piece', 'a'], ['piece', 'b']])
  const old: readonly (readonly [more: readonly unknown[], sentence: RegExp])[] = [
    [[(_piece: unknown, _state: unknown) => {}], /an emit of one argument, .* write \(event\) => …, where/],
    [[(_piece: unknown, _state: unknown, _reply: unknown) => {}], /takes an emit of one argument/],
    [['text'], /takes an emit of one argument, and not "text"/],
    [[undefined, { begin: () => {}, say: () => {} }], /hasSteps an object; write true, and let emit take \{/],
    [[() => {}, () => {}], /has hasSteps .*; write true/],
  ]
  for (const [more, message] of old) assert.throws(() => tell(...more), { name: 'TypeError', message })
})
