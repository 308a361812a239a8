import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import test from 'node:test'
import { echo, jsonOf, serve } from '../fixtures/client.ts'
import { portOf } from '../fixtures/listening.ts'
import type { IncomingMessage } from 'node:http'
import type { TestContext } from 'node:test'
import type { ServerOptions } from '../../lib/index.ts'

/** A host that mounts the server below a path, as Connect and Express do, and answers what it is passed. */
async function mount(t: TestContext, at: string, options: Partial<ServerOptions> = {}): Promise<string> {
  const server = serve(t, { agents: [echo], protocol: 'all', ...options })
  const host = createServer((request: IncomingMessage & { originalUrl?: string }, response) => {
    const { url = '/' } = request
    if (!url.startsWith(at)) return response.writeHead(410).end()
    const rest = url.slice(at.length)
    request.originalUrl = url
    request.url = rest.startsWith('/') ? rest : `/${rest}`
    server.handler(request, response, () => response.writeHead(418).end('the host'))
  })
  return `http://127.0.0.1:${await portOf(t, host)}`
}

const mounts: readonly (readonly [at: string, options: Partial<ServerOptions>, base: string])[] = [
  ['', {}, ''],
  ['/tools/agents', {}, '/tools/agents'],
  ['', { mountPath: '/team' }, '/team'],
  ['/tools', { mountPath: '/team' }, '/tools/team'],
]

test('below the prefix of a host everything names itself with it', async (t) => {
  for (const [at, options, base] of mounts) {
    const url = await mount(t, at, options)
    const json = async (path: string): ReturnType<typeof jsonOf> => jsonOf(await fetch(url + base + path))
    assert.equal((await json('/'))['docs'], `${base}/docs`)
    assert.equal((await json(''))['docs'], `${base}/docs`)
    assert.equal(String((await json('/health?a=/b'))['endpoints']).split(',')[0], `${base}/`)
    assert.deepEqual((await json('/openapi.json'))['servers'], [{ url: url + base }])
    assert.equal((await json('/.well-known/agent-card.json'))['url'], `${url}${base}/a2a`)
    const browser = await fetch(`${url}${base}/`, { headers: { accept: 'text/html' }, redirect: 'manual' })
    assert.equal(browser.headers.get('location'), `${base}/docs`)
    const events = await fetch(`${url}${base}/sse`, { headers: { accept: 'text/event-stream' } })
    const { value } = await events.body!.getReader().read()
    assert.ok(Buffer.from(value ?? []).toString().includes(`data: ${base}/messages/?session_id=`))
    const said = await fetch(url + base, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"hello"}',
    })
    assert.equal((await said.json() as { response: string }).response, 'You said hello')
  }
})

const passed: readonly (readonly [path: string, status: number])[] = [
  ['/team', 200], ['/team/', 200], ['/team/health', 200], ['/team/nothing', 404],
  ['/', 418], ['/health', 418], ['/teamwork', 418], ['/team%2fhealth', 418], ['/%zz', 418],
]

test('what is outside of the mount path is the host\'s to answer', async (t) => {
  const url = await mount(t, '', { mountPath: '/team' })
  for (const [path, status] of passed) assert.equal((await fetch(url + path)).status, status, path)
})

test('without a mount path nothing is outside', async (t) => {
  const url = await mount(t, '')
  assert.equal((await fetch(`${url}/nothing`)).status, 404)
})

test('what a host calls its prefix is not believed where it is none', async (t) => {
  const server = serve(t, { agents: [echo] })
  let original = ''
  const host = createServer((request: IncomingMessage & { originalUrl?: string }, response) => {
    request.originalUrl = original
    server.handler(request, response)
  })
  const url = `http://127.0.0.1:${await portOf(t, host)}`
  for (original of ['//evil.example/', '/a b/', '/"<script>/', 'http://evil.example/', '/a\\b/', '/mount']) {
    const { docs } = await (await fetch(`${url}/`)).json() as { docs: string }
    assert.equal(docs, original === '/mount' ? '/mount/docs' : '/docs', original)
  }
})
