/**
 * A real login: the official clients, versions 1 and 2, ask a server for a tool, are told by its challenge
 * where to go, register there, fetch a token and come back with it. The authorization server is a small one
 * of this file: metadata (RFC 8414), registration (RFC 7591), authorization that says yes at once, tokens
 * for a code with its proof (RFC 7636) and for one resource (RFC 8707).
 */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { test } from 'node:test'
import { freePort, missing, root } from './start.mjs'

const CALLBACK = 'http://127.0.0.1:1/callback'

/** Reads a form or JSON. */
async function bodyOf(request) {
  const text = Buffer.concat(await request.toArray()).toString()
  return request.headers['content-type']?.startsWith('application/json')
    ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text))
}

/** An authorization server. `tokens`: what it has given out. */
async function startIssuer(t) {
  const clients = new Set()
  const codes = new Map()
  const tokens = new Map()
  const routes = {
    'GET /.well-known/oauth-authorization-server': () => [200, {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/register`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code'],
      token_endpoint_auth_methods_supported: ['none'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    }],
    async 'POST /register'(_url, request) {
      const client_id = randomUUID()
      clients.add(client_id)
      return [201, { ...await bodyOf(request), client_id }]
    },
    'GET /authorize'({ searchParams: asked }) {
      assert.ok(clients.has(asked.get('client_id')))
      assert.equal(asked.get('code_challenge_method'), 'S256')
      const code = randomUUID()
      codes.set(code, asked)
      const back = new URL(asked.get('redirect_uri'))
      back.search = new URLSearchParams({ code, state: asked.get('state') ?? '', iss: issuer })
      return [302, {}, back.href]
    },
    async 'POST /token'(_url, request) {
      const { grant_type, code, code_verifier, client_id, resource } = await bodyOf(request)
      const asked = codes.get(code)
      codes.delete(code)
      const proof = createHash('sha256').update(code_verifier ?? '').digest('base64url')
      const isGood = grant_type === 'authorization_code' && asked?.get('client_id') === client_id
        && asked.get('code_challenge') === proof && asked.get('resource') === resource
      if (!isGood) return [400, { error: 'invalid_grant' }]
      const access_token = randomUUID()
      const scope = asked.get('scope') ?? ''
      tokens.set(access_token, { subject: 'alice', scope, resource, expiresAt: Date.now() + 60_000 })
      return [200, { access_token, token_type: 'Bearer', expires_in: 60, scope }]
    },
  }
  const server = createHttpServer(async (request, response) => {
    const url = new URL(request.url, issuer)
    const route = routes[`${request.method} ${url.pathname}`]
    const [status, body, location] = await route?.(url, request) ?? [404, {}]
    response.writeHead(status, { 'Content-Type': 'application/json', ...location && { Location: location } })
    response.end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${server.address().port}`
  t.after(() => server.close().closeAllConnections())
  return { issuer, tokens }
}

/** A server whose tools tell who calls, and ask for more. */
async function startServer(t, mountPath, { issuer, tokens }) {
  const { createServer, defineTool } = await import(`${root}dist/index.js`)
  const port = await freePort()
  const resource = `http://127.0.0.1:${port}${mountPath}/mcp`
  const server = createServer({
    mountPath,
    log: false,
    tools: [
      defineTool({ name: 'who', run: (_args, call) => call.principal.id }),
      defineTool({ name: 'erase', scopes: ['erase'], run: () => 'erased' }),
    ],
    auth: {
      resource,
      authorizationServers: [issuer],
      scopes: ['read'],
      verify(token) {
        const known = tokens.get(token)
        return known?.resource === resource ? known : undefined
      },
    },
  })
  await server.listen(port)
  t.after(() => server.close())
  return resource
}

/** What a client keeps of its login, and where it was sent. */
class Login {
  redirectUrl = CALLBACK
  clientMetadata = { client_name: 'interop', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' }
  sentTo
  #kept = new Map()

  clientInformation() { return this.#kept.get('client') }
  saveClientInformation(client) { this.#kept.set('client', client) }
  tokens() { return this.#kept.get('tokens') }
  saveTokens(tokens) { this.#kept.set('tokens', tokens) }
  codeVerifier() { return this.#kept.get('verifier') }
  saveCodeVerifier(verifier) { this.#kept.set('verifier', verifier) }
  discoveryState() { return this.#kept.get('discovery') }
  saveDiscoveryState(state) { this.#kept.set('discovery', state) }
  redirectToAuthorization(url) { this.sentTo = url }

  /** What a browser would bring back from there. */
  async callback() {
    const { headers } = await fetch(this.sentTo, { redirect: 'manual' })
    return new URL(headers.get('location')).searchParams
  }
}

const versions = [
  ['sdk 1', '@modelcontextprotocol/sdk', async () => ({
    ...await import('@modelcontextprotocol/sdk/client/index.js'),
    ...await import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    ...await import('@modelcontextprotocol/sdk/client/auth.js'),
    finish: (transport, params) => transport.finishAuth(params.get('code')),
  })],
  ['client 2', '@modelcontextprotocol/client', async () => ({
    ...await import('@modelcontextprotocol/client'),
    finish: (transport, params) => transport.finishAuth(params),
  })],
]

for (const [name, package_, load] of versions) {
  test(`${name} takes the metadata that each protocol leads to`, {
    skip: missing(package_), timeout: 120_000,
  }, async (t) => {
    const sdk = await load()
    const { createServer } = await import(`${root}dist/index.js`)
    const host = 'https://agents.example.com'
    for (const [resource, resourceOf] of [[`${host}/mcp`, (path) => host + path], [host, () => `${host}/`]]) {
      const auth = { resource, authorizationServers: ['https://login.example.com'], verify: () => null }
      const server = createServer({ agents: [(prompt) => prompt], protocol: 'all', log: false, auth })
      t.after(() => server.close())
      const ask = (address) => server.fetch(new Request(address))
      for (const path of ['/mcp', '/a2a', '/', '/tasks', '/v1/responses', '/agents/assistant/agui']) {
        const init = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }
        const refused = await server.fetch(new Request(host + path, path === '/tasks' ? {} : init))
        const metadata = await sdk.discoverOAuthProtectedResourceMetadata(
          host + path, sdk.extractWWWAuthenticateParams(refused), ask,
        )
        assert.equal(String(await sdk.selectResourceURL(host + path, {}, metadata)), resourceOf(path))
      }
    }
  })

  for (const mountPath of ['', '/team/a']) {
    const where = mountPath === '' ? 'at the root' : `below ${mountPath}`
    test(`${name} logs in ${where}, and for more scopes again`, {
      skip: missing(package_), timeout: 120_000,
    }, async (t) => {
      const { Client, StreamableHTTPClientTransport, UnauthorizedError, finish } = await load()
      const issuer = await startIssuer(t)
      const resource = await startServer(t, mountPath, issuer)
      const authProvider = new Login()
      const dial = () => new StreamableHTTPClientTransport(new URL(resource), { authProvider })
      const client = () => new Client({ name: 'interop', version: '1.0.0' })

      const stranger = dial()
      await assert.rejects(client().connect(stranger), UnauthorizedError)
      assert.equal(authProvider.sentTo.searchParams.get('resource'), resource)
      assert.equal(authProvider.sentTo.searchParams.get('scope'), 'read')
      await finish(stranger, await authProvider.callback())

      const transport = dial()
      const known = client()
      await known.connect(transport)
      const { content: [{ text }] } = await known.callTool({ name: 'who', arguments: {} })
      assert.equal(text, `token:${encodeURIComponent(issuer.issuer)}:alice`)

      await assert.rejects(known.callTool({ name: 'erase', arguments: {} }), UnauthorizedError)
      assert.match(authProvider.sentTo.searchParams.get('scope'), /\berase\b/)
      await finish(transport, await authProvider.callback())
      const { content: [erased] } = await known.callTool({ name: 'erase', arguments: {} })
      assert.equal(erased.text, 'erased')
      await known.close()
    })
  }
}
