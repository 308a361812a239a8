/** What a part gets of the kernel, and when; and which parts can stand together. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { answerMessage } from '../../../lib/conversations.ts'
import {
  createServer, defaults, defineAgent, defineGroup, defineResource, defineTool, LiveCall, problemReply,
} from '../../../lib/kernel.ts'
import { conversationsOf } from '../../../lib/floors/conversations/conversation.ts'
import { defaultPort } from '../../../lib/kernel/server/server.ts'
import { a2a } from '../../../lib/parts/a2a/part.ts'
import { agui } from '../../../lib/parts/agui/part.ts'
import { docs } from '../../../lib/parts/docs/part.ts'
import { http } from '../../../lib/parts/http/part.ts'
import { mcp } from '../../../lib/parts/mcp/part.ts'
import { metrics } from '../../../lib/parts/metrics/part.ts'
import { oauth } from '../../../lib/parts/oauth/part.ts'
import { openai } from '../../../lib/parts/openai/part.ts'
import { uiStream } from '../../../lib/parts/ui-stream/part.ts'
import { shareStore } from '../../../lib/stores/shared.ts'
import { eventually, jsonOf, request } from '../../fixtures/client.ts'
import { sharedMemory } from '../../fixtures/fleet.ts'
import { onePost, probe } from '../../fixtures/probe.ts'
import type { TestContext } from 'node:test'
import type { Kernel, KernelOptions, KernelServer, Opened, Part, Resource } from '../../../lib/kernel.ts'

const inputSchema = {
  type: 'object', properties: { a: { type: 'number' } }, required: ['a'],
} as const

const add = defineTool({
  name: 'add', description: 'Adds one.', inputSchema, run: ({ a }) => String(a + 1),
})

function serve(t: TestContext, options: Partial<KernelOptions>): KernelServer {
  const server = createServer({ tools: [add], parts: [], log: false, graceMs: 0, ...options })
  t.after(() => server.close())
  return server
}

test('a part with one POST calls a tool, and what the kernel refuses is refused in its form', async (t) => {
  const server = serve(t, { parts: [onePost()], apiKey: 'the key of all' })
  const keyed = { 'x-api-key': 'the key of all' }
  const called = await server.fetch(request('/call/add', { a: 1 }, keyed))
  assert.deepEqual(await called.json(), [{ type: 'text', text: '2' }])
  const refused: readonly (readonly [Request, status: number, detail: RegExp])[] = [
    [request('/call/add', { a: 1 }), 401, /key/],
    [request('/call/sub', { a: 1 }, keyed), 400, /There is no such tool/],
    [request('/call/add', '{', keyed), 400, /internal/i],
    [request('/call/add', undefined, keyed), 405, /POST/],
    [request('/call/add', 'a', { ...keyed, 'content-type': 'text/plain' }), 415, /json/],
  ]
  for (const [asked, status, detail] of refused) {
    const response = await server.fetch(asked)
    assert.equal(response.status, status)
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
    assert.match(String((await jsonOf(response))['detail']), detail)
  }
})

test('each protocol is announced by its part, where that has something to say', (t) => {
  const silent = onePost()
  const mine: Part = {
    name: 'mine', protocol: 'mine', open: () => ({ announce: (url, curl) => [`${url}/mine`, curl('/mine')] }),
  }
  const server = serve(t, { parts: [mine, mcp(), silent] })
  const curl = (path: string, body?: object): string => `${body === undefined ? 'GET' : 'POST'} ${path}`
  const lines = server.announce('http://a.example', curl)
  assert.deepEqual(lines, [
    ['mine', ['http://a.example/mine', 'GET /mine']],
    ['mcp', ['http://a.example/mcp and http://a.example/sse', 'POST /messages/']],
  ])
})

test('a definition needs no adapters, and its handler gets what its schema says', async (t) => {
  const server = createServer({
    tools: [{ name: 'double', description: 'Doubles.', inputSchema, run: ({ a }) => String(2 * a) }],
    parts: [onePost()], log: false,
  })
  t.after(() => server.close())
  const called = await server.fetch(request('/call/double', { a: 4 }))
  assert.deepEqual(await called.json(), [{ type: 'text', text: '8' }])
})

test('a part of a protocol serves it by its own options, beside others', async (t) => {
  const server = serve(t, { parts: [mcp({ sessions: 'none' }), onePost()] })
  const response = await server.fetch(request('/mcp', {
    jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add', arguments: { a: 2 } },
  }, { accept: 'application/json, text/event-stream' }))
  assert.equal(response.headers.get('mcp-session-id'), null)
  const { result } = await jsonOf(response)
  assert.deepEqual((result as { content: unknown }).content, [{ type: 'text', text: '3' }])
  assert.deepEqual(server.protocols, ['mcp', 'probe'])
  assert.equal((await server.fetch(request('/call/add', { a: 2 }))).status, 200)
})

test('parts open in their order, but after what they need, and end step by step, all of them', async () => {
  const steps: string[] = []
  const onStep = (step: string): void => { steps.push(step) }
  let onStart = (): void => {}
  const hasBegun = new Promise<void>((resolve) => { onStart = resolve })
  const hold = defineTool({
    name: 'hold', description: 'Holds.',
    run: (_, { signal }) => new Promise((resolve) => {
      onStart()
      signal.addEventListener('abort', () => {
        steps.push('call cancelled')
        resolve('late')
      })
    }),
  })
  const server = createServer({
    tools: [hold], log: false, graceMs: 0,
    parts: [probe({ name: 'last', needs: ['first'], onStep }), onePost(), probe({ name: 'first', onStep })],
  })
  assert.deepEqual(steps.splice(0), ['first open', 'last open'])
  const stream = await server.fetch(request('/first'))
  const called = server.fetch(request('/call/hold', {}))
  await hasBegun
  await server.close()
  assert.equal(await stream.text(), 'data: begun\n\ndata: over\n\n')
  assert.equal((await called).status, 400)
  const all = (what: string): readonly string[] => [`first ${what}`, `last ${what}`]
  const [drained, rest] = [steps.slice(0, steps.indexOf('call cancelled')), steps.filter(isAfter)]
  assert.deepEqual(drained.slice(0, 2), all('drain'))
  assert.deepEqual(rest, ['call cancelled', ...all('cancel'), ...all('flush'), ...all('release')])
  await server.close()
  assert.deepEqual(steps.filter(isAfter), rest)
})

function isAfter(step: string): boolean {
  return !step.endsWith(' drain')
}

test('what a part defines is served behind what the options have, before any part is opened', (t) => {
  const one = (uri: string): Resource => defineResource({ uri, name: uri, read: () => uri })
  const seen: string[] = []
  const first = probe({
    name: 'first', onOpen: ({ catalog }) => { seen.push(...catalog.resources.map(({ uri }) => uri)) },
  })
  const defining = { ...probe({ name: 'defining' }), defines: { resources: [one('test://part')] } }
  serve(t, { tools: [], resources: [one('test://own')], parts: [first, defining] })
  assert.deepEqual(seen.splice(0), ['test://own', 'test://part'])
  serve(t, { tools: [], parts: [first, defining] })
  assert.deepEqual(seen, ['test://part'])
  assert.throws(() => serve(t, { resources: [one('test://part')], parts: [defining] }), {
    name: 'TypeError', message: /^Two resources are 'test:\/\/part'; change one of them$/,
  })
})

test('a session of a part is a stream that its other requests reach, and that drains', async (t) => {
  const server = serve(t, { parts: [probe()] })
  const stream = await server.fetch(request('/probe'))
  await eventually(() => sessionsIn(server) === 1)
  assert.equal((await server.fetch(request('/probe', 'news', { 'content-type': 'text/plain' }))).status, 202)
  const text = stream.text()
  await server.close()
  assert.equal(await text, 'data: begun\n\ndata: news\n\ndata: over\n\n')
  assert.equal(sessionsIn(server), 0)
})

function sessionsIn(server: KernelServer): number {
  return (server.status() as unknown as { readonly probe: { readonly sessions: number } }).probe.sessions
}

test('status and gauges of all parts stand beside those of the kernel', (t) => {
  let kernel: Kernel | undefined
  const server = serve(t, {
    parts: [probe({ name: 'one', onOpen: (open) => { kernel = open } }), probe({ name: 'two' })],
  })
  const { calls, one, two } = server.status() as object as Record<string, unknown>
  assert.deepEqual(calls, { running: 0, abandoned: 0, bytes: 0 })
  assert.deepEqual([one, two], [{ sessions: 0 }, { sessions: 0 }])
  const names = kernel!.gauges().map(([name]) => name)
  assert.deepEqual(names.slice(0, 1), ['triport_calls_running'])
  assert.deepEqual(names.slice(-2), ['triport_one_sessions', 'triport_two_sessions'])
  assert.deepEqual(kernel!.endpoints().map(({ path }) => path), ['/one', '/one', '/two', '/two'])
})

test('a part of another copy of the kernel is refused by its name', () => {
  assert.throws(() => createServer({ tools: [add], parts: [{ ...mcp(), copy: Symbol('triport') }] }), {
    name: 'TypeError', message: "The part 'mcp' is of another copy of triport than this server; import both "
      + 'from one package or one folder',
  })
})

test('what a part opens may be an object of a class', async () => {
  const steps: string[] = []
  class Counter implements Opened {
    readonly #count = 3
    status(): object { return { counter: this.#count } }
    drain(): void { steps.push(`drained at ${this.#count}`) }
  }
  const server = createServer({
    tools: [add], parts: [{ name: 'counter', open: () => new Counter() }], log: false,
  })
  assert.equal(Reflect.get(server.status(), 'counter'), 3)
  await server.close()
  assert.equal(steps[0], 'drained at 3')
})

test('pages may read the headers that the open parts name, each once', async (t) => {
  const server = serve(t, { cors: '*', parts: [mcp(), http(), openai()] })
  const { headers } = await server.fetch(request('/health', { headers: { Origin: 'https://a.example' } }))
  const exposed = String(headers.get('access-control-expose-headers')).split(', ')
  for (const name of ['etag', 'mcp-session-id', 'idempotent-replayed', 'x-should-retry']) {
    assert.equal(exposed.filter((one) => one === name).length, 1, name)
  }
  assert.equal(exposed.includes('a2a-extensions'), false)
})

test('what is around a call is in the order of the parts, and the options are innermost', async (t) => {
  const seen: string[] = []
  const wrapped = (name: string): Part => ({
    name,
    async around(_, next) {
      seen.push(`${name} before`)
      const output = await next()
      seen.push(`${name} after`)
      return output
    },
    onCall: ({ name: tool }) => { seen.push(`${name} has seen ${tool}`) },
  })
  const server = serve(t, {
    parts: [wrapped('outer'), wrapped('inner'), onePost()],
    async around(_, next) {
      seen.push('options')
      return next()
    },
    onCall: () => { seen.push('options have seen it') },
  })
  await server.fetch(request('/call/add', { a: 1 }))
  assert.deepEqual(seen, [
    'outer before', 'inner before', 'options', 'inner after', 'outer after',
    'outer has seen add', 'inner has seen add', 'options have seen it',
  ])
})

test('a part observes requests, and passes them on to the options', async (t) => {
  const seen: string[] = []
  const server = serve(t, {
    parts: [{
      name: 'counter',
      observe: (next) => ({
        isAlwaysWanted: true,
        onDone(asked, status, ...rest) {
          seen.push(`counter ${status}`)
          next.onDone(asked, status, ...rest)
        },
      }),
    }, onePost()],
    onRequest: ({ route, status }) => { seen.push(`${route} ${status}`) },
  })
  await (await server.fetch(request('/call/add', { a: 1 }))).text()
  await eventually(() => seen.length === 2)
  assert.deepEqual(seen, ['counter 200', '/call/{tool} 200'])
})

test('a protocol is listed once, and only where something of it is served', async (t) => {
  const server = serve(t, {
    mountPath: '/team',
    parts: [
      probe({ name: 'one', protocol: 'probes' }), probe({ name: 'two', protocol: 'probes' }),
      probe({ name: 'three' }), { name: 'idle', protocol: 'idle', open: () => ({}) },
    ],
    absent: (served, mountPath) => new Map([['/soap', `Here is ${served.join()} below ${mountPath}`]]),
  })
  assert.deepEqual(server.protocols, ['probes'])
  const missing = await server.fetch(request('/team/soap'))
  assert.equal(missing.status, 404)
  assert.match(String((await jsonOf(missing))['detail']), /Here is probes below \/team/)
})

test('what cannot serve what there is ends with its sentence, and what is open already is released', () => {
  const steps: string[] = []
  const open = probe({ onStep: (step) => { steps.push(step) } })
  const failing: readonly (readonly [part: Part, message: RegExp])[] = [
    [{ name: 'picky', open: () => 'picky needs a prompt; add one' }, /^picky needs a prompt; add one$/],
    [{ name: 'late', open: () => ({ ready() { throw new TypeError('too late') } }) }, /^too late$/],
  ]
  for (const [part, message] of failing) {
    assert.throws(() => createServer({ tools: [add], parts: [open, part] }), { name: 'TypeError', message })
    assert.deepEqual(steps.splice(0), ['probe open', 'probe release'])
  }
})

const one = probe({ name: 'one' })
const eager = probe({ name: 'eager', optionNames: ['speed', 'colour'] })
const calm = probe({ name: 'calm', optionNames: ['colour'] })

const mistakes: readonly (readonly [options: unknown, sentence: RegExp])[] = [
  [undefined, /^createServer takes an object, not undefined/],
  [add, /^createServer takes options, and this is one thing to serve\. Write createServer\(\{ agents/],
  [{ parts: [one] }, /^There is nothing to serve; write/],
  [{ tools: [add] }, /^parts is undefined; write a list, as in \[part\]$/],
  [{ tools: [add], parts: one }, /^parts is an object; write a list/],
  [{ tools: [add], parts: [] }, /^parts is empty, so nothing would be served; write \[part\]$/],
  [{ tools: [add], parts: [mcp] }, /^parts has the function mcp; write what it returns, mcp\(\)$/],
  [{ tools: [add], parts: [null] }, /^parts has null, which is no part; write \{ name, open \}$/],
  [{ tools: [add], parts: [one, probe({ name: 'one' })] }, /^parts has 'one' twice; leave one of them out$/],
  [{ tools: [add], parts: [probe({ name: 'two', needs: ['one'] })] },
    /^The part 'two' needs 'one'; add that to parts$/],
  [{ tools: [add], parts: [probe({ name: 'a', needs: ['b'] }), probe({ name: 'b', needs: ['a'] })] },
    /^The part 'a' needs itself, by a, b; take one need away$/],
  [{ tools: [add], parts: [one], mountpath: '/a' }, /no option 'mountpath'; did you mean 'mountPath'\?$/],
  [{ tools: [add], parts: [one], protocol: 'mcp' }, /no option 'protocol'; what is served, parts say: write/],
  [{ tools: [add], parts: [one], port: 80 }, /no option 'port'; write server\.listen\(port, host\)$/],
  [{ tools: [add], parts: [eager], speed: 1 },
    /no option 'speed'; it is an option of eager; write eager\(\{ speed: … \}\)$/],
  [{ tools: [add], parts: [eager, calm], colour: 1 },
    /an option of eager and of calm; write eager\(\{ colour: … \}\) or calm\(\{ colour: … \}\)$/],
  [{ tools: [add], parts: [one], one: {} }, /^createServer has no option 'one'; it has agents, /],
  [{ tools: [add], parts: [eager], eager: {} }, /it is a part; write its options there: eager\(\{ … \}\)$/],
  [{ tools: [add], parts: [mcp()], instructions: 'Ask.' }, /write mcp\(\{ instructions: … \}\)$/],
  [{ tools: [add], parts: [eager], maxBodyBytes: 'many' }, /^maxBodyBytes is "many"; write/],
  [{ tools: [add], parts: [mcp(), a2a()], maxSessions: 5 },
    /no option 'maxSessions'; it is an option of mcp; write mcp\(\{ maxSessions: … \}\)$/],
  [{ tools: [add], parts: [mcp(), a2a()], blockingWaitMs: 5 }, /write a2a\(\{ blockingWaitMs: … \}\)$/],
  [{ tools: [add], parts: [mcp(), uiStream()], resumeMs: 5 },
    /it is an option of ui-stream; write uiStream\(\{ resumeMs: … \}\)$/],
  [{ tools: [add], parts: [mcp(), uiStream()], replayBytes: 5 },
    /of mcp and of ui-stream; write mcp\(\{ replayBytes: … \}\) or uiStream\(\{ replayBytes: … \}\)$/],
  [{ tools: [add], parts: [mcp(), agui()], maxStateBytes: 5 },
    /write mcp\(\{ maxStateBytes: … \}\) or agui\(\{ maxStateBytes: … \}\)$/],
  [{ tools: [add], parts: [uiStream()], uiStream: {} }, /write its options there: uiStream\(\{ … \}\)$/],
  [{ tools: [add], parts: [a2a({ extendedCard: {} })] }, /^a2a\.extendedCard is for callers with a key/],
]

test('a mistake in the options or the parts is a sentence that says what to write instead', () => {
  for (const [options, message] of mistakes) {
    assert.throws(() => createServer(options as KernelOptions), (error: Error) => {
      assert.match(error.message, message)
      assert.ok(error instanceof TypeError || error instanceof RangeError)
      return true
    })
  }
  const loosely = createServer as (...given: unknown[]) => KernelServer
  assert.throws(() => loosely({ tools: [add], parts: [one] }, 8000),
    { message: /^createServer has no option 'port'; write server\.listen/ })
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

test('the kernel has its own limits, and no part finds those of another there', (t) => {
  let kernel: Kernel | undefined
  serve(t, { parts: [probe({ onOpen: (open) => { kernel = open } }), mcp({ maxSessions: 5 })], maxCalls: 7 })
  assert.deepEqual(kernel!.limits, { ...defaults, maxCalls: 7, graceMs: 0 })
  for (const name of ['maxSessions', 'replayBytes', 'resumeMs', 'blockingWaitMs', 'maxStateBytes']) {
    assert.equal(name in defaults, false, name)
  }
})

test('options may be an object of a class, with a state of its own', async (t) => {
  class Setup {
    readonly source = 'a file'
    readonly instructions = 'Ask first.'
    get title(): string { return 'The shop' }
  }
  const server = serve(t, { parts: [mcp(new Setup())] })
  const response = await server.fetch(request('/mcp', {
    jsonrpc: '2.0', id: 1, method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  }, { accept: 'application/json, text/event-stream' }))
  const said = await response.text()
  assert.match(said, /"instructions":"Ask first\."/)
  assert.match(said, /"title":"The shop"/)
})

test('the default port is that of the only protocol, and the usual one of several', () => {
  const [first, same, other] = [
    probe({ protocol: 'one', port: 81 }), probe({ protocol: 'one', port: 81 }),
    probe({ protocol: 'other', port: 82 }),
  ]
  assert.equal(defaultPort([first!, same!, probe({ port: 83 })]), 81)
  assert.equal(defaultPort([first!, other!]), defaultPort([]))
  assert.equal(defaultPort([first!, probe({ protocol: 'third' })]), defaultPort([]))
  assert.equal(defaultPort([mcp()]), 8080)
})

test('definitions of the kernel are those in our own form, one by one or as a list is mapped', () => {
  const [tool] = [{ name: 'a', run: () => '' }].map(defineTool)
  const [agent] = [{ name: 'A', run: () => '' }].map(defineAgent)
  const [group] = [{ name: 'G', agents: [agent!] }].map(defineGroup)
  assert.deepEqual([tool!.kind, agent!.kind, group!.kind], ['tool', 'agent', 'group'])
  for (const define of [defineTool, defineAgent, defineGroup] as readonly ((...all: never[]) => unknown)[]) {
    assert.throws(() => define({ name: 'a' } as never, {} as never), {
      name: 'TypeError', message: new RegExp(`takes one argument, and not also .*; write define`),
    })
  }
  assert.throws(() => defineAgent({ generate: () => '', stream: () => '' } as never), { name: 'TypeError' })
})

test('what a part tells in the status hides nothing that is told there already', () => {
  const telling = (name: string, status: object): Part => ({ name, open: () => ({ status: () => status }) })
  const make = (...parts: readonly Part[]): KernelServer => createServer({ tools: [add], parts, log: false })
  for (const member of ['calls', 'store']) {
    assert.throws(() => make(telling('nosy', { [member]: 1 })), {
      name: 'TypeError',
      message: `server.status() has '${member}' already, and the part 'nosy' tells it again; let its `
        + 'status() return a member of another name',
    })
  }
  const twins = [telling('one', { same: 1 }), telling('two', { same: 2 })] as const
  assert.throws(() => make(...twins), /'same'.*the part 'two'/)
  const conversing: Part = {
    name: 'conversing',
    open(kernel) {
      conversationsOf(kernel)
      return { status: () => ({ conversations: 0 }) }
    },
  }
  assert.throws(() => make(conversing), /'conversations' already, and the part 'conversing'/)
  const status: object = make(telling('one', { one: 1 }), telling('two', { two: 2 })).status()
  assert.deepEqual({ ...status, calls: 0, streams: 0, bodies: 0 }, {
    calls: 0, streams: 0, bodies: 0, store: undefined, one: 1, two: 2,
  })
})

test('a store is shared by what the sentence names, and a part answers with an agent', async (t) => {
  const memory = sharedMemory()
  const asking: Part = {
    name: 'asking',
    open: (kernel) => ({
      endpoints: [{
        path: '/ask', methods: ['POST'], accepts: ['text/plain'], refuse: problemReply,
        async handle({ body: prompt, origin }) {
          const call = new LiveCall(origin, { protocol: 'http' }, {})
          const message = { prompt, conversationId: 'one', isNamed: true }
          const { text } = await answerMessage(kernel, kernel.catalog.agents[0]!, message, call)
          return { status: 200, type: 'text/plain', body: text }
        },
      }],
    }),
  }
  const agent = defineAgent({ name: 'Count', run: (_, { history }) => String(history.length) })
  const options = {
    agents: [agent], tools: [], parts: [asking], store: memory.connect(), secret: 'the secret of all servers',
  }
  assert.throws(() => createServer(options), /import \{ shareStore \} from 'triport\/shared'/)
  const server = serve(t, { ...options, share: shareStore })
  for (const count of ['0', '2']) {
    const response = await server.fetch(request('/ask', 'hi', { 'content-type': 'text/plain' }))
    assert.equal(await response.text(), count)
  }
})
