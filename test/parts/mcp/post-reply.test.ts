import assert from 'node:assert/strict'
import test from 'node:test'
import { Timers } from '../../../lib/kernel/util/timers.ts'
import { listen } from '../../../lib/parts/mcp/methods/other-methods.ts'
import { anonymousPeer } from '../../../lib/parts/mcp/transport/choose.ts'
import { replyToBatch } from '../../../lib/parts/mcp/transport/batch.ts'
import { replyToMessage } from '../../../lib/parts/mcp/transport/post-reply.ts'
import { formsOf } from '../../../lib/parts/mcp/transport/streamable-http.ts'
import { revisionByName } from '../../../lib/parts/mcp/protocol/revisions.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { Exchange, Reply, Sink } from '../../../lib/kernel/http/message/exchange.ts'
import type { McpMethod } from '../../../lib/parts/mcp/methods/extension.ts'
import type { McpServer } from '../../../lib/parts/mcp/methods/methods.ts'
import type { McpRequest } from '../../../lib/parts/mcp/request/request.ts'
import type { ResponseChannel } from '../../../lib/parts/mcp/session/session.ts'

interface Asked {
  readonly accept?: string; readonly batch?: number; readonly heartbeatMs?: number; readonly isFull?: boolean
}

type Course = (...channels: readonly ResponseChannel[]) => void

const unending = new Promise<never>(() => {})

interface Posted { readonly reply: Reply | Promise<Reply>; readonly channels: readonly ResponseChannel[] }

/** Posts requests that never end by themselves. `course` is what happens while the last one is begun. */
function post(
  { accept, batch, heartbeatMs = Infinity, isFull = false }: Asked = {}, course: Course = () => {},
  method = 'resources/read', onLeave = (): void => {},
): Posted {
  const peer = anonymousPeer(revisionByName.get('2026-07-28')!)
  const channels: ResponseChannel[] = []
  const read = ({ channel }: McpRequest): Promise<never> => {
    channels.push(channel)
    if (channels.length === (batch ?? 1)) course(...channels)
    return unending
  }
  const methods = new Map<string, McpMethod>([
    ['resources/read', { run: read }],
    ['subscriptions/listen', {
      run(request) {
        channels.push(request.channel)
        return listen([], request)
      },
      isStream: true,
    }],
  ])
  const mcp = {
    service: { timers: new Timers(), limits: { heartbeatMs, maxResultBytes: 1_000 } },
    methods: new Map([[peer.revision, methods]]), madeFor: () => ({}), notifications: { add: () => onLeave },
  } as unknown as McpServer
  const exchange = {
    origin: { principal: { id: 'ann', scopes: [] }, onDisconnect: () => {} },
    streamObjection: isFull ? 'No room' : undefined,
  } as unknown as Exchange
  const params = { notifications: {} }
  const message = { kind: 'request', id: 1, method, params } as const
  const forms = formsOf(accept)!
  const reply = batch === undefined ? replyToMessage(mcp, peer, forms, message, exchange)
    : replyToBatch(mcp, peer, forms, Array.from({ length: batch }, () => message), exchange)
  return { reply, channels }
}

/** What a client reads of a reply: its status, its media type, and its text. */
function read(
  { status, type, body }: Reply,
): readonly [status: number, type: string | undefined, text: string] {
  if (typeof body !== 'object' || !('open' in body)) return [status, type, String(body ?? '')]
  let text = ''
  const sink = {
    closed: false, write: (more: string) => { text += more; return true }, ready: () => Promise.resolve(),
    end: (more = '') => { text += `${more}<end>` },
  }
  body.open(sink as unknown as Sink)
  return [status, type, text]
}

const JSON_TYPE = 'application/json'
const EVENTS = 'text/event-stream'
const event = (data: string): string => `data: ${data}\n\n`

const rows: readonly (readonly [
  what: string, options: Asked, course: Course,
  heard: readonly [number, string | undefined, string],
])[] = [
  ['an answer is JSON', {}, (reply) => reply!.finish('1'), [200, JSON_TYPE, '1']],
  ['with its status', {}, (reply) => reply!.finish('1', 404), [404, JSON_TYPE, '1']],
  ['an answer after something else is an event', {}, (reply) => { reply!.send('0'); reply!.finish('1') },
    [200, EVENTS, `${event('0')}${event('1')}<end>`]],
  ['for a client that reads only events, an event', { accept: EVENTS }, (reply) => reply!.finish('1'),
    [200, EVENTS, event('1')]],
  ['but for a refusal', { accept: EVENTS }, (reply) => reply!.finish('1', 400), [400, JSON_TYPE, '1']],
  ['nothing is owed for what was cancelled', {}, (reply) => reply!.abandon(), [202, undefined, '']],
  ['also in a stream', {}, (reply) => { reply!.send('0'); reply!.abandon() },
    [200, EVENTS, `${event('0')}<end>`]],
  ['a batch is one list', { batch: 2 }, (one, other) => { one!.finish('1'); other!.finish('2') },
    [200, JSON_TYPE, '[1,2]']],
  ['of one, too', { batch: 1 }, (reply) => reply!.finish('1'), [200, JSON_TYPE, '[1]']],
  ['without what was cancelled', { batch: 2 }, (one, other) => { one!.abandon(); other!.finish('2') },
    [200, JSON_TYPE, '[2]']],
  ['a batch that tells something is a stream of its answers', { batch: 2 }, (one, other) => {
    one!.finish('1')
    other!.send('0')
    other!.finish('2')
  }, [200, EVENTS, `${event('1')}${event('0')}${event('2')}<end>`]],
  ['for a client that reads only events, an event for each', { batch: 2, accept: EVENTS }, (one, other) => {
    other!.finish('2')
    one!.finish('1')
  }, [200, EVENTS, `${event('2')}${event('1')}<end>`]],
  ['with a status that all have', { batch: 2 }, (one, other) => {
    one!.finish('1', 404)
    other!.finish('2', 404)
  }, [404, JSON_TYPE, '[1,2]']],
  ['else with 200', { batch: 2 }, (one, other) => {
    one!.finish('1', 404)
    other!.finish('2')
  }, [200, JSON_TYPE, '[1,2]']],
  ['of which nothing is left', { batch: 2 }, (one, other) => { one!.abandon(); other!.abandon() },
    [202, undefined, '']],
  ['where there is no room for a stream, the answer is alone', { isFull: true }, (reply) => {
    assert.equal(reply!.sends, false)
    reply!.finish('1')
  }, [200, JSON_TYPE, '1']],
]

test('the first thing that is said decides what the reply is', async () => {
  for (const [what, options, course, heard] of rows) {
    assert.deepEqual(read(post(options, course).reply as Reply), heard, what)
    const { reply, channels } = post(options)
    assert.ok(reply instanceof Promise, what)
    course(...channels)
    assert.deepEqual(read(await reply), heard, `${what}, later`)
  }
})

test('a silence of one heartbeat makes it a stream, for a client that reads events', async (t) => {
  const pass = standingTime(t)
  for (const [acceptsEvents, isFull, batch] of [
    [true, false, undefined], [true, false, 1], [true, true, undefined], [false, false, undefined],
  ] as const) {
    const isStream = acceptsEvents && !isFull
    const { reply: later, channels } = post(
      { accept: acceptsEvents ? '*/*' : JSON_TYPE, heartbeatMs: 50, isFull, ...batch && { batch } },
    )
    let reply: Reply | undefined
    void Promise.resolve(later).then((known) => { reply = known })
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
    pass(49)
    await turn()
    assert.equal(reply, undefined)
    pass(1)
    await turn()
    assert.equal(reply !== undefined, isStream)
    assert.equal(channels[0]!.sends, isStream)
    channels[0]!.finish('1')
    await turn()
    const [status, given, text] = read(reply!)
    assert.deepEqual([status, given], [200, isStream ? EVENTS : JSON_TYPE])
    assert.match(text, isStream ? /^:.*\n\n.*data: 1\n\n<end>$/s : /^1$/)
  }
})

test('a batch that becomes a stream in a silence begins with the answers so far', async (t) => {
  const pass = standingTime(t)
  const { reply, channels } = post({ batch: 2, heartbeatMs: 50 })
  channels[1]!.finish('2')
  pass(50)
  channels[0]!.finish('1')
  const [status, type, text] = read(await reply)
  assert.deepEqual([status, type], [200, EVENTS])
  assert.match(text, /^:.*\n\ndata: 2\n\ndata: 1\n\n<end>$/s)
})

test('what Accept says decides which forms there are', () => {
  for (const [accept, forms] of [
    [undefined, { json: true, events: true }], ['*/*', { json: true, events: true }],
    [JSON_TYPE, { json: true, events: false }], [EVENTS, { json: false, events: true }],
    ['image/png', undefined],
  ] as const) assert.deepEqual(formsOf(accept), forms, accept)
})

test('a client that leaves is told of, unless all was said', async () => {
  let gone = 0
  for (const isFinished of [true, false]) {
    const { reply, channels } = post({ isFull: true }, undefined, 'subscriptions/listen', () => { gone++ })
    const { body } = await reply
    const sink = { closed: false, write: () => true, ready: () => Promise.resolve(), end: () => {} }
    const over = (body as { open(sink: Sink): () => void }).open(sink as unknown as Sink)
    if (isFinished) channels[0]!.finish('1')
    over()
  }
  assert.equal(gone, 1)
})
