import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent } from '../../lib/preset/define.ts'
import { ask, callOf, serviceOf } from './house.ts'
import type { AgentOutput, ForeignAgent } from '../../lib/index.ts'

async function* piecesOf(pieces: readonly unknown[]): AsyncGenerator<unknown> {
  yield* pieces
}

/** A flow as theirs. `inputs` are what it got. */
function flowOf(
  pieces: readonly unknown[], output: unknown, inputSchema?: object,
): { readonly flow: ForeignAgent; readonly inputs: unknown[] } {
  const inputs: unknown[] = []
  const flow = Object.assign(() => {}, {
    __action: { key: '/flow/helper', name: 'helper', description: 'Helps.', inputSchema },
    stream(input: unknown) {
      inputs.push(input)
      return { stream: piecesOf(pieces), output: Promise.resolve(output) }
    },
  })
  return { flow, inputs }
}

const chunk = (role: string, ...content: readonly { readonly text?: string }[]): object => (
  { role, index: 0, content, text: content.map(({ text = '' }) => text).join('') }
)
const request = (input: object): object => (
  { toolRequest: { name: 'search', ref: 'c1', input, partial: true } }
)

test('a flow of Genkit says its text once, or gives its data', async () => {
  const { service } = serviceOf()
  const cases: readonly (readonly [readonly unknown[], unknown, string, unknown?])[] = [
    [['Sa', 'id.'], 'Said.', 'Said.'],
    [[chunk('model', { text: 'Sa' }), chunk('model', { text: 'id.' })], 'Said.', 'Said.'],
    [[], 'Said.', 'Said.'],
    [['Sa'], 'Said.', 'Said.'],
    [[{ progress: 1 }], { city: 'Paris' }, '{"city":"Paris"}', { city: 'Paris' }],
    [[], 7, '7'],
  ]
  for (const [pieces, output, text, data] of cases) {
    const agent = defineAgent(flowOf(pieces, output).flow)
    assert.deepEqual([agent.name, agent.description], ['helper', 'Helps.'])
    const answer = await ask(service, agent, 'hi', callOf())
    assert.deepEqual([answer.text, answer.data], [text, data])
  }
})

test('a flow that takes an object gets its one text, or the JSON that came', async () => {
  const { service } = serviceOf()
  const string = { _def: { typeName: 'ZodString' } }
  const objectOf = (shape: object): object => ({ _def: { typeName: 'ZodObject' }, shape })
  const { flow, inputs } = flowOf([], 'Said.', objectOf({ question: string, count: {} }))
  await ask(service, defineAgent(flow), 'hi', callOf())
  await ask(service, defineAgent(flow), '{"question":"hi","count":2}', callOf())
  assert.deepEqual(inputs, [{ question: 'hi' }, { question: 'hi', count: 2 }])
  const { flow: other } = flowOf([], '', objectOf({ one: string, two: string }))
  await assert.rejects(async () => ask(service, defineAgent(other), 'hi', callOf()), (error: Error) => (
    /'helper' takes an object/.test(String(error.cause))
  ))
})

test('what generate of Genkit gives may be returned, whole and as a stream', async () => {
  const { service } = serviceOf()
  const response = {
    message: { role: 'model', content: [{ text: 'Said.' }] }, finishReason: 'stop', text: 'Said.',
    output: null,
    usage: { inputTokens: 3, outputTokens: 2 }, request: { secret: 1 },
  }
  const pieces = [
    chunk('model', request({})), chunk('model', request({ of: 'tea' })),
    { role: 'tool', index: 1, content: [{ toolResponse: { name: 'search', ref: 'c1', output: 'found' } }] },
    chunk('model', { text: 'Sa' }), chunk('model', { text: 'id.' }),
  ]
  const outputs: readonly (() => unknown)[] = [
    () => response, () => ({ stream: piecesOf(pieces), response: Promise.resolve(response) }),
  ]
  const events: string[] = []
  for (const output of outputs) {
    events.length = 0
    const agent = defineAgent({ name: 'A', run: () => output() as AgentOutput })
    const call = callOf({ event: (event) => events.push(JSON.stringify(event)) })
    assert.equal((await ask(service, agent, 'hi', call)).text, 'Said.')
  }
  assert.deepEqual(events.map((one) => JSON.parse(one) as object), [
    { type: 'tool-call', id: 'c1', name: 'search', args: { of: 'tea' } },
    { type: 'tool-result', id: 'c1', name: 'search', result: 'found', isError: false },
    { type: 'usage', inputTokens: 3, outputTokens: 2 },
  ])
  const interrupted = defineAgent({ name: 'A', run: () => ({ ...response, finishReason: 'interrupted' }) })
  await assert.rejects(async () => ask(service, interrupted, 'hi', callOf()), { kind: 'internal' })
})
