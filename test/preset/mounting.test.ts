import assert from 'node:assert/strict'
import test from 'node:test'
import { createServer } from '../../lib/index.ts'
import { echo, jsonOf, serve } from '../fixtures/client.ts'
import { hostWith } from '../fixtures/listening.ts'
import type { ServerOptions } from '../../lib/index.ts'

const mounts: readonly (readonly [at: string, options: Partial<ServerOptions>, base: string])[] = [
  ['', {}, ''],
  ['/tools/agents', {}, '/tools/agents'],
  ['', { mountPath: '/team' }, '/team'],
  ['/tools', { mountPath: '/team' }, '/tools/team'],
]

test('below the prefix of a host everything names itself with it', async (t) => {
  for (const [at, options, base] of mounts) {
    const url = await hostWith(t, serve(t, { agents: [echo], protocol: 'all', ...options }).handler, at)
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

test('a handler without a request and a response of Node says where they are', () => {
  const { handler } = createServer({ agents: [() => 'hi'], log: false })
  const message = /^handler takes a request and a response of Node; with Fastify, pass request\.raw and reply/
  for (const given of [[], [undefined, {}], [{ rawHeaders: [] }], [{}, {}]]) {
    assert.throws(() => Reflect.apply(handler, undefined, given), { name: 'TypeError', message })
  }
})
