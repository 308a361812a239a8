import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import test from 'node:test'
import { memoryStore, oauthProxy } from '../../../lib/index.ts'
import { echo, jsonOf, request, serve } from '../../fixtures/client.ts'
import {
  authorizePath, Browser, codeFor, exchange, locationOf, providerFor, redirect_uri, registered, resource,
  serving, tokenFor,
} from './oauth-login.ts'
import type { Form } from './oauth-login.ts'

test('a client registers, its user agrees and logs in, and its token is good here', async (t) => {
  const provider = await providerFor(t)
  const server = serving(t, provider)
  const metadata = await jsonOf(await server.fetch(request('/.well-known/oauth-authorization-server')))
  assert.equal(metadata['issuer'], 'https://triport.test')
  assert.equal(metadata['registration_endpoint'], 'https://triport.test/oauth/register')
  const clientId = await registered(server)
  const browser = new Browser(server)
  const asked = await browser.go(authorizePath(clientId))
  assert.match(asked.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
  // No other host of the domain can set a cookie of this name.
  const cookie = asked.headers.get('set-cookie') ?? ''
  assert.match(cookie, /^__Host-\S+; Path=\/; .*HttpOnly; SameSite=Lax; Secure$/)
  const page = await asked.text()
  assert.match(page, /<b>An &#60;editor&#62;<\/b> wants to use <b>Shop &#60;1&#62;<\/b>/)
  assert.match(page, /<code>127\.0\.0\.1:9<\/code>/)
  const sealed = /name="request" value="([^"]+)"/.exec(page)?.[1] ?? ''
  const login = locationOf(await browser.go('/oauth/consent', { request: sealed, decision: 'allow' }))
  const { state = '', code_challenge: ownChallenge, ...members } = Object.fromEntries(login.searchParams)
  assert.equal(`${login.origin}${login.pathname}`, `${provider.url}/authorize`)
  assert.deepEqual(members, {
    response_type: 'code', client_id: 'shop', redirect_uri: 'https://triport.test/oauth/callback',
    code_challenge_method: 'S256', scope: 'openid email', prompt: 'login',
  })
  const back = locationOf(await browser.go(`/oauth/callback?${new URLSearchParams({ code: 'pc', state })}`))
  const { code = '', ...rest } = Object.fromEntries(back.searchParams)
  assert.equal(`${back.origin}${back.pathname}`, redirect_uri)
  assert.deepEqual(rest, { state: 'st', iss: 'https://triport.test' })
  const [form] = provider.asked
  assert.equal(form?.get('code'), 'pc')
  assert.equal(form?.get('client_secret'), 'hush')
  const proof = createHash('sha256').update(form?.get('code_verifier') ?? '').digest('base64url')
  assert.equal(proof, ownChallenge)

  const given = await tokenFor(server, exchange(clientId, code))
  assert.equal(given.headers.get('cache-control'), 'no-store')
  const { access_token: token, refresh_token: refresh, ...about } = await jsonOf(given)
  const { expires_in: seconds, ...kind } = about
  assert.ok(Number(seconds) > 3_590 && Number(seconds) <= 3_600)
  assert.deepEqual(kind, { token_type: 'Bearer', scope: 'read' })
  assert.doesNotMatch(JSON.stringify([token, refresh]), /at-1|rt-1/)
  const who = await server.fetch(request('/tools/who', {}, { authorization: `Bearer ${String(token)}` }))
  assert.match(await who.text(), /token:https%3A%2F%2Ftriport\.test:at-1 read/)

  provider.answer.body = { access_token: 'at-2' }
  const again = { grant_type: 'refresh_token', client_id: clientId, refresh_token: String(refresh) }
  const renewed = await jsonOf(await tokenFor(server, again))
  assert.equal(provider.asked.at(-1)?.get('refresh_token'), 'rt-1')
  assert.notEqual(renewed['refresh_token'], refresh)
  for (const used of [exchange(clientId, code), again]) {
    const reply = await tokenFor(server, used)
    assert.equal(reply.status, 400)
    assert.equal((await jsonOf(reply))['error'], 'invalid_grant')
  }
})

test('only a client with one redirect address may leave it out', async (t) => {
  const server = serving(t, await providerFor(t))
  const browser = new Browser(server)
  const without = (clientId: string): string => {
    const url = new URL(authorizePath(clientId), 'http://localhost')
    url.searchParams.delete('redirect_uri')
    return url.pathname + url.search
  }
  assert.equal((await browser.go(without(await registered(server)))).status, 200)
  const redirect_uris = [redirect_uri, 'http://127.0.0.1:9/other']
  const registration = await server.fetch(request('/oauth/register', { redirect_uris }))
  const { client_id: several } = await jsonOf(registration)
  const refused = await browser.go(without(String(several)))
  assert.equal(refused.status, 400)
  assert.match(await refused.text(), /must name one of them as redirect_uri/)
})

test('nothing is sent on for a client that is not known, or to an address that is not its own', async (t) => {
  const server = serving(t, await providerFor(t))
  const clientId = await registered(server)
  const browser = new Browser(server)
  const strange: readonly Form[] = [
    { client_id: 'x' }, { redirect_uri: 'https://evil.example' }, { redirect_uri: 'nothing' },
  ]
  for (const more of strange) {
    const refused = await browser.go(authorizePath(clientId, more))
    assert.equal(refused.status, 400)
    assert.match(await refused.text(), /not known here/)
  }
  // A program on the user's machine may listen on another port.
  const elsewhere = authorizePath(clientId, { redirect_uri: 'http://127.0.0.1:77/callback' })
  assert.equal((await browser.go(elsewhere)).status, 200)
  const wrong: readonly (readonly [more: Record<string, string>, error: string])[] = [
    [{ response_type: 'token' }, 'unsupported_response_type'], [{ code_challenge: 'x' }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ resource: 'https://other.example' }, 'invalid_target'],
    [{ scope: 'x'.repeat(2_049) }, 'invalid_request'],
  ]
  const evil = ' HTTPS://evil.example/'
  const elsewhereId = await registered(server, evil)
  for (const [more, error] of wrong) {
    const back = locationOf(await browser.go(authorizePath(clientId, more)))
    assert.deepEqual([back.searchParams.get('error'), back.searchParams.get('state')], [error, 'st'])
    // Anyone may register, so nobody is sent to another site before they have agreed.
    const there = authorizePath(elsewhereId, { ...more, redirect_uri: evil })
    const stays = await browser.go(there)
    assert.deepEqual([stays.status, stays.headers.get('location')], [400, null])
    assert.match(await stays.text(), /The application asks for what is not given here/)
  }
  const unsafe = [
    'javascript:alert(1)', 'data:text/html,x', 'http://evil.example/', 'https://a.example/#x', 1,
    ' javascript:alert(1)', 'java\tscript:alert(1)',
  ]
  for (const uri of unsafe) {
    const reply = await server.fetch(request('/oauth/register', { redirect_uris: [uri] }))
    assert.equal((await jsonOf(reply))['error'], 'invalid_redirect_uri', String(uri))
  }
  assert.equal((await server.fetch(request('/oauth/register', {}))).status, 400)
})

test('a name of a client is text, and cannot turn the page around', async (t) => {
  const server = serving(t, await providerFor(t))
  for (const [client_name, shown] of [[{ toString: 1 }, 'An application'], ['\u202eA\n\u0000b', 'Ab']]) {
    const body = { redirect_uris: [redirect_uri], client_name }
    const reply = await server.fetch(request('/oauth/register', body))
    assert.equal(reply.status, 201)
    assert.equal((await jsonOf(reply))['client_name'], shown)
  }
})

test('a login is bound to its browser, and a user may refuse', async (t) => {
  const server = serving(t, await providerFor(t))
  const clientId = await registered(server)
  const [one, other] = [new Browser(server), new Browser(server)]
  const page = await (await one.go(authorizePath(clientId))).text()
  await other.go(authorizePath(clientId))
  const sealed = /name="request" value="([^"]+)"/.exec(page)?.[1] ?? ''
  const decision = 'allow'
  for (const form of [{ request: sealed, decision }, { decision }, { request: 'x', decision }] as Form[]) {
    const refused = await other.go('/oauth/consent', form)
    assert.equal(refused.status, 400)
    assert.match(await refused.text(), /began in another browser/)
  }
  const denied = locationOf(await one.go('/oauth/consent', { request: sealed, decision: 'deny' }))
  assert.equal(denied.searchParams.get('error'), 'access_denied')
  const login = locationOf(await one.go('/oauth/consent', { request: sealed, decision: 'allow' }))
  const state = login.searchParams.get('state') ?? ''
  assert.equal((await other.go(`/oauth/callback?${new URLSearchParams({ code: 'c', state })}`)).status, 400)
  const refused = locationOf(await one.go(`/oauth/callback?${new URLSearchParams({ error: 'x', state })}`))
  assert.equal(refused.searchParams.get('error'), 'access_denied')
  // A state of the login is no request for consent.
  assert.equal((await one.go('/oauth/consent', { request: state, decision: 'allow' })).status, 400)
})

test('two logins at the same time in one browser both go on', async (t) => {
  const server = serving(t, await providerFor(t))
  const clientId = await registered(server)
  const browser = new Browser(server)
  const page = await (await browser.go(authorizePath(clientId))).text()
  await browser.go(authorizePath(clientId))
  const sealed = /name="request" value="([^"]+)"/.exec(page)?.[1] ?? ''
  locationOf(await browser.go('/oauth/consent', { request: sealed, decision: 'allow' }))
})

test('the address of the provider stays short, however much a client has registered', async (t) => {
  const server = serving(t, await providerFor(t))
  const redirect_uris = Array.from({ length: 20 }, (_, at) => `https://a.example/${'a'.repeat(200)}/${at}`)
  const { client_id: id } = await jsonOf(await server.fetch(request('/oauth/register', { redirect_uris })))
  const browser = new Browser(server)
  const [redirect_uri = ''] = redirect_uris
  const page = await (await browser.go(authorizePath(String(id), { redirect_uri }))).text()
  const [, sealed = ''] = /name="request" value="([^"]+)"/.exec(page) ?? []
  const { href } = locationOf(await browser.go('/oauth/consent', { request: sealed, decision: 'allow' }))
  assert.match(href, /\/authorize\?response_type=code/)
  assert.equal(String(id).length > 5_000 && href.length < 2_000, true)
})

test('a token has no scope that its client did not ask for', async (t) => {
  const server = serving(t, await providerFor(t), {
    identify: ({ accessToken: subject }) => ({ subject, scopes: ['read', 'write'] }),
  })
  const clientId = await registered(server)
  for (const [scope, granted] of [['read other', 'read'], ['', 'read write']] as const) {
    const code = await codeFor(server, clientId, { scope })
    const given = await jsonOf(await tokenFor(server, exchange(clientId, code)))
    assert.equal(given['scope'], granted)
    const refreshed = await jsonOf(await tokenFor(server, {
      grant_type: 'refresh_token', client_id: clientId, refresh_token: String(given['refresh_token']),
    }))
    assert.equal(refreshed['scope'], granted)
  }
})

test('a code is good once, for its client, its proof and this resource', async (t) => {
  const server = serving(t, await providerFor(t))
  const [clientId, otherId] = [await registered(server), await registered(server, 'https://b.example/cb')]
  const wrong: readonly Record<string, string>[] = [
    { client_id: otherId }, { code_verifier: 'b'.repeat(43) }, { redirect_uri: 'https://b.example/cb' },
    { resource: 'https://other.example' }, { grant_type: 'password' }, { code: 'none' },
  ]
  for (const more of wrong) {
    const code = await codeFor(server, clientId)
    const reply = await tokenFor(server, exchange(clientId, code, more))
    assert.equal(reply.status, 400, JSON.stringify(more))
  }
  const code = await codeFor(server, clientId)
  const both = await Promise.all([1, 2].map(() => tokenFor(server, exchange(clientId, code))))
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 400])
  const { refresh_token: refresh } = await jsonOf(await tokenFor(server, exchange(
    clientId, await codeFor(server, clientId),
  )))
  const stolen = { grant_type: 'refresh_token', client_id: otherId, refresh_token: String(refresh) }
  assert.equal((await jsonOf(await tokenFor(server, stolen)))['error'], 'invalid_grant')
  // A token of another server is none.
  const foreign = await tokenFor(serving(t, await providerFor(t)), exchange(clientId, randomUUID()))
  assert.equal(foreign.status, 400)
})

test('a user who logs in again and again pushes out logins of their own alone', async (t) => {
  const provider = await providerFor(t)
  const server = serving(t, provider, {}, { store: memoryStore({ maxEntries: 12 }) })
  const clientId = await registered(server)
  const loggedIn = async (subject: string): Promise<string> => {
    provider.answer.body = { access_token: subject, refresh_token: `rt-${subject}` }
    const given = await tokenFor(server, exchange(clientId, await codeFor(server, clientId)))
    assert.equal(given.status, 200)
    return String((await jsonOf(given))['refresh_token'])
  }
  const bob = await loggedIn('bob')
  for (let count = 0; count < 30; count++) await loggedIn('ann')
  const again = { grant_type: 'refresh_token', client_id: clientId, refresh_token: bob }
  assert.equal((await tokenFor(server, again)).status, 200)
})

test('the client learns who is not let in, and that a provider has failed, but not why', async (t) => {
  const provider = await providerFor(t)
  const server = serving(t, provider)
  const clientId = await registered(server)
  provider.answer.body = { access_token: 'nobody' }
  assert.match(await codeFor(server, clientId), /error=access_denied/)
  provider.answer = { status: 500, body: { error: 'secret' } }
  const failed = await codeFor(server, clientId)
  assert.match(failed, /error=server_error/)
  assert.doesNotMatch(failed, /secret/)
  provider.answer = { status: 200, body: { access_token: 'at', refresh_token: 'rt' } }
  const code = await codeFor(server, clientId)
  const { refresh_token: refresh } = await jsonOf(await tokenFor(server, exchange(clientId, code)))
  const again = { grant_type: 'refresh_token', client_id: clientId, refresh_token: String(refresh) }
  // A provider that is away for a while, or sends too much, logs nobody out.
  const large = { access_token: 'x'.repeat(300_000) }
  for (const answer of [{ status: 500, body: {} }, { status: 200, body: large }]) {
    provider.answer = answer
    const later = await tokenFor(server, again)
    assert.deepEqual([later.status, (await jsonOf(later))['error']], [503, 'temporarily_unavailable'])
  }
  // Nor does a mistake in the request.
  const mistaken = await tokenFor(server, { ...again, resource: 'https://other.example' })
  assert.deepEqual([mistaken.status, (await jsonOf(mistaken))['error']], [400, 'invalid_target'])
  provider.answer = { status: 400, body: { error: 'invalid_grant' } }
  const { error_description: why } = await jsonOf(await tokenFor(server, again))
  assert.equal(why, 'The provider refused the user')
})

test('what identify must not return is a failure that the log explains, and makes no token', async (t) => {
  const wrong = [{ subject: 'ann', expiresAt: 1_900_000_000 }, { subject: '' }, 'ann']
  for (const user of wrong) {
    const logged: unknown[] = []
    const log = (_level: string, _message: string, fields?: object): void => { logged.push(fields) }
    const server = serving(t, await providerFor(t), { identify: () => user as never }, { log })
    assert.match(await codeFor(server, await registered(server)), /error=server_error/)
    assert.match(JSON.stringify(logged.map((fields) => String(Reflect.get(Object(fields), 'cause')))),
      /expiresAt in seconds|returned no subject/)
  }
})

test('options that cannot work are refused with what to write', () => {
  const fine = {
    resource, authorizationEndpoint: 'https://a.example/authorize', tokenEndpoint: 'https://a.example/token',
    clientId: 'a', identify: () => undefined,
  }
  const wrong: readonly (readonly [more: object, message: RegExp])[] = [
    [{ resource: 'http://agents.example/mcp' }, /https address/], [{ clientId: '' }, /not empty/],
    [{ identify: undefined }, /has identify undefined; write async/],
    [{ resource: undefined }, /^oauthProxy has resource undefined; write an https address, as in /],
    [{ tokenSeconds: 1 }, /60 or above/],
    [{ scope: 'a' }, /did you mean 'scopes'/], [{ scopes: 'read' }, /write a list/],
    [{ scopes: ['a b'] }, /write a list/], [{ refreshSeconds: 59 }, /60 or above/],
    [{ parameters: { a: 1 } }, /access_type/],
  ]
  for (const [more, message] of wrong) {
    assert.throws(() => oauthProxy({ ...fine, ...more } as never), { name: 'TypeError', message })
  }
  assert.throws(() => oauthProxy(undefined as never), { message: /^oauthProxy takes an object, not undef/ })
})

test('the metadata of the resource names the proxy, its scopes and its name', async (t) => {
  const path = '/.well-known/oauth-protected-resource'
  const server = serving(t, await providerFor(t), { scopes: ['read'], name: 'The shop' })
  const named = await jsonOf(await server.fetch(request(path)))
  assert.deepEqual(named['authorization_servers'], ['https://triport.test'])
  assert.deepEqual([named['scopes_supported'], named['resource_name']], [['read'], 'The shop'])
  const plain = await jsonOf(await serving(t, await providerFor(t)).fetch(request(path)))
  assert.equal('scopes_supported' in plain || 'resource_name' in plain, false)
})

test('a token may be asked for each path of the server that needs one, and is good at all', async (t) => {
  const server = serving(t, await providerFor(t))
  const clientId = await registered(server)
  const params = { message: { role: 'user', parts: [{ type: 'text', text: 'who' }] } }
  const ask = { jsonrpc: '2.0', id: '1', method: 'message/send', params }
  const challenge = (await server.fetch(request('/a2a', ask))).headers.get('www-authenticate') ?? ''
  const [, address = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? []
  const metadata = await jsonOf(await server.fetch(request(new URL(address).pathname)))
  const asked = { resource: String(metadata['resource']) }
  assert.equal(asked.resource, 'https://triport.test/a2a')
  const form = { ...exchange(clientId, await codeFor(server, clientId, asked)), ...asked }
  const { access_token: token } = await jsonOf(await tokenFor(server, form))
  const headers = { authorization: `Bearer ${String(token)}` }
  assert.equal((await server.fetch(request('/a2a', ask, headers))).status, 200)
  assert.equal((await server.fetch(request('/tools', undefined, headers))).status, 200)
  for (const resource of [
    'https://triport.test/health', 'https://triport.test/none', 'http://triport.test/a2a',
    'https://triport.test/a2a?x', 'https://triport.test/a2a#x', 'https://triport.test/%ff', 'a2a',
  ]) {
    const refused = locationOf(await new Browser(server).go(authorizePath(clientId, { resource })))
    assert.equal(refused.searchParams.get('error'), 'invalid_target', resource)
  }
})

test('only a server with a proxy has its paths', async (t) => {
  const auth = { resource, authorizationServers: ['https://a.example'], verify: () => null }
  for (const options of [{}, { auth }]) {
    const server = serve(t, { agents: [echo], ...options })
    assert.equal((await server.fetch(request('/.well-known/oauth-authorization-server'))).status, 404)
  }
})
