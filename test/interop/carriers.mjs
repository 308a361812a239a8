/**
 * The handler over HTTP/2 and TLS, asked by curl, which has an HTTP/2 of its own, and over https by the
 * official TypeScript SDK. Skips itself, and says so, where one of them is not there.
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http2 from 'node:http2'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { missing } from './start.mjs'

const run = promisify(execFile)

/** What a program says of itself; undefined where there is none. */
function said(program, ...args) {
  try {
    return execFileSync(program, args, { encoding: 'utf8' })
  } catch {
    return undefined
  }
}

const noCurl = !/\bHTTP2\b/.test(said('curl', '--version') ?? '') && 'this machine has no curl with HTTP/2'
const noKey = said('openssl', 'version') === undefined && 'this machine has no openssl'
const noSdk = missing('@modelcontextprotocol/sdk')
for (const skip of [noCurl, noKey, noSdk]) if (skip) console.log(`carriers: skipped in part: ${skip}`)

function certificate() {
  const folder = mkdtempSync(join(tmpdir(), 'triport-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  execFileSync('openssl', [
    'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1',
    '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', cert,
  ], { stdio: 'ignore' })
  const pair = { key: readFileSync(key), cert: readFileSync(cert) }
  rmSync(folder, { recursive: true })
  return pair
}

async function serve(t, make) {
  const { createServer } = await import('../../dist/index.js')
  const { handler } = createServer({
    agents: [{ name: 'Echo', async *run(prompt) { yield 'You said '; yield prompt } }],
    tools: [{ name: 'echo', inputSchema: { type: 'object' }, run: ({ text }) => String(text) }],
    protocol: 'all', log: false, maxBodyBytes: 100_000,
  })
  const listening = make(handler).listen(0, 'localhost')
  t.after(() => listening.close())
  await once(listening, 'listening')
  return listening.address().port
}

/** Asks with curl; the version of HTTP, the status and the body that came. */
async function curl(args) {
  const { stdout } = await run('curl', ['-s', '-S', '-k', '-w', '\n%{http_version} %{http_code}', ...args])
  const end = stdout.lastIndexOf('\n')
  const [version, status] = stdout.slice(end + 1).split(' ')
  return { version, status: Number(status), body: stdout.slice(0, end) }
}

const json = ['-H', 'Content-Type: application/json']
const accept = ['-H', 'Accept: application/json, text/event-stream']
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const message = {
  jsonrpc: '2.0', id: 1, method: 'message/send',
  params: { message: { role: 'user', parts: [{ text: 'hello' }] } },
}

const asked = [
  ['the HTTP door', '/', [...json, '-d', '{"query":"hello"}'], 200, /"response":"You said hello"/],
  ['its events', '/', [...json, '-d', '{"query":"hello","stream":true}'], 200, /event: done\ndata: /],
  ['MCP', '/mcp', [...json, ...accept, '-d', JSON.stringify(list)], 200, /"name":"echo"/],
  ['A2A', '/a2a', [...json, '-d', JSON.stringify(message)], 200, /You said hello/],
  ['a card', '/.well-known/agent-card.json', [], 200, /"name":"Echo"/],
  ['a large reply', '/', [...json, '-d', `{"query":"${'x'.repeat(90_000)}"}`], 200, /You said x{90000}/],
]

const secure = (handler) => http2.createSecureServer({ ...certificate(), allowHTTP1: true }, handler)
const tls = noCurl || noKey
const carriers = [
  ['HTTP/2 in the clear', 'http', ['--http2-prior-knowledge'], '2',
    (handler) => http2.createServer(handler), noCurl],
  ['HTTP/2 over TLS', 'https', ['--http2'], '2', secure, tls],
  ['HTTP/1.1 at a server of HTTP/2', 'https', ['--http1.1'], '1.1', secure, tls],
  ['https', 'https', ['--http1.1'], '1.1', (handler) => https.createServer(certificate(), handler), tls],
]

for (const [name, scheme, flags, expected, make, skip] of carriers) {
  test(`curl asks every door over ${name}`, { skip }, async (t) => {
    const port = await serve(t, make)
    for (const [what, path, args, expectedStatus, pattern] of asked) {
      const url = `${scheme}://localhost:${port}${path}`
      const { version, status, body } = await curl([...flags, ...args, url])
      assert.deepEqual([version, status], [expected, expectedStatus], what)
      assert.match(body, pattern, what)
    }
  })
}

test('the SDK lists and calls over https', { skip: noSdk || noKey }, async (t) => {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  // The certificate is nobody's but this test's.
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  t.after(() => { delete process.env.NODE_TLS_REJECT_UNAUTHORIZED })
  const port = await serve(t, (handler) => https.createServer(certificate(), handler))
  const client = new Client({ name: 'interop', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`https://localhost:${port}/mcp`)))
  const { tools } = await client.listTools()
  assert.ok(tools.some((tool) => tool.name === 'echo'))
  const { content } = await client.callTool({ name: 'echo', arguments: { text: 'over TLS' } })
  assert.equal(content[0].text, 'over TLS')
  await client.close()
})
