import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/index.ts'
import { dial, eventually, jsonOf, listen, request, serve } from '../../fixtures/client.ts'
import type { ServerOptions } from '../../../lib/index.ts'

const bytes = Uint8Array.of(0, 255, 128)

/** A resource of each kind, and what is answered: type and body. */
const kinds: readonly (readonly [
  uri: string, mimeType: string | undefined, read: () => unknown, type: string, body: string | Uint8Array,
])[] = [
  ['a:text', undefined, () => 'é', 'text/plain; charset=utf-8', 'é'],
  ['a:plain', 'text/plain', () => 'é', 'text/plain; charset=utf-8', 'é'],
  ['a:html', 'text/html;profile=mcp-app', async () => '<b>é</b>', 'text/html; charset=utf-8', '<b>é</b>'],
  ['a:utf8', 'text/css; charset=UTF-8', () => 'a{}', 'text/css; charset=UTF-8', 'a{}'],
  ['a:latin', 'text/csv; charset=latin1', () => 'é', 'text/csv; charset=utf-8', 'é'],
  ['a:json', 'application/json', () => '{"é":1}', 'application/json', '{"é":1}'],
  ['a:bytes', undefined, () => bytes, 'application/octet-stream', bytes],
  ['a:png', 'image/png', () => bytes, 'image/png', bytes],
  ['a:own', 'image/png', () => ({ text: 'a', mimeType: 'text/x-own' }), 'text/x-own; charset=utf-8', 'a'],
  ['a:line', 'text/plain\r\nX-Evil: 1', () => 'a', 'text/plain; charset=utf-8', 'a'],
  ['a:none', 'nothing', () => bytes, 'application/octet-stream', bytes],
  ['a:empty', 'text/plain', () => '', 'text/plain; charset=utf-8', ''],
]

function reading(read: () => unknown, more: Partial<ServerOptions> = {}): ServerOptions {
  return { resources: [{ uri: 'a:b', name: 'b', read: read as () => string }], protocol: 'http', ...more }
}

test('what a resource holds is answered with its own media type', async (t) => {
  const resources = kinds.map(([uri, mimeType, read]) => (
    { uri, name: uri, ...mimeType !== undefined && { mimeType }, read: read as () => string }
  ))
  const server = serve(t, { resources, protocol: 'http' })
  for (const [uri, , , type, body] of kinds) {
    const response = await server.fetch(request(`/resources/read?uri=${uri}`))
    assert.equal(response.status, 200, uri)
    assert.equal(response.headers.get('content-type'), type, uri)
    assert.equal(response.headers.get('x-evil'), null)
    assert.deepEqual(new Uint8Array(await response.arrayBuffer()), new Uint8Array(Buffer.from(body)), uri)
  }
})

test('a page of an author\'s does nothing in a browser at this address', async (t) => {
  const server = serve(t, reading(() => '<script>1</script>'))
  const response = await server.fetch(request('/resources/read?uri=a:b'))
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  assert.equal(response.headers.get('content-security-policy'), `default-src 'none'; sandbox`)
})

test('several contents, and none, are a list as MCP has it', async (t) => {
  for (const contents of [[], [{ uri: 'a:c', text: '1' }, { uri: 'a:d', blob: 'AA==', mimeType: 'a/b' }]]) {
    const response = await serve(t, reading(() => contents)).fetch(request('/resources/read?uri=a:b'))
    assert.equal(response.headers.get('content-type'), 'application/json')
    assert.deepEqual(await jsonOf(response), { contents })
  }
})

test('the list shows resources and templates as MCP does', async (t) => {
  const annotations = { audience: ['user'], priority: 0.5 } as const
  const server = serve(t, {
    resources: [{
      uri: 'a:b', name: 'b', title: 'B', description: 'A b.', mimeType: 'text/plain', size: 3, annotations,
      read: () => '',
    }],
    resourceTemplates: [{ uriTemplate: 'docs://{page}', name: 'docs', read: () => '' }],
    protocol: 'http',
  })
  assert.deepEqual(await jsonOf(await server.fetch(request('/resources'))), {
    resources: [{
      uri: 'a:b', name: 'b', title: 'B', description: 'A b.', mimeType: 'text/plain', size: 3, annotations,
    }],
    resourceTemplates: [{ uriTemplate: 'docs://{page}', name: 'docs' }],
  })
})

/** How the parameter may be written, and what the template gets. */
const spellings: readonly (readonly [query: string, page: string])[] = [
  ['uri=docs://one', 'one'],
  ['uri=docs%3A%2F%2Fone', 'one'],
  ['other=1&uri=docs://one&more', 'one'],
  ['uri=docs://a+b', 'a+b'],
  ['uri=docs://a%2Bb', 'a+b'],
  ['uri=docs://a%2520b', 'a b'],
]

test('a URI is read in whatever spelling, by templates too', async (t) => {
  const server = serve(t, {
    resourceTemplates: [{ uriTemplate: 'docs://{page}', name: 'docs', read: ({ page }) => String(page) }],
    protocol: 'http',
  })
  for (const [query, page] of spellings) {
    const response = await server.fetch(request(`/resources/read?${query}`))
    assert.equal(await response.text(), page, query)
  }
})

const refusals: readonly (readonly [
  query: string, status: number, detail: RegExp, options?: Partial<ServerOptions>, read?: () => unknown,
])[] = [
  ['', 422, /^The parameter uri is missing; write \/resources\/read\?uri=/],
  ['?uri', 422, /^The parameter uri is missing/],
  ['?uri=', 422, /^The parameter uri is missing/],
  ['?uri=a:b&uri=a:c', 422, /^The parameter uri is given twice/],
  ['?uri=%ff', 422, /^The parameter uri has a broken escape/],
  ['?uri=a:none', 404, /^Resource not found: a:none/],
  ['?uri=a:b', 413, /larger than 10 bytes/, { maxResultBytes: 10 }, () => 'a'.repeat(11)],
  ['?uri=a:b', 413, /larger than 10 bytes/, { maxResultBytes: 10 }, () => [{ text: 'a' }, { text: 'b' }]],
  ['?uri=a:b', 404, /^Gone\./, {}, () => { throw new Fault('not-found', 'Gone.') }],
  ['?uri=a:b', 500, /^Internal error \(request /, {}, () => { throw new Error('secret') }],
  ['?uri=a:b', 500, /^Internal error \(request /, {}, () => 7],
  ['?uri=a:b', 504, /^No result within 20 ms/, { toolTimeoutMs: 20 }, () => new Promise(() => {})],
]

test('what cannot be read is refused as a problem document', async (t) => {
  for (const [query, status, detail, options, read = () => 'b'] of refusals) {
    const response = await serve(t, reading(read, options)).fetch(request(`/resources/read${query}`))
    assert.equal(response.status, status, `${query} ${detail}`)
    assert.equal(response.headers.get('content-type'), 'application/problem+json', query)
    const problem = await jsonOf(response)
    assert.match(String(problem['detail']), detail)
    if (status === 422) assert.equal((problem['errors'] as { path: string }[])[0]?.path, 'uri')
  }
  const posted = await serve(t, reading(() => 'b')).fetch(request('/resources/read', {}))
  assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD'])
})

test('a resource is for those who have its scopes', async (t) => {
  const apiKey = [{ id: 'in', key: 'in', scopes: ['secret'] }, { id: 'out', key: 'out' }]
  const resources = [{ uri: 'a:b', name: 'b', scopes: ['secret'], read: () => 'b' }]
  const server = serve(t, { resources, protocol: 'http', apiKey })
  for (const [key, status] of [['in', 200], ['out', 403], ['', 401]] as const) {
    const response = await server.fetch(request('/resources/read?uri=a:b', undefined, { 'x-api-key': key }))
    assert.equal(response.status, status, key)
  }
})

test('reading is counted against the rate, the list is not', async (t) => {
  const server = serve(t, reading(() => 'b', { rateLimit: { perMinute: 1, burst: 1 } }))
  const path = '/resources/read?uri=a:b'
  assert.equal((await server.fetch(request(path))).status, 200)
  const refused = await server.fetch(request(path))
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('content-type'), 'application/problem+json')
  assert.ok(refused.headers.has('retry-after'))
  assert.equal((await server.fetch(request('/resources'))).status, 200)
})

test('over a socket bytes come as they are, HEAD brings none, and who leaves ends the reading', async (t) => {
  let signal: AbortSignal | undefined
  const { url, port } = await listen(t, {
    resources: [
      { uri: 'a:b', name: 'b', read: () => bytes },
      {
        uri: 'a:slow', name: 'slow',
        read: (call) => { signal = call.signal; return new Promise<string>(() => {}) },
      },
    ],
    protocol: 'http',
  })
  const response = await fetch(`${url}/resources/read?uri=a:b`)
  assert.deepEqual(new Uint8Array(await response.arrayBuffer()), bytes)
  const head = await fetch(`${url}/resources/read?uri=a:b`, { method: 'HEAD' })
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, '3'])
  const wire = await dial(t, port)
  wire.send('GET /resources/read?uri=a:slow HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await eventually(() => signal !== undefined, 'it is read')
  wire.socket.destroy()
  await eventually(() => signal!.aborted, 'the reading is over')
})
