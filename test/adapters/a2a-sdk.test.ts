import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent } from '../../lib/preset/define.ts'
import { ask, callOf, serviceOf } from './house.ts'
import type { AgentOutput, ForeignAgent } from '../../lib/index.ts'

const update = ($case: string, value: object): object => ({ payload: { $case, value } })
const part = (value: string): object => ({ content: { $case: 'text', value }, mediaType: '', filename: '' })
const oldPart = { kind: 'text', text: 'Said.' }
const status = (state: number, ...parts: readonly object[]): object => update('statusUpdate', {
  taskId: 't', contextId: 'c', status: { state, message: parts.length > 0 ? { parts } : undefined },
})
const artifact = (...parts: readonly object[]): object => (
  update('artifactUpdate', { taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts } })
)

/** A client as theirs; `sent` are the messages that it was given. */
class Client {
  readonly agentCard = { name: 'Helper', description: 'Helps.' }
  readonly sent: Readonly<Record<string, unknown>>[] = []
  readonly cancelled: string[] = []
  readonly protocolVersion: string | undefined
  readonly #turns: (readonly object[])[]

  constructor(protocolVersion: string | undefined, ...turns: readonly (readonly object[])[]) {
    this.protocolVersion = protocolVersion
    this.#turns = [...turns]
  }

  getAgentCard(): void {}
  sendMessage(): void {}
  async cancelTask({ id }: { id: string }): Promise<void> { this.cancelled.push(id) }
  async* sendMessageStream(request: { message: Readonly<Record<string, unknown>> }): AsyncGenerator<object> {
    this.sent.push(request.message)
    yield* this.#turns.shift() ?? []
  }
}

const agentOf = (client: Client): ReturnType<typeof defineAgent> => (
  defineAgent(client as unknown as ForeignAgent)
)

test('a client of A2A gives the text of artifacts and messages once, of 0.3 and of 1', async () => {
  const { service } = serviceOf()
  const whole = { id: 't', contextId: 'c', status: { state: 3 }, artifacts: [{ parts: [part('Said.')] }] }
  const streams: readonly (readonly [version: string | undefined, readonly object[]])[] = [
    ['1.0', [status(2, part('working')), artifact(part('Sa')), artifact(part('id.')), update('task', whole)]],
    ['1.0', [update('task', whole)]],
    ['1.0', [update('message', { messageId: 'm', parts: [part('Said.')] })]],
    [undefined, [
      { kind: 'task', id: 't', contextId: 'c', status: { state: 'submitted' } },
      { kind: 'artifact-update', taskId: 't', contextId: 'c', artifact: { parts: [oldPart] } },
      { kind: 'status-update', taskId: 't', contextId: 'c', status: { state: 'completed' }, final: true },
    ]],
    [undefined, [{
      kind: 'status-update', taskId: 't', contextId: 'c',
      status: { state: 'completed', message: { parts: [oldPart] } },
    }]],
  ]
  for (const [version, events] of streams) {
    const client = new Client(version, events)
    assert.deepEqual([agentOf(client).name, agentOf(client).description], ['Helper', 'Helps.'])
    assert.equal((await ask(service, agentOf(client), 'hi', callOf())).text, 'Said.')
    assert.equal(client.sent[0]?.['role'], version === undefined ? 'user' : 1)
    const stream = async function* (): AsyncGenerator<object> { yield* events }
    const returning = defineAgent({ name: 'A', run: () => stream() as AgentOutput })
    assert.equal((await ask(service, returning, 'hi', callOf())).text, 'Said.')
  }
})

test('a task that asks is a question: its answer goes on with it, no answer cancels it', async () => {
  const { service } = serviceOf()
  const asking = [status(6, part('Which?'))]
  const answers: unknown[] = []
  const call = (answer: object): ReturnType<typeof callOf> => callOf({
    can: () => true,
    ask: async (question) => {
      answers.push(question)
      return answer
    },
  })
  const client = new Client('1.0', asking, asking, [artifact(part('Said.')), status(3)])
  const accept = { action: 'accept', content: { answer: 'this' } }
  assert.equal((await ask(service, agentOf(client), 'hi', call(accept))).text, 'Said.')
  assert.equal(answers.length, 2)
  assert.deepEqual(client.sent.map(({ taskId }) => taskId), ['', 't', 't'])
  const declined = new Client('1.0', asking)
  await ask(service, agentOf(declined), 'hi', call({ action: 'decline' }))
  assert.deepEqual([declined.sent.length, declined.cancelled], [1, ['t']])
})

test('a task that fails is an error, files and data come as they are', async () => {
  const { service } = serviceOf()
  for (const state of [4, 5, 7]) {
    const client = new Client('1.0', [artifact(part('Sa')), status(state, part('secret'))])
    await assert.rejects(async () => ask(service, agentOf(client), 'hi', callOf()), { kind: 'internal' })
  }
  const raw = { content: { $case: 'raw', value: Buffer.of(0) }, mediaType: 'image/png', filename: 'a.png' }
  const address = { $case: 'url', value: 'https://a.example/b' }
  const link = { content: address, mediaType: 'text/plain', filename: 'b' }
  const data = { content: { $case: 'data', value: { a: 1 } } }
  const client = new Client('1.0', [artifact(raw, link)], [artifact(data)])
  const { content } = await ask(service, agentOf(client), 'hi', callOf())
  assert.deepEqual(content.map(({ type }) => type), ['image', 'resource_link'])
  assert.deepEqual((await ask(service, agentOf(client), 'hi', callOf())).data, { a: 1 })
})
