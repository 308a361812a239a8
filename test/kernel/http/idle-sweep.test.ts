import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import test from 'node:test'
import { IdleSweep } from '../../../lib/kernel/http/server/connection.ts'
import { portOf } from '../../fixtures/listening.ts'
import { eventually } from '../../fixtures/kernel.ts'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'

const LIMIT_MS = 800
const LOOK_MS = 100

/** Both ends of a connection, and what was told at the server's. */
interface Pair { readonly here: Socket; readonly there: Socket; readonly timeouts: number[] }

async function pairOn(t: TestContext, sweep: IdleSweep): Promise<Pair> {
  const server = createServer()
  const there = connect(await portOf(t, server), '127.0.0.1')
  const [here] = await once(server, 'connection') as [Socket]
  const timeouts: number[] = []
  sweep.watch(here)
  here.on('timeout', () => timeouts.push(here.bytesRead)).resume()
  return { here, there, timeouts }
}

async function say({ here, there }: Pair, text: string): Promise<void> {
  const bytes = here.bytesRead + text.length
  there.write(text)
  await eventually(() => here.bytesRead === bytes, `${bytes} bytes come`)
}

function looks(t: TestContext, count: number): void {
  for (let at = 0; at < count; at++) t.mock.timers.tick(LOOK_MS)
}

test('a connection that was told to wait times out so much later, or two looks later', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const sweep = new IdleSweep(LIMIT_MS)
  const [idle, busy] = [await pairOn(t, sweep), await pairOn(t, sweep)]
  for (const pair of [idle, busy]) {
    await say(pair, 'request')
    assert.equal(pair.here.setTimeout(LIMIT_MS), pair.here)
  }
  looks(t, 4)
  busy.here.setTimeout(0)
  looks(t, 4)
  assert.deepEqual(idle.timeouts, [])
  looks(t, 2)
  assert.deepEqual([idle.timeouts.length, busy.timeouts.length], [1, 0])
  looks(t, 50)
  assert.deepEqual(busy.timeouts, [])
  sweep.end()
})

test('the time begins again with whatever comes, be it a part of a request', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const sweep = new IdleSweep(LIMIT_MS)
  const pair = await pairOn(t, sweep)
  pair.here.setTimeout(LIMIT_MS)
  for (let part = 0; part < 5; part++) {
    await say(pair, 'G')
    looks(t, 8)
    assert.deepEqual(pair.timeouts, [])
  }
  looks(t, 2)
  assert.deepEqual(pair.timeouts, [5])
  sweep.end()
})

test('nobody looks any more when the last connection has gone', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const cleared = t.mock.method(globalThis, 'clearInterval')
  const pair = await pairOn(t, new IdleSweep(LIMIT_MS))
  looks(t, 1)
  assert.equal(cleared.mock.callCount(), 0)
  pair.there.destroy()
  await once(pair.here, 'close')
  looks(t, 1)
  assert.equal(cleared.mock.callCount(), 1)
})

test('nobody looks any more behind the end', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const sweep = new IdleSweep(LIMIT_MS)
  const pair = await pairOn(t, sweep)
  await say(pair, 'request')
  pair.here.setTimeout(LIMIT_MS)
  looks(t, 5)
  sweep.end()
  looks(t, 50)
  assert.deepEqual(pair.timeouts, [])
})
