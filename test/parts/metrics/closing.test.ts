import assert from 'node:assert/strict'
import test from 'node:test'
import { echo, serve } from '../../fixtures/client.ts'

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
