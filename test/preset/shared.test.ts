import assert from 'node:assert/strict'
import test from 'node:test'
import { eventReader } from '../../lib/floors/outbound/event-reader.ts'
import { a2aLimits } from '../../lib/parts/a2a/model/limits.ts'
import { a2aRoutes } from '../../lib/parts/a2a/transport/routes.ts'
import { anonymous } from '../../lib/kernel/define/principal.ts'
import { memoryStore } from '../../lib/index.ts'
import { queryEndpoints } from '../../lib/parts/http/routes.ts'
import { createService } from '../../lib/kernel/server/service.ts'
import { kernelOptionsOf } from '../../lib/preset/create-server.ts'
import { jsonOf, request, serve } from '../fixtures/client.ts'
import { listed } from '../fixtures/fleet.ts'
import type { ServerEvent } from '../../lib/floors/outbound/event-reader.ts'
import type { LogLevel } from '../../lib/kernel/define/log.ts'
import type { Call, MemoryStore, ServerOptions, Store, TriportServer } from '../../lib/index.ts'
import type { Endpoint, Exchange } from '../../lib/kernel/http/message/exchange.ts'

/** A connection that answers later to a memory that others share. */
function connect(memory: MemoryStore): Store {
  return {
    ...memory,
    read: async (place) => memory.read(place),
    write: async (...kept) => memory.write(...kept),
    remove: async (...place) => memory.remove(...place),
    list: async (...wanted) => memory.list(...wanted),
  }
}

/** An agent that repeats all it knows, at once or later. */
const memories = [
  (prompt: string, call: Call): string => [...call.history.map(({ content }) => content), prompt].join(' > '),
  async (prompt: string, call: Call): Promise<string> => (
    [...call.history, { content: prompt }].at(0)!.content
  ),
]

function agentOn(
  store: Store, run: (typeof memories)[number], options: Partial<ServerOptions> = {},
): ServerOptions {
  return { agents: [{ name: 'Memory', description: 'Remembers.', run }], protocol: 'all', store, ...options }
}

const ID = 'conversation-1'
const mcpHeaders = { 'accept': 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' }

type Way = (server: TriportServer, prompt: string, id?: string) => Promise<Response>

const ways: Readonly<Record<'whole' | 'streamed' | 'a2a' | 'mcp', Way>> = {
  whole: (server, query, id) => server.fetch(request('/', { query, session_id: id })),
  streamed: (server, query, id) => server.fetch(request('/', { query, session_id: id, stream: true })),
  a2a: (server, text, contextId) => server.fetch(request('/a2a', {
    jsonrpc: '2.0', id: 1, method: 'message/send',
    params: { message: { role: 'user', parts: [{ type: 'text', text }], contextId } },
  })),
  mcp: (server, message, id) => server.fetch(request('/mcp', {
    jsonrpc: '2.0', id: 1, method: 'tools/call',
    params: { name: 'ask_memory', arguments: { message, ...id !== undefined && { session_id: id } } },
  }, mcpHeaders)),
}

/** What was answered, in whichever way. */
async function answerOf(response: Response): Promise<string> {
  const text = await response.text()
  const events: ServerEvent[] = []
  eventReader((event) => events.push(event))(text)
  const body = JSON.parse(text.startsWith('{') ? text : events.at(-1)!.data)
  return body.response ?? body.result?.message?.parts[0].text ?? body.result?.content[0].text ?? text
}

test('a conversation goes on in every process and through every door', async (t) => {
  for (const [run, expected] of [[memories[0]!, 'one > one > two'], [memories[1]!, 'one']] as const) {
    for (const [name, first] of Object.entries(ways)) {
      for (const second of Object.values(ways)) {
        const memory = memoryStore({ isShared: true })
        const [one, other] = [1, 2].map(() => serve(t, agentOn(connect(memory), run)))
        assert.equal(await answerOf(await first(one!, 'one', ID)), 'one', name)
        assert.equal(await answerOf(await second(other!, 'two', ID)), expected, name)
        assert.equal(listed(memory, 'conversations', 'anonymous').length, 1)
      }
    }
  }
})

test('a conversation that the server began is there for others before the client knows its id', async (t) => {
  const memory = memoryStore({ isShared: true })
  const [one, other] = [1, 2].map(() => serve(t, agentOn(connect(memory), memories[0]!)))
  const { session_id: id } = await jsonOf(await ways.whole(one!, 'one'))
  assert.equal(await answerOf(await ways.whole(other!, 'two', String(id))), 'one > one > two')
})

test('while a conversation cannot be read, only what names one is refused, and nothing runs', async (t) => {
  const memory = memoryStore({ isShared: true })
  let runs = 0
  const server = serve(t, agentOn({ ...memory, read: () => Promise.reject(new Error('away')) }, (prompt) => {
    runs++
    return prompt
  }))
  for (const [name, way] of Object.entries(ways)) {
    const refused = await way(server, 'one', ID)
    const body = await refused.text()
    assert.equal(refused.status, 503, name)
    assert.match(body, /The conversation cannot be read now; try again later, or begin another conversation/)
    assert.ok(refused.headers.get('retry-after'), name)
  }
  assert.equal(runs, 0)
  for (const way of Object.values(ways)) assert.equal(await answerOf(await way(server, 'two')), 'two')
})

test('while a conversation cannot be kept, answers are given, with one warning', async (t) => {
  const memory = memoryStore({ isShared: true })
  const warnings: (readonly [LogLevel, string])[] = []
  const store: Store = { ...memory, write: (place, ...kept) => (
    place.collection === 'deployments' ? memory.write(place, ...kept) : Promise.reject(new Error('away'))
  ) }
  const server = serve(t, agentOn(store, memories[0]!, {
    log: (level, message) => { warnings.push([level, message]) },
  }))
  for (const way of Object.values(ways)) assert.equal(await answerOf(await way(server, 'one', ID)), 'one')
  assert.deepEqual(warnings, [
    ['warning', 'A conversation could not be kept: what follows will not know of it'],
  ])
})

/** A request as a door sees it. */
function exchangeOf(body: object): Exchange {
  const exchange = {
    method: 'POST', path: '/', query: '', params: new Map(), body: JSON.stringify(body),
    baseUrl: 'http://triport.test', basePath: '', baseUrlIsTrusted: true, head: { accept: '*/*' },
    header: () => undefined, take: () => undefined,
    origin: {
      requestId: 'r', principal: anonymous, headers: new Map(), header: () => undefined,
      onDisconnect: () => {},
    },
  }
  // Its other headers are those that no client sent.
  return exchange as unknown as Exchange
}

test('with a store of its own a door answers at once, and writes nothing down but the answer', async (t) => {
  const { service, seal } = createService(kernelOptionsOf(agentOn(memoryStore(), memories[0]!)))
  const isFor = (path: string) => (endpoint: Endpoint): boolean =>
    endpoint.path === path && endpoint.methods.includes('POST')
  const ask = queryEndpoints(service, undefined).find(isFor('/'))!
  const { endpoints } = a2aRoutes(service, { takesKeys: () => false }, a2aLimits.defaults, seal)
  const send = endpoints.find(isFor('/a2a'))!
  const message = { role: 'user', parts: [{ type: 'text', text: 'hi' }], contextId: ID }
  await ask.load?.()
  await send.load?.()
  await send.handle(exchangeOf({ jsonrpc: '2.0', id: 0, method: 'message/send', params: { message } }))
  const requests = [
    [ask, exchangeOf({ query: 'hi' })], [ask, exchangeOf({ query: 'hi', session_id: ID })],
    [ask, exchangeOf({ query: 'hi', session_id: ID })],
    [send, exchangeOf({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } })],
  ] as const
  const counts = requests.map(([endpoint, exchange]) => {
    const stringify = t.mock.method(JSON, 'stringify')
    const reply = endpoint.handle(exchange)
    stringify.mock.restore()
    assert.ok(!(reply instanceof Promise) && reply.status === 200)
    return stringify.mock.callCount()
  })
  // A plain reply is put together around its text.
  assert.deepEqual(counts, [0, 0, 0, 0])
})

test('with a store of its own a server never asks it for a conversation', async (t) => {
  const memory = memoryStore()
  const fail = (): never => assert.fail('the store was asked')
  const store = { ...memory, read: fail, write: fail, publish: fail, follow: fail }
  const server = serve(t, agentOn(store, memories[0]!))
  for (const way of Object.values(ways)) {
    const id = `own-${crypto.randomUUID()}`
    assert.equal(await answerOf(await way(server, 'one', id)), 'one')
    assert.equal(await answerOf(await way(server, 'two', id)), 'one > one > two')
  }
})

test('a client that leaves while its conversation is read gets no run', async (t) => {
  const memory = memoryStore({ isShared: true })
  for (const way of [ways.whole, ways.streamed, ways.a2a]) {
    let go: (() => void) | undefined
    let runs = 0
    const server = serve(t, agentOn({
      ...memory,
      read: () => new Promise((resolve) => { go = () => resolve(undefined) }),
    }, () => `${++runs}`))
    const leaving = new AbortController()
    const fetch = server.fetch.bind(server)
    const { signal } = leaving
    const impatient = { ...server, fetch: (one: Request) => fetch(new Request(one, { signal })) }
    const answer = way(impatient, 'one', ID).catch(() => undefined)
    while (go === undefined) await new Promise((resolve) => setImmediate(resolve))
    leaving.abort()
    await new Promise((resolve) => setImmediate(resolve))
    go()
    await answer
    assert.equal(runs, 0)
  }
})
