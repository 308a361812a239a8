import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer } from 'node:http'
import test from 'node:test'
import { hostWith, portOf } from '../../fixtures/listening.ts'
import { dial, echo, jsonOf, serve } from '../../fixtures/kernel.ts'
import type { IncomingMessage } from 'node:http'
import type { TestContext } from 'node:test'
import type { ProbeOptions } from '../../fixtures/kernel.ts'

function mount(t: TestContext, at: string, options: ProbeOptions = {}): Promise<string> {
  return hostWith(t, serve(t, { agents: [echo], ...options }).handler, at)
}

const mounts: readonly (readonly [at: string, options: ProbeOptions, base: string])[] = [
  ['', {}, ''],
  ['/tools/agents', {}, '/tools/agents'],
  ['', { mountPath: '/team' }, '/team'],
  ['/tools', { mountPath: '/team' }, '/tools/team'],
]

test('below the prefix of a host a part reads where it is, with the prefix', async (t) => {
  for (const [at, options, base] of mounts) {
    const url = await mount(t, at, options)
    for (const path of ['/', '']) {
      assert.deepEqual(await jsonOf(await fetch(url + base + path)), { url: url + base, base })
    }
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
  const server = serve(t, { agents: [echo] })
  for (const [encrypted, scheme] of [[false, 'http'], [true, 'https']] as const) {
    const host = createServer((request, response) => {
      Object.assign(request.socket, { encrypted })
      server.handler(request, response)
    })
    const authority = `127.0.0.1:${await portOf(t, host)}`
    const { url } = await jsonOf(await fetch(`http://${authority}/`))
    assert.equal(new URL(String(url)).origin, `${scheme}://${authority}`)
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
    const { base } = await jsonOf(await fetch(`${url}/`))
    assert.equal(base, original === '/mount' ? '/mount' : '', original)
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
