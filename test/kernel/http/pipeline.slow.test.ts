/** What very many requests that are sent ahead cost. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { heldBytes } from '../../fixtures/heap.ts'
import { cpuMs } from '../../fixtures/time.ts'
import { patient, ports, post } from './pipelined.ts'
import { dial, eventually, say } from '../../fixtures/kernel.ts'
import type { ProbeOptions } from '../../fixtures/kernel.ts'

const HEALTH = 'GET /health HTTP/1.1\r\nHost: localhost\r\n'
const MANY = 200_000

const keys: readonly (readonly [what: string, more: ProbeOptions, header: string])[] = [
  ['without a key', {}, ''],
  ['with a key that is looked up', {
    apiKey: async (key) => { await sleep(1); return key === 'k' ? { id: 'k', scopes: [] } : undefined },
  }, 'X-API-Key: k\r\n'],
]

for (const [what, more, header] of keys) {
  test(`what is sent ahead ${what} waits in the socket, and costs nothing when that closes`, async (t) => {
    const agent = patient()
    for (const port of await ports(t, { agents: [{ name: 'Patient', run: agent.run }], ...more })) {
      agent.asked.length = 0
      const wire = await dial(t, port)
      wire.send(post('first', header))
      await eventually(() => agent.asked.length === 1, 'the first runs')
      const ahead = Buffer.from(`GET /agents HTTP/1.1\r\nHost: localhost\r\n${header}\r\n`.repeat(MANY))
      const before = heldBytes()
      wire.send(ahead)
      // Time enough to read all of it, were it read.
      await sleep(1_000)
      const grown = heldBytes() - before
      assert.ok(grown < 20_000_000, `${grown} bytes`)
      wire.leave()
      agent.release()
      const leftAtMs = cpuMs()
      const [answer] = await say(t, port, `${HEALTH}Connection: close\r\n\r\n`)
      assert.equal(answer?.status, 200)
      assert.ok(cpuMs() - leftAtMs < 2_000, `${cpuMs() - leftAtMs} ms`)
    }
  })
}

test('where very many wait, those who have sent the most of them are cut off, and nobody else', async (t) => {
  const agent = patient()
  const options = { agents: [{ name: 'Patient', run: agent.run }], maxWaitingRequests: 2_000 }
  for (const port of await ports(t, options)) {
    agent.asked.length = 0
    for (let left = 50; left > 0; left--) agent.release()
    const modest = await dial(t, port)
    modest.send(post('modest') + `${HEALTH}\r\n`.repeat(10))
    await eventually(() => agent.asked.length === 1, 'the modest one runs')
    const before = heldBytes()
    const greedy = []
    let gone = 0
    for (let left = 20; left > 0; left--) {
      const wire = await dial(t, port)
      greedy.push(wire)
      void wire.closed().then(() => gone++)
      wire.send(post('greedy') + `${HEALTH}\r\n`.repeat(1_000))
    }
    await eventually(() => gone >= 15, 'most of them are cut off')
    const grown = heldBytes() - before
    assert.ok(grown < 15_000_000, `${grown} bytes`)
    agent.release()
    assert.equal((await modest.answers(11)).length, 11)
    for (const wire of greedy) wire.leave()
    // More than half, while another connection is there: as long as the others count it is cut off.
    const late = `${HEALTH}\r\n`.repeat(1_500) + `${HEALTH}Connection: close\r\n\r\n`
    let answered = 0
    for (let tries = 100; tries > 0 && answered < 1_501; tries--) {
      // That a client has left is seen when its run is over.
      for (let left = 50; left > 0; left--) agent.release()
      answered = (await say(t, port, late)).length
    }
    assert.equal(answered, 1_501)
  }
})
