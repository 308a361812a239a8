import assert from 'node:assert/strict'
import test from 'node:test'
import { jsonOf, request } from '../../fixtures/client.ts'
import { authorizePath, Browser, providerFor, redirect_uri, serving } from './oauth-login.ts'
import type { TriportServer } from '../../../lib/index.ts'

async function register(server: TriportServer, body: unknown): Promise<Record<string, unknown>> {
  const reply = await server.fetch(request('/oauth/register', body))
  assert.equal(reply.headers.get('cache-control'), 'no-store')
  return { status: reply.status, ...await jsonOf(reply) }
}

const one = { redirect_uris: [redirect_uri] }

test('a registration says what the client has got', async (t) => {
  const server = serving(t, await providerFor(t))
  const before = Math.floor(Date.now() / 1_000)
  const { client_id: id, client_id_issued_at: at, ...rest } = await register(server, {
    ...one, client_name: 'Ed', scope: 'read write', token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['client_credentials', 'authorization_code'], response_types: ['token', 'code'], logo_uri: 1,
  })
  assert.deepEqual(rest, {
    status: 201, client_name: 'Ed', redirect_uris: [redirect_uri], scope: 'read write',
    token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  })
  assert.ok(Number(at) >= before && Number(at) <= before + 10)
  assert.equal((await new Browser(server).go(authorizePath(String(id)))).status, 200)
  const silent = { ...one, scope: null, grant_types: null, response_types: null, client_name: null }
  const { status, client_name: name } = await register(server, silent)
  assert.deepEqual([status, name], [201, 'An application'])
})

test('metadata that cannot be is refused by its member', async (t) => {
  const server = serving(t, await providerFor(t))
  const wrong: readonly (readonly [body: unknown, member: RegExp])[] = [
    ['', /JSON/], ['x', /JSON/], ['[]', /JSON/], ['1', /JSON/], ['null', /JSON/],
    [{ ...one, grant_types: ['client_credentials'] }, /grant_types.*authorization_code/],
    [{ ...one, grant_types: 'authorization_code' }, /grant_types/],
    [{ ...one, grant_types: [] }, /grant_types/],
    [{ ...one, response_types: ['token'] }, /response_types.*code/],
    [{ ...one, response_types: {} }, /response_types/],
    [{ ...one, scope: 1 }, /scope/], [{ ...one, scope: ['read'] }, /scope/],
    [{ ...one, scope: 'a "b"' }, /scope/],
    [{ ...one, scope: 'a '.repeat(1_025) }, /scope/],
  ]
  for (const [body, member] of wrong) {
    const { status, error, error_description: why } = await register(server, body)
    assert.deepEqual([status, error], [400, 'invalid_client_metadata'], JSON.stringify(body))
    assert.match(String(why), member)
  }
  assert.equal((await register(server, { ...one, scope: 'a '.repeat(1_024) }))['status'], 201)
})

test('a member that stands twice is refused, one of another object not', async (t) => {
  const server = serving(t, await providerFor(t))
  const uris = '"redirect_uris":["http://127.0.0.1:9/callback"]'
  const twice = [
    `{${uris},${uris}}`, `{"client_name":"a",${uris},"client_name":"a"}`, `{"a":[{}],${uris},"\\u0061":1}`,
    `{"a" : {"x":1} , ${uris} , "a" :2}`,
  ]
  for (const body of twice) {
    const { status, error } = await register(server, body)
    assert.deepEqual([status, error], [400, 'invalid_request'], body)
  }
  const once = [
    `{${uris},"a":{"redirect_uris":1,"b":1},"b":{"b":1}}`, `{"a":"a","b":"\\"a\\":1,\\"a\\":",${uris}}`,
    `{"a":[{"a":1},{"a":1}],${uris}}`, `{"x":"{","y":{"x":1},${uris}}`,
  ]
  for (const body of once) assert.equal((await register(server, body))['status'], 201, body)
})

test('redirect addresses have a number, a length and schemes that open nothing else', async (t) => {
  const server = serving(t, await providerFor(t))
  const long = (length: number): string => `https://a.example/${'a'.repeat(length)}`
  // In a query, where three of its characters are escaped.
  const most = 2_048 - encodeURIComponent(long(0)).length
  const wrong: readonly unknown[] = [
    undefined, null, 'https://a.example/', {}, [], [1], [redirect_uri, ''], ['/callback'], [long(most + 1)],
    Array.from({ length: 21 }, () => redirect_uri), ['https://a.example/#'], ['https://a.example/#a'],
    ['https://user@a.example/'], ['https://:secret@a.example/'], ['http://a.example/'], ['http://127.0.0.2/'],
    ['https://a.example/\ud800'], ['javascript:alert(1)'], ['data:text/html,x'], ['vbscript:x'],
    ['file:///etc'],
    ['filesystem:https://a.example/x'], ['blob:https://a.example/x'], ['about:blank'],
    ['view-source:https://a.example/'], ['ws://127.0.0.1/'], ['wss://a.example/'], ['ftp://a.example/'],
    ['intent://a/#Intent;end'], ['intent://a/'], ['JAVASCRIPT:alert(1)'],
  ]
  for (const redirect_uris of wrong) {
    const { status, error, error_description: why } = await register(server, { redirect_uris })
    assert.deepEqual([status, error], [400, 'invalid_redirect_uri'], JSON.stringify(redirect_uris))
    assert.match(String(why), /redirect_uris/)
  }
  const fine = [
    [long(most)], Array.from({ length: 20 }, () => redirect_uri), ['http://localhost/'],
    ['http://[::1]:1/a?b=c'],
    ['cursor://anysphere.cursor/oauth'], ['com.example.app:/callback'],
  ]
  for (const redirect_uris of fine) {
    assert.equal((await register(server, { redirect_uris }))['status'], 201, JSON.stringify(redirect_uris))
  }
})

test('metadata of 32 KiB is read, and no more', async (t) => {
  const server = serving(t, await providerFor(t))
  const body = JSON.stringify({ ...one, about: '' })
  const filled = (length: number): string => body.replace('""', `"${'a'.repeat(length)}"`)
  assert.equal((await register(server, filled(32_768 - body.length)))['status'], 201)
  const { status, error } = await register(server, filled(32_769 - body.length))
  assert.deepEqual([status, error], [413, 'invalid_client_metadata'])
})

test('what a client has registered fits in the head of its requests, or is refused', async (t) => {
  const server = serving(t, await providerFor(t))
  const { url } = await server.listen(0)
  const uris = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => (
    `https://a.example/${at}?${'a'.repeat(1_000)}`
  ))
  let largest = 0
  for (let count = 1; count <= 20; count++) {
    const redirect_uris = uris(count)
    const metadata = { redirect_uris, client_name: 'a'.repeat(200) }
    const { status, error, client_id: id } = await register(server, metadata)
    if (status !== 201) {
      assert.deepEqual([status, error], [400, 'invalid_redirect_uri'])
      continue
    }
    largest = count
    assert.ok(String(id).length <= 7_000)
    const more = { redirect_uri: redirect_uris.at(-1) ?? '', state: 's'.repeat(2_048) }
    const page = await fetch(new URL(authorizePath(String(id), more), url))
    assert.equal(page.status, 200)
  }
  assert.equal(largest, 4)
})

test('an id of 7000 characters is given, and none that is longer', async (t) => {
  const server = serving(t, await providerFor(t))
  const others = [1, 2, 3].map((at) => `https://a.example/${at}?${'a'.repeat(1_600)}`)
  const lengthOf = async (more: number): Promise<number> => {
    const redirect_uris = [`https://a.example/?${'a'.repeat(more)}`, ...others]
    return String((await register(server, { redirect_uris }))['client_id'] ?? '').length
  }
  const lengths = []
  for (let more = 200; lengths.at(-1) !== 0 && more < 400; more++) lengths.push(await lengthOf(more))
  assert.deepEqual(lengths.slice(-2), [7_000, 0])
})

test('names are shown as people read them', async (t) => {
  const server = serving(t, await providerFor(t))
  const names: readonly (readonly [given: unknown, shown: string])[] = [
    ['a'.repeat(101), 'a'.repeat(100)], ['\u202eA\u2066\u200b\n\r\tb\u0000', 'Ab'],
    [' \u2028\u2029 ', 'An application'],
    ['\u3164\u00ad\u180e', 'An application'], ['', 'An application'], [['x'], 'An application'],
    [' Zed ', 'Zed'],
    [`${'a'.repeat(99)}\u{1f600}`, 'a'.repeat(99)], ['Düsseldorf 京', 'Düsseldorf 京'],
  ]
  for (const [client_name, shown] of names) {
    assert.equal((await register(server, { ...one, client_name }))['client_name'], shown)
  }
})

test('an address is the registered one, but for the port of this machine', async (t) => {
  const server = serving(t, await providerFor(t))
  const same: readonly (readonly [registered: string, asked: string, isSame: boolean])[] = [
    ['http://localhost:1/cb', 'http://localhost:2/cb', true],
    ['http://localhost/cb', 'http://localhost:2/cb', true],
    ['http://[::1]:1/cb', 'http://[::1]/cb', true],
    ['http://127.0.0.1:1/cb?a=b', 'http://127.0.0.1:2/cb?a=b', true],
    ['http://localhost:1/cb', 'http://127.0.0.1:1/cb', false],
    ['http://localhost:1/cb', 'http://localhost:1/cb2', false],
    ['http://localhost:1/cb', 'http://localhost:1/cb#a', false],
    ['http://localhost:1/cb', 'http://a@localhost:1/cb', false],
    ['http://localhost:1/cb', 'https://localhost:1/cb', false],
    ['http://localhost:1/cb', 'http://localhost:1/cb?', false],
    ['https://localhost:1/cb', 'https://localhost:2/cb', false],
    ['https://a.example/cb', 'https://a.example:444/cb', false],
    ['https://a.example/cb', 'https://a.example/cb/', false],
    ['https://a.example/cb', 'HTTPS://a.example/cb', false],
    ['cursor://a/cb', 'cursor://a:2/cb', false], ['cursor://a/cb', 'x', false],
  ]
  for (const [registered, asked, isSame] of same) {
    const { client_id: id } = await register(server, { redirect_uris: [registered] })
    const page = await new Browser(server).go(authorizePath(String(id), { redirect_uri: asked }))
    assert.equal(page.status, isSame ? 200 : 400, `${registered} ${asked}`)
  }
})
