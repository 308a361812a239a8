import assert from 'node:assert/strict'
import test from 'node:test'
import { oauthProxy } from '../../../lib/index.ts'
import { OauthDocuments } from '../../../lib/parts/oauth/oauth-documents.ts'
import { eventually, jsonOf, request } from '../../fixtures/client.ts'
import { keptBytes } from '../../fixtures/heap.ts'
import { sharedStore } from '../../fixtures/shared-store.ts'
import { answerWith, documentHost, documentOf } from './document-host.ts'
import { standingClock } from '../../fixtures/time.ts'
import {
  authorizePath, Browser, callWith, codeFor, exchange, providerFor, redirect_uri, refreshing, refusalIn,
  registered, resource, serving, tokenFor, tokensFor, tokensIn,
} from './oauth-login.ts'
import type { ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import type { OauthProxyOptions, TriportServer } from '../../../lib/index.ts'
import type { DocumentHost } from './document-host.ts'
import type { Form } from './oauth-login.ts'

const html = { accept: 'text/html' }
const here = { clientIdMetadataDocuments: { allowPrivate: true } }
const app = 'https://app.example.com/client.json'
const PUBLIC = '93.184.215.14'

/** A server, and a host that it may ask. */
async function pair(
  t: TestContext, more: Partial<OauthProxyOptions> = here,
): Promise<{ readonly server: TriportServer; readonly host: DocumentHost; readonly id: string }> {
  const host = await documentHost(t)
  host.names.set('app.example.com', [PUBLIC])
  return { server: serving(t, await providerFor(t), more), host, id: `${host.origin}/client.json` }
}

async function authorize(server: TriportServer, id: string, more: Form = {}): Promise<readonly unknown[]> {
  const response = await new Browser(server).go(authorizePath(id, more))
  if (response.status === 200) return [200]
  assert.equal(response.headers.get('location'), null)
  return refusalIn(response)
}

test('a client that describes itself is let in without having registered', async (t) => {
  const { server, host, id } = await pair(t)
  const metadata = await jsonOf(await server.fetch(request('/.well-known/oauth-authorization-server')))
  assert.equal(metadata['client_id_metadata_document_supported'], true)
  assert.equal(metadata['registration_endpoint'], 'https://triport.test/oauth/register')
  const { access, refresh, scope } = await tokensFor(server, id)
  assert.equal(scope, 'read')
  assert.match(String(await callWith(server, access)), /^200,.*triport\.test:at-1 read/)
  await tokensIn(await tokenFor(server, refreshing(id, refresh)))
  // Once for all: what was granted says whom it is for.
  assert.deepEqual(host.asked.map(({ path }) => path), ['/client.json'])
  const { accept, 'accept-encoding': encoding, cookie, authorization } = host.asked[0]!.headers
  assert.deepEqual([accept, encoding, cookie, authorization],
    ['application/json', 'identity', undefined, undefined])
})

test('the page of consent names the host, and warns where all on the device can be the client', async (t) => {
  const { server, host, id } = await pair(t)
  const shown = async (redirect: string): Promise<string> => {
    const page = await new Browser(server).go(authorizePath(id, { redirect_uri: redirect }), undefined, html)
    return /<p>(.*)<\/p>/.exec(await page.text())?.[1] ?? ''
  }
  const { host: name } = new URL(host.origin)
  const redirect_uris = [redirect_uri, 'https://app.example.com/cb', 'app:/cb']
  const more = { redirect_uris, client_uri: `${host.origin}/u`, logo_uri: `${id}/l` }
  host.answer = answerWith(documentOf(id, more))
  assert.equal(await shown('https://app.example.com/cb'),
    `An application of <b>${name}</b>, called <b>An &#60;editor&#62;</b>, wants to use `
    + '<b>Shop &#60;1&#62;</b> as you. It asks for <code>read</code>. '
    + 'You will be sent back to <code>app.example.com</code>. '
    + 'Go on only if you have just connected it yourself.')
  for (const uri of [redirect_uri, 'app:/cb']) {
    const warning = `<b>Any application on this device may say that it is of ${name}.</b>`
    assert.ok((await shown(uri)).includes(warning))
  }
  assert.equal(host.asked.length, 1)
})

test('an address that cannot be a client is not asked', async (t) => {
  const { server, host } = await pair(t)
  const { host: name } = new URL(host.origin)
  const wrong = [
    `http://${name}/c`, `https://${name}`, `https://${name}/`, `https://${name}/?a=b`, `https://${name}/c#a`,
    `https://${name}/c#`, `https://a@${name}/c`, `https://:b@${name}/c`, `https://@${name}/c`,
    `https://${name}/a/../c`, `https://${name}/./c`, `https://${name}/c/.`, `https://${name}/c/..`,
    `https://${name}/%2e%2E/c`, `https://${name}/.%2e/c`, `https://${name}/c/%2e`, `https://${name}\\c`,
    `https://${name}/c\\..\\d`, `https://${name}/\u00fc`, `https://${name}/c d`, ` https://${name}/c`,
    `https:/${name}/c`, `https:${name}/c`, `https:///${name}/c`, `https://${name}/${'c'.repeat(2_048)}`,
    'https://', 'https:///c', 'https://host..example/c', 'https://-/c', `https://${name}/%zz`, 'urn:a',
  ]
  for (const id of wrong) {
    assert.deepEqual(await authorize(server, id), [400, 'invalid_client'], id)
    const page = await (await new Browser(server).go(authorizePath(id), undefined, html)).text()
    // What is no address may have been registered elsewhere.
    const why = /^https:/i.test(id) ? /client_id|not reached on the internet/ : /It must register first/
    assert.match(page, why, id)
  }
  assert.deepEqual([host.asked, host.pinned], [[], []])
  const longest = `https://${name}/`.padEnd(2_048, 'c')
  for (const id of [`https://${name}/...`, `https://${name}/c?a=../b`, `https://${name}/a@b/~c`, longest]) {
    assert.deepEqual(await authorize(server, id), [200], id)
  }
  assert.deepEqual(await authorize(server, `${longest}c`), [400, 'invalid_client'])
})

test('only the internet is asked, at the addresses that were checked', async (t) => {
  const { server, host } = await pair(t, {})
  const inside: readonly (readonly [name: string, ...addresses: string[]])[] = [
    ['a.example.com', '10.0.0.1'], ['b.example.com', PUBLIC, '127.0.0.1'], ['e.example.com', '0.0.0.0'],
    ['d.example.com', '2606:4700::1', '::ffff:192.168.0.1'], ['c.example.com', '169.254.169.254'],
    ['f.example.com', PUBLIC, 'fd00::1'], ['g.example.com', '100.64.0.1'], ['gone.example.com'],
  ]
  for (const [name, ...addresses] of inside) host.names.set(name, addresses)
  const names = [
    ...inside.map(([name]) => name), 'localhost', 'a.localhost', '127.0.0.1', '[::1]', '10.1.2.3',
    '2130706433', '0x7f.1', '169.254.169.254', '[::ffff:7f00:1]', 'intranet', 'printer.local',
    'metadata.google.internal',
  ]
  const whys = new Set<unknown>()
  for (const [nth, name] of names.entries()) {
    const { port } = new URL(host.origin)
    const id = `https://${name}:${port}/client.json`
    const own = nth % 15 === 0 ? serving(t, await providerFor(t)) : server
    const refused = await new Browser(own).go(authorizePath(id))
    const { error, error_description: why } = await jsonOf(refused)
    assert.deepEqual([refused.status, error], [400, 'invalid_client'], name)
    whys.add(String(why).replace(/leads to \S+,/, ''))
  }
  // Nobody learns which names there are inside.
  assert.equal(whys.size, 1)
  assert.deepEqual([host.asked, host.pinned], [[], []])
  host.names.set('app.example.com', [PUBLIC, '2606:4700::1'])
  assert.deepEqual(await authorize(server, app), [200])
  assert.deepEqual(host.pinned, [[PUBLIC, '2606:4700::1']])
})

test('who lets in private networks lets in no link-local address', async (t) => {
  const { server, host } = await pair(t)
  host.names.set('meta.example.com', ['169.254.169.254']).set('lan.example.com', ['192.168.0.9'])
  assert.deepEqual(await authorize(server, 'https://meta.example.com/c'), [400, 'invalid_client'])
  assert.deepEqual(await authorize(server, 'https://lan.example.com/c'), [200])
})

test('what is no document is refused by a page, and said why', async (t) => {
  const host = await documentHost(t)
  const provider = await providerFor(t)
  const good = (id: string): string => JSON.stringify(documentOf(id))
  const padded = (id: string, bytes: number): string => good(id).padEnd(bytes)
  let left = 0
  const endless = (status: number, bytes: number): DocumentHost['answer'] => (_id, response) => {
    response.on('close', () => { left++ }).writeHead(status, { 'content-type': 'application/json' })
    response.write('x'.repeat(bytes))
  }
  const wrong: readonly (readonly [answer: (id: string) => DocumentHost['answer'], why: RegExp])[] = [
    ...[201, 204, 206, 400, 404, 410, 500, 503].map((status) => (
      [(id: string) => answerWith(good(id), {}, status), new RegExp(`status ${status}`)] as const
    )),
    ...[301, 302, 303, 307, 308].map((status) => (
      [() => answerWith('', { location: '/other' }, status), /redirects, which is not followed/] as const
    )),
    ...['text/html', 'text/plain', 'application/jsonp', 'application/xml+', 'image/svg+json', 'json'].map(
      (type) => [
        (id: string) => answerWith(good(id), { 'content-type': type }), /not of the type application\/json/,
      ] as const,
    ),
    [(id) => answerWith(good(id), { 'content-encoding': 'gzip' }), /compressed/],
    [(id) => answerWith(padded(id, 16_385)), /more than 16384 bytes/],
    [(id) => answerWith(padded(id, 9_000_000)), /more than 16384 bytes/],
    [() => endless(404, 20_000), /status 404/], [() => endless(302, 1), /redirects/],
    [() => endless(200, 20_000), /more than 16384 bytes/],
    [() => (_id, { socket }) => {
      socket!.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n')
    }, /could not be read/],
    [(id) => answerWith(Buffer.from(good(id).replace('editor', '\xff'), 'latin1')), /no UTF-8/],
    [() => (_id, response) => response.destroy(), /could not be read/],
    [() => (_id, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '9' })
      response.write('{}', () => response.destroy())
    }, /could not be read/],
  ]
  for (const [nth, [answer, why]] of wrong.entries()) {
    const id = `${host.origin}/${nth}`
    host.answer = answer(id)
    const page = await new Browser(serving(t, provider, here)).go(authorizePath(id), undefined, html)
    const text = await page.text()
    assert.deepEqual([page.status, page.headers.get('location')], [400, null], String(why))
    assert.match(text, why)
    assert.match(text, /<h1>This application cannot be looked up<\/h1>.*<code>invalid_client<\/code>/)
  }
  assert.ok(host.asked.every(({ path }) => path !== '/other'))
  await eventually(() => left === 3, 'of what is not read the connection is closed')
  const fine: readonly ((id: string) => DocumentHost['answer'])[] = [
    (id) => answerWith(padded(id, 16_384)),
    (id) => answerWith(good(id), { 'content-type': 'Application/JSON; charset=utf-8' }),
    (id) => answerWith(good(id), { 'content-type': 'application/oauth-client+json' }),
    (id) => answerWith(good(id), { 'content-encoding': 'identity' }),
    (id) => answerWith(`\ufeff${good(id)}`),
  ]
  for (const [nth, answer] of fine.entries()) {
    const id = `${host.origin}/fine/${nth}`
    host.answer = answer(id)
    assert.deepEqual(await authorize(serving(t, provider, here), id), [200], String(nth))
  }
})

test('what a document says of the client has its code where it is wrong', async (t) => {
  const host = await documentHost(t)
  const provider = await providerFor(t)
  const { origin } = host
  type Wrong = readonly [body: (id: string) => unknown, why: RegExp, code?: string]
  const wrong: readonly Wrong[] = [
    ...['', 'x', '[]', '1', 'null', '"a"'].map((text): Wrong => [() => text, /no object of JSON/]),
    [(id) => documentOf(id, { a: JSON.parse(`${'['.repeat(17)}${']'.repeat(17)}`) }), /no object of JSON/],
    [(id) => `{"client_id":"x",${JSON.stringify(documentOf(id)).slice(1)}`, /stands twice/],
    [() => documentOf(`${origin}/other`), /client_id that is not its own address/],
    [(id) => documentOf(`${id}/`), /client_id/], [(id) => documentOf(`${id}?`), /client_id/],
    [(id) => documentOf(id.toUpperCase()), /client_id/],
    [(id) => documentOf(id.replace('://', '://a@')), /client_id/],
    [(id) => documentOf(id, { client_id: [id] }), /client_id/],
    [(id) => documentOf(id, { client_id: undefined }), /client_id/],
    [(id) => documentOf(id, { client_name: undefined }), /no client_name/],
    [(id) => documentOf(id, { client_name: ' ' }), /no client_name/],
    [(id) => documentOf(id, { client_name: { a: 1 } }), /no client_name/],
    [(id) => documentOf(id, { client_secret: 's' }), /client_secret/],
    [(id) => documentOf(id, { client_secret_expires_at: 0 }), /client_secret_expires_at/],
    ...[
      'client_secret_post', 'client_secret_basic', 'client_secret_jwt', 'private_key_jwt', 'None', '', 7,
    ].map((method): Wrong => [(id) => documentOf(id, { token_endpoint_auth_method: method }), /auth_method/]),
    [(id) => documentOf(id, { token_endpoint_auth_methods_supported: ['private_key_jwt'] }), /auth_method/],
    [(id) => documentOf(id, {
      token_endpoint_auth_method: 'client_secret_basic', token_endpoint_auth_methods_supported: ['none'],
    }), /auth_method/],
    [(id) => documentOf(id, { grant_types: ['client_credentials'] }), /grant_types/],
    [(id) => documentOf(id, { response_types: ['token'] }), /response_types/],
    ...[undefined, null, [], redirect_uri, [1], ['/cb'], ['javascript:alert(1)'], ['http://a.example/'],
      ['https://a.example/#a'], ['https://u@a.example/']].map((redirect_uris): Wrong => (
      [(id) => documentOf(id, { redirect_uris }), /redirect_uris/, 'invalid_redirect_uri']
    )),
  ]
  for (const [nth, [body, why, code = 'invalid_client_metadata']] of wrong.entries()) {
    const id = `${origin}/${nth}`
    host.answer = answerWith(body(id))
    const browser = new Browser(serving(t, provider, here))
    const refused = await browser.go(authorizePath(id), undefined, html)
    const text = await refused.text()
    assert.deepEqual([refused.status, refused.headers.get('location')], [400, null], String(nth))
    assert.match(text, why)
    assert.ok(text.includes(`<code>${code}</code>`), text)
  }
  const fine: readonly Record<string, unknown>[] = [
    { token_endpoint_auth_method: 'none' }, { token_endpoint_auth_method: null },
    // ChatGPT prefers one method and can do without.
    {
      token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `${origin}/jwks`,
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    },
    { grant_types: ['authorization_code', 'refresh_token', 'urn:other'], response_types: ['code', 'token'] },
    { scope: 7, contacts: {}, logo_uri: 'https://169.254.169.254/', software_id: null },
  ]
  for (const [nth, more] of fine.entries()) {
    const id = `${origin}/fine/${nth}`
    host.answer = answerWith(documentOf(id, more))
    assert.deepEqual(await authorize(serving(t, provider, here), id), [200], String(nth))
  }
  assert.ok(host.asked.every(({ path }) => path !== '/jwks'))
})

test('a user is sent back only to an address of the document', async (t) => {
  const { server, host, id } = await pair(t)
  const redirect_uris = [redirect_uri, 'https://app.example.com/cb?x=1', 'http://lan.example/', 'app://cb']
  host.answer = answerWith(documentOf(id, { redirect_uris }))
  const good = [redirect_uri, 'http://127.0.0.1:77/callback', 'https://app.example.com/cb?x=1', 'app://cb']
  for (const uri of good) assert.deepEqual(await authorize(server, id, { redirect_uri: uri }), [200], uri)
  const bad = [
    'http://127.0.0.1:9/callback/', 'http://localhost:9/callback', 'https://127.0.0.1:9/callback',
    'https://app.example.com/cb', 'https://app.example.com/cb?x=1&y=2', 'https://app.example.com:444/cb?x=1',
    'https://app.example.com.evil.example/cb?x=1', 'http://lan.example/', 'app://cb/', id, '',
  ]
  for (const uri of bad) {
    assert.deepEqual(await authorize(server, id, { redirect_uri: uri }), [400, 'invalid_request'], uri)
  }
})

test('a document is kept for as long as its host says, within bounds', async (t) => {
  const minute = 60_000
  const cases: readonly (readonly [headers: Record<string, string>, freshMs: number])[] = [
    [{}, 10 * minute], [{ 'cache-control': 'max-age=300' }, 5 * minute],
    [{ 'cache-control': 'max-age=300', age: '120' }, 3 * minute], [{ 'cache-control': 'max-age=5' }, minute],
    [{ 'cache-control': 'max-age=0, must-revalidate' }, minute], [{ expires: '0' }, minute],
    [{ 'cache-control': 'max-age=31536000' }, 24 * 60 * minute],
    [{ date: 'Thu, 01 Jan 2026 00:00:00 GMT', expires: 'Thu, 01 Jan 2026 00:07:00 GMT' }, 7 * minute],
  ]
  const host = await documentHost(t)
  const pass = standingClock(t)
  for (const [nth, [headers, freshMs]] of cases.entries()) {
    const documents = new OauthDocuments({ allowPrivate: true })
    const id = `${host.origin}/${nth}`
    host.answer = answerWith(documentOf(id), headers)
    const timesAfter = async (ms: number): Promise<number> => {
      pass(ms)
      await documents.find(id, 'ann')
      return host.asked.filter(({ path }) => path === `/${nth}`).length
    }
    const times = [await timesAfter(0), await timesAfter(freshMs - 1), await timesAfter(1)]
    assert.deepEqual(times, [1, 1, 2], JSON.stringify(headers))
  }
  for (const control of ['no-store', 'no-cache', 'max-age=600, No-Store']) {
    const documents = new OauthDocuments({ allowPrivate: true })
    host.asked.length = 0
    host.answer = (id, response) => answerWith(documentOf(id), { 'cache-control': control })(id, response)
    await Promise.all([documents.find(`${host.origin}/c`, 'ann'), documents.find(`${host.origin}/c`, 'ann')])
    assert.equal(host.asked.length, 1)
    await documents.find(`${host.origin}/c`, 'ann')
    assert.equal(host.asked.length, 2, control)
  }
})

test('what was kept of a document that is not to be kept any more counts no longer', async (t) => {
  const { host, id } = await pair(t)
  const pass = standingClock(t)
  const documents = new OauthDocuments({ allowPrivate: true })
  await documents.find(id, 'ann')
  host.answer = answerWith(documentOf(id), { 'cache-control': 'no-store' })
  pass(10 * 60_000)
  for (let nth = 0; nth < 20; nth++) await documents.find(id, 'ann')
  await assert.rejects(documents.find(id, 'ann'), { status: 429 })
})

test('what was wrong is asked for again after a while, and what it said before is forgotten', async (t) => {
  const { server, host, id } = await pair(t)
  const pass = standingClock(t)
  assert.deepEqual(await authorize(server, id), [200])
  host.answer = answerWith('', {}, 500)
  assert.deepEqual(await authorize(server, id), [200])
  pass(10 * 60_000)
  for (const _again of [1, 2, 3]) assert.deepEqual(await authorize(server, id), [400, 'invalid_client'])
  assert.equal(host.asked.length, 2)
  host.answer = answerWith(documentOf(id))
  pass(9_999)
  assert.deepEqual(await authorize(server, id), [400, 'invalid_client'])
  pass(1)
  assert.deepEqual(await authorize(server, id), [200])
  assert.equal(host.asked.length, 3)
})

test('a host is asked once for all that come meanwhile, and not for long', async (t) => {
  const { server, host, id } = await pair(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let waiting = 0
  host.answer = () => { waiting++ }
  const all = Array.from({ length: 5 }, () => authorize(server, id))
  while (waiting === 0) await new Promise((resolve) => setImmediate(resolve))
  t.mock.timers.tick(4_999)
  await new Promise((resolve) => setImmediate(resolve))
  t.mock.timers.tick(1)
  for (const refused of await Promise.all(all)) assert.deepEqual(refused, [400, 'invalid_client'])
  assert.equal(host.asked.length, 1)
})

test('a host is asked once for many callers who come at the same time', async (t) => {
  const { host, id } = await pair(t)
  const documents = new OauthDocuments({ allowPrivate: true })
  const callers = Array.from({ length: 40 }, (_one, nth) => documents.find(id, `caller ${nth}`))
  for (const client of await Promise.all(callers)) assert.equal(client?.host, new URL(id).host)
  assert.equal(host.asked.length, 1)
})

test('who fills the line with hosts that do not answer delays nobody else', async (t) => {
  const { host } = await pair(t)
  const documents = new OauthDocuments({ allowPrivate: true })
  const { origin } = host
  const held: ServerResponse[] = []
  host.answer = (_id, response) => { held.push(response) }
  const hanging = Array.from({ length: 4 }, (_one, nth) => documents.find(`${origin}/${nth}`, 'eve'))
  const waiting = ['c', 4, 5, 6, 7, 8, 9, 10].map((name) => documents.find(`${origin}/${name}`, 'eve'))
  const all = Promise.allSettled([...hanging, ...waiting])
  await eventually(() => held.length === 4)
  await assert.rejects(documents.find(`${origin}/d`, 'eve'), { status: 429 })
  host.answer = (id, response) => answerWith(documentOf(id))(id, response)
  assert.equal((await documents.find(`${origin}/c`, 'bob'))?.host, new URL(origin).host)
  for (const response of held) response.destroy()
  await all
})

test('nobody makes this server ask often: one caller, one name and one address have a rate', async (t) => {
  const host = await documentHost(t)
  const pass = standingClock(t)
  const documents = new OauthDocuments()
  const outcome = (id: string, caller: string): Promise<unknown> => (
    documents.find(id, caller).then(() => 'read', (error: { status: number }) => error.status)
  )
  const outcomes = async (count: number, ask: (nth: number) => Promise<unknown>): Promise<unknown> => {
    const all: unknown[] = []
    for (let nth = 0; nth < count; nth++) all.push(await ask(nth))
    return [all.filter((one) => one === 'read').length, all.filter((one) => one === 429).length]
  }
  for (let nth = 0; nth < 100; nth++) host.names.set(`${nth}.example.com`, [`93.184.215.${nth}`])
  assert.deepEqual(await outcomes(25, (nth) => outcome(`https://${nth}.example.com/c`, 'ann')), [20, 5])
  assert.equal(await outcome('https://24.example.com/c', 'bob'), 'read')
  pass(3_000)
  assert.deepEqual(await outcomes(3, (nth) => outcome(`https://${21 + nth}.example.com/c`, 'ann')), [1, 2])
  pass(600_000)
  const ofOneHost = (nth: number): Promise<unknown> => (
    outcome(`https://1.example.com/${nth}`, `caller ${nth}`)
  )
  assert.deepEqual(await outcomes(35, ofOneHost), [30, 5])
  // Its clients that are known already are not locked out, until a day later.
  assert.equal(await outcome('https://1.example.com/0', 'bob'), 'read')
  pass(10 * 60_000 + 1)
  for (let nth = 0; nth < 30; nth++) await outcome(`https://1.example.com/more${nth}`, `caller ${nth}`)
  const asked = host.asked.length
  assert.equal(await outcome('https://1.example.com/0', 'bob'), 'read')
  assert.equal(host.asked.length, asked)
  pass(24 * 3_600_000)
  for (let nth = 0; nth < 30; nth++) await outcome(`https://1.example.com/late${nth}`, `caller ${nth}`)
  assert.equal(await outcome('https://1.example.com/0', 'bob'), 429)
  pass(600_000)
  for (let nth = 0; nth < 100; nth++) host.names.set(`n${nth}.example.com`, [PUBLIC])
  const ofNoAddress = (nth: number): Promise<unknown> => (
    outcome(`https://gone.example.com/${nth}`, `caller ${nth}`)
  )
  assert.deepEqual(await outcomes(35, ofNoAddress), [0, 5])
  const ofOneAddress = (nth: number): Promise<unknown> => (
    outcome(`https://n${nth}.example.com/c`, `caller ${nth}`)
  )
  assert.deepEqual(await outcomes(35, ofOneAddress), [30, 5])
})

test('over the rate a browser is asked to come again, and is told when', async (t) => {
  const { server, host } = await pair(t)
  standingClock(t)
  const browser = new Browser(server)
  for (let nth = 0; nth < 20; nth++) await browser.go(authorizePath(`${host.origin}/${nth}`))
  const refused = await browser.go(authorizePath(`${host.origin}/more`))
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '3'])
  assert.equal((await jsonOf(refused))['error'], 'temporarily_unavailable')
})

test('what is kept of documents has a bound in bytes', async (t) => {
  const host = await documentHost(t)
  const pass = standingClock(t)
  const documents = new OauthDocuments({ allowPrivate: true })
  const uris = Array.from({ length: 8 }, (_one, nth) => `https://a.example/${nth}/${'a'.repeat(1_900)}`)
  host.answer = (id, response) => {
    const keep = { 'cache-control': 'max-age=86400' }
    answerWith(documentOf(id, { redirect_uris: uris }), keep)(id, response)
  }
  const find = async (nth: number): Promise<number> => {
    pass(3_000)
    const before = host.asked.length
    await documents.find(`${host.origin}/${nth}`, 'ann')
    return host.asked.length - before
  }
  for (let nth = 0; nth < 150; nth++) assert.equal(await find(nth), 1)
  assert.deepEqual([await find(0), await find(149), await find(120)], [1, 0, 0])
})

test('a document that is kept keeps neither the request nor the rest of what was read', async (t) => {
  const host = await documentHost(t)
  const pass = standingClock(t)
  const good: DocumentHost['answer'] = (id, response) => {
    answerWith(documentOf(id, { client_name: 'n'.repeat(14_000) }))(id, response)
  }
  for (const answer of [good, answerWith('', {}, 404)]) {
    const documents = new OauthDocuments({ allowPrivate: true })
    host.answer = answer
    const kept = await keptBytes(30, (nth) => {
      pass(3_000)
      const query = Buffer.from(`${host.origin}/${nth}${' '.repeat(50_000)}`).toString('latin1')
      return documents.find(query.trimEnd(), 'ann').catch(() => 0)
    })
    assert.ok(kept < 10_000, `${kept} for a document`)
  }
})

test('what was granted is for that address alone', async (t) => {
  const { server, host, id } = await pair(t)
  const other = `${host.origin}/other.json`
  const code = await codeFor(server, id)
  const dynamic = await registered(server)
  for (const client of [other, dynamic, `${id}?`, `${id}/`]) {
    const refused = await refusalIn(await tokenFor(server, exchange(client, code)))
    assert.deepEqual(refused, [400, 'invalid_grant'], client)
  }
  for (const client of [`${id}#a`, id.replace('https:', 'http:'), 'https://10.0.0.1']) {
    assert.deepEqual(await refusalIn(await tokenFor(server, exchange(client, code))), [400, 'invalid_client'])
  }
  const { refresh } = await tokensIn(await tokenFor(server, exchange(id, code)))
  const stolen = await refusalIn(await tokenFor(server, refreshing(other, refresh)))
  assert.deepEqual(stolen, [400, 'invalid_grant'])
  await tokensIn(await tokenFor(server, refreshing(id, refresh)))
})

test('a login goes on in another process, which need not read the document', async (t) => {
  const host = await documentHost(t)
  const provider = await providerFor(t)
  const store = sharedStore()
  const options = { store, secret: 'a secret of both processes' }
  const [one, other] = [serving(t, provider, here, options), serving(t, provider, here, options)]
  const id = `${host.origin}/client.json`
  const code = await codeFor(one, id)
  host.answer = answerWith('', {}, 503)
  const { access } = await tokensIn(await tokenFor(other, exchange(id, code)))
  assert.equal((await callWith(one, access))[0], 200)
  assert.equal(host.asked.length, 1)
})

test('an operator lists the hosts of clients, or has them all register', async (t) => {
  const { server: off, host, id } = await pair(t, { clientIdMetadataDocuments: false })
  const metadata = await jsonOf(await off.fetch(request('/.well-known/oauth-authorization-server')))
  assert.equal(metadata['client_id_metadata_document_supported'], false)
  assert.deepEqual(await authorize(off, app), [400, 'invalid_client'])
  assert.deepEqual(await refusalIn(await tokenFor(off, exchange(id, 'x'))), [400, 'invalid_client'])
  assert.deepEqual(await authorize(off, await registered(off)), [200])
  const listed = serving(t, await providerFor(t), {
    clientIdMetadataDocuments: { allowedHosts: ['APP.example.com', '*.example.org'] },
  })
  host.names.set('b.example.org', [PUBLIC]).set('example.org', [PUBLIC])
  assert.deepEqual(host.asked, [])
  for (const [address, ...outcome] of [
    [app, 200], ['https://b.example.org/c', 200], ['https://example.org/c', 400, 'invalid_client'],
    ['https://evil.example/c', 400, 'invalid_client'],
    ['https://app.example.com.evil.example/c', 400, 'invalid_client'],
  ] as const) assert.deepEqual(await authorize(listed, address), outcome, address)
  assert.equal(host.asked.length, 2)
  assert.deepEqual(await refusalIn(await tokenFor(listed, exchange('https://evil.example/c', 'x'))),
    [400, 'invalid_client'])
})

test('the option for documents says what can be written', () => {
  const options = {
    resource, authorizationEndpoint: 'https://a.example/a', tokenEndpoint: 'https://a.example/t',
    clientId: 'a', identify: () => null,
  }
  const wrong: readonly (readonly [given: unknown, why: RegExp])[] = [
    ['yes', /clientIdMetadataDocuments is "yes"; write true or false, or \{ allowedHosts/],
    [1, /write true or false/], [[], /write true or false/], [null, /write true or false/],
    [{ allowedHost: [] }, /allowedHost/], [{ allowedHosts: 'a.example' }, /write names/],
    [{ allowedHosts: ['https://a'] }, /allowedHosts has "https:\/\/a"; write names/],
    [{ allowPrivate: 1 }, /allowPrivate 1; write true or false/],
  ]
  for (const [clientIdMetadataDocuments, why] of wrong) {
    const given = { ...options, clientIdMetadataDocuments } as never
    assert.throws(() => oauthProxy(given), (error: Error) => {
      assert.ok(error instanceof TypeError)
      assert.match(error.message, why)
      return true
    })
  }
  for (const given of [undefined, true, false, {}, { allowedHosts: [], allowPrivate: false }]) {
    oauthProxy({ ...options, clientIdMetadataDocuments: given })
  }
})

test('nothing is read for one who only looks at the head', async (t) => {
  const { server, host, id } = await pair(t)
  const head = await server.fetch(request(authorizePath(id), undefined, {}, 'HEAD'))
  assert.deepEqual([head.status, host.asked], [200, []])
})
