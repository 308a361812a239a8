import assert from 'node:assert/strict'
import test from 'node:test'
import { eventReader } from '../../../lib/floors/outbound/event-reader.ts'
import { Fault } from '../../../lib/index.ts'
import { dial, eventually, jsonOf, listen, request, serve } from '../../fixtures/client.ts'
import type { Call, ServerOptions, TriportServer } from '../../../lib/index.ts'

type Event = readonly [event: string, data: unknown]

/** One tool, `work`, that does what a function says. */
function work(
  run: (args: unknown, call: Call) => unknown, more: Partial<ServerOptions> = {},
): ServerOptions {
  return { tools: [{ name: 'work', inputSchema: { type: 'object' }, run }], protocol: 'http', ...more }
}

function use(server: TriportServer, headers: Record<string, string> = {}): Promise<Response> {
  return server.fetch(request('/tools/work', {}, { 'x-request-id': 'r-1', ...headers }))
}

async function eventsOf(server: TriportServer): Promise<readonly Event[]> {
  const response = await use(server, { accept: 'text/event-stream' })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  const events: Event[] = []
  let count = 0
  eventReader(({ event, data, id }) => {
    assert.equal(id, String(++count))
    events.push([event, JSON.parse(data)])
  })(await response.text())
  return events
}

const png = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const
const link = { type: 'resource_link', uri: 'shop://hours', name: 'hours' } as const
const said = { type: 'text', text: 'one' } as const

const results: readonly (readonly [
  what: string, run: (args: unknown, call: Call) => unknown, members: Record<string, unknown>,
])[] = [
  ['text', () => 'one', { result: 'one' }],
  ['nothing', () => undefined, { result: '' }],
  ['a number', () => 3, { result: 3 }],
  ['null', () => null, { result: null }],
  ['an object', () => ({ n: 1 }), { result: { n: 1 } }],
  ['what comes later', async () => ({ n: 1 }), { result: { n: 1 } }],
  ['texts', () => [said, said], { result: 'oneone' }],
  ['a picture', () => png, { result: '', content: [png] }],
  ['text and a link', () => [said, link], { result: 'one', content: [said, link] }],
  ['a value and another text', () => ({ content: ['one'], structuredContent: 1 }),
    { result: 1, content: [said] }],
  ['a value without a text', () => ({ content: [], structuredContent: 1 }), { result: 1 }],
  ['a value and an artifact', (_args, call) => { call.artifact({ name: 'a', parts: [png] }); return 1 },
    { result: 1, content: [{ type: 'text', text: '1' }, png] }],
  ['pieces', function* () { yield 'a'; yield 'b' }, { result: 'ab' }],
]

test('a result is the value, else the text, and content where there is more, in both forms', async (t) => {
  for (const [what, run, members] of results) {
    const server = serve(t, work(run))
    const reply = { tool: 'work', ...members, request_id: 'r-1' }
    const response = await use(server)
    assert.equal(response.status, 200, what)
    assert.equal(response.headers.get('content-type'), 'application/json', what)
    assert.deepEqual(await jsonOf(response), reply, what)
    const last = (await eventsOf(server)).at(-1)
    assert.deepEqual(last, ['done', reply], what)
  }
})

const raise = (error: unknown) => (): never => { throw error }

const failures: readonly (readonly [
  what: string, run: (args: unknown, call: Call) => unknown, status: number, detail: string,
  more?: Record<string, unknown>,
])[] = [
  ['invalid', raise(new Fault('invalid', 'Not that.', { field: 'a' })), 422, 'Not that.', { field: 'a' }],
  ['forbidden', raise(new Fault('forbidden', 'No.')), 403, 'No.'],
  ['not-found', raise(new Fault('not-found', 'Gone.')), 404, 'Gone.'],
  ['conflict', raise(new Fault('conflict', 'Not now.')), 409, 'Not now.'],
  ['too-large', raise(new Fault('too-large', 'Too much.')), 413, 'Too much.'],
  ['busy', raise(new Fault('busy', 'Later.')), 503, 'Later.'],
  ['timeout', raise(new Fault('timeout', 'Too slow.')), 504, 'Too slow.'],
  ['failed', raise(new Fault('failed', 'No ink.')), 500, 'No ink.'],
  ['a defect', raise(new Error('secret')), 500, 'Internal error (request r-1)'],
  ['null', raise(null), 500, 'Internal error (request r-1)'],
  ['a late defect', async () => { throw new Error('secret') }, 500, 'Internal error (request r-1)'],
  ['a result that is an error', () => ({ content: ['No ink.'], isError: true }), 500, 'No ink.',
    { tool: 'work' }],
  ['an error without words', async () => ({ content: [png], isError: true }), 500, `The tool 'work' failed`,
    { tool: 'work', content: [png] }],
  ['an error with a value', () => ({ content: ['No'], structuredContent: 1, isError: true }), 500, 'No',
    { tool: 'work', result: 1 }],
  ['asking', (_args, call) => call.roots(), 501,
    `This client cannot be asked: it has not declared 'roots'. A handler finds out with call.can('roots').`,
    { ability: 'roots' }],
  ['too much', () => 'a'.repeat(2_000), 413, 'The result is larger than 1000 bytes'],
  ['too slow', () => new Promise(() => {}), 504, 'No result within 20 ms'],
]

test('a failure has the status of its kind and its sentence, and is an event of a stream', async (t) => {
  for (const [what, run, status, detail, more] of failures) {
    const server = serve(t, work(run, { toolTimeoutMs: 20, maxResultBytes: 1_000 }))
    const response = await use(server)
    assert.equal(response.status, status, what)
    assert.equal(response.headers.get('content-type'), 'application/problem+json', what)
    const problem = await jsonOf(response)
    assert.equal(problem['detail'], detail, what)
    for (const [name, value] of Object.entries(more ?? {})) assert.deepEqual(problem[name], value, what)
    const last = (await eventsOf(server)).at(-1)
    assert.deepEqual(last, ['error', problem], what)
  }
})

test('progress that rises and lines of log are events, in order', async (t) => {
  const server = serve(t, work(async (_args, call) => {
    call.progress(1, 3, 'begun')
    call.progress(1)
    call.progress(0)
    call.log('info', { n: 1 }, 'stock')
    await undefined
    call.progress(2)
    call.log('warning', undefined)
    return 'one'
  }))
  assert.deepEqual(await eventsOf(server), [
    ['progress', { progress: 1, total: 3, message: 'begun' }],
    ['log', { level: 'info', logger: 'stock', data: { n: 1 } }],
    ['progress', { progress: 2 }],
    ['log', { level: 'warning', data: null }],
    ['done', { tool: 'work', result: 'one', request_id: 'r-1' }],
  ])
})

test('the tokens that a tool counts stand beside its result, in both forms', async (t) => {
  const server = serve(t, work((_args, call) => {
    call.event({ type: 'usage', inputTokens: 10, outputTokens: 2 })
    call.event({ type: 'usage', inputTokens: 20, outputTokens: 3, cachedInputTokens: 8 })
    return 'one'
  }))
  const usage = { input_tokens: 30, output_tokens: 5, cached_input_tokens: 8 }
  const reply = { tool: 'work', result: 'one', usage, request_id: 'r-1' }
  assert.deepEqual(await jsonOf(await use(server)), reply)
  assert.deepEqual(await eventsOf(server), [['done', reply]])
})

test('a tool that the code calls is progress, between the numbers of the code', async (t) => {
  const server = serve(t, work(async (_args, call) => {
    call.progress(1, 3, 'begun')
    call.event({ type: 'tool-call', id: '1', name: 'find' })
    call.event({ type: 'tool-result', id: '1', isError: true })
    await undefined
    call.progress(2)
    return 'one'
  }))
  assert.deepEqual((await eventsOf(server)).slice(0, -1), [
    ['progress', { progress: 1, total: 3, message: 'begun' }],
    ['progress', { progress: 1.000001, message: 'Calls find…' }],
    ['progress', { progress: 1.000002, message: 'find failed' }],
    ['progress', { progress: 2 }],
  ])
})

test('lines of log that no stream carries are the server\'s own', async (t) => {
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  const lines: string[] = []
  const log = (level: string, text: string): void => { lines.push(`${level} ${text}`) }
  const server = serve(t, work((_args, call) => {
    call.progress(1)
    call.log('error', 'plain')
    call.log('error', circle)
    return 'one'
  }, { log }))
  await use(server)
  assert.equal(lines.filter((line) => line.startsWith('error')).length, 2)
  lines.length = 0
  assert.deepEqual((await eventsOf(server)).map(([event]) => event), ['progress', 'log', 'done'])
  assert.equal(lines.length, 1)
})

test('a handler sees who asks, and that nobody can be asked', async (t) => {
  const server = serve(t, work((_args, call) => ({
    protocol: call.protocol, requestId: call.requestId, sessionId: call.sessionId ?? null,
    can: (['elicit', 'elicit-url', 'sample', 'roots'] as const).filter((what) => call.can(what)),
    header: call.headers.get('x-mine'), history: call.history, message: call.message,
  })))
  const { result } = await jsonOf(await use(server, { 'x-mine': 'yes' }))
  assert.deepEqual(result, {
    protocol: 'http', requestId: 'r-1', sessionId: null, can: [], header: 'yes', history: [], message: [],
  })
})

test('the head of a stream comes at once, and who leaves ends the run', async (t) => {
  for (const accept of ['text/event-stream', 'application/json']) {
    let signal: AbortSignal | undefined
    const { port, server } = await listen(t, work((_args, call) => {
      signal = call.signal
      return new Promise(() => {})
    }))
    const wire = await dial(t, port)
    wire.send(`POST /tools/work HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
      + `Accept: ${accept}\r\nContent-Length: 2\r\n\r\n{}`)
    await eventually(() => signal !== undefined, 'the tool runs')
    if (accept === 'text/event-stream') await eventually(() => wire.text.includes('\r\n\r\n'), 'a head')
    assert.equal(signal!.aborted, false)
    wire.socket.destroy()
    await eventually(() => signal!.aborted, 'the run is over')
    assert.equal(server.status().calls.running, 1)
  }
})

test('a full server says so before a stream begins', async (t) => {
  const server = serve(t, work(() => new Promise(() => {}), { maxCalls: 1 }))
  void use(server)
  await eventually(() => server.status().calls.running === 1, 'one runs')
  for (const accept of ['text/event-stream', 'application/json']) {
    const response = await use(server, { accept })
    assert.equal(response.status, 503, accept)
    assert.ok(response.headers.has('retry-after'))
  }
})

test('a tool is not called for a stream for which there is no room, and its key stays free', async (t) => {
  const ends: (() => void)[] = []
  const run = (): Promise<string> => new Promise((resolve) => { ends.push(() => resolve('done')) })
  const server = serve(t, work(run, { maxStreams: 1 }))
  const events = { accept: 'text/event-stream' }
  const first = await use(server, events)
  assert.equal(first.status, 200)
  for (const key of [{}, { 'idempotency-key': 'k' }, { 'idempotency-key': 'k' }]) {
    const refused = await use(server, { ...events, ...key })
    assert.equal(refused.status, 503)
    assert.notEqual(refused.headers.get('retry-after'), null)
    assert.match(String((await jsonOf(refused))['detail']), /^Too many streams are open/)
  }
  assert.equal(ends.length, 1)
  ends[0]!()
  await first.text()
  const again = await use(server, { ...events, 'idempotency-key': 'k' })
  ends[1]!()
  assert.match(await again.text(), /"result":"done"/)
})
