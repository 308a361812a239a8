import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent } from '../../lib/preset/define.ts'
import { ask, callOf, serviceOf } from './house.ts'
import type { Agent, AgentOutput, CallEvent, ForeignAgent } from '../../lib/index.ts'
import type { LiveCall } from '../../lib/kernel/define/live-call.ts'

interface Message { readonly role: string; readonly content: readonly object[] }

const model = (event: object): object => ({ type: 'modelStreamUpdateEvent', event, agent: { secret: 1 } })
const start = model({ type: 'modelMessageStartEvent' })
const delta = (text: string, type = 'textDelta'): object => (
  model({ type: 'modelContentBlockDeltaEvent', delta: { type, text } })
)
const usage = { inputTokens: 3, outputTokens: 2, cacheReadInputTokens: 1 }
const toolUse = { name: 'weather', toolUseId: 't', input: { city: 'Paris' } }
const tools = [
  { type: 'beforeToolCallEvent', toolUse },
  { type: 'afterToolCallEvent', toolUse, result: { status: 'success', content: [{ text: 'sunny' }] } },
]

/** What a run returns; its class writes the text of the last message. */
class Result {
  readonly type = 'agentResult'
  readonly stopReason: string = 'endTurn'
  readonly metrics = { latestAgentInvocation: { usage }, accumulatedUsage: { inputTokens: 99 } }
  constructor(more: object = {}) { Object.assign(this, more) }
  toString(): string { return 'Sunny.' }
}

async function* runOf(events: readonly object[], result: object): AsyncGenerator<object, object> {
  yield* events
  yield { type: 'agentResultEvent', result }
  return result
}

const events = [
  { type: 'beforeInvocationEvent' }, start, delta('Hm.', 'reasoningContentDelta'), delta('Let me look.'),
  model({ type: 'modelMetadataEvent', usage }), ...tools, start, delta('Sun'), delta('ny.'),
  { type: 'messageAddedEvent', message: { content: [{ text: 'Sunny.' }] } },
]

test('of a result and of its events the text comes once, with tools, thoughts, tokens and data', async () => {
  const { service } = serviceOf()
  const data = { city: 'Paris' }
  const form = { ...toolUse, name: 'strands_structured_output' }
  const asForm = [{ type: 'beforeToolCallEvent', toolUse: form }]
  const all = 'reasoning usage tool-call tool-result'
  const cases: readonly (readonly [output: () => object, text: string, data: unknown, types: string])[] = [
    [() => new Result(), 'Sunny.', undefined, 'usage'],
    [() => new Result({ structuredOutput: data }), JSON.stringify(data), data, 'usage'],
    [() => runOf(events, new Result()), 'Let me look.\n\nSunny.', undefined, all],
    [() => runOf(asForm, new Result({ structuredOutput: data })), JSON.stringify(data), data, ''],
  ]
  for (const [output, text, itsData, types] of cases) {
    const said: CallEvent[] = []
    const agent = defineAgent({ name: 'A', run: () => output() as AgentOutput })
    const answer = await ask(service, agent, 'hi', callOf({ event: (event) => said.push(event) }))
    assert.deepEqual([answer.text, answer.data], [text, itsData])
    assert.equal(said.map(({ type }) => type).join(' '), types)
    const tokens = said.find(({ type }) => type === 'usage')
    if (tokens !== undefined) {
      assert.deepEqual(tokens, { type: 'usage', inputTokens: 3, outputTokens: 2, cachedInputTokens: 1 })
    }
  }
  const inner = (event: object): object => ({ type: 'nodeStreamUpdateEvent', inner: { event } })
  const group = {
    type: 'multiAgentResult', status: 'COMPLETED', results: [], content: [{ text: 'Last.' }], usage,
  }
  const error = Object.assign(new Error('secret'), { status: 500 })
  const failed = { ...group, status: 'FAILED', results: [{}, { error }] }
  async function* runOfGroup(result: object): AsyncGenerator<object, object> {
    yield { type: 'beforeMultiAgentInvocationEvent' }
    for (const event of events) yield inner(event)
    yield inner({ type: 'agentResultEvent', result: new Result() })
    yield { type: 'multiAgentResultEvent', result }
    return result
  }
  for (const [output, types] of [[() => group, 'usage'], [() => runOfGroup(group), all]] as const) {
    const said: CallEvent[] = []
    const agent = defineAgent({ name: 'A', run: () => output() as AgentOutput })
    const { text } = await ask(service, agent, 'hi', callOf({ event: (event) => said.push(event) }))
    assert.deepEqual([text, said.map(({ type }) => type).join(' ')], ['Last.', types])
  }
  const failing = defineAgent({ name: 'A', run: () => runOfGroup(failed) as AgentOutput })
  await assert.rejects(async () => ask(service, failing, 'hi', callOf()), { kind: 'upstream' })
  for (const [stopReason, why] of [['interrupt', /agents: \[agent\]/], ['cancelled', /cancelled/]] as const) {
    const agent = defineAgent({ name: 'A', run: () => new Result({ stopReason }) as unknown as AgentOutput })
    await assert.rejects(async () => ask(service, agent, 'hi', callOf()),
      (error: Error) => why.test(String(error.cause)))
  }
})

/** An agent that says what it has heard, or asks until it is answered. */
class Theirs {
  readonly name = 'Theirs'
  messages: readonly Message[] = [{ role: 'user', content: [{ text: 'seed' }] }]
  systemPrompt: unknown = null
  running = 0
  mostRunning = 0
  readonly given: unknown[] = []
  hold = Promise.resolve()

  invoke(): void {}
  cancel(): void {}
  takeSnapshot(): object {
    return structuredClone({ data: { messages: this.messages, systemPrompt: this.systemPrompt } })
  }

  loadSnapshot({ data }: { data: { messages: readonly Message[]; systemPrompt: unknown } }): void {
    this.messages = data.messages
    this.systemPrompt = data.systemPrompt
  }

  async* stream(
    input: readonly object[], { cancelSignal }: { cancelSignal: AbortSignal },
  ): AsyncGenerator<object, object> {
    this.given.push({ messages: this.messages, systemPrompt: this.systemPrompt, input })
    this.mostRunning = Math.max(this.mostRunning, ++this.running)
    try {
      await this.hold
      this.messages = [...this.messages, { role: 'user', content: input }]
      if (cancelSignal.aborted) return new Result({ stopReason: 'cancelled' })
      if (JSON.stringify(input).includes('ask')) {
        const reason = { message: 'Sure?', schema: { type: 'boolean' } }
        const interrupts = [{ id: 'i', name: 'approve', reason }]
        const result = new Result({ stopReason: 'interrupt', interrupts })
        yield { type: 'agentResultEvent', result }
        return result
      }
      yield start
      yield delta(JSON.stringify(input))
      return new Result()
    } finally {
      this.running--
    }
  }
}

const agentOf = (theirs: Theirs): Agent => defineAgent(theirs as unknown as ForeignAgent)

test('each run begins with the agent as it was made, and its history, and no two run at once', async () => {
  const { service } = serviceOf()
  const theirs = new Theirs()
  const agent = agentOf(theirs)
  const call = callOf()
  call.history = [
    { role: 'system', content: 'Be brief.' }, { role: 'user', content: 'a' }, { role: 'user', content: 'b' },
    { role: 'assistant', content: 'c' },
  ]
  const answers = await Promise.all([
    ask(service, agent, 'one', call), ask(service, agent, 'two', callOf()),
    ask(service, agent, 'three', callOf()),
  ])
  const texts = ['one', 'two', 'three'].map((text) => JSON.stringify([{ text }]))
  assert.deepEqual(answers.map(({ text }) => text), texts)
  const [seed] = new Theirs().messages
  assert.deepEqual(theirs.given[0], {
    messages: [seed, { role: 'user', content: [{ text: 'a' }, { text: 'b' }] },
      { role: 'assistant', content: [{ text: 'c' }] }],
    systemPrompt: 'Be brief.', input: [{ text: 'one' }],
  })
  assert.deepEqual(theirs.given[1], { messages: [seed], systemPrompt: null, input: [{ text: 'two' }] })
  assert.equal(theirs.mostRunning, 1)
  const unanswered = callOf()
  unanswered.history = [{ role: 'user', content: 'a' }, { role: 'assistant', content: '' }]
  await ask(service, agent, 'again', unanswered)
  assert.deepEqual(theirs.given[3], {
    messages: [seed], systemPrompt: null, input: [{ text: 'a' }, { text: 'again' }],
  })
})

test('a run that ends while it waits for its turn holds nobody up', async () => {
  const { service } = serviceOf()
  const theirs = new Theirs()
  let release = (): void => {}
  theirs.hold = new Promise((resolve) => { release = resolve })
  const agent = agentOf(theirs)
  const leaving = callOf()
  const all = [
    ask(service, agent, 'one', callOf()), ask(service, agent, 'two', leaving),
    ask(service, agent, 'three', callOf()),
  ].map((answer) => Promise.resolve(answer))
  leaving.disconnect()
  await assert.rejects(all[1]!, { kind: 'cancelled' })
  release()
  assert.equal((await all[2]!).text, '[{"text":"three"}]')
  assert.equal((await all[0]!).text, '[{"text":"one"}]')
  assert.equal(theirs.given.length, 2)
})

test('what an agent asks is asked while others run, and it goes on from where it was', async () => {
  const { service } = serviceOf()
  for (const [answer, response] of [
    [{ action: 'accept', content: { answer: true } }, true], [{ action: 'decline' }, null],
  ] as const) {
    const theirs = new Theirs()
    const agent = agentOf(theirs)
    const call: LiveCall = callOf({
      can: () => true,
      async ask(question) {
        assert.match(JSON.stringify(question), /"message":"Sure\?".*"answer":\{"type":"boolean"\}/)
        assert.equal((await ask(service, agent, 'other', callOf())).text, '[{"text":"other"}]')
        return answer
      },
    })
    const input = [{ interruptResponse: { interruptId: 'i', response } }]
    assert.equal((await ask(service, agent, 'ask', call)).text, JSON.stringify(input))
    const [, , resumed] = theirs.given as readonly { messages: readonly Message[] }[]
    assert.deepEqual(resumed?.messages.at(-1), { role: 'user', content: [{ text: 'ask' }] })
  }
})
