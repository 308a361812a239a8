import assert from 'node:assert/strict'
import test from 'node:test'
import { DeferredStream } from '../../../lib/floors/kept-streams/deferred-stream.ts'
import type { Sink } from '../../../lib/kernel/http/message/exchange.ts'

/** A sink that remembers what it was told. */
function tape(told: string[]): Sink {
  return {
    closed: false,
    write: (text) => { told.push(text); return true },
    ready: () => Promise.resolve(),
    end: (text = '') => { told.push(`${text}.`) },
  }
}

test('what was said before the stream was open comes first', () => {
  const told: string[] = []
  const outbox = new DeferredStream()
  assert.equal(outbox.write('a'), true)
  outbox.write('b')
  outbox.open(tape(told))
  outbox.write('c')
  outbox.end('d')
  assert.deepEqual(told, ['ab', 'c', 'd.'])
})

test('a stream that ended before it was open is opened and ended', () => {
  const told: string[] = []
  const outbox = new DeferredStream()
  outbox.write('a')
  outbox.end('b')
  outbox.open(tape(told))
  assert.deepEqual(told, ['ab.'])
})

test('a stream of which nothing was said yet is opened in silence', () => {
  const told: string[] = []
  new DeferredStream().open(tape(told))
  assert.deepEqual(told, [])
})

test('after the end, and after the reader has left, writing is refused', async () => {
  const ended = new DeferredStream()
  ended.end()
  const left = new DeferredStream()
  left.open(tape([]))()
  for (const outbox of [ended, left]) {
    assert.equal(outbox.closed, true)
    assert.equal(outbox.write('late'), false)
    outbox.end('later')
    await outbox.ready()
  }
})

test('whoever holds it is told that the stream is over', () => {
  let count = 0
  const over = new DeferredStream(() => { count++ }).open(tape([]))
  assert.equal(count, 0)
  over()
  assert.equal(count, 1)
})
