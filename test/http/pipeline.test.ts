import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { dial, eventually, listen, say, serve } from '../fixtures/client.ts'
import { heldBytes } from '../fixtures/heap.ts'
import { portOf } from '../fixtures/listening.ts'
import { cpuMs } from '../fixtures/time.ts'
import type { TestContext } from 'node:test'
import type { ServerOptions } from '../../lib/index.ts'

const HEALTH = 'GET /health HTTP/1.1\r\nHost: localhost\r\n'
const MANY = 200_000

function post(query: string, more = ''): string {
  const body = JSON.stringify({ query })
  return `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more}`
    + `Content-Length: ${body.length}\r\n\r\n${body}`
}

/** An agent that answers when it is told to, and what it was asked. */
function patient(): { readonly asked: string[]; release(): void; run(prompt: string): Promise<string> } {
  const asked: string[] = []
  const waiting: (() => void)[] = []
  return {
    asked,
    release() { waiting.shift()?.() },
    run(prompt) {
      asked.push(prompt)
      return new Promise((resolve) => waiting.push(() => resolve(`Told ${prompt}`)))
    },
  }
}

/** The same server on a socket of its own, and in a server of somebody else. */
async function ports(t: TestContext, options: ServerOptions): Promise<readonly number[]> {
  const { port } = await listen(t, options)
  return [port, await portOf(t, createServer(serve(t, options).handler))]
}

const keys: readonly (readonly [what: string, more: Partial<ServerOptions>, header: string])[] = [
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

test('all that is sent ahead is answered in its order', async (t) => {
  const count = 5_000
  for (const port of await ports(t, { agents: [(prompt: string) => prompt] })) {
    const wire = await dial(t, port)
    wire.send(Array.from({ length: count }, (_, at) => post(`q${at}`)).join(''))
    await wire.until((text) => text.includes(`"q${count - 1}"`))
    const said = [...wire.text.matchAll(/"response":"q(\d+)"/g)].map(([, number]) => Number(number))
    assert.deepEqual(said, Array.from({ length: count }, (_, at) => at))
  }
})

test('a request that waits is read to its end when it is its turn', async (t) => {
  const agent = patient()
  for (const port of await ports(t, { agents: [{ name: 'Patient', run: agent.run }] })) {
    agent.asked.length = 0
    const wire = await dial(t, port)
    const long = 'x'.repeat(500_000)
    wire.send(post('first') + post(long))
    await eventually(() => agent.asked.length === 1, 'the first runs')
    await sleep(50)
    assert.deepEqual(agent.asked, ['first'])
    agent.release()
    await eventually(() => agent.asked.length === 2, 'the second runs')
    agent.release()
    const answers = await wire.answers(2)
    assert.equal(answers[1]?.status, 200)
    assert.equal(agent.asked[1], long)
  }
})

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
