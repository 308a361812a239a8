import assert from 'node:assert/strict'
import test from 'node:test'
import { anonymous } from '../../lib/core/principal.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import type { RequestOptions } from '../../lib/http/request.ts'

function requestOf(
  headers: Readonly<Record<string, string>>, options: Partial<RequestOptions> = {}, secure = false,
  prefix = '',
): HttpRequest {
  return new HttpRequest({
    method: 'GET', target: '/', httpVersion: '1.1', rawHeaders: Object.entries(headers).flat(), bind: 'none',
    secure,
    remoteAddress: undefined, prefix, onGone: () => {},
  }, { anonymous, mountPath: '', publicUrl: undefined, trustProxy: false, ...options })
}

const publicUrl = new URL('https://agents.example/team/')
const proxied = {
  'host': 'inner:8000', 'x-forwarded-host': 'outer.example, inner', 'x-forwarded-proto': 'https, http',
}

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
  [proxied, { trustProxy: true }, 'https://outer.example'],
  [{ 'host': 'inner', 'x-forwarded-proto': 'javascript' }, { trustProxy: true }, 'http://inner'],
  [{ 'host': 'inner', 'x-forwarded-host': 'a b' }, { trustProxy: true }, 'http://localhost'],
  [{ 'host': 'inner', 'x-forwarded-host': 'a:b' }, { trustProxy: true }, 'http://localhost'],
  // What looks like a host and is none.
  ...['a:b', 'a:99999', '[::1', '[', '::1', '1.2.3.4.5', '256.0.0.1', ':', 'a:80:80', '[]', '.', '-.:-'].map(
    (host) => [{ host }, {}, URL.canParse(`http://${host}`) ? `http://${host}` : 'http://localhost'] as const,
  ),
]

test('where the server is reached is told by an option, a trusted proxy, or Host', () => {
  for (const [headers, options, baseUrl] of bases) {
    assert.equal(requestOf(headers, options).baseUrl, baseUrl)
    assert.equal(URL.canParse(baseUrl), true, baseUrl)
  }
  assert.equal(requestOf({ host: 'a' }, {}, true).baseUrl, 'https://a')
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
