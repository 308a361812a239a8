import { conversationsOf } from '../../../lib/floors/conversations/conversation.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent, defineGroup } from '../../../lib/kernel.ts'
import { answerMessage, plainChannel, timeoutOf } from '../../../lib/floors/conversations/answer-message.ts'
import { Fault } from '../../../lib/kernel.ts'
import { callOf, serviceOf } from '../../fixtures/house.ts'
import { heldBytes } from '../../fixtures/heap.ts'
import { sharedStore } from '../../fixtures/shared-store.ts'
import type { Answer } from '../../../lib/floors/answers/answer.ts'
import type { AgentOutput } from '../../../lib/index.ts'
import type { Service } from '../../../lib/kernel/run/service.ts'

const ID = 'conversation-1'

/** Says something in the one conversation. */
function tell(
  service: Service, run: (prompt: string, history: readonly string[]) => unknown, prompt: string,
  more: object = {},
): Answer | Promise<Answer> {
  const agent = defineAgent({ name: 'A', run: (said, { history }) => (
    run(said, history.map(({ role, content }) => `${role}: ${content}`)) as AgentOutput
  ) })
  return answerMessage(service, agent, { prompt, conversationId: ID, isNamed: true, ...more }, callOf())
}

const noted = (service: Service): Promise<string[]> => Promise.resolve(
  conversationsOf(service).history('anonymous', ID),
).then((messages) => messages.map(({ role, content }) => `${role}: ${content}`))

test('what was said before is known, and both sides are remembered, here and in a shared store', async () => {
  for (const options of [{}, { store: sharedStore(1) }]) {
    const { service } = serviceOf(options)
    const heard: string[][] = []
    for (const prompt of ['one', 'two']) {
      await tell(service, (said, history) => { heard.push([...history]); return `${said}!` }, prompt)
    }
    assert.deepEqual(heard, [[], ['user: one', 'assistant: one!']])
    assert.deepEqual(await noted(service), ['user: one', 'assistant: one!', 'user: two', 'assistant: two!'])
  }
})

test('an answer that was cut from a longer text is remembered alone', async () => {
  const { service } = serviceOf()
  const before = heldBytes()
  for (let n = 0; n < 100; n++) {
    const run = (): string => Buffer.alloc(100_000, 'a').toString('latin1').slice(n, n + 40)
    await tell(service, run, 'more', { conversationId: `conversation-${n}` })
  }
  const held = heldBytes() - before
  assert.equal(conversationsOf(service).count, 100)
  assert.ok(held < 2_000_000, `${held} for ${conversationsOf(service).bytes}`)
})

test('an agent that answers at once is answered for at once', () => {
  const answer = tell(serviceOf().service, () => 'now', 'when?')
  assert.ok(!(answer instanceof Promise))
  assert.equal(answer.text, 'now')
})

const forgotten: readonly (readonly [
  what: string, run: () => unknown, more: object, kind: string | undefined,
])[] = [
  ['what stands alone', () => 'a', { conversationId: undefined, isNamed: false }, undefined],
  ['a failure', () => { throw new Fault('failed', 'no') }, {}, 'failed'],
  ['what failed in the agent\'s own words', () => ({ text: 'no', state: 'failed' }), {}, 'failed'],
  ['what the agent rejects', () => ({ text: 'no', state: 'rejected' }), {}, 'invalid'],
]

test('what came to nothing is not remembered', async () => {
  for (const [what, run, more, kind] of forgotten) {
    const { service } = serviceOf()
    const answer = async (): Promise<Answer> => tell(service, run, 'well?', more)
    if (kind === undefined) await answer()
    else await assert.rejects(answer, { kind, message: 'no' }, what)
    assert.deepEqual(await noted(service), [], what)
  }
})

test('a history that the client brings itself is the one that counts', async () => {
  const { service } = serviceOf()
  await tell(service, () => 'kept', 'before')
  const history = [{ role: 'user', content: 'brought' }] as const
  let heard: readonly string[] = []
  await tell(service, (_said, known) => { heard = known; return 'a' }, 'now', { history })
  assert.deepEqual(heard, ['user: brought'])
})

test('a conversation that was made for this message has no history, and begins one', async () => {
  const { service } = serviceOf({ store: { ...sharedStore(1), read: () => assert.fail('it was looked up') } })
  await tell(service, () => 'a', 'now', { isNamed: false })
})

test('whoever has left while the history was looked up wants no run', async () => {
  const { service } = serviceOf({ store: sharedStore(5) })
  const call = callOf()
  const agent = defineAgent(() => assert.fail('it ran') as string)
  const answer = answerMessage(service, agent, { prompt: 'a', conversationId: ID, isNamed: true }, call)
  call.disconnect()
  await assert.rejects(async () => answer, { kind: 'cancelled' })
  await new Promise((resolve) => setImmediate(resolve))
})

test('what is remembered of large messages fits into their conversation', async () => {
  const { service } = serviceOf({ conversationBytes: 10_000, conversationMessages: 6 })
  for (let n = 0; n < 10; n++) await tell(service, () => 'a'.repeat(900), `${n}`.repeat(900))
  assert.deepEqual([(await noted(service)).length, conversationsOf(service).bytes < 10_000], [6, true])
  await tell(service, () => 'a'.repeat(50_000), 'b'.repeat(50_000))
  assert.ok(conversationsOf(service).bytes <= 10_000)
  await tell(service, () => 'later', '', { remembered: 'image, image' })
  assert.deepEqual((await noted(service)).slice(-2), ['user: image, image', 'assistant: later'])
})

test('a group has the time that its agents may take, one after the other or at once', () => {
  const { service } = serviceOf({ agentTimeoutMs: 70 })
  const agents = [
    defineAgent({ name: 'A', run: () => '', timeoutMs: 10 }), defineAgent({ name: 'B', run: () => '' }),
  ]
  assert.equal(timeoutOf(service, agents[0]!), 10)
  assert.equal(timeoutOf(service, agents[1]!), 70)
  assert.equal(timeoutOf(service, defineGroup({ name: 'G', agents })), 80)
  const parallel = defineGroup({ name: 'P', agents, mode: 'parallel' })
  assert.equal(timeoutOf(service, parallel), 70)
  assert.equal(timeoutOf(service, defineGroup({ name: 'Q', agents: [parallel, defineAgent(() => '')] })), 140)
})

test('a line of log goes to the server where the protocol has no place for it', () => {
  const { service, logged } = serviceOf()
  const { origin } = callOf()
  const channel = plainChannel(service, origin)
  channel.log('notice', { disk: 'full' }, 'disk')
  channel.log('emergency', 'gone', undefined)
  assert.deepEqual(logged, [
    ['info', '{"disk":"full"}', { request: 'r-1', logger: 'disk' }],
    ['error', 'gone', { request: 'r-1', logger: undefined }],
  ])
})
