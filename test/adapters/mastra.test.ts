import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent } from '../../lib/preset/define.ts'
import { mastra } from '../../lib/adapters/mastra.ts'
import { ask, callOf, serviceOf } from './house.ts'
import type { CallEvent } from '../../lib/kernel/define/event.ts'
import type { Shown } from '../../lib/kernel/define/adapters.ts'
import type { AgentOutput } from '../../lib/index.ts'

async function* streamOf(parts: readonly object[]): AsyncGenerator<object> { yield* parts }

/** A run of an agent, as it streams. */
function run(...chunks: readonly (readonly [type: string, payload: object])[]): object {
  const all = chunks.map(([type, payload]) => ({ type, runId: 'r', from: 'AGENT', payload }))
  return { runId: 'r', fullStream: streamOf(all), getFullOutput: () => ({}) }
}

async function shownBy(shown: AsyncIterable<Shown>): Promise<readonly Shown[]> {
  const all: Shown[] = []
  for await (const one of shown) all.push(one)
  return all
}

const tool = { toolCallId: '1', toolName: 'book', args: { city: 'Paris' } }
const usage = { inputTokens: 3, outputTokens: 2 }

test('of what an agent of Mastra streams the text comes, and the rest as events', async () => {
  const events: CallEvent[] = []
  const call = callOf({ event: (event) => events.push(event) })
  const agent = {
    stream: async () => run(
      ['start', {}], ['step-start', {}], ['reasoning-delta', { text: 'Hm.' }], ['tool-call', tool],
      ['tool-result', { ...tool, result: 'booked' }],
      ['tool-result', { ...tool, result: new Error('secret') }],
      ['text-delta', { text: 'Done' }], ['step-start', {}], ['text-delta', { text: 'It is' }],
      ['finish', { output: { usage: { inputTokens: 0, outputTokens: 0 } } }],
      ['finish', { output: { text: 'secret', usage } }],
    ),
  }
  assert.deepEqual(await shownBy(mastra.run(agent, 'Hi', call)), ['Done', '\n\nIt is'])
  assert.deepEqual(events, [
    { type: 'reasoning', text: 'Hm.' },
    { type: 'tool-call', id: '1', name: 'book', args: { city: 'Paris' } },
    { type: 'tool-result', id: '1', name: 'book', result: 'booked', isError: false },
    { type: 'tool-result', id: '1', name: 'book', result: undefined, isError: true },
    { type: 'usage', ...usage },
  ])
})

test('a tool that waits is asked for, and its run goes on with the answer', async () => {
  const seatSchema = { type: 'object', properties: { seat: { type: 'string' } }, required: ['seat'] }
  const resumeSchema = JSON.stringify(seatSchema)
  const suspended = { ...tool, suspendPayload: { question: 'Which?' }, resumeSchema }
  const cases: readonly (readonly [string, object, object | undefined, string, unknown])[] = [
    ['tool-call-approval', tool, { approve: true }, 'approveToolCall', undefined],
    ['tool-call-approval', tool, undefined, 'declineToolCall', undefined],
    ['tool-call-suspended', suspended, { seat: '1A' }, 'resumeStream', { seat: '1A' }],
    ['tool-call-suspended', suspended, undefined, 'declineToolCall', undefined],
    ['tool-call-suspended', { ...tool, suspendPayload: 'Which?' }, { answer: '1A' }, 'resumeStream', '1A'],
  ]
  for (const [type, payload, content, method, data] of cases) {
    const went: unknown[] = []
    const goOn = (name: string) => async (...given: readonly object[]) => {
      went.push(name, given.length > 1 ? given[0] : undefined, given.at(-1))
      return run(['text-delta', { text: 'Went on.' }])
    }
    const methods = ['approveToolCall', 'declineToolCall', 'resumeStream'].map((name) => [name, goOn(name)])
    const agent = { stream: async () => run([type, payload]), ...Object.fromEntries(methods) as object }
    const call = callOf({
      can: () => true,
      ask: async () => content === undefined ? { action: 'decline' } : { action: 'accept', content },
    })
    assert.deepEqual(await shownBy(mastra.run(agent, 'Hi', call)), ['Went on.'])
    const options = { abortSignal: call.signal, runId: 'r', toolCallId: '1' }
    assert.deepEqual(went, [method, data, options])
  }
})

test('a result of Mastra that was aborted or waits is an error, and a guard refuses', async () => {
  const { service } = serviceOf()
  const whole = { text: '', steps: [], finishReason: 'stop', tripwire: undefined, totalUsage: usage }
  const results: readonly (readonly [object, RegExp])[] = [
    [{ ...whole, finishReason: 'aborted' }, /aborted/],
    [{ ...whole, finishReason: 'suspended' }, /agents: \[/],
    [{ ...whole, error: new Error('gone') }, /gone/], [run(['start', {}], ['abort', {}]), /aborted/],
    [run(['start', {}], ['error', { error: new Error('gone') }]), /gone/],
    [run(['start', {}], ['tool-call-approval', tool]), /agents: \[/],
  ]
  for (const [result, why] of results) {
    const agent = defineAgent({ name: 'A', run: () => result as AgentOutput })
    await assert.rejects(async () => ask(service, agent, 'hi', callOf()), (error: Error) => (
      why.test(String(error.cause))
    ))
  }
  const refusals = [
    { ...whole, tripwire: { reason: 'Not that.' } },
    { ...whole, tripwire: true, tripwireReason: 'Not that.' },
    run(['start', {}], ['tripwire', { reason: 'Not that.' }]),
  ]
  for (const refusal of refusals) {
    const agent = defineAgent({ name: 'A', run: () => refusal as AgentOutput })
    await assert.rejects(async () => ask(service, agent, 'hi', callOf()), { message: 'Not that.' })
  }
})

test('a tool that waits for something else than was shown is asked again', async () => {
  const waiting = (toolCallId: string, args: object): readonly [string, object] => (
    ['tool-call-approval', { toolCallId, toolName: 'book', args }]
  )
  const [paris, rome, bonn] = [{ city: 'Paris' }, { city: 'Rome' }, { city: 'Bonn' }]
  type Chunks = readonly (readonly [string, object])[]
  const cases: readonly (readonly [shown: Chunks, after: Chunks, went: string])[] = [
    [[waiting('1', paris), waiting('2', rome)], [], 'no 1, yes 2'],
    // The second says once more what it waits for.
    [[waiting('1', paris), waiting('2', rome)], [waiting('2', rome)], 'no 1, yes 2'],
    [[waiting('1', rome), waiting('2', rome)], [waiting('2', bonn)], 'yes 1, no 2'],
    [[waiting('1', rome)], [waiting('1', paris)], 'yes 1, no 1'],
    [[waiting('1', rome), waiting('1', paris)], [], 'no 1, no 1'],
  ]
  for (const [shown, after, expected] of cases) {
    const went: string[] = []
    const goOn = (word: string) => async ({ toolCallId }: { toolCallId: string }) => {
      const isFirst = went.push(`${word} ${toolCallId}`) === 1
      return run(...isFirst ? after : [], ['text-delta', { text: 'Went on.' }])
    }
    const agent = {
      stream: async () => run(...shown), approveToolCall: goOn('yes'), declineToolCall: goOn('no'),
    }
    const call = callOf({
      can: () => true,
      ask: async (question) => (
        { action: 'accept', content: { approve: /Rome/.test(JSON.stringify(question)) } }
      ),
    })
    await shownBy(mastra.run(agent, 'Hi', call))
    assert.equal(went.join(', '), expected)
  }
})

test('a form that is no JSON, or nested too deep, is asked as text', async () => {
  for (const resumeSchema of ['{', '['.repeat(1_000) + ']'.repeat(1_000)]) {
    const waiting = ['tool-call-suspended', { ...tool, suspendPayload: { question: 'Which?' }, resumeSchema }]
    const agent = {
      stream: async () => run(waiting as [string, object]),
      resumeStream: async (data: unknown) => run(['text-delta', { text: `Went on with ${String(data)}.` }]),
    }
    const call = callOf({
      can: () => true, ask: async () => ({ action: 'accept', content: { answer: '1A' } }),
    })
    assert.deepEqual(await shownBy(mastra.run(agent, 'Hi', call)), ['Went on with 1A.'])
  }
})
