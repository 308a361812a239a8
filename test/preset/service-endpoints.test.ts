import assert from 'node:assert/strict'
import test from 'node:test'
import { memoryStore } from '../../lib/index.ts'
import { frameworks } from '../../lib/adapters/frameworks.ts'
import { kernelServer } from '../../lib/kernel/server/server.ts'
import { problemReply } from '../../lib/kernel/wire/problem.ts'
import { docs } from '../../lib/parts/docs/part.ts'
import { echo, eventually, jsonOf, request, serve } from '../fixtures/client.ts'
import type { Endpoint, EndpointAbout } from '../../lib/kernel/http/message/exchange.ts'
import type { ServerOptions, Store } from '../../lib/index.ts'

const chat = [
  '/v1/models', '/v1/chat/completions', '/v1/responses', '/v1/responses/compact', '/agui', '/ui-stream',
]
const common = ['/', '/health', '/healthz', '/ready', '/docs', '/llms.txt', '/openapi.json']

test('the root welcomes, and names every path that has no name in it', async (t) => {
  const server = serve(t, { agents: [echo], name: 'Echo House', path: '/ask', protocol: 'http' })
  const response = await server.fetch(request('/'))
  assert.equal(response.headers.get('content-type'), 'application/json')
  assert.deepEqual(await jsonOf(response), {
    message: 'Welcome to Echo House. See /docs for usage.',
    endpoints: [...common, '/agents', '/ask', '/agents/list', '/ask/list', ...chat],
    docs: '/docs',
    query: 'POST / asks Echo',
  })
})

test('the root says what a query to it runs, where queries are served', async (t) => {
  const [ann, bob] = [{ name: 'Ann', run: () => '' }, { name: 'Bob', run: () => '' }]
  const rows: readonly (readonly [options: ServerOptions, asks: string | undefined])[] = [
    [{ agents: [ann] }, 'POST / asks Ann'],
    [{ agents: [ann, bob] }, 'POST / asks Ann, the first of 2 agents; the others at /agents/<id>'],
    [{ groups: [{ name: 'Desk', agents: [ann, bob] }] }, 'POST / asks Desk: Ann, then Bob'],
    [{ groups: [{ name: 'Desk', agents: [ann, bob], mode: 'parallel' }], mountPath: '/team' },
      'POST /team/ asks Desk: Ann and Bob at once'],
    [{ groups: [{ name: 'Desk', agents: [ann, bob], mode: () => 'ann' }] },
      'POST / asks Desk: its function picks from Ann, Bob'],
    [{ agents: [ann], protocol: 'mcp' }, undefined],
    [{ tools: [{ name: 'add', run: () => 3 }], protocol: 'http' }, undefined],
  ]
  for (const [options, asks] of rows) {
    const server = serve(t, options)
    const { query } = await jsonOf(await server.fetch(request(`${options.mountPath ?? ''}/`)))
    assert.equal(query, asks)
  }
})

/** What is served by plain HTTP, and the paths that are named for it. */
const offers: readonly (readonly [options: ServerOptions, paths: readonly string[]])[] = [
  [{ tools: [{ name: 'add', run: () => 3 }] }, ['/tools']],
  [{ prompts: [{ name: 'p', get: () => '' }] }, ['/prompts']],
  [{ resources: [{ uri: 'a:b', name: 'b', read: () => '' }] }, ['/resources', '/resources/read']],
  [{ agents: [echo], tools: [{ name: 'add', run: () => 3 }] },
    ['/agents', '/agents/list', '/tools', ...chat]],
]

test('only what is offered is named, and what comes and goes with it', async (t) => {
  for (const [options, paths] of offers) {
    const server = serve(t, { ...options, protocol: 'http' })
    for (const path of ['/', '/health']) {
      assert.deepEqual(
        (await jsonOf(await server.fetch(request(path))))['endpoints'], [...common, ...paths],
      )
    }
    for (const path of paths) assert.notEqual((await server.fetch(request(path))).status, 404, path)
  }
  const server = serve(t, { ...offers[0]![0], protocol: 'http' })
  const named = async (): Promise<unknown> => (await jsonOf(await server.fetch(request('/'))))['endpoints']
  server.catalog.add({ name: 'Late', run: () => '' })
  assert.deepEqual(await named(), [...common, ...offers.at(-1)![1]])
  server.catalog.remove('agent', 'late')
  assert.deepEqual(await named(), [...common, '/tools'])
})

const browsers: readonly (readonly [accept: string | undefined, location: string | null])[] = [
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', '/docs'],
  ['text/html', '/docs'],
  ['*/*', null],
  [undefined, null],
  ['application/json', null],
  ['application/json, text/html', null],
  ['application/json, text/html;q=0.9', null],
]

test('a browser is sent to the docs, everybody else is welcomed', async (t) => {
  const server = serve(t, { agents: [echo] })
  for (const [accept, location] of browsers) {
    const response = await server.fetch(request('/', undefined, accept === undefined ? {} : { accept }))
    assert.equal(response.status, location === null ? 200 : 303, accept)
    assert.equal(response.headers.get('location'), location)
    assert.match(String(response.headers.get('vary')), /Accept/)
  }
})

test('health says what is up, in two spellings', async (t) => {
  const server = serve(t, { agents: [echo], version: '2.3.4', protocol: 'http' })
  for (const path of ['/health', '/healthz']) {
    assert.deepEqual(await jsonOf(await server.fetch(request(path))), {
      status: 'ok', endpoints: [...common, '/agents', '/agents/list', ...chat], name: 'Echo',
      version: '2.3.4',
    })
  }
})

test('what a shared store is like is told, and a server without its store stays ready', async (t) => {
  const memory = memoryStore({ isShared: true })
  let isSilent = false
  const read: Store['read'] = (key) => isSilent ? new Promise(() => {}) : memory.read(key)
  const store: Store = { ...memory, isShared: true, read }
  const server = serve(t, { agents: [echo], store, metrics: true, storeTimeoutMs: 10 })
  const told = async (): Promise<readonly unknown[]> => [
    await jsonOf(await server.fetch(request('/ready'))),
    (await jsonOf(await server.fetch(request('/health?verbose'))))['store'],
    /^triport_store_up (\d)$/m.exec(await (await server.fetch(request('/metrics'))).text())?.[1],
    server.status().store,
  ]
  assert.deepEqual(await told(), [{ status: 'ready', store: 'reached' }, 'reached', '1', 'reached'])
  assert.equal((await jsonOf(await server.fetch(request('/health'))))['store'], undefined)
  isSilent = true
  await eventually(async () => {
    const asked = await server.fetch(request('/', { query: 'Hi', session_id: 'conversation-1' }))
    return asked.status === 503 && server.status().store === 'away'
  })
  assert.deepEqual(await told(), [{ status: 'ready', store: 'away' }, 'away', '0', 'away'])
  const alone = serve(t, { agents: [echo], metrics: true })
  assert.equal(alone.status().store, undefined)
  assert.equal((await jsonOf(await alone.fetch(request('/health?verbose'))))['store'], undefined)
  assert.doesNotMatch(await (await alone.fetch(request('/metrics'))).text(), /store_up/)
})

test('a server is ready until it closes', async (t) => {
  const server = serve(t, { agents: [echo] })
  assert.deepEqual(await jsonOf(await server.fetch(request('/ready'))), { status: 'ready' })
  await server.close()
  const response = await server.fetch(request('/ready'))
  assert.equal(response.status, 503)
  assert.equal(response.headers.get('retry-after'), '1')
  assert.equal((await server.fetch(request('/health'))).status, 200)
})

test('below a mount path everything names itself with it', async (t) => {
  const server = serve(t, { agents: [echo], mountPath: '/team/echo', protocol: 'http' })
  for (const path of ['/team/echo', '/team/echo/']) {
    const { message, endpoints, docs } = await jsonOf(await server.fetch(request(path)))
    assert.equal(message, 'Welcome to Echo. See /team/echo/docs for usage.')
    assert.equal(docs, '/team/echo/docs')
    assert.deepEqual((endpoints as string[]).slice(0, 2), ['/team/echo/', '/team/echo/health'])
  }
  const response = await server.fetch(request('/team/echo', undefined, { accept: 'text/html' }))
  assert.equal(response.headers.get('location'), '/team/echo/docs')
  assert.equal((await server.fetch(request('/'))).status, 404)
  assert.equal((await server.fetch(request('/health'))).status, 404)
})

/** What is open without a key and what is not. */
const keyed: readonly (readonly [method: string, path: string, status: number])[] = [
  ['GET', '/', 200], ['GET', '/health', 200], ['GET', '/healthz', 200], ['GET', '/ready', 200],
  ['GET', '/docs', 200], ['HEAD', '/', 200], ['OPTIONS', '/', 204], ['POST', '/', 401],
  ['GET', '/openapi.json', 401], ['GET', '/agents', 401], ['POST', '/agents', 401],
  ['GET', '/agents/list', 401], ['GET', '/agents/echo', 401], ['POST', '/agents/echo', 401],
  ['GET', '/agents/nobody', 401], ['GET', '/nothing', 401], ['DELETE', '/', 401], ['GET', '/metrics', 401],
  ['POST', '/health', 401],
]

test('with a key asked for, only what tells nothing is open', async (t) => {
  const server = serve(t, { agents: [echo], apiKey: 'k', protocol: 'http' })
  for (const [method, path, status] of keyed) {
    const body = method === 'POST' ? { query: 'a' } : undefined
    const response = await server.fetch(request(path, body, {}, method))
    assert.equal(response.status, status, `${method} ${path}`)
    assert.equal(response.headers.get('www-authenticate'), status === 401 ? 'Bearer realm="Echo"' : null)
    if (status !== 401) continue
    const { error } = await jsonOf(response)
    assert.equal(error, 'A valid key is needed: send it as X-API-Key, or as Authorization: Bearer')
    assert.notEqual((await server.fetch(request(path, body, { 'x-api-key': 'k' }, method))).status, 401)
  }
  assert.equal(
    (await server.fetch(request('/agents?api_key=k', undefined, { 'x-api-key': 'k' }))).status, 401,
  )
})

const names: readonly (readonly [options: ServerOptions, name: string])[] = [
  [{ agents: [echo] }, 'Echo'],
  [{ agents: [() => ''] }, 'Assistant'],
  [{ agents: [echo], name: 'House' }, 'House'],
  [{ agents: [echo], groups: [{ name: 'Desk', agents: [{ name: 'Writer', run: () => '' }] }] }, 'Desk'],
]

test('a server is named by its operator, else by what it serves first', async (t) => {
  for (const [options, name] of names) {
    const server = serve(t, options)
    assert.equal(server.name, name)
    assert.equal((await jsonOf(await server.fetch(request('/health'))))['name'], name)
  }
})

test('what is here is told to models, as far as the caller may use it', async (t) => {
  const server = serve(t, {
    name: 'Shop', description: 'Sells\n# tea.', protocol: 'all', mountPath: '/shop',
    agents: [{ name: 'Clerk', description: 'Answers [all].', run: () => '' }],
    tools: [
      { name: 'add', description: 'Adds.', run: () => '' },
      { name: 'drop', description: 'Drops.', scopes: ['write'], run: () => '' },
    ],
    apiKey: [{ key: 'a'.repeat(24), id: 'a' }, { key: 'b'.repeat(24), id: 'b', scopes: ['write'] }],
  })
  const read = async (letter: string): Promise<Response> => (
    server.fetch(request('/shop/llms.txt', undefined, { 'x-api-key': letter.repeat(24) }))
  )
  assert.equal((await server.fetch(request('/shop/llms.txt'))).status, 401)
  const response = await read('a')
  assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
  const text = await response.text()
  assert.ok(text.startsWith(`# Shop

> Sells # tea.

POST \`{"query": "…"}\` to an agent asks it. POST its arguments to a tool calls it.

## Agents

- [Clerk](http://triport.test/shop/agents/clerk): Answers \\[all\\].

## Tools

- [add](http://triport.test/shop/tools/add): Adds.

## Interfaces

- [MCP](http://triport.test/shop/mcp): `), text)
  assert.match(text, /\[OpenAPI\]\(http:\/\/triport\.test\/shop\/openapi\.json\)/)
  assert.match(text, /\[AI SDK\]\(http:\/\/triport\.test\/shop\/ui-stream\)/)
  assert.ok(text.endsWith(`## Optional

- [Documentation](http://triport.test/shop/docs): a page for people, to try everything on
`), text)
  assert.match(await (await read('b')).text(), /\[drop\]/)
})

test('every line for models has a link, by whatever protocol a thing is reached', async (t) => {
  const things: ServerOptions = {
    groups: [{ name: 'Desk', description: 'Helps.', agents: [echo] }],
    tools: [{ name: 'add', description: 'Adds.', run: () => '' }],
  }
  const lines: readonly (readonly [protocol: 'mcp' | 'a2a', lines: readonly string[]])[] = [
    ['mcp', ['- [Desk](http://triport.test/mcp): Helps.', '- [add](http://triport.test/mcp): Adds.']],
    ['a2a', [
      '- [Desk](http://triport.test/agents/desk/.well-known/agent-card.json): Helps.',
      '- [add](http://triport.test/.well-known/agent-card.json): Adds.',
    ]],
  ]
  for (const [protocol, expected] of lines) {
    const server = serve(t, { ...things, protocol })
    const text = await (await server.fetch(request('/llms.txt'))).text()
    for (const line of expected) assert.ok(text.split('\n').includes(line), text)
    assert.doesNotMatch(text, /POST/)
    for (const [, path = ''] of text.matchAll(/\]\(http:\/\/triport\.test(\/[^)]*)\)/g)) {
      // MCP is called by POST.
      if (path !== '/mcp') assert.equal((await server.fetch(request(path))).status, 200, path)
    }
  }
})

test('each path says for itself what models read of it, and no other is listed', async (t) => {
  const at = (path: string, about?: EndpointAbout, isOffered = true): Endpoint => ({
    path, about, methods: ['GET'], isOffered: () => isOffered, refuse: problemReply,
    handle: () => ({ status: 200 }),
  })
  const interfaceAt = (path: string, rank: number): Endpoint => at(path, { title: path, text: 'reads', rank })
  const own = ['/later', '/first'].map((path, at) => interfaceAt(path, 2 - at))
  const calls = at('/call/{tool}', { text: 'GET calls it.', rank: 1 })
  const unlisted = [at('/silent'), at('/x/{tool}', { text: 'No.', rank: 0 }, false)]
  const openapi = '[OpenAPI](http://triport.test/openapi.json)'
  const rows: readonly (readonly [endpoints: readonly Endpoint[], links: readonly string[]])[] = [
    [[], ['[add](http://triport.test/openapi.json)', openapi]],
    [own, ['[add](http://triport.test/first)', '[/first](http://triport.test/first)',
      '[/later](http://triport.test/later)', openapi]],
    [[calls, ...own.slice(1), ...unlisted], ['[add](http://triport.test/call/add)',
      '[/first](http://triport.test/first)', openapi]],
  ]
  for (const [endpoints, links] of rows) {
    const server = kernelServer({
      name: 'Shop', tools: [{ name: 'add', run: () => '' }], adapters: frameworks,
      parts: [docs(), { name: 'probe', open: () => ({ endpoints }) }],
    })
    t.after(() => server.close())
    const text = await (await server.fetch(request('/llms.txt'))).text()
    const listed = [...text.matchAll(/^- (\S+\))/gm)].map(([, link]) => link)
    assert.deepEqual(listed, [...links, '[Documentation](http://triport.test/docs)'])
    assert.equal(text.includes('GET calls it.'), endpoints.includes(calls))
  }
})

test('skills are told to models, with their texts', async (t) => {
  const skills = [{ name: 'brew', description: 'Brews tea.', instructions: 'Boil water.' }]
  const server = serve(t, { skills, protocol: 'http' })
  const text = await (await server.fetch(request('/llms.txt'))).text()
  const line = '- [brew](http://triport.test/skills/brew/SKILL.md): Brews tea.'
  assert.ok(text.includes(`\n## Skills\n\n${line}\n`), text)
  assert.equal((await server.fetch(request('/skills/brew/SKILL.md'))).status, 200)
})
