/** What a part gets of the kernel, and when; and which parts can stand together. */
import assert from 'node:assert/strict'
import test from 'node:test'
import {
  createServer, defaults, defineAgent, defineGroup, defineResource, defineTool, problemReply,
} from '../../../lib/kernel.ts'
import { defaultPort } from '../../../lib/kernel/server/server.ts'
import { eventually, jsonOf, request } from '../../fixtures/wire.ts'
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
  const server = serve(t, { parts: [mine, silent] })
  const curl = (path: string, body?: object): string => `${body === undefined ? 'GET' : 'POST'} ${path}`
  const lines = server.announce('http://a.example', curl)
  assert.deepEqual(lines, [['mine', ['http://a.example/mine', 'GET /mine']]])
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
  assert.deepEqual(kernel!.endpoints().map(({ path }) => path),
    ['/one', '/one', '/two', '/two', '/health', '/healthz', '/ready'])
})

test('a part of another copy of the kernel is refused by its name', () => {
  assert.throws(() => createServer({ tools: [add], parts: [{ ...onePost(), copy: Symbol('triport') }] }), {
    name: 'TypeError', message: "The part 'one-post' is of another copy of triport than this server; import "
      + 'both from one package or one folder',
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
    tools: [add], parts: [onePost(), { name: 'counter', open: () => new Counter() }], log: false,
  })
  assert.equal(Reflect.get(server.status(), 'counter'), 3)
  await server.close()
  assert.equal(steps[0], 'drained at 3')
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
    absent: (served) => new Map([['/soap', `Here is ${served.join()}`]]),
  })
  assert.deepEqual(server.protocols, ['probes'])
  const missing = await server.fetch(request('/team/soap'))
  assert.equal(missing.status, 404)
  assert.match(String((await jsonOf(missing))['detail']), /^Here is probes; GET \/team\/health lists where$/)
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
  [{ tools: [add] }, /^parts is undefined; write a list of parts, each from the package's subpath of its /],
  [{ tools: [add], parts: 'one-post' },
    /^parts is "one-post"; write a list of parts, .*: parts: \[onePost\(\)\]$/],
  [{ tools: [add], parts: {} }, /^parts is an object; write a list of parts, .*: parts: \[part\(\)\]$/],
  [{ tools: [add], parts: one }, /^parts is one part; write a list, parts: \[one\(\)\]$/],
  [{ tools: [add], parts: [] }, /^parts is empty, so nothing would be served; write \[part\(\)\]$/],
  [{ tools: [add], parts: [onePost] },
    /^parts has the function onePost; if it makes a part, write onePost\(\)$/],
  [{ tools: [add], parts: [null] },
    /^parts has null, which is no part; write what makes one, as in parts: \[part\(\)\], or \{ name, /],
  [{ tools: [add], parts: ['one-post'] },
    /^parts has "one-post", which is no part; write onePost\(\), of the package's subpath of that name$/],
  [{ tools: [add], parts: ['one post'] }, /^parts has "one post", which is no part; write what makes one$/],
  [{ tools: [add], parts: [one, probe({ name: 'one' })] }, /^parts has 'one' twice; leave one of them out$/],
  [{ tools: [add], parts: [probe({ name: 'two', needs: ['one'] })] },
    /^The part 'two' needs 'one'; add that to parts$/],
  [{ tools: [add], parts: [probe({ name: 'a', needs: ['b'] }), probe({ name: 'b', needs: ['a'] })] },
    /^The part 'a' needs itself, by a, b; take one need away$/],
  [{ tools: [add], parts: [one], mountpath: '/a' }, /no option 'mountpath'; did you mean 'mountPath'\? If /],
  [{ tools: [add], parts: [one], protocol: 'mcp' }, /no option 'protocol'; what is served, parts say: write/],
  [{ tools: [add], parts: [one], port: 80 }, /no option 'port'; write server\.listen\(port, host\)$/],
  [{ tools: [add], parts: [eager], speed: 1 },
    /no option 'speed'; it is an option of eager; write eager\(\{ speed: … \}\)$/],
  [{ tools: [add], parts: [eager, calm], colour: 1 },
    /an option of eager and of calm; write eager\(\{ colour: … \}\) or calm\(\{ colour: … \}\)$/],
  [{ tools: [add], parts: [one], one: {} },
    /no option 'one'; if it is a part, or an option of one, write that in parts, as in parts: \[part\(/],
  [{ tools: [add], parts: [one], path: '/a' }, /no option 'path'; did you mean 'parts'\? If it is a /],
  [{ tools: [add], parts: [eager], eager: {} }, /it is a part; write its options there: eager\(\{ … \}\)$/],
  [{ tools: [add], parts: [eager], maxBodyBytes: 'many' }, /^maxBodyBytes is "many"; write/],
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

test('the kernel has its own limits, and no part finds those of another there', (t) => {
  let kernel: Kernel | undefined
  serve(t, { parts: [probe({ onOpen: (open) => { kernel = open } })], maxCalls: 7 })
  assert.deepEqual(kernel!.limits, { ...defaults, maxCalls: 7, graceMs: 0 })
  for (const name of ['maxSessions', 'replayBytes', 'resumeMs', 'blockingWaitMs', 'maxStateBytes']) {
    assert.equal(name in defaults, false, name)
  }
})

test('the default port is that of the only protocol, and the usual one of several', () => {
  const [first, same, other] = [
    probe({ protocol: 'one', port: 81 }), probe({ protocol: 'one', port: 81 }),
    probe({ protocol: 'other', port: 82 }),
  ]
  assert.equal(defaultPort([first!, same!, probe({ port: 83 })]), 81)
  assert.equal(defaultPort([first!, other!]), defaultPort([]))
  assert.equal(defaultPort([first!, probe({ protocol: 'third' })]), defaultPort([]))
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
  const make = (...parts: readonly Part[]): KernelServer => (
    createServer({ tools: [add], parts: [onePost(), ...parts], log: false })
  )
  for (const member of ['calls', 'store']) {
    assert.throws(() => make(telling('nosy', { [member]: 1 })), {
      name: 'TypeError',
      message: `server.status() has '${member}' already, and the part 'nosy' tells it again; let its `
        + 'status() return a member of another name',
    })
  }
  const twins = [telling('one', { same: 1 }), telling('two', { same: 2 })] as const
  assert.throws(() => make(...twins), /'same'.*the part 'two'/)
  const status: object = make(telling('one', { one: 1 }), telling('two', { two: 2 })).status()
  assert.deepEqual({ ...status, calls: 0, streams: 0, bodies: 0 }, {
    calls: 0, streams: 0, bodies: 0, store: undefined, one: 1, two: 2,
  })
})

test('every server tells operators how it is, and a path that is not there says where to look', async (t) => {
  const server = serve(t, { parts: [onePost()] })
  const get = async (path: string): Promise<readonly [number, Record<string, unknown>]> => {
    const response = await server.fetch(request(path))
    return [response.status, await jsonOf(response)]
  }
  const [status, health] = await get('/health')
  assert.deepEqual([status, health['status'], (health['endpoints'] as readonly string[]).includes('/ready')],
    [200, 'ok', true])
  assert.deepEqual(await get('/ready'), [200, { status: 'ready' }])
  assert.match(String((await get('/'))[1]['detail']), /GET \/health lists what is$/)
})

test('what a part opens as, needs and begins with is what it has to be', () => {
  const rows: readonly (readonly [part: object, message: RegExp])[] = [
    [{ ...onePost(), open: async () => ({}) }, /^The part 'one-post' opens as a promise; let /],
    [{ ...onePost(), open: () => 5 }, /^The part 'one-post' opens as 5; let its open\(\) return /],
    [{ ...onePost(), open: 1 }, /^parts has the part 'one-post' with open 1; write a function/],
    [{ ...onePost(), needs: 'two' }, /^parts has the part 'one-post' with needs "two"; write a list /],
    [{ name: 'idle' }, /^Nothing is served by idle; add a part that has endpoints$/],
  ]
  for (const [part, message] of rows) {
    assert.throws(() => createServer({ tools: [add], parts: [part as Part], log: false }), { message })
  }
})

test('what knows other frameworks, and what shares a store, are those', () => {
  const rows: readonly (readonly [options: object, message: RegExp])[] = [
    [{ adapters: true }, /^adapters is true; write frameworks, of import \{ frameworks \} from 'triport\//],
    [{ share: true }, /^share is true; write shareStore, of import \{ shareStore \} from 'triport\/shared'$/],
  ]
  for (const [options, message] of rows) {
    assert.throws(() => createServer({ tools: [add], parts: [onePost()], ...options }), { message })
  }
})

test('a server whose parts serve nothing of what there is says so, and what would mend it', (t) => {
  const offering = (name: string, protocol: string | undefined, isOffered?: () => boolean): Part => ({
    name, ...protocol !== undefined && { protocol },
    open: () => ({
      endpoints: [{
        path: `/${name}`, methods: ['GET'], ...isOffered !== undefined && { isOffered },
        handle: () => ({ status: 200 }), refuse: problemReply,
      }],
    }),
  })
  const never = offering('talk', 'talk', () => false)
  const beside = offering('beside', undefined)
  const said: string[] = []
  const log = (level: string, text: string): void => { if (level === 'warning') said.push(text) }
  const agent = defineAgent({ name: 'Helper', description: 'Agrees.', run: () => 'Yes.' })
  const rows: readonly (readonly [offer: Partial<KernelOptions>, parts: readonly Part[], what: string])[] = [
    [{}, [never], 'talk; add agents: [agent], or a part that serves the others'],
    [{}, [never, beside], 'talk, beside; add agents: [agent], or a part that serves the others'],
    [{ agents: [agent], tools: [] }, [never], 'talk; add a part that serves it'],
  ]
  for (const [offer, parts, what] of rows) {
    serve(t, { ...offer, parts, log })
    assert.deepEqual(said.splice(0), [`Nothing of what there is can be served by ${what}`])
  }
  for (const other of [offering('one', 'one', () => true), offering('one', 'one')]) {
    serve(t, { parts: [never, other], log })
  }
  serve(t, { parts: [beside], log })
  assert.deepEqual(said, [])
})

test('what may be of a framework is told of the adapters, and an author of what is missing', () => {
  class Helper {
    readonly name = 'Helper'
    generate(): string { return '' }
  }
  const message = /^This object of the class Helper has no 'run'\. Where it is of a framework, write adap/
  const agents = [new Helper()] as unknown as KernelOptions['agents']
  const tools = [new Helper()] as unknown as KernelOptions['tools']
  for (const offer of [{ agents: agents! }, { tools: tools! }]) {
    assert.throws(() => createServer({ ...offer, parts: [onePost()] }), { name: 'TypeError', message })
  }
  class Own extends Helper {
    run(): string { return 'Yes.' }
  }
  createServer({ agents: [new Own()], parts: [onePost()], log: false })
})
