import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import {
  createServer, defineAgent, defineGroup, definePrompt, defineResource, defineTool, Fault, testClient,
} from '../../lib/index.ts'
import { echo as plain, serve } from '../fixtures/client.ts'
import type { TestClient, TestClientOptions } from '../../lib/index.ts'

const form = {
  type: 'object', properties: { size: { type: 'string', enum: ['small', 'large'] } }, required: ['size'],
}

const echo = defineAgent(plain)
const counter = defineAgent({
  name: 'Counter', description: 'Counts.',
  async *run(prompt, call) {
    if (prompt === 'state') yield { type: 'data', data: [call.history.length, call.metadata['a']] }
    for (let n = 1; n <= Number(prompt); n++) yield `${n} `
  },
})
const waiter = defineAgent({
  name: 'Waiter', description: 'Takes orders.',
  async run(prompt, call) {
    if (prompt === 'connect') {
      const { action } = await call.elicit({ message: 'Connect.', url: 'https://example.com/connect' })
      return `It was ${action}ed`
    }
    const { content } = await call.elicit({ message: 'Which size?', schema: form })
    return `One ${String(content?.['size'])} ${prompt}`
  },
})
const broken = defineAgent({
  name: 'Broken', description: 'Fails.',
  async *run() {
    yield 'a'
    throw new Fault('failed', 'The oven is cold')
  },
})

const add = defineTool({
  name: 'add', description: 'Adds.',
  inputSchema: {
    type: 'object', required: ['a', 'b'],
    properties: { a: { type: 'number' }, b: { type: 'number' } },
  },
  outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
  run({ a, b }, call) {
    call.progress(1, 2, 'halfway')
    call.log('info', { adding: [a, b] }, 'adder')
    return { sum: a + b }
  },
})
let orders = 0
const tools = [
  add,
  defineTool({
    name: 'order', description: 'Asks twice.',
    async run(_args, call) {
      await call.once('ordered', () => { orders++; return true })
      const first = await call.elicit({ key: 'one', message: 'Which size?', schema: form })
      const second = await call.elicit({ key: 'two', message: 'And for you?', schema: form })
      return `${String(first.content?.['size'])} and ${String(second.content?.['size'])}`
    },
  }),
  defineTool({
    name: 'model', description: 'Asks a model.',
    async run(_args, call) {
      const messages = [{ role: 'user', content: 'Say it' } as const]
      const { content } = await call.sample({ messages, maxTokens: 5 })
      return JSON.stringify(content)
    },
  }),
  defineTool({
    name: 'routed', description: 'Has arguments in headers.',
    inputSchema: {
      type: 'object', properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        inner: { type: 'object', properties: { n: { type: 'integer', 'x-mcp-header': 'N' } } },
      },
    },
    run: (args) => ({ args }),
  }),
  defineTool({
    name: 'job', description: 'Asks as a task.', task: 'required',
    async run(_args, call) {
      const { action, content } = await call.elicit({ message: 'Which size?', schema: form })
      if (action !== 'accept') throw new Fault('failed', 'Nothing was ordered')
      return { size: content['size'] }
    },
  }),
  defineTool({
    name: 'fail', description: 'Fails.', run: () => { throw new Fault('failed', 'It is broken') },
  }),
]

const server = serve({ after }, {
  agents: [counter, waiter, broken, echo], tools, protocol: 'all',
  groups: [defineGroup({ name: 'Pair', agents: [counter, echo] })],
  resources: [defineResource({ uri: 'shop://hours', name: 'hours', read: () => 'Open' })],
  prompts: [definePrompt({
    name: 'praise', arguments: [{ name: 'article', required: true }],
    get: ({ article }) => `Praise ${article}`,
  })],
})
const client = testClient(server)
const askable = (options: TestClientOptions = {}): TestClient => testClient(server, options)

test('queries are answered as over HTTP, with their agent, conversation and metadata', async () => {
  const reply = await client.query('2', { agent: 'counter' })
  assert.equal(reply.response, '1 2 ')
  const { content } = await client.query('state', {
    agent: 'counter', sessionId: reply.session_id, metadata: { a: 1 },
  })
  assert.deepEqual(content, [{ type: 'data', data: [2, 1] }])
  const { results, final_response: final } = await client.query('1')
  assert.deepEqual([results?.length, final], [2, 'You said 1 '])
})

test('a stream is collected: its pieces, its events and the reply', async () => {
  const { pieces, events, reply } = await client.stream('3', { agent: 'counter' })
  assert.deepEqual(pieces, ['1 ', '2 ', '3 '])
  assert.deepEqual(events.map(({ event }) => event), ['delta', 'delta', 'delta', 'done'])
  assert.equal(reply.response, '1 2 3 ')
  await assert.rejects(client.stream('x', { agent: 'broken' }), { status: 500, message: 'The oven is cold' })
})

test('tools are listed and called over MCP, with what they say on the way', async () => {
  assert.ok((await client.mcp.listTools()).some(({ name }) => name === 'execute_waiter_task'))
  const result = await client.mcp.callTool<{ sum: number }>('add', { a: 1, b: 2 })
  assert.equal(result.structuredContent.sum, 3)
  assert.deepEqual([result.text, result.isError], ['{"sum":3}', false])
  assert.deepEqual(result.progress, [{ progress: 1, total: 2, message: 'halfway' }])
  assert.deepEqual(result.log, [{ level: 'info', logger: 'adder', data: { adding: [1, 2] } }])
  const failed = await client.mcp.callTool('fail')
  assert.deepEqual([failed.isError, failed.text], [true, 'It is broken'])
  const args = { region: 'Zürich ', inner: { n: 3 } }
  assert.deepEqual((await client.mcp.callTool('routed', args)).structuredContent, { args })
})

test('resources, prompts and any other method are reached over MCP', async () => {
  assert.equal((await client.mcp.readResource('shop://hours'))[0]?.text, 'Open')
  const { messages } = await client.mcp.getPrompt('praise', { article: 'pears' })
  assert.deepEqual(messages, [{ role: 'user', content: { type: 'text', text: 'Praise pears' } }])
  const { resources } = await client.mcp.request('resources/list')
  assert.equal((resources as readonly object[]).length, 1)
})

test('what a tool asks is answered, and what must happen once happens once', async () => {
  const asked: Parameters<NonNullable<TestClientOptions['onElicit']>>[0][] = []
  const mine = askable({
    onElicit(question) {
      asked.push(question)
      return { action: 'accept', content: { size: asked.length === 1 ? 'small' : 'large' } }
    },
    onSample: ({ maxTokens }) => `said in ${maxTokens}`,
  })
  assert.equal((await mine.mcp.callTool('order')).text, 'small and large')
  assert.deepEqual(asked.map(({ message, schema }) => [message, schema]), [
    ['Which size?', form], ['And for you?', form],
  ])
  assert.equal(orders, 1)
  assert.equal((await mine.mcp.callTool('model')).text, '{"type":"text","text":"said in 5"}')
  const silent = await client.mcp.callTool('model').catch((error: unknown) => error)
  assert.match(String(silent), /sampl/)
})

test('a tool that runs as a task is awaited, and what it asks is answered', async () => {
  const accept = askable({ onElicit: () => ({ action: 'accept', content: { size: 'small' } }) })
  assert.deepEqual((await accept.mcp.callTool('job')).structuredContent, { size: 'small' })
  const decline = askable({ onElicit: () => ({ action: 'decline' }) })
  const { isError, text } = await decline.mcp.callTool('job')
  assert.deepEqual([isError, text], [true, 'Nothing was ordered'])
})

test('a message over A2A is a task, and its stream is collected', async () => {
  const answer = await client.a2a.send('2', { agent: 'counter' })
  assert.deepEqual([answer.text, answer.state], ['1 2 ', 'completed'])
  const { text, state, pieces, events } = await client.a2a.stream('3', { agent: 'counter' })
  assert.deepEqual([text, state, pieces], ['1 2 3 ', 'completed', ['1 ', '2 ', '3 ']])
  assert.ok(events.length > 3)
  const read = await client.a2a.task(String(answer.taskId), { agent: 'counter' })
  assert.deepEqual(read.body, answer.body)
  const inContext = { agent: 'counter', contextId: answer.contextId, metadata: { a: 2 } }
  assert.deepEqual((await client.a2a.send([{ text: 'state' }], inContext)).data, [2, 2])
})

test('what an agent asks over A2A is answered, declined, or left to the test', async () => {
  const accept = askable({ onElicit: ({ url }) => (
    url === undefined ? { action: 'accept', content: { size: 'small' } } : { action: 'accept' }
  ) })
  for (const way of ['send', 'stream'] as const) {
    const { text, state } = await accept.a2a[way]('tea', { agent: 'waiter' })
    assert.deepEqual([text, state], ['One small tea', 'completed'], way)
    assert.equal((await accept.a2a[way]('connect', { agent: 'waiter' })).text, 'It was accepted', way)
    const decline = askable({ onElicit: () => ({ action: 'decline' }) })
    assert.equal((await decline.a2a[way]('tea', { agent: 'waiter' })).state, 'canceled', way)
  }
  const { state, taskId, text } = await client.a2a.send('tea', { agent: 'waiter' })
  assert.deepEqual([state, text], ['input-required', 'Which size?'])
  const { text: last } = await client.a2a.send('large', { agent: 'waiter', taskId: String(taskId) })
  assert.equal(last, 'One large tea')
})

test('what is no answer, or none that fits, is an error over each protocol, and ends its task', async () => {
  const odd = askable({ onElicit: () => ({ size: 'small' }) as never })
  const sentence = { name: 'TypeError', message: /^onElicit returned an object; return { action: 'accept', / }
  await assert.rejects(odd.a2a.send('tea', { agent: 'waiter' }), sentence)
  await assert.rejects(odd.mcp.callTool('execute_waiter_task', { prompt: 'tea' }), sentence)
  const unfit = askable({ onElicit: () => ({ action: 'accept', content: { size: 'huge' } }) })
  await assert.rejects(unfit.a2a.send('tea', { agent: 'waiter' }),
    { message: /^The agent asks without an end: Which size\? ?The answer does not fit .*: size: must be / })
})

test('an error is thrown with its status, its code and its document', async () => {
  await assert.rejects(client.query(''), (error: { status: number; document: { errors: object[] } }) => {
    assert.deepEqual([error.status, error.document.errors.length], [422, 1])
    return true
  })
  await assert.rejects(client.query('x', { agent: 'nobody' }), { status: 404 })
  await assert.rejects(client.mcp.callTool('none'), { code: -32602, message: 'Unknown tool: none' })
  await assert.rejects(client.mcp.request('none'), { code: -32601 })
  await assert.rejects(client.a2a.task('none'), { code: -32001, status: 200 })
  await assert.rejects(client.query('x', { headers: { 'content-type': 'text/plain' } }), { status: 415 })
})

test('headers are given once, and a mount path is in the address', async (t) => {
  const keyed = serve(t, { agents: [echo], protocol: 'all', apiKey: 'key', mountPath: '/team' })
  const there = { url: 'http://localhost/team/' }
  const mine = testClient(keyed, { ...there, headers: { 'x-api-key': 'key' } })
  assert.equal((await mine.query('a')).response, 'You said a')
  assert.equal((await mine.a2a.send('a')).text, 'You said a')
  assert.equal((await mine.mcp.callTool('execute_echo_task', { prompt: 'a' })).text, 'You said a')
  await assert.rejects(testClient(keyed, there).mcp.listTools(), { status: 401 })
  await assert.rejects(mine.query('a', { headers: { 'X-API-Key': 'other' } }), { status: 401 })
})

test('a request that is aborted ends its run, and nothing of it is held', async (t) => {
  let reason: unknown
  const slow = serve(t, { agents: [{
    name: 'Slow', description: 'Waits.',
    run: (_prompt, call) => new Promise<string>((_resolve, reject) => {
      call.signal.addEventListener('abort', () => reject(reason = call.signal.reason))
    }),
  }] })
  const leaving = new AbortController()
  const answer = testClient(slow).query('x', { signal: leaving.signal })
  setTimeout(() => leaving.abort(), 20)
  await assert.rejects(answer)
  assert.ok(reason instanceof Error)
  assert.equal(slow.status().calls.running, 0)
})

test('what is no server, and what is no option, is named', async () => {
  assert.throws(() => testClient({} as never), /testClient needs a server; write testClient\(createServer/)
  assert.throws(() => testClient(server, { header: {} } as never), /'header'.*'headers'/)
  assert.throws(() => testClient(server, { onElicit: {} as never }), /onElicit.*write a function/)
  await assert.rejects(client.query('x', { session: 'a' } as never), /'session'.*'sessionId'/)
  await assert.rejects(client.mcp.listTools({ agent: 'a' }), TypeError)
  assert.ok(createServer({ agents: [echo] }))
})
