import assert from 'node:assert/strict'
import test from 'node:test'
import { LineBuffer } from '../../../lib/floors/lines/line-buffer.ts'
import { heldBytes } from '../../fixtures/heap.ts'

/** All lines of some chunks; a fault is its own name in brackets. */
function linesOf(chunks: readonly (string | Uint8Array)[], maxBytes = 100): readonly string[] {
  const lines = new LineBuffer(maxBytes)
  const taken: string[] = []
  const take = (): void => {
    for (let line = lines.take(); line !== undefined; line = lines.take()) {
      taken.push(line.ok ? line.text : `<${line.fault}>`)
    }
  }
  for (const chunk of chunks) {
    lines.add(chunk)
    take()
  }
  lines.end()
  take()
  assert.equal(lines.size, 0)
  return taken
}

const rows: readonly (readonly [
  what: string, chunks: readonly (string | Uint8Array)[], lines: readonly string[],
])[] = [
  ['one', ['a\n'], ['a']],
  ['several in one chunk', ['a\nb\nc\n'], ['a', 'b', 'c']],
  ['one in several chunks', ['a', 'b', 'c\nd', 'e\n'], ['abc', 'de']],
  ['CRLF', ['a\r\nb\r\n'], ['a', 'b']],
  ['CR and LF in two chunks', ['a\r', '\nb\r', '\n'], ['a', 'b']],
  ['a CR within a line', ['a\rb\n'], ['a\rb']],
  ['the last one without a line feed', ['a\nb'], ['a', 'b']],
  ['the last one with a CR alone', ['a\r'], ['a']],
  ['lines with nothing in them', ['\n\r\n \t\n\n', 'a\n', '\n'], ['a']],
  ['nothing', [], []],
  ['chunks with nothing in them', ['', 'a', '', '\n'], ['a']],
  ['a character cut in two', [Buffer.from([0xc3]), Buffer.from([0xbc, 0x0a])], ['ü']],
  ['bytes that are no UTF-8', [Buffer.from([0xff, 0x0a]), 'b\n'], ['<not-utf-8>', 'b']],
  ['half a character at the end', [Buffer.from([0x61, 0xc3])], ['<not-utf-8>']],
  ['half of a surrogate pair as three bytes', [Buffer.from([0xed, 0xa0, 0x80, 0x0a])], ['<not-utf-8>']],
  ['a byte order mark, which is its reader\'s business', ['\ufeffa\n'], ['\ufeffa']],
]

test('lines are what stands before line feeds', () => {
  for (const [what, chunks, lines] of rows) assert.deepEqual(linesOf(chunks), lines, what)
})

test('lines are the same in whatever pieces they come', () => {
  const text = Buffer.from('{"a":"ü𝄞"}\r\n\n{"b":1}\n{"c"')
  const whole = linesOf([text])
  assert.deepEqual(whole, ['{"a":"ü𝄞"}', '{"b":1}', '{"c"'])
  for (let size = 1; size < text.length; size++) {
    const pieces = []
    for (let at = 0; at < text.length; at += size) pieces.push(text.subarray(at, at + size))
    assert.deepEqual(linesOf(pieces), whole, `in pieces of ${size}`)
  }
})

test('a line is limited in bytes, and the one after it is read', () => {
  const fits = 'ü'.repeat(4)
  for (const chunks of [[`${fits}x\n${fits}\n`], [fits, 'x', 'xx', `\n${fits}\n`], [fits, `xxx\n`, fits]]) {
    assert.deepEqual(linesOf(chunks, 8), ['<too-long>', fits])
  }
})

test('a line that is too long is not kept', () => {
  const lines = new LineBuffer(1_000)
  const before = process.memoryUsage().arrayBuffers
  for (let count = 0; count < 4_000; count++) {
    lines.add(Buffer.alloc(64 * 1024, 'x'))
    assert.equal(lines.take(), undefined)
  }
  const kept = process.memoryUsage().arrayBuffers - before
  assert.ok(kept < 128 * 1024 * 1024, `${kept} bytes of 262144000 are kept`)
  lines.end()
  assert.deepEqual(lines.take(), { ok: false, fault: 'too-long' })
})

test('what nobody has taken yet is counted', () => {
  const lines = new LineBuffer(100)
  lines.add('ab\ncd\nef')
  assert.equal(lines.size, 8)
  assert.deepEqual(lines.take(), { ok: true, text: 'ab' })
  assert.equal(lines.size, 5)
  lines.add('gh\n')
  assert.equal(lines.size, 8)
  assert.deepEqual(lines.take(), { ok: true, text: 'cd' })
  assert.deepEqual(lines.take(), { ok: true, text: 'efgh' })
  assert.equal(lines.take(), undefined)
  assert.equal(lines.size, 0)
})

test('chunks that wait behind others are read whole, short and long', () => {
  for (const length of [1, 16_383, 16_384, 16_385, 40_000]) {
    const lines = new LineBuffer(100_000)
    const long = 'b'.repeat(length)
    for (const chunk of ['a', 'x', long, 'c\n', `${long}\n`, 'd\n']) lines.add(chunk)
    const texts = [`ax${long}c`, long, 'd']
    assert.deepEqual(texts.map(() => lines.take()), texts.map((text) => ({ ok: true, text })), `${length}`)
    assert.equal(lines.size, 0)
  }
})

test('bytes that came one by one, each a view of 64 KiB, hold about what they count', () => {
  const lines = new LineBuffer(1_000)
  const before = heldBytes()
  for (let n = 0; n < 20_000; n++) {
    // One line in a hundred is longer than what is kept as it is.
    lines.add(Buffer.alloc(65_536, 'a').subarray(0, n % 100 === 0 ? 20_000 : 1))
    if (n % 500 === 0) lines.add('\n')
  }
  const held = heldBytes() - before
  assert.ok(held < 2 * lines.size + 500_000, `${held} for ${lines.size}`)
  let count = 0
  for (let line = lines.take(); line !== undefined; line = lines.take()) count++
  assert.equal(count, 40)
})

test('what is left of a chunk of 64 KiB holds no more than it counts, waiting or taken', () => {
  const chunk = (): Buffer => Buffer.alloc(65_536, 'a')
  const ways: Readonly<Record<string, (lines: LineBuffer) => unknown>> = {
    'the first of a line': (lines) => lines.add(chunk().subarray(0, 3)),
    'the rest behind the lines': (lines) => {
      lines.add(chunk().fill('\n', 0, 65_530))
      return lines.take()
    },
    'behind a line that waits': (lines) => {
      lines.add('a\n')
      lines.add(chunk().subarray(0, 3))
    },
  }
  for (const [what, fill] of Object.entries(ways)) {
    const before = heldBytes()
    const all = Array.from({ length: 200 }, () => new LineBuffer(1_000))
    for (const lines of all) fill(lines)
    const held = (heldBytes() - before) / all.length
    // A page of its own is shared by what follows.
    assert.ok(held < 20_000, `${what}: ${held} for one`)
  }
})
