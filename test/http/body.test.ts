import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import test from 'node:test'
import { BodyBudget } from '../../lib/http/body.ts'
import { echo, jsonOf, serve } from '../fixtures/client.ts'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

test('all bodies together have one bound, and give back what they took', () => {
  const budget = new BodyBudget(100)
  assert.equal(budget.take(60), true)
  assert.equal(budget.fits(40), true)
  assert.equal(budget.fits(41), false)
  assert.equal(budget.take(41), false)
  assert.equal(budget.take(40), true)
  budget.give(60)
  assert.equal(budget.take(60), true)
})

/** What a body parser that came first has made of a request. */
const leftovers: readonly (readonly [what: string, left: unknown, status: number])[] = [
  ['a parsed body', { query: 'hello' }, 200],
  ['its text', '{"query":"hello"}', 200],
  ['its bytes', Buffer.from('{"query":"hello"}'), 200],
  ['a body that is too large', { query: 'x'.repeat(2_000) }, 413],
  ['nothing', undefined, 500],
  ['what cannot be written down', { query: 1n }, 500],
]

test('a body that a framework has read already is taken from where it left it', async (t) => {
  const server = serve(t, { agents: [echo], maxBodyBytes: 1_000 })
  let left: unknown
  const foreign = createServer(async (request: IncomingMessage & { body?: unknown }, response) => {
    request.resume()
    await once(request, 'end')
    request.body = left
    server.handler(request, response)
  })
  t.after(() => { foreign.closeAllConnections(); foreign.close() })
  await once(foreign.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`
  const headers = { 'content-type': 'application/json' }
  for (const [what, leftover, status] of leftovers) {
    left = leftover
    const response = await fetch(url, { method: 'POST', headers, body: '{"query":"hello"}' })
    assert.equal(response.status, status, what)
    const { response: said } = await jsonOf(response)
    if (status === 200) assert.equal(said, 'You said hello')
  }
  assert.equal((await fetch(url, { method: 'POST', headers })).status, 400)
})
