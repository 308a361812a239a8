import assert from 'node:assert/strict'
import test from 'node:test'
import { anonymous } from '../../../lib/kernel/define/principal.ts'
import { authorityOf } from '../../../lib/kernel/http/message/address.ts'
import { createGuard } from '../../../lib/kernel/http/access/guard.ts'
import { kernelDefaults } from '../../../lib/kernel/define/limits.ts'
import { Streams } from '../../../lib/kernel/http/stream/sink.ts'
import { HttpRequest } from '../../../lib/kernel/http/server/request.ts'
import type { RequestOptions } from '../../../lib/kernel/http/server/request.ts'

const guard = createGuard({ allowedHosts: ['outer.example', 'ported.example:8443'] })

function requestOf(
  headers: Readonly<Record<string, string>>, options: Partial<RequestOptions> = {}, secure = false,
  prefix = '',
): HttpRequest {
  return new HttpRequest({
    method: 'GET', target: '/', httpVersion: '1.1', rawHeaders: Object.entries(headers).flat(), bind: 'none',
    secure,
    remoteAddress: undefined, prefix, onDisconnect: () => {},
  }, {
    name: 'Shop', anonymous, mountPath: '', publicUrl: undefined, proxies: 0, rateLimits: undefined, guard,
    streams: new Streams(kernelDefaults, () => {}), ...options,
  })
}

const publicUrl = new URL('https://agents.example/team/')
const proxied = {
  'host': 'inner:8000', 'x-forwarded-host': 'outer.example, middle', 'x-forwarded-proto': 'https, http',
}

/** Behind a proxy that was asked for a name. */
const named = (host: string): Record<string, string> => ({ 'host': 'inner', 'x-forwarded-host': host })

const bases: readonly (readonly [
  headers: Record<string, string>, options: Partial<RequestOptions>, baseUrl: string,
])[] = [
  [{ host: 'localhost:8000' }, {}, 'http://localhost:8000'],
  [{ host: '[::1]:8000' }, { mountPath: '/a' }, 'http://[::1]:8000/a'],
  [{}, {}, 'http://localhost'],
  [{ host: 'a/../"><script>' }, {}, 'http://localhost'],
  [{ host: 'localhost:8000' }, { publicUrl }, 'https://agents.example/team'],
  [{ host: 'localhost:8000' }, { publicUrl, mountPath: '/a' }, 'https://agents.example/team/a'],
  [proxied, {}, 'http://inner:8000'],
  // The last proxy has added the last of each list; a client can have begun it.
  [proxied, { proxies: 1 }, 'http://middle'],
  [proxied, { proxies: 2 }, 'https://outer.example'],
  [proxied, { proxies: 9 }, 'https://outer.example'],
  [named('ported.example:8443'), { proxies: 1 }, 'http://ported.example:8443'],
  [named('[2001:db8::1]:8443'), { proxies: 1 }, 'http://[2001:db8::1]:8443'],
  [{ 'host': 'inner', 'x-forwarded-proto': 'HTTPS' }, { proxies: 1 }, 'https://inner'],
  // What looks like a host and is none.
  ...['a:b', 'a:99999', '[::1', '[', '::1', '1.2.3.4.5', '256.0.0.1', ':', 'a:80:80', '[]', '.', '-.:-'].map(
    (host) => [{ host }, {}, `http://${authorityOf(host) ?? 'localhost'}`] as const,
  ),
]

test('where the server is reached is told by an option, a trusted proxy, or Host', () => {
  for (const [headers, options, baseUrl] of bases) {
    assert.equal(requestOf(headers, options).baseUrl, baseUrl)
    assert.equal(URL.canParse(baseUrl), true, baseUrl)
  }
  assert.equal(requestOf({ host: 'a' }, {}, true).baseUrl, 'https://a')
  const odd = { 'host': 'a', 'x-forwarded-proto': 'x' }
  assert.equal(requestOf(odd, { proxies: 1 }, true).baseUrl, 'https://a')
})

const garbage: Readonly<Record<string, readonly string[]>> = {
  'x-forwarded-proto': ['javascript', '', ' , ', 'https://', 'http\\', ','.repeat(9_000)],
  'x-forwarded-host': [
    '', ' ', ',', 'a b', 'a/b', 'x@y', 'a:b:c', 'a:99999', 'a:', '[::', '[::::]', '999.999.999.999', '..',
    'javascript:alert(1)', 'é.example', 'a'.repeat(9_000), `${'a,'.repeat(9_000)} `,
  ],
}

test('the path that a trusted proxy cut off stands before every path', () => {
  const of = (prefix: string, options: Partial<RequestOptions> = { proxies: 1 }): string => (
    requestOf({ 'host': 'a', 'x-forwarded-prefix': prefix }, options, false, '/host').baseUrl
  )
  assert.equal(of('/team'), 'http://a/team/host')
  assert.equal(of('/team/one/'), 'http://a/team/one/host')
  assert.equal(of('/outer, /team'), 'http://a/team/host')
  assert.equal(of('/team', { proxies: 1, publicUrl: new URL('https://b') }), 'https://b/host')
  const untrusted = of('/team', {})
  const odd = [
    '', '/', 'team', '//evil.example', '/a//b', '/..', '/a/../b', '/.', '/a?b', '/a b', '/"', '/%2e',
    `/${'a'.repeat(256)}`, `${'/a'.repeat(9_000)}?`,
  ]
  const all = [untrusted, ...odd.map((prefix) => of(prefix))]
  assert.deepEqual(all.filter((url) => url !== 'http://a/host'), [])
})

test('what a proxy says is passed over where it is no name and no scheme', () => {
  for (const [header, values] of Object.entries(garbage)) {
    for (const value of values) {
      const { baseUrl } = requestOf({ host: 'inner', [header]: value }, { proxies: 1 })
      assert.equal(baseUrl, 'http://inner', value.slice(0, 40))
    }
  }
})

test('whatever names a request brings, an address can be made of its base URL', () => {
  const names = [
    '', 'a', '[::', '1.2.3.4.5', '0x7f.1', '256.1.1.1', 'a..b', '-', 'xn--', 'xn--a', '[::1%25lo]', '\0',
  ]
  for (const host of names) {
    for (const proxies of [0, 1]) {
      const { baseUrl } = requestOf({ host, 'x-forwarded-host': host }, { proxies })
      assert.ok(URL.canParse(baseUrl), `${host} ${baseUrl}`)
    }
  }
})

const mounts: readonly (readonly [prefix: string, options: Partial<RequestOptions>, basePath: string])[] = [
  ['', {}, ''],
  ['', { mountPath: '/a' }, '/a'],
  ['/host', {}, '/host'],
  ['/host', { mountPath: '/a' }, '/host/a'],
  ['/host', { publicUrl: new URL('https://agents.example') }, '/host'],
  // The operator has told all of where clients come, or only what a proxy puts before it.
  ['/host', { publicUrl: new URL('https://agents.example/host/') }, '/host'],
  ['/host', { publicUrl: new URL('https://agents.example/proxy'), mountPath: '/a' }, '/proxy/host/a'],
]

test('before every path stand the prefix of a host and the mount path', () => {
  for (const [prefix, options, basePath] of mounts) {
    const request = requestOf({ host: 'a' }, options, false, prefix)
    assert.equal(request.basePath, basePath)
    assert.equal(request.baseUrl, `${options.publicUrl?.origin ?? 'http://a'}${basePath}`)
  }
})

test('a base URL is trusted only where it rests on a list or an option', () => {
  const request = requestOf({ host: 'localhost' })
  assert.equal(request.baseUrlIsTrusted, false)
  request.hostIsListed = true
  assert.equal(request.baseUrlIsTrusted, true)
  assert.equal(requestOf({}, { publicUrl }).baseUrlIsTrusted, true)
})

const forwardedHosts: readonly (readonly [host: string, proxies: number, isTrusted: boolean])[] = [
  ['outer.example', 1, true],
  ['OUTER.example.:443', 1, true],
  ['ported.example:8443', 1, true],
  ['ported.example', 1, false],
  ['evil.example', 1, false],
  ['localhost', 1, false],
  ['outer.example, evil.example', 1, false],
  ['evil.example, outer.example', 1, true],
  // What is not believed, or no name, leaves the word to Host, which passed a list.
  ['evil.example', 0, true],
  ['not a name', 1, true],
]

test('a name that a proxy passes on must be on the list itself', () => {
  for (const [host, proxies, isTrusted] of forwardedHosts) {
    const request = requestOf({ 'host': 'localhost', 'x-forwarded-host': host }, { proxies })
    request.hostIsListed = true
    assert.equal(request.baseUrlIsTrusted, isTrusted, `${host} ${proxies}`)
  }
})

test('a request keeps a good id and is given one in the place of a bad one', () => {
  for (const id of ['a', 'A-1_b.c', 'x'.repeat(128)]) {
    assert.equal(requestOf({ 'x-request-id': id }).requestId, id)
  }
  const made = new Set<string>()
  for (const id of ['', 'a b', 'a\r\nb', 'é', 'x'.repeat(129), 'a,b']) {
    const request = requestOf({ 'x-request-id': id })
    assert.match(request.requestId, /^[\w.-]{1,128}$/)
    assert.notEqual(request.requestId, id)
    assert.equal(request.requestId, request.requestId)
    made.add(request.requestId)
  }
  assert.equal(made.size, 6)
})
