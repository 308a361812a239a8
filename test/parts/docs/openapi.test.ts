import assert from 'node:assert/strict'
import test from 'node:test'
import { kernelServer } from '../../../lib/kernel/server/server.ts'
import { kernelOptionsOf } from '../../../lib/preset/create-server.ts'
import { echo, jsonOf, request, serve } from '../../fixtures/client.ts'
import type { ServerOptions, TriportServer } from '../../../lib/index.ts'

type Json = Record<string, unknown>

const writer = { name: 'The Writer', run: () => '' }
const lookup = {
  name: 'lookup', run: () => 1,
  inputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'string' } } },
} as const
const desk = { name: 'Desk', agents: [echo, writer] }

async function documentOf(
  server: Pick<TriportServer, 'fetch'>, headers: Record<string, string> = {}, mount = '',
): Promise<Json> {
  const response = await server.fetch(request(`${mount}/openapi.json`, undefined, headers))
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'application/json')
  return jsonOf(response)
}

function pathsOf(document: Json): Readonly<Record<string, Record<string, Json>>> {
  return document['paths'] as Record<string, Record<string, Json>>
}

/** Every object in a document, from the outside in. */
function* objectsIn(value: unknown): Generator<Json> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Json
  for (const member of Object.values(value)) yield* objectsIn(member)
}

function resolve(document: Json, reference: string): unknown {
  assert.match(reference, /^#\//)
  return reference.slice(2).split('/').reduce<unknown>(
    (at, name) => (at as Json | undefined)?.[name], document,
  )
}

const servers: readonly (readonly [
  what: string, options: ServerOptions, headers?: Record<string, string>,
])[] = [
  ['an agent', { agents: [echo], protocol: 'http' }],
  ['a group', { groups: [desk], path: '/ask', protocol: 'http' }],
  ['with a key', { agents: [echo], apiKey: 'k', protocol: 'http' }, { 'x-api-key': 'k' }],
  ['tools', { tools: [lookup], protocol: 'http' }],
  ['prompts', { prompts: [{ name: 'p', get: () => '' }], protocol: 'http' }],
  ['everything', { agents: [echo], tools: [lookup], protocol: 'all' }],
  ['every door', { agents: [echo], protocol: 'all' }],
]

test('the description parses, its references lead somewhere, its parameters are in its paths', async (t) => {
  for (const [what, options, headers] of servers) {
    const document = await documentOf(serve(t, options), headers)
    assert.match(String(document['openapi']), /^3\.1\.\d+$/)
    for (const object of objectsIn(document)) {
      const reference = object['$ref']
      if (typeof reference !== 'string') continue
      assert.ok(resolve(document, reference) !== undefined, `${what}: ${reference}`)
    }
    for (const [path, item] of Object.entries(pathsOf(document))) {
      assert.match(path, /^\//)
      for (const [method, operation] of Object.entries(item)) {
        const where = `${what}: ${method} ${path}`
        assert.match(method, /^(get|post|put|patch|delete)$/, where)
        assert.equal(typeof operation['summary'], 'string', where)
        assert.ok(Object.keys(operation['responses'] as Json).length > 0, where)
        const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
        const given = operation['parameters'] as Json[] | undefined ?? []
        assert.deepEqual(given.filter((one) => one['in'] === 'path').map((one) => one['name']), named, where)
      }
    }
  }
})

/** The tags of each part that has some of its own. */
const tagged: Readonly<Record<string, readonly string[]>> = {
  http: ['HTTP', 'Tools'], openai: ['OpenAI'], mcp: ['MCP'], a2a: ['A2A'],
}

test('what the operations of a part refer to comes with it', async (t) => {
  const options = kernelOptionsOf({ agents: [echo], tools: [lookup], metrics: true, protocol: 'all' })
  const alone = options.parts.filter(({ needs = [] }) => needs.length === 0)
  const [docs, ...others] = alone.toSorted(({ name }) => name === 'docs' ? -1 : 1)
  for (const part of others) {
    const server = kernelServer({ ...options, parts: [docs!, part] })
    t.after(() => server.close())
    const document = await documentOf(server)
    for (const { $ref } of objectsIn(document)) {
      if (typeof $ref === 'string') assert.ok(resolve(document, $ref) !== undefined, `${part.name}: ${$ref}`)
    }
    const names = (document['tags'] as Json[]).map(({ name }) => name)
    assert.deepEqual(names, [...tagged[part.name] ?? [], 'Service'], part.name)
  }
})

test('every path that is served is described, and every path that is described is served', async (t) => {
  for (const [what, options, headers] of servers) {
    const server = serve(t, options)
    const paths = pathsOf(await documentOf(server, headers))
    const { endpoints } = await jsonOf(await server.fetch(request('/health')))
    // The page that shows the description is no part of it, and of two spellings of a path one is enough.
    const isTold = (path: string): boolean =>
      path === '/docs' || path in paths || `${path}/` in paths || path.slice(0, -1) in paths
    assert.deepEqual((endpoints as string[]).filter((path) => !isTold(path)), [], what)
    for (const [path, item] of Object.entries(paths)) {
      for (const method of Object.keys(item)) {
        const target = path.replaceAll(/\{\w+\}/g, 'x')
        const asked = request(
          target, method === 'post' ? {} : undefined, { accept: 'application/json', ...headers },
          method.toUpperCase(),
        )
        const { status } = await server.fetch(asked)
        assert.notEqual(status, 405, `${what}: ${method} ${path}`)
        if (!path.includes('{')) assert.notEqual(status, 404, `${what}: ${method} ${path}`)
      }
    }
  }
})

test('each agent and group has its own paths, which come and go with it', async (t) => {
  const server = serve(t, { groups: [desk], path: '/ask', protocol: 'http' })
  const before = pathsOf(await documentOf(server))
  const asked = ['/', '/agents', '/ask', '/agents/echo', '/agents/the-writer', '/agents/desk', '/ask/desk']
  for (const path of asked) {
    assert.ok('post' in before[path]!, path)
  }
  for (const path of ['/', '/agents', '/agents/list', '/ask/list', '/agents/echo']) {
    assert.ok('get' in before[path]!, path)
  }
  server.catalog.add({ ...(server.catalog.agents[0]!), id: 'late', name: 'Late' })
  assert.ok('/agents/late' in pathsOf(await documentOf(server)))
  server.catalog.remove('agent', 'late')
  assert.equal('/agents/late' in pathsOf(await documentOf(server)), false)
})

test('a key is described where it is asked for, and only there', async (t) => {
  const open = await documentOf(serve(t, { agents: [echo], protocol: 'http' }))
  assert.deepEqual(open['security'], [])
  assert.equal('securitySchemes' in (open['components'] as Json), false)
  const keyed = await documentOf(
    serve(t, { agents: [echo], apiKey: 'k', protocol: 'http' }), { 'x-api-key': 'k' },
  )
  const schemes = (keyed['components'] as Json)['securitySchemes'] as Json
  assert.deepEqual((keyed['security'] as Json[]).flatMap(Object.keys), Object.keys(schemes))
  const paths = pathsOf(keyed)
  assert.deepEqual(paths['/']!['get']!['security'], [])
  assert.equal('security' in paths['/']!['post']!, false)
  assert.ok('401' in (paths['/']!['post']!['responses'] as Json))
  assert.equal('401' in (paths['/']!['get']!['responses'] as Json), false)
})

test('a token is described where tokens are taken, alone or beside a key', async (t) => {
  const auth = {
    resource: 'https://agents.example/mcp', authorizationServers: ['https://login.example'],
    verify: () => ({ subject: 'ann', scopes: [] }),
  }
  for (const [apiKey, schemes, said] of [
    [undefined, ['bearer'], 'An access token of https://login.example.'],
    ['k', ['apiKey', 'bearer'], 'The key, or an access token of https://login.example.'],
  ] as const) {
    const server = serve(t, { agents: [echo], protocol: 'all', auth, ...apiKey !== undefined && { apiKey } })
    const document = await documentOf(server, { authorization: 'Bearer t' })
    const known = (document['components'] as Json)['securitySchemes'] as Record<string, Json>
    assert.deepEqual([Object.keys(known), known['bearer']?.['description']], [schemes, said])
    assert.ok('/.well-known/oauth-protected-resource/mcp' in pathsOf(document))
  }
})

const bases: readonly (readonly [
  options: Partial<ServerOptions>, headers: Record<string, string>, url: string,
])[] = [
  [{}, {}, 'http://triport.test'],
  [{ mountPath: '/team' }, {}, 'http://triport.test/team'],
  [{ publicUrl: 'https://agents.example/x/' }, {}, 'https://agents.example/x'],
  [{ publicUrl: 'https://agents.example', mountPath: '/team' }, {}, 'https://agents.example/team'],
  [{}, { 'x-forwarded-host': 'evil.example' }, 'http://triport.test'],
  [{ trustProxy: true }, { 'x-forwarded-host': 'agents.example', 'x-forwarded-proto': 'https' },
    'https://agents.example'],
]

test('the description says where the server is reached, and is not cached for others', async (t) => {
  for (const [options, headers, url] of bases) {
    const server = serve(t, { agents: [echo], ...options })
    const path = `${options.mountPath ?? ''}/openapi.json`
    const first = await server.fetch(request(path, undefined, headers))
    assert.equal(first.headers.get('cache-control'), 'private, no-cache')
    assert.match(String(first.headers.get('vary')), /Host/)
    assert.deepEqual((await jsonOf(first))['servers'], [{ url }])
  }
  const server = serve(t, { agents: [echo] })
  for (const host of ['a.example', 'b.example', 'a.example']) {
    const document = await documentOf(server, { host })
    assert.deepEqual(document['servers'], [{ url: `http://${host}` }])
  }
})
