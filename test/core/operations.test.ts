import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineAgent } from '../../lib/core/agent.ts'
import { answer, callTool, perform } from '../../lib/core/operations.ts'
import { defineTool } from '../../lib/core/tool.ts'
import { Workload } from '../../lib/core/workload.ts'
import { Fault } from '../../lib/index.ts'
import { callOf, serviceOf } from '../fixtures/house.ts'
import type { Call, Tool, ToolResult } from '../../lib/index.ts'

const never = new Promise<string>(() => {})

test('a plain value is answered at once, and counts as nothing', () => {
  const { service } = serviceOf()
  const agent = defineAgent((prompt) => `You said ${prompt}`)
  const outcome = answer(service, agent, 'hi', callOf())
  assert.ok(!(outcome instanceof Promise))
  assert.equal(outcome.text, 'You said hi')
  assert.equal(service.workload.running, 0)
})

test('only what has to be waited for counts as running', async () => {
  const { service } = serviceOf()
  const agent = defineAgent(async () => { await sleep(1); return String(service.workload.running) })
  const outcome = answer(service, agent, 'hi', callOf())
  assert.equal(service.workload.running, 1)
  assert.equal((await outcome).text, '1')
  assert.equal(service.workload.running, 0)
})

test('a run that takes too long is told so, and goes on counting until it really ends', async () => {
  const { service, logged } = serviceOf({ agentTimeoutMs: 20 })
  let release: (text: string) => void = () => {}
  let signal: AbortSignal | undefined
  const agent = defineAgent((_prompt, call) => {
    signal = call.signal
    return new Promise<string>((resolve) => { release = resolve })
  })
  await assert.rejects(
    async () => answer(service, agent, 'hi', callOf()),
    { kind: 'timeout', message: 'No result within 20 ms' },
  )
  assert.equal(signal?.aborted, true)
  assert.equal(service.workload.running, 1)
  release('late')
  await sleep(1)
  assert.equal(service.workload.running, 0)
  assert.deepEqual(logged, [])
})

test('what breaks after its end is a note in the log, and no more', async () => {
  const { service, logged } = serviceOf()
  let fail: (error: Error) => void = () => {}
  const agent = defineAgent(() => new Promise<string>((_resolve, reject) => { fail = reject }))
  const call = callOf()
  const outcome = answer(service, agent, 'hi', call)
  call.cancel(new Fault('cancelled', 'Gone'))
  await assert.rejects(async () => outcome, { kind: 'cancelled', message: 'Gone' })
  fail(new Error('too late'))
  await sleep(1)
  assert.deepEqual(
    logged.map(([level, message]) => `${level} ${message}`),
    ['debug A handler failed after its run was over'],
  )
})

test('an agent may have a time of its own', async () => {
  const { service } = serviceOf({ agentTimeoutMs: 10_000 })
  const agent = defineAgent({ name: 'Slow', timeoutMs: 10, run: () => never })
  await assert.rejects(async () => answer(service, agent, 'hi', callOf()), { kind: 'timeout' })
})

test('a call that is over before it begins never runs', () => {
  const { service } = serviceOf()
  const call = callOf()
  call.cancel(new Fault('cancelled', 'Gone'))
  assert.throws(
    () => answer(service, defineAgent(() => assert.fail('it ran')), 'hi', call), { kind: 'cancelled' },
  )
})

test('a run that ends its own call leaves no clock running', async () => {
  const { service } = serviceOf()
  const call = callOf()
  const run = async (): Promise<string> => {
    call.cancel(new Fault('cancelled', 'Gone'))
    return never
  }
  const before = process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length
  await assert.rejects(async () => perform(service, call, 60_000, run), { kind: 'cancelled' })
  assert.equal(process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length, before)
})

const add = defineTool({
  name: 'add',
  inputSchema: {
    type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'],
  },
  run: ({ a, b }) => a + b,
})

async function use(tool: Tool, args: unknown, call = callOf()): Promise<ToolResult> {
  return callTool(serviceOf().service, tool, args, call)
}

test('a tool gets arguments that fit, and a caller whose do not is told which', async () => {
  assert.deepEqual(
    await use(add, { a: 1, b: 2 }), { content: [{ type: 'text', text: '3' }], structuredContent: 3 },
  )
  for (const args of [undefined, null, [], {}, { a: 1 }, { a: '1', b: 2 }, 'a']) {
    const { isError, content } = await use(add, args)
    assert.equal(isError, true)
    assert.match(JSON.stringify(content), /Invalid arguments for add: /)
  }
})

const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const

test('a result that breaks the promise of its tool is a defect, unless it is an error', async () => {
  const promised = (output: unknown): Tool =>
    defineTool({ name: 'count', outputSchema, run: () => output as string })
  assert.deepEqual((await use(promised({ n: 1 }), {})).structuredContent, { n: 1 })
  for (const output of ['one', { n: 'one' }, undefined]) {
    await assert.rejects(use(promised(output), {}), { kind: 'internal' })
  }
  assert.equal((await use(promised({ content: ['no'], isError: true }), {})).isError, true)
})

test('a tool is called by those who may', async () => {
  const tool = defineTool({ name: 'secret', scopes: ['read', 'write'], run: () => 'ok' })
  const ann = (scopes: readonly string[]): Parameters<typeof use>[2] => callOf(
    {}, { principal: { id: 'ann', scopes } },
  )
  assert.equal((await use(tool, {}, ann(['write', 'read', 'more']))).isError, undefined)
  for (const scopes of [[], ['read']]) await assert.rejects(use(tool, {}, ann(scopes)), { kind: 'forbidden' })
})

test('a tool that takes too long is told so, with its own time or that of the house', async () => {
  const { service } = serviceOf({ toolTimeoutMs: 20 })
  const slow = { name: 'slow', run: () => never }
  await assert.rejects(
    async () => callTool(service, defineTool(slow), {}, callOf()),
    { kind: 'timeout', message: 'No result within 20 ms' },
  )
  await assert.rejects(
    async () => callTool(service, defineTool({ ...slow, timeoutMs: 10 }), {}, callOf()),
    { message: 'No result within 10 ms' },
  )
})

test('the time in which a client is asked does not count', async () => {
  const { service } = serviceOf({ toolTimeoutMs: 40 })
  const tool = defineTool({ name: 'ask', run: async (_args, call: Call) => (await call.roots()).length })
  const call = callOf({ can: () => true, ask: async () => { await sleep(100); return [1, 2] } })
  assert.deepEqual((await callTool(service, tool, {}, call)).structuredContent, 2)
})

test('a session has a ceiling of its own', async () => {
  const { service } = serviceOf()
  const session = new Workload(1, 'in this session')
  const tool = defineTool({ name: 'slow', run: () => never })
  const calls = [callOf(), callOf()] as const
  const first = callTool(service, tool, {}, calls[0], session)
  assert.throws(
    () => callTool(service, tool, {}, callOf(), session),
    { kind: 'busy', message: '1 calls are running in this session already; try again later' },
  )
  // Outside of it there is room.
  const other = callTool(service, tool, {}, calls[1])
  for (const call of calls) call.cancel(new Fault('cancelled', 'Gone'))
  for (const ended of [first, other]) await assert.rejects(async () => ended, { kind: 'cancelled' })
})

test('a handler gets the defaults of its arguments, and nothing is added to its result', async () => {
  const tool = defineTool({
    name: 'page',
    inputSchema: {
      type: 'object',
      properties: { size: { type: 'number', default: 20 }, order: { enum: ['up', 'down'], default: 'up' } },
    },
    outputSchema: { type: 'object', properties: { size: { type: 'number' }, more: { default: true } } },
    run: ({ size, order }) => ({ size: size + 1, order }),
  })
  const { service } = serviceOf()
  const given = Object.freeze({ order: 'down' })
  const { structuredContent } = await callTool(service, tool, given, callOf())
  assert.deepEqual(structuredContent, { size: 21, order: 'down' })
  const properties = { a: { enum: [1], default: 2 } }
  assert.throws(
    () => defineTool({ name: 'a', inputSchema: { type: 'object', properties }, run: () => '' }),
    /The tool 'a': inputSchema: .*\/properties\/a\/default: the default does not fit its schema: must be/,
  )
})
