/**
 * What the room can carry, proved on endpoints made for the purpose: an answer that is held open, a
 * question on a running stream, a stream that outlives its socket, one source with many readers. Each is
 * asked through a socket and without one.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { anonymous } from '../../../lib/kernel/define/principal.ts'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { BodyBudget } from '../../../lib/kernel/http/server/body.ts'
import { createFetch } from '../../../lib/kernel/http/server/fetch.ts'
import { createGate } from '../../../lib/kernel/http/server/gate.ts'
import { createGuard } from '../../../lib/kernel/http/access/guard.ts'
import { createListener } from '../../../lib/kernel/http/server/listener.ts'
import { DeferredStream } from '../../../lib/floors/kept-streams/deferred-stream.ts'
import { eventReader } from '../../../lib/floors/outbound/event-reader.ts'
import { createObserver } from '../../../lib/kernel/http/server/observer.ts'
import { createRouter } from '../../../lib/kernel/http/message/router.ts'
import { Streams } from '../../../lib/kernel/http/stream/sink.ts'
import { EVENT_STREAM, formatEvent } from '../../../lib/kernel/wire/sse.ts'
import { dial, eventually, request } from '../../fixtures/kernel.ts'
import type { TestContext } from 'node:test'
import type { ServerEvent } from '../../../lib/floors/outbound/event-reader.ts'
import type { GateOptions } from '../../../lib/kernel/http/server/gate.ts'
import type { KernelLimits } from '../../../lib/kernel/define/limits.ts'
import type { Endpoint, Exchange, Reply, Sink, Source } from '../../../lib/kernel/http/message/exchange.ts'

type Call = (path: string, body?: unknown, headers?: Record<string, string>) => Promise<Response>

/** The house around some endpoints, and two ways to call them. */
async function house(
  t: TestContext, endpoints: readonly Endpoint[], given: Partial<KernelLimits> = {}, logged: string[] = [],
): Promise<{ readonly calls: readonly Call[]; readonly port: number; readonly streams: Streams }> {
  const limits = limitsOf(given)
  const budget = new BodyBudget(limits)
  const log = (level: string, message: string): void => { logged.push(`${level} ${message}`) }
  const streams = new Streams(limits, log)
  const options: GateOptions = {
    name: 'House', limits, budget, log, anonymous, mountPath: '', publicUrl: undefined, proxies: 0,
    listing: '/', rateLimits: undefined, streams,
    router: createRouter(endpoints), guard: createGuard({}),
    state: { authenticator: undefined, isDraining: false },
  }
  const means = { ...options, gate: createGate(options), observer: createObserver(undefined, false, log) }
  const listener = createListener(means)
  t.after(() => {
    listener.drain()
    listener.destroy()
  })
  const { port } = await listener.listen(0, '127.0.0.1')
  const inside = createFetch(means)
  const outside: Call = (path, body, headers) => {
    const { method, body: stream, headers: all } = request(path, body, headers)
    return fetch(
      `http://127.0.0.1:${port}${path}`,
      { method, headers: all, ...stream && { body: JSON.stringify(body) } },
    )
  }
  return { calls: [outside, (...args) => inside(request(...args))], port, streams }
}

/** A refusal for each way in which a body can be bad, told to a door whose own refusals break. */
const bad: readonly (readonly [what: string, body: string])[] = [
  ['too long', 'x'.repeat(2_000)], ['not UTF-8', '\xff'],
]

test('a door whose refusals break takes nothing with it', async (t) => {
  const logged: string[] = []
  const refuse = (): never => { throw new Error('odd') }
  const broken = { ...endpoint('/broken', 'POST', () => ({ status: 200 })), refuse }
  const fine = endpoint('/fine', 'GET', () => ({ status: 200 }))
  const { port } = await house(t, [broken, fine], { maxBodyBytes: 1_000 }, logged)
  for (const [what, body] of bad) {
    const wire = await dial(t, port)
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    wire.send(`POST /broken HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
      + `Transfer-Encoding: chunked\r\n\r\n${chunk}`)
    assert.equal(await wire.closed(), '', what)
    assert.equal((await fetch(`http://127.0.0.1:${port}/fine`)).status, 200)
  }
  assert.deepEqual(logged, ['error An endpoint failed', 'error An endpoint failed'])
})

function endpoint(path: string, method: string, handle: Endpoint['handle']): Endpoint {
  const refuse: Endpoint['refuse'] = ({ status, detail }) => ({ status, type: 'text/plain', body: detail })
  return {
    path, methods: [method], handle, refuse, ...method === 'POST' && { accepts: ['application/json'] },
  }
}

const events = (body: Source): Reply => ({ status: 200, type: EVENT_STREAM, body })

/** Reads the events of a response, one at a time. */
function reader(response: Response): { next(): Promise<ServerEvent | undefined>; cancel(): Promise<void> } {
  const ready: ServerEvent[] = []
  const take = eventReader((event) => ready.push(event))
  const stream = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  return {
    async next() {
      while (ready.length === 0) {
        const { done, value } = await stream.read()
        if (done) return undefined
        take(value)
      }
      return ready.shift()
    },
    cancel: () => stream.cancel(),
  }
}

async function all(response: Response): Promise<readonly string[]> {
  const { next } = reader(response)
  const data: string[] = []
  for (let event = await next(); event !== undefined; event = await next()) data.push(event.data)
  return data
}

test('an answer is held open until it is known whether it is one document or a stream', async (t) => {
  const hold = endpoint('/hold', 'POST', async ({ body }: Exchange) => {
    const { steps } = JSON.parse(body) as { steps: number }
    const outbox = new DeferredStream()
    let open: (reply: Reply) => void = () => {}
    const reply = new Promise<Reply>((resolve) => { open = resolve })
    void (async () => {
      for (let at = 1; at <= steps; at++) {
        await sleep(1)
        outbox.write(formatEvent(`step ${at}`))
        open(events(outbox))
      }
      await sleep(1)
      if (steps === 0) open({ status: 200, type: 'application/json', body: '"done"' })
      outbox.end(formatEvent('done'))
    })()
    return reply
  })
  const { calls } = await house(t, [hold])
  for (const call of calls) {
    const whole = await call('/hold', { steps: 0 })
    assert.equal(whole.headers.get('content-type'), 'application/json')
    assert.equal(await whole.text(), '"done"')
    const streamed = await call('/hold', { steps: 3 })
    assert.equal(streamed.headers.get('content-type'), EVENT_STREAM)
    assert.equal(streamed.headers.get('x-accel-buffering'), 'no')
    assert.equal(streamed.headers.get('cache-control'), 'no-cache, no-transform')
    assert.deepEqual(await all(streamed), ['step 1', 'step 2', 'step 3', 'done'])
  }
})

test('a question is asked on a running stream, and its answer comes with another request', async (t) => {
  const open = new Map<string, (answer: string) => void>()
  let count = 0
  const ask = endpoint('/ask', 'GET', () => {
    const outbox = new DeferredStream()
    const id = String(++count)
    outbox.write(formatEvent(id, 'question'))
    open.set(id, (answer) => outbox.end(formatEvent(`You said ${answer}`, 'result')))
    return events(outbox)
  })
  const tell = endpoint('/tell', 'POST', ({ body }: Exchange) => {
    const { id, answer } = JSON.parse(body) as { id: string; answer: string }
    const waiting = open.get(id)
    open.delete(id)
    waiting?.(answer)
    return { status: waiting === undefined ? 404 : 202 }
  })
  const { calls } = await house(t, [ask, tell])
  for (const [at, call] of calls.entries()) {
    // The answer may come in another way than the question went.
    const back = calls[1 - at]!
    const streams = await Promise.all([call('/ask'), call('/ask')])
    const readers = streams.map(reader)
    const ids = await Promise.all(readers.map(async ({ next }) => (await next())?.data ?? ''))
    for (const id of ids.toReversed()) assert.equal((await back('/tell', { id, answer: id })).status, 202)
    const results = await Promise.all(readers.map(async ({ next }) => (await next())?.data))
    assert.deepEqual(results, ids.map((id) => `You said ${id}`))
    assert.equal((await back('/tell', { id: ids[0], answer: 'again' })).status, 404)
  }
})

/** A stream with a life of its own: it numbers what it says, remembers it, and takes sinks as they come. */
class Lasting {
  readonly #log: string[] = []
  readonly #sinks = new Set<Sink>()
  readers = 0

  say(data: string): void {
    const event = formatEvent(data, undefined, String(this.#log.length + 1))
    this.#log.push(event)
    for (const sink of this.#sinks) sink.write(event)
  }

  end(): void {
    for (const sink of this.#sinks) sink.end()
  }

  from(lastId: number): Source {
    return {
      open: (sink) => {
        for (const event of this.#log.slice(lastId)) sink.write(event)
        this.#sinks.add(sink)
        this.readers++
        return () => {
          this.#sinks.delete(sink)
          this.readers--
        }
      },
    }
  }
}

test('a stream outlives its socket and is taken up again where it was left', async (t) => {
  const lasting = new Lasting()
  const follow = endpoint(
    '/follow', 'GET', (exchange) => events(lasting.from(Number(exchange.header('last-event-id') ?? 0))),
  )
  const { calls } = await house(t, [follow])
  for (const [at, call] of calls.entries()) {
    const base = at * 4
    lasting.say('a')
    const first = reader(await call('/follow', undefined, { 'last-event-id': String(base) }))
    assert.equal((await first.next())?.id, String(base + 1))
    lasting.say('b')
    assert.equal((await first.next())?.data, 'b')
    await first.cancel()
    await eventually(() => lasting.readers === 0, 'the stream knows that its reader left')
    lasting.say('c')
    const second = reader(await call('/follow', undefined, { 'last-event-id': String(base + 2) }))
    assert.deepEqual(await second.next(), { event: 'message', data: 'c', id: String(base + 3) })
    lasting.say('d')
    lasting.end()
    assert.equal((await second.next())?.data, 'd')
    assert.equal(await second.next(), undefined)
  }
})

test('one source feeds readers of different speed; one that does not keep up is dropped alone', async (t) => {
  const lasting = new Lasting()
  const follow = endpoint('/follow', 'GET', () => events(lasting.from(0)))
  const { calls, port, streams } = await house(t, [follow], { maxStreamBytes: 256 * 1024 })
  const quick = await Promise.all(calls.map(async (call) => reader(await call('/follow'))))
  const slow = await dial(t, port)
  slow.socket.pause()
  slow.send('GET /follow HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const asleep = await calls[1]!('/follow')
  await eventually(() => lasting.readers === 4, 'all read')
  const data = 'x'.repeat(64 * 1024)
  // More than every buffer between here and a reader who does not read.
  for (let round = 0; round < 400 && streams.count > 2; round++) {
    lasting.say(data)
    for (const { next } of quick) assert.equal((await next())?.data.length, data.length)
  }
  assert.equal(streams.count, 2)
  await eventually(() => lasting.readers === 2, 'the source knows')
  await assert.rejects(asleep.text(), /did not keep up/)
  lasting.say('after')
  lasting.end()
  for (const { next } of quick) {
    assert.equal((await next())?.data, 'after')
    assert.equal(await next(), undefined)
  }
})

/** Endpoints that break, before and while they answer. */
const broken: readonly (readonly [what: string, handle: Endpoint['handle']])[] = [
  ['throws', () => { throw new Error('secret') }],
  ['rejects', () => Promise.reject(new Error('secret'))],
  ['has a header that is none', () => ({ status: 200, headers: ['X-Note', 'a\r\nb: c'] })],
  ['has a header that is none, later', async () => ({ status: 200, headers: ['X-Note', 'a\r\nb: c'] })],
  ['has a stream that does not open', () => events({ open: () => { throw new Error('secret') } })],
  ['has a stream that does not open, later',
    async () => events({ open: () => { throw new Error('secret') } })],
]

test('an endpoint that breaks is told in its own form, and takes nothing with it', async (t) => {
  let handle: Endpoint['handle'] = () => ({ status: 200 })
  const logged: string[] = []
  const { calls, streams } = await house(
    t, [endpoint('/broken', 'GET', (exchange) => handle(exchange))], {}, logged,
  )
  for (const [what, breaking] of broken) {
    for (const [at, call] of calls.entries()) {
      handle = breaking
      const response = await call('/broken', undefined, { 'x-request-id': 'r-1' })
      assert.equal(response.status, 500, `${what}, ${at === 0 ? 'through a socket' : 'without one'}`)
      assert.equal(await response.text(), 'Internal error (request r-1)')
      handle = () => ({ status: 200 })
      assert.equal((await call('/broken')).status, 200)
    }
  }
  assert.deepEqual(logged, Array(broken.length * 2).fill('error An endpoint failed'))
  assert.equal(streams.count, 0)
})

test('HEAD and a full house begin no stream for anybody', async (t) => {
  const sinks: boolean[] = []
  let over = 0
  const source: Source = { open: (sink) => { sinks.push(sink.closed); return () => { over++ } } }
  const { calls, port, streams } = await house(
    t, [endpoint('/follow', 'GET', () => events(source))], { maxStreams: 1 },
  )
  const wire = await dial(t, port)
  wire.send('HEAD /follow HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  assert.match(await wire.closed(), /^HTTP\/1\.1 200 [^]*text\/event-stream[^]*\r\n\r\n$/)
  assert.deepEqual([sinks, over], [[true], 1])
  const held = await Promise.all([calls[0]!('/follow')])
  for (const call of calls) {
    const full = await call('/follow')
    assert.equal(full.status, 503)
    assert.equal(await full.text(), 'Too many streams are open; try again later')
  }
  assert.deepEqual([sinks, over, streams.count], [[true, false, true, true], 3, 1])
  await held[0]!.body!.cancel()
  await eventually(() => streams.count === 0, 'the stream is over')
})

test('an endpoint may promise its reply in whatever way promises are made', async (t) => {
  const late: Reply = { status: 200, body: 'late' }
  const promise = { then: (done: (reply: Reply) => void) => { setImmediate(done, late) } }
  const { calls } = await house(t, [endpoint('/late', 'GET', () => promise as unknown as Promise<Reply>)])
  for (const call of calls) assert.equal(await (await call('/late')).text(), 'late')
})
