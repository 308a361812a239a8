import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent } from '../../lib/preset/define.ts'
import { ask, callOf, serviceOf } from './house.ts'
import type { AgentOutput, ForeignAgent } from '../../lib/index.ts'

const raw = '{"usage":{"prompt_tokens":3,"completion_tokens":2},"secret":1}'

function resultOf(text: string | undefined, returned: readonly unknown[] = []): object {
  const output = [text === undefined ? { type: 'tool_call' } : { type: 'text', content: text }]
  return { agentName: 'helper', output, toolCalls: returned.map((data) => ({ content: { data } })), raw }
}

type Publish = (chunk: object) => Promise<void>

/** An agent as theirs. */
class Agent {
  readonly name = 'helper'
  readonly description = 'Helps.'
  readonly prompts: string[] = []
  readonly #result: object
  constructor(result: object) {
    this.#result = result
  }

  performInference(): void {}
  withModel(): void {}
  async run(prompt: string, options: { streaming: { publish: Publish } }): Promise<object> {
    const { publish } = options.streaming
    this.prompts.push(prompt)
    const part = (type: string, partId: string, finalContent: object): Promise<void> => publish({
      event: 'part.completed', data: { type, partId, finalContent, metadata: { toolName: 'search' } },
    })
    await publish({ event: 'text.delta', data: { delta: 'not this' } })
    await part('tool-call', 'p1', { of: 'tea' })
    await part('tool-output', 'p2', { data: 'found' })
    return this.#result
  }
}

test('an agent of AgentKit says its last text, or what its tools returned; tools are events', async () => {
  const { service } = serviceOf()
  const cases: readonly (readonly [object, string])[] = [
    [resultOf('Said.'), 'Said.'], [resultOf(undefined, ['found']), '"found"'],
    [{ state: { results: [resultOf('First.'), resultOf('Said.')] }, availableAgents: () => {} }, 'Said.'],
  ]
  for (const [result, text] of cases) {
    const events: string[] = []
    const theirs = new Agent(result)
    const agent = defineAgent(theirs as unknown as ForeignAgent)
    assert.deepEqual([agent.name, agent.description], ['helper', 'Helps.'])
    const call = callOf({ event: (event) => events.push(JSON.stringify(event)) })
    Object.defineProperty(call, 'history', { value: [{ role: 'user', content: 'Before.' }] })
    assert.equal((await ask(service, agent, 'hi', call)).text, text)
    assert.match(theirs.prompts.join(), /user: Before\.\n[^]*\nhi$/)
    const usage = '{"type":"usage","inputTokens":3,"outputTokens":2}'
    assert.deepEqual(events.filter((one) => one !== usage).map((one) => JSON.parse(one) as object), [
      { type: 'tool-call', id: 'p1', name: 'search', args: { of: 'tea' } },
      { type: 'tool-result', id: 'p1', name: 'search', result: 'found', isError: false },
    ])
    assert.ok(events.includes(usage))
    const returning = defineAgent({ name: 'A', run: () => result as AgentOutput })
    assert.equal((await ask(service, returning, 'hi', callOf())).text, text)
  }
})
