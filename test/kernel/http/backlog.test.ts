import assert from 'node:assert/strict'
import { connect } from 'node:net'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Backlog, QueuedReply } from '../../../lib/kernel/http/stream/backlog.ts'
import { standingTime } from '../../fixtures/time.ts'
import { dial, echo, eventually, listen, request, serve } from '../../fixtures/kernel.ts'
import type { TestContext } from 'node:test'
import type { ProbeOptions, Wire } from '../../fixtures/kernel.ts'
import type { Call } from '../../../lib/kernel.ts'
import type { RequestSummary } from '../../../lib/kernel/http/server/observer.ts'

const MiB = 1024 * 1024

/** A reply of which some bytes wait. */
class Held extends QueuedReply {
  waiting = 0
  taken = 0
  isDropped = false
  drop(): void { this.isDropped = true }
}

function held(backlog: Backlog, bytes: number): Held {
  const reply = new Held()
  reply.waiting = bytes
  backlog.account(reply, bytes)
  return reply
}

test('where all replies together hold too much the largest goes, whatever was written last', () => {
  const backlog = new Backlog({ maxQueuedBytes: 100, writeTimeoutMs: 60_000 })
  const replies = [held(backlog, 40), held(backlog, 50), held(backlog, 5)]
  assert.equal(backlog.bytes, 95)
  backlog.account(replies[2]!, 11)
  assert.deepEqual(replies.map(({ isDropped }) => isDropped), [false, true, false])
  assert.equal(backlog.bytes, 51)
  for (const reply of replies) backlog.account(reply, 0)
  assert.equal(backlog.bytes, 0)
})

test('of a reply that is over nothing is counted any more', () => {
  const backlog = new Backlog({ maxQueuedBytes: 100, writeTimeoutMs: 60_000 })
  const reply = held(backlog, 40)
  reply.close()
  backlog.account(reply, 40)
  assert.deepEqual([reply.amount, backlog.bytes], [0, 0])
  const dropped = held(backlog, 101)
  backlog.account(dropped, 50)
  assert.deepEqual([dropped.isDropped, backlog.bytes], [true, 0])
})

test('a reply that is too large for all is dropped itself', () => {
  const backlog = new Backlog({ maxQueuedBytes: 100, writeTimeoutMs: 60_000 })
  const small = held(backlog, 10)
  const large = held(backlog, 101)
  assert.deepEqual([small.isDropped, large.isDropped, backlog.bytes], [false, true, 10])
  small.close()
})

test('a reply of which nothing is taken for a while is dropped, and no other', (t) => {
  const pass = standingTime(t)
  const backlog = new Backlog({ maxQueuedBytes: 1_000, writeTimeoutMs: 200 })
  const [stuck, moving, gone] = [held(backlog, 10), held(backlog, 10), held(backlog, 10)]
  // All of it is taken, and nobody says so.
  gone.waiting = 0
  const take = (times: number): void => {
    for (let time = 0; time < times; time++) {
      pass(20)
      moving.taken++
    }
  }
  take(9)
  assert.equal(stuck.isDropped, false)
  take(3)
  assert.equal(stuck.isDropped, true)
  take(15)
  assert.deepEqual([moving.isDropped, gone.isDropped, backlog.bytes], [false, false, 10])
  moving.close()
  assert.equal(backlog.bytes, 0)
})

const ask = (more: object = {}): string => {
  const body = JSON.stringify({ query: 'hello', ...more })
  return 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    + `Content-Length: ${body.length}\r\n\r\n${body}`
}

/** A connection that asks, and reads nothing of the answer. */
async function deaf(t: TestContext, port: number, asked: string): Promise<Wire> {
  const wire = await dial(t, port)
  wire.socket.pause()
  wire.send(asked)
  return wire
}

/** Streams a little, and goes on and on. */
async function* drip(_prompt: string, { signal }: Call): AsyncGenerator<string> {
  yield 'x'.repeat(12 * MiB)
  while (!signal.aborted) {
    await sleep(20)
    yield 'y'
  }
}

/** Of either reply more waits than the kernel's buffers take. */
const replies: readonly (readonly [what: string, options: ProbeOptions, asked: string])[] = [
  ['a whole reply', { agents: [() => 'x'.repeat(12 * MiB)] }, ask()],
  ['a stream', { agents: [drip], maxStreamBytes: 64 * MiB, heartbeatMs: 50 }, ask({ stream: true })],
]

for (const [what, options, asked] of replies) {
  test(`${what} of which its reader takes nothing is dropped in the end`, async (t) => {
    const told: RequestSummary[] = []
    const onRequest = (summary: RequestSummary): void => { told.push(summary) }
    const { port, server } = await listen(t, { ...options, writeTimeoutMs: 300, onRequest })
    await deaf(t, port, asked)
    await eventually(() => told.length === 1, 'it is dropped')
    assert.equal(told[0]?.status, 200)
    assert.ok(Number(told[0]?.durationMs) > 250)
    assert.equal((await server.fetch(request('/health'))).status, 200)
  })

  test(`${what} that is read slowly is not dropped`, async (t) => {
    const { port } = await listen(t, { ...options, writeTimeoutMs: 2_000 })
    const socket = connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    socket.write(asked)
    const beganAt = performance.now()
    let got = 0
    while (got < 12 * MiB) {
      assert.equal(socket.closed, false, `closed after ${got} bytes`)
      const chunk: unknown = socket.read(512 * 1024) ?? socket.read()
      if (chunk instanceof Uint8Array) got += chunk.length
      await sleep(100)
    }
    assert.ok(performance.now() - beganAt > 2_000)
  })
}

test('whole replies that nobody reads have one bound with all the streams', async (t) => {
  const told: RequestSummary[] = []
  const onRequest = (summary: RequestSummary): void => { told.push(summary) }
  const { port, server } = await listen(t, {
    agents: [() => 'x'.repeat(12 * MiB)], maxQueuedBytes: 40 * MiB, maxStreamBytes: MiB, onRequest,
  })
  const wires = await Promise.all(Array.from({ length: 10 }, () => deaf(t, port, ask())))
  await eventually(() => told.length >= 6, 'most are dropped')
  await sleep(50)
  assert.ok(told.length < 10, String(told.length))
  assert.equal((await server.fetch(request('/health'))).status, 200)
  for (const wire of wires) wire.leave()
})

test('what is sent without a socket is held by whoever asked for it', async (t) => {
  const server = serve(t, { agents: [echo], writeTimeoutMs: 20 })
  const response = await server.fetch(request('/health'))
  await sleep(60)
  assert.match(await response.text(), /"ok"/)
})

test('a web stream of which nobody takes anything is dropped in the end', async (t) => {
  let isOver = false
  const onRequest = (): void => { isOver = true }
  const server = serve(t, { agents: [drip], writeTimeoutMs: 100, maxStreamBytes: 64 * MiB, onRequest })
  const response = await server.fetch(request('/', { query: 'hello', stream: true }))
  await eventually(() => isOver, 'it is dropped')
  await assert.rejects(response.text(), { name: 'AbortError' })
})
