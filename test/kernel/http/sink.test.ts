import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Streams } from '../../../lib/kernel/http/stream/sink.ts'
import { turn as state } from '../../../lib/kernel/http/stream/loop-fairness.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { Sink, Source } from '../../../lib/kernel/http/message/exchange.ts'
import type { Pipe, StreamLimits, StreamSink } from '../../../lib/kernel/http/stream/sink.ts'

const limits = {
  maxStreams: 100, maxStreamBytes: 1_000, maxQueuedBytes: 1_000_000, heartbeatMs: 60_000,
  writeTimeoutMs: 60_000,
}
const KIB = 1024

function streamsOf(given: Partial<StreamLimits> = {}, logged: string[] = []): Streams {
  return new Streams({ ...limits, ...given }, (_level, message) => { logged.push(message) })
}

/** A pipe that remembers what it was told, and takes nothing while it is stuck. */
class Tape implements Pipe {
  readonly told: string[] = []
  isStuck = false
  waiting = 0
  taken = 0

  #hasBegun = false

  push(text: string, isLast: boolean): void {
    if (!this.#hasBegun) this.#take(isLast ? 'whole' : 'begin', text)
    else if (text !== '') this.#take('push', text)
    this.#hasBegun = true
    if (isLast) this.told.push('finish')
  }

  destroy(): void { this.told.push('destroy') }

  #take(what: string, text: string): void {
    this.told.push(`${what} ${text.length > 20 ? text.length : text}`.trimEnd())
    if (this.isStuck) this.waiting += text.length
    else this.taken += text.length
  }
}

const opened: StreamSink[] = []
after(() => { for (const sink of opened) sink.gone() })

interface Opened { readonly sink: StreamSink; readonly tape: Tape; readonly over: () => number }

function open(
  streams: Streams, begin: (sink: Sink) => void = () => {}, isEvents = true, tape = new Tape(), caller = 'a',
): Opened {
  let count = 0
  const source: Source = {
    open(sink) {
      begin(sink)
      return () => { count++ }
    },
  }
  const sink = streams.open(source, tape, isEvents, { caller })
  opened.push(sink)
  return { sink, tape, over: () => count }
}

test('a source that says nothing in its first turn has its head sent alone', async () => {
  const { sink, tape } = open(streamsOf())
  await turn()
  assert.deepEqual(tape.told, ['begin'])
  sink.write('a')
  await turn()
  assert.deepEqual(tape.told, ['begin', 'push a'])
})

test('a stream that is told much at once takes the turn: no other large work is begun in it', async () => {
  const { sink } = open(streamsOf())
  sink.write('a'.repeat(100 * KIB))
  assert.equal(state.isTaken, false)
  sink.write('a'.repeat(100 * KIB))
  assert.equal(state.isTaken, true)
  await turn()
  assert.equal(state.isTaken, false)
})

test('what is said in one turn leaves as one piece, with the head where it is the first', async () => {
  const { sink, tape } = open(streamsOf(), (fresh) => { fresh.write('a'); fresh.write('b') })
  assert.deepEqual(tape.told, [])
  sink.write('c')
  await turn()
  sink.write('d')
  sink.write('e')
  sink.end('f')
  await turn()
  assert.deepEqual(tape.told, ['begin abc', 'push def', 'finish'])
})

test('a stream that ends in the turn in which it began leaves whole', async () => {
  const { tape } = open(streamsOf(), (sink) => { sink.write('a'); sink.end('b') })
  await turn()
  assert.deepEqual(tape.told, ['whole ab', 'finish'])
})

test('pieces that are ready leave with the head, however many promises stand between them', async () => {
  const { tape } = open(streamsOf(), async (sink) => {
    for (const piece of 'abcdef') {
      await Promise.resolve()
      sink.write(piece)
    }
    sink.end()
  })
  await turn()
  assert.deepEqual(tape.told, ['whole abcdef', 'finish'])
})

test('after the end, and after the reader has left, writing is refused and never an error', async () => {
  for (const finish of [(sink: StreamSink) => sink.end(), (sink: StreamSink) => sink.gone()]) {
    const { sink, tape } = open(streamsOf())
    finish(sink)
    await turn()
    const told = [...tape.told]
    assert.equal(sink.write('late'), false)
    sink.end('later')
    await sink.ready()
    await turn()
    assert.deepEqual(tape.told, told)
  }
})

test('a source is told once that it is over, whoever ended it', async () => {
  const streams = streamsOf()
  const left = open(streams)
  left.sink.gone()
  left.sink.gone()
  left.sink.end()
  assert.equal(left.over(), 1)
  const ended = open(streams, (sink) => sink.end())
  await turn()
  assert.equal(ended.over(), 0)
  ended.sink.gone()
  assert.equal(ended.over(), 1)
  assert.equal(streams.count, 0)
})

test('a source that breaks while it is opened leaves nothing behind', () => {
  const streams = streamsOf()
  assert.throws(() => open(streams, () => { throw new Error('broken') }), /broken/)
  assert.equal(streams.count, 0)
})

test('what breaks between two turns ends that stream, and is logged', async () => {
  const logged: string[] = []
  const streams = streamsOf({}, logged)
  const tape = new Tape()
  tape.push = () => { throw new Error('an odd pipe') }
  const broken = open(streams, () => {}, true, tape)
  const fine = open(streams)
  await turn()
  broken.sink.write('a')
  fine.sink.write('a')
  await turn()
  assert.deepEqual([broken.sink.closed, broken.over(), fine.sink.closed], [true, 1, false])
  const odd: Source = { open: () => () => { throw new Error('an odd source') } }
  streams.open(odd, new Tape(), true, { caller: 'a' }).gone()
  assert.deepEqual(logged, ['A stream could not be written', 'A stream could not be ended'])
  assert.equal(streams.count, 1)
})

test('a slow reader makes its writer wait, until what waited has gone or the reader has', async () => {
  const drain = ({ tape, sink }: Opened): void => { tape.waiting = 0; sink.drained() }
  const leave = ({ sink }: Opened): void => sink.gone()
  for (const release of [drain, leave]) {
    const opened = open(streamsOf({ maxStreamBytes: KIB * KIB }))
    opened.tape.isStuck = true
    assert.equal(opened.sink.write('x'.repeat(100 * KIB)), false)
    await turn()
    let isReady = false
    const ready = opened.sink.ready().then(() => { isReady = true })
    await turn()
    assert.equal(isReady, false)
    release(opened)
    await ready
  }
})

test('a stream on which too much waits is dropped, and only that one', async () => {
  const streams = streamsOf()
  const slow = open(streams)
  const quick = open(streams)
  slow.tape.isStuck = true
  for (let at = 0; at < 20; at++) {
    slow.sink.write('x'.repeat(100))
    quick.sink.write('x'.repeat(100))
    await turn()
  }
  assert.equal(slow.sink.closed, true)
  assert.equal(slow.tape.told.at(-1), 'destroy')
  assert.equal(slow.over(), 1)
  assert.equal(quick.sink.closed, false)
  assert.equal(streams.count, 1)
  assert.equal(streams.queued, 0)
})

test('one message over the cap is no fault of a reader who keeps up', async () => {
  const { sink, tape } = open(streamsOf())
  await turn()
  sink.write('x'.repeat(5_000))
  await turn()
  sink.write('y'.repeat(5_000))
  await turn()
  assert.deepEqual(tape.told, ['begin', 'push 5000', 'push 5000'])
})

test('where all streams together hold too much, the largest is dropped first', async () => {
  const streams = streamsOf({ maxStreamBytes: 10_000, maxQueuedBytes: 10_000 })
  const sizes = [2_000, 6_000, 3_000]
  const opened = sizes.map((size) => {
    const one = open(streams)
    one.tape.isStuck = true
    one.sink.write('x'.repeat(size))
    return one
  })
  await turn()
  assert.deepEqual(opened.map(({ sink }) => sink.closed), [false, true, false])
  assert.equal(streams.queued, 5_000)
})

test('silence is filled with comments, on event streams that keep up', async (t) => {
  const pass = standingTime(t)
  const streams = streamsOf({ heartbeatMs: 20 })
  const silent = open(streams)
  const plain = open(streams, () => {}, false)
  const stuck = open(
    streams, (sink) => { sink.write('x') }, true, Object.assign(new Tape(), { isStuck: true }),
  )
  for (let at = 0; at < 15; at++) {
    pass(10)
    await turn()
  }
  assert.equal(silent.tape.told.filter((told) => told === 'push :').length, 7)
  assert.deepEqual(plain.tape.told, ['begin'])
  assert.deepEqual(stuck.tape.told, ['begin x'])
  for (const { sink } of [silent, plain, stuck]) sink.gone()
})

test('a server knows when it has as many streams as it may', () => {
  const streams = streamsOf({ maxStreams: 2 })
  const room = (caller = 'a'): boolean => streams.hasRoomFor({ caller })
  const first = open(streams)
  assert.equal(room(), true)
  const second = open(streams)
  assert.equal(room(), false)
  first.sink.gone()
  assert.equal(room(), true)
  second.sink.gone()
  assert.equal(streams.count, 0)
})

test('one caller who has opened all streams locks no other out', () => {
  const streams = streamsOf({ maxStreams: 4 })
  const all = Array.from({ length: 4 }, () => open(streams))
  assert.deepEqual(['a', 'b'].map((caller) => streams.hasRoomFor({ caller })), [false, true])
  all.push(open(streams, undefined, true, new Tape(), 'b'))
  for (const { sink } of all) sink.gone()
  assert.equal(streams.count, 0)
})
