import assert from 'node:assert/strict'
import test from 'node:test'
import { Streams } from '../../../lib/kernel/http/stream/sink.ts'
import { eventually, listen, request, serve } from '../../fixtures/kernel.ts'
import type { TestContext } from 'node:test'
import type { Source } from '../../../lib/kernel/http/message/exchange.ts'
import type { StreamSink } from '../../../lib/kernel/http/stream/sink.ts'

const limits = {
  maxStreams: 100, maxStreamBytes: 1_000, maxQueuedBytes: 1_000_000, heartbeatMs: 2 ** 40,
  writeTimeoutMs: 60_000,
}
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface Opened {
  readonly sink: StreamSink
  readonly told: readonly string[]
  readonly logged: readonly string[]
  readonly over: number
}

/** A stream that has begun, at a standing time. */
async function opened(t: TestContext, expiresAt?: number, more: Partial<Source> = {}): Promise<Opened> {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000 })
  const state = { told: [] as string[], logged: [] as string[], over: 0 }
  const note = (text: string): void => { state.told.push(text) }
  const streams = new Streams(limits, (_level, message) => { state.logged.push(message) })
  const pipe = {
    push(text: string, isLast: boolean) {
      if (text !== '') note(text)
      if (isLast) note('finish')
    },
    destroy: () => note('destroy'), waiting: 0, taken: 0,
  }
  const source: Source = {
    open(sink) {
      sink.write('first ')
      return () => { state.over++ }
    },
    dismissal: ({ kind, message }) => `[${kind}: ${message}]`,
    ...more,
  }
  const principal = expiresAt === undefined ? {} : { expiresAt }
  const sink = streams.open(source, pipe, true, { caller: 'ann', principal })
  t.after(() => sink.gone())
  await tick()
  return Object.assign(state, { sink })
}

const LAST = '[unauthenticated: The key or token has expired]'

test('a stream ends when its reader\'s time is over, and its source hears of the end once', async (t) => {
  const state = await opened(t, 3_000)
  t.mock.timers.tick(1_999)
  await tick()
  assert.deepEqual(state.told, ['first '])
  t.mock.timers.tick(1)
  await tick()
  assert.deepEqual(state.told, ['first ', LAST, 'finish'])
  state.sink.gone()
  t.mock.timers.tick(10_000)
  await tick()
  assert.deepEqual([state.over, state.told.length], [1, 3])
})

test('a stream that is over before has no timer left', async (t) => {
  let asked = 0
  const state = await opened(t, 3_000, { dismissal: () => { asked++; return '' } })
  state.sink.gone()
  t.mock.timers.tick(10_000)
  assert.deepEqual([asked, state.over], [0, 1])
})

test('a time beyond the longest timer is waited for', async (t) => {
  const month = 30 * 24 * 3_600_000
  const state = await opened(t, 1_000 + month)
  t.mock.timers.tick(month - 1)
  await tick()
  assert.deepEqual(state.told, ['first '])
  t.mock.timers.tick(1)
  await tick()
  assert.deepEqual(state.told, ['first ', LAST, 'finish'])
})

test('who comes when the time is over reads what is there, and the end', async (t) => {
  assert.deepEqual((await opened(t, 1_000)).told, [`first ${LAST}`, 'finish'])
})

test('a protocol that cannot say why a stream ends has it ended all the same', async (t) => {
  const state = await opened(t, 3_000, { dismissal: () => { throw new Error('odd') } })
  t.mock.timers.tick(2_000)
  await tick()
  assert.deepEqual([state.told, state.logged], [['first ', 'finish'], ['A stream could not say why it ends']])
})

test('where nobody\'s time is limited a stream stays open', async (t) => {
  for (const never of [undefined, Infinity]) {
    const state = await opened(t, never)
    t.mock.timers.tick(2 ** 31)
    await tick()
    assert.deepEqual(state.told, ['first '])
    t.mock.timers.reset()
  }
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
    agents: [agent], apiKey: () => ({ id: 'ann', scopes: [], expiresAt: Date.now() + 2_000 }),
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
