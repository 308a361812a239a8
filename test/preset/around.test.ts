/** What runs around every call of an author's code, in every protocol. */
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineResource, defineResourceTemplate, Fault, testClient } from '../../lib/index.ts'
import { eventually, jsonOf, request, serve } from '../fixtures/client.ts'
import { ask, begin, call, modern, said } from '../parts/mcp/client.ts'
import { messagesOf } from '../fixtures/events.ts'
import type { Around, Call, ServerOptions, TriportServer } from '../../lib/index.ts'
import type { Json } from '../fixtures/events.ts'

const sum = {
  name: 'sum', inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  run: ({ a }: Json) => ({ twice: 2 * Number(a) }),
}
const poet = {
  name: 'Poet',
  async *run(prompt: string) {
    yield `${prompt}, `
    await sleep(1)
    yield 'again'
  },
}
const plain = { name: 'Plain', run: (prompt: string) => `You said ${prompt}` }
const offer: ServerOptions = {
  protocol: 'all',
  agents: [plain, poet],
  tools: [sum],
  resources: [defineResource({ uri: 'shop://hours', name: 'hours', read: () => 'Nine to five' })],
  resourceTemplates: [defineResourceTemplate({
    uriTemplate: 'shop://{item}', name: 'item', read: ({ item }) => `One ${String(item)}`,
    complete: { item: (value) => [`${value}x`] },
  })],
  prompts: [{
    name: 'praise', arguments: [{ name: 'what', required: true, complete: (value: string) => [`${value}y`] }],
    get: ({ what }: Json) => `Praise ${String(what)}`,
  }],
}

/** What runs around, what it was given, and what `next` gave it. */
function noting(): { readonly around: Around; readonly noted: unknown[] } {
  const noted: unknown[] = []
  const around: Around = async ({ kind, name, input, call: own }, next) => {
    const result = await next()
    noted.push([own.protocol, kind, name, input, result])
    return result
  }
  return { around, noted }
}

async function post(server: TriportServer, path: string, body: object): Promise<Json> {
  return jsonOf(await server.fetch(request(path, body)))
}

async function a2a(server: TriportServer, method: string, message: object): Promise<Json> {
  const body = { jsonrpc: '2.0', id: 1, method, params: { message: { messageId: 'm', ...message } } }
  return (await jsonOf(await server.fetch(request('/a2a', body))))['result']
}

const said1 = { role: 'ROLE_USER', parts: [{ text: 'hi' }] }
const said03 = { kind: 'message', role: 'user', parts: [{ kind: 'text', text: 'hi' }] }
const skill = { role: 'ROLE_USER', parts: [{ data: { skill: 'sum', arguments: { a: 3 } } }] }
const hi = { text: 'You said hi' }
const six = { content: [{ type: 'text', text: '{"twice":6}' }], structuredContent: { twice: 6 } }

type Act = (server: TriportServer) => Promise<unknown>
type Row = readonly [what: string, act: Act, noted: readonly unknown[]]

const rows: readonly Row[] = [
  ['a query', (server) => post(server, '/', { query: 'hi' }), ['http', 'agent', 'Plain', 'hi', hi]],
  ['an agent by its path', (server) => post(server, '/agents/poet', { query: 'hi' }),
    ['http', 'agent', 'Poet', 'hi', { text: 'hi, again' }]],
  ['a chat', (server) => post(server, '/v1/chat/completions', {
    model: 'plain', messages: [{ role: 'user', content: 'hi' }],
  }), ['http', 'agent', 'Plain', 'hi', hi]],
  ['a tool', (server) => post(server, '/tools/sum', { a: 3 }), ['http', 'tool', 'sum', { a: 3 }, six]],
  ['a resource', async (server) => (await server.fetch(request('/resources/read?uri=shop://hours'))).text(),
    ['http', 'resource', 'hours', { uri: 'shop://hours' }, [{ uri: 'shop://hours', text: 'Nine to five' }]]],
  ['a prompt', (server) => post(server, '/prompts/praise', { what: 'it' }),
    ['http', 'prompt', 'praise', { what: 'it' },
      { messages: [{ role: 'user', content: { type: 'text', text: 'Praise it' } }] }]],
  ['a tool of MCP', (server) => call(server, 'sum', { a: 3 }), ['mcp', 'tool', 'sum', { a: 3 }, six]],
  ['an agent as a tool', (server) => call(server, 'execute_plain_task', { prompt: 'hi' }),
    ['mcp', 'agent', 'Plain', 'hi', hi]],
  ['an agent that is asked', (server) => call(server, 'ask_plain', { message: 'hi' }),
    ['mcp', 'agent', 'Plain', 'hi', hi]],
  ['a resource of MCP', (server) => ask(server, 'resources/read', { uri: 'shop://pears' }),
    ['mcp', 'resource-template', 'item', { uri: 'shop://pears', variables: { item: 'pears' } },
      [{ uri: 'shop://pears', text: 'One pears' }]]],
  ['a prompt of MCP', (server) => ask(server, 'prompts/get', { name: 'praise', arguments: { what: 'it' } }),
    ['mcp', 'prompt', 'praise', { what: 'it' },
      { messages: [{ role: 'user', content: { type: 'text', text: 'Praise it' } }] }]],
  ['a completion', (server) => ask(server, 'completion/complete', {
    ref: { type: 'ref/prompt', name: 'praise' }, argument: { name: 'what', value: 'a' },
  }), ['mcp', 'completion', 'praise', { argument: 'what', value: 'a', arguments: {} },
    { values: ['ay'], total: 1, hasMore: false }]],
  ['a completion of a template', (server) => ask(server, 'completion/complete', {
    ref: { type: 'ref/resource', uri: 'shop://{item}' }, argument: { name: 'item', value: 'a' },
    context: { arguments: { b: 'c' } },
  }), ['mcp', 'completion', 'item', { argument: 'item', value: 'a', arguments: { b: 'c' } },
    { values: ['ax'], total: 1, hasMore: false }]],
  ['a message of A2A 1.0', (server) => a2a(server, 'SendMessage', said1),
    ['a2a', 'agent', 'Plain', 'hi', hi]],
  ['a message of A2A 0.3', (server) => a2a(server, 'message/send', said03),
    ['a2a', 'agent', 'Plain', 'hi', hi]],
  ['a skill', (server) => a2a(server, 'SendMessage', skill), ['a2a', 'tool', 'sum', { a: 3 }, six]],
]

/** Without what is another each time. */
function lasting(reply: unknown): unknown {
  const changing = /^(?:session_id|request_id|id|created|messageId|contextId|taskId|artifactId|timestamp)$/
  return JSON.parse(JSON.stringify(reply, (name, value: unknown) => changing.test(name) ? undefined : value))
}

test('each call is given to it once, with what is called, and the reply stays the same', async (t) => {
  for (const [what, act, expected] of rows) {
    const { around, noted } = noting()
    const reply = await act(serve(t, { ...offer, around }))
    assert.deepEqual(JSON.parse(JSON.stringify(noted)), [expected], what)
    assert.deepEqual(lasting(reply), lasting(await act(serve(t, offer))), what)
  }
})

test('what it has kept as JSON it may return without a call', async (t) => {
  for (const [what, act] of rows) {
    const kept = new Map<string, string>()
    let calls = 0
    const server = serve(t, {
      ...offer,
      async around({ kind, name, input }, next) {
        const key = JSON.stringify([kind, name, input])
        const known = kept.get(key)
        if (known !== undefined) return JSON.parse(known)
        calls++
        const result = await next()
        kept.set(key, JSON.stringify(result))
        return result
      },
    })
    const first = await act(server)
    const second = await act(server)
    assert.equal(calls, 1, what)
    assert.deepEqual(lasting(second), lasting(first), what)
  }
})

test('what it returns instead is taken as if the author\'s code had returned it', async (t) => {
  const server = serve(t, {
    ...offer,
    async around({ kind }, next) {
      const result = await next()
      if (kind === 'agent') return `${String(Reflect.get(Object(result), 'text'))}!`
      return kind === 'tool' ? { twice: 7 } : 'Other'
    },
  })
  assert.equal((await post(server, '/', { query: 'hi' }))['response'], 'You said hi!')
  assert.deepEqual((await post(server, '/tools/sum', { a: 3 }))['result'], { twice: 7 })
  assert.equal(said(await call(server, 'execute_plain_task', { prompt: 'hi' })), 'You said hi!')
  assert.equal(await (await server.fetch(request('/resources/read?uri=shop://hours'))).text(), 'Other')
  assert.deepEqual((await post(server, '/prompts/praise', { what: 'a' }))['messages'], [
    { role: 'user', content: { type: 'text', text: 'Other' } },
  ])
})

test('what it throws is the fault of the call, before or after it', async (t) => {
  for (const isLate of [false, true]) {
    const server = serve(t, {
      ...offer,
      async around(_called, next) {
        if (isLate) await next()
        throw new Fault('conflict', 'Another was quicker')
      },
    })
    for (const [path, body] of [['/', { query: 'hi' }], ['/tools/sum', { a: 3 }]] as const) {
      const response = await server.fetch(request(path, body))
      assert.equal(response.status, 409)
      assert.equal((await jsonOf(response))['detail'], 'Another was quicker')
    }
    const result = await call(server, 'sum', { a: 3 })
    assert.deepEqual([result.isError, said(result)], [true, 'Another was quicker'])
  }
})

test('what the code throws goes through it, and may be mended', async (t) => {
  const seen: unknown[] = []
  const failing = { name: 'Failing', run: () => { throw new Fault('failed', 'No ink') } }
  const server = serve(t, {
    agents: [failing],
    async around({ input }, next) {
      try {
        return await next()
      } catch (error) {
        seen.push(error)
        if (input === 'mend') return 'Mended'
        throw error
      }
    },
  })
  assert.equal((await post(server, '/', { query: 'mend' }))['response'], 'Mended')
  assert.equal((await post(server, '/', { query: 'a' }))['detail'], 'No ink')
  assert.deepEqual(seen.map((error) => (error as Fault).kind), ['failed', 'failed'])
})

test('what it forgets is logged with what to write, and shown to nobody', async (t) => {
  const logged: unknown[] = []
  const log = (_level: string, message: string, fields: Json = {}): void => {
    logged.push([message, fields.tool, fields.cause?.message])
  }
  const tried: Around[] = [
    async (_called, next) => { await next() },
    async (_called, next) => [await next(), await next()],
  ]
  for (const around of tried) {
    const response = await serve(t, { ...offer, around, log }).fetch(request('/tools/sum', { a: 3 }))
    assert.equal(response.status, 500)
    assert.doesNotMatch(await response.text(), /around|next/)
  }
  const failed = logged.filter((line) => [line].flat()[0] === 'A handler failed')
  assert.deepEqual(failed, [
    ['A handler failed', 'sum', `around returned undefined for the tool 'sum'; write return next()`],
    ['A handler failed', 'sum', 'around called next() a second time; call it once, and keep its result'],
  ])
})

test('it is not called for what is refused, nor for what the server answers itself', async (t) => {
  const { around, noted } = noting()
  const guarded = { ...sum, name: 'guarded', scopes: ['a'] }
  const server = serve(t, { ...offer, tools: [sum, guarded], around, insecure: true })
  await post(server, '/tools/sum', { a: 'x' })
  await post(server, '/tools/guarded', { a: 3 })
  await post(server, '/prompts/praise', {})
  await ask(server, 'tools/list', {})
  const tools = serve(t, { tools: [sum], protocol: 'all', around })
  await a2a(tools, 'SendMessage', { role: 'ROLE_USER', parts: [{ text: 'hi' }] })
  const group = serve(t, { groups: [{ name: 'All', agents: [plain] }], protocol: 'mcp', around })
  await call(group, 'list_agents', {})
  assert.deepEqual(noted, [])
})

test('it lasts until the last piece was read, however slowly', async (t) => {
  const order: string[] = []
  const server = serve(t, {
    agents: [{
      name: 'Slow',
      async *run() {
        for (const piece of ['a', 'b']) {
          order.push(`makes ${piece}`)
          yield piece
        }
        await sleep(2)
        order.push('ends')
      },
    }],
    async around(_called, next) {
      order.push('begins')
      const result = await next()
      order.push(`has ${JSON.stringify(result)}`)
      return result
    },
  })
  const { pieces } = await testClient(server).stream('hi')
  assert.deepEqual(pieces, ['a', 'b'])
  assert.deepEqual(order, ['begins', 'makes a', 'makes b', 'ends', 'has {"text":"ab"}'])
})

test('what is kept is streamed as one piece, and a changed end leaves the pieces as they were', async (t) => {
  const deltas = async (server: TriportServer): Promise<readonly string[]> => {
    const { pieces, reply } = await testClient(server).stream('hi', { agent: 'poet' })
    return [...pieces.map((piece) => `delta ${piece}`), `done ${reply.response}`]
  }
  const cached = serve(t, { ...offer, around: () => ({ text: 'kept' }) })
  assert.deepEqual(await deltas(cached), ['delta kept', 'done kept'])
  const changed = serve(t, { ...offer, around: async (_called, next) => (await next(), 'changed') })
  assert.deepEqual(await deltas(changed), ['delta hi, ', 'delta again', 'done changed'])
  const streamed = serve(t, { ...offer, around: () => (async function* () { yield 'x'; yield 'y' })() })
  assert.deepEqual(await deltas(streamed), ['delta x', 'delta y', 'done xy'])
})

test('a context holds in the code, in each piece of it, and in what it calls', async (t) => {
  const context = new AsyncLocalStorage<string>()
  const around: Around = ({ name }, next) => context.run(`${context.getStore() ?? ''}>${name}`, next)
  const seen: unknown[] = []
  const server = serve(t, {
    around,
    protocol: 'all',
    agents: [{
      name: 'Agent',
      async *run() {
        for (let n = 0; n < 2; n++) {
          await sleep(1)
          seen.push(context.getStore())
          yield 'a'
        }
      },
    }],
    tools: [{ name: 'tool', async *run() { yield 'a'; await sleep(1); seen.push(context.getStore()) } }],
  })
  await (await server.fetch(request('/', { query: 'hi', stream: true }))).text()
  await post(server, '/tools/tool', {})
  await call(server, 'tool', {})
  assert.deepEqual(seen, ['>Agent', '>Agent', '>tool', '>tool'])
})

test('it runs for a group, and within for each of its agents', async (t) => {
  const order: unknown[] = []
  const around: Around = async ({ kind, name, input, call: own }, next) => {
    order.push(['begins', kind, name, input])
    own.event({ type: 'tool-call', id: name, name: 'a' })
    const result = await next()
    order.push(['ends', name, Reflect.get(Object(result), 'text')])
    return result
  }
  const inner = { name: 'Inner', agents: [plain] }
  const upper = { name: 'Upper', run: (prompt: string) => prompt.toUpperCase() }
  const server = serve(t, { groups: [{ name: 'All', agents: [upper, inner] }], around })
  const reply = await post(server, '/', { query: 'hi' })
  assert.deepEqual(order, [
    ['begins', 'group', 'All', 'hi'], ['begins', 'agent', 'Upper', 'hi'], ['ends', 'Upper', 'HI'],
    ['begins', 'group', 'Inner', 'HI'], ['begins', 'agent', 'Plain', 'HI'], ['ends', 'Plain', 'You said HI'],
    ['ends', 'Inner', 'You said HI'], ['ends', 'All', 'You said HI'],
  ])
  assert.deepEqual(reply['results'], [
    { agent: 'Upper', response: 'HI' }, { agent: 'Inner', response: 'You said HI' },
  ])
  const { events } = await testClient(server).stream('hi')
  const called = events.filter(({ event }) => event === 'tool').map(({ data }) => data as Json)
  assert.deepEqual(called.map(({ id, agent }) => [id, agent]), [
    ['All', undefined], ['Upper', 'Upper'], ['Inner', undefined], ['Plain', 'Plain'],
  ])
})

const events = (text: string): string => [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)]
  .map(([, event, data]) => `${event} ${JSON.parse(data!).agent ?? JSON.parse(data!).text}`).join(', ')
const thread = {
  threadId: 't-1', runId: 'r-1', state: {}, messages: [{ id: '1', role: 'user', content: 'hi' }], tools: [],
  context: [], forwardedProps: {},
}
const runEvents = (text: string): string => [...text.matchAll(/^data: (.*)$/gm)]
  .map(([, data]) => JSON.parse(data!) as Json)
  .map(({ type, stepName, delta }) => stepName === undefined ? String(delta ?? '') : `${type} ${stepName}`)
  .filter((word) => word !== '').join(', ')

test('what a group says in the place of its agents is its own step, in pieces or whole', async (t) => {
  const silent = { name: 'Silent', run: () => '' }
  const pieces = async function* (): AsyncGenerator<string> { yield 'x'; yield 'y' }
  const [began, ended] = ['STEP_STARTED', 'STEP_FINISHED']
  type Told = readonly [
    what: string, output: () => unknown, asks: boolean, agent: typeof plain, isWhole: boolean, heard: string,
    run: string,
  ]
  const told: readonly Told[] = [
    ['pieces of a group within', pieces, false, plain, false,
      'step Upper, delta HI, step Inner, delta x, delta y, step Last, delta XY, done All',
      `${began} Upper, HI, ${ended} Upper, ${began} Inner, x, y, ${ended} Inner, ${began} Last, XY, `
        + `${ended} Last`],
    ['its whole answer', () => 'xy', false, plain, false,
      'step Upper, delta HI, step Inner, delta xy, step Last, delta XY, done All',
      `${began} Upper, HI, ${ended} Upper, ${began} Inner, xy, ${ended} Inner, ${began} Last, XY, `
        + `${ended} Last`],
    ['pieces behind those of its agents', pieces, true, plain, false,
      'step Upper, delta HI, step Plain, delta You said HI, step Inner, delta x, delta y, step Last, '
        + 'delta XY, done All',
      `${began} Upper, HI, ${ended} Upper, ${began} Plain, You said HI, ${ended} Plain, `
        + `${began} Inner, x, y, ${ended} Inner, ${began} Last, XY, ${ended} Last`],
    ['an answer behind an agent that was silent', () => 'xy', true, silent, false,
      'step Upper, delta HI, step Silent, step Inner, delta xy, step Last, delta XY, done All',
      `${began} Upper, HI, ${ended} Upper, ${began} Silent, ${ended} Silent, ${began} Inner, xy, `
        + `${ended} Inner, ${began} Last, XY, ${ended} Last`],
    ['an answer behind pieces, which stay as they were', () => 'xy', true, plain, false,
      'step Upper, delta HI, step Plain, delta You said HI, step Last, delta XY, done All',
      `${began} Upper, HI, ${ended} Upper, ${began} Plain, You said HI, ${ended} Plain, ${began} Last, XY, `
        + `${ended} Last`],
    ['pieces of the whole group, behind those of its agents', pieces, true, plain, true,
      'step Upper, delta HI, step Plain, delta You said HI, step Last, delta YOU SAID HI, step All, '
        + 'delta x, delta y, done All',
      `${began} Upper, HI, ${ended} Upper, ${began} Plain, You said HI, ${ended} Plain, `
        + `${began} Last, YOU SAID HI, ${ended} Last, x, y`],
    ['pieces of the whole group alone', pieces, false, plain, true, 'delta x, delta y, done All', 'x, y'],
    ['the answer of the whole group alone', () => 'xy', false, plain, true, 'delta xy, done All', 'xy'],
  ]
  for (const [what, output, asks, within, isWhole, heard, run] of told) {
    const upper = (name: string): { name: string; run: (prompt: string) => string } => (
      { name, run: (prompt) => prompt.toUpperCase() }
    )
    const server = serve(t, {
      protocol: 'all',
      groups: [{ name: 'All', agents: [upper('Upper'), { name: 'Inner', agents: [within] }, upper('Last')] }],
      async around({ name }, next) {
        if (name !== (isWhole ? 'All' : 'Inner')) return await next()
        if (asks) await next()
        return output()
      },
    })
    const query = await server.fetch(request('/', { query: 'hi', stream: true }))
    assert.equal(events(await query.text()), heard, what)
    const agui = await server.fetch(request('/agui', thread))
    assert.equal(runEvents(await agui.text()), run, what)
  }
})

test('the time limit holds for it too, and a call that is cancelled ends within it', async (t) => {
  const ends: string[] = []
  let begun = 0
  const around: Around = async (_called, next) => {
    begun++
    try {
      return await next()
    } catch (error) {
      ends.push((error as Error).name)
      throw error
    }
  }
  const waiting = (_prompt: string, own: Call): Promise<string> => (
    new Promise((_resolve, reject) => {
      own.signal.addEventListener('abort', () => reject(own.signal.reason as Error))
    })
  )
  const server = serve(t, { agents: [{ name: 'Waiting', run: waiting }], around, agentTimeoutMs: 20 })
  assert.equal((await server.fetch(request('/', { query: 'hi' }))).status, 504)
  await eventually(() => ends.length === 1)
  const leaving = new AbortController()
  const left = server.fetch(request('/', { query: 'hi' }, {}, 'POST', leaving.signal)).catch(() => {})
  await eventually(() => begun === 2)
  leaving.abort()
  await left
  await eventually(() => ends.length === 2)
  assert.deepEqual(ends, ['AbortError', 'AbortError'])
  const stuck = serve(t, { ...offer, agentTimeoutMs: 20, around: () => new Promise(() => {}) })
  assert.equal((await stuck.fetch(request('/', { query: 'hi' }))).status, 504)
})

test('a call that it begins and does not wait for fails for itself alone', async (t) => {
  let fail: (reason: Error) => void = () => {}
  const slow = { name: 'Slow', run: () => new Promise<string>((_resolve, reject) => { fail = reject }) }
  const server = serve(t, { agents: [slow], around: (_called, next) => { void next(); return 'At once' } })
  assert.equal((await post(server, '/', { query: 'hi' }))['response'], 'At once')
  fail(new Error('Late'))
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal((await post(server, '/', { query: 'hi' }))['response'], 'At once')
})

test('a conversation remembers what it returned', async (t) => {
  const server = serve(t, {
    agents: [{ name: 'A', run: (_prompt: string, { history }: Call) => JSON.stringify(history.at(-1)) }],
    around: async ({ call: { history } }, next) => history.length === 0 ? 'kept' : await next(),
  })
  const first = await post(server, '/', { query: 'one' })
  const second = await post(server, '/', { query: 'two', session_id: first['session_id'] })
  assert.equal(second['response'], '{"role":"assistant","content":"kept"}')
})

test('sessions and streams of MCP have it too', async (t) => {
  const { around, noted } = noting()
  const server = serve(t, { ...offer, around })
  for (const revision of ['2024-11-05', '2025-11-25']) {
    await (await begin(server, revision)).ask('tools/call', { name: 'sum', arguments: { a: 1 } })
  }
  const params = { name: 'execute_poet_task', arguments: { prompt: 'hi' } }
  const messages = await messagesOf(
    await modern(server, 'tools/call', params, { meta: { progressToken: 'p' } }),
  )
  assert.deepEqual(messages.slice(0, -1).map((one) => one.params.message as unknown), ['hi, ', 'again'])
  assert.deepEqual(noted.map((one) => [one].flat().slice(1, 3)), [
    ['tool', 'sum'], ['tool', 'sum'], ['agent', 'Poet'],
  ])
})
