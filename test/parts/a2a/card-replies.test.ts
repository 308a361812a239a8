import assert from 'node:assert/strict'
import test from 'node:test'
import { createCards } from '../../../lib/parts/a2a/card/card-replies.ts'
import { defineAgent } from '../../../lib/preset/define.ts'
import { defineTool } from '../../../lib/preset/define.ts'
import { createService } from '../../../lib/kernel/server/service.ts'
import { kernelOptionsOf } from '../../../lib/preset/create-server.ts'
import { serveA2a } from './caller.ts'
import type { Exchange } from '../../../lib/kernel/http/message/exchange.ts'
import type { TriportServer } from '../../../lib/preset/create-server.ts'
import type { ServerOptions } from '../../../lib/preset/options.ts'

const agent = { name: 'Bot', description: 'Helps.', run: () => 'ok' }
const agents = [agent]

const address = 'http://triport.test/.well-known/agent.json'

function get(server: TriportServer, headers: Record<string, string> = {}, url = address): Promise<Response> {
  return server.fetch(new Request(url, { headers }))
}

async function cardOf(server: TriportServer, url?: string): Promise<Record<string, unknown>> {
  return await (await get(server, {}, url)).json() as Record<string, unknown>
}

test('a card has every member of the interface, and the media types', async (t) => {
  const card = await cardOf(serveA2a(t, { agents, version: '2.1.0' }))
  const expected = {
    name: 'Bot',
    description: 'Helps.',
    url: 'http://triport.test/a2a',
    version: '2.1.0',
    capabilities: {
      streaming: true, pushNotifications: false, stateTransitionHistory: false, extendedAgentCard: false,
    },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'chat', name: 'Chat', description: 'General conversation', tags: ['chat'] }],
  }
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, card[name]])), expected)
})

test('the address is absolute and the one the client can reach', async (t) => {
  const rows: readonly (readonly [options: Partial<ServerOptions>, asked: string, told: string])[] = [
    [{}, 'http://triport.test:81', 'http://triport.test:81/a2a'],
    [{}, 'https://triport.test', 'https://triport.test/a2a'],
    [{}, 'http://triport.test/agents/bot', 'http://triport.test/agents/bot/a2a'],
    [{ publicUrl: 'https://a.example/x/' }, 'http://localhost', 'https://a.example/x/a2a'],
    [{ mountPath: '/bots' }, 'http://triport.test/bots', 'http://triport.test/bots/a2a'],
    [{ trustProxy: true }, 'http://triport.test', 'https://b.example/a2a'],
  ]
  const forwarded = { 'x-forwarded-host': 'b.example', 'x-forwarded-proto': 'https' }
  for (const [options, asked, told] of rows) {
    const server = serveA2a(t, { agents, ...options })
    const response = await get(server, forwarded, `${asked}/.well-known/agent.json`)
    assert.equal((await response.json() as { url: string }).url, told, asked)
  }
})

test('where the host is only what the client says, no cache may share the card', async (t) => {
  const rows: readonly (readonly [options: Partial<ServerOptions>, cache: string, vary: string])[] = [
    [{}, 'private, no-cache', 'Host, A2A-Version'],
    [{ publicUrl: 'https://a.example' }, 'public, max-age=300', 'A2A-Version'],
    [{ allowedHosts: ['triport.test'] }, 'public, max-age=300', 'A2A-Version'],
  ]
  for (const [options, cache, vary] of rows) {
    const { headers } = await get(serveA2a(t, { agents, ...options }))
    assert.equal(headers.get('cache-control'), cache, JSON.stringify(options))
    assert.equal(headers.get('vary'), vary)
  }
})

test('a client that has the card is told that it is the same', async (t) => {
  const server = serveA2a(t, { agents })
  const first = await get(server)
  const etag = first.headers.get('etag') ?? ''
  const changed = first.headers.get('last-modified') ?? ''
  assert.match(etag, /^"[\w-]{43}"$/)
  const later = new Date(Date.parse(changed) + 1000).toUTCString()
  const earlier = new Date(Date.parse(changed) - 1000).toUTCString()
  const rows: readonly (readonly [headers: Record<string, string>, status: number])[] = [
    [{ 'if-none-match': etag }, 304],
    [{ 'if-none-match': `W/${etag}` }, 304],
    [{ 'if-none-match': `"other" , ${etag}` }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"other"' }, 200],
    [{ 'if-none-match': '' }, 200],
    [{ 'if-modified-since': changed }, 304],
    [{ 'if-modified-since': later }, 304],
    [{ 'if-modified-since': earlier }, 200],
    [{ 'if-modified-since': 'yesterday' }, 200],
    [{ 'if-none-match': '"other"', 'if-modified-since': later }, 200],
  ]
  for (const [headers, status] of rows) {
    const response = await get(server, headers)
    assert.equal(response.status, status, JSON.stringify(headers))
    assert.equal(response.headers.get('etag'), etag)
    assert.equal(response.headers.get('last-modified'), changed)
    assert.equal(response.headers.get('vary'), 'Host, A2A-Version')
    assert.equal((await response.text()) === '', status === 304)
  }
})

test('HEAD has the headers of GET and no body', async (t) => {
  const server = serveA2a(t, { agents })
  const whole = await get(server)
  const head = await server.fetch(new Request(address, { method: 'HEAD' }))
  for (const name of ['etag', 'content-length', 'content-type', 'vary']) {
    assert.equal(head.headers.get(name), whole.headers.get(name))
  }
  assert.equal(await head.text(), '')
})

test('a card follows the catalog, and its tag with it', async (t) => {
  const server = serveA2a(t, { agents })
  const before = await get(server)
  server.catalog.add(defineAgent({ name: 'Other', run: () => 'ok' }))
  server.catalog.remove('agent', 'bot')
  const after = await get(server)
  assert.notEqual(after.headers.get('etag'), before.headers.get('etag'))
  assert.equal((await after.json() as { name: string }).name, 'Other')
  server.catalog.remove('agent', 'other')
  assert.equal((await get(server)).status, 404)
})

test('a key that is made when the server listens stands in the card from then on', () => {
  const { service } = createService(kernelOptionsOf({ agents: [agent], log: false }))
  let isKeyed = false
  const cards = createCards(service, { takesKeys: () => isKeyed })
  const exchange = {
    baseUrl: 'http://triport.test', baseUrlIsTrusted: true, head: {}, params: new Map(),
    header: () => undefined,
  }
  const text = (): string => String(cards(exchange as unknown as Exchange, service.catalog.root!).body)
  assert.doesNotMatch(text(), /security/)
  isKeyed = true
  assert.match(text(), /"security":\[\{"apiKey":\[\]\}/)
})

test('a tool that comes or goes changes the root card', async (t) => {
  const server = serveA2a(t, { agents })
  const before = await get(server)
  server.catalog.add(defineTool({ name: 'now', description: 'Tells the time.', run: () => 1 }))
  const after = await get(server)
  assert.notEqual(after.headers.get('etag'), before.headers.get('etag'))
  assert.match(await after.text(), /"id":"now"/)
})

test('a card asked for under ever new hosts is right each time', async (t) => {
  const server = serveA2a(t, { agents })
  for (let count = 0; count < 600; count++) {
    const card = await cardOf(server, `http://h${count}.test/.well-known/agent.json`)
    assert.equal(card['url'], `http://h${count}.test/a2a`)
  }
  assert.equal((await cardOf(server, 'http://h0.test/.well-known/agent.json'))['url'], 'http://h0.test/a2a')
})

test('a version in the address chooses the card as one in the header does, which goes first', async (t) => {
  const server = serveA2a(t, { agents })
  const rows: readonly (readonly [query: string, headers: Record<string, string>, hasOld: boolean])[] = [
    ['', {}, true], ['?A2A-Version=1.0', {}, false], ['?A2A-Version=0.3', {}, true],
    ['?a2a-version=1.0', {}, false],
    ['?A2A-Version=1.0', { 'a2a-version': '0.3' }, true], ['', { 'a2a-version': '1.0' }, false],
  ]
  for (const [query, headers, hasOld] of rows) {
    const card = await (await get(server, headers, address + query)).json() as Record<string, unknown>
    assert.equal('preferredTransport' in card, hasOld, `${query} ${JSON.stringify(headers)}`)
  }
})
