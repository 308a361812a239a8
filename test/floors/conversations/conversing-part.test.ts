/** A part that is written with the floor of conversations. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { answerMessage } from '../../../lib/conversations.ts'
import { conversationsOf } from '../../../lib/floors/conversations/conversation.ts'
import { createServer, defineAgent, LiveCall, problemReply } from '../../../lib/kernel.ts'
import { shareStore } from '../../../lib/stores/shared.ts'
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
