import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import { memoryStore } from '../../../lib/index.ts'
import { jsonOf, request } from '../../fixtures/client.ts'
import { sharedStore } from '../../fixtures/shared-store.ts'
import {
  authorizePath, Browser, callbackFor, codeFor, consentFor, locationOf, providerFor, redirect_uri, refusalIn,
  registered, serving,
} from './oauth-login.ts'
import type { TestContext } from 'node:test'
import type { OauthProxyOptions, Store, TriportServer } from '../../../lib/index.ts'
import type { Form } from './oauth-login.ts'

const START = Date.UTC(2026, 0, 1)
const html = { accept: 'text/html,application/xhtml+xml' }

function clockOf(t: TestContext): (ms: number) => void {
  t.mock.timers.enable({ apis: ['Date'], now: START })
  return (ms) => t.mock.timers.setTime(START + ms)
}

async function serverFor(t: TestContext, more: Partial<OauthProxyOptions> = {}): Promise<TriportServer> {
  return serving(t, await providerFor(t), more)
}

/** Where a page says that the user goes, what is asked for, and by whom. */
async function shownFor(server: TriportServer, uri: string, more: Form = {}): Promise<string> {
  const clientId = await registered(server, uri)
  const page = await new Browser(server).go(authorizePath(clientId, { redirect_uri: uri, ...more }))
  assert.equal(page.status, 200)
  return /<p>(.*)<\/p>/.exec(await page.text())?.[1] ?? ''
}

function requirePageHeaders({ headers }: Response): void {
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(headers.get('referrer-policy'), 'no-referrer')
  assert.equal(headers.get('x-frame-options'), 'DENY')
  assert.match(headers.get('content-security-policy') ?? '',
    /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; frame-ancestors 'none'; base-uri 'none'$/)
}

test('the page of consent says who wants what, and where its user goes', async (t) => {
  const server = await serverFor(t, { name: 'Shop & <Co>' })
  assert.equal(await shownFor(server, 'https://a.example:8443/cb?x=1', { scope: 'read write' }),
    '<b>An &#60;editor&#62;</b> wants to use <b>Shop &#38; &#60;Co&#62;</b> as you. It asks for '
    + '<code>read write</code>. You will be sent back to <code>a.example:8443</code>. '
    + 'Go on only if you have just connected it yourself.')
  assert.match(await shownFor(server, redirect_uri, { scope: '' }), /It asks for all that you may do here\. /)
  const escaped = /<code>&#60;i&#62;&#39;&#38;<\/code>/
  assert.match(await shownFor(server, redirect_uri, { scope: `<i>'&` }), escaped)
})

test('an address that is no site is shown with its scheme, as an application on this device', async (t) => {
  const server = await serverFor(t)
  const shown: readonly (readonly [uri: string, host: string, href?: string])[] = [
    ['http://127.0.0.1:9/callback', '127.0.0.1:9'], ['http://localhost/', 'localhost'],
    ['http://[::1]:1/', '[::1]:1'],
    ['https://localhost:1/', 'localhost:1'], ['cursor://anysphere.cursor/oauth', 'anysphere.cursor'],
    ['com.example.app:/cb', 'com.example.app:'],
    [`app://host/<b>"'&`, 'host', 'app://host/%3Cb%3E%22&#39;&#38;'],
  ]
  for (const [uri, host, href = uri] of shown) {
    const sentence = `You will be sent back to <code>${host}</code>, an application on this device: `
      + `<code>${href}</code>. `
    assert.ok((await shownFor(server, uri)).includes(sentence), uri)
  }
  // A site that looks like another is shown as it is.
  assert.match(await shownFor(server, 'https://аpple.example/'), /to <code>xn--pple-43d\.example<\/code>\. /)
})

test('no page of a login can be framed, kept, styled by others, or tell where it was', async (t) => {
  const server = await serverFor(t)
  const clientId = await registered(server)
  const browser = new Browser(server)
  const page = await browser.go(authorizePath(clientId))
  requirePageHeaders(page)
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  const [, style = ''] = /<style>(.*)<\/style>/.exec(await page.clone().text()) ?? []
  const hash = createHash('sha256').update(style).digest('base64')
  assert.ok(page.headers.get('content-security-policy')?.includes(`'sha256-${hash}'`))
  assert.match(await page.text(), /<form method="post" action="\/oauth\/consent">/)
  for (const path of ['/oauth/authorize', '/oauth/callback']) {
    for (const headers of [html, {}]) requirePageHeaders(await browser.go(path, undefined, headers))
  }
  requirePageHeaders(await browser.go('/oauth/consent', { request: 'x' }, html))
})

test('a refusal is a page for a browser, and an error of OAuth for a program', async (t) => {
  const server = await serverFor(t)
  const browser = new Browser(server)
  for (const accept of ['text/html', 'TEXT/HTML, */*']) {
    const page = await browser.go(authorizePath('x'), undefined, { accept })
    assert.deepEqual([page.status, page.headers.get('content-type')], [400, 'text/html; charset=utf-8'])
    const shown = /<h1>This application is not known here<\/h1><p>.* \(<code>invalid_client<\/code>\)/
    assert.match(await page.text(), shown)
  }
  for (const accept of ['*/*', 'application/json']) {
    const reply = await browser.go(authorizePath('x'), undefined, { accept })
    const { error, error_description: why } = await jsonOf(reply)
    assert.deepEqual([reply.status, error], [400, 'invalid_client'])
    assert.match(String(why), /^This application is not known here: /)
  }
})

test('what is wrong with an authorization request has its code, and its sentence is text', async (t) => {
  const server = await serverFor(t, { scopes: ['read', 'list'] })
  const [here, there] = [await registered(server), await registered(server, 'https://a.example/cb')]
  const browser = new Browser(server)
  const wrong: readonly (readonly [more: Form, error: string, why: RegExp])[] = [
    [{ response_type: '' }, 'invalid_request', /response_type/],
    [{ response_type: 'token' }, 'unsupported_response_type', /response_type/],
    [{ code_challenge: '' }, 'invalid_request', /S256/],
    [{ code_challenge: 'a'.repeat(42) }, 'invalid_request', /S256/],
    [{ code_challenge: 'a'.repeat(44) }, 'invalid_request', /S256/],
    [{ code_challenge_method: '' }, 'invalid_request', /S256/],
    [{ code_challenge_method: 'plain' }, 'invalid_request', /S256/],
    [{ scope: 'x'.repeat(2_049) }, 'invalid_request', /scope/],
    [{ scope: 'read other' }, 'invalid_scope', /scope/], [{ scope: 'read "list"' }, 'invalid_scope', /scope/],
    [{ resource: 'https://other.example' }, 'invalid_target', /https:\/\/triport\.test\/mcp/],
  ]
  for (const [more, error, why] of wrong) {
    const { searchParams: back, href } = locationOf(await browser.go(authorizePath(here, more)))
    assert.ok(href.startsWith(`${redirect_uri}?`))
    assert.deepEqual([back.get('error'), back.get('state'), back.get('iss')],
    [error, 'st', 'https://triport.test'])
    assert.match(back.get('error_description') ?? '', why)
    const stays = authorizePath(there, { redirect_uri: 'https://a.example/cb', ...more })
    assert.deepEqual(await refusalIn(await browser.go(stays)), [400, error])
    const page = await (await browser.go(stays, undefined, html)).text()
    assert.match(page, /<h1>The application asks for what is not/)
  }
  const long = locationOf(await browser.go(authorizePath(here, { state: 's'.repeat(2_049) })))
  assert.equal(long.searchParams.get('error'), 'invalid_request')
  for (const more of [{ state: 's'.repeat(2_048) }, { scope: 'list read' }, { resource: '' }] as Form[]) {
    assert.equal((await browser.go(authorizePath(here, more))).status, 200)
  }
})

test('where nothing names a scope any may be asked for, and what is served names some', async (t) => {
  const server = await serverFor(t)
  const clientId = await registered(server)
  const ask = (on: TriportServer, id: string, scope: string): Promise<Response> => (
    new Browser(on).go(authorizePath(id, { scope }))
  )
  assert.equal((await ask(server, clientId, 'any')).status, 200)
  assert.equal((await ask(server, clientId, 'x'.repeat(257))).status, 303)
  assert.equal((await ask(server, clientId, `${'x '.repeat(1_023)}yy`)).status, 200)
  const buy = { kind: 'tool', name: 'buy', description: 'Buys.', scopes: ['buy'], run: () => '' }
  server.catalog.add(buy as never)
  assert.equal((await ask(server, clientId, 'buy')).status, 200)
  assert.equal(locationOf(await ask(server, clientId, 'any')).searchParams.get('error'), 'invalid_scope')
})

test('a parameter that stands twice is refused wherever it stands', async (t) => {
  const server = await serverFor(t)
  const clientId = await registered(server)
  const browser = new Browser(server)
  const path = authorizePath(clientId)
  for (const name of ['client_id', 'redirect_uri']) {
    const reply = await browser.go(`${path}&${name}=x`)
    assert.deepEqual(await refusalIn(reply), [400, 'invalid_request'], name)
  }
  const others = ['response_type', 'code_challenge', 'code_challenge_method', 'state', 'scope', 'resource']
  for (const name of [...others, 'unknown']) {
    const twice = `${path}${name === 'unknown' ? '&unknown=' : ''}&${name}=x`
    const { searchParams: back } = locationOf(await browser.go(twice))
    assert.deepEqual([back.get('error'), back.get('state')],
    ['invalid_request', name === 'state' ? null : 'st'])
  }
  const sealed = await consentFor(browser, clientId)
  for (const more of ['&decision=deny', '&request=', '&x=&x=']) {
    const form = `request=${sealed}&decision=allow${more}`
    assert.deepEqual(await refusalIn(await browser.go('/oauth/consent', form)), [400, 'invalid_request'])
  }
  const callback = `${await callbackFor(browser, clientId)}&code=pc`
  for (const more of ['&code=pc', '&state=', '&x=&x=']) {
    assert.deepEqual(await refusalIn(await browser.go(callback + more)), [400, 'invalid_request'])
  }
  assert.ok(locationOf(await browser.go(callback)).searchParams.has('code'))
})

test('a form needs a decision, and the request that its browser was shown', async (t) => {
  const server = await serverFor(t)
  const clientId = await registered(server)
  const browser = new Browser(server)
  const sealed = await consentFor(browser, clientId)
  const wrong: readonly Form[] = [
    { request: sealed }, { request: sealed, decision: 'yes' }, { request: sealed, decision: 'Allow' },
    { decision: 'allow' }, { decision: 'deny' }, { request: `${sealed}a`, decision: 'deny' }, {},
  ]
  for (const form of wrong) {
    const reply = await browser.go('/oauth/consent', form)
    assert.deepEqual(await refusalIn(reply), [400, 'invalid_request'], JSON.stringify(form))
  }
  const stranger = new Browser(server)
  const cookies = [
    '', '__Host-triport_oauth=x', `__Host-triport_oauth=${'a'.repeat(36)}`, `x${browser.cookie}`,
    `${browser.cookie}a`, browser.cookie.replace('__Host-', ''),
  ]
  for (const cookie of cookies) {
    stranger.cookie = cookie
    for (const decision of ['allow', 'deny']) {
      const reply = await stranger.go('/oauth/consent', { request: sealed, decision })
      assert.deepEqual(await refusalIn(reply), [400, 'invalid_request'], cookie)
    }
  }
  browser.cookie = `a=b;  ${browser.cookie}; c=d`
  const denied = await browser.go('/oauth/consent', { request: sealed, decision: 'deny' })
  assert.deepEqual(Object.fromEntries(locationOf(denied).searchParams), {
    error: 'access_denied', state: 'st', iss: 'https://triport.test',
  })
})

test('the cookie of a browser stays, and is for its host, pages and time alone', async (t) => {
  const server = await serverFor(t)
  const clientId = await registered(server)
  const browser = new Browser(server)
  const first = (await browser.go(authorizePath(clientId))).headers.get('set-cookie') ?? ''
  const rest = 'Path=/; Max-Age=600; HttpOnly; SameSite=Lax'
  assert.match(first, new RegExp(`^__Host-triport_oauth=[\\w-]{36}; ${rest}; Secure$`))
  assert.equal((await browser.go(authorizePath(clientId))).headers.get('set-cookie'), first)
  for (const wrong of ['x', 'a'.repeat(37), `${'a'.repeat(35)}!`]) {
    browser.cookie = `__Host-triport_oauth=${wrong}`
    await browser.go(authorizePath(clientId))
    assert.match(browser.cookie, /^__Host-triport_oauth=[\w-]{36}$/)
    assert.ok(!browser.cookie.includes('a'.repeat(20)))
  }
  const plain = serving(t, await providerFor(t), { resource: 'http://localhost:8080/mcp' })
  const path = authorizePath(await registered(plain), { resource: '' })
  const cookie = (await new Browser(plain).go(path)).headers.get('set-cookie') ?? ''
  assert.match(cookie, new RegExp(`^triport_oauth=[\\w-]{36}; ${rest}$`))
})

test('a login comes back once, from its browser, and with an answer', async (t) => {
  const provider = await providerFor(t)
  const server = serving(t, provider)
  const clientId = await registered(server)
  const browser = new Browser(server)
  const callback = await callbackFor(browser, clientId)
  const stranger = new Browser(server)
  for (const [by, path] of [
    [stranger, `${callback}&code=pc`], [stranger, `${callback}&error=x`], [browser, callback],
    [browser, `${callback}a&code=pc`], [browser, '/oauth/callback?code=pc'], [browser, '/oauth/callback'],
  ] as const) {
    assert.deepEqual(await refusalIn(await by.go(path)), [400, 'invalid_request'], path)
  }
  const { cookie } = browser
  const head = await server.fetch(request(`${callback}&code=pc`, undefined, { cookie }, 'HEAD'))
  assert.equal(head.status, 200)
  assert.deepEqual(provider.asked, [])
  assert.ok(locationOf(await browser.go(`${callback}&code=pc`)).searchParams.has('code'))
  for (const answer of ['code=pc', 'code=other', 'error=x']) {
    const again = await browser.go(`${callback}&${answer}`)
    assert.match(String((await jsonOf(again))['error_description']), /was used/)
  }
  assert.equal(provider.asked.length, 1)
})

test('of two answers to one login, in two processes, one goes on', async (t) => {
  const provider = await providerFor(t)
  const options = { store: sharedStore() }
  const [one, other] = [serving(t, provider, {}, options), serving(t, provider, {}, options)]
  const browser = new Browser(one)
  const callback = `${await callbackFor(browser, await registered(one))}&code=pc`
  const elsewhere = new Browser(other)
  elsewhere.cookie = browser.cookie
  const both = await Promise.all([browser.go(callback), elsewhere.go(callback)])
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [303, 400])
})

test('a page of consent and a login are each good for ten minutes', async (t) => {
  const at = clockOf(t)
  const server = await serverFor(t)
  const clientId = await registered(server)
  const browser = new Browser(server)
  const form = { request: await consentFor(browser, clientId), decision: 'allow' }
  const callbacks = [await callbackFor(browser, clientId), await callbackFor(browser, clientId)]
  at(599_999)
  locationOf(await browser.go('/oauth/consent', form))
  assert.ok(locationOf(await browser.go(`${callbacks[0]}&code=pc`)).searchParams.has('code'))
  at(600_000)
  assert.deepEqual(await refusalIn(await browser.go('/oauth/consent', form)), [400, 'invalid_request'])
  assert.deepEqual(await refusalIn(await browser.go(`${callbacks[1]}&code=pc`)), [400, 'invalid_request'])
})

test('what is sealed for one step is good in no other', async (t) => {
  const server = await serverFor(t)
  const clientId = await registered(server)
  const browser = new Browser(server)
  const sealed = await consentFor(browser, clientId)
  assert.equal((await browser.go(`/oauth/callback?code=pc&state=${sealed}`)).status, 400)
  assert.equal((await browser.go('/oauth/consent', { request: clientId, decision: 'allow' })).status, 400)
  assert.equal((await browser.go(authorizePath(sealed))).status, 400)
})

test('an error of the provider reaches the client as its own, or as a denial', async (t) => {
  const server = await serverFor(t)
  const clientId = await registered(server)
  const browser = new Browser(server)
  for (const [said, error] of [
    ['access_denied', 'access_denied'], ['<x>', 'access_denied'], ['server_error', 'server_error'],
    ['temporarily_unavailable', 'temporarily_unavailable'],
  ]) {
    const path = `${await callbackFor(browser, clientId)}&code=pc&error=${said}`
    const { searchParams: back } = locationOf(await browser.go(path))
    assert.deepEqual(Object.fromEntries(back), { error, state: 'st', iss: 'https://triport.test' })
  }
})

test('the provider may refuse a user, and the store have no room', async (t) => {
  const provider = await providerFor(t)
  const memory = memoryStore()
  let isFull = false
  const write: Store['write'] = async (...entry) => {
    if (isFull && entry[0].owner !== 'logins') throw new Error('secret')
    return memory.write(...entry)
  }
  const logged: unknown[] = []
  const log = (...line: unknown[]): void => { logged.push(line) }
  const server = serving(t, provider, {}, { store: { ...memory, write }, log })
  const clientId = await registered(server)
  isFull = true
  const failed = await codeFor(server, clientId)
  assert.match(failed, /error=server_error&error_description=The\+login\+could\+not\+be\+checked/)
  assert.match(JSON.stringify(logged), /A login could not be checked/)
  provider.answer = { status: 400, body: { error: 'invalid_grant' } }
  assert.equal(new URL(await codeFor(server, clientId)).searchParams.get('error'), 'access_denied')
})

test('a store that cannot be asked is no fault of the user, and says nothing of itself', async (t) => {
  const memory = memoryStore()
  const write: typeof memory.write = () => { throw new Error('secret') }
  const server = serving(t, await providerFor(t), {}, { store: { ...memory, write } })
  const browser = new Browser(server)
  const callback = `${await callbackFor(browser, await registered(server))}&code=pc`
  const reply = await browser.go(callback, undefined, html)
  const page = await reply.text()
  assert.equal(reply.status, 503)
  assert.match(page, /try again later \(<code>server_error<\/code>\)/)
  assert.doesNotMatch(page, /secret/)
  assert.equal(reply.headers.get('retry-after'), '1')
})

test('the metadata names what there is', async (t) => {
  const server = await serverFor(t, { scopes: ['read'] })
  const reply = await server.fetch(request('/.well-known/oauth-authorization-server'))
  assert.deepEqual([reply.status, await jsonOf(reply)], [200, {
    issuer: 'https://triport.test', authorization_endpoint: 'https://triport.test/oauth/authorize',
    token_endpoint: 'https://triport.test/oauth/token',
    registration_endpoint: 'https://triport.test/oauth/register',
    scopes_supported: ['read'], response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'], code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true, client_id_metadata_document_supported: true,
  }])
})
