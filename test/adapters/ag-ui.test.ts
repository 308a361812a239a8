import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineAgent } from '../../lib/preset/define.ts'
import { agUi } from '../../lib/adapters/ag-ui.ts'
import { ask, callOf, serviceOf } from './house.ts'
import { costOfParsing, cpuMs } from '../fixtures/time.ts'
import type { AgentOutput, ForeignAgent } from '../../lib/index.ts'

interface Subscriber { onEvent(one: { event: object }): void }
interface Options { readonly abortController: AbortController; readonly resume?: readonly object[] }

/** An agent as theirs, whose runs give these events in turn. */
class Agent {
  readonly agentId = 'helper'
  readonly description = 'Helps.'
  threadId = 'shared'
  state: unknown = {}
  messages: readonly object[] = []
  readonly runs: { threadId: string; messages: readonly object[]; resume: unknown }[]
  readonly #turns: (readonly object[])[]
  aborted = 0

  constructor(turns: readonly (readonly object[])[], runs: Agent['runs'] = []) {
    this.#turns = [...turns]
    this.runs = runs
  }

  clone(): Agent { return this.runs.length > 0 ? this : Object.assign(this, { messages: [] }) }
  setMessages(messages: readonly object[]): void { this.messages = messages }
  abortRun(): void { this.aborted++ }
  async runAgent({ resume }: Options, { onEvent }: Subscriber): Promise<void> {
    this.runs.push({ threadId: this.threadId, messages: this.messages, resume })
    for (const event of this.#turns.shift() ?? []) {
      await null
      onEvent({ event })
    }
  }
}

const text = (delta: string): object => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta })

test('an agent of AG-UI says its text, its tools and its reasoning, in a thread of its own', async () => {
  const { service } = serviceOf()
  const toolCallId = 't1'
  const events = [
    { type: 'RUN_STARTED' }, { type: 'REASONING_MESSAGE_CONTENT', delta: 'Hm.' },
    { type: 'TOOL_CALL_START', toolCallId, toolCallName: 'search' },
    { type: 'TOOL_CALL_ARGS', toolCallId, delta: '{"of":' },
    { type: 'TOOL_CALL_ARGS', toolCallId, delta: '"tea"}' },
    { type: 'TOOL_CALL_END', toolCallId }, { type: 'TOOL_CALL_RESULT', toolCallId, content: 'found' },
    { type: 'STATE_SNAPSHOT', snapshot: { secret: 1 } }, text('Sa'), text('id.'),
    { type: 'RUN_FINISHED', outcome: { type: 'success' }, result: { a: 1 } },
  ]
  const theirs = new Agent([events])
  const agent = defineAgent(theirs as unknown as ForeignAgent)
  assert.deepEqual([agent.name, agent.description], ['helper', 'Helps.'])
  const shown: string[] = []
  const call = callOf({ event: (event) => shown.push(JSON.stringify(event)) })
  Object.defineProperty(call, 'history', { value: [{ role: 'assistant', content: 'Before.' }] })
  const answer = await ask(service, agent, 'hi', call)
  assert.deepEqual([answer.text, answer.data], ['Said.', { a: 1 }])
  assert.deepEqual(shown.map((one) => JSON.parse(one) as object), [
    { type: 'reasoning', text: 'Hm.' }, { type: 'tool-call', id: 't1', name: 'search', args: { of: 'tea' } },
    { type: 'tool-result', id: 't1', name: 'search', result: 'found', isError: false },
  ])
  const [run] = theirs.runs
  assert.notEqual(run?.threadId, 'shared')
  assert.deepEqual(run?.messages, [
    { id: 'message-1', role: 'assistant', content: 'Before.' },
    { id: 'message-2', role: 'user', content: 'hi' },
  ])
})

test('a message that comes only in a snapshot of AG-UI is the answer, and none is said twice', async () => {
  const { service } = serviceOf()
  const snapshot = (...contents: readonly string[]): object => ({
    type: 'MESSAGES_SNAPSHOT', messages: contents.map((content, at) => (
      { id: `${at}`, role: at % 2 === 0 ? 'user' : 'assistant', content }
    )),
  })
  for (const [events, said] of [
    [[snapshot('hi', 'Said.')], 'Said.'], [[text('Said.'), snapshot('hi', 'Said.')], 'Said.'],
    [[snapshot('one', 'Before.', 'hi')], ''],
  ] as const) {
    const all = [{ type: 'RUN_STARTED' }, ...events, { type: 'RUN_FINISHED' }]
    const agent = defineAgent(new Agent([all]) as unknown as ForeignAgent)
    assert.equal((await ask(service, agent, 'hi', callOf())).text, said)
  }
})

test('an interrupt of AG-UI is a question, and its answer goes on with the run', async () => {
  const { service } = serviceOf()
  const interrupts = [{ id: 'i1', message: 'Which?' }, { id: 'i2', message: 'Sure?' }]
  const theirs = new Agent([
    [{ type: 'RUN_FINISHED', outcome: { type: 'interrupt', interrupts } }], [text('Said.')],
  ])
  const call = callOf({
    can: () => true,
    ask: async (question) => 'message' in question && question.message === 'Which?'
      ? { action: 'accept', content: { answer: 'this' } } : { action: 'decline' },
  })
  const agent = defineAgent(theirs as unknown as ForeignAgent)
  assert.equal((await ask(service, agent, 'hi', call)).text, 'Said.')
  assert.deepEqual(theirs.runs[1]?.resume, [
    { interruptId: 'i1', status: 'resolved', payload: 'this' }, { interruptId: 'i2', status: 'cancelled' },
  ])
})

test('an error of AG-UI is one, and what runAgent gives may be returned', async () => {
  const { service } = serviceOf()
  const failing = new Agent([[text('Sa'), { type: 'RUN_ERROR', message: 'secret' }]])
  const agent = defineAgent(failing as unknown as ForeignAgent)
  await assert.rejects(async () => ask(service, agent, 'hi', callOf()), { kind: 'internal' })
  const newMessages = [{ id: '1', role: 'assistant', content: 'Said.' }]
  const returning = (result: object): ReturnType<typeof defineAgent> => (
    defineAgent({ name: 'A', run: () => result as AgentOutput })
  )
  const whole = returning({ result: undefined, newMessages })
  assert.equal((await ask(service, whole, 'hi', callOf())).text, 'Said.')
  const failed = returning({ result: undefined, newMessages: [] })
  await assert.rejects(async () => ask(service, failed, 'hi', callOf()), { kind: 'internal' })
})

test('an agent of AG-UI that cannot be aborted does not end the process', async () => {
  const { service } = serviceOf()
  class Stuck extends Agent {
    override abortRun(): never { throw new Error('Not here') }
    override runAgent(): Promise<void> { return new Promise(() => {}) }
  }
  const agent = defineAgent(new Stuck([]) as unknown as ForeignAgent)
  const call = callOf()
  const answer = Promise.resolve(ask(service, agent, 'hi', call))
  await sleep(5)
  call.disconnect()
  await assert.rejects(answer, { kind: 'cancelled' })
})

test('many events at once are read in linear time', async () => {
  const agent = new Agent([])
  agent.runAgent = async (_options, { onEvent }) => {
    for (let at = 0; at < 160_000; at++) onEvent({ event: { type: 'RAW' } })
  }
  const limit = 200 * costOfParsing()
  const before = cpuMs()
  for await (const _ of agUi.run(agent, 'Hi', callOf())) assert.fail()
  const cost = cpuMs() - before
  assert.ok(cost < limit, `${cost} ms of at most ${limit}`)
})
