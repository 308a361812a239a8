/**
 * MCP Apps (`io.modelcontextprotocol/ui`): a tool that names a page, and the page as a resource, as the
 * extension's own example has them. Spec: https://modelcontextprotocol.io/extensions/apps
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { allRevisions, ask, begin, call, serveMcp } from './client.ts'
import type { TriportServer } from '../../lib/index.ts'
import type { Scope } from '../fixtures/client.ts'
import type { Json } from './client.ts'

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
