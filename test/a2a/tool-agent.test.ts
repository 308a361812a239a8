import assert from 'node:assert/strict'
import test from 'node:test'
import { isToolAgent, rootOf, toolCallFor } from '../../lib/a2a/tool-agent.ts'
import { createServer, Fault } from '../../lib/index.ts'
import { createService } from '../../lib/service.ts'
import type { Content } from '../../lib/core/content.ts'
import type { TriportServer } from '../../lib/server.ts'
import type { ServerOptions } from '../../lib/server-options.ts'

const numbers = {
  type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'],
}
const add = {
  name: 'add', description: 'Adds.', inputSchema: numbers,
  run: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }),
}
const shout = {
  name: 'shout', description: 'Shouts.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  run: ({ text }: { text: string }) => text.toUpperCase(),
}
const tools = [add, shout] as unknown as NonNullable<ServerOptions['tools']>

const text = (said: string): Content => ({ type: 'text', text: said })
const call = (skill: unknown, args?: unknown): Content => ({ type: 'data', data: { skill, arguments: args } })

function serve(options: Partial<ServerOptions> = {}): TriportServer {
  return createServer({ name: 'Desk', tools, protocol: 'a2a', log: false, ...options })
}

let count = 0

interface Task {
  readonly status: { readonly state: string; readonly message?: { readonly parts: readonly unknown[] } }
  readonly id: string
  readonly artifacts: readonly { readonly parts: readonly unknown[] }[]
}

async function send(
  server: TriportServer, part: object, { path = '/a2a', ...more }: { path?: string; taskId?: string } = {},
): Promise<{ readonly status: number; readonly task: Task | undefined }> {
  const message = { messageId: `m${++count}`, role: 'ROLE_USER', parts: [part], ...more }
  const response = await server.fetch(new Request(`http://agents.test${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
  }))
  const { result } = await response.json() as { result?: { task: Task } }
  return { status: response.status, task: result?.task }
}

test('tools alone have an agent that is named like the server, whose skills are the tools', async () => {
  const server = serve()
  const response = await server.fetch(new Request('http://agents.test/.well-known/agent-card.json'))
  const card = await response.json() as { name: string; skills: readonly { id: string }[] }
  assert.equal(card.name, 'Desk')
  assert.deepEqual(card.skills.map(({ id }) => id), ['add', 'shout'])
})

test('a data part runs the tool that it names, and its result is data, or text', async () => {
  const server = serve()
  const sum = await send(server, { data: { skill: 'add', arguments: { a: 1, b: 2 } } })
  assert.equal(sum.task?.status.state, 'TASK_STATE_COMPLETED')
  assert.deepEqual(sum.task?.artifacts[0]?.parts, [{ data: { sum: 3 } }])
  const loud = await send(server, { data: { skill: 'shout', arguments: { text: 'hi' } } })
  assert.deepEqual(loud.task?.artifacts[0]?.parts, [{ text: 'HI' }])
})

test('wrong arguments fail the task, and say which', async () => {
  const { task } = await send(serve(), { data: { skill: 'add', arguments: { a: 'one', b: 2 } } })
  assert.equal(task?.status.state, 'TASK_STATE_FAILED')
  assert.match(JSON.stringify(task?.status.message?.parts), /Invalid arguments for add: .*number/)
})

test('what names no tool is asked for one, and the next message of the task runs it', async () => {
  const server = serve()
  const asked = await send(server, { text: 'hello' })
  assert.equal(asked.task?.status.state, 'TASK_STATE_INPUT_REQUIRED')
  assert.match(JSON.stringify(asked.task?.status.message?.parts), /one of add, shout/)
  const taskId = asked.task!.id
  const done = await send(server, { data: { skill: 'shout', arguments: { text: 'yes' } } }, { taskId })
  assert.equal(done.task?.id, taskId)
  assert.deepEqual(done.task?.artifacts[0]?.parts, [{ text: 'YES' }])
})

test('text runs a tool where it is the only one and needs one text', () => {
  const rows: readonly (readonly [given: readonly unknown[], parts: readonly Content[], args: unknown])[] = [
    [[shout], [text('a'), text('b')], { text: 'a\nb' }],
    [[shout], [], undefined],
    [[add], [text('a')], undefined],
    [[add, shout], [text('a')], undefined],
    [[add, shout], [text('please'), call('shout', { text: 'x' })], { text: 'x' }],
    [[add, shout], [call('shout')], {}],
    [[add, shout], [call('none', {}), call(7)], undefined],
  ]
  for (const [given, parts, args] of rows) {
    const { service } = createService({ tools: given as never, log: false })
    const root = rootOf(service)!
    assert.ok(isToolAgent(service, root))
    assert.deepEqual(toolCallFor(service, root, parts)?.args, args)
  }
})

test('beside agents, the tools are skills of the one at the root, and text is the agent\'s', async () => {
  const run = (prompt: string): string => `You said ${prompt}`
  const server = serve({ agents: [{ name: 'One', run }, { name: 'Two', run }] })
  const part = { data: { skill: 'shout', arguments: { text: 'hi' } } }
  assert.deepEqual((await send(server, part)).task?.artifacts[0]?.parts, [{ text: 'HI' }])
  assert.deepEqual((await send(server, part, { path: '/agents/one/a2a' })).task?.artifacts[0]?.parts, [
    { text: 'HI' },
  ])
  assert.deepEqual((await send(server, part, { path: '/agents/two/a2a' })).task?.artifacts[0]?.parts, [
    { text: 'You said ' },
  ])
  assert.deepEqual((await send(server, { text: 'hi' })).task?.artifacts[0]?.parts, [{ text: 'You said hi' }])
})

test('a tool with scopes is refused before a task is begun', async () => {
  const secret = { name: 'secret', description: 'Says it.', scopes: ['secrets'], run: () => 'it' }
  const server = serve({ tools: [secret] as never })
  assert.equal((await send(server, { data: { skill: 'secret' } })).status, 403)
})

test('the plain dialect runs the only tool by text too, and a failing tool is an error', async () => {
  const ask = async (server: TriportServer): Promise<{ result?: unknown; error?: { data: unknown } }> => {
    const message = { role: 'user', parts: [{ text: 'hi' }] }
    const response = await server.fetch(new Request('http://agents.test/a2a', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: '1', method: 'message/send', params: { message } }),
    }))
    return await response.json() as { result?: unknown; error?: { data: unknown } }
  }
  const { result } = await ask(serve({ tools: [shout] as never }))
  assert.match(JSON.stringify(result), /"text":"HI"/)
  const failing = { ...shout, run: () => { throw new Fault('failed', 'No voice') } }
  assert.deepEqual((await ask(serve({ tools: [failing] as never }))).error?.data, { detail: 'No voice' })
})
