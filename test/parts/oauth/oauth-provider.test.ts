import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import test from 'node:test'
import { portOf } from '../../fixtures/listening.ts'
import { standingTime } from '../../fixtures/time.ts'
import {
  Browser, callWith, codeFor, consentFor, exchange, locationOf, providerFor, refreshing, refusalIn,
  registered, serving, tokenFor, tokensFor,
} from './oauth-login.ts'
import type { ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import type { Provider } from './oauth-login.ts'

async function rawProvider(t: TestContext, answer: (response: ServerResponse) => void): Promise<Provider> {
  const provider = await providerFor(t)
  const port = await portOf(t, createServer((_request, response) => answer(response)))
  return { ...provider, url: `http://127.0.0.1:${port}` }
}

test('an answer of the provider that is none is a failure that says nothing', async (t) => {
  const good = JSON.stringify({ access_token: 'at-1' })
  const answers: readonly ((response: ServerResponse) => void)[] = [
    (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(good),
    (response) => response.end('secret'), (response) => response.end('["secret"]'),
    (response) => response.end('{}'),
    (response) => response.end(JSON.stringify({ access_token: 1, error: { secret: 1 } })),
    (response) => response.end(JSON.stringify({ access_token: 'a', about: 'x'.repeat(262_144) })),
    (response) => response.destroy(),
    (response) => response.writeHead(500).end(JSON.stringify({ error: 'secret' })),
  ]
  for (const answer of answers) {
    const server = serving(t, await rawProvider(t, answer))
    const failed = await codeFor(server, await registered(server))
    assert.match(failed, /error=server_error/)
    assert.doesNotMatch(failed, /secret/)
  }
})

test('the provider has ten seconds, and is asked for nothing more', async (t) => {
  const server = serving(t, await providerFor(t))
  const clientId = await registered(server)
  let signal: AbortSignal | null | undefined
  let redirect: string | undefined
  t.mock.method(globalThis, 'fetch', (_url: string, init: RequestInit) => new Promise((_resolve, reject) => {
    signal = init.signal
    redirect = init.redirect
    signal?.addEventListener('abort', () => reject(new Error('aborted')))
  }))
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const failing = codeFor(server, clientId)
  while (signal === undefined) await new Promise(setImmediate)
  t.mock.timers.tick(9_999)
  assert.equal(signal?.aborted, false)
  t.mock.timers.tick(1)
  assert.equal(signal?.aborted, true)
  t.mock.timers.reset()
  assert.match(await failing, /error=server_error/)
  assert.equal(redirect, 'error')
})

test('identify has the time of an authentication, and may fail at once', async (t) => {
  const never = new Promise<undefined>(() => {})
  const logged: unknown[] = []
  const log = (_level: string, _message: string, fields?: object): void => {
    logged.push(String(Reflect.get(fields ?? {}, 'cause')))
  }
  const slow = serving(t, await providerFor(t), { identify: () => never }, { authTimeoutMs: 20, log })
  assert.match(await codeFor(slow, await registered(slow)), /error=server_error/)
  const broken = serving(t, await providerFor(t), { identify() { throw new Error('sec' + 'ret') } }, { log })
  const failed = await codeFor(broken, await registered(broken))
  assert.match(failed, /error=server_error/)
  assert.doesNotMatch(failed, /secret/)
  assert.deepEqual(logged, ['Error: identify took longer than 20 ms', 'Error: secret'])
})

test('identify has a minute where an authentication may take for ever', async (t) => {
  let isAsked = false
  const server = serving(t, await providerFor(t), {
    identify() {
      isAsked = true
      return new Promise<undefined>(() => {})
    },
  }, { authTimeoutMs: Infinity })
  const clientId = await registered(server)
  const pass = standingTime(t)
  let outcome: string | undefined
  const failing = codeFor(server, clientId).then((back) => { outcome = back })
  while (!isAsked) await new Promise(setImmediate)
  await new Promise(setImmediate)
  pass(59_999)
  for (let count = 0; count < 20; count++) await new Promise(setImmediate)
  assert.equal(outcome, undefined)
  pass(2)
  await failing
  assert.match(String(outcome), /error=server_error/)
})

test('identify gets what the provider gave, and the user keeps what is said of it', async (t) => {
  const provider = await providerFor(t)
  const given: unknown[] = []
  const server = serving(t, provider, {
    identify(tokens) {
      given.push(tokens)
      const user = { subject: 'ann', issuer: 'https://users.example', scopes: ['read'], other: () => 1 }
      return user
    },
  })
  const clientId = await registered(server)
  provider.answer.body = { access_token: 'at-1', id_token: 'it-1', scope: 'openid', refresh_token: 'rt-1' }
  const { access, refresh } = await tokensFor(server, clientId)
  provider.answer.body = { access_token: 'at-2', id_token: 1, scope: null }
  assert.equal((await tokenFor(server, refreshing(clientId, refresh))).status, 200)
  assert.deepEqual(given, [
    { accessToken: 'at-1', idToken: 'it-1', scope: 'openid' },
    { accessToken: 'at-2', idToken: undefined, scope: undefined },
  ])
  assert.match(String((await callWith(server, access))[1]), /token:https%3A%2F%2Fusers\.example:ann read/)
})

test('a provider without a secret or scopes is asked without them', async (t) => {
  const provider = await providerFor(t)
  const server = serving(t, provider, {
    clientSecret: undefined, providerScopes: undefined, parameters: undefined,
  })
  const clientId = await registered(server)
  const browser = new Browser(server)
  const request = await consentFor(browser, clientId)
  const login = locationOf(await browser.go('/oauth/consent', { request, decision: 'allow' }))
  assert.deepEqual([...login.searchParams.keys()].toSorted(),
    ['client_id', 'code_challenge', 'code_challenge_method', 'redirect_uri', 'response_type', 'state'])
  await tokenFor(server, exchange(clientId, await codeFor(server, clientId)))
  const [form] = provider.asked
  assert.deepEqual([...form?.keys() ?? []].toSorted(),
    ['client_id', 'code', 'code_verifier', 'grant_type', 'redirect_uri'])
  assert.equal(form?.get('redirect_uri'), 'https://triport.test/oauth/callback')
})

test('a failure of the provider is logged within bounds', async (t) => {
  const provider = await providerFor(t)
  const logged: string[] = []
  const log = (_level: string, _message: string, fields?: object): void => {
    logged.push(String(Reflect.get(fields ?? {}, 'cause')))
  }
  const server = serving(t, provider, {}, { log })
  const clientId = await registered(server)
  provider.answer = { status: 401, body: { error: 'x'.repeat(1_000) } }
  await codeFor(server, clientId)
  assert.deepEqual(logged, [`Error: The provider answered 401, ${'x'.repeat(100)}`])
  assert.deepEqual(await refusalIn(await tokenFor(server, exchange(clientId, 'x'))), [400, 'invalid_grant'])
})
