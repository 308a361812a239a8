import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent } from '../../lib/preset/define.ts'
import { ask, callOf, serviceOf } from './house.ts'
import type { AgentOutput, ForeignAgent } from '../../lib/index.ts'

const event = (data: object): object => (
  { data, toJSON: () => ({ data }), toString: () => 'event', [Symbol.toStringTag]: 'event' }
)

interface Context { sendEvent(one: object): void }
interface Member {
  readonly name: string
  readonly tools: readonly object[]
  takeStep(context: Context, input: unknown): Promise<{ response: { content: string } }>
}

/** A workflow as theirs: where a step of its agent throws, its run never ends. */
class Workflow {
  readonly rootAgentName = 'helper'
  readonly #agents: readonly Member[]
  constructor({ agents }: { agents: readonly Member[] }) {
    this.#agents = agents
  }

  run(): void {}
  getAgents(): readonly Member[] { return this.#agents }

  async* runStream(content: string): AsyncGenerator<object> {
    yield event({ userInput: content, chatHistory: [] })
    const sent: object[] = []
    const context = { sendEvent: (one: object) => sent.push(one) }
    const step = this.#agents[0]!.takeStep(context, content)
    const { response } = await step.catch(() => new Promise<never>(() => {}))
    yield* sent
    yield event({ result: response.content, message: response, state: { secret: 'inner' } })
  }
}

function workflowOf(step: (context: Context, input: unknown) => void): Workflow {
  return new Workflow({
    agents: [{
      name: 'helper',
      tools: [],
      async takeStep(context, input) {
        step(context, input)
        return { response: { content: 'Said.' } }
      },
    }],
  })
}

test('an agent of LlamaIndex says its text once, and its tools', async () => {
  const { service } = serviceOf()
  const toolId = 't1'
  const workflow = workflowOf(({ sendEvent }) => {
    sendEvent(event({ toolId, toolName: 'search', toolKwargs: { of: 'tea' }, agentName: 'helper' }))
    sendEvent(event({ toolId, toolName: 'search', toolOutput: { result: 'found', isError: false }, raw: 1 }))
    sendEvent(event({ delta: 'Sa', response: 'Sa', currentAgentName: 'helper' }))
    sendEvent(event({ delta: 'id.', response: 'Said.', currentAgentName: 'helper' }))
  })
  const events: unknown[] = []
  const agent = defineAgent(workflow as ForeignAgent)
  assert.equal(agent.name, 'helper')
  const { text } = await ask(service, agent, 'hi', callOf({ event: (one) => events.push(one) }))
  assert.equal(text, 'Said.')
  assert.deepEqual(events, [
    { type: 'tool-call', id: toolId, name: 'search', args: { of: 'tea' } },
    { type: 'tool-result', id: toolId, name: 'search', result: 'found', isError: false },
  ])
  const returning = defineAgent({ name: 'A', run: () => workflow.runStream('hi') as AgentOutput })
  assert.equal((await ask(service, returning, 'hi', callOf())).text, 'Said.')
})

test('a step of LlamaIndex that throws ends the run with its error', { timeout: 5_000 }, async () => {
  const { service } = serviceOf()
  const agent = defineAgent(workflowOf(() => {
    throw Object.assign(new Error('secret'), { status: 429 })
  }) as ForeignAgent)
  await assert.rejects(async () => ask(service, agent, 'hi', callOf()), { kind: 'busy' })
})
