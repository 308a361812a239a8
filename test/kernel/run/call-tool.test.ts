import assert from 'node:assert/strict'
import test from 'node:test'
import { callTool } from '../../../lib/kernel/run/call-tool.ts'
import { Workload } from '../../../lib/kernel/run/workload.ts'
import { callOf, serviceOf } from '../../fixtures/house.ts'
import { standingTime } from '../../fixtures/time.ts'
import { defineTool, Fault } from '../../../lib/kernel.ts'
import type { ToolResult } from '../../../lib/kernel/define/tool.ts'
import type { Call, Tool } from '../../../lib/kernel.ts'

const never = new Promise<string>(() => {})

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

test('what it takes to check arguments and results is bounded by the house', async () => {
  const table: readonly (readonly [maxCheckSteps: number, items: number, isFine: boolean])[] = [
    [500_000, 1_000, true], [500_000, 20_000, false], [1_000, 1_000, false], [Infinity, 20_000, true],
  ]
  const schema = { type: 'object', properties: { list: { items: { pattern: '^(a+)+$' } } } } as const
  const taking = defineTool({ name: 'take', inputSchema: schema, run: () => 'taken' })
  const giving = (list: readonly string[]): Tool => (
    defineTool({ name: 'give', outputSchema: schema, run: () => ({ structuredContent: { list } }) })
  )
  for (const [maxCheckSteps, items, isFine] of table) {
    const { service } = serviceOf({ maxCheckSteps })
    const list = Array.from({ length: items }, () => 'a'.repeat(300))
    const { isError, content } = await callTool(service, taking, { list }, callOf())
    assert.equal(isError, isFine ? undefined : true)
    const said = isFine ? /taken/ : RegExp(`too costly to check .*maxSteps ${maxCheckSteps}\\)`)
    assert.match(JSON.stringify(content), said)
    const given = async (): Promise<ToolResult> => callTool(service, giving(list), {}, callOf())
    if (isFine) assert.deepEqual((await given()).structuredContent, { list })
    else await assert.rejects(given, { kind: 'internal' })
  }
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

test('the time in which a client is asked does not count', async (t) => {
  const pass = standingTime(t)
  const { service } = serviceOf({ toolTimeoutMs: 40 })
  const tool = defineTool({ name: 'ask', run: async (_args, call: Call) => (await call.roots()).length })
  const ask = async (): Promise<unknown> => {
    await new Promise((resolve) => { setImmediate(resolve) })
    pass(100)
    return [1, 2]
  }
  const call = callOf({ can: () => true, ask })
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
