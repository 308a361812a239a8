/**
 * `server.fetch` in hosts of web requests, driven over their sockets: bodies with a length and without one,
 * streams, and clients that leave. A host that is not installed here skips itself, and says so.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { missing } from './start.mjs'

const here = fileURLToPath(new URL('./', import.meta.url))

/** Starts a program that prints its port. */
async function spawned(t, program, ...args) {
  const child = spawn(`${here}node_modules/.bin/${program}`, [...args, `${here}web-host.mjs`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(async () => {
    if (child.exitCode === null && child.kill()) await once(child, 'exit')
  })
  for await (const line of createInterface(child.stdout)) return `http://127.0.0.1:${Number(line)}`
  assert.fail(`${program} ended before it listened`)
}

async function hono(t) {
  const { Hono } = await import('hono')
  const { createAdaptorServer } = await import('@hono/node-server')
  const { answer } = await import('./web-host.mjs')
  const app = new Hono()
  app.all('*', ({ req }) => answer(req.raw))
  const server = createAdaptorServer({ fetch: app.fetch })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => { server.closeAllConnections(); server.close() })
  return `http://127.0.0.1:${server.address().port}`
}

async function workers(t) {
  const { Miniflare } = await import('miniflare')
  const dist = `${here}../../dist/`
  const modules = readdirSync(dist, { recursive: true }).filter((file) => file.endsWith('.js'))
  const runtime = new Miniflare({
    modules: [[`${here}web-host.mjs`, 'test/interop/web-host.mjs'], ...modules.map((file) => (
      [dist + file, `dist/${file}`]
    ))].map(([file, path]) => ({ type: 'ESModule', path, contents: readFileSync(file, 'utf8') })),
    compatibilityDate: '2026-07-01',
    compatibilityFlags: ['nodejs_compat'],
  })
  t.after(() => runtime.dispose())
  return String(await runtime.ready).replace(/\/$/, '')
}

/** Its name, its packages, how it starts, and whether it tells that a client has left. */
const hosts = [
  ['Hono on Node', ['hono', '@hono/node-server'], hono, true],
  ['Bun', ['bun'], (t) => spawned(t, 'bun', 'run'), true],
  ['Deno', ['deno'], (t) => spawned(t, 'deno', 'run', '-A'), true],
  // It stops what a request has begun together with the request, and tells nobody.
  ['a workers\' runtime', ['miniflare'], workers, false],
]

/** A body without a length. */
const inPieces = (text) => ({ body: new Blob([text.slice(0, 9), text.slice(9)]).stream(), duplex: 'half' })

for (const [name, packages, start, tells] of hosts) {
  const skip = missing(...packages)
  if (skip) console.log(`web-hosts: ${name} skipped: ${skip}`)
  test(`in ${name}, fetch takes bodies of every kind`, { skip, timeout: 120_000 }, async (t) => {
    const at = await start(t)
    const post = (path, body, more = {}) => fetch(at + path, {
      method: 'POST', ...inPieces(JSON.stringify(body)),
      ...more, headers: { 'content-type': 'application/json', ...more.headers },
    })
    const said = async (body, more) => (await (await post('/', body, more)).json()).response

    assert.equal(await said({ query: 'whole' }, { body: '{"query":"whole"}' }), 'You said whole')
    assert.equal(await said({ query: 'pieces' }), 'You said pieces')
    const streamed = await (await post('/', { query: 'stream', stream: true })).text()
    assert.match(streamed, /event: done\ndata: \{"response":"You said stream"/)
    assert.equal(await said({ query: 'large', rows: 'x'.repeat(1_000_000) }), 'You said large')
    assert.equal((await post('/', { query: 'x'.repeat(2_100_000) })).status, 413)
    const handshake = await post('/mcp', {
      jsonrpc: '2.0', id: 1, method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
    }, { headers: { accept: 'application/json, text/event-stream' } })
    assert.equal(handshake.status, 200)
    assert.match(await handshake.text(), /"protocolVersion":"2025-11-25"/)

    if (!tells) return
    const leaving = new AbortController()
    const stream = await post('/', { query: 'stay', stream: true }, { signal: leaving.signal })
    await stream.body.getReader().read()
    leaving.abort()
    for (const end = performance.now() + 10_000; await said({ query: 'left?' }) !== '1';) {
      assert.ok(performance.now() < end, 'a client that leaves ends its run')
    }
  })
}
