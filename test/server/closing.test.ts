/** In which order a server ends what it holds, and what it waits for when it begins. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { echo, eventually, serve } from '../fixtures/client.ts'
import { listed, sharedMemory } from '../fixtures/fleet.ts'
import { begin, EventStream, gate } from '../mcp/client.ts'
import type { TestContext } from 'node:test'
import type { Call, Store } from '../../lib/index.ts'

const SWEEP_MS = 50
const empty = { type: 'object' } as const

/** What is done again and again from now on in such a period; nothing does it by itself. */
function periods(t: TestContext, periodMs: number): (() => void)[] {
  const { setInterval: every } = globalThis
  const works: (() => void)[] = []
  t.mock.method(globalThis, 'setInterval', (work: () => void, ms: number) => {
    if (ms === periodMs) works.push(work)
    return every(ms === periodMs ? () => {} : work, ms)
  })
  return works
}

test('an idle session ends at once, and one with a call as soon as that has its answer', async (t) => {
  const held = gate<string>()
  const tools = [{ name: 'hold', description: 'Holds.', inputSchema: empty, run: () => held.promise }]
  const server = serve(t, { tools, protocol: 'mcp', graceMs: 30_000 })
  const [idle, busy] = [await begin(server), await begin(server)]
  const streams = await Promise.all([idle, busy].map(async ({ headers }) => {
    return new EventStream(await server.fetch(new Request('http://triport.test/mcp', {
      headers: { ...headers, accept: 'text/event-stream' },
    })))
  }))
  const called = busy.call('hold')
  await eventually(() => server.status().calls.running === 1)
  const sweeps = periods(t, SWEEP_MS)
  const closing = server.close()
  assert.deepEqual(await streams[0]!.rest(), [])
  await eventually(() => server.status().mcp?.sessions === 1)
  held.open('done')
  assert.equal((await called).content[0].text, 'done')
  for (const sweep of sweeps) sweep()
  assert.equal(server.status().mcp?.sessions, 0)
  assert.deepEqual(await streams[1]!.rest(), [])
  await closing
})

/** A store whose slow answers are noted as they are given, and its end. */
function slowStore(): { readonly store: Store; readonly done: string[] } {
  const done: string[] = []
  const connection = sharedMemory().connect()
  const noted = async <T>(what: string, ms: number, work: () => T): Promise<Awaited<T>> => {
    await new Promise((resolve) => setTimeout(resolve, ms))
    const result = await work()
    done.push(what)
    return result
  }
  const nameOf = (collection: string): string => collection.split('/').at(-1)!
  return {
    done,
    store: {
      ...connection,
      write: ({ collection, ...key }, ...kept) => (
        noted(`write ${nameOf(collection)}`, collection.endsWith('streams') ? 200 : 20,
          () => connection.write({ collection, ...key }, ...kept))
      ),
      remove: ({ collection, ...key }, expected) => (
        noted(`remove ${nameOf(collection)}`, 20, () => connection.remove({ collection, ...key }, expected))
      ),
      close: () => { done.push('close') },
    },
  }
}

test('a store is closed when all is written that others go on with', async (t) => {
  const { store, done } = slowStore()
  const held = gate<string>()
  const tools = [{
    name: 'hold', description: 'Holds.', inputSchema: empty,
    run(_args: object, call: Call) {
      call.progress(1)
      return held.promise
    },
  }]
  const server = serve(t, { tools, protocol: 'mcp', store, leaseMs: 60_000, storeTimeoutMs: 5_000 })
  const session = await begin(server)
  const stream = await session.stream('hold', {}, { progressToken: 1 })
  await stream.next()
  await stream.cancel()
  held.open('done')
  await eventually(() => server.status().calls.running === 0)
  assert.ok(!done.includes('write streams'))
  await server.close()
  for (const one of ['write streams', 'remove leases', 'remove members']) assert.ok(done.includes(one), one)
  assert.equal(done.at(-1), 'close')
})

test('a server listens when others can reach it, and all the same where its store is away', async (t) => {
  const { store, done } = slowStore()
  await serve(t, { agents: [echo], store, leaseMs: 60_000 }).listen(0)
  assert.ok(done.includes('write leases'))
  const away = sharedMemory()
  const lost = away.connect()
  lost.isCut = true
  t.after(() => { lost.isCut = false })
  await serve(t, { agents: [echo], store: lost, leaseMs: 60_000, storeTimeoutMs: 50 }).listen(0)
  assert.deepEqual(listed(away.memory, 'leases', '~'), [])
})

test('a server that has closed looks no more how late its loop is', async (t) => {
  const server = serve(t, { agents: [echo], metrics: true })
  const { setInterval: every } = globalThis
  const timers: NodeJS.Timeout[] = []
  t.mock.method(globalThis, 'setInterval', (work: () => void, ms: number) => {
    timers.push(every(work, ms))
    return timers.at(-1)
  })
  await (await server.fetch(new Request('http://triport.test/metrics'))).text()
  const { mock: ended } = t.mock.method(globalThis, 'clearInterval')
  assert.equal(timers.length, 1)
  await server.close()
  assert.ok(ended.calls.some(({ arguments: [timer] }) => timer === timers[0]))
})
