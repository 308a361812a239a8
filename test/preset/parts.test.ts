/** The parts that there are, as a server of the kernel takes them. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { createServer, defineAgent, defineTool } from '../../lib/kernel.ts'
import { defaultPort } from '../../lib/kernel/server/server.ts'
import { a2a } from '../../lib/parts/a2a/part.ts'
import { acp } from '../../lib/parts/acp/part.ts'
import { agui } from '../../lib/parts/agui/part.ts'
import { apps } from '../../lib/parts/apps/part.ts'
import { docs } from '../../lib/parts/docs/part.ts'
import { http } from '../../lib/parts/http/part.ts'
import { mcp } from '../../lib/parts/mcp/part.ts'
import { mcpTasks } from '../../lib/parts/mcp-tasks/part.ts'
import { metrics } from '../../lib/parts/metrics/part.ts'
import { oauth } from '../../lib/parts/oauth/part.ts'
import { openai } from '../../lib/parts/openai/part.ts'
import { uiStream } from '../../lib/parts/ui-stream/part.ts'
import { jsonOf, request, serve } from '../fixtures/kernel.ts'
import { onePost } from '../fixtures/probe.ts'
import type { KernelOptions, Part } from '../../lib/kernel.ts'

const add = defineTool({
  name: 'add', description: 'Adds one.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  run: ({ a }) => String(Number(a) + 1),
})

test('a part of a protocol serves it by its own options, beside others', async (t) => {
  const server = serve(t, { tools: [add], parts: [mcp({ sessions: 'none' }), onePost()] })
  const response = await server.fetch(request('/mcp', {
    jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add', arguments: { a: 2 } },
  }, { accept: 'application/json, text/event-stream' }))
  assert.equal(response.headers.get('mcp-session-id'), null)
  const { result } = await jsonOf(response)
  assert.deepEqual((result as { content: unknown }).content, [{ type: 'text', text: '3' }])
  assert.deepEqual(server.protocols, ['mcp', 'probe'])
  assert.equal((await server.fetch(request('/call/add', { a: 2 }))).status, 200)
})

test('pages may read the headers that the open parts name, each once', async (t) => {
  const server = serve(t, { tools: [add], cors: '*', parts: [mcp(), http(), openai()] })
  const { headers } = await server.fetch(request('/health', { headers: { Origin: 'https://a.example' } }))
  const exposed = String(headers.get('access-control-expose-headers')).split(', ')
  for (const name of ['etag', 'mcp-session-id', 'idempotent-replayed', 'x-should-retry']) {
    assert.equal(exposed.filter((one) => one === name).length, 1, name)
  }
  assert.equal(exposed.includes('a2a-extensions'), false)
})

test('what makes a part refuses options that it does not have, and values that they cannot have', () => {
  const wrong: readonly (readonly [make: (options: never) => Part, options: unknown, sentence: RegExp])[] = [
    [mcp, { sesions: 'none' }, /^mcp has no option 'sesions'; did you mean 'sessions'\?$/],
    [mcp, { sessions: 'no' }, /^mcp\.sessions is "no"; write 'optional', 'required' or 'none'$/],
    [mcp, 'none', /^mcp takes its options as an object, not string; it has sessions, /],
    [mcp, { maxSesions: 5 }, /^mcp has no option 'maxSesions'; did you mean 'maxSessions'\?$/],
    [mcp, { maxBodyBytes: 5 },
      /^mcp has no option 'maxBodyBytes'; it is an option of the server; write createServer\(\{ maxBody/],
    [mcp, { resumeMs: 5 }, /^mcp has no option 'resumeMs'; /],
    [a2a, { cards: '1.0' }, /^a2a has no option 'cards'; did you mean 'card'\?$/],
    [a2a, { card: '2.0' }, /^a2a\.card is "2\.0"; write 'hybrid'/],
    [a2a, null, /^a2a takes its options as an object, not null; it has card, /],
    [http, { paths: '/ask' }, /^http has no option 'paths'; did you mean 'path'\?$/],
    [http, { path: 'ask' }, /^path is "ask"; write a path/],
    [uiStream, { path: '/' }, /^uiStream has no option 'path'; it has /],
    [agui, { apiKey: 'k' }, /^agui has no option 'apiKey'; it is an option of the server; write create/],
    ...[docs, metrics, oauth, openai].map((make) => (
      [make, { path: '/' }, new RegExp(`^${make.name} has no option 'path'; it has none$`)] as const
    )),
  ]
  for (const [make, options, message] of wrong) {
    assert.throws(() => make(options as never), { name: 'TypeError', message })
  }
})

test('what makes a part refuses what is given beside its options', () => {
  const makers: readonly ((options: never, more: never) => Part)[] = [
    mcp, a2a, http, openai, agui, uiStream, docs, metrics, oauth, mcpTasks, apps, acp,
  ]
  for (const make of makers) {
    assert.throws(() => make({} as never, [mcpTasks()] as never), {
      name: 'TypeError',
      message: new RegExp(`^${make.name} takes one argument, and not also an array; write ${make.name}\\(\\{ `
        + `… \\}\\), and another part beside it, as in parts: \\[${make.name}\\(\\), part\\(\\)\\]$`),
    })
    assert.equal(typeof make(undefined as never, undefined as never).name, 'string')
  }
})

test('a limit of a part is its option, and a mistake names it there', () => {
  const wrong: readonly (readonly [make: () => Part, sentence: RegExp])[] = [
    [() => mcp({ maxSessions: 'many' as never }), /^mcp\.maxSessions is "many"; write a whole number above/],
    [() => mcp({ maxBatch: '5' as never }), /^mcp\.maxBatch is "5"; write it as a number: 5$/],
    [() => mcp({ replayMs: 0 }), /^mcp\.replayMs is 0; write a whole number above zero, or Infinity for no/],
    [() => mcp({ replayBytes: 20, maxReplayBytes: 10 }),
      /^mcp\.replayBytes \(20\) is larger than mcp\.maxReplayBytes \(10\); raise mcp\.maxReplayBytes$/],
    [() => a2a({ blockingWaitMs: 1.5 }), /^a2a\.blockingWaitMs is 1\.5; write a whole number/],
    [() => uiStream({ resumeMs: -1 }), /^uiStream\.resumeMs is -1; write a whole number/],
    [() => agui({ maxStateBytes: NaN }), /^agui\.maxStateBytes is NaN; write a whole number/],
  ]
  for (const [make, message] of wrong) assert.throws(make, { name: 'RangeError', message })
  uiStream({ resumeMs: 0, replayBytes: Infinity })
})

test('a part holds to its limits, each for itself', async (t) => {
  const slow = defineAgent({ name: 'Slow', run: () => new Promise(() => {}) })
  const server = serve(t, {
    agents: [slow], parts: [mcp({ maxBatch: 1, maxCallsPerSession: Infinity }), a2a({ blockingWaitMs: 10 })],
  })
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const post = async (path: string, body: unknown, headers = {}): Promise<string> => (
    (await server.fetch(request(path, body, headers))).text()
  )
  const batched = { 'mcp-protocol-version': '2025-03-26', 'accept': 'application/json, text/event-stream' }
  assert.match(await post('/mcp', [ping, { ...ping, id: 2 }], batched), /A batch may hold 1 messages/)
  const message = { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hello' }] }
  const sent = await post('/a2a', { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } })
  assert.match(sent, /"state":"working"/)
})

const mistakes: readonly (readonly [options: unknown, sentence: RegExp])[] = [
  [{ tools: [add], parts: [mcp()], instructions: 'Ask.' }, /write mcp\(\{ instructions: … \}\)$/],
  [{ tools: [add], parts: [mcp(), a2a()], maxSessions: 5 },
    /no option 'maxSessions'; it is an option of mcp; write mcp\(\{ maxSessions: … \}\)$/],
  [{ tools: [add], parts: [mcp(), a2a()], blockingWaitMs: 5 }, /write a2a\(\{ blockingWaitMs: … \}\)$/],
  [{ tools: [add], parts: [mcp(), uiStream()], resumeMs: 5 },
    /it is an option of ui-stream; write uiStream\(\{ resumeMs: … \}\)$/],
  [{ tools: [add], parts: [mcp(), uiStream()], replayBytes: 5 },
    /of mcp and of ui-stream; write mcp\(\{ replayBytes: … \}\) or uiStream\(\{ replayBytes: … \}\)$/],
  [{ tools: [add], parts: [mcp(), agui()], maxStateBytes: 5 },
    /write mcp\(\{ maxStateBytes: … \}\) or agui\(\{ maxStateBytes: … \}\)$/],
  [{ tools: [add], parts: [a2a({ extendedCard: {} })] }, /^a2a\.extendedCard is for callers with a key/],
  [{ tools: [add], parts: [uiStream()], uiStream: {} }, /write its options there: uiStream\(\{ … \}\)$/],
]

test('an option that belongs to a part is told where to write it', () => {
  for (const [options, message] of mistakes) {
    assert.throws(() => createServer(options as KernelOptions), { name: 'TypeError', message })
  }
})

test('MCP alone has a port of its own', () => assert.equal(defaultPort([mcp()]), 8080))

test('options may be an object of a class, with a state of its own', async (t) => {
  class Setup {
    readonly source = 'a file'
    readonly instructions = 'Ask first.'
    get title(): string { return 'The shop' }
  }
  const server = serve(t, { tools: [add], parts: [mcp(new Setup())] })
  const response = await server.fetch(request('/mcp', {
    jsonrpc: '2.0', id: 1, method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  }, { accept: 'application/json, text/event-stream' }))
  const said = await response.text()
  assert.match(said, /"instructions":"Ask first\."/)
  assert.match(said, /"title":"The shop"/)
})

test('MCP is announced by its part', (t) => {
  const server = serve(t, { tools: [add], parts: [mcp(), onePost()] })
  const curl = (path: string, body?: object): string => `${body === undefined ? 'GET' : 'POST'} ${path}`
  assert.deepEqual(server.announce('http://a.example', curl), [
    ['mcp', ['http://a.example/mcp and http://a.example/sse', 'POST /messages/']],
  ])
})
