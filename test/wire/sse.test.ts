import assert from 'node:assert/strict'
import test from 'node:test'
import { eventReader, formatEvent, HEARTBEAT } from '../../lib/wire/sse.ts'
import type { ServerEvent } from '../../lib/wire/sse.ts'

/** Reads a text that comes in pieces. */
function read(...chunks: readonly string[]): readonly ServerEvent[] {
  const events: ServerEvent[] = []
  const take = eventReader((event) => events.push(event))
  for (const chunk of chunks) take(chunk)
  return events
}

test('an event is written with its id and name, or without', () => {
  assert.equal(formatEvent('{}'), 'data: {}\n\n')
  assert.equal(formatEvent('{}', 'delta', '7'), 'id: 7\nevent: delta\ndata: {}\n\n')
})

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

test('an event that is too long is refused, whole or growing', () => {
  const grow = eventReader(() => {}, 10)
  assert.throws(() => grow('data: 12345678901\n'), RangeError)
  const trickle = eventReader(() => {}, 10)
  assert.throws(() => { for (let at = 0; at < 20; at++) trickle('x') }, /longer than 10 characters/)
})
