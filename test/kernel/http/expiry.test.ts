import assert from 'node:assert/strict'
import test from 'node:test'
import { endingAt, isSource } from '../../../lib/kernel/http/message/reply.ts'
import { eventually, listen, request, serve } from '../../fixtures/kernel.ts'
import type { Reply, Sink } from '../../../lib/kernel/http/message/exchange.ts'

/** A sink that only tells whether it was ended. */
class Noting implements Sink {
  closed = false
  ends = 0
  write(): boolean { return true }
  async ready(): Promise<void> {}
  end(): void { this.ends++ }
}

function opened(expiresAt: number | undefined, sink: Noting): { readonly over: () => void; closes: number } {
  const state = { over: () => {}, closes: 0 }
  const reply = endingAt({ status: 200, body: { open: () => () => { state.closes++ } } }, expiresAt)
  assert.ok(isSource(reply.body))
  state.over = reply.body.open(sink) ?? state.over
  return state
}

test('a stream ends when its reader\'s time is over, and its source hears of the end once', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000 })
  const sink = new Noting()
  const state = opened(3_000, sink)
  t.mock.timers.tick(1_999)
  assert.equal(sink.ends, 0)
  t.mock.timers.tick(1)
  assert.equal(sink.ends, 1)
  state.over()
  assert.equal(state.closes, 1)
  t.mock.timers.tick(10_000)
  assert.equal(sink.ends, 1)
})

test('a stream that is over before has no timer left', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000 })
  const sink = new Noting()
  opened(3_000, sink).over()
  t.mock.timers.tick(10_000)
  assert.equal(sink.ends, 0)
})

test('a time beyond the longest timer is waited for', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 0 })
  const month = 30 * 24 * 3_600_000
  const sink = new Noting()
  opened(month, sink)
  t.mock.timers.tick(month - 1)
  assert.equal(sink.ends, 0)
  t.mock.timers.tick(1)
  assert.equal(sink.ends, 1)
})

test('where nobody\'s time is limited, and nothing is streamed, a reply stays as it is', () => {
  const whole: Reply = { status: 200, body: 'text' }
  assert.equal(endingAt(whole, 1), whole)
  const stream: Reply = { status: 200, body: { open: () => undefined } }
  for (const never of [undefined, Infinity]) assert.equal(endingAt(stream, never), stream)
})

test('whoever reads by a key reads no longer than the key counts', async (t) => {
  let isOver = false
  const agent = {
    name: 'Endless',
    async *run(_prompt: string, call: { readonly signal: AbortSignal }) {
      call.signal.addEventListener('abort', () => { isOver = true })
      yield 'begun'
      await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
    },
  }
  const ask = { 'x-api-key': 'k', 'content-type': 'application/json' }
  const options = {
    agents: [agent], apiKey: () => ({ id: 'ann', scopes: [], expiresAt: Date.now() + 1_000 }),
  }
  const { url } = await listen(t, options)
  const outside = await fetch(url, { method: 'POST', headers: ask, body: '{"query":"hi","stream":true}' })
  assert.match(await outside.text(), /begun/)
  await eventually(() => isOver, 'the run was ended')
  isOver = false
  const inside = await serve(t, options).fetch(request('/', { query: 'hi', stream: true }, ask))
  assert.match(await inside.text(), /begun/)
  await eventually(() => isOver, 'the run was ended')
})
