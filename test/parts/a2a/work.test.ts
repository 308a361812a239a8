import { conversationsOf } from '../../../lib/floors/conversations/conversation.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import { toolCallFor } from '../../../lib/parts/a2a/model/tool-agent.ts'
import { runForTask } from '../../../lib/parts/a2a/tasks/run-message.ts'
import { Fault } from '../../../lib/index.ts'
import { eventually, gate } from '../../fixtures/client.ts'
import { callOf, serviceOf, wordOf } from '../../fixtures/house.ts'
import type { Emit } from '../../../lib/floors/answers/run-event.ts'
import type { Answer } from '../../../lib/floors/answers/answer.ts'
import type { A2aRequest } from '../../../lib/parts/a2a/tasks/request.ts'
import type { LiveCall } from '../../../lib/kernel/define/live-call.ts'
import type { MaybePromise } from '../../../lib/kernel/util/thenable.ts'
import type { Call, Content, ServerOptions } from '../../../lib/index.ts'

const shout = {
  name: 'shout', description: 'Shouts.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  run: ({ text }: { text: string }) => text.toUpperCase(),
}
const later = { ...shout, name: 'later', run: async ({ text }: { text: string }) => `${text} later` }
const hoarse = { ...shout, name: 'hoarse', run: () => ({ content: ['No voice'], isError: true }) }
const closed = { ...shout, name: 'closed', run: () => { throw new Fault('conflict', 'At night') } }

const text = (said: string): Content => ({ type: 'text', text: said })
const skill = (name: string, args?: object): Content => ({
  type: 'data', data: { skill: name, ...args !== undefined && { arguments: args } },
})
const link: Content = { type: 'resource_link', uri: 'https://a.example/b.pdf', name: 'b.pdf' }

interface Done {
  readonly answer: MaybePromise<Answer>
  readonly call: LiveCall
  readonly pieces: readonly string[]
}

/** The conversation that a message belongs to, and who hears it. */
interface Setting {
  readonly id?: string
  readonly isNamed?: boolean
  readonly who?: string
  readonly call?: LiveCall
}

type Run = (prompt: string, call: Call) => unknown

/** A server whose first agent does what a test says, with four tools, and what its turns come to. */
function working(run: Run, options: Partial<ServerOptions> = {}): {
  readonly service: A2aRequest['context']['service']
  work(parts: readonly Content[], conversation?: Setting): Done
} {
  const act = run as () => string
  const { service } = serviceOf({
    agents: [{ name: 'Bot', run: act }, { name: 'Slow', run: act, timeoutMs: 20 }],
    tools: [shout, later, hoarse, closed] as never, ...options,
  })
  return {
    service,
    work(parts, { id = 'c', isNamed = false, who = 'bot', call = callOf() } = {}) {
      const pieces: string[] = []
      const agent = service.catalog.runnable(who)!
      const emit: Emit = (piece) => { pieces.push(wordOf(piece)) }
      const tool = toolCallFor(service, agent, parts)
      const task = { tenant: undefined, contextId: id }
      const answer = runForTask({ service, agent, tool, message: { parts }, isNamed, task }, call, emit)
      return { answer, call, pieces }
    },
  }
}

test('a message goes to the tool that it names, and any other to the agent', async () => {
  const { work } = working((prompt) => `The agent heard "${prompt}"`)
  const rows: readonly (readonly [parts: readonly Content[], said: string, state?: string])[] = [
    [[text('hi')], 'The agent heard "hi"'],
    [[text('one'), link, text('two')], 'The agent heard "one\ntwo"'],
    [[link], 'The agent heard ""'],
    [[skill('none', { text: 'hi' })], 'The agent heard ""'],
    [[skill('shout', { text: 'hi' })], 'HI'],
    [[text('please'), skill('shout', { text: 'hi' })], 'HI'],
    [[skill('later', { text: 'see you' })], 'see you later'],
    [[skill('hoarse', { text: 'hi' })], 'No voice', 'failed'],
    [[skill('shout')], 'Invalid arguments for shout: ', 'failed'],
  ]
  for (const [parts, said, state = 'completed'] of rows) {
    const answer = await work(parts).answer
    assert.equal(answer.text.slice(0, said.length), said)
    assert.equal(answer.state, state, said)
  }
  assert.throws(() => work([skill('closed', { text: 'hi' })]), { kind: 'conflict', message: 'At night' })
})

test('what is done at once is answered without a promise, by an agent and by a tool', () => {
  const { work } = working(() => 'done')
  for (const parts of [[text('hi')], [skill('shout', { text: 'hi' })]]) {
    const { answer, call } = work(parts)
    assert.ok(!(answer instanceof Promise))
    assert.equal(call.over, true)
  }
})

test('an agent knows what was said before where the client named the conversation, and nowhere else', () => {
  const { work, service } = working((_prompt, call) => call.history.map(({ content }) => content).join('|'))
  const rows: readonly (readonly [id: string, isNamed: boolean, known: string])[] = [
    ['a', true, ''], ['a', true, 'hi|'], ['b', true, ''], ['a', false, ''],
  ]
  for (const [id, isNamed, known] of rows) {
    assert.equal((work([text('hi')], { id, isNamed }).answer as Answer).text, known, `${id} ${isNamed}`)
  }
  void work([skill('shout', { text: 'loud' })], { id: 'tools', isNamed: true })
  assert.deepEqual(conversationsOf(service).history('anonymous', 'tools'), [])
})

test('of a message without words the names of its files are remembered', () => {
  const { work, service } = working(() => 'seen')
  void work([link, { type: 'data', data: 1 }], { id: 'files' })
  void work([text('words'), link], { id: 'words' })
  const remembered = (id: string): unknown => {
    return (conversationsOf(service).history('anonymous', id) as readonly { content: string }[])[0]?.content
  }
  assert.equal(remembered('files'), 'b.pdf, data')
  assert.equal(remembered('words'), 'words')
})

test('pieces are told as they come, and a state of the agent\'s own is its answer and no fault', async () => {
  const { work } = working(async function * (prompt) {
    yield 'one '
    yield 'two'
    if (prompt !== 'go') yield { text: '', state: prompt }
  })
  for (const state of ['completed', 'failed', 'rejected', 'input-required']) {
    const { answer, pieces } = work([text(state === 'completed' ? 'go' : state)])
    assert.equal((await answer).state, state)
    assert.deepEqual(pieces.slice(0, 2), ['one ', 'two'])
  }
})

test('a call is settled when the code of its handler has ended, however late and however', async () => {
  for (const end of ['open', 'fail'] as const) {
    const held = gate<string>()
    const { work, service } = working(() => held.promise)
    const { answer, call } = work([text('hi')], { who: 'slow' })
    let isSettled = false
    call.onSettled(() => { isSettled = true })
    assert.equal(service.workload.running, 1)
    // Its own limit, and not that of the server.
    await assert.rejects(async () => answer, { kind: 'timeout', message: 'No result within 20 ms' })
    await new Promise((resolve) => { setImmediate(resolve) })
    assert.equal(isSettled, false)
    held[end]('late')
    await eventually(() => isSettled, 'it is settled')
  }
})

test('work begins by the rules of the house: not on a full server, nor for a call that is over', async () => {
  const held = gate<string>()
  const { work } = working(() => held.promise, { maxCalls: 1 })
  const first = work([text('hi')])
  const both = [[text('hi')], [skill('shout', { text: 'hi' })]]
  for (const parts of both) assert.throws(() => work(parts), { kind: 'busy' })
  held.open('done')
  assert.equal((await first.answer).text, 'done')
  const call = callOf()
  call.cancel(new Fault('cancelled', 'The client has left'))
  for (const parts of both) assert.throws(() => work(parts, { call }), { message: 'The client has left' })
})
