import assert from 'node:assert/strict'
import test from 'node:test'
import { eventReader } from '../../../lib/floors/outbound/event-reader.ts'
import { costOf } from '../../fixtures/time.ts'
import { formatEvent, HEARTBEAT } from '../../../lib/kernel/wire/sse.ts'
import type { ServerEvent } from '../../../lib/floors/outbound/event-reader.ts'

/** Reads a text that comes in pieces. */
function read(...chunks: readonly string[]): readonly ServerEvent[] {
  const events: ServerEvent[] = []
  const take = eventReader((event) => events.push(event))
  for (const chunk of chunks) take(chunk)
  return events
}

test('what is written is read again, heartbeats passed over', () => {
  assert.deepEqual(read(HEARTBEAT, formatEvent('{"a":1}', 'delta', '1'), HEARTBEAT, formatEvent('2')), [
    { event: 'delta', data: '{"a":1}', id: '1' },
    { event: 'message', data: '2', id: '1' },
  ])
})

const one = [{ event: 'a', data: 'b', id: '' }]

const texts: readonly (readonly [what: string, text: string, events: readonly ServerEvent[]])[] = [
  ['line feeds', 'event: a\ndata: b\n\n', one],
  ['returns', 'event: a\rdata: b\r\r', one],
  ['both', 'event: a\r\ndata: b\r\n\r\n', one],
  ['a byte order mark', '\ufeffevent: a\ndata: b\n\n', one],
  ['no space behind the colon', 'event:a\ndata:b\n\n', one],
  ['two spaces behind the colon', 'data:  b\n\n', [{ event: 'message', data: ' b', id: '' }]],
  ['several data lines', 'data: a\ndata\ndata: b\n\n', [{ event: 'message', data: 'a\n\nb', id: '' }]],
  ['no data', 'event: a\nid: 1\n\ndata: b\n\n', [{ event: 'message', data: 'b', id: '1' }]],
  ['an unknown field', 'colour: red\nevent: a\ndata: b\n\n', one],
  ['an id with NUL', 'id: a\0b\nevent: a\ndata: b\n\n', one],
  ['no blank line at the end', 'event: a\ndata: b\n\ndata: c\n', one],
]

test('a stream is read whatever its line ends are and wherever it was cut', () => {
  for (const [what, text, events] of texts) {
    assert.deepEqual(read(text), events, what)
    assert.deepEqual(read(...text), events, `${what}, character by character`)
  }
})

const tooLong: readonly (readonly [what: string, chunk: string])[] = [
  ['one long line', 'data: 12345678901\n'],
  ['a line without an end', 'x'],
  ['data lines that are empty', 'data:\n'],
  ['data lines without a colon', 'data\r\n'],
  ['comments', ':\n'],
  ['names', 'event: a\n'],
]

test('an event that is too long is refused, whole or growing, whatever it is made of', () => {
  for (const [what, chunk] of tooLong) {
    const grow = eventReader(() => assert.fail(what), 10)
    assert.throws(() => { for (let at = 0; at < 20; at++) grow(chunk) }, (error) => {
      return error instanceof RangeError && error.message === 'An event is longer than 10 characters'
    }, what)
  }
})

test('what is counted begins anew with each event', () => {
  let count = 0
  const feed = eventReader(() => { count++ }, 10)
  for (let at = 0; at < 1000; at++) feed(': \n\ndata: 1\n\n')
  assert.equal(count, 1000)
})

/** Milliseconds that it takes to read a text, `size` characters at a time. */
function cost(text: string, size: number, enough?: number): number {
  const chunks: string[] = []
  for (let at = 0; at < text.length; at += size) chunks.push(text.slice(at, at + size))
  return costOf(() => {
    const feed = eventReader(() => {})
    for (const chunk of chunks) feed(chunk)
  }, enough)
}

const bulk: readonly (readonly [what: string, size: number, text: (count: number) => string])[] = [
  ['a long line in small chunks', 2, (count) => `data: ${'xy'.repeat(count)}\n\n`],
  ['a long line that is never whole', 2, (count) => `data: ${'xy'.repeat(count)}`],
  ['many data lines in one event', 7, (count) => `${'data:\n'.repeat(count)}\n`],
  ['many tiny lines', 1e9, (count) => ':\n\n'.repeat(count)],
  ['many tiny events', 1e9, (count) => 'data: 1\n\n'.repeat(count)],
  ['returns and line feeds apart', 1, (count) => '\r\n'.repeat(count)],
]

test('eight times the text takes about eight times as long, however it was cut', () => {
  for (const [what, size, text] of bulk) {
    const few = cost(text(50_000), size)
    // What grows with the square takes 64 times as long; the rest is for a busy machine.
    const limit = 30 * (few + 1)
    const many = cost(text(400_000), size, limit)
    assert.ok(many <= limit, `${what}: ${few.toFixed(1)} ms, then ${many.toFixed(1)} ms`)
  }
})
