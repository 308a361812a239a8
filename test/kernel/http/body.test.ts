import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import test from 'node:test'
import { BodyBudget, BodyReading, readBody } from '../../../lib/kernel/http/server/body.ts'
import { PlainLease } from '../../../lib/kernel/util/quota.ts'
import { markLoopBusy, whenLoopIsFree } from '../../../lib/kernel/http/stream/loop-fairness.ts'
import { heldBytes } from '../../fixtures/heap.ts'
import { portOf } from '../../fixtures/listening.ts'
import { crumbled } from './crumbs.ts'
import { echo, eventually, jsonOf, listen, serve } from '../../fixtures/kernel.ts'
import type { IncomingMessage } from 'node:http'

function holderOf(caller = 'anyone'): PlainLease {
  return new PlainLease(caller)
}

function budgetOf(maxBodiesBytes: number): BodyBudget {
  return new BodyBudget({ maxBodyBytes: 4 * 1024 * 1024, bodyTimeoutMs: 10_000, maxBodiesBytes })
}

test('all bodies together have one bound, and give back what they took', () => {
  const budget = budgetOf(100)
  const [one, other] = [holderOf(), holderOf()]
  assert.equal(budget.hold(one, 60), true)
  assert.equal(budget.fits(holderOf(), 40), true)
  assert.equal(budget.fits(holderOf(), 41), false)
  assert.equal(budget.hold(other, 41), false)
  assert.equal(budget.hold(other, 40), true)
  one.close()
  const next = holderOf()
  assert.equal(budget.hold(next, 60), true)
  assert.deepEqual([one.amount, other.amount, next.amount], [0, 40, 60])
})

test('a whole body takes what it costs, and one that is alone always has room', () => {
  const budget = budgetOf(100)
  const [one, other] = [holderOf(), holderOf()]
  budget.hold(one, 10)
  assert.equal(budget.settle(one, 500), true)
  assert.equal(budget.hold(other, 1), false)
  one.close()
  const next = holderOf()
  budget.hold(other, 10)
  budget.hold(next, 10)
  assert.equal(budget.settle(next, 91), false)
  assert.equal(budget.settle(next, 90), true)
  assert.equal(budget.fits(holderOf(), 1), false)
})

test('bodies that are not short leave an eighth to those that are', () => {
  const KiB = 1024
  const budget = budgetOf(800 * KiB)
  const [long, longer, short] = [holderOf(), holderOf(), holderOf()]
  assert.ok(budget.hold(long, 600 * KiB))
  assert.deepEqual([budget.fits(holderOf(), 100 * KiB), budget.fits(holderOf(), 101 * KiB)], [true, false])
  assert.ok(budget.hold(longer, 100 * KiB))
  assert.equal(budget.hold(longer, 100 * KiB + 1), false)
  assert.equal(budget.settle(longer, 101 * KiB), false)
  assert.ok(budget.fits(holderOf(), 16 * KiB))
  assert.ok(budget.hold(short, 16 * KiB))
  assert.ok(budget.settle(short, 100 * KiB))
  assert.equal(budget.fits(holderOf(), 1), false)
})

test('one that is alone may take all, and as much as it costs', () => {
  const budget = budgetOf(800 * 1024)
  const one = holderOf()
  assert.ok(budget.fits(holderOf(), 800 * 1024))
  assert.ok(budget.hold(one, 400 * 1024))
  assert.ok(budget.hold(one, 800 * 1024))
  assert.ok(budget.settle(one, 2_000 * 1024))
})

test('who has ended gets nothing any more', () => {
  const budget = budgetOf(100)
  const one = holderOf()
  assert.ok(budget.hold(one, 10))
  one.close()
  assert.equal(budget.hold(one, 10), false)
  assert.equal(budget.settle(one, 10), false)
  assert.deepEqual([one.amount, budget.used], [0, 0])
})

test('one caller who fills the budget shuts no other out', () => {
  const MiB = 1024 * 1024
  const budget = budgetOf(256 * MiB)
  const stalled = Array.from({ length: 58 }, () => holderOf('key a'))
  for (const one of stalled) budget.hold(one, 4 * MiB)
  assert.equal(budget.used, 224 * MiB)
  assert.equal(budget.hold(holderOf('key a'), MiB), false)
  assert.equal(budget.fits(holderOf('key a'), MiB), false)
  assert.equal(budget.fits(holderOf('key b'), MiB), true)
  const other = holderOf('key b')
  assert.ok(budget.hold(other, MiB))
  assert.ok(budget.settle(other, 80 * MiB))
  for (const one of [...stalled, other]) one.close()
  assert.equal(budget.used, 0)
})

test('a body that waits for its turn takes nothing when its client has left meanwhile', async (t) => {
  const budget = budgetOf(10 * 1024 * 1024)
  const holder = holderOf()
  const told: unknown[] = []
  const host = createServer((incoming, response) => {
    const reading = readBody(incoming, holder, budget, true, { takeBody: (...all) => told.push(all) })
    incoming.once('end', () => {
      assert.ok(holder.amount > 0)
      markLoopBusy()
      holder.close()
      reading.stop()
      response.end()
    })
    incoming.prependListener('end', markLoopBusy)
  })
  const url = `http://127.0.0.1:${await portOf(t, host)}`
  await fetch(url, { method: 'POST', body: 'x'.repeat(1024 * 1024) })
  await new Promise((resolve) => whenLoopIsFree(() => resolve(undefined)))
  assert.deepEqual([told, holder.amount, budget.used], [[], 0, 0])
})

/** How a request ends that has brought much: its run ends, or its client leaves. */
const ends: readonly (readonly [stream: boolean, isLeft: boolean])[] = [
  [false, false], [false, true], [true, false], [true, true],
]

test('what a request has brought is counted until it is done and no run holds it', async (t) => {
  const metadata = { many: Array.from({ length: 2_000 }, () => []) }
  for (const [stream, isLeft] of ends) {
    const running: (() => void)[] = []
    const run = (): Promise<string> => new Promise((resolve) => { running.push(() => resolve('done')) })
    const limits = { maxBodyBytes: 20_000, maxBodiesBytes: 150_000 }
    const { url, server } = await listen(t, { agents: [run], ...limits })
    const ask = (asked?: AbortController): Promise<Response> => fetch(url, {
      method: 'POST', headers: { 'content-type': 'application/json' }, ...asked && { signal: asked.signal },
      body: JSON.stringify({ query: 'hello', metadata, stream }),
    })
    const first = new AbortController()
    const answer = ask(first).then((response) => response.text()).catch(() => 'left')
    await eventually(() => running.length === 1, 'it runs')
    assert.equal((await ask()).status, 503)
    if (isLeft) {
      first.abort()
      assert.equal(await answer, 'left')
      // The run does not look at its signal, and has what was sent until its end.
      assert.equal((await ask()).status, 503)
    }
    running[0]!()
    assert.match(await answer, isLeft ? /^left$/ : /done/)
    await eventually(() => server.status().bodies.bytes === 0, 'nothing is held')
    const next = ask()
    await eventually(() => running.length === 2, 'there is room again')
    running[1]!()
    assert.match(await (await next).text(), /done/)
  }
})

/** What a body parser that came first has made of a request. */
const leftovers: readonly (readonly [what: string, left: unknown, status: number])[] = [
  ['a parsed body', { query: 'hello' }, 200],
  ['its text', '{"query":"hello"}', 200],
  ['its bytes', Buffer.from('{"query":"hello"}'), 200],
  ['a body that is too large', { query: 'x'.repeat(2_000) }, 413],
  ['nothing', undefined, 500],
  ['what cannot be written down', { query: 1n }, 500],
]

test('a body that a framework has read already is taken from where it left it', async (t) => {
  const server = serve(t, { agents: [echo], maxBodyBytes: 1_000 })
  let left: unknown
  const foreign = createServer(async (request: IncomingMessage & { body?: unknown }, response) => {
    request.resume()
    await once(request, 'end')
    request.body = left
    server.handler(request, response)
  })
  const url = `http://127.0.0.1:${await portOf(t, foreign)}`
  const headers = { 'content-type': 'application/json' }
  for (const [what, leftover, status] of leftovers) {
    left = leftover
    const response = await fetch(url, { method: 'POST', headers, body: '{"query":"hello"}' })
    assert.equal(response.status, status, what)
    const { response: said, detail } = await jsonOf(response)
    if (status === 200) assert.equal(said, 'You said hello')
    if (status === 500) assert.match(String(detail), /before body parsers, or put .* into request\.body/)
  }
  assert.equal((await fetch(url, { method: 'POST', headers })).status, 400)
})

test('bodies that come at once, in parts, short, long and very long, are each read whole', async (t) => {
  const { url } = await listen(t, {
    agents: [echo], maxBodyBytes: 16 * 1024 * 1024, maxResultBytes: 32 * 1024 * 1024,
  })
  const texts = Array.from({ length: 12 }, (_, at) => (
    at + (at % 3 === 0 ? 'é' : 'e').repeat([10, 100_000, 700_000, 4_300_000][at % 4]!) + at
  ))
  const answers = await Promise.all(texts.map(async (query) => jsonOf(await fetch(url, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }),
  }))))
  for (const [at, { response }] of answers.entries()) assert.ok(response === `You said ${texts[at]!}`)
})

/** Bodies that come byte by byte: how many bytes, the status, whether others have their turn in between. */
const crumbs: readonly (readonly [bytes: number, status: number, givesWay: boolean, type?: string])[] = [
  [500, 200, false], [3_000, 200, true], [30_000, 413, true], [30_000, 415, true, 'text/plain'],
]

for (const [bytes, status, givesWay, type] of crumbs) {
  const what = givesWay ? 'waits for a turn before more of it is read' : 'is read at once'
  test(`a body of ${bytes} chunks, answered with ${status}, ${what}`, async (t) => {
    const { handler } = serve(t, { agents: [echo], maxBodyBytes: 10_000 })
    let pauses = 0
    const host = createServer((request, response) => {
      request.socket.on('pause', () => pauses++)
      handler(request, response)
    })
    const url = `http://127.0.0.1:${await portOf(t, host)}`
    const answer = await crumbled(t, url, JSON.stringify({ query: 'x'.repeat(bytes) }), type)
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `))
    assert.equal(pauses > 0, givesWay)
  })
}

test('a long body is counted for the pages that it takes', async (t) => {
  const budget = budgetOf(1_000_000)
  const holder = holderOf()
  const host = createServer((incoming) => {
    const reading = readBody(incoming, holder, budget, true, { takeBody() {} })
    t.after(() => {
      holder.close()
      reading.stop()
    })
  })
  const socket = connect(await portOf(t, host), '127.0.0.1')
  t.after(() => socket.destroy())
  socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n\r\n')
  for (const [more, held] of [[50_000, 50_000], [50_000, 128 * 1024], [50_000, 192 * 1024]] as const) {
    socket.write('x'.repeat(more))
    await eventually(() => holder.amount === held, `${held} bytes are held`)
  }
  assert.equal(budget.used, 192 * 1024)
})

test('bodies whose chunks are views of more hold about what they are counted for', () => {
  const budget = budgetOf(10_000_000)
  const holders = Array.from({ length: 100 }, () => holderOf())
  const readings = holders.map((holder) => new BodyReading(holder, budget, { takeBody() {} }))
  const before = heldBytes()
  // As HTTP/2 and web streams may give them.
  for (let n = 0; n < 40; n++) {
    for (const reading of readings) reading.take(Buffer.alloc(65_536, 'a').subarray(0, 10))
  }
  const held = heldBytes() - before
  assert.equal(budget.used, 40_000)
  assert.ok(held < 5_000_000, `${held} for ${budget.used}`)
  for (const reading of readings) reading.stop()
  for (const holder of holders) holder.close()
})
