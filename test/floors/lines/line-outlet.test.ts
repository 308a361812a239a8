/**
 * What waits for a client that does not read: how it leaves, what is lost, and when the client is gone.
 */
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import test from 'node:test'
import { LineOutlet } from '../../../lib/floors/lines/line-outlet.ts'
import { formatNotification } from '../../../lib/floors/jsonrpc/jsonrpc.ts'
import type { LineKind } from '../../../lib/floors/lines/line-outlet.ts'

/** An end that takes one piece, and the next when it is told to. */
class Reader extends Writable {
  readonly pieces: string[] = []
  #done: (() => void) | undefined

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.pieces.push(String(chunk))
    this.#done = done
  }

  /** Takes what it was given, and waits for the next. */
  async take(): Promise<void> {
    const done = this.#done
    this.#done = undefined
    done?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

interface Seen { rooms: number; gone: readonly string[] }
interface Opened { readonly outlet: LineOutlet; readonly reader: Reader; readonly seen: Seen }

function open(maxStreamBytes = 1_000, maxQueuedBytes = 1_000_000): Opened {
  const reader = new Reader()
  const seen: Seen = { rooms: 0, gone: [] }
  const outlet = new LineOutlet(reader, { maxStreamBytes, maxQueuedBytes }, {
    onRoom() { seen.rooms++ },
    onDisconnect(why) { seen.gone = [...seen.gone, why] },
  }, kindOf)
  return { outlet, reader, seen }
}

function kindOf(text: string): LineKind {
  if (!text.includes('"method":"notifications/')) return 'other'
  return /\/(?:progress|message)"/.test(text) ? 'losable' : 'lasting'
}

const progress = (count: number): string => (
  formatNotification('notifications/progress', `{"progress":${count}}`)
)
const log = formatNotification('notifications/message', `{"data":"${'x'.repeat(100)}"}`)
const updated = (uri: string): string => (
  formatNotification('notifications/resources/updated', `{"uri":"${uri}"}`)
)

test('what is sent while a piece is on its way leaves as one piece, in order', async () => {
  const { outlet, reader } = open()
  for (const text of ['a', 'b', progress(1), 'c']) outlet.send(text)
  await reader.take()
  await reader.take()
  outlet.send('d')
  assert.deepEqual(reader.pieces, ['a\n', `b\n${progress(1)}\nc\n`, 'd\n'])
})

test('the oldest progress and logs give way to newer ones, and to nothing else', async () => {
  const { outlet, reader, seen } = open(1_000)
  outlet.send('first')
  outlet.send('an answer')
  outlet.send(updated('file:///a'))
  for (let count = 0; count < 100; count++) {
    outlet.send(progress(count))
    outlet.send(log)
  }
  await reader.take()
  const [, second = ''] = reader.pieces
  assert.ok(second.startsWith(`an answer\n${updated('file:///a')}\n`))
  assert.ok(second.endsWith(`${progress(99)}\n${log}\n`))
  assert.ok(second.length < 1_100, `${second.length} bytes waited`)
  assert.deepEqual(seen.gone, [])
})

test('a change that waits to be told is told once', async () => {
  const { outlet, reader } = open()
  outlet.send('first')
  for (let count = 0; count < 1_000; count++) outlet.send(updated(`file:///${count % 2}`))
  await reader.take()
  assert.equal(reader.pieces[1], `${updated('file:///0')}\n${updated('file:///1')}\n`)
  // Once it has left it can be told again.
  outlet.send(updated('file:///0'))
  await reader.take()
  assert.equal(reader.pieces[2], `${updated('file:///0')}\n`)
})

const floods: readonly (readonly [what: string, message: (count: number) => string])[] = [
  ['changes', (count) => updated(`file:///${count}`)],
  ['answers', () => 'x'.repeat(1_000)],
]

test('a client that leaves more behind than may wait is gone', () => {
  for (const [what, message] of floods) {
    const { outlet, seen } = open(1_000, 10_000)
    outlet.send('first')
    for (let count = 0; count < 1_000; count++) outlet.send(message(count))
    assert.equal(outlet.isGone, true, what)
    assert.equal(seen.gone.length, 1)
    assert.match(seen.gone[0]!, /^The client does not read: \d+ bytes wait for it$/)
  }
})

test('it says when it is full, and when there is room again', async () => {
  const { outlet, reader, seen } = open()
  outlet.send('a')
  assert.equal(outlet.isFull, false)
  outlet.send('x'.repeat(70_000))
  assert.equal(outlet.isFull, true)
  await reader.take()
  assert.equal(outlet.isFull, true)
  assert.equal(seen.rooms, 0)
  await reader.take()
  assert.equal(outlet.isFull, false)
  assert.equal(seen.rooms, 1)
})

test('whoever waits for the last byte waits as long as some are taken', async () => {
  const { outlet, reader, seen } = open()
  await outlet.flushed(0)
  for (let count = 0; count < 5; count++) outlet.send('x'.repeat(70_000))
  let isFlushed = false
  const flushed = outlet.flushed(60_000).then(() => { isFlushed = true })
  for (let count = 0; count < 4; count++) {
    await reader.take()
    assert.equal(isFlushed, false)
  }
  await reader.take()
  await flushed
  outlet.send('a')
  await outlet.flushed(5)
  assert.deepEqual(seen.gone, ['The client does not read what it is sent'])
})

test('a closed end is told once, whoever closes it', async () => {
  for (const cause of [new Error('EPIPE'), undefined]) {
    const { outlet, reader, seen } = open()
    outlet.send('a')
    const flushed = outlet.flushed(60_000)
    reader.destroy(cause)
    await flushed
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(seen.gone, ['The client has closed its end'])
    outlet.send('b')
    assert.deepEqual(reader.pieces, ['a\n'])
  }
})
