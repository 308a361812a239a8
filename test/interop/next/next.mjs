/**
 * The server in a route handler of Next.js, built and started as its users do. Skips itself, and says so,
 * where that is not installed.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { freePort, root } from '../start.mjs'

const here = fileURLToPath(new URL('./', import.meta.url))
const program = `${here}node_modules/next/dist/bin/next`
const skip = !existsSync(program) && 'Next is not installed; run npm ci in test/interop/next first'
if (skip) console.log(`next: skipped: ${skip}`)

/** The program of the guide. */
const chapter = readFileSync(`${root}lib/guide/embedding.md`, 'utf8')
const [, ofGuide = ''] = /^## Next$[^]*?^```ts\n([^]*?)^```$/m.exec(chapter) ?? []

const json = { 'content-type': 'application/json' }

/** Runs a command of Next's. */
function next(...args) {
  return spawn(process.execPath, [program, ...args], {
    cwd: here, stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
  })
}

test('in a route handler of Next, all is where it should be', { skip, timeout: 300_000 }, async (t) => {
  // As a package: its bundler does not look outside of the project.
  rmSync(`${here}node_modules/triport`, { recursive: true, force: true })
  cpSync(`${root}dist`, `${here}node_modules/triport/dist`, { recursive: true })
  cpSync(`${root}package.json`, `${here}node_modules/triport/package.json`)
  const guided = `${here}app/guide`
  t.after(() => rmSync(guided, { recursive: true, force: true }))
  mkdirSync(`${guided}/[[...path]]`, { recursive: true })
  const route = ofGuide.replace('/agents', '/guide').replace(': Request', '')
  writeFileSync(`${guided}/[[...path]]/route.js`, route)
  const [code] = await once(next('build'), 'exit')
  assert.equal(code, 0)
  const port = await freePort()
  const child = next('start', '-p', String(port), '-H', '127.0.0.1')
  t.after(async () => {
    if (child.exitCode === null && child.kill()) await once(child, 'exit')
  })
  const origin = `http://127.0.0.1:${port}`
  const at = `${origin}/agents`
  for (const end = performance.now() + 60_000; ;) {
    const answer = await fetch(`${origin}/own`).catch(() => undefined)
    if (answer !== undefined) {
      assert.equal(await answer.text(), 'own')
      break
    }
    assert.ok(performance.now() < end && child.exitCode === null, 'it listens')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const get = async (path) => (await fetch(at + path)).json()
  const post = (body, more = {}) => fetch(at, {
    method: 'POST', headers: json, body: JSON.stringify(body), ...more,
  })
  const said = async (query) => (await (await post({ query })).json()).response

  assert.equal((await fetch(`${origin}/elsewhere`)).status, 404)
  assert.equal((await get('/health')).endpoints[0], '/agents/')
  const answer = await fetch(`${origin}/guide`, { method: 'POST', headers: json, body: '{"query":"hi"}' })
  assert.equal((await answer.json()).response, 'You said: hi')
  assert.equal(new URL((await get('/openapi.json')).servers[0].url).pathname, '/agents')
  assert.equal(await said('hello'), 'You said hello')
  assert.match(await (await post({ query: 'hello', stream: true })).text(), /event: done\n/)
  assert.equal((await post({ query: 'x'.repeat(60_000) })).status, 413)
  const initialize = {
    jsonrpc: '2.0', id: 1, method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
  }
  const begun = await fetch(`${at}/mcp`, {
    method: 'POST', headers: { ...json, accept: 'application/json, text/event-stream' },
    body: JSON.stringify(initialize),
  })
  assert.equal(begun.status, 200)
  const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') }
  assert.equal((await fetch(`${at}/mcp`, { method: 'DELETE', headers: session })).status, 200)

  const leaving = new AbortController()
  const stream = await post({ query: 'stay', stream: true }, { signal: leaving.signal })
  await stream.body.getReader().read()
  leaving.abort()
  for (const end = performance.now() + 10_000; await said('left?') !== '1';) {
    assert.ok(performance.now() < end, 'a client that leaves ends its run')
  }
})
