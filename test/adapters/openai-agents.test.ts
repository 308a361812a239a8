import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent } from '../../lib/preset/define.ts'
import { ask, callOf, serviceOf } from './house.ts'
import type { AgentOutput, CallEvent, ForeignAgent } from '../../lib/index.ts'
import type { LiveCall } from '../../lib/kernel/define/live-call.ts'

const model = (data: object): object => ({ type: 'raw_model_stream_event', data })
const delta = (text: string): object => model({ type: 'output_text_delta', delta: text })
const item = (name: string, rawItem: object, more: object = {}): object => (
  { type: 'run_item_stream_event', name, item: { rawItem, ...more } }
)
const calling = { type: 'function_call', callId: 'c', name: 'weather', arguments: '{"city":"Paris"}' }
const usage = {
  inputTokens: 3, outputTokens: 2, inputTokensDetails: { cached_tokens: 1 },
  outputTokensDetails: [{ reasoning_tokens: 1 }],
}

const stream = [
  model({ type: 'response_started' }),
  model({ type: 'model', event: { type: 'response.reasoning_summary_text.delta', delta: 'Hm.' } }),
  model({ type: 'model', event: { type: 'response.reasoning_text.delta', delta: 'Hm.' } }),
  delta('Let me look.'), model({ type: 'response_done', response: { usage } }),
  item('tool_called', calling), item('tool_output', calling, { output: 'sunny' }),
  { type: 'agent_updated_stream_event', agent: { instructions: 'secret' } },
  model({ type: 'response_started' }), delta('Sun'), delta('ny.'),
]

async function* streamOf(pieces: readonly object[]): AsyncGenerator<object> { yield* pieces }

/** What `run` gives: whole, or with a stream. */
const resultOf = (more: object, events?: readonly object[]): object => ({
  newItems: [
    { type: 'tool_call_item', rawItem: calling },
    { type: 'tool_call_output_item', rawItem: calling, output: 'sunny' },
  ],
  state: { secret: 1 }, interruptions: [], runContext: { usage },
  ...events && { toTextStream: () => {}, [Symbol.asyncIterator]: () => streamOf(events) }, ...more,
})

test('of a result and of its events the text comes once, with tools, thoughts, tokens and data', async () => {
  const { service } = serviceOf()
  const text = 'Let me look.\n\nSunny.'
  const data = { city: 'Paris' }
  const json = JSON.stringify(data)
  const [calls, all] = ['tool-call tool-result', 'reasoning usage tool-call tool-result']
  const cases: readonly (readonly [output: () => object, text: string, data: unknown, types: string])[] = [
    [() => resultOf({ finalOutput: 'Sunny.' }), 'Sunny.', undefined, `${calls} usage`],
    [() => resultOf({ finalOutput: data }), json, data, `${calls} usage`],
    [() => streamOf(stream), text, undefined, all],
    [() => resultOf({ finalOutput: text }, stream), text, undefined, all],
    [() => resultOf({ finalOutput: data }, [delta('{"city":'), delta('"Paris"}')]), json, data, ''],
    // A tool had the last word.
    [() => resultOf({ finalOutput: 'sunny' }, [item('tool_called', calling)]),
      'sunny', undefined, 'tool-call'],
  ]
  for (const [output, expected, itsData, types] of cases) {
    const events: CallEvent[] = []
    const agent = defineAgent({ name: 'A', run: () => output() as AgentOutput })
    const answer = await ask(service, agent, 'hi', callOf({ event: (event) => events.push(event) }))
    assert.deepEqual([answer.text, answer.data], [expected, itsData])
    assert.equal(events.map(({ type }) => type).join(' '), types)
    for (const event of events) {
      if (event.type === 'tool-call') assert.deepEqual(event.args, { city: 'Paris' })
      if (event.type === 'usage') {
        assert.deepEqual({ ...event }, {
          type: 'usage', inputTokens: 3, outputTokens: 2, cachedInputTokens: 1, reasoningTokens: 1,
        })
      }
    }
  }
  const waiting = defineAgent({
    name: 'A', run: () => resultOf({ interruptions: [{ name: 'book' }] }) as AgentOutput,
  })
  await assert.rejects(async () => ask(service, waiting, 'hi', callOf()),
    (error: Error) => /waits for an approval.*agents: \[agent\]/.test(String(error.cause)))
})

interface AsTool {
  readonly inputBuilder: () => readonly object[]
  readonly onStream: (event: { readonly event: object }) => Promise<void>
  readonly customOutputExtractor: (result: object) => string
  readonly runConfig: { readonly modelSettings: { readonly retry: {
    policy(of: { readonly error: Error }): boolean
  } } }
}

/** An agent as it is as a tool: `run` gets what it is called with. */
function agentOf(
  run: (tool: AsTool, details: { readonly resumeState?: string }) => Promise<unknown>,
): ForeignAgent {
  class Theirs {
    readonly name = 'Theirs'
    readonly handoffDescription = 'Of theirs.'
    readonly handoffs = []
    getSystemPrompt(): void {}
    getAllTools(): void {}
    clone(): void {}
    asTool(tool: AsTool): object {
      return { invoke: (_context: undefined, _input: string, details: object) => run(tool, details) }
    }
  }
  return new Theirs() as unknown as ForeignAgent
}

test('an agent runs with its history, and an error of its model is thrown as it is', async () => {
  const { service } = serviceOf()
  let items: readonly object[] = []
  const agent = defineAgent(agentOf(async (tool) => {
    items = tool.inputBuilder()
    for (const event of stream) await tool.onStream({ event })
    tool.customOutputExtractor(resultOf({ finalOutput: 'Sunny.' }))
  }))
  assert.deepEqual([agent.name, agent.description], ['Theirs', 'Of theirs.'])
  const call = callOf()
  call.history = [{ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }]
  assert.equal((await ask(service, agent, 'hi', call)).text, 'Let me look.\n\nSunny.')
  assert.deepEqual(items, [
    { role: 'user', content: 'a' },
    { role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'b' }] },
    { role: 'user', content: 'hi' },
  ])
  const busy = agentOf(async ({ runConfig: { modelSettings: { retry } } }) => {
    assert.equal(retry.policy({ error: Object.assign(new Error('secret'), { status: 429 }) }), false)
    return 'An error occurred while running the tool.'
  })
  await assert.rejects(async () => ask(service, defineAgent(busy), 'hi', callOf()), { kind: 'busy' })
  const failing = agentOf(async () => 'An error occurred while running the tool.')
  await assert.rejects(async () => ask(service, defineAgent(failing), 'hi', callOf()),
    (error: Error) => /to see why, write run:/.test(String(error.cause)))
})

test('a tool that waits for an approval gets it, and its agent goes on from its state', async () => {
  const { service } = serviceOf()
  for (const [answer, decided] of [
    [{ action: 'accept', content: { approve: true } }, 'approved'], [{ action: 'decline' }, 'rejected'],
  ] as const) {
    const states: unknown[] = []
    const agent = agentOf(async (tool, { resumeState }) => {
      states.push(resumeState)
      if (resumeState === 'approved' || resumeState === 'rejected') {
        return tool.customOutputExtractor(resultOf({ finalOutput: resumeState }))
      }
      let now = 'asked'
      const state = {
        approve() { now = 'approved' }, reject() { now = 'rejected' }, toString: () => now,
      }
      const interruptions = [{ name: 'book', arguments: '{"city":"Paris"}', rawItem: { callId: 'c' } }]
      return tool.customOutputExtractor(resultOf({ interruptions, state }))
    })
    const asked: object[] = []
    const call: LiveCall = callOf({
      can: () => true, ask: async (question) => { asked.push(question); return answer },
    })
    assert.equal((await ask(service, defineAgent(agent), 'hi', call)).text, decided)
    assert.deepEqual(states, [undefined, 'asked', decided])
    assert.match(JSON.stringify(asked), /"key":"approve-c".*'book' run with \{\\"city/)
  }
})

interface Waiting { readonly name: string; readonly arguments: string; readonly rawItem: { callId?: string } }

const waitingFor = (callId: string, city: string, name = 'book'): Waiting => (
  { name, arguments: JSON.stringify({ city }), rawItem: { callId } }
)

test('an answer goes to the call that was shown, whatever else waits when its agent goes on', async () => {
  const [paris, rome, bonn] = [waitingFor('p', 'Paris'), waitingFor('r', 'Rome'), waitingFor('b', 'Bonn')]
  const moved = waitingFor('p', 'Tokyo')
  type Case = readonly [shown: readonly Waiting[], resumed: readonly Waiting[], said: string]
  const cases: readonly Case[] = [
    [[paris, rome], [rome, paris], 'no p, yes r'], [[paris, rome], [rome], 'yes r'],
    [[paris, rome], [paris], 'no p'], [[rome], [bonn, rome], 'yes r'],
    // Asked again with what it is now.
    [[rome, paris], [waitingFor('r', 'Paris')], ''], [[rome, moved], [moved, rome], 'no p, yes r'],
    [[rome], [waitingFor('r', 'Rome', 'pay')], ''], [[rome], [waitingFor('x', 'Rome')], ''],
    // One id for two calls of a tool: approving one would be approving both.
    [[waitingFor('r', 'Paris'), rome], [waitingFor('r', 'Paris'), rome], 'no r, no r'],
    [[rome], [rome, waitingFor('r', 'Paris')], ''],
    [[rome, waitingFor('r', 'Paris', 'pay')], [waitingFor('r', 'Paris', 'pay'), rome], 'no r, yes r'],
  ]
  for (const [shown, resumed, expected] of cases) {
    const { service } = serviceOf()
    const said: string[] = []
    let runs = 0
    const say = (word: string) => ({ rawItem }: Waiting) => { said.push(`${word} ${rawItem.callId}`) }
    const state = { approve: say('yes'), reject: say('no'), toString: () => 'state' }
    const agent = agentOf(async (tool) => {
      runs++
      if (runs === 3) return tool.customOutputExtractor(resultOf({ finalOutput: 'Done.' }))
      return tool.customOutputExtractor(resultOf({ interruptions: runs === 1 ? shown : resumed, state }))
    })
    const call = callOf({
      can: () => true,
      ask: async (question) => (
        { action: 'accept', content: { approve: /Rome/.test(JSON.stringify(question)) } }
      ),
    })
    assert.equal((await ask(service, defineAgent(agent), 'hi', call)).text, 'Done.')
    assert.equal(said.sort().join(', '), expected, JSON.stringify([shown, resumed]))
  }
})

test('a call that was not shown before is asked for next', async () => {
  const { service } = serviceOf()
  const lists = [[waitingFor('p', 'Paris')], [waitingFor('r', 'Rome')], [waitingFor('r', 'Rome')],
    [waitingFor('r', 'Rome')]]
  const [asked, approved]: [string[], unknown[]] = [[], []]
  const approve = ({ rawItem }: Waiting): void => { approved.push(rawItem.callId) }
  const state = { approve, reject() {}, toString: () => 'state' }
  const agent = agentOf(async (tool) => {
    const interruptions = lists.shift()
    return tool.customOutputExtractor(resultOf(
      interruptions === undefined ? { finalOutput: 'Done.' } : { interruptions, state },
    ))
  })
  const call = callOf({
    can: () => true,
    async ask(question) {
      asked.push(question.key ?? '')
      return { action: 'accept', content: { approve: true } }
    },
  })
  assert.equal((await ask(service, defineAgent(agent), 'hi', call)).text, 'Done.')
  assert.deepEqual([asked, approved], [['approve-p', 'approve-r'], ['r']])
})
