import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool } from '../../../lib/index.ts'
import { jsonOf, request, serve } from '../../fixtures/client.ts'
import type { Authorization, ServerOptions, TokenInfo, TriportServer } from '../../../lib/index.ts'

const resource = 'https://agents.example.com/mcp'
const metadata = 'https://agents.example.com/.well-known/oauth-protected-resource/mcp'

/** What the ids of an issuer's subjects begin with. */
const ISSUER = 'token:https%3A%2F%2Flogin.example.com:'
const ANN = `${ISSUER}ann`

const tokens = new Map<string, TokenInfo>([
  ['reader', { subject: 'ann', scopes: ['read'] }],
  ['writer', { subject: 'bob', scopes: ['read', 'write', 'admin'] }],
  ['late', { subject: 'cid', scopes: ['read'], expiresAt: Date.now() - 1 }],
])

const auth: Authorization = {
  resource,
  authorizationServers: ['https://login.example.com'],
  scopes: ['read'],
  verify: (token) => tokens.get(token),
}

const who = defineTool({
  name: 'who', description: 'Says who calls.', run: (_args, call) => call.principal.id,
})
const erase = defineTool({
  name: 'erase',
  description: 'Erases.',
  scopes: ['write', 'admin'],
  async run(_args, call) {
    call.progress(1)
    return 'erased'
  },
})

const options: ServerOptions = { tools: [who, erase], auth }

/** What any client of MCP over HTTP says that it reads. */
const accept = 'application/json, text/event-stream'

function call(server: TriportServer, name: string, headers: Record<string, string>): Promise<Response> {
  const params = { name, _meta: { progressToken: 1 } }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  return server.fetch(request('/mcp', body, { accept, ...headers }))
}

async function textOf(response: Response): Promise<string> {
  const { result } = await response.json() as { result: { content: readonly { text: string }[] } }
  return result.content[0]!.text
}

test('a token that the operator knows says who calls', async (t) => {
  assert.equal(await textOf(await call(serve(t, options), 'who', { authorization: 'Bearer reader' })), ANN)
})

test('verify may answer later', async (t) => {
  const server = serve(t, { ...options, auth: { ...auth, verify: async (token) => tokens.get(token) } })
  assert.equal(await textOf(await call(server, 'who', { authorization: 'Bearer writer' })), `${ISSUER}bob`)
})

for (const [title, headers, challenge] of [
  ['no token', {}, `Bearer realm="triport", scope="read", resource_metadata="${metadata}"`],
  ['an unknown token', { authorization: 'Bearer nobody' },
    `Bearer realm="triport", error="invalid_token", scope="read", resource_metadata="${metadata}"`],
  ['an expired token', { authorization: 'Bearer late' },
    `Bearer realm="triport", error="invalid_token", scope="read", resource_metadata="${metadata}"`],
] as const) {
  test(`${title} is 401 with a challenge that says where to get one`, async (t) => {
    const response = await call(serve(t, options), 'who', headers)
    assert.equal(response.status, 401)
    assert.equal(response.headers.get('www-authenticate'), challenge)
    const body = await response.json() as { id?: unknown; error: { code: number } }
    assert.equal(body.error.code, -32600)
    assert.ok(!('id' in body))
  })
}

test('a tool whose scopes a caller lacks is 403 before the first byte, and names all of them', async (t) => {
  const response = await call(serve(t, options), 'erase', { authorization: 'Bearer reader' })
  assert.equal(response.status, 403)
  assert.equal(response.headers.get('content-type'), 'application/json')
  assert.equal(response.headers.get('www-authenticate'),
    `Bearer realm="triport", error="insufficient_scope", scope="write admin", `
      + `resource_metadata="${metadata}"`)
  assert.equal((await response.json() as { id: number }).id, 1)
})

test('a tool whose scopes the caller has runs', async (t) => {
  const response = await call(serve(t, options), 'erase', { authorization: 'Bearer writer' })
  assert.equal(response.status, 200)
  assert.match(await response.text(), /erased/)
})

for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
  test(`${path} tells everybody where tokens come from`, async (t) => {
    const asked = request(path, undefined, { origin: 'https://page.example' })
    const response = await serve(t, options).fetch(asked)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('access-control-allow-origin'), '*')
    const body = await response.json() as Record<string, unknown>
    assert.equal(body['resource'], resource)
    assert.deepEqual(body['authorization_servers'], ['https://login.example.com'])
    assert.deepEqual(body['scopes_supported'], ['read'])
    assert.deepEqual(body['bearer_methods_supported'], ['header'])
  })

  test(`${path} is 404 where there are only keys`, async (t) => {
    const server = serve(t, { tools: [who], apiKey: 'k' })
    assert.equal((await server.fetch(request(path))).status, 404)
  })
}

/** Where the server is mounted, what its resource is called, and where that has its metadata. */
const places: readonly (readonly [mountPath: string, resource: string, path: string])[] = [
  ['', 'https://agents.example.com/mcp', '/mcp'],
  ['', 'https://agents.example.com', ''],
  ['', 'https://agents.example.com/', ''],
  ['', 'https://agents.example.com/team/mcp/', '/team/mcp/'],
  ['/team', 'https://agents.example.com/team/mcp', '/team/mcp'],
  ['/team', 'https://agents.example.com/mcp', '/mcp'],
  ['/team/a', 'https://agents.example.com/team/a/mcp', '/team/a/mcp'],
  ['/team', 'https://agents.example.com/behind/a/proxy', '/behind/a/proxy'],
  ['/team', 'https://agents.example.com/mcp?tenant=a', '/mcp?tenant=a'],
]

test('the metadata is where the challenge says, wherever the server is mounted', async (t) => {
  for (const [mountPath, resource, path] of places) {
    const server = serve(t, { ...options, mountPath, auth: { ...auth, resource } })
    const refused = await server.fetch(request(`${mountPath}/mcp`, {}))
    assert.equal(refused.status, 401)
    const [, told] = /resource_metadata="([^"]*)"/.exec(String(refused.headers.get('www-authenticate'))) ?? []
    assert.equal(told, `https://agents.example.com/.well-known/oauth-protected-resource${path}`)
    const { pathname, search } = new URL(String(told))
    for (const at of [pathname + search, '/.well-known/oauth-protected-resource']) {
      const response = await server.fetch(request(at))
      assert.equal(response.status, 200, `${mountPath} ${at}`)
      assert.equal((await response.json() as { resource: string }).resource, resource)
    }
    // Whoever has no key looks for metadata first: that nothing is there must not ask for a key.
    const nothing = await server.fetch(request('/.well-known/oauth-authorization-server'))
    assert.equal(nothing.status, 404)
    const health = await server.fetch(request(`${mountPath}/health`))
    const { endpoints } = await health.json() as { endpoints: readonly string[] }
    assert.ok(endpoints.includes(pathname), String(endpoints))
  }
})

test('a refusal speaks of keys only where there are some', async (t) => {
  for (const [said, given] of [
    ['A valid token is needed: send it as Authorization: Bearer', options],
    ['A valid key is needed: send it as X-API-Key, or as Authorization: Bearer', { ...options, apiKey: 'k' }],
  ] as const) {
    const { error } = await jsonOf(await call(serve(t, given), 'who', { 'x-api-key': 'nobody' }))
    assert.deepEqual(error, { code: -32600, message: 'Invalid request', data: { detail: said } })
  }
})

test('keys stand beside tokens, and a wrong one is tried as neither', async (t) => {
  const server = serve(t, { ...options, apiKey: [{ id: 'ops', key: 'key-1' }] })
  assert.equal(await textOf(await call(server, 'who', { 'x-api-key': 'key-1' })), 'key:ops')
  assert.equal(await textOf(await call(server, 'who', { authorization: 'Bearer key-1' })), 'key:ops')
  assert.equal(await textOf(await call(server, 'who', { authorization: 'Bearer reader' })), ANN)
  assert.equal((await call(server, 'who', { 'x-api-key': 'reader' })).status, 401)
  const both = { 'x-api-key': 'key-1', authorization: 'Bearer reader' }
  assert.equal((await call(server, 'who', both)).status, 401)
})

test('a session of one principal does not exist for another', async (t) => {
  const server = serve(t, options)
  const post = (token: string, body: object, session?: string): Promise<Response> =>
    server.fetch(request('/mcp', { jsonrpc: '2.0', id: 1, ...body }, {
      accept, authorization: `Bearer ${token}`, ...session !== undefined && { 'mcp-session-id': session },
    }))
  const opened = await post('reader', { method: 'initialize', params: { protocolVersion: '2025-06-18' } })
  const session = opened.headers.get('mcp-session-id')!
  assert.equal((await post('reader', { method: 'ping' }, session)).status, 200)
  assert.equal((await post('writer', { method: 'ping' }, session)).status, 404)
})

for (const [title, broken, says] of [
  ['a resource that is no address', { resource: 'agents' }, /auth\.resource/],
  ['no authorization server', { authorizationServers: [] }, /auth\.authorizationServers/],
] as const) {
  test(`${title} is a mistake that is told at once`, (t) => {
    assert.throws(() => serve(t, { ...options, auth: { ...auth, ...broken } }), {
      name: 'TypeError', message: says,
    })
  })
}
