import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { ReaderCheck } from '../../../lib/kernel/http/stream/reader-check.ts'
import { Streams } from '../../../lib/kernel/http/stream/sink.ts'
import { gate } from '../../fixtures/wire.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { TestContext } from 'node:test'
import type { AskReader } from '../../../lib/kernel/http/stream/reader-check.ts'
import type { Dismissal, Sink, Source } from '../../../lib/kernel/http/message/exchange.ts'
import type { Pipe, StreamLimits, StreamSink } from '../../../lib/kernel/http/stream/sink.ts'

const GOOD_MS = 60_000
const gone: Dismissal = { kind: 'unauthenticated', message: 'gone' }
const limits: StreamLimits = {
  maxStreams: 10, maxStreamBytes: 1_000, maxQueuedBytes: 100_000, heartbeatMs: 10_000, writeTimeoutMs: 30_000,
}

class Tape implements Pipe {
  text = ''
  isFinished = false
  isDestroyed = false
  waiting = 0
  taken = 0
  push(text: string, isLast: boolean): void {
    this.text += text
    this.isFinished ||= isLast
  }
  destroy(): void { this.isDestroyed = true }
}

interface Opened {
  readonly sink: StreamSink
  readonly tape: Tape
  readonly pass: (ms: number) => Promise<void>
  readonly streams: Streams
  asked: number
  over: number
  /** What is answered: nothing while the reader may go on. */
  answer: AskReader
}

function open(
  t: TestContext, given: Partial<StreamLimits> = {}, more: Partial<Source> = {}, isEvents = true,
): Opened {
  const pass = standingTime(t)
  const streams = new Streams({ ...limits, ...given }, () => {})
  const tape = new Tape()
  const source: Source = {
    open(sink: Sink) {
      sink.write('first ')
      return () => { opened.over++ }
    },
    dismissal: ({ message }) => `[${message}]`,
    ...more,
  }
  const check = new ReaderCheck(() => {
    opened.asked++
    return opened.answer()
  }, performance.now())
  const opened: Opened = {
    tape, streams, asked: 0, over: 0, answer: () => undefined,
    sink: streams.open(source, tape, isEvents, { caller: 'ann', readerCheck: check }),
    async pass(ms) {
      await turn()
      pass(ms)
      await turn()
    },
  }
  t.after(() => opened.sink.gone())
  return opened
}

const silent = { heartbeatMs: 2 ** 40 }

test('nobody is asked within the first minute, and at most once in each', async (t) => {
  const one = open(t, silent)
  await one.pass(GOOD_MS - 1)
  one.sink.write('a ')
  await turn()
  assert.equal(one.asked, 0)
  await one.pass(1)
  for (const text of ['b ', 'c ', 'd ']) {
    one.sink.write(text)
    await turn()
  }
  assert.equal(one.asked, 1)
  await one.pass(GOOD_MS - 1)
  one.sink.write('e ')
  await turn()
  assert.equal(one.asked, 1)
  await one.pass(1)
  one.sink.write('f')
  await turn()
  assert.equal(one.asked, 2)
  assert.equal(one.tape.text, 'first a b c d e f')
})

test('a minute begins when it is asked, not when it is answered', async (t) => {
  const one = open(t, silent)
  const { promise, open: settle } = gate()
  one.answer = () => promise.then(() => undefined)
  await one.pass(GOOD_MS)
  one.sink.write('a ')
  await one.pass(5_000)
  settle()
  await one.pass(GOOD_MS - 5_000)
  one.sink.write('b')
  await turn()
  assert.equal(one.asked, 2)
})

test('what is written while it is asked leaves in order, once it is known, and is never lost', async (t) => {
  const one = open(t, silent)
  const { promise, open: settle } = gate()
  one.answer = () => promise.then(() => undefined)
  await one.pass(GOOD_MS)
  one.sink.write('a ')
  await turn()
  one.sink.write('b ')
  one.sink.end('c')
  await turn()
  assert.equal(one.tape.text, 'first ')
  assert.equal(one.tape.isFinished, false)
  settle()
  await turn()
  assert.equal(one.tape.text, 'first a b c')
  assert.equal(one.tape.isFinished, true)
  assert.equal(one.asked, 1)
})

for (const [name, later] of [['at once', false], ['later', true]] as const) {
  test(`a reader who may read no more gets the last text of the protocol alone: known ${name}`, async (t) => {
    const one = open(t, silent)
    one.answer = () => later ? Promise.resolve(gone) : gone
    await one.pass(GOOD_MS)
    one.sink.write('hidden')
    await turn()
    assert.equal(one.tape.text, 'first [gone]')
    assert.equal(one.tape.isFinished, true)
    assert.equal(one.over, 1)
    assert.equal(one.sink.write('more'), false)
    one.sink.end('more')
    await one.pass(GOOD_MS)
    assert.equal(one.tape.text, 'first [gone]')
    one.sink.gone()
    assert.equal(one.over, 1)
    assert.equal(one.asked, 1)
  })
}

test('the end of a stream whose reader may read no more is not sent either', async (t) => {
  const one = open(t, silent)
  one.answer = () => gone
  await one.pass(GOOD_MS)
  one.sink.end('hidden')
  await turn()
  assert.equal(one.tape.text, 'first [gone]')
  assert.equal(one.tape.isFinished, true)
})

test('a stream without a last text of its protocol just ends', async (t) => {
  for (const dismissal of [() => '', () => { throw new Error('broken') }]) {
    await t.test(async (t) => {
      const one = open(t, silent, { dismissal })
      one.answer = () => gone
      await one.pass(GOOD_MS)
      one.sink.write('hidden')
      await turn()
      assert.equal(one.tape.text, 'first ')
      assert.equal(one.tape.isFinished, true)
    })
  }
})

test('a silent stream is asked about at a heartbeat, and ends there', async (t) => {
  const one = open(t)
  await one.pass(GOOD_MS - 1)
  assert.equal(one.asked, 0)
  one.answer = () => gone
  await one.pass(5_001)
  assert.equal(one.asked, 1)
  assert.equal(one.tape.isFinished, true)
  assert.ok(one.tape.text.endsWith('[gone]'))
})

test('heartbeats go out while it is asked, and nothing else does', async (t) => {
  const one = open(t)
  const { promise, open: settle } = gate()
  one.answer = () => promise.then(() => undefined)
  await one.pass(GOOD_MS)
  one.sink.write('held')
  await turn()
  const before = one.tape.text
  await one.pass(10_000)
  const since = one.tape.text.slice(before.length)
  assert.match(since, /^(?::[^\n]*\n\n)+$/)
  one.tape.waiting = 1
  const slow = one.tape.text
  await one.pass(10_000)
  assert.equal(one.tape.text, slow)
  one.tape.waiting = 0
  settle()
  await turn()
  assert.ok(one.tape.text.endsWith('held'))
})

test('a stream that is no events gets no heartbeat while it is asked', async (t) => {
  const one = open(t, {}, {}, false)
  one.answer = () => new Promise(() => {})
  await one.pass(GOOD_MS + 20_000)
  assert.equal(one.tape.text, 'first ')
})

test('what waits for an answer counts, and a stream over its bound is dropped', async (t) => {
  const one = open(t, silent)
  one.answer = () => new Promise(() => {})
  await one.pass(GOOD_MS)
  one.sink.write('a'.repeat(600))
  await turn()
  assert.equal(one.streams.queued, 600)
  one.sink.write('b'.repeat(600))
  assert.equal(one.streams.queued, 1_200)
  assert.equal(one.tape.isDestroyed, false)
  one.sink.write('c')
  assert.equal(one.tape.isDestroyed, true)
  assert.equal(one.streams.queued, 0)
  assert.equal(one.over, 1)
})

test('a slow answer is not the fault of the reader, who is not dropped for it', async (t) => {
  const one = open(t, { ...silent, writeTimeoutMs: 2_000 })
  const { promise, open: settle } = gate()
  one.answer = () => promise.then(() => undefined)
  await one.pass(GOOD_MS)
  one.sink.write('held')
  await one.pass(9_000)
  settle()
  await turn()
  assert.equal(one.tape.isDestroyed, false)
  assert.equal(one.tape.text, 'first held')
})

test('a writer that can wait is woken when it is known', async (t) => {
  const one = open(t, { ...silent, maxStreamBytes: 1_000_000 })
  const { promise, open: settle } = gate()
  one.answer = () => promise.then(() => undefined)
  await one.pass(GOOD_MS)
  assert.equal(one.sink.write('a'.repeat(70_000)), false)
  await turn()
  let isReady = false
  void one.sink.ready().then(() => { isReady = true })
  await turn()
  assert.equal(isReady, false)
  settle()
  await turn()
  assert.equal(isReady, true)
})

for (const [name, answer] of Object.entries({
  throws: () => { throw new Error('down') },
  rejects: () => Promise.reject(new Error('down')),
})) {
  test(`a function that ${name} ends no stream at once; it is asked again after seconds`, async (t) => {
    const one = open(t, silent)
    one.answer = answer
    await one.pass(GOOD_MS)
    one.sink.write('a ')
    await turn()
    one.sink.write('b ')
    await one.pass(4_999)
    one.sink.write('c ')
    await turn()
    assert.equal(one.asked, 1)
    await one.pass(1)
    one.sink.write('d ')
    await turn()
    assert.equal(one.asked, 2)
    assert.equal(one.tape.text, 'first a b c d ')
    one.answer = () => undefined
    await one.pass(5_000)
    one.sink.write('e ')
    await turn()
    assert.equal(one.asked, 3)
    // All is well again: a minute counts from here on.
    await one.pass(GOOD_MS - 1)
    one.sink.write('f')
    await turn()
    assert.equal(one.asked, 3)
  })
}

test('while a function fails, events do not wait for it, and its refusal ends the stream', async (t) => {
  const one = open(t, silent)
  one.answer = () => Promise.reject(new Error('down'))
  await one.pass(GOOD_MS)
  one.sink.write('a ')
  await turn()
  const { promise, open: settle } = gate()
  one.answer = () => promise.then(() => gone)
  await one.pass(5_000)
  one.sink.write('b ')
  await turn()
  assert.equal(one.tape.text, 'first a b ')
  settle()
  await turn()
  assert.equal(one.tape.text, 'first a b [gone]')
  assert.equal(one.tape.isFinished, true)
})

test('a stream about which nothing can be learned ends after five minutes', async (t) => {
  const one = open(t, silent)
  one.answer = () => Promise.reject(new Error('down'))
  await one.pass(5 * GOOD_MS - 5_001)
  one.sink.write('a ')
  await one.pass(5_000)
  one.sink.write('b ')
  await turn()
  assert.equal(one.tape.text, 'first a b ')
  await one.pass(5_001)
  one.sink.write('c ')
  await turn()
  assert.ok(one.tape.text.endsWith('[The key or token could not be checked again]'))
  assert.equal(one.tape.isFinished, true)
})

test('an answer that comes when the stream is over changes nothing', async (t) => {
  const one = open(t, silent)
  const { promise, open: settle } = gate()
  one.answer = () => promise.then(() => gone)
  await one.pass(GOOD_MS)
  one.sink.write('held')
  await turn()
  one.sink.gone()
  settle()
  await turn()
  assert.equal(one.tape.text, 'first ')
  assert.equal(one.over, 1)
})
