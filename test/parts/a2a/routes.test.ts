import assert from 'node:assert/strict'
import test from 'node:test'
import { a2aLimits } from '../../../lib/parts/a2a/model/limits.ts'
import { a2aRoutes } from '../../../lib/parts/a2a/transport/routes.ts'
import { defineAgent } from '../../../lib/preset/define.ts'
import { createService } from '../../../lib/kernel/server/service.ts'
import { createServer, kernelOptionsOf } from '../../../lib/preset/create-server.ts'
import { request } from '../../fixtures/client.ts'
import { message, post } from './ask.ts'
import { serveA2a } from './caller.ts'
import type { TriportServer } from '../../../lib/preset/create-server.ts'
import type { ServerOptions } from '../../../lib/preset/options.ts'

const one = defineAgent({ name: 'One', run: (prompt) => `one: ${prompt}` })
const two = defineAgent({ name: 'Two Three', version: '2.0.0', run: (prompt) => `two: ${prompt}` })
const desk = { name: 'Desk', agents: [one, two] }

type Headed = Record<string, string>

function reach(server: TriportServer, method: string, path: string, headers?: Headed): Promise<Response> {
  return server.fetch(request(path, undefined, headers, method))
}

const cards = [
  '/.well-known/agent-card.json', '/.well-known/agent.json',
  '/a2a/.well-known/agent-card.json', '/a2a/.well-known/agent.json', '/a2a', '/a2a/',
]

test('the card is where any client looks for it, and always the same bytes', async (t) => {
  const server = serveA2a(t, { agents: [one, two] })
  for (const [base, name] of [['', 'One'], ['/agents/two-three', 'Two Three']] as const) {
    const texts = new Set<string>()
    for (const path of cards) {
      const response = await reach(server, 'GET', base + path)
      assert.equal(response.status, 200, base + path)
      assert.equal(response.headers.get('content-type'), 'application/json')
      texts.add(await response.text())
    }
    assert.deepEqual([...texts].map((text) => (JSON.parse(text) as Headed)['name']), [name])
  }
})

test('the root is the first agent, or the group where there is one', async (t) => {
  const rows: readonly (readonly [options: ServerOptions, path: string, name: string, said: string])[] = [
    [{ agents: [one, two] }, '', 'One', 'one: hi'],
    [{ agents: [one], groups: [desk] }, '', 'Desk', 'two: one: hi'],
    [{ groups: [desk] }, '/agents/desk', 'Desk', 'two: one: hi'],
    [{ groups: [desk] }, '/agents/one', 'One', 'one: hi'],
    [{ agents: [one, two] }, '/agents/two-three', 'Two Three', 'two: hi'],
    [{ agents: [one, two] }, '/agents/two_three', 'Two Three', 'two: hi'],
  ]
  for (const [options, base, name, said] of rows) {
    const server = serveA2a(t, options)
    for (const end of ['/a2a', '/a2a/']) {
      const { status, text } = await post(server, message('hi'), { path: base + end })
      assert.deepEqual([status, text], [200, said], base + end)
    }
    const card = await (await reach(server, 'GET', `${base}/a2a`)).json() as Headed
    assert.equal(card['name'], name)
    assert.equal(card['url'], `http://triport.test${base.replace('_', '-')}/a2a`)
  }
})

test('the status says ok, the name and the version', async (t) => {
  const server = serveA2a(t, { agents: [one, two], version: '1.2.3' })
  const rows = [['/status', 'One', '1.2.3'], ['/agents/two-three/status', 'Two Three', '2.0.0']] as const
  for (const [path, name, version] of rows) {
    assert.deepEqual(await (await reach(server, 'GET', path)).json(), { status: 'ok', name, version })
  }
})

test('an agent that is not there is 404, in the form of the path', async (t) => {
  const server = serveA2a(t, { agents: [one, two] })
  for (const path of ['/agents/none/a2a', '/agents/__proto__/a2a', '/agents/none/a2a/']) {
    const { status, id, code, error } = await post(server, message('hi'), { path })
    assert.deepEqual([status, id, code, error], [404, null, -32600, 'Invalid request'], path)
  }
  for (const path of ['/status', ...cards]) {
    const response = await reach(server, 'GET', `/agents/none${path}`)
    assert.equal(response.status, 404, path)
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
  }
})

test('a method that a path has not is 405 with those that it has', async (t) => {
  const server = serveA2a(t, { agents: [one, two] })
  for (const path of ['/a2a', '/a2a/', '/agents/one/a2a']) {
    const response = await reach(server, 'PUT', path)
    const data = { detail: 'This path answers POST, GET, HEAD' }
    const error = { code: -32600, message: 'Invalid request', data }
    assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST, GET, HEAD'])
    assert.deepEqual(await response.json(), { jsonrpc: '2.0', id: null, error })
  }
  for (const path of ['/status', '/.well-known/agent.json']) {
    const response = await reach(server, 'DELETE', path)
    assert.deepEqual([response.status, response.headers.get('allow')], [405, 'GET, HEAD'])
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
  }
})

test('messages need the key before their body is looked at; cards and status are open', async (t) => {
  const server = serveA2a(t, { agents: [one], apiKey: 'key-of-ann', maxBodyBytes: 1024 })
  for (const path of ['/status', ...cards]) {
    for (const headers of [{}, { 'x-api-key': 'wrong' }]) {
      assert.equal((await reach(server, 'GET', path, headers)).status, 200, path)
      assert.equal((await reach(server, 'GET', `/agents/one${path}`, headers)).status, 200, path)
    }
  }
  const bodies: readonly unknown[] = [message('hi'), '{', message('x'.repeat(2000))]
  const wrong: readonly Headed[] = [
    {}, { 'x-api-key': 'wrong' }, { 'x-api-key': '' }, { authorization: 'Bearer wrong' },
    { authorization: 'Basic key-of-ann' }, { 'x-api-key': 'key-of-ann', 'authorization': 'Bearer wrong' },
    { 'content-type': 'text/plain' },
  ]
  const right: readonly Headed[] = [{ 'x-api-key': 'key-of-ann' }, { authorization: 'bearer key-of-ann' }]
  for (const path of ['/a2a', '/a2a/', '/agents/one/a2a', '/agents/none/a2a']) {
    for (const headers of wrong) {
      for (const body of bodies) {
        const asked = await post(server, body, { headers, path })
        const { status, id, code, error } = asked
        assert.deepEqual([status, id, code, error], [401, null, -32600, 'Invalid request'], path)
        assert.equal(asked.headers.get('www-authenticate'), 'Bearer realm="One"')
      }
    }
    for (const headers of right) {
      const { status } = await post(server, message('hi'), { headers, path })
      assert.equal(status, path.includes('none') ? 404 : 200, path)
    }
  }
  assert.equal((await post(server, message('hi'), { path: '/a2a?api_key=key-of-ann' })).status, 401)
})

test('pages of other origins may read the cards and the status, and send no messages', async (t) => {
  const server = serveA2a(t, { agents: [one, two] })
  const origin = 'https://evil.example'
  for (const path of ['/status', '/.well-known/agent.json', '/a2a/']) {
    const response = await reach(server, 'GET', path, { origin })
    assert.deepEqual([response.status, response.headers.get('access-control-allow-origin')], [200, '*'], path)
  }
  const refused = await post(server, message('hi'), { headers: { origin } })
  assert.deepEqual([refused.status, refused.id, refused.code], [403, null, -32600])
  assert.equal(refused.headers.get('access-control-allow-origin'), null)
  for (const path of ['/a2a', '/a2a/', '/agents/one/a2a']) {
    const asking = { origin, 'access-control-request-method': 'POST' }
    const preflight = await reach(server, 'OPTIONS', path, asking)
    assert.equal(preflight.headers.get('access-control-allow-origin'), null, path)
  }
})

test('with cors, the pages that are named may send messages', async (t) => {
  const server = serveA2a(t, { agents: [one], cors: ['https://app.example'] })
  const origin = 'https://app.example'
  const preflight = await reach(server, 'OPTIONS', '/a2a', {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type, x-api-key, a2a-version',
  })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-origin'), origin)
  assert.equal(preflight.headers.get('access-control-allow-headers'), 'content-type, x-api-key, a2a-version')
  const { status, headers } = await post(server, message('hi'), { headers: { origin } })
  assert.deepEqual([status, headers.get('access-control-allow-origin')], [200, origin])
})

test('beside the other doors, and below a mount path, everything is where it was', async (t) => {
  const server = serveA2a(t, { agents: [one, two], protocol: 'all', mountPath: '/bots' })
  for (const path of ['/a2a', '/agents/two-three/a2a']) {
    assert.equal((await post(server, message('hi'), { path: `/bots${path}` })).status, 200)
  }
  for (const path of ['/status', ...cards, '/health']) {
    assert.equal((await reach(server, 'GET', `/bots${path}`)).status, 200, path)
  }
  assert.equal((await reach(server, 'GET', '/.well-known/agent.json')).status, 404)
})

test('the description of the server has every path of the door, once per agent', async (t) => {
  const server = serveA2a(t, { agents: [one, two] })
  const document = await (await reach(server, 'GET', '/openapi.json')).json() as {
    paths: Record<string, Record<string, { tags: string[]; summary: string }>>
  }
  for (const base of ['', '/agents/one', '/agents/two-three']) {
    assert.deepEqual(Object.keys(document.paths[`${base}/a2a`] ?? {}), ['post', 'get'])
    for (const path of ['/status', ...cards.filter((card) => !card.endsWith('/'))]) {
      const operation = document.paths[base + path]?.['get']
      assert.deepEqual(operation?.tags, ['A2A'], base + path)
    }
  }
})

test('a server of resources alone has nobody to send messages to', (t) => {
  const resource = { uri: 'docs://a', name: 'a', read: () => 'a' }
  const options = { agents: [], resources: [resource] }
  assert.throws(() => serveA2a(t, options), (error) => error instanceof TypeError
    && error.message.includes(`protocol 'a2a' needs an agent or a tool`))
  const all = createServer({ ...options, protocol: 'all', log: false })
  assert.ok(all.protocols.length > 0 && !all.protocols.includes('a2a'))
})

test('an endpoint refuses in its own form, whatever the reason', () => {
  const { service, seal } = createService(kernelOptionsOf({ agents: [one], log: false }))
  const { endpoints } = a2aRoutes(service, { takesKeys: () => true }, a2aLimits.defaults, seal)
  for (const endpoint of endpoints) {
    for (const status of [400, 401, 403, 405, 408, 413, 415, 429, 500, 503]) {
      const reply = endpoint.refuse({ status, detail: 'why', requestId: 'r', headers: ['Retry-After', '1'] })
      assert.deepEqual([reply.status, reply.headers], [status, ['Retry-After', '1']])
      const body = JSON.parse(String(reply.body)) as { id?: unknown; error: unknown }
      if (/\/a2a\/?$/.test(endpoint.path) && endpoint.methods[0] === 'POST') {
        const [code, message] = status === 415 ? [-32005, 'Incompatible content types']
          : status < 500 ? [-32600, 'Invalid request'] : [-32603, 'Internal error']
        const error = { code, message, data: { detail: 'why' } }
        assert.deepEqual(body, { jsonrpc: '2.0', id: null, error })
      } else if (/\/(?:extendedAgentCard$|message:|tasks(?:\/|$))/.test(endpoint.path)) {
        const { code, message } = body.error as { code: number; message: string }
        assert.deepEqual([reply.type, code, message], ['application/json', status, 'why'])
      } else {
        assert.deepEqual([reply.type, body.error], ['application/problem+json', 'why'])
      }
    }
  }
})

test('over a socket, a client asks and is answered, and one that hangs up ends its run', async (t) => {
  let ended = (): void => {}
  const aborted = new Promise<void>((resolve) => { ended = resolve })
  let began = (): void => {}
  const running = new Promise<void>((resolve) => { began = resolve })
  const server = serveA2a(t, {
    apiKey: 'key-of-ann',
    agents: [(prompt, { signal }) => {
      if (prompt !== 'wait') return `You said ${prompt}`
      signal.addEventListener('abort', ended)
      began()
      return new Promise(() => {})
    }],
  })
  const { url } = await server.listen(0)
  const send = (text: string, signal: AbortSignal | null = null): Promise<Response> => fetch(`${url}/a2a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'key-of-ann' },
    body: JSON.stringify(message(text)),
    signal,
  })
  const answer = await (await send('hello')).json() as { id: string; result: { message: { parts: unknown } } }
  assert.equal(answer.id, '1')
  assert.deepEqual(answer.result.message.parts, [{ type: 'text', text: 'You said hello' }])
  const leaving = new AbortController()
  const left = assert.rejects(send('wait', leaving.signal))
  await running
  leaving.abort()
  await Promise.all([aborted, left])
  const card = await (await fetch(`${url}/.well-known/agent.json`)).json() as { url: string }
  assert.equal(card.url, `${url}/a2a`)
})
