/** A key, a token or a scope that is taken away ends the streams that it opened, in every protocol. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { eventually, request, serve } from '../fixtures/client.ts'
import { ann, House, key, leap, MINUTE, Reading, SAID, SCOPE, URI } from '../fixtures/revoked.ts'
import { begin, withMeta } from '../parts/mcp/client.ts'
import type { TestContext } from 'node:test'
import type { TriportServer } from '../../lib/index.ts'
import type { Json } from '../fixtures/events.ts'

type Whole = House<TriportServer>

const houseOf = (t: TestContext): Whole => (
  new House(t, (options) => serve(t, { protocol: 'all', ...options }))
)

const message = (extra: object = {}): object => (
  { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }], ...extra }
)
const rpc = (method: string, params: object): object => ({ jsonrpc: '2.0', id: 7, method, params })
const post = (path: string, body: object, headers: Record<string, string> = {}) => (
  async ({ server }: Whole): Promise<Response> => server.fetch(request(path, body, { ...key, ...headers }))
)
const modern = (method: string, params: object, name?: string): ReturnType<typeof post> => (
  post('/mcp', rpc(method, withMeta(params, { meta: { progressToken: 1 } })), {
    'mcp-protocol-version': '2026-07-28', 'mcp-method': method, accept: 'text/event-stream',
    ...name !== undefined && { 'mcp-name': name },
  })
)

interface Face {
  /** Opens a stream that says `begun`. */
  open(house: Whole): Promise<Response>
  readonly begins?: RegExp
  /** How it ends. */
  readonly ends?: RegExp
  /** How many are open. */
  readonly streams?: number
  /** The run goes on when its client leaves. */
  readonly goesOn?: boolean
  /** Makes the next event. */
  say?(house: Whole): void
}

const v1 = { 'a2a-version': '1.0' }
const faces: Readonly<Record<string, Face>> = {
  'plain HTTP': {
    open: post('/', { query: 'hi', stream: true }), ends: /event: error\ndata: .*"status":401/,
  },
  'a tool over plain HTTP': {
    open: post('/tools/work', {}, { accept: 'text/event-stream' }),
    ends: /event: error\ndata: .*"status":401/,
  },
  'chat completions': {
    open: post('/v1/chat/completions', {
      model: 'agent', stream: true, messages: [{ role: 'user', content: 'hi' }],
    }),
    ends: /data: {"error":{"message":"The key or token is no longer good".*\n\n$/,
  },
  'Responses': {
    open: post('/v1/responses', { model: 'agent', input: 'hi', stream: true }),
    ends: /event: error\n.*"sequence_number":\d+.*no longer good.*\n\ndata: \[DONE\]\n\n$/,
  },
  'AG-UI': {
    open: post('/agui', { threadId: 't', runId: 'r', messages: [{ id: '1', role: 'user', content: 'hi' }] }),
    ends: /data: {"type":"RUN_ERROR","message":"The key or token is no longer good".*\n\n$/,
  },
  'the AI SDK': {
    open: post('/ui-stream', {
      trigger: 'submit-message', messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
    }),
    ends: /data: {"type":"error","errorText":"The key.*\n\ndata: \[DONE\]\n\n$/,
  },
  'A2A 1.0': {
    open: post('/a2a', rpc('SendStreamingMessage', { message: message() }), v1), goesOn: true,
    ends: /event: error\ndata: .*"id":7,.*no longer good.*\n\n$/,
  },
  'A2A 1.0 over HTTP+JSON': {
    open: post('/message:stream', { message: message() }, v1), goesOn: true,
    ends: /event: error\ndata: .*"code":401.*no longer good.*\n\n$/,
  },
  'a task that is subscribed to': {
    open: async (house) => {
      const first = new Reading(await faces['A2A 1.0']!.open(house))
      await first.has(/begun/)
      const { id } = (JSON.parse(/data: (.*)/.exec(first.text)![1]!) as Json).result.task
      return post('/a2a', rpc('SubscribeToTask', { id }), v1)(house)
    },
    streams: 2, goesOn: true, ends: /event: error\ndata: .*"id":7,.*no longer good.*\n\n$/,
  },
  'a chat that is read again': {
    open: async (house) => {
      const first = await post('/ui-stream', {
        id: 'chat-0001', messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
      })(house)
      await new Reading(first).has(/begun/)
      return house.server.fetch(request('/ui-stream/chat-0001/stream', undefined, key))
    },
    streams: 2, goesOn: true, ends: /data: {"type":"error","errorText":"The key.*\n\ndata: \[DONE\]\n\n$/,
  },
  'MCP 2026-07-28': {
    open: modern('tools/call', { name: 'work', arguments: {} }, 'work'),
    ends: /data: .*"id":7,"error":{.*no longer good.*\n\n$/,
  },
  'subscriptions/listen': {
    open: modern('subscriptions/listen', { notifications: { resourceSubscriptions: [URI] } }),
    begins: /acknowledged/, ends: /"id":7,"error":{.*no longer good.*\n\n$/, goesOn: true,
    say: ({ server }) => server.catalog.updated(URI),
  },
  'a request of a session': {
    open: async ({ server }) => {
      const session = await begin(server, '2025-06-18', {}, key)
      const params = { name: 'work', arguments: {}, _meta: { progressToken: 1 } }
      return session.send('tools/call', params)
    },
    goesOn: true,
  },
  'the stream of a session': {
    open: async ({ server }) => {
      const session = await begin(server, '2025-11-25', {}, key)
      await session.ask('resources/subscribe', { uri: URI })
      return session.get()
    },
    begins: /id: /, goesOn: true, say: ({ server }) => server.catalog.updated(URI),
  },
  'HTTP+SSE': {
    open: async ({ server }) => {
      const response = await server.fetch(request('/sse', undefined, { ...key, accept: 'text/event-stream' }))
      const [one, two] = response.body!.tee()
      const { value } = await one.getReader().read()
      const [, path = ''] = /data: (.*)\n/.exec(new TextDecoder().decode(value)) ?? []
      const say = (...all: object[]): Promise<unknown> => (
        Promise.all(all.map((body) => server.fetch(request(path, body, key))))
      )
      await say(rpc('initialize', {
        protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'c', version: '1' },
      }))
      await say({ ...rpc('tools/call', { name: 'work', arguments: {}, _meta: { progressToken: 1 } }), id: 2 })
      return new Response(two, response)
    },
    begins: /notifications\/progress/,
  },
}

for (const [name, face] of Object.entries(faces)) {
  const { begins = /begun/, ends = /^/, goesOn, say = (house: Whole) => house.go() } = face

  test(`${name}: a stream whose key was taken away ends before the next event`, async (t) => {
    const pass = leap(t)
    const house = houseOf(t)
    const reading = new Reading(await face.open(house))
    await reading.has(begins)
    house.grant = () => undefined
    pass(MINUTE)
    say(house)
    await reading.over()
    assert.doesNotMatch(reading.text, SAID)
    assert.match(reading.text, ends)
    assert.doesNotMatch(reading.text, /event: done|RUN_FINISHED|"finish"|response\.completed|"result":{"co/)
    if (goesOn !== true) await eventually(() => house.aborted === 1, 'the run has ended')
  })

  test(`${name}: a stream ends when its reader has lost the scope that it needs`, async (t) => {
    const pass = leap(t)
    const house = houseOf(t)
    house.grant = () => ann(SCOPE, 'other')
    const reading = new Reading(await face.open(house))
    await reading.has(begins)
    house.grant = () => ann('other')
    pass(MINUTE)
    say(house)
    await reading.over()
    assert.doesNotMatch(reading.text, SAID)
  })

  test(`${name}: a stream goes on while its reader has what it needs, asked about once`, async (t) => {
    const pass = leap(t)
    const house = houseOf(t)
    house.grant = () => ann(SCOPE, 'other')
    const reading = new Reading(await face.open(house))
    await reading.has(begins)
    const { asked } = house
    house.grant = async () => ann(SCOPE)
    pass(MINUTE)
    say(house)
    await reading.has(SAID)
    // Once for each stream that is open.
    assert.equal(house.asked, asked + (face.streams ?? 1))
  })
}
