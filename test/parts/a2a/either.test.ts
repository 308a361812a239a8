/** Agents that answer with a task or with a message: what is seen of them, and who is told. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { keyOf } from '../../../lib/kernel/store/store.ts'
import { memoryStore } from '../../../lib/index.ts'
import { eventually, gate, request, sealed, serve } from '../../fixtures/client.ts'
import { listed } from '../../fixtures/fleet.ts'
import { webhook } from '../../fixtures/webhook.ts'
import type { TestContext } from 'node:test'
import type { Piece } from '../../../lib/kernel/define/answer.ts'
import type { AgentDefinition, AgentOutput, Call } from '../../../lib/index.ts'
import type { TriportServer } from '../../../lib/preset/create-server.ts'

const acts = new Map<string, (call: Call) => AgentOutput>([
  ['message', async () => ({ text: 'hi', reply: 'message' })],
  ['message in a piece', async function* () { yield { text: 'hi', reply: 'message' } }],
  ['message in pieces', async function* () {
    yield { text: 'h', reply: 'message' }
    await null
    yield 'i'
  }],
  ['no message after all', async function* () {
    yield { text: 'h', reply: 'message' }
    yield { text: 'i', reply: 'task' }
  }],
  ['too late', async function* () {
    yield 'h'
    yield { text: 'i', reply: 'message' }
  }],
  ['done', async () => 'hi'],
  ['done at once', () => 'hi'],
  ['ask', async () => ({ text: 'Which year?', state: 'input-required' })],
  ['ask at once', () => ({ text: 'Which year?', state: 'input-required' })],
  ['artifact', async (call) => {
    call.artifact({ id: 'a', parts: ['one'] })
    return { text: 'Which year?', state: 'input-required' }
  }],
  ['question', async (call) => {
    const schema = { type: 'object', properties: { year: { type: 'integer' } }, required: ['year'] }
    const { content } = await call.elicit({ message: 'Which year?', schema })
    return `In ${String(content?.['year'])}`
  }],
  ['fail', async () => { throw new Error('swordfish') }],
])

function serveEither(t: TestContext): TriportServer {
  const run = (prompt: string, call: Call): AgentOutput => acts.get(prompt)?.(call) ?? `You said ${prompt}`
  const pushNotifications = { allowInsecure: true, allowPrivate: true }
  return serve(t, {
    protocol: 'a2a', agents: [{ name: 'Bot', replies: 'either', run }], a2a: { pushNotifications },
  })
}

/** One event in a few words; a task says its state, and how many artifacts it has. */
interface Told {
  readonly task?: { id: string; status: { state: string }; artifacts?: readonly unknown[] }
  readonly message?: object
  readonly statusUpdate?: { status: { state: string } }
  readonly artifactUpdate?: object
}

function tellOf({ task, message, statusUpdate, artifactUpdate }: Told): string {
  const stateOf = (state: string): string => state.replace('TASK_STATE_', '').toLowerCase()
  if (task !== undefined) return `task ${stateOf(task.status.state)} ${task.artifacts?.length ?? 0}`
  if (statusUpdate !== undefined) return stateOf(statusUpdate.status.state)
  return artifactUpdate !== undefined ? 'artifact' : message !== undefined ? 'message' : 'nothing'
}

let count = 0

function say(text: string, more: object = {}, configuration?: object): object {
  const message = { messageId: `m-${count++}`, role: 'ROLE_USER', parts: [{ text }], ...more }
  return { jsonrpc: '2.0', id: 1, params: { message, configuration } }
}

async function stream(server: TriportServer, text: string, more?: object): Promise<readonly Told[]> {
  const body = { ...say(text, more), method: 'SendStreamingMessage' }
  const answer = await (await server.fetch(request('/a2a', body))).text()
  return answer.split('\n').filter((line) => line.startsWith('data: '))
    .map((line) => (JSON.parse(line.slice('data: '.length)) as { result: Told }).result)
}

test('a stream tells what happens from the first thing that is seen, and ends', async (t) => {
  const server = serveEither(t)
  const rows: readonly (readonly [text: string, told: readonly string[]])[] = [
    ['message', ['message']],
    ['message in a piece', ['message']],
    ['message in pieces', ['message']],
    ['no message after all', ['task working 0', 'artifact', 'artifact', 'artifact', 'completed']],
    ['too late', ['task working 0', 'artifact', 'artifact', 'artifact', 'completed']],
    ['done', ['task completed 1']],
    ['done at once', ['task completed 1']],
    ['ask', ['task working 0', 'input_required']],
    ['ask at once', ['task working 0', 'input_required']],
    ['artifact', ['task working 0', 'artifact', 'input_required']],
    ['question', ['task working 0', 'input_required']],
  ]
  for (const [text, told] of rows) assert.deepEqual((await stream(server, text)).map(tellOf), told, text)
})

test('a stream of an answer that is none ends with the task that is asked again', async (t) => {
  const server = serveEither(t)
  const [first] = await stream(server, 'question')
  const taskId = first?.task?.id
  assert.deepEqual((await stream(server, 'never', { taskId })).map(tellOf), ['task input_required 0'])
  const told = (await stream(server, '1999', { taskId })).map(tellOf)
  assert.equal(told.at(-1), 'completed')
})

test('a webhook that comes with a message hears of the task from its beginning', async (t) => {
  const server = serveEither(t)
  const rows: readonly (readonly [text: string, told: readonly string[]])[] = [
    ['done', ['task completed 1']],
    ['done at once', ['task completed 1']],
    ['ask', ['task working 0', 'input_required']],
    ['artifact', ['task working 0', 'artifact', 'input_required']],
  ]
  for (const [text, told] of rows) {
    const hook = await webhook(t)
    const configuration = { taskPushNotificationConfig: { url: hook.url } }
    const body = { ...say(text, {}, configuration), method: 'SendMessage' }
    const { result } = await (await server.fetch(request('/a2a', body))).json() as { result: Told }
    assert.notEqual(result.task, undefined)
    const received = await hook.until(told.length)
    assert.deepEqual(received.map((one) => tellOf(JSON.parse(one.body) as Told)), told, text)
  }
})

test('a webhook that comes with a message that is answered with one hears nothing', async (t) => {
  const server = serveEither(t)
  const hook = await webhook(t)
  const configuration = { taskPushNotificationConfig: { url: hook.url } }
  for (const text of ['message', 'fail']) {
    await server.fetch(request('/a2a', { ...say(text, {}, configuration), method: 'SendMessage' }))
  }
  await server.fetch(request('/a2a', { ...say('done', {}, configuration), method: 'SendMessage' }))
  const received = await hook.until(1)
  assert.deepEqual(received.map((one) => tellOf(JSON.parse(one.body) as Told)), ['task completed 1'])
})

test('in a shared store a task that has said nothing is in no list', async (t) => {
  const open = gate()
  const run = async (prompt: string): Promise<object> => {
    await open.promise
    return prompt === 'message' ? { text: 'hi', reply: 'message' } : { text: 'hi' }
  }
  const store = memoryStore({ isShared: true })
  const server = serve(t, {
    protocol: 'a2a', agents: [{ name: 'Bot', replies: 'either', run }], store, ...sealed({ store }),
  })
  const list = async (): Promise<unknown> => {
    const body = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }
    const response = await server.fetch(request('/a2a', body))
    const { result } = await response.json() as { result: { tasks: object[] } }
    return result.tasks.length
  }
  const answers = ['message', 'task'].map(async (text) => {
    return (await server.fetch(request('/a2a', { ...say(text), method: 'SendMessage' }))).json()
  })
  await eventually(() => listed(store, 'tasks', keyOf('anonymous')).length === 2)
  assert.equal(await list(), 0)
  open.open()
  await Promise.all(answers)
  assert.equal(await list(), 1)
})

/** What an agent answers to SendMessage, and what the log says of it. */
async function replied(
  t: TestContext, options: Pick<AgentDefinition, 'run' | 'replies'>, isGroup = false,
): Promise<readonly [result: Told, logged: readonly string[]]> {
  const logged: string[] = []
  const agent = { name: 'Bot', description: 'Replies.', ...options }
  const server = serve(t, {
    protocol: 'a2a', ...isGroup ? { groups: [{ name: 'Desk', agents: [agent] }] } : { agents: [agent] },
    log: (level, sentence) => { if (level === 'warning') logged.push(sentence) },
  })
  const answer = await server.fetch(request('/a2a', { ...say('hi'), method: 'SendMessage' }))
  return [(await answer.json() as { result: Told }).result, logged]
}

test('a piece that is to be a message is one, or the log says why it is a task', async (t) => {
  const whole = (): AgentOutput => ({ text: 'hi', reply: 'message' })
  async function* piece(): AsyncGenerator<Piece> { yield { text: 'hi', reply: 'message' } }
  async function* late(): AsyncGenerator<Piece> {
    yield 'h'
    yield { text: 'i', reply: 'message' }
  }
  async function* task(): AsyncGenerator<Piece> { yield { text: 'hi', reply: 'task' } }
  for (const run of [whole, piece]) {
    const [told, logged] = await replied(t, { run, replies: 'either' })
    assert.deepEqual([tellOf(told), logged], ['message', []])
  }
  const rows: readonly (readonly [Pick<AgentDefinition, 'run' | 'replies'>, string, RegExp, boolean?])[] = [
    [{ run: late, replies: 'either' }, 'task completed 1', /it had a task before; say it with the first/],
    [{ run: whole }, 'task completed 0', /its replies are 'task'; write replies: 'either'/],
    [{ run: piece }, 'task completed 1', /'Bot' answered with reply: 'message', which it is not/],
    [{ run: piece, replies: 'task' }, 'task completed 1', /its replies are 'task'/],
    [{ run: task, replies: 'message' }, 'message', /is not: its replies are 'message'/],
    [{ run: piece, replies: 'either' }, 'task completed 1', /group 'Desk' .* a group is a task/, true],
  ]
  for (const [options, expected, sentence, isGroup] of rows) {
    const [told, logged] = await replied(t, options, isGroup)
    assert.equal(tellOf(told), expected, String(sentence))
    assert.equal(logged.length, 1)
    assert.match(logged[0]!, sentence)
  }
})
