/** Spec: SEP-2127, a draft. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { compile } from '../../../lib/index.ts'
import { jsonOf, request, serve } from '../../fixtures/client.ts'
import { registrySchemas } from '../../fixtures/optional.ts'
import type { ServerOptions } from '../../../lib/index.ts'

const CARD = '/mcp/server-card'
const CATALOG = '/.well-known/ai-catalog.json'

const shop: ServerOptions = {
  name: 'Shop', description: 'Sells tea.', version: '2.1.0', protocol: 'mcp',
  publicUrl: 'https://shop.example.com',
  tools: [{ name: 'stock', description: 'Counts.', run: () => 3 }],
  mcp: { serverCard: 'com.example/shop', websiteUrl: 'https://example.com' },
}

const versions = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

/** What the draft asks of the members that are written here. */
const text = { type: 'string', minLength: 1, maxLength: 100 }
const valid = compile({
  type: 'object', required: ['$schema', 'name', 'version', 'description'], additionalProperties: false,
  properties: {
    $schema: { const: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json' },
    name: { type: 'string', minLength: 3, maxLength: 200, pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$' },
    version: { type: 'string', maxLength: 255 }, description: text, title: text,
    websiteUrl: { type: 'string' }, icons: { type: 'array' },
    remotes: {
      type: 'array', items: {
        type: 'object', required: ['type', 'url'],
        properties: { type: { enum: ['streamable-http'] }, url: { pattern: '^https?://[^\\s]+$' } },
      },
    },
  },
})

test('a server card says who the server is and how it is reached', async (t) => {
  const server = serve(t, shop)
  const response = await server.fetch(request(CARD, undefined, { origin: 'https://page.example' }))
  assert.equal(response.status, 200)
  const card = await jsonOf(response)
  assert.deepEqual(card, {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: 'com.example/shop', version: '2.1.0', description: 'Sells tea.', title: 'Shop',
    websiteUrl: 'https://example.com',
    remotes: [{
      type: 'streamable-http', url: 'https://shop.example.com/mcp', supportedProtocolVersions: versions,
    }],
  })
  assert.deepEqual(valid(card).errors, [])
  const headers = Object.fromEntries(response.headers)
  assert.deepEqual(
    ['content-type', 'access-control-allow-origin', 'access-control-allow-methods',
      'access-control-allow-headers', 'access-control-expose-headers', 'cache-control']
      .map((name) => headers[name]),
    ['application/mcp-server-card+json', '*', 'GET', 'Content-Type, If-None-Match', 'ETag',
      'public, max-age=3600'],
  )
})

test('the schema of the draft takes the card', { skip: registrySchemas.absent }, async (t) => {
  const { $defs } = JSON.parse(readFileSync(join(registrySchemas.folder, 'server-card.schema.json'), 'utf8'))
  const official = compile({ $ref: '#/$defs/ServerCard', $defs })
  const icons = [{ src: 'https://shop.example.com/icon.png', sizes: ['48x48'] }]
  const server = serve(t, { ...shop, apiKey: 'a key of the shop', mcp: { ...shop.mcp, icons } })
  assert.deepEqual(official(await jsonOf(await server.fetch(request(CARD)))).errors, [])
  assert.notDeepEqual(official({ name: 'shop' }).errors, [])
})

test('the catalog of the host leads to the card', async (t) => {
  const server = serve(t, { ...shop, mountPath: '/tea' })
  const response = await server.fetch(request(CATALOG))
  assert.equal(response.headers.get('content-type'), 'application/ai-catalog+json')
  const url = `https://shop.example.com/tea${CARD}`
  assert.deepEqual(await jsonOf(response), {
    specVersion: '1.0',
    entries: [{
      identifier: 'urn:air:example.com:mcp:shop', type: 'application/mcp-server-card+json', url,
    }],
  })
  const { remotes } = await jsonOf(await server.fetch(new Request(url)))
  assert.match(JSON.stringify(remotes), /"url":"https:\/\/shop\.example\.com\/tea\/mcp"/)
})

test('a client that has the card already gets 304, and a page may ask for it', async (t) => {
  const server = serve(t, shop)
  for (const path of [CARD, CATALOG]) {
    const etag = (await server.fetch(request(path))).headers.get('etag') ?? ''
    assert.match(etag, /^"[\w-]{43}"$/)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await server.fetch(request(path, undefined, { 'if-none-match': known }))
      assert.equal(again.status, 304, known)
      assert.equal(await again.text(), '')
    }
    const other = await server.fetch(request(path, undefined, { 'if-none-match': '"other"' }))
    assert.equal(other.status, 200)
    const asked = { 'origin': 'https://page.example', 'access-control-request-method': 'GET' }
    const preflight = await server.fetch(new Request(`http://triport.test${path}`, {
      method: 'OPTIONS', headers: { ...asked, 'access-control-request-headers': 'if-none-match' },
    }))
    assert.equal(preflight.headers.get('access-control-allow-origin'), '*')
    assert.match(preflight.headers.get('access-control-allow-methods') ?? '', /GET/)
    assert.equal(preflight.headers.get('access-control-allow-headers'), 'if-none-match')
  }
})

test('where a key is needed the card names it as a secret, and needs none itself', async (t) => {
  const server = serve(t, { ...shop, apiKey: 'a key of the shop' })
  const response = await server.fetch(request(CARD))
  assert.equal(response.status, 200)
  const written = await response.text()
  assert.doesNotMatch(written, /a key of the shop/)
  const [remote] = JSON.parse(written).remotes
  assert.deepEqual(remote.headers, [{
    name: 'Authorization', isRequired: true, isSecret: true, value: 'Bearer {key}',
    variables: { key: { description: 'The key of this server', isRequired: true, isSecret: true } },
  }])
})

test('at an address that a client only names, no cache keeps the card for others', async (t) => {
  const server = serve(t, { ...shop, publicUrl: undefined })
  const read = async (host: string): Promise<Response> => (
    server.fetch(new Request(`http://${host}${CARD}`, { headers: { host } }))
  )
  for (const host of ['one.example', 'two.example', 'one.example']) {
    const response = await read(host)
    assert.equal(response.headers.get('cache-control'), 'private, no-cache')
    assert.match(response.headers.get('vary') ?? '', /Host/)
    assert.match(await response.text(), new RegExp(`"url":"http://${host}/mcp"`))
  }
})

test('a revision that the card names is spoken at its address', async (t) => {
  const server = serve(t, shop)
  for (const version of versions.slice(1)) {
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params }
    const accept = 'application/json, text/event-stream'
    const { result } = await jsonOf(await server.fetch(request('/mcp', message, { accept }))) as {
      readonly result: { readonly protocolVersion: string }
    }
    assert.equal(result.protocolVersion, version)
  }
})

test('a long description is shortened, and one that is missing is an error', async (t) => {
  const server = serve(t, { ...shop, description: 'tea '.repeat(40) })
  const { description } = await jsonOf(await server.fetch(request(CARD)))
  assert.equal(description, `${'tea '.repeat(24)}tea…`)
  assert.throws(() => serve(t, { ...shop, description: undefined }), {
    name: 'TypeError',
    message: `mcp.serverCard needs a description of the server; write description: 'Sells tea.'`,
  })
  for (const serverCard of ['shop', 'com.example/', '/shop', 'a/b/c', '', 'com example/shop']) {
    assert.throws(() => serve(t, { ...shop, mcp: { serverCard } }), /serverCard.* 'com\.example\/shop'$/)
  }
})

test('without the option there is neither card nor catalog; with it OpenAPI lists both', async (t) => {
  const plain = serve(t, { ...shop, mcp: {} })
  for (const path of [CARD, CATALOG]) assert.equal((await plain.fetch(request(path))).status, 404)
  const { paths } = await jsonOf(await serve(t, shop).fetch(request('/openapi.json')))
  for (const path of [CARD, CATALOG]) assert.ok(Object.hasOwn(paths as object, path))
})
