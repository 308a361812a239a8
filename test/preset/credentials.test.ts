/** What every protocol says to who may not come in, and where the metadata is to which that leads. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { createServer } from '../../lib/kernel.ts'
import { Fault } from '../../lib/index.ts'
import { a2a } from '../../lib/parts/a2a/part.ts'
import { http } from '../../lib/parts/http/part.ts'
import { mcp } from '../../lib/parts/mcp/part.ts'
import { openai } from '../../lib/parts/openai/part.ts'
import { jsonOf, request, serve } from '../fixtures/client.ts'
import type { TestContext } from 'node:test'
import type { Authorization, ServerOptions, TriportServer } from '../../lib/index.ts'
import type { Part } from '../../lib/kernel.ts'

const HOST = 'https://agents.example.com'
const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const own = `${HOST}/mcp`

const auth: Authorization = {
  resource: own, authorizationServers: ['https://login.example.com'], scopes: ['basic'],
  verify: (token) => token === 'good' ? { subject: 'ann', scopes: ['basic'] } : undefined,
}
const bot = {
  name: 'Bot', description: 'Answers.',
  run(prompt: string) {
    if (prompt === 'who') throw new Fault('unauthenticated', 'Log in again')
    return prompt
  },
}
const writer = { name: 'Writer', description: 'Writes.', scopes: ['read', 'write'], run: () => 'written' }
const options: ServerOptions = {
  protocol: 'all', name: 'Shop', agents: [bot, writer], metrics: true, auth,
  tools: [{ name: 'add', description: 'Adds.', run: () => 'sum' }],
}
const bad = { authorization: 'Bearer bad' }
const good = { authorization: 'Bearer good' }

type Ask = readonly [path: string, body?: unknown, method?: string]

/** Of MCP, which `resource` is the address of. */
const ofMcp: readonly Ask[] = [['/mcp', {}], ['/mcp'], ['/mcp', undefined, 'DELETE']]
/** Of its oldest transport, whose clients know the first path alone, and refuse the metadata of any other. */
const ofSse: readonly Ask[] = [['/sse'], ['/messages/', {}], ['/messages/?session_id=a', {}]]
const beside: readonly Ask[] = [
  ['/', { query: 'hi' }], ['/agents'], ['/agents/bot'], ['/agents/bot', { query: 'hi' }], ['/tools'],
  ['/tools/add%20up', {}], ['/tools/none', {}], ['/resources'], ['/prompts'], ['/conversations'],
  ['/conversations/12345678', undefined, 'DELETE'], ['/llms.txt'], ['/openapi.json'], ['/metrics'],
  ['/a2a', {}], ['/agents/bot/a2a', {}], ['/message:send', {}], ['/tasks'], ['/tasks/1:cancel', {}],
  ['/extendedAgentCard'], ['/v1/models'], ['/v1/chat/completions', {}], ['/v1/responses', {}],
  ['/agui', {}], ['/agents/bot/agui', {}], ['/ui-stream', {}],
]

async function challengeTo(
  server: Pick<TriportServer, 'fetch'>, [path, body, method]: Ask, headers: Record<string, string> = {},
): Promise<string> {
  const response = await server.fetch(request(path, body, headers, method))
  assert.equal(response.status, 401, `${method} ${path}`)
  await response.body?.cancel()
  return response.headers.get('www-authenticate') ?? ''
}

/** The resource of the metadata to which a challenge leads. */
async function resourceIn(server: Pick<TriportServer, 'fetch'>, challenge: string): Promise<unknown> {
  const [, address = ''] = /resource_metadata="([^"]*)"/.exec(challenge) ?? []
  const { origin, pathname, search } = new URL(address)
  assert.equal(origin, HOST)
  const foreign = { origin: 'https://page.example' }
  const response = await server.fetch(request(pathname + search, undefined, foreign))
  assert.equal(response.status, 200, address)
  assert.equal(response.headers.get('access-control-allow-origin'), '*')
  const { resource, ...rest } = await jsonOf(response)
  assert.deepEqual(rest, {
    authorization_servers: ['https://login.example.com'], scopes_supported: ['basic'],
    bearer_methods_supported: ['header'],
  })
  return resource
}

test('each path leads to metadata of its own, those of the resource that is named to that one', async (t) => {
  const server = serve(t, options)
  for (const [asks, resourceOf] of [
    [ofMcp, () => '/mcp'], [ofSse, () => '/sse'], [beside, (path: string) => path],
  ] as const) {
    for (const ask of asks) {
      const path = resourceOf(ask[0])
      const rest = `scope="basic", resource_metadata="${HOST}${WELL_KNOWN}${path}"`
      const challenge = await challengeTo(server, ask)
      assert.equal(challenge, `Bearer realm="Shop", ${rest}`)
      assert.equal(await challengeTo(server, ask, bad), `Bearer realm="Shop", error="invalid_token", ${rest}`)
      // RFC 9728 §3.3
      assert.equal(await resourceIn(server, challenge), HOST + path)
    }
  }
})

test('where the resource is the server, all paths lead to that, and have it as metadata', async (t) => {
  for (const resource of [HOST, `${HOST}/`]) {
    const server = serve(t, { ...options, auth: { ...auth, resource } })
    for (const ask of [...ofMcp, ...ofSse, ...beside]) {
      const challenge = await challengeTo(server, ask)
      assert.equal(challenge, `Bearer realm="Shop", scope="basic", resource_metadata="${HOST}${WELL_KNOWN}"`)
      assert.equal(await resourceIn(server, challenge), resource)
      const { resource: said } = await jsonOf(await server.fetch(request(WELL_KNOWN + ask[0])))
      assert.equal(said, resource)
    }
  }
})

test('a prefix of the resource is that of the paths beside it', async (t) => {
  const places: readonly (readonly [mountPath: string, resource: string, prefix: string])[] = [
    ['', `${HOST}/team/mcp`, '/team'], ['/team', `${HOST}/mcp`, ''], ['/team', `${HOST}/team/mcp/`, '/team'],
    ['/in', `${HOST}/out/side/mcp`, '/out/side'],
  ]
  for (const [mountPath, resource, prefix] of places) {
    const server = serve(t, { ...options, mountPath, auth: { ...auth, resource } })
    for (const path of ['/a2a', '/agents/bot', '/tools/add%20up']) {
      const challenge = await challengeTo(server, [mountPath + path, {}])
      assert.equal(await resourceIn(server, challenge), HOST + prefix + path)
    }
    assert.equal(await resourceIn(server, await challengeTo(server, [`${mountPath}/mcp`, {}])), resource)
    const messages = await challengeTo(server, [`${mountPath}/messages/`, {}])
    assert.equal(await resourceIn(server, messages), `${HOST}${prefix}/sse`)
  }
})

test('a server of any one part has the challenge and the metadata', async (t) => {
  const alone: readonly (readonly [part: Part, path: string])[] = [
    [mcp(), '/mcp'], [a2a(), '/a2a'], [http(), '/agents/bot'], [openai(), '/v1/responses'],
  ]
  for (const [part, path] of alone) {
    for (const resource of [HOST + path, HOST]) {
      const server = createServer({ agents: [bot], parts: [part], auth: { ...auth, resource }, log: false })
      t.after(() => server.close())
      const challenge = await challengeTo(server, [path, {}])
      assert.equal(await resourceIn(server, challenge), resource, path)
      for (const at of ['', path]) {
        const { resource: said } = await jsonOf(await server.fetch(request(WELL_KNOWN + at)))
        assert.equal(said, resource)
      }
    }
  }
})

test('the resource may be the address of any protocol', async (t) => {
  const server = serve(t, { ...options, auth: { ...auth, resource: `${HOST}/a2a` } })
  for (const [path, resource] of [
    ['/a2a', '/a2a'], ['/message:send', '/a2a'], ['/agents/bot/a2a', '/a2a'], ['/mcp', '/mcp'], ['/', '/'],
    ['/messages/', '/sse'],
  ] as const) {
    assert.equal(await resourceIn(server, await challengeTo(server, [path, {}])), HOST + resource, path)
  }
})

test('what is not there leads to the resource that is named; what is open has no metadata', async (t) => {
  const server = serve(t, options)
  for (const path of ['/none', '/v1/none', '/mcp/none', '/agents/bot/none']) {
    assert.equal(await resourceIn(server, await challengeTo(server, [path])), own, path)
  }
  for (const path of ['/health', '/docs', '/none', '/mcp/none', '//mcp', '/.well-known/agent.json']) {
    assert.equal((await server.fetch(request(WELL_KNOWN + path))).status, 404, path)
  }
  const health = await jsonOf(await server.fetch(request('/health')))
  const listed = (health['endpoints'] as readonly string[]).filter((path) => path.startsWith(WELL_KNOWN))
  assert.deepEqual(listed, [WELL_KNOWN, `${WELL_KNOWN}/mcp`])
})

test('a path stands in a challenge with its escapes, unless it is too long for a header', async (t) => {
  const server = serve(t, options)
  for (const name of ['a%20b', '%C3%A9', '%22', '50%25', 'a%3Fb', 'a%23b', 'a+b']) {
    const challenge = await challengeTo(server, [`/tools/${name}`, {}])
    assert.equal(await resourceIn(server, challenge), `${HOST}/tools/${name}`)
  }
  for (const [length, path] of [[2_000, `/tools/${'a'.repeat(2_000)}`], [3_000, '/mcp']] as const) {
    const challenge = await challengeTo(server, [`/tools/${'a'.repeat(length)}`, {}])
    assert.equal(await resourceIn(server, challenge), HOST + path)
  }
})

test('with keys alone there is no metadata, and a challenge says no more than the scheme', async (t) => {
  const server = serve(t, { ...options, auth: undefined, apiKey: 'k' })
  for (const ask of [...ofMcp, ...ofSse, ...beside]) {
    assert.equal(await challengeTo(server, ask), 'Bearer realm="Shop"')
    assert.equal(await challengeTo(server, ask, bad), 'Bearer realm="Shop"')
    assert.equal((await server.fetch(request(WELL_KNOWN + ask[0]))).status, 404)
  }
})

/** A message to an agent, in each protocol. */
const ways: readonly (readonly [path: string, bodyOf: (agent: string, text: string) => object])[] = [
  ['/agents/{agent}', (_agent, query) => ({ query })],
  ['/v1/chat/completions', (model, content) => ({ model, messages: [{ role: 'user', content }] })],
  ['/v1/responses', (model, input) => ({ model, input })],
  ['/agents/{agent}/agui', (_agent, content) => ({
    threadId: 'thread-1', runId: 'r', messages: [{ id: '1', role: 'user', content }], tools: [], context: [],
  })],
  ['/agents/{agent}/ui-stream', (_agent, text) => ({
    id: 'chat-1234', messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text }] }],
  })],
  ['/agents/{agent}/a2a', (_agent, text) => ({
    jsonrpc: '2.0', id: 1, method: 'message/send',
    params: { message: { role: 'user', parts: [{ type: 'text', text }] } },
  })],
  ['/agents/{agent}/message:send', (_agent, text) => ({
    message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text }] },
  })],
  ['/mcp', (agent, prompt) => ({
    jsonrpc: '2.0', id: 1, method: 'tools/call',
    params: { name: `execute_${agent}_task`, arguments: { prompt } },
  })],
]

async function asked(
  t: TestContext, more: Partial<ServerOptions>, headers: Record<string, string>, agent: string, text: string,
): Promise<readonly (readonly [path: string, status: number, challenge: string | null])[]> {
  const server = serve(t, { ...options, ...more })
  return Promise.all(ways.map(async ([way, bodyOf]) => {
    const path = way.replace('{agent}', agent)
    const accept = 'application/json, text/event-stream'
    const response = await server.fetch(request(path, bodyOf(agent, text), {
      accept, ...path.includes(':') && { 'a2a-version': '1.0' }, ...headers,
    }))
    await response.text()
    return [path, response.status, response.headers.get('www-authenticate')] as const
  }))
}

test('who lacks a scope is told in every protocol which are needed, and where to ask for them', async (t) => {
  for (const [path, status, challenge] of await asked(t, {}, good, 'writer', 'hi')) {
    assert.equal(status, 403, path)
    assert.equal(challenge, `Bearer realm="Shop", error="insufficient_scope", scope="read write", `
      + `resource_metadata="${HOST}${WELL_KNOWN}${path}"`)
  }
  const keys = { auth: undefined, apiKey: 'k' }
  for (const [path, status, challenge] of await asked(t, keys, { 'x-api-key': 'k' }, 'writer', 'hi')) {
    assert.deepEqual([status, challenge],
      [403, 'Bearer realm="Shop", error="insufficient_scope", scope="read write"'], path)
  }
})

test('what an author refuses as unauthenticated has the challenge of a bad token', async (t) => {
  const refused = (await asked(t, {}, good, 'bot', 'who')).filter(([, status]) => status !== 200)
  // The others have begun to answer, or have a task that failed.
  assert.deepEqual(refused.map(([path]) => path), [
    '/agents/bot', '/v1/chat/completions', '/v1/responses', '/agents/bot/a2a', '/mcp',
  ])
  for (const [path, status, challenge] of refused) {
    assert.equal(status, 401, path)
    assert.equal(challenge, `Bearer realm="Shop", error="invalid_token", scope="basic", `
      + `resource_metadata="${HOST}${WELL_KNOWN}${path}"`)
  }
})
