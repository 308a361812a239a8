import assert from 'node:assert/strict'
import test from 'node:test'
import { adapt } from '../../lib/adapters/frameworks.ts'
import { defineAgent } from '../../lib/preset/define.ts'
import { ask, callOf, serviceOf } from './house.ts'
import type { AgentOutput, ForeignAgent } from '../../lib/index.ts'

interface Options { readonly sessionId: string; readonly newMessage: object }

const brand: unique symbol = Symbol.for('google.adk.runner')

/** A runner as theirs, whose sessions are here; `run` gives the events of a message. */
class Runner {
  readonly [brand] = true
  readonly appName = 'app'
  readonly agent = { name: 'helper', description: 'Helps.' }
  readonly sessions = new Map<string, object[]>()
  readonly sessionService = {
    createSession: async () => {
      const id = `s${this.sessions.size}`
      this.sessions.set(id, [])
      return { id }
    },
    appendEvent: async ({ session, event }: { session: { id: string }; event: { content: object } }) => {
      this.sessions.get(session.id)!.push(event.content)
    },
    deleteSession: async ({ sessionId }: { sessionId: string }) => { this.sessions.delete(sessionId) },
  }
  readonly #run: (events: readonly object[]) => readonly object[]

  constructor(run: (events: readonly object[]) => readonly object[]) {
    this.#run = run
  }

  async* runAsync({ sessionId, newMessage }: Options): AsyncGenerator<object> {
    yield* this.#run([...this.sessions.get(sessionId)!, newMessage])
  }
}

const said = (parts: readonly object[], more: object = {}): object => (
  { invocationId: 'i', author: 'helper', content: { role: 'model', parts }, ...more }
)

const asked = (prompt: string): object => ({ role: 'user', parts: [{ text: prompt }] })

test('of a runner the pieces come once, with the history before, and no session is left', async () => {
  const events: string[] = []
  let messages: readonly object[] = []
  const runner = new Runner((all) => {
    messages = all
    return [
      said([{ text: 'Hm.', thought: true }], { partial: true }), said([{ text: 'Sa' }], { partial: true }),
      said([{ text: 'id.' }], { partial: true }),
      said([{ text: 'Hm.', thought: true }, { text: 'Said.' }], {
        partial: false,
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, thoughtsTokenCount: 1 },
      }),
    ]
  })
  const agent = defineAgent(runner as ForeignAgent)
  assert.deepEqual([agent.name, agent.description], ['helper', 'Helps.'])
  const call = callOf({ event: (event) => events.push(JSON.stringify(event)) })
  Object.defineProperty(call, 'history', {
    value: [{ role: 'user', content: 'A' }, { role: 'assistant', content: 'B' }],
  })
  const { service } = serviceOf()
  assert.equal((await ask(service, agent, 'hi', call)).text, 'Said.')
  assert.deepEqual(messages, [asked('A'), { role: 'model', parts: [{ text: 'B' }] }, asked('hi')])
  assert.deepEqual(events.map((event) => JSON.parse(event) as object), [
    { type: 'reasoning', text: 'Hm.' },
    { type: 'usage', inputTokens: 3, outputTokens: 3, reasoningTokens: 1 },
  ])
  assert.equal(runner.sessions.size, 0)
})

test('an error that a runner yields is one, by its status', async () => {
  const { service } = serviceOf()
  for (const [errorCode, kind] of [['429', 'busy'], ['500', 'upstream'], ['SAFETY', 'internal']] as const) {
    const runner = new Runner(() => [said([{ text: 'No' }]), said([], { errorCode, errorMessage: 'secret' })])
    const agent = adapt(runner as ForeignAgent, { name: 'A' })
    await assert.rejects(async () => ask(service, agent, 'hi', callOf()), (error: Error) => (
      'kind' in error && error.kind === kind && !error.message.includes('secret')
    ))
    assert.equal(runner.sessions.size, 0)
  }
})

test('events of a runner may be returned, with their files', async () => {
  const { service } = serviceOf()
  const output = async function* (): AsyncGenerator<object> {
    yield said([{ text: 'Said.' }])
    yield said([{ inlineData: { mimeType: 'image/png', data: 'AA==' } }])
    yield said([{ inlineData: { mimeType: 'application/pdf', data: 'AA==' } }])
  }
  const agent = defineAgent({ name: 'A', run: () => output() as AgentOutput })
  const { text, content } = await ask(service, agent, 'hi', callOf())
  assert.equal(text, 'Said.')
  assert.deepEqual(content.map(({ type }) => type), ['text', 'image', 'resource'])
})

test('a confirmation of the kit is of the call that was shown, and of all calls with its id', async () => {
  const { service } = serviceOf()
  const confirming = (id: string, originalId: string, city: string): object => ({
    functionCall: {
      id, name: 'adk_request_confirmation',
      args: { originalFunctionCall: { id: originalId, name: 'book', args: { city } } },
    },
  })
  for (const [parts, confirmed] of [
    [[confirming('a', '1', 'Paris'), confirming('b', '2', 'Rome')], [false, true]],
    [[confirming('a', '1', 'Paris'), confirming('b', '1', 'Rome')], [false, false]],
  ] as const) {
    let runs = 0
    let answer: readonly { functionResponse: { id: string; response: { confirmed: boolean } } }[] = []
    const runner = new Runner((all) => {
      if (++runs === 1) return [said(parts)]
      answer = (all.at(-1) as { parts: typeof answer }).parts
      return [said([{ text: 'Done.' }])]
    })
    const call = callOf({
      can: () => true,
      ask: async (question) => (
        { action: 'accept', content: { approve: /Rome/.test(JSON.stringify(question)) } }
      ),
    })
    const agent = adapt(runner as ForeignAgent, { name: 'A' })
    assert.equal((await ask(service, agent, 'hi', call)).text, 'Done.')
    const answers = answer.map(({ functionResponse: { id, response } }) => [id, response.confirmed])
    assert.deepEqual(answers, [['a', confirmed[0]], ['b', confirmed[1]]])
  }
})
