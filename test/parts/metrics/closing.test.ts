import assert from 'node:assert/strict'
import test from 'node:test'
import { createServer } from '../../../lib/kernel.ts'
import { metrics } from '../../../lib/parts/metrics/part.ts'
import { echo, serve } from '../../fixtures/client.ts'
import { onePost } from '../../fixtures/probe.ts'

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

test('what counts one server is not given to another, as long as that is there', async () => {
  const counting = metrics()
  const parts = [onePost(), counting]
  const failing = { name: 'failing', open: () => 'failing needs more' }
  assert.throws(() => createServer({ agents: [echo], parts: [...parts, failing], log: false }), /needs more/)
  const first = createServer({ agents: [echo], parts, log: false })
  assert.throws(() => createServer({ agents: [echo], parts, log: false }),
    { name: 'TypeError', message: 'metrics() counts what one server does; write metrics() for each' })
  await first.close()
  await createServer({ agents: [echo], parts, log: false }).close()
})
