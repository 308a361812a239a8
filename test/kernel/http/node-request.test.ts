import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer } from 'node:http'
import test from 'node:test'
import { dial, echo, jsonOf, serve } from '../../fixtures/client.ts'
import { portOf } from '../../fixtures/listening.ts'
import type { IncomingMessage } from 'node:http'
import type { TestContext } from 'node:test'
import type { ServerOptions } from '../../../lib/index.ts'

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
  ['/team/%zz', 400], ['/team/a%2fb', 400],
  ['/', 418], ['/health', 418], ['/teamwork', 418], ['/team%2fhealth', 418], ['/%zz', 418],
]

test('what is outside of the mount path is the host\'s to answer', async (t) => {
  const url = await mount(t, '', { mountPath: '/team' })
  for (const [path, status] of passed) assert.equal((await fetch(url + path)).status, status, path)
})

test('a socket that says that it is not encrypted is believed', async (t) => {
  const server = serve(t, { agents: [echo], protocol: 'a2a' })
  for (const [encrypted, scheme] of [[false, 'http'], [true, 'https']] as const) {
    const host = createServer((request, response) => {
      Object.assign(request.socket, { encrypted })
      server.handler(request, response)
    })
    const authority = `127.0.0.1:${await portOf(t, host)}`
    const card = await fetch(`http://${authority}/.well-known/agent-card.json`)
    const { url } = await card.json() as { url: string }
    assert.equal(new URL(url).origin, `${scheme}://${authority}`)
  }
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

test('what a host keeps for each request is there in its handler, and never that of another', async (t) => {
  const kept = new AsyncLocalStorage<string>()
  const agent = { name: 'Keeper', run: (prompt: string) => `${prompt.slice(0, 2)} in ${kept.getStore()}` }
  const server = serve(t, { agents: [agent], maxResultBytes: 4_000_000 })
  const host = createServer((request, response) => {
    kept.run(String(request.headers['x-number']), () => server.handler(request, response))
  })
  const port = await portOf(t, host)
  // Those that are long have to wait for each other.
  const answers = await Promise.all([1, 200_000, 1, 400_000, 300_000, 1].map(async (length, at) => (
    (await jsonOf(await fetch(`http://127.0.0.1:${port}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-number': String(at) },
      body: JSON.stringify({ query: `#${at}`.repeat(length) }),
    })))['response']
  )))
  assert.deepEqual(answers, answers.map((_answer, at) => `#${at} in ${at}`))
  // And those of one connection.
  const wire = await dial(t, port)
  const body = (at: number): string => `{"query":"#${at}"}`
  wire.send([6, 7, 8].map((at) => 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    + `X-Number: ${at}\r\nContent-Length: ${body(at).length}\r\n\r\n${body(at)}`).join(''))
  const answered = await wire.answers(3)
  const said = answered.map((answer) => /"response":"([^"]+)"/.exec(answer.body)?.[1])
  assert.deepEqual(said, ['#6 in 6', '#7 in 7', '#8 in 8'])
})
