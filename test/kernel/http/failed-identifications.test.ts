import assert from 'node:assert/strict'
import test from 'node:test'
import { Unavailable } from '../../../lib/kernel/http/access/auth.ts'
import { FailedIdentifications } from '../../../lib/kernel/http/access/rate.ts'
import { jsonOf, request, serve } from '../../fixtures/kernel.ts'
import { standingClock } from '../../fixtures/time.ts'
import type { Principal } from '../../../lib/kernel.ts'

const paths = ['/', '/agents/echo', '/tools/none', '/probe', '/nothing']
const behind = (address: string): Record<string, string> => ({ 'x-forwarded-for': address })
const agents = [{ name: 'Echo', run: (prompt: string) => prompt }]

test('guesses are slowed down, by their network, and come back one after the other', (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const logged: string[] = []
  const failures = new FailedIdentifications(10, (_level, sentence) => { logged.push(sentence) })
  for (let guess = 0; guess < 20; guess++) {
    failures.check('a')
    assert.equal(failures.count('a'), undefined)
  }
  for (let guess = 0; guess < 3; guess++) assert.throws(() => failures.check('a'), Unavailable)
  assert.deepEqual(failures.count('a')?.retryAfterSeconds, 12)
  assert.equal(logged.length, 1)
  failures.check('b')
  now = 6_000
  assert.throws(() => failures.check('a'), Unavailable)
  now = 12_000
  failures.check('a')
  assert.equal(failures.count('a'), undefined)
  assert.throws(() => failures.check('a'), Unavailable)
  now = 66_000
  for (let guess = 0; guess < 9; guess++) assert.equal(failures.count('a'), undefined)
  assert.ok(failures.count('a') instanceof Unavailable)
  assert.equal(logged.length, 2)
})

test('where any number may fail nothing is counted or kept, and so it is without a network', (t) => {
  const { mock: remember } = t.mock.method(Map.prototype, 'set')
  const any = new FailedIdentifications(Infinity, () => {})
  const some = new FailedIdentifications(1, () => {})
  for (let guess = 0; guess < 100; guess++) {
    for (const [failures, network] of [[any, 'a'], [some, undefined]] as const) {
      assert.equal(failures.count(network), undefined)
      failures.check(network)
    }
  }
  assert.equal(remember.callCount(), 0)
})

test('of guesses that were asked for at once each counts, for ten minutes at most', (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const failures = new FailedIdentifications(10, () => {})
  const resets = Array.from({ length: 1_000 }, () => failures.count('a')?.retryAfterSeconds)
  assert.deepEqual(resets.slice(18, 23), [undefined, undefined, 12, 18, 24])
  assert.equal(resets.at(-1), 606)
  now = 605_999
  assert.throws(() => failures.check('a'), Unavailable)
  now = 606_000
  failures.check('a')
})

test('over the limit nobody is asked whose a key or token is, at any path', async (t) => {
  standingClock(t)
  let asked = 0
  const apiKey = (key: string): Principal | undefined => {
    asked++
    return key === 'right' ? { id: 'me', scopes: [] } : undefined
  }
  const auth = {
    resource: 'http://agents.example/', authorizationServers: ['https://login.example'],
    verify: async () => { asked++; return undefined },
  }
  const options = { agents, trustProxy: true, maxFailedIdentifications: 5 }
  for (const keys of [{ apiKey }, { auth }]) {
    const server = serve(t, { ...options, ...keys })
    const guess = (path: string, address: string, token = 'wrong'): Promise<Response> => (
      server.fetch(request(path, {}, { ...behind(address), authorization: `Bearer ${token}` }))
    )
    asked = 0
    for (let nth = 0; nth < 10; nth++) assert.equal((await guess('/', `2001:db8::${nth}`)).status, 401)
    assert.equal(asked, 10)
    for (const path of paths) {
      const refused = await guess(path, '2001:db8::77')
      assert.equal(refused.status, 429, path)
      assert.equal(refused.headers.get('retry-after'), '12')
      assert.match(JSON.stringify(await jsonOf(refused)), /Too many keys or tokens from this address/)
    }
    assert.equal(asked, 10)
    assert.equal((await guess('/', '2001:db8:0:1::1')).status, 401)
  }
  const server = serve(t, { ...options, apiKey })
  const ask = { ...behind('192.0.2.1'), 'x-api-key': 'right' }
  for (let nth = 0; nth < 30; nth++) {
    assert.equal((await server.fetch(request('/agents', undefined, ask))).status, 200)
  }
})

test('a right key of a list passes beside guesses, and to bring none is no guess', async (t) => {
  const server = serve(t, { agents, apiKey: 'right', trustProxy: true, maxFailedIdentifications: 1 })
  const statuses: number[] = []
  for (const key of [undefined, undefined, undefined, 'a', 'b', 'c', 'right', 'd', undefined]) {
    const headers = { ...behind('192.0.2.1'), ...key !== undefined && { 'x-api-key': key } }
    statuses.push((await server.fetch(request('/agents', undefined, headers))).status)
  }
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 200, 429, 401])
})

test('where no address is known, nobody is shut out by the guesses of others', async (t) => {
  const apiKey = (key: string): Principal | undefined => (
    key === 'right' ? { id: 'me', scopes: [] } : undefined
  )
  const server = serve(t, { agents, apiKey, maxFailedIdentifications: 1 })
  const ask = async (key: string): Promise<number> => (
    (await server.fetch(request('/agents', undefined, { 'x-api-key': key }))).status
  )
  for (let nth = 0; nth < 5; nth++) assert.equal(await ask('wrong'), 401)
  assert.equal(await ask('right'), 200)
})

test('what a function throws for a key or token is a guess like any other', async (t) => {
  let asked = 0
  const fail = (): never => {
    asked++
    throw new Error('The signature is wrong')
  }
  for (const apiKey of [fail, async () => fail()]) {
    asked = 0
    const server = serve(t, { agents, apiKey, trustProxy: true, maxFailedIdentifications: 5, log: false })
    const statuses: number[] = []
    for (let nth = 0; nth < 20; nth++) {
      const headers = { ...behind('192.0.2.1'), authorization: `Bearer ${nth}` }
      statuses.push((await server.fetch(request('/', {}, headers))).status)
    }
    assert.deepEqual(statuses, Array.from({ length: 20 }, (_, nth) => nth < 10 ? 500 : 429))
    assert.equal(asked, 10)
  }
})

test('who guesses slowly and often at once shuts nobody out', async (t) => {
  let refuse: (value: undefined) => void = () => {}
  const refused = new Promise<undefined>((resolve) => { refuse = resolve })
  const apiKey = (key: string): Promise<Principal | undefined> => (
    key === 'right' ? Promise.resolve({ id: 'me', scopes: [] }) : refused
  )
  const server = serve(t, { agents, apiKey, trustProxy: true, maxCalls: 8 })
  const ask = (key: string, address: string): Promise<Response> => (
    server.fetch(request('/agents', undefined, { ...behind(address), 'x-api-key': key }))
  )
  const guesses = Array.from({ length: 20 }, (_, nth) => ask(`wrong ${nth}`, '192.0.2.1'))
  assert.equal((await ask('right', '192.0.2.2')).status, 200)
  refuse(undefined)
  await Promise.all(guesses)
})
