/**
 * MCP Apps (`io.modelcontextprotocol/ui`): a tool that names a page, and the page as a resource, as the
 * extension's own example has them. Spec: https://modelcontextprotocol.io/extensions/apps
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { defineTool } from '../../../lib/index.ts'
import { allRevisions, ask, begin, call, post, serveMcp } from '../mcp/client.ts'
import { messagesOf } from '../../fixtures/events.ts'
import type { TriportServer } from '../../../lib/index.ts'
import type { Scope } from '../../fixtures/client.ts'
import type { Json } from '../../fixtures/events.ts'

const UI = 'io.modelcontextprotocol/ui'
const MIME = 'text/html;profile=mcp-app'
const capabilities = { extensions: { [UI]: { mimeTypes: [MIME] } } }
const page = '<!doctype html><title>Weather</title><p id="now"></p>'
const uri = 'ui://weather/dashboard'

function weather(t: Scope): TriportServer {
  return serveMcp(t, {
    mcp: { extensions: { [UI]: {} } },
    tools: [{
      name: 'get_weather', description: 'Tells the weather.', _meta: { ui: { resourceUri: uri } },
      inputSchema: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
      run: ({ location }, { client }) => ({
        content: [`Sunny in ${location}`], structuredContent: { knows: client?.extensions ?? {} },
      }),
    }],
    resources: [{
      uri, name: 'dashboard', mimeType: MIME, _meta: { ui: { prefersBorder: true } }, read: () => page,
    }],
  })
}

/** Asks in one revision, as a client that knows pages, or as one that does not. */
async function asked(
  server: TriportServer, revision: string, knows: boolean, method: string, params: object,
): Promise<Json> {
  const declared = knows ? capabilities : {}
  if (revision === '2026-07-28') {
    return (await ask(server, method, params as Json, { capabilities: declared })).result
  }
  return (await (await begin(server, revision, declared)).ask(method, params)).result
}

test('the server says that it has pages', async (t) => {
  const server = weather(t)
  assert.deepEqual((await ask(server, 'server/discover')).result.capabilities.extensions, { [UI]: {} })
  assert.deepEqual((await begin(server, '2025-06-18')).opened.capabilities.extensions, { [UI]: {} })
})

test('a tool tells its page to clients that know them, and it is read with what is said of it', async (t) => {
  const server = weather(t)
  for (const revision of allRevisions) {
    const [tool] = (await asked(server, revision, true, 'tools/list', {})).tools
    assert.deepEqual(tool._meta, { ui: { resourceUri: uri } }, revision)
    const { contents } = await asked(server, revision, true, 'resources/read', { uri })
    const _meta = { ui: { prefersBorder: true } }
    assert.deepEqual(contents, [{ uri, mimeType: MIME, text: page, _meta }], revision)
  }
})

test('a client of the two oldest revisions that knows no pages is shown none', async (t) => {
  const server = weather(t)
  for (const revision of ['2024-11-05', '2025-03-26']) {
    await asked(server, revision, true, 'tools/list', {})
    const [tool] = (await asked(server, revision, false, 'tools/list', {})).tools
    assert.equal('_meta' in tool, false, revision)
  }
})

test('a handler sees which extensions its client has', async (t) => {
  const server = weather(t)
  const { structuredContent } = await call(server, 'get_weather', { location: 'Paris' }, { capabilities })
  assert.deepEqual(structuredContent, { knows: { [UI]: { mimeTypes: [MIME] } } })
  const plain = await call(server, 'get_weather', { location: 'Paris' })
  assert.deepEqual(plain.structuredContent, { knows: {} })
})

/** A shop whose tools bring their pages. */
function shop(t: Scope): TriportServer {
  return serveMcp(t, {
    tools: [
      {
        name: 'cart', description: 'Shows the cart.', _meta: { 'example.com/a': 1 },
        ui: { html: page, csp: { connectDomains: ['https://api.example.com'] } }, run: () => 'Empty.',
      },
      { name: 'total', ui: { uri: 'ui://tools/cart' }, run: () => '0' },
      { name: 'refresh', ui: { visibility: ['app'] }, run: () => 'Empty.' },
    ],
  })
}

const cart = 'ui://tools/cart'

test('a tool brings its page: listed and read with its policy, and the extension declared', async (t) => {
  const server = shop(t)
  for (const revision of allRevisions) {
    const { resources } = await asked(server, revision, true, 'resources/list', {})
    assert.deepEqual(resources.map((one: Json) => [one.uri, one.mimeType]), [[cart, MIME]], revision)
    const { contents } = await asked(server, revision, true, 'resources/read', { uri: cart })
    const _meta = { ui: { csp: { connectDomains: ['https://api.example.com'] } } }
    assert.deepEqual(contents, [{ uri: cart, mimeType: MIME, text: page, _meta }], revision)
  }
  const declared = (await ask(server, 'server/discover')).result.capabilities
  assert.deepEqual([declared.extensions, declared.resources !== undefined], [{ [UI]: {} }, true])
  for (const revision of ['2025-06-18', '2025-11-25']) {
    assert.deepEqual((await begin(server, revision)).opened.capabilities.extensions, { [UI]: {} })
  }
  for (const revision of ['2024-11-05', '2025-03-26']) {
    assert.equal((await begin(server, revision)).opened.capabilities.extensions, undefined)
  }
})

test('only clients that declare pages are shown them, and the tools that are for pages alone', async (t) => {
  const server = shop(t)
  const visibility = ['model', 'app']
  for (const revision of allRevisions) {
    const { tools } = await asked(server, revision, true, 'tools/list', {})
    assert.deepEqual(tools.map((one: Json) => [one.name, one._meta]), [
      ['cart', { 'example.com/a': 1, 'ui': { resourceUri: cart, visibility } }],
      ['total', { ui: { resourceUri: cart, visibility } }],
      ['refresh', { ui: { visibility: ['app'] } }],
    ], revision)
    const plain = (await asked(server, revision, false, 'tools/list', {})).tools
    const own = revision.startsWith('2024') || revision === '2025-03-26' ? undefined : { 'example.com/a': 1 }
    assert.deepEqual(plain.map((one: Json) => [one.name, one._meta]), [
      ['cart', own], ['total', undefined],
    ], revision)
  }
  const other = { extensions: { [UI]: { mimeTypes: ['text/uri-list'] } } }
  const { tools } = (await ask(server, 'tools/list', {}, { capabilities: other })).result
  assert.deepEqual(tools.map((one: Json) => one._meta), [{ 'example.com/a': 1 }, undefined])
})

test('a client without a session, of which nothing is known, is shown the pages', async (t) => {
  const server = shop(t)
  const headers = { 'MCP-Protocol-Version': '2025-11-25' }
  const response = await post(server, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers)
  const [{ result }] = await messagesOf(response)
  assert.equal(result.tools[0]._meta.ui.resourceUri, cart)
})

test('a page comes and goes with its tools', async (t) => {
  const server = serveMcp(t, { tools: [{ name: 'other', run: () => '' }] })
  const { catalog } = server
  const changes: string[] = []
  catalog.onChange(({ kind, name, change }) => { changes.push(`${kind} ${name} ${change}`) })
  const first = defineTool({ name: 'cart', ui: { html: page }, run: () => '' })
  catalog.add(first)
  catalog.add({ ...first, name: 'copy' })
  catalog.remove('tool', 'cart')
  assert.equal(catalog.resources.length, 1)
  catalog.remove('tool', 'copy')
  assert.equal(catalog.resources.length, 0)
  assert.deepEqual(changes, [
    'tool cart added', `resource ${cart} added`, 'tool copy added', 'tool cart removed', 'tool copy removed',
    `resource ${cart} removed`,
  ])
  catalog.add({ uri: cart, name: 'own', read: () => page })
  const message = /^The page of the tool 'cart' is at 'ui:\/\/tools\/cart', where another resource is; write/
  assert.throws(() => { catalog.add(first) }, { name: 'TypeError', message })
  assert.equal(catalog.tools.length, 1)
})

test('a page that is nowhere is a mistake', (t) => {
  const tool = { name: 'cart', ui: { uri: 'ui://shop/cart' }, run: () => '' } as const
  const message = /^The tool 'cart' has the page 'ui:\/\/shop\/cart', and no resource is there; write ui.html/
  assert.throws(() => serveMcp(t, { tools: [tool] }), { name: 'TypeError', message })
  serveMcp(t, { tools: [tool], resources: [{ uri: 'ui://shop/cart', name: 'a', read: () => page }] })
})
