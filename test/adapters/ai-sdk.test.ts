import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent } from '../../lib/preset/define.ts'
import { aiSdk } from '../../lib/adapters/ai-sdk.ts'
import { ask, callOf, serviceOf } from './house.ts'
import type { CallEvent } from '../../lib/kernel/define/event.ts'
import type { LiveCall } from '../../lib/kernel/define/live-call.ts'
import type { Shown } from '../../lib/kernel/define/adapters.ts'
import type { AgentOutput } from '../../lib/index.ts'

/** A call, and the events that were said in it. */
function listening(lent: Parameters<typeof callOf>[0] = {}): { call: LiveCall; events: CallEvent[] } {
  const events: CallEvent[] = []
  return { call: callOf({ event: (event) => events.push(event), ...lent }), events }
}

async function* streamOf(parts: readonly object[]): AsyncGenerator<object> { yield* parts }

async function shownBy(run: AsyncIterable<Shown>): Promise<readonly Shown[]> {
  const all: Shown[] = []
  for await (const shown of run) all.push(shown)
  return all
}

const usage = { inputTokens: 3, outputTokens: 2, inputTokenDetails: { cacheReadTokens: 1 } }

/** As versions 5 to 7 stream them: two steps, a tool between. */
const parts: readonly object[] = [
  { type: 'start' }, { type: 'start-step', request: { body: 'secret' } },
  { type: 'reasoning-delta', text: 'Hm.' }, { type: 'text-delta', text: 'Let me look.' },
  { type: 'tool-call', toolCallId: '1', toolName: 'look', input: { at: 'it' } },
  { type: 'tool-result', toolCallId: '1', toolName: 'look', output: 'half', preliminary: true },
  { type: 'tool-result', toolCallId: '1', toolName: 'look', output: 'whole' },
  { type: 'tool-error', toolCallId: '2', toolName: 'fail', error: new Error('secret') },
  { type: 'tool-call', toolCallId: '', toolName: '' },
  { type: 'finish-step', usage }, { type: 'start-step' }, { type: 'text-delta', text: 'It ' },
  { type: 'text-delta', text: 'is.' }, { type: 'file', file: { base64: 'AQID', mediaType: 'image/png' } },
  { type: 'finish', totalUsage: usage },
]

const said: readonly CallEvent[] = [
  { type: 'reasoning', text: 'Hm.' },
  { type: 'tool-call', id: '1', name: 'look', args: { at: 'it' } },
  { type: 'tool-result', id: '1', name: 'look', result: 'whole', isError: false },
  { type: 'tool-result', id: '2', name: 'fail', result: undefined, isError: true },
  { type: 'tool-call', id: 'call', name: 'tool', args: undefined },
]

const used: CallEvent = { type: 'usage', inputTokens: 3, outputTokens: 2, cachedInputTokens: 1 }

test('of the parts of a stream the text comes, each step apart, and the rest as events', async () => {
  const { call, events } = listening()
  const agent = { settings: {}, stream: async () => ({ fullStream: streamOf(parts) }) }
  assert.deepEqual(await shownBy(aiSdk.run(agent, 'Hi', call)), [
    'Let me look.', '\n\nIt ', 'is.', { content: [{ type: 'image', data: 'AQID', mimeType: 'image/png' }] },
  ])
  assert.deepEqual(events, [...said, used])
})

test('a whole result and a stream for user interfaces say the same', async () => {
  const forPages = [
    { type: 'start', messageId: 'm' }, { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
    { type: 'tool-input-available', toolCallId: '1', toolName: 'look', input: { at: 'it' } },
    { type: 'tool-output-available', toolCallId: '1', output: 'whole' },
    { type: 'tool-output-error', toolCallId: '2', errorText: 'secret' },
    { type: 'tool-input-available', toolCallId: '', toolName: '' },
    { type: 'text-delta', id: 't', delta: 'It is.' }, { type: 'finish' },
  ]
  const whole = {
    text: 'It is.', finishReason: 'stop', usage: {}, totalUsage: usage, output: { is: true },
    steps: [{ content: parts.slice(2, 9) }],
  }
  const { service } = serviceOf()
  const outputs: readonly (readonly [unknown, unknown, readonly CallEvent[]])[] = [
    [whole, { is: true }, [...said, used]],
    // It does not name a tool again at its end.
    [streamOf(forPages), undefined, said.map((one) => one.type !== 'tool-result' ? one
      : { ...one, name: one.id === '1' ? 'look' : undefined })],
  ]
  for (const [output, data, expected] of outputs) {
    const { call, events } = listening()
    const agent = defineAgent({ name: 'A', run: () => output as AgentOutput })
    const answer = await ask(service, agent, 'hi', call)
    assert.deepEqual([answer.text, answer.data, events], ['It is.', data, expected])
  }
})

test('the agent gets earlier messages and files, and a caller is no system beside an author\'s', async () => {
  for (const [settings, role] of [[{}, 'system'], [{ instructions: 'Mine.' }, 'user']] as const) {
    let given: unknown
    const { call } = listening({
      message: [{ type: 'text', text: 'Hi' }, { type: 'image', data: 'AQID', mimeType: 'image/png' }],
    })
    call.history = [{ role: 'system', content: 'Be brief.' }]
    const agent = {
      settings,
      stream(options: object) {
        given = options
        return { fullStream: streamOf([]) }
      },
    }
    await shownBy(aiSdk.run(agent, 'Hi', call))
    assert.deepEqual(given, {
      messages: [
        { role, content: 'Be brief.' },
        {
          role: 'user', content: [
            { type: 'text', text: 'Hi' }, { type: 'file', data: 'AQID', mediaType: 'image/png' },
          ],
        },
      ],
      abortSignal: call.signal, allowSystemInMessages: true,
    })
  }
})

test('what waits for a person is asked, and its answer goes behind what the model said', async () => {
  const given: unknown[] = []
  const request = { type: 'tool-approval-request', approvalId: 'a', toolCall: { toolName: 'pay', input: 1 } }
  const agent = {
    async stream({ messages }: { messages: readonly object[] }) {
      given.push(messages)
      const fullStream = streamOf(given.length > 1 ? [{ type: 'text-delta', text: 'Paid.' }]
        : [{ type: 'text-delta', text: 'Well.' }, { ...request, isAutomatic: true }, request])
      return { fullStream, steps: [{ response: { messages: [{ role: 'assistant', content: 'Well.' }] } }] }
    },
  }
  const { call } = listening({
    can: () => true, ask: async () => ({ action: 'accept', content: { approve: true } }),
  })
  assert.deepEqual(await shownBy(aiSdk.run(agent, 'Hi', call)), ['Well.', '\n\nPaid.'])
  assert.deepEqual(given[1], [
    { role: 'user', content: 'Hi' }, { role: 'assistant', content: 'Well.' },
    { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'a', approved: true }] },
  ])
  const { service } = serviceOf({ exposeErrors: true })
  const returning = defineAgent({ name: 'A', run: () => streamOf([{ type: 'start' }, request]) })
  await assert.rejects(async () => ask(service, returning, 'hi', callOf()), (error: Error) => (
    /write agents: \[agent\]/.test(String(error.cause))
  ))
})

test('an approval of the AI SDK is of one call, and of all calls with its id', async () => {
  const request = (approvalId: string, toolCallId: string, input: string): object => (
    { type: 'tool-approval-request', approvalId, toolCall: { toolCallId, toolName: 'pay', input } }
  )
  const cases: readonly (readonly [requests: readonly object[], approved: readonly boolean[]])[] = [
    [[request('a', '1', 'much'), request('b', '2', 'little')], [false, true]],
    // What runs is found by the id of the call.
    [[request('a', '1', 'much'), request('b', '1', 'little')], [false, false]],
    [[request('a', '1', 'little'), request('b', '1', 'little')], [true, true]],
  ]
  for (const [requests, expected] of cases) {
    const given: (readonly object[])[] = []
    const agent = {
      async stream({ messages }: { messages: readonly object[] }) {
        given.push(messages)
        return {
          fullStream: streamOf(given.length > 1 ? [{ type: 'text-delta', text: 'Paid.' }] : requests),
          steps: [{ response: { messages: [] } }],
        }
      },
    }
    const { call } = listening({
      can: () => true, ask: async (question) => (
        { action: 'accept', content: { approve: /little/.test(JSON.stringify(question)) } }
      ),
    })
    await shownBy(aiSdk.run(agent, 'Hi', call))
    const { content } = given[1]!.at(-1) as { content: readonly { approved: boolean }[] }
    assert.deepEqual(content.map(({ approved }) => approved), expected)
  }
})

test('a stream of texts that ends without one is an error: it hides why', async () => {
  const { service } = serviceOf()
  for (const texts of [[], ['Said.']]) {
    const stream = ReadableStream.from(texts)
    const agent = defineAgent({ name: 'A', run: () => stream as unknown as AgentOutput })
    const answer = async (): Promise<string> => (await ask(service, agent, 'hi', callOf())).text
    if (texts.length > 0) assert.equal(await answer(), 'Said.')
    else await assert.rejects(answer, (error: Error) => /return the result/.test(String(error.cause)))
  }
  const agent = defineAgent({ name: 'A', async *run() { /* Nothing to say. */ } })
  assert.equal((await ask(service, agent, 'hi', callOf())).text, '')
})

test('an object of a stream is data, and a stream is read once', async () => {
  let reads = 0
  const result = {
    get fullStream() {
      reads++
      return streamOf([{ type: 'text-delta', textDelta: '{"a":1}' }, { type: 'finish', usage }])
    },
    textStream: {}, object: Promise.resolve({ a: 1 }),
  }
  const { service } = serviceOf()
  const { call, events } = listening()
  const agent = defineAgent({ name: 'A', run: () => result as unknown as AgentOutput })
  const { text, data } = await ask(service, agent, 'hi', call)
  assert.deepEqual([text, data, reads, events], ['{"a":1}', { a: 1 }, 1, [used]])
})
