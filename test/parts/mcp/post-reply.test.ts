import assert from 'node:assert/strict'
import test from 'node:test'
import { Timers } from '../../../lib/kernel/util/timers.ts'
import { listen } from '../../../lib/parts/mcp/methods/listen.ts'
import { anonymousPeer } from '../../../lib/parts/mcp/transport/choose.ts'
import { formsOf, PostReply } from '../../../lib/parts/mcp/transport/post-reply.ts'
import { revisionByName } from '../../../lib/parts/mcp/protocol/revisions.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { Origin } from '../../../lib/kernel/define/call.ts'
import type { Reply, Sink } from '../../../lib/kernel/http/message/exchange.ts'
import type { McpMethod } from '../../../lib/parts/mcp/methods/extension.ts'
import type { McpServer } from '../../../lib/parts/mcp/methods/methods.ts'

interface Asked { readonly accept?: string; readonly batch?: number; readonly heartbeatMs?: number }

const origin = { principal: { id: 'ann', scopes: [] }, onDisconnect: () => {} } as unknown as Origin
const unending = new Promise<never>(() => {})

/** Replies to requests that never end by themselves. `course` is what happens while the last one is begun. */
function make(
  { accept, batch, heartbeatMs = Infinity }: Asked = {}, course: (reply: PostReply) => void = () => {},
  method = 'resources/read', onLeave = (): void => {},
): PostReply {
  const peer = anonymousPeer(revisionByName.get('2026-07-28')!)
  let left = batch ?? 1
  const read = (): Promise<never> => {
    if (--left === 0) course(reply)
    return unending
  }
  const methods = new Map<string, McpMethod>([
    ['resources/read', { run: read }], ['subscriptions/listen', { run: listen.bind(undefined, []) }],
  ])
  const mcp = {
    service: { timers: new Timers(), limits: { heartbeatMs, maxResultBytes: 1_000 } },
    methods: new Map([[peer.revision, methods]]), stampOf: () => ({}), notifications: { add: () => onLeave },
  } as unknown as McpServer
  const params = { notifications: {} }
  const message = { kind: 'request', id: 1, method, params } as const
  const messages = Array.from({ length: batch ?? 0 }, () => message)
  const reply = new PostReply(mcp, peer, formsOf(accept)!, batch === undefined ? message : messages)
  return reply
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
  what: string, options: Asked, course: (reply: PostReply) => void,
  heard: readonly [number, string | undefined, string],
])[] = [
  ['an answer is JSON', {}, (reply) => reply.finish('1'), [200, JSON_TYPE, '1']],
  ['with its status', {}, (reply) => reply.finish('1', 404), [404, JSON_TYPE, '1']],
  ['an answer after something else is an event', {}, (reply) => { reply.send('0'); reply.finish('1') },
    [200, EVENTS, `${event('0')}${event('1')}<end>`]],
  ['for a client that reads only events, an event', { accept: EVENTS }, (reply) => reply.finish('1'),
    [200, EVENTS, event('1')]],
  ['but for a refusal', { accept: EVENTS }, (reply) => reply.finish('1', 400), [400, JSON_TYPE, '1']],
  ['nothing is owed for what was cancelled', {}, (reply) => reply.abandon(), [202, undefined, '']],
  ['also in a stream', {}, (reply) => { reply.send('0'); reply.abandon() },
    [200, EVENTS, `${event('0')}<end>`]],
  ['a batch is one list', { batch: 2 }, (reply) => { reply.finish('1'); reply.finish('2') },
    [200, JSON_TYPE, '[1,2]']],
  ['of one, too', { batch: 1 }, (reply) => reply.finish('1'), [200, JSON_TYPE, '[1]']],
  ['without what was cancelled', { batch: 2 }, (reply) => { reply.abandon(); reply.finish('2') },
    [200, JSON_TYPE, '[2]']],
  ['a batch that tells something is a stream of its answers', { batch: 2 }, (reply) => {
    reply.finish('1')
    reply.send('0')
    reply.finish('2')
  }, [200, EVENTS, `${event('1')}${event('0')}${event('2')}<end>`]],
]

test('the first thing that is said decides what the reply is', async () => {
  for (const [what, options, course, heard] of rows) {
    const early = make(options, course)
    assert.deepEqual(read(early.run(origin) as Reply), heard, what)
    const late = make(options)
    const promise = late.run(origin)
    assert.ok(promise instanceof Promise, what)
    course(late)
    assert.deepEqual(read(await promise), heard, `${what}, later`)
  }
})

test('a silence of one heartbeat makes it a stream, for a client that reads events', async (t) => {
  const pass = standingTime(t)
  for (const [acceptsEvents, type] of [[true, EVENTS], [false, JSON_TYPE]] as const) {
    const post = make({ accept: acceptsEvents ? '*/*' : JSON_TYPE, heartbeatMs: 50 })
    assert.equal(post.sends, acceptsEvents)
    let reply: Reply | undefined
    void Promise.resolve(post.run(origin)).then((known) => { reply = known })
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
    pass(49)
    await turn()
    assert.equal(reply, undefined)
    pass(1)
    await turn()
    assert.equal(reply !== undefined, acceptsEvents)
    post.finish('1')
    await turn()
    const [status, given, text] = read(reply!)
    assert.deepEqual([status, given], [200, type])
    assert.match(text, acceptsEvents ? /^:.*\n\n.*data: 1\n\n<end>$/s : /^1$/)
  }
})

test('what Accept says decides which forms there are', () => {
  for (const [accept, forms] of [
    [undefined, { json: true, events: true }], ['*/*', { json: true, events: true }],
    [JSON_TYPE, { json: true, events: false }], [EVENTS, { json: false, events: true }],
    ['image/png', undefined],
  ] as const) assert.deepEqual(formsOf(accept), forms, accept)
})

test('a client that leaves is told of, unless all was said', () => {
  let gone = 0
  for (const isFinished of [true, false]) {
    const post = make({}, undefined, 'subscriptions/listen', () => { gone++ })
    const { body } = post.run(origin) as Reply
    const sink = { closed: false, write: () => true, ready: () => Promise.resolve(), end: () => {} }
    const over = (body as { open(sink: Sink): () => void }).open(sink as unknown as Sink)
    if (isFinished) post.finish('1')
    over()
  }
  assert.equal(gone, 1)
})
