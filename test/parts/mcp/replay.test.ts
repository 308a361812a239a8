/**
 * Streams that outlive their sockets: GET, what a client that comes back gets, and what is kept for it.
 */
import assert from 'node:assert/strict'
import test, { afterEach } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseEventId, ReplayStream, streamMark } from '../../../lib/parts/mcp/session/replay.ts'
import { defaults } from '../../../lib/index.ts'
import { ReplayBudget } from '../../../lib/floors/kept-streams/replay-budget.ts'
import { eventually, gate } from '../../fixtures/client.ts'
import { heldBytes } from '../../fixtures/heap.ts'
import { standingTime } from '../../fixtures/time.ts'
import { answerOf, begin, legacyRevisions, modern, post, said, serveMcp } from './client.ts'
import { EventStream } from '../../fixtures/events.ts'
import type { Sink } from '../../../lib/kernel/http/message/exchange.ts'
import type { TriportServer } from '../../../lib/index.ts'
import type { Scope } from '../../fixtures/client.ts'
import type { Json } from '../../fixtures/events.ts'

/** Tells numbers when it is told to. */
function teller(
  t: Scope, options: object = {},
): {
  server: TriportServer; tell: (...numbers: number[]) => void; begun: (count: number) => Promise<void>
  finish: () => void
} {
  const end = gate()
  const told: ((number: number) => void)[] = []
  const server = serveMcp(t, {
    tools: [
      { name: 'tell', description: 'Tells.', async run(_args, call) {
        told.push((number) => call.progress(number))
        await end.promise
        return 'done'
      } },
      { name: 'leave', description: 'Lets the client go.', async run(_args, call) {
        call.detach({ retryMs: 7 })
        await sleep(20)
        return 'done'
      } },
      { name: 'leave-later', description: 'Lets the client go after a word.', async run(_args, call) {
        call.progress(1)
        await sleep(10)
        call.detach()
        await sleep(20)
        call.progress(2)
        return 'done'
      } },
    ],
    ...options,
  })
  return {
    server,
    begun: (count) => eventually(() => told.length >= count, 'it runs'),
    tell: (...numbers) => { for (const number of numbers) for (const one of told) one(number) },
    finish: () => end.open(),
  }
}

const token = { progressToken: 'p' }

test('GET opens the stream of a session; a second one takes the place of the first', async (t) => {
  const { server } = teller(t)
  for (const revision of legacyRevisions) {
    const session = await begin(server, revision)
    const first = await session.listen()
    assert.equal(first.response.status, 200)
    const second = await session.listen()
    assert.equal(second.response.status, 200)
    assert.deepEqual(await first.rest(), [])
    await second.cancel()
  }
})

test('GET needs a client that reads events', async (t) => {
  const { server } = teller(t)
  const session = await begin(server)
  for (const accept of ['application/json', 'text/html', 'text/event-stream;q=0']) {
    assert.equal((await session.get({ Accept: accept })).status, 406)
  }
})

test('only 2025-11-25 begins its streams with an event that has an id and no data', async (t) => {
  const { server, tell, begun, finish } = teller(t)
  for (const [before, revision] of legacyRevisions.entries()) {
    const primes = revision === '2025-11-25'
    const session = await begin(server, revision)
    const listened = await session.listen()
    server.catalog.add(tool('one'))
    server.catalog.remove('tool', 'one')
    const first = await listened.event()
    assert.equal(first?.data === '', primes, revision)
    assert.match(first?.id ?? '', /^[\w-]{16}-1$/)
    await listened.cancel()

    const sent = session.send('tools/call', { name: 'tell', _meta: token })
    await begun(before + 1)
    tell(1)
    const stream = new EventStream(await sent)
    const event = await stream.event()
    assert.equal(event?.data === '', primes, revision)
    await stream.cancel()
    await session.end()
  }
  finish()
})

function tool(name: string): Json {
  return { name, inputSchema: { type: 'object' }, run: () => '' }
}

for (const revision of legacyRevisions) {
  test(`in ${revision} a client that was cut off gets what it missed, then the rest`, async (t) => {
    const { server, tell, begun, finish } = teller(t)
    const session = await begin(server, revision)
    const sent = session.send('tools/call', { name: 'tell', _meta: token })
    await begun(1)
    tell(1, 2)
    const stream = new EventStream(await sent)
    let event = await stream.event()
    while (event!.data === '') event = await stream.event()
    assert.equal(JSON.parse(event!.data).params.progress, 1)
    const { id } = event!
    await stream.cancel()
    tell(3)
    const again = await session.listen({ 'Last-Event-ID': id })
    assert.equal((await again.next()).params.progress, 2)
    assert.equal((await again.next()).params.progress, 3)
    tell(4)
    assert.equal((await again.next()).params.progress, 4)
    finish()
    assert.equal(said((await again.next()).result), 'done')
    assert.equal(await again.next(), undefined)
    // It can come back once more, for the answer alone.
    const late = await session.listen({ 'Last-Event-ID': id })
    assert.equal((await late.rest()).length, 4)
  })
}

test('a stream gives back nothing of another', async (t) => {
  const { server, tell, begun, finish } = teller(t)
  const session = await begin(server)
  const one = session.send('tools/call', { name: 'tell', _meta: { progressToken: 'one' } })
  const two = session.send('tools/call', { name: 'tell', _meta: { progressToken: 'two' } })
  await begun(2)
  tell(1)
  const streams = [new EventStream(await one), new EventStream(await two)]
  const [prime] = [await streams[0]!.event()]
  for (const stream of streams) await stream.cancel()
  tell(2)
  finish()
  const messages = await (await session.listen({ 'Last-Event-ID': prime!.id })).rest()
  assert.deepEqual(
    messages.map(({ params, result }) => params?.progressToken ?? said(result)), ['one', 'one', 'done'],
  )
})

test('an event id that is none of the session is 400', async (t) => {
  const { server } = teller(t)
  const session = await begin(server)
  const other = await begin(server)
  const stream = await other.listen()
  const foreign = (await stream.event())!.id
  for (const id of ['x', '1', 'a-b', foreign, foreign.replace(/.$/, 'x'), '-1', `${'a'.repeat(16)}-1`]) {
    const response = await session.get({ 'Last-Event-ID': id })
    assert.equal(response.status, 400, id)
    assert.equal((await response.json() as Json).error.code, -32600)
  }
  const fresh = await session.listen({ 'Last-Event-ID': '' })
  assert.notEqual((await fresh.event())?.id, undefined)
  await fresh.cancel()
  await stream.cancel()
})

test('the stream of GET can be come back to as well', async (t) => {
  const { server } = teller(t)
  const session = await begin(server)
  const stream = await session.listen()
  const { id } = (await stream.event())!
  await stream.cancel()
  server.catalog.add(tool('one'))
  await sleep(5)
  const again = await session.listen({ 'Last-Event-ID': id })
  assert.equal((await again.next()).method, 'notifications/tools/list_changed')
  server.catalog.remove('tool', 'one')
  assert.equal((await again.next()).method, 'notifications/tools/list_changed')
  await again.cancel()
})

test('a client that opens a new stream each time leaves little behind', async (t) => {
  const { server } = teller(t)
  const session = await begin(server)
  const first = await session.listen()
  const { id } = (await first.event())!
  await first.cancel()
  for (let n = 0; n < 300; n++) await (await session.listen()).cancel()
  // The first of so many has been given up.
  assert.equal((await session.get({ 'Last-Event-ID': id })).status, 400)
})

test('call.detach ends the connection with a retry, and the answer waits for the client', async (t) => {
  const { server } = teller(t)
  const session = await begin(server)
  const stream = await session.stream('leave')
  const { id, data } = (await stream.event())!
  assert.equal(data, '')
  assert.equal(await stream.event(), undefined)
  assert.match(stream.text, /\nretry: 7\n\n$/)
  const again = await session.listen({ 'Last-Event-ID': id })
  assert.equal(said((await again.next()).result), 'done')
  assert.equal(await again.next(), undefined)
})

test('call.detach works after something was told too', async (t) => {
  const { server } = teller(t)
  const session = await begin(server)
  const stream = await session.stream('leave-later', {}, token)
  await stream.event()
  const { id } = (await stream.event())!
  assert.equal(await stream.event(), undefined)
  assert.doesNotMatch(stream.text, /retry/)
  const messages = await (await session.listen({ 'Last-Event-ID': id })).rest()
  assert.deepEqual(messages.map(({ params, result }) => params?.progress ?? said(result)), [2, 'done'])
})

test('call.detach does nothing where there is nothing to come back to', async (t) => {
  const { server } = teller(t)
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'leave' } }
  const answers = [
    await answerOf(await post(server, call)),
    await answerOf(await modern(server, 'tools/call', { name: 'leave' })),
    await answerOf(await (await begin(server)).post(call, { Accept: 'application/json' })),
  ]
  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18']) {
    answers.push(await answerOf(await (await begin(server, revision)).post(call)))
  }
  for (const { result } of answers) assert.equal(said(result), 'done')
})

/** A sink that keeps what is written. */
function keeper(): { sink: Sink; texts: string[]; isEnded: () => boolean } {
  const texts: string[] = []
  let isEnded = false
  const sink: Sink = {
    write(text) {
      texts.push(text)
      return true
    },
    ready: () => Promise.resolve(),
    end(text) {
      if (text !== undefined && text !== '') texts.push(text)
      isEnded = true
    },
    get closed() { return isEnded },
  }
  return { sink, texts, isEnded: () => isEnded }
}

const made: ReplayStream[] = []

function replayStream(...args: ConstructorParameters<typeof ReplayStream>): ReplayStream {
  const stream = new ReplayStream(...args)
  made.push(stream)
  return stream
}

afterEach(() => { for (const stream of made.splice(0)) stream.close() })

const numbersIn = (texts: readonly string[]): string[] => texts.map((text) => /^data: (.*)$/m.exec(text)![1]!)

test('of a stream no more events are kept than its limit says, the newest', () => {
  const limits = { ...defaults, replayEvents: 3 }
  const budget = new ReplayBudget(limits.maxReplayBytes)
  const stream = replayStream('ann', limits, budget)
  stream.source(0).open(keeper().sink)
  for (let n = 1; n <= 10; n++) stream.send(String(n))
  const { sink, texts } = keeper()
  stream.source(0).open(sink)
  assert.deepEqual(numbersIn(texts), ['8', '9', '10'])
  // What was dropped counts no more.
  assert.equal(budget.bytes, Buffer.byteLength(texts.join('')))
})

test('nor more bytes, and what is too large to be kept is still sent', () => {
  const limits = { ...defaults, replayBytes: 200 }
  const stream = replayStream('ann', limits, new ReplayBudget(limits.maxReplayBytes))
  const live = keeper()
  stream.source(0).open(live.sink)
  for (let n = 1; n <= 4; n++) stream.send(String(n).repeat(40))
  stream.send('x'.repeat(500))
  assert.equal(live.texts.length, 5)
  const late = keeper()
  stream.source(0).open(late.sink)
  assert.deepEqual(late.texts, [])
  stream.send('y')
  assert.deepEqual(numbersIn(late.texts), ['y'])
})

test('nor longer than its limit says', (t) => {
  const pass = standingTime(t)
  const limits = { ...defaults, replayMs: 20 }
  const stream = replayStream('ann', limits, new ReplayBudget(limits.maxReplayBytes))
  stream.source(0).open(keeper().sink)
  stream.send('1')
  pass(40)
  stream.send('2')
  const { sink, texts } = keeper()
  stream.source(0).open(sink)
  assert.deepEqual(numbersIn(texts), ['2'])
})

test('where all streams together keep too much, finished ones give way first', () => {
  const limits = { ...defaults, maxReplayBytes: 1_000 }
  const budget = new ReplayBudget(limits.maxReplayBytes)
  const finished = replayStream('ann', limits, budget)
  finished.source(0).open(keeper().sink)
  finished.send('a'.repeat(600))
  finished.finish()
  const live = replayStream('ann', limits, budget)
  live.source(0).open(keeper().sink)
  live.send('b'.repeat(600))
  assert.ok(budget.bytes <= 1_000)
  const { sink, texts } = keeper()
  live.source(0).open(sink)
  assert.equal(texts.length, 1)
  // Nothing is better than a part: who comes back for it is told so.
  assert.equal(finished.hasLost(0), true)
  assert.equal(finished.hasLost(1), false)
  // It has had no such event.
  assert.deepEqual([finished.hasLost(2), live.hasLost(2), live.hasLost(1)], [true, true, false])
  finished.close()
  live.close()
  assert.equal(budget.bytes, 0)
})

test('what was said before a stream has begun is told whole, whatever the limits are', () => {
  const limits = { ...defaults, replayEvents: 1, replayBytes: 100, maxReplayBytes: 100 }
  const budget = new ReplayBudget(limits.maxReplayBytes)
  const stream = replayStream('ann', limits, budget)
  stream.send('1')
  stream.send('x'.repeat(500))
  stream.finish('3')
  replayStream('ann', limits, budget).send('y'.repeat(500))
  const { sink, texts } = keeper()
  stream.source(0).open(sink)
  assert.deepEqual(numbersIn(texts), ['1', 'x'.repeat(500), '3'])
})

test('a large answer in one piece with the word before it arrives', async (t) => {
  const { server } = teller(t, {
    tools: [{ name: 'large', description: 'Says much.', run(_args: unknown, call: Json) {
      call.progress(1)
      return 'x'.repeat(2 * defaults.replayBytes)
    } }],
  })
  const session = await begin(server)
  const messages = await (await session.stream('large', {}, token)).rest()
  assert.equal(said(messages.at(-1).result).length, 2 * defaults.replayBytes)
})

test('a stream that is dropped before it has begun is not kept for those that make room', () => {
  const limits = { ...defaults, maxReplayBytes: 100 }
  const budget = new ReplayBudget(limits.maxReplayBytes)
  const before = heldBytes()
  for (let n = 0; n < 20_000; n++) {
    const stream = new ReplayStream(`owner ${n}`, limits, budget)
    stream.send('1')
    stream.close()
    stream.source(0).open(keeper().sink)
  }
  assert.equal(budget.bytes, 0)
  const kept = heldBytes() - before
  assert.ok(kept < 4_000_000, `${kept} bytes are kept`)
})

test('a stream that is dropped gives back what it held, and takes nothing more', () => {
  const budget = new ReplayBudget(defaults.maxReplayBytes)
  const stream = replayStream('ann', defaults, budget)
  const { sink, texts, isEnded } = keeper()
  stream.source(0).open(sink)
  stream.send('1')
  assert.ok(budget.bytes > 0)
  stream.close()
  assert.equal(budget.bytes, 0)
  stream.send('2')
  stream.finish('3')
  assert.deepEqual(texts.slice(1), [': end\n\n'])
  assert.equal(isEnded(), true)
})

test('a stream on which nothing is owed ends with a comment, and can be come back to', () => {
  const stream = replayStream('ann', defaults, new ReplayBudget(defaults.maxReplayBytes))
  const { sink, texts, isEnded } = keeper()
  stream.source(0).open(sink)
  stream.send('1')
  stream.finishIdle()
  assert.deepEqual([texts.length, texts[1], isEnded()], [2, ': end\n\n', true])
  assert.equal(stream.kept.length, 1)
})

test('who comes back takes the place of who was there', () => {
  const stream = replayStream('ann', defaults, new ReplayBudget(defaults.maxReplayBytes))
  const [first, second] = [keeper(), keeper()]
  const release = stream.source(0).open(first.sink)
  stream.source(0).open(second.sink)
  assert.equal(first.isEnded(), true)
  release?.()
  stream.send('1')
  assert.deepEqual(numbersIn(second.texts), ['1'])
  assert.equal(stream.isAttached, true)
})

const ids: readonly (readonly [string, unknown])[] = [
  ['abcdefghijklmnop-1', { stream: 'abcdefghijklmnop', number: 1, node: undefined, owed: [] }],
  ['abc-efg_ijklmnop-0', { stream: 'abc-efg_ijklmnop', number: 0, node: undefined, owed: [] }],
  [`abcdefghijklmnop-1${streamMark('@abcd-_78', [])}`,
    { stream: 'abcdefghijklmnop', number: 1, node: 'abcd-_78', owed: [] }],
  [`abcdefghijklmnop-1${streamMark('@abcd-_78', [7, 'r'])}`,
    { stream: 'abcdefghijklmnop', number: 1, node: 'abcd-_78', owed: [7, 'r'] }],
  [`abcdefghijklmnop-1${streamMark('@abcd-_78', ['x'.repeat(2_000)])}`,
    { stream: 'abcdefghijklmnop', number: 1, node: 'abcd-_78', owed: [] }],
  ['abcdefghijklmnop-1@abcd-_78no-JSON',
    { stream: 'abcdefghijklmnop', number: 1, node: 'abcd-_78', owed: [] }],
  ['abcdefghijklmnop-1@short', undefined],
  ['abcdefghijklmnop', undefined], ['abcdefghijklmnop-', undefined], ['abcdefghijklmnop-x', undefined],
  ['short-1', undefined], ['abcdefghijklmnop-1 ', undefined], [
    'abcdefghijklmnop-1234567890123456', undefined,
  ],
]

for (const [id, parsed] of ids) {
  test(`the event id ${JSON.stringify(id)} is ${parsed === undefined ? 'none' : 'read'}`, () => {
    assert.deepEqual(parseEventId(id), parsed)
  })
}

test('what one owner keeps for coming back does not push out what another does', () => {
  const limits = { ...defaults, maxReplayBytes: 20_000, replayBytes: 10_000 }
  const budget = new ReplayBudget(limits.maxReplayBytes)
  const finished = (owner: string, bytes: number): ReplayStream => {
    const stream = replayStream(owner, limits, budget)
    stream.source(0).open({ closed: false, write: () => true, ready: () => Promise.resolve(), end() {} })
    stream.finish('x'.repeat(bytes))
    return stream
  }
  const anns = finished('ann', 500)
  for (let count = 0; count < 100; count++) finished('bob', 5_000)
  assert.ok(budget.bytes <= 20_000)
  assert.equal(anns.hasLost(0), false)
})
