import assert from 'node:assert/strict'
import test from 'node:test'
import { createServer, defineAgent, defineGroup } from '../../../lib/index.ts'
import { echo, jsonOf, request, serve } from '../../fixtures/client.ts'

const support = defineAgent({
  name: 'Support Bot', description: 'Helps.', run: (prompt) => `Support heard ${prompt}`,
  skills: [{ id: 'help', name: 'Help', description: 'Helps with things.' }],
})
const writer = defineAgent({ name: 'Writer', run: (prompt) => `Writer heard ${prompt}` })
const desk = defineGroup({ name: 'Desk', description: 'Both.', agents: [support, writer] })

const agents = [
  { id: 'support-bot', name: 'Support Bot', description: 'Helps.' },
  { id: 'writer', name: 'Writer', description: '' },
]

/** Who answers a query at a path, with and without a group. */
const answers: readonly (readonly [path: string, alone: string, grouped: string])[] = [
  ['/', 'Support heard hi', 'Writer heard Support heard hi'],
  ['/agents', 'Support heard hi', 'Writer heard Support heard hi'],
  ['/ask', 'Support heard hi', 'Writer heard Support heard hi'],
  ['/agents/support-bot', 'Support heard hi', 'Support heard hi'],
  ['/agents/support_bot', 'Support heard hi', 'Support heard hi'],
  ['/agents/%73upport-bot', 'Support heard hi', 'Support heard hi'],
  ['/ask/writer', 'Writer heard hi', 'Writer heard hi'],
  ['/agents/writer?x=y', 'Writer heard hi', 'Writer heard hi'],
]

test('a query is answered at the root, at the list, at a path of its own, and by each agent', async (t) => {
  const alone = serve(t, { agents: [support, writer], path: '/ask' })
  const grouped = serve(t, { groups: [desk], path: '/ask' })
  for (const [path, expected, expectedOfGroup] of answers) {
    assert.equal(
      (await jsonOf(await alone.fetch(request(path, { query: 'hi' }))))['response'], expected, path,
    )
    assert.equal(
      (await jsonOf(await grouped.fetch(request(path, { query: 'hi' }))))['response'], expectedOfGroup, path,
    )
  }
  assert.equal((await jsonOf(await grouped.fetch(request('/agents/desk', { query: 'hi' }))))['agent'], 'Desk')
})

test('agents are listed, groups first, and described one by one', async (t) => {
  const server = serve(t, { groups: [desk], agents: [support], path: '/ask' })
  const all = { agents: [{ id: 'desk', name: 'Desk', description: 'Both.' }, ...agents] }
  for (const path of ['/agents', '/agents/list', '/ask/list']) {
    assert.deepEqual(await jsonOf(await server.fetch(request(path))), all, path)
  }
  assert.deepEqual(
    await jsonOf(await server.fetch(request('/agents/support_bot'))),
    { ...agents[0], skills: support.skills },
  )
  assert.deepEqual(await jsonOf(await server.fetch(request('/agents/desk'))), all.agents[0])
  assert.deepEqual(await jsonOf(await server.fetch(request('/ask/writer'))), agents[1])
})

const refused: readonly (readonly [method: string, path: string, status: number, allow?: string])[] = [
  ['GET', '/agents/nobody', 404],
  ['POST', '/agents/nobody', 404],
  ['POST', '/agents/__proto__', 404],
  ['GET', '/agents//', 404],
  ['POST', '/agents/writer/more', 404],
  ['GET', '/Agents', 404],
  ['GET', '/health//', 404],
  ['GET', '/ask', 404],
  ['DELETE', '/', 405, 'GET, HEAD, POST'],
  ['PUT', '/agents', 405, 'POST, GET, HEAD'],
  ['POST', '/agents/list', 405, 'GET, HEAD'],
  ['PATCH', '/agents/writer', 405, 'POST, GET, HEAD'],
  ['PATCH', '/agents/nobody', 404],
  ['DELETE', '/tools/price', 405, 'GET, HEAD, POST'],
  ['DELETE', '/tools/list', 404],
  ['GET', '/prompts/praise', 405, 'POST'],
  ['GET', '/prompts/list', 404],
  ['POST', '/conversations/12345678/more', 404],
  ['POST', '/health', 405, 'GET, HEAD'],
  ['GET', '/agents/%2e%2e%2fhealth', 400],
]

test('what is not served says so in a document that every client can read', async (t) => {
  const tool = { name: 'price', description: 'Tells it.', run: () => 2 }
  const prompt = { name: 'praise', description: 'Praises.', get: () => 'Good.' }
  const server = serve(t, { agents: [support, writer], tools: [tool], prompts: [prompt], mountPath: '/team' })
  for (const [method, path, status, allow = null] of refused) {
    const body = method === 'POST' ? { query: 'hi' } : undefined
    const response = await server.fetch(request(`/team${path}`, body, {}, method))
    assert.equal(response.status, status, `${method} ${path}`)
    assert.equal(response.headers.get('allow'), allow, `${method} ${path}`)
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
    const { detail, error, title, type, request_id: requestId, status: told } = await jsonOf(response)
    assert.equal(detail, error)
    assert.deepEqual(
      [type, told, typeof title, requestId],
      ['about:blank', status, 'string', response.headers.get('x-request-id')],
    )
  }
  assert.equal((await server.fetch(request('/agents'))).status, 404)
})

const bodies: readonly (readonly [
  what: string, body: string, type: string | undefined, status: number, paths?: readonly string[],
])[] = [
  ['no body', '', 'application/json', 400],
  ['a blank body', ' ', 'application/json', 400],
  ['half a body', '{"query":', 'application/json', 400],
  ['more than one', '{"query":"a"}{}', 'application/json', 400],
  ['a comment', '{"query":"a"} // b', 'application/json', 400],
  ['NaN', '{"query":NaN}', 'application/json', 400],
  ['too deep', `{"query":"a","metadata":${'{"a":'.repeat(64)}1${'}'.repeat(64)}}`, 'application/json', 400],
  ['deep enough', `{"query":"a","metadata":${'{"a":'.repeat(63)}1${'}'.repeat(63)}}`, 'application/json',
    200],
  ['a byte order mark', '\ufeff{"query":"a"}', 'application/json', 200],
  ['a number', '1', 'application/json', 422, ['']],
  ['a list', '[{"query":"a"}]', 'application/json', 422, ['']],
  ['an empty object', '{}', 'application/json', 422, ['/query']],
  ['an empty query', '{"query":""}', 'application/json', 422, ['/query']],
  ['two names', '{"query":"a","message":"a"}', 'application/json', 422, ['/query', '/message']],
  ['the last of two equal keys', '{"query":7,"query":"a"}', 'application/json', 200],
  ['a lone surrogate', '{"query":"\\ud800"}', 'application/json', 200],
  ['text', 'hi', 'text/plain', 415],
  ['a form', 'query=hi', 'application/x-www-form-urlencoded', 415],
  ['JSON as text', '{"query":"a"}', 'text/plain; charset=utf-8', 415],
  ['JSON in latin1', '{"query":"a"}', 'application/json; charset=iso-8859-1', 415],
  ['JSON in UTF-8, said so', '{"query":"a"}', 'application/json; charset="UTF-8"', 200],
  ['something like JSON', '{"query":"a"}', 'application/problem+json', 415],
]

test('a body is JSON with a query in it, or it is told what it is not', async (t) => {
  const server = serve(t, { agents: [echo] })
  for (const [what, body, type, status, paths] of bodies) {
    const response = await server.fetch(
      request('/', body, { ...type !== undefined && { 'content-type': type } }),
    )
    assert.equal(response.status, status, what)
    const { errors } = await jsonOf(response)
    assert.deepEqual((errors as { path: string }[] | undefined)?.map(({ path }) => path), paths, what)
  }
})

const accepted: readonly (readonly [
  accept: string | undefined, stream: boolean | undefined, type: string,
])[] = [
  [undefined, undefined, 'application/json'],
  ['*/*', undefined, 'application/json'],
  ['application/json, text/event-stream', undefined, 'application/json'],
  ['text/event-stream', undefined, 'text/event-stream'],
  ['text/event-stream, application/json;q=0.5', undefined, 'text/event-stream'],
  ['text/event-stream', false, 'application/json'],
  ['application/json', true, 'text/event-stream'],
  [undefined, true, 'text/event-stream'],
  ['image/png', undefined, 'application/problem+json'],
]

test('the body, then Accept, decides whether the reply is a document or a stream', async (t) => {
  const server = serve(t, { agents: [echo] })
  for (const [accept, stream, type] of accepted) {
    const response = await server.fetch(
      request('/', { query: 'a', stream }, accept === undefined ? {} : { accept }),
    )
    assert.equal(response.headers.get('content-type'), type, `${accept} ${stream}`)
    assert.equal(response.status, type === 'application/problem+json' ? 406 : 200)
  }
})

test('two routes that meet are a mistake in the options', () => {
  for (const path of ['/agents/echo', '/agents/list']) {
    assert.throws(
      () => createServer({ agents: [echo], path }),
      /^TypeError: path is '.*', which is taken; write a path of its own/,
    )
  }
  for (const path of ['ask', '/ask/', '/a b', '/a?b', '/{agent}', '//']) {
    assert.throws(() => createServer({ agents: [echo], path }), /path is ".*"; write a path/)
  }
  for (const path of ['/', '', '/agents', '/ask', '/agents/all', '/ask/echo']) {
    createServer({ agents: [echo], path })
  }
})

test('agents come and go while the server runs', async (t) => {
  const server = serve(t, { agents: [support] })
  server.catalog.add(writer)
  assert.equal((await server.fetch(request('/agents/writer', { query: 'hi' }))).status, 200)
  server.catalog.remove('agent', 'support-bot')
  assert.equal((await server.fetch(request('/agents/support-bot', { query: 'hi' }))).status, 404)
  assert.equal((await jsonOf(await server.fetch(request('/', { query: 'hi' }))))['agent'], 'Writer')
  server.catalog.remove('agent', 'writer')
  assert.equal((await server.fetch(request('/', { query: 'hi' }))).status, 404)
})
