/** Bytes of all kinds, at random. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { GOOD, LAST, POST, QUERY } from './requests.ts'
import { dial, echo, listen, parseAnswers, say } from '../../fixtures/kernel.ts'

/** Numbers that look random and are the same every time. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor(state / 0x1_0000_0000 * sides)
  }
}

/** A good request with a few bytes of it changed, doubled, cut out, or taken from elsewhere. */
function mutated(text: string, roll: (sides: number) => number): string {
  let bytes = text
  for (let change = 0; change <= roll(4); change++) {
    const at = roll(bytes.length)
    const piece = bytes.slice(roll(bytes.length)).slice(0, roll(30))
    const byte = String.fromCharCode(roll(256))
    const fresh = [byte, '\r\n', '\0', ' ', ':', '%', '"', '{', '0', piece, ''][roll(11)]
    bytes = bytes.slice(0, at) + fresh + bytes.slice(at + roll(3))
  }
  return bytes
}

test('whatever bytes come, they are answered or turned away, and the next request is served', async (t) => {
  const logged: string[] = []
  const { port } = await listen(t, {
    agents: [echo],
    log: (level, message) => { if (level === 'error') logged.push(message) },
  })
  const good = [
    GOOD, GOOD.replace('"query":"hello"', '"messages":[{"role":"user","content":"a"}],"stream":true'),
    `GET /agents/echo?a=b%20c ${LAST}`, `OPTIONS * ${LAST}`,
    `${POST}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n11\r\n${QUERY}\r\n0\r\n\r\n`,
  ]
  const roll = dice(20_261_121)
  const requests = Array.from({ length: 1_500 }, (_, at) => mutated(good[at % good.length]!, roll))
  const speak = async (): Promise<void> => {
    for (let bytes = requests.pop(); bytes !== undefined; bytes = requests.pop()) {
      const wire = await dial(t, port)
      wire.send(bytes)
      wire.socket.end()
      for (const { status, body } of parseAnswers(await wire.closed())) {
        assert.notEqual(status, 500, JSON.stringify(bytes))
        assert.doesNotMatch(body, /\.[jt]s:\d|node:internal/)
      }
    }
  }
  await Promise.all(Array.from({ length: 20 }, speak))
  assert.equal((await say(t, port, GOOD))[0]?.status, 200)
  assert.deepEqual(logged, [])
})
