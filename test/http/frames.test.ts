import assert from 'node:assert/strict'
import test from 'node:test'
import { handshakeObjection } from '../../lib/http/server/web-socket.ts'
import { closeFrame, encodeFrame, FrameReader, opcodes } from '../../lib/http/websocket/frames.ts'
import { clientFrame, KEY } from '../fixtures/web-socket.ts'

/** What a reader says of chunks: one line each. */
function read(chunks: readonly Uint8Array[], maxBytes = 1_000): readonly string[] {
  const said: string[] = []
  let message = Buffer.alloc(0)
  const reader = new FrameReader({
    part(bytes) { message = Buffer.concat([message, bytes]) },
    end() {
      said.push(`text ${String(message)}`)
      message = Buffer.alloc(0)
    },
    ping(payload) { said.push(`ping ${String(payload)}`) },
    close(code) { said.push(`close ${code}`) },
    fail(code) { said.push(`fail ${code}`) },
  }, maxBytes)
  for (const chunk of chunks) reader.take(Buffer.from(chunk))
  return said
}

const { text, continuation, binary, close, ping, pong } = opcodes
const hello = Buffer.from([0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58])

test('the examples of the specification are read and written', () => {
  assert.deepEqual(read([hello]), ['text Hello'])
  const masked = [0x89, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]
  assert.deepEqual(read([Buffer.from(masked)]), ['ping Hello'])
  assert.equal(encodeFrame(text, Buffer.from('Hello')).toString('hex'), '810548656c6c6f')
  assert.equal(encodeFrame(ping, Buffer.from('Hello')).toString('hex'), '890548656c6c6f')
  assert.equal(encodeFrame(text, Buffer.alloc(256)).subarray(0, 4).toString('hex'), '817e0100')
  assert.equal(
    encodeFrame(text, Buffer.alloc(65_536)).subarray(0, 10).toString('hex'), '817f0000000000010000',
  )
})

test('frames are read from chunks of any size', () => {
  const parts = [
    clientFrame(text, 'Hä', { fin: false }), clientFrame(ping, 'p'),
    clientFrame(continuation, '', { fin: false }), clientFrame(continuation, 'llo'), clientFrame(pong),
    clientFrame(text), clientFrame(text, 'x'.repeat(300)), clientFrame(close, Buffer.from([3, 232])),
  ]
  const whole = Buffer.concat(parts)
  const said = ['ping p', 'text Hällo', 'text ', `text ${'x'.repeat(300)}`, 'close 1000']
  assert.deepEqual(read([whole]), said)
  assert.deepEqual(read(parts), said)
  for (let at = 1; at < whole.length; at++) {
    assert.deepEqual(read([whole.subarray(0, at), whole.subarray(at)]), said, `cut at ${at}`)
  }
  assert.deepEqual(read([...whole].map((byte) => Uint8Array.of(byte))), said)
})

const broken: readonly (readonly [what: string, bytes: Uint8Array, code: number])[] = [
  ['a frame without a mask', clientFrame(text, 'a', { mask: [] }), 1002],
  ['an extension', clientFrame(text, 'a', { rsv: 0x40 }), 1002],
  ['an unknown kind', clientFrame(3, 'a'), 1002],
  ['an unknown control frame', clientFrame(11), 1002],
  ['a ping in parts', clientFrame(ping, '', { fin: false }), 1002],
  ['a long ping', clientFrame(ping, 'x'.repeat(126)), 1002],
  ['a continuation of nothing', clientFrame(continuation, 'a'), 1002],
  ['a message within another', Buffer.concat([
    clientFrame(text, 'a', { fin: false }), clientFrame(text, 'b'),
  ]), 1002],
  ['bytes', clientFrame(binary, 'a'), 1003],
  ['a close frame with half a code', clientFrame(close, Uint8Array.of(3)), 1002],
  ['a code that is never sent', clientFrame(close, Buffer.from([3, 237])), 1002],
  ['a code of nobody', clientFrame(close, Buffer.from([7, 208])), 1002],
  ['a reason that is not UTF-8', clientFrame(close, Buffer.from([3, 232, 0xff])), 1007],
  ['a long message', clientFrame(text, 'x'.repeat(1_001)), 1009],
  ['a message that is long in parts', Buffer.concat([
    clientFrame(text, 'x'.repeat(600), { fin: false }), clientFrame(continuation, 'x'.repeat(600)),
  ]), 1009],
  ['a length beyond numbers', Buffer.from([0x81, ...Array<number>(9).fill(255), 0, 0, 0, 0]), 1009],
]

test('a frame that breaks a rule ends the reading, and nothing after it is read', () => {
  for (const [what, bytes, code] of broken) {
    assert.deepEqual(read([bytes, hello]), [`fail ${code}`], what)
    assert.deepEqual(read([Buffer.concat([bytes, hello])]), [`fail ${code}`], what)
  }
  assert.deepEqual(read([clientFrame(close), hello]), ['close 1005'])
  assert.deepEqual(read([clientFrame(close, Buffer.from([0x0f, 0xa0, 0x61]))]), ['close 4000'])
})

test('a close frame has a sentence of whole characters', () => {
  const reason = closeFrame(1008, 'ä'.repeat(100)).subarray(4)
  assert.equal(String(reason), 'ä'.repeat(61))
  assert.equal(closeFrame(1000).toString('hex'), '880203e8')
})

test('a handshake has a key and the version', () => {
  const asked = (key: string, version: string): number | undefined => (
    handshakeObjection((name) => name.endsWith('key') ? key : version)?.[0]
  )
  assert.equal(asked(KEY, '13'), undefined)
  assert.equal(asked(KEY, '8'), 426)
  for (const key of ['', 'AAAA', `${KEY}\n`, 'dGhlIHNhbXBsZSBub25jZR==']) {
    assert.equal(asked(key, '13'), 400, key)
  }
})

test('whatever comes, the reading ends at most once', () => {
  // The generator of Lehmer: the same numbers each time.
  let state = 1
  const random = (below: number): number => {
    state = state * 48_271 % 2_147_483_647
    return state % below
  }
  const kinds = new Set<string>()
  for (let count = 0; count < 3_000; count++) {
    const frames = Array.from({ length: 1 + random(4) }, () => {
      const opcode = [0, 1, 1, 1, 8, 9, 10, 2, 5][random(9)]!
      const payload = opcode === close ? Uint8Array.of(3, 232, random(256)) : 'x'.repeat(random(130))
      return clientFrame(opcode, payload, { fin: random(3) > 0 })
    })
    const bytes = Buffer.concat(frames)
    if (random(2) === 0) bytes[random(bytes.length)] = random(256)
    const at = random(bytes.length)
    const said = read([bytes.subarray(0, at), bytes.subarray(at)], 200)
    assert.deepEqual(said, read([bytes], 200))
    const ends = said.findIndex((line) => /^(?:fail|close)/.test(line))
    assert.ok(ends < 0 || ends === said.length - 1, said.join())
    for (const line of said) kinds.add(/^(?:fail \d+|\w+)/.exec(line)![0])
  }
  assert.deepEqual([...kinds].toSorted(), [
    'close', 'fail 1002', 'fail 1003', 'fail 1007', 'fail 1009', 'ping', 'text',
  ])
})
