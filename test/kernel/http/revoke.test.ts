/** A key, a token or a scope that is taken away ends the streams that it opened. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { eventually, gate, listen, request, serve } from '../../fixtures/kernel.ts'
import { ann, House, key, leap, MINUTE, Reading, SAID, SCOPE } from '../../fixtures/revoked.ts'
import type { TestContext } from 'node:test'
import type { KernelServer } from '../../../lib/kernel.ts'
import type { ProbeOptions } from '../../fixtures/kernel.ts'

type Probed = House<KernelServer>

const houseOf = (t: TestContext, more?: ProbeOptions): Probed => (
  new House(t, (options) => serve(t, options), more)
)
const streamOf = ({ server }: Probed): Promise<Response> => (
  server.fetch(request('/', { query: 'hi', stream: true }, key))
)

test('a stream whose key was taken away ends before the next event, and so does its run', async (t) => {
  const pass = leap(t)
  const house = houseOf(t)
  const reading = new Reading(await streamOf(house))
  await reading.has(/begun/)
  house.grant = () => undefined
  pass(MINUTE)
  house.go()
  await reading.over()
  assert.doesNotMatch(reading.text, SAID)
  assert.match(reading.text, /event: error\ndata: .*"status":401/)
  assert.doesNotMatch(reading.text, /event: done/)
  await eventually(() => house.aborted === 1, 'the run has ended')
})

test('a stream goes on while its reader has what it needs, asked about once', async (t) => {
  const pass = leap(t)
  const house = houseOf(t)
  house.grant = () => ann(SCOPE, 'other')
  const reading = new Reading(await streamOf(house))
  await reading.has(/begun/)
  const { asked } = house
  house.grant = async () => ann(SCOPE)
  pass(MINUTE)
  house.go()
  await reading.has(SAID)
  assert.equal(house.asked, asked + 1)
})

test('a socket and an OAuth token: the stream ends, and so does its run', async (t) => {
  const pass = leap(t)
  let isGood = true
  let isAborted = false
  const next = gate()
  const { url } = await listen(t, {
    agents: [{
      name: 'Agent',
      async *run(_prompt: string, { signal }) {
        signal.addEventListener('abort', () => { isAborted = true })
        yield 'begun'
        await next.promise
        yield 'hidden'
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
    }],
    auth: {
      resource: 'https://agents.example.com/mcp', authorizationServers: ['https://login.example.com'],
      // What it is told of the request is the same, later.
      verify: (token, { method, path, header }) => {
        assert.deepEqual([method, path, header('x-mark')], ['POST', '/', 'here'])
        return isGood ? { subject: token } : undefined
      },
    },
  })
  const headers = { 'authorization': 'Bearer ann', 'content-type': 'application/json', 'x-mark': 'here' }
  const body = '{"query":"hi","stream":true}'
  const reading = new Reading(await fetch(url, { method: 'POST', headers, body }))
  await reading.has(/begun/)
  isGood = false
  pass(MINUTE)
  next.open()
  await reading.over()
  assert.match(reading.text, /event: error\ndata: .*no longer good.*\n\n$/)
  assert.doesNotMatch(reading.text, /hidden/)
  await eventually(() => isAborted, 'the run has ended')
})

test('another principal by the same credential is not the one that opened the stream', async (t) => {
  const pass = leap(t)
  const house = houseOf(t)
  const reading = new Reading(await streamOf(house))
  await reading.has(/begun/)
  house.grant = () => ({ id: 'bob', scopes: [SCOPE] })
  pass(MINUTE)
  house.go()
  await reading.over()
  assert.match(reading.text, /no longer good/)
})

test('a lost scope is named, and it is 403', async (t) => {
  const pass = leap(t)
  const house = houseOf(t)
  const reading = new Reading(await streamOf(house))
  await reading.has(/begun/)
  house.grant = () => ann()
  pass(MINUTE)
  house.go()
  await reading.over()
  assert.match(reading.text, /"status":403.*no longer has the scope 'orders:read'/)
})

test('a function that takes too long ends no stream, and events wait no longer than its time', async (t) => {
  const pass = leap(t)
  const house = houseOf(t, { authTimeoutMs: 50 })
  const reading = new Reading(await streamOf(house))
  await reading.has(/begun/)
  house.grant = () => new Promise(() => {})
  pass(MINUTE)
  house.go()
  await reading.has(/hidden/)
})

test('a key of a list cannot be taken away, so nothing is asked', async (t) => {
  const pass = leap(t)
  const keys = [{ id: 'ann', key: 'k', scopes: [SCOPE] }]
  const house = houseOf(t, { apiKey: keys })
  const reading = new Reading(await streamOf(house))
  await reading.has(/begun/)
  // What was given is what counts: options are read once.
  keys[0]!.key = 'another'
  keys.length = 0
  pass(MINUTE)
  house.go()
  await reading.has(/hidden/)
})

test('a stream that ends with its key says so in the form of its protocol', async (t) => {
  const house = houseOf(t, { apiKey: () => ({ ...ann(SCOPE), expiresAt: Date.now() + 1_500 }) })
  const reading = new Reading(await streamOf(house))
  await reading.over()
  assert.match(reading.text, /event: error\ndata: .*"status":401.*has expired/)
})
