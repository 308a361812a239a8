/**
 * A real authorization server, `oidc-provider`: official clients log in there by themselves, and its signed
 * tokens are checked by its keys; and one that registers no clients is behind `oauthProxy`, where clients
 * register or describe themselves, and which the official conformance suite tests as such a server.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { freePort, missing, modules, node22 } from './start.mjs'

const SUITE = '@modelcontextprotocol/conformance'

const skip = missing('oidc-provider', '@modelcontextprotocol/sdk', '@modelcontextprotocol/client')
if (skip) console.log(`oauth-server: skipped: ${skip}`)
const load = (name) => skip ? {} : import(name)
const { default: Provider } = await load('oidc-provider')
const { createServer, jwksVerifier, oauthProxy } = await import('../../dist/index.js')

const sdk1 = {
  ...await load('@modelcontextprotocol/sdk/client/index.js'),
  ...await load('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ...await load('@modelcontextprotocol/sdk/client/auth.js'),
  finish: (transport, params) => transport.finishAuth(params.get('code')),
}
const client2 = {
  ...await load('@modelcontextprotocol/client'),
  finish: (transport, params) => transport.finishAuth(params),
}

const CALLBACK = 'http://127.0.0.1:1/callback'

async function startProvider(t, resource, more) {
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'first', use: 'sig', alg: 'RS256' }] },
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        getResourceServerInfo: () => ({
          scope: 'read', audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: 600,
          jwt: { sign: { alg: 'RS256' } },
        }),
        useGrantedResource: () => true,
      },
      ...more.features,
    },
    clients: more.clients ?? [],
    scopes: ['openid', 'offline_access', 'read'],
    cookies: { keys: ['some secret'] },
    findAccount: (_context, id) => (
      { accountId: id, claims: () => ({ sub: id, email: `${id}@example.com` }) }
    ),
    claims: { openid: ['sub', 'email'] },
  })
  const server = createHttpServer(provider.callback()).listen(port, '127.0.0.1')
  await new Promise((resolve) => { server.once('listening', resolve) })
  t.after(() => server.close().closeAllConnections())
  return issuer
}

/** A person with a browser: follows every redirect, fills in a login, and allows what is asked. */
async function browse(start, end = CALLBACK) {
  const cookies = new Map()
  let [url, form] = [new URL(start), undefined]
  for (let hops = 0; hops < 20; hops++) {
    if (url.href.startsWith(end)) return url.searchParams
    const jar = cookies.get(url.origin) ?? new Map()
    cookies.set(url.origin, jar)
    const response = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST', redirect: 'manual', body: form,
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)
      jar.set(name, value)
    }
    const location = response.headers.get('location')
    if (location !== null) {
      [url, form] = [new URL(location, url), undefined]
      continue
    }
    const page = await response.text()
    const action = /<form[^>]*action="([^"]*)"/.exec(page)?.[1]
    assert.ok(action !== undefined, `${url} ${response.status} ${page.slice(0, 500)}`)
    form = new URLSearchParams({ login: 'alice', password: 'x', decision: 'allow' })
    for (const [input] of page.matchAll(/<input[^>]*type="hidden"[^>]*>/g)) {
      const valueOf = (name) => new RegExp(`${name}="([^"]*)"`).exec(input)?.[1] ?? ''
      form.set(valueOf('name'), valueOf('value'))
    }
    url = new URL(action, url)
  }
  throw new Error('There is no end')
}

/** What a client keeps of its login, and where it was sent. */
class Login {
  redirectUrl = CALLBACK
  clientMetadata = {
    client_name: 'interop', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'], application_type: 'native',
  }
  sentTo
  #kept = new Map()

  constructor(clientMetadataUrl) { this.clientMetadataUrl = clientMetadataUrl }

  clientInformation() { return this.#kept.get('client') }
  saveClientInformation(client) { this.#kept.set('client', client) }
  tokens() { return this.#kept.get('tokens') }
  saveTokens(tokens) { this.#kept.set('tokens', tokens) }
  codeVerifier() { return this.#kept.get('verifier') }
  saveCodeVerifier(verifier) { this.#kept.set('verifier', verifier) }
  redirectToAuthorization(url) { this.sentTo = url }
}

const tools = [{
  name: 'who', description: 'Who calls.', inputSchema: { type: 'object' },
  run: (_args, { principal: { id, claims } }) => `${id} ${claims?.email ?? ''}`,
}]

async function callWho(t, resource, sdk = sdk1, authProvider = new Login()) {
  const { Client, StreamableHTTPClientTransport, UnauthorizedError, finish } = sdk
  const dial = () => new StreamableHTTPClientTransport(new URL(resource), { authProvider })
  const stranger = dial()
  await assert.rejects(new Client({ name: 'a', version: '1' }).connect(stranger), UnauthorizedError)
  await finish(stranger, await browse(authProvider.sentTo))
  const client = new Client({ name: 'a', version: '1' })
  await client.connect(dial())
  t.after(() => client.close())
  const { content: [{ text }] } = await client.callTool({ name: 'who', arguments: {} })
  return { text, authProvider }
}

const options = { skip, timeout: 120_000 }

test('tokens of a real authorization server are checked by its keys', options, async (t) => {
  const port = await freePort()
  const resource = `http://127.0.0.1:${port}/mcp`
  const issuer = await startProvider(t, resource, { features: { registration: { enabled: true } } })
  const server = createServer({
    tools, log: false, auth: {
      resource, authorizationServers: [issuer], scopes: ['read'],
      verify: jwksVerifier({ issuer, audience: resource }),
    },
  })
  await server.listen(port)
  t.after(() => server.close())
  const { text } = await callWho(t, resource)
  assert.equal(text, `token:${encodeURIComponent(issuer)}:alice `)
})

/** A server whose users log in at a provider that registers no clients. */
async function startProxy(t) {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const resource = `${origin}/mcp`
  const issuer = await startProvider(t, 'https://other.example', { clients: [{
    client_id: 'shop', client_secret: 'hush', redirect_uris: [`${origin}/oauth/callback`],
    grant_types: ['authorization_code', 'refresh_token'], token_endpoint_auth_method: 'client_secret_post',
  }] })
  const server = createServer({
    tools, log: false, auth: oauthProxy({
      resource, clientId: 'shop', clientSecret: 'hush', providerScopes: ['openid', 'offline_access'],
      authorizationEndpoint: `${issuer}/auth`, tokenEndpoint: `${issuer}/token`,
      parameters: { prompt: 'consent' }, clientIdMetadataDocuments: { allowPrivate: true },
      identify({ idToken }) {
        const { sub, email } = JSON.parse(Buffer.from(idToken.split('.')[1], 'base64url'))
        return { subject: sub, claims: { email: email ?? `${sub}@example.com` } }
      },
    }),
  })
  await server.listen(port)
  t.after(() => server.close())
  return { origin, resource }
}

/** Where a client describes itself, as ChatGPT does. A shared key spares a certificate. */
async function startDocument(t) {
  const asked = []
  const psk = Buffer.alloc(16, 7)
  const secret = { ciphers: 'PSK', maxVersion: 'TLSv1.2' }
  const server = https.createServer({ ...secret, pskCallback: () => psk }, (request, response) => {
    asked.push(request.url)
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({
      client_id: id, client_name: 'interop', redirect_uris: [CALLBACK], response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token'], token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const id = `https://localhost:${server.address().port}/client.json`
  const { request } = https
  t.mock.method(https, 'request', (url, options) => request(url, {
    ...options, ...secret, pskCallback: () => ({ psk, identity: 'interop' }), checkServerIdentity() {},
  }))
  return { id, asked }
}

test('a provider that registers no clients is behind a proxy', options, async (t) => {
  const { origin, resource } = await startProxy(t)
  const { text, authProvider } = await callWho(t, resource)
  assert.equal(text, `token:${encodeURIComponent(origin)}:alice alice@example.com`)
  const { refresh_token: refresh } = authProvider.tokens()
  assert.equal(typeof refresh, 'string')
  const { client_id } = authProvider.clientInformation()
  const renew = async (refresh_token) => {
    const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token, client_id })
    return (await fetch(`${origin}/oauth/token`, { method: 'POST', body })).json()
  }
  const callWith = async (token) => (
    await fetch(resource, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
  ).status
  const first = await renew(refresh)
  assert.equal(first.token_type, 'Bearer')
  // Its answer may have been lost.
  assert.equal((await renew(refresh)).token_type, 'Bearer')
  const last = await renew(first.refresh_token)
  assert.notEqual(await callWith(last.access_token), 401)
  assert.equal((await renew(refresh)).error, 'invalid_grant')
  assert.equal(await callWith(last.access_token), 401)
  assert.equal((await renew(last.refresh_token)).error, 'invalid_grant')
})

for (const [name, sdk] of [['sdk 1', sdk1], ['client 2', client2]]) {
  test(`${name} logs in by the address of its metadata document`, options, async (t) => {
    const { origin, resource } = await startProxy(t)
    const { id, asked } = await startDocument(t)
    const { text, authProvider } = await callWho(t, resource, sdk, new Login(id))
    assert.equal(text, `token:${encodeURIComponent(origin)}:alice alice@example.com`)
    assert.equal(authProvider.clientInformation().client_id, id)
    assert.equal(authProvider.sentTo.searchParams.get('client_id'), id)
    assert.deepEqual(asked, ['/client.json'])
  })
}

/** Runs the suite, with a browser where it asks for one; its checks. */
async function runSuite(t, origin, resource, clientId) {
  const out = mkdtempSync(join(tmpdir(), 'conformance-'))
  t.after(() => rmSync(out, { recursive: true, force: true }))
  const port = String(await freePort())
  const suite = spawn(node22(), [
    join(modules, SUITE, 'dist/index.js'), 'authorization', '--url', origin, '--client-id', clientId,
    '--resource', resource, '--port', port, '-o', out,
  ], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => suite.kill())
  const ended = once(suite, 'exit')
  let said = ''
  let browsed
  suite.stdout.on('data', (chunk) => {
    said += chunk
    const start = /^http\S+\/oauth\/authorize\?\S+(?=\n)/m.exec(said)?.[0]
    if (start === undefined || browsed !== undefined) return
    const end = `http://127.0.0.1:${port}/callback`
    browsed = browse(start, end).then((params) => fetch(`${end}?${params}`))
  })
  await ended
  await browsed
  return readdirSync(out).flatMap((folder) => (
    JSON.parse(readFileSync(join(out, folder, 'checks.json'), 'utf8'))
  ))
}

const noSuite = skip || missing(SUITE) || (node22() === undefined && 'no Node 22 to run the suite with')

test('the conformance suite for authorization servers passes', { ...options, skip: noSuite }, async (t) => {
  const { origin, resource } = await startProxy(t)
  const { id } = await startDocument(t)
  const registration = await fetch(`${origin}/oauth/register`, {
    method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [CALLBACK] }),
  })
  for (const clientId of [(await registration.json()).client_id, id]) {
    const checks = await runSuite(t, origin, resource, clientId)
    assert.ok(checks.length >= 3, `${checks.length} checks`)
    const bad = checks.filter(({ status }) => status !== 'SUCCESS')
    assert.deepEqual(bad.map(({ id, status, errorMessage }) => ({ id, status, errorMessage })), [])
  }
})
