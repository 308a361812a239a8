import assert from 'node:assert/strict'
import test from 'node:test'
import { isToolAgent, rootOf, toolCallFor } from '../../../lib/parts/a2a/model/tool-agent.ts'
import { Fault } from '../../../lib/index.ts'
import { createService } from '../../../lib/kernel/server/service.ts'
import { kernelOptionsOf } from '../../../lib/preset/create-server.ts'
import { request } from '../../fixtures/client.ts'
import { ask, message, post } from './ask.ts'
import { Caller, serveA2a, sumOf } from './caller.ts'
import type { TestContext } from 'node:test'
import type { TaskView } from '../../../lib/parts/a2a/model/model.ts'
import type { Content } from '../../../lib/kernel/define/content.ts'
import type { TriportServer } from '../../../lib/preset/create-server.ts'
import type { ServerOptions } from '../../../lib/preset/options.ts'

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

function partsOf({ artifacts }: TaskView): readonly Content[] | undefined {
  return artifacts?.[0]?.parts
}

function serveDesk(t: TestContext, options: Partial<ServerOptions> = {}): TriportServer {
  return serveA2a(t, { name: 'Desk', tools, ...options })
}

test('tools alone have an agent that is named like the server, whose skills are the tools', async (t) => {
  const response = await serveDesk(t).fetch(request('/.well-known/agent-card.json'))
  const card = await response.json() as { name: string; skills: readonly { id: string }[] }
  assert.equal(card.name, 'Desk')
  assert.deepEqual(card.skills.map(({ id }) => id), ['add', 'shout'])
})

test('a data part runs the tool that it names, and its result is data, or text', async (t) => {
  const desk = new Caller(serveDesk(t))
  const sum = await desk.task([call('add', { a: 1, b: 2 })])
  assert.equal(sum.status.state, 'completed')
  assert.deepEqual(partsOf(sum), [{ type: 'data', data: { sum: 3 } }])
  assert.deepEqual(partsOf(await desk.task([call('shout', { text: 'hi' })])), [text('HI')])
})

test('a tool without arguments needs none, and null is none', async (t) => {
  const tick = { name: 'tick', run: () => 'Tock.' }
  const desk = new Caller(serveDesk(t, { tools: [tick] }))
  for (const args of [undefined, null, {}]) {
    assert.deepEqual(partsOf(await desk.task([call('tick', args)])), [text('Tock.')], String(args))
  }
})

test('wrong arguments fail the task, and say which', async (t) => {
  const task = await new Caller(serveDesk(t)).task([call('add', { a: 'one', b: 2 })])
  assert.match(sumOf(task), /^failed \(Invalid arguments for add: .*number/)
})

test('what names no tool is asked for one, and the next message of the task runs it', async (t) => {
  const desk = new Caller(serveDesk(t))
  const asked = await desk.task('hello')
  assert.match(sumOf(asked), /^input-required \(.*one of add, shout/)
  const done = await desk.task([call('shout', { text: 'yes' })], { taskId: asked.id })
  assert.equal(done.id, asked.id)
  assert.deepEqual(partsOf(done), [text('YES')])
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
    const { service } = createService(kernelOptionsOf({ tools: given as never, log: false }))
    const root = rootOf(service)!
    assert.ok(isToolAgent(service, root))
    assert.deepEqual(toolCallFor(service, root, parts)?.args, args)
  }
})

test('beside agents, the tools are skills of the one at the root, and text is the agent\'s', async (t) => {
  const run = (prompt: string): string => `You said ${prompt}`
  const server = serveDesk(t, { agents: [{ name: 'One', run }, { name: 'Two', run }] })
  const shouting = call('shout', { text: 'hi' })
  for (const [path, part, said] of [
    ['/a2a', shouting, 'HI'],
    ['/agents/one/a2a', shouting, 'HI'],
    ['/agents/two/a2a', shouting, 'You said '],
    ['/a2a', text('hi'), 'You said hi'],
  ] as const) {
    assert.deepEqual(partsOf(await new Caller(server, { path }).task([part])), [text(said)], path)
  }
})

test('a tool with scopes is refused before a task is begun', async (t) => {
  const secret = { name: 'secret', description: 'Says it.', scopes: ['secrets'], run: () => 'it' }
  const desk = new Caller(serveDesk(t, { tools: [secret] as never }))
  await assert.rejects(desk.task([call('secret')]), { status: 403 })
  assert.deepEqual((await desk.list()).tasks, [])
})

test('the plain dialect runs the only tool by text too, and a failing tool is an error', async (t) => {
  assert.equal(await ask(serveDesk(t, { tools: [shout] as never }), 'hi'), 'HI')
  const failing = { ...shout, run: () => { throw new Fault('failed', 'No voice') } }
  const { data } = await post(serveDesk(t, { tools: [failing] as never }), message('hi'))
  assert.deepEqual(data, { detail: 'No voice' })
})
