// Scopes, at every entrance: lists show a caller what it may call, and what it may not is refused.
import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent, defineGroup } from '../../lib/index.ts'
import { jsonOf, request, serve } from '../fixtures/client.ts'
import type { ServerOptions, TriportServer } from '../../lib/index.ts'

type Json = Record<string, any>

const open = defineAgent({ name: 'Open', run: (prompt) => `open ${prompt}` })
const reader = defineAgent({ name: 'Reader', scopes: ['read'], run: (prompt) => `read ${prompt}` })
const writer = defineAgent({
  name: 'Writer', scopes: ['write'], run: (prompt) => `wrote ${prompt}`,
  skills: [{ id: 'pen', name: 'Pen', description: 'Writes.' }],
})
const both = defineGroup({ name: 'Both', agents: [reader, writer] })
const pick = defineGroup({
  name: 'Pick', agents: [open, writer, both], onAgentError: 'continue', mode: (query) => query.split(' '),
})

const options: ServerOptions = {
  name: 'scopes', protocol: 'all',
  apiKey: [
    { id: 'guest', key: 'guest' },
    { id: 'ann', key: 'ann', scopes: ['read', 'other'] },
    { id: 'boss', key: 'boss', scopes: ['other', 'write', 'read'] },
  ],
  groups: [pick, both],
  agents: [open, reader, writer],
  tools: [
    { name: 'free', run: () => 'free' },
    { name: 'look', scopes: ['read'], run: () => 'looked' },
    { name: 'change', scopes: ['read', 'write'], run: () => 'changed' },
  ],
  resources: [
    { uri: 'a:free', name: 'free', read: () => '' }, { uri: 'b:one', name: 'under', read: () => '' },
    { uri: 'a:look', name: 'look', scopes: ['read'], read: () => '' },
  ],
  resourceTemplates: [{ uriTemplate: 'b:{x}', name: 'wide', scopes: ['write'], read: () => '' }],
  prompts: [{ name: 'free', get: () => '' }, { name: 'look', scopes: ['read'], get: () => '' }],
}

async function get(server: TriportServer, key: string, path: string): Promise<Json> {
  return await jsonOf(await server.fetch(request(path, undefined, { 'x-api-key': key })))
}

async function mcp(
  server: TriportServer, key: string, method: string, params: object = {},
): Promise<Response> {
  return await server.fetch(request('/mcp', { jsonrpc: '2.0', id: 1, method, params }, {
    'x-api-key': key, 'accept': 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18',
  }))
}

function names(list: unknown, member = 'name'): string {
  return (list as Json[]).map((one) => one[member]).join(' ')
}

/** What each caller sees, by list. */
const seen: readonly (readonly [
  what: string, read: (server: TriportServer, key: string) => Promise<string>,
  guest: string, ann: string, boss: string,
])[] = [
  ['agents', async (server, key) => names((await get(server, key, '/agents'))['agents'], 'id'),
    'pick open', 'pick open reader', 'pick both open writer reader'],
  ['agents, by their older path',
    async (server, key) => names((await get(server, key, '/agents/list'))['agents'], 'id'),
    'pick open', 'pick open reader', 'pick both open writer reader'],
  ['models', async (server, key) => names((await get(server, key, '/v1/models'))['data'], 'id'),
    'pick open', 'pick open reader', 'pick both open writer reader'],
  ['tools', async (server, key) => names((await get(server, key, '/tools'))['tools']),
    'free', 'free look', 'free look change'],
  ['prompts', async (server, key) => names((await get(server, key, '/prompts'))['prompts']),
    'free', 'free look', 'free look'],
  ['resources', async (server, key) => names((await get(server, key, '/resources'))['resources']),
    'free', 'free look', 'free under look'],
  ['templates', async (server, key) => names((await get(server, key, '/resources'))['resourceTemplates']),
    '', '', 'wide'],
  ['tools of MCP', async (server, key) => (
    names((await jsonOf(await mcp(server, key, 'tools/list')) as Json)['result'].tools)
  ),
  'execute_open_task execute_pick_workflow list_agents free',
  'execute_open_task execute_reader_task execute_pick_workflow list_agents free look',
  'execute_open_task execute_writer_task execute_reader_task execute_pick_workflow execute_both_workflow '
    + 'list_agents free look change'],
  ['list_agents', async (server, key) => {
    const reply = await mcp(server, key, 'tools/call', { name: 'list_agents' })
    return names((await jsonOf(reply) as Json)['result'].structuredContent.agents, 'id')
  }, 'open', 'open reader', 'open writer reader'],
  ['paths in the description', async (server, key) => {
    const { paths } = await get(server, key, '/openapi.json')
    return Object.keys(paths as object).filter((path) => /^\/(?:agents|tools)\/[a-z]+$/.test(path)).join(' ')
      .replace('/agents/list ', '').replaceAll(/\/(?:agents|tools)\//g, '')
  }, 'pick open free', 'pick open reader free look', 'pick both open writer reader free look change'],
  ['llms.txt', async (server, key) => {
    const reply = await server.fetch(request('/llms.txt', undefined, { 'x-api-key': key }))
    const links = (await reply.text()).matchAll(/\]\(\S*\/(?:agents|tools)\/([a-z]+)\)/g)
    return [...links].map(([, id]) => id).join(' ')
  }, 'pick open free', 'pick open reader free look', 'pick both open writer reader free look change'],
  ['the public card', async (server, key) => (
    names((await get(server, key, '/.well-known/agent-card.json'))['skills'], 'id')
  ), 'open free', 'open free', 'open free'],
  ['the public card of an agent', async (server, key) => (
    names((await get(server, key, '/agents/writer/.well-known/agent-card.json'))['skills'], 'id')
  ), '', '', ''],
  ['the extended card', async (server, key) => (
    names((await get(server, key, '/extendedAgentCard'))['skills'], 'id')
  ), 'open free', 'open free look', 'open writer both free look change'],
  ['the extended card of A2A 0.2', async (server, key) => (
    names((await get(server, key, '/agent/authenticatedExtendedCard'))['skills'], 'id')
  ), 'open free', 'open free look', 'open writer both free look change'],
  ['the extended card of an agent', async (server, key) => (
    names((await get(server, key, '/agents/writer/extendedAgentCard'))['skills'], 'id')
  ), '', '', 'pen'],
]

for (const [what, read, ...expected] of seen) {
  test(`${what}: a caller sees what it may use`, async (t) => {
    const server = serve(t, options)
    // Twice, and mixed: what is kept for one caller is not for another.
    for (const key of [0, 1, 2, 1, 0, 2]) {
      const caller = ['guest', 'ann', 'boss'][key]!
      assert.equal(await read(server, caller), expected[key], caller)
    }
  })
}

test('lists follow the catalog', async (t) => {
  const server = serve(t, options)
  const toolsOf = async (key: string): Promise<string> => names((await get(server, key, '/tools'))['tools'])
  assert.equal(await toolsOf('guest'), 'free')
  server.catalog.add({ name: 'later', inputSchema: { type: 'object' }, scopes: ['other'], run: () => '' })
  assert.equal(await toolsOf('guest'), 'free')
  assert.equal(await toolsOf('ann'), 'free look later')
  server.catalog.remove('tool', 'look')
  assert.equal(await toolsOf('ann'), 'free later')
})

const message = (text: string): object => (
  { messageId: 'm', role: 'user', kind: 'message', parts: [{ kind: 'text', text }] }
)

/** How an agent is asked, and what a caller without its scopes reads. */
const ways: readonly (readonly [
  what: string, ask: (server: TriportServer, key: string, agent: string, query: string) => Promise<Response>,
  refusal: RegExp,
])[] = [
  ['a query', async (server, key, agent, query) => await server.fetch(
    request(`/agents/${agent}`, { query }, { 'x-api-key': key }),
  ), /"detail":"This needs the scope write, which the caller.*"scopes":\["(?:r.*",")?write"\]/],
  ['a query whose answer is a stream', async (server, key, agent, query) => await server.fetch(
    request(`/agents/${agent}`, { query, stream: true }, { 'x-api-key': key }),
  ), /"detail":"This needs the scope write/],
  ['a chat completion', async (server, key, model, content) => await server.fetch(
    request('/v1/chat/completions', { model, messages: [{ role: 'user', content }] }, { 'x-api-key': key }),
  ), /"error":\{"message":"This needs the scope write.*"code":"forbidden"/],
  ['a response', async (server, key, model, input) => await server.fetch(
    request('/v1/responses', { model, input }, { 'x-api-key': key }),
  ), /"error":\{"message":"This needs the scope write/],
  ['a run of AG-UI', async (server, key, agent, content) => await server.fetch(
    request(`/agents/${agent}/agui`, {
      threadId: 'thread-1', runId: 'r', messages: [{ id: '1', role: 'user', content }],
      tools: [], context: [],
    }, { 'x-api-key': key }),
  ), /"detail":"This needs the scope write/],
  ['a tool of MCP', async (server, key, agent, query) => {
    const name = agent === 'writer' ? 'execute_writer_task' : `execute_${agent}_workflow`
    return await mcp(server, key, 'tools/call', { name, arguments: { prompt: query, query } })
  }, /"code":-32600.*"detail":"This needs the scope write/],
  ['the alias of that tool', async (server, key, agent, query) => (
    await mcp(server, key, 'tools/call', { name: `ask_${agent}`, arguments: { message: query } })
  ), /"code":-32600.*"detail":"This needs the scope write/],
  ['a message of A2A', async (server, key, agent, text) => await server.fetch(
    request(`/agents/${agent}/a2a`, {
      jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: message(text) },
    }, { 'x-api-key': key }),
  ), /"code":-32600.*"detail":"This needs the scope write/],
  ['a message of A2A by HTTP', async (server, key, agent, text) => await server.fetch(
    request(`/agents/${agent}/message:send`, {
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text }] },
    }, { 'x-api-key': key, 'a2a-version': '1.0' }),
  ), /This needs the scope write/],
]

for (const [what, ask, refusal] of ways) {
  test(`${what} to an agent needs its scopes, in groups too`, async (t) => {
    const server = serve(t, options)
    for (const [agent, query] of [['writer', 'it'], ['both', 'it']] as const) {
      const refused = await ask(server, 'ann', agent, query)
      assert.equal(refused.status, 403, agent)
      assert.match(await refused.text(), refusal, agent)
      const allowed = await ask(server, 'boss', agent, query)
      assert.equal(allowed.status, 200, agent)
      assert.match(await allowed.text(), /wrote (?:read )?it/, agent)
    }
  })
}

test('what a router picks needs its scopes, and is no failure of an agent', async (t) => {
  const server = serve(t, options)
  for (const [key, query, status, text] of [
    ['guest', 'open', 200, /open open/],
    ['guest', 'writer', 403, /This needs the scope write/],
    ['guest', 'open writer', 403, /This needs the scope write/],
    ['ann', 'open both', 403, /This needs the scope write/],
    ['boss', 'open both', 200, /wrote read open open both/],
  ] as const) {
    const reply = await server.fetch(request('/agents/pick', { query }, { 'x-api-key': key }))
    assert.equal(reply.status, status, `${key} ${query}`)
    assert.match(await reply.text(), text, `${key} ${query}`)
  }
})

test('a caller that lacks a scope of MCP reads which one to ask for', async (t) => {
  const reply = await mcp(serve(t, options), 'ann', 'tools/call', {
    name: 'execute_both_workflow', arguments: { query: 'it' },
  })
  assert.equal(reply.status, 403)
  assert.match(reply.headers.get('www-authenticate') ?? '', /error="insufficient_scope".*scope="read write"/)
  await reply.body?.cancel()
})

test('one thing is described to those who may use it', async (t) => {
  const server = serve(t, options)
  for (const path of ['/agents/writer', '/v1/models/writer', '/tools/change']) {
    for (const [key, status] of [['ann', 403], ['boss', 200]] as const) {
      const reply = await server.fetch(request(path, undefined, { 'x-api-key': key }))
      assert.equal(reply.status, status, `${path} ${key}`)
      await reply.body?.cancel()
    }
  }
})

test('a card says that there is more for some, and which scopes a token needs', async (t) => {
  const auth = {
    resource: 'https://a.example/mcp', authorizationServers: ['https://login.example'], scopes: ['basic'],
    verify: () => null,
  }
  const server = serve(t, { ...options, apiKey: undefined, auth })
  const card = await get(server, '', '/agents/writer/.well-known/agent-card.json')
  assert.equal(card['name'], 'Writer')
  assert.equal(card['supportsAuthenticatedExtendedCard'], true)
  assert.deepEqual(card['security'], [{ oauth: ['basic', 'write'] }])
  const free = await get(server, '', '/agents/open/.well-known/agent-card.json')
  assert.equal(free['supportsAuthenticatedExtendedCard'] ?? false, false)
  assert.deepEqual(free['security'], [{ oauth: ['basic'] }])
})

test('where nobody can have a scope, nothing is shown, and there is no extended card', async (t) => {
  const server = serve(t, { ...options, apiKey: undefined })
  assert.equal(names((await get(server, '', '/tools'))['tools']), 'free')
  const reply = await server.fetch(request('/extendedAgentCard', undefined, { 'a2a-version': '1.0' }))
  assert.equal(reply.status, 400)
  assert.match(await reply.text(), /There is no extended card here/)
})
