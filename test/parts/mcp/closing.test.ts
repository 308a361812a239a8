/** In which order a server ends what MCP holds. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { eventually, gate, serve } from '../../fixtures/client.ts'
import { EventStream } from '../../fixtures/events.ts'
import { slowly, slowStore } from '../../fixtures/slow-store.ts'
import { begin } from './client.ts'
import type { TestContext } from 'node:test'
import type { Call } from '../../../lib/index.ts'

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
  const server = serve(t, { tools, protocol: 'mcp', store, ...slowly })
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
