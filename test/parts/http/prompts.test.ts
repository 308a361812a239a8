import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/index.ts'
import { jsonOf, request, serve } from '../../fixtures/client.ts'
import type { Call, ServerOptions } from '../../../lib/index.ts'

const praise = {
  name: 'praise-it', description: 'Praises.',
  arguments: [{ name: 'article', description: 'Which.', required: true }, { name: 'tone' }],
  get: (args: Readonly<Record<string, string>>) => `Praise ${args['article']} ${args['tone'] ?? 'well'}`,
}
const options: ServerOptions = { prompts: [praise], protocol: 'http' }

/** A server with one prompt, `p`, that does what a function says. */
function prompting(get: (call: Call) => unknown, more: Partial<ServerOptions> = {}): ServerOptions {
  return {
    prompts: [{ name: 'p', get: (_args, call) => get(call) as string }], protocol: 'http', ...more,
  }
}

test('the list shows prompts as MCP does', async (t) => {
  const { get: _get, ...shown } = praise
  const prompts = [praise, { name: 'p', title: 'P', get: () => '' }]
  assert.deepEqual(await jsonOf(await serve(t, { prompts, protocol: 'http' }).fetch(request('/prompts'))), {
    prompts: [shown, { name: 'p', title: 'P', description: '', arguments: [] }],
  })
})

const text = (said: string): object => ({ type: 'text', text: said })
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const

const results: readonly (readonly [output: unknown, reply: object])[] = [
  ['Hi', { messages: [{ role: 'user', content: text('Hi') }] }],
  [Promise.resolve('Hi'), { messages: [{ role: 'user', content: text('Hi') }] }],
  [[{ role: 'assistant', content: image }], { messages: [{ role: 'assistant', content: image }] }],
  [{ description: 'D', messages: [] }, { description: 'D', messages: [] }],
]

test('a prompt is its description and its messages', async (t) => {
  for (const [output, reply] of results) {
    const response = await serve(t, prompting(() => output)).fetch(request('/prompts/p', {}))
    assert.equal(response.status, 200)
    assert.deepEqual(await jsonOf(response), reply)
  }
})

test('the body is the arguments, no body is none, and _ stands for -', async (t) => {
  const server = serve(t, options)
  for (const name of ['praise-it', 'praise_it']) {
    const { messages } = await jsonOf(await server.fetch(request(`/prompts/${name}`, { article: 'pears' })))
    assert.deepEqual(messages, [{ role: 'user', content: text('Praise pears well') }])
  }
  const bare = new Request('http://triport.test/prompts/p', { method: 'POST' })
  assert.equal((await serve(t, prompting(() => 'Hi')).fetch(bare)).status, 200)
})

const refusals: readonly (readonly [path: string, body: unknown, status: number, detail: RegExp])[] = [
  ['/prompts/none', {}, 404, /^There is no prompt 'none' here; GET \/prompts lists/],
  ['/prompts/praise-it', '{', 400, /^The body is not JSON/],
  ['/prompts/praise-it', {}, 422, /needs the argument 'article'/],
  ['/prompts/praise-it', { article: 1 }, 422, /must be strings, and 'article' is not/],
  ['/prompts/praise-it', [], 422, /must be an object/],
  ['/prompts/praise-it', undefined, 405, /POST/],
  ['/prompts', {}, 405, /GET/],
]

test('what cannot be got is refused as a problem document', async (t) => {
  const server = serve(t, options)
  for (const [path, body, status, detail] of refusals) {
    const response = await server.fetch(request(path, body))
    assert.equal(response.status, status, path)
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
    assert.match(String((await jsonOf(response))['detail']), detail)
  }
})

type Listed = readonly (readonly [path: string, message: string])[]

const wrongArguments: readonly (readonly [body: unknown, errors: Listed])[] = [
  [{}, [['/article', 'is missing']]],
  [{ article: 1, how: true }, [['/article', 'must be a string'], ['/how', 'must be a string']]],
  [{ how: 7, 'a/b': [] }, [
    ['/how', 'must be a string'], ['/a~1b', 'must be a string'], ['/article', 'is missing'],
  ]],
  [[], [['', 'must be an object']]],
  ['7', [['', 'must be an object']]],
]

test('wrong arguments are listed, all of them, each with its place', async (t) => {
  const server = serve(t, options)
  for (const [body, errors] of wrongArguments) {
    const response = await server.fetch(request('/prompts/praise-it', body))
    const problem = await jsonOf(response)
    const listed = errors.map(([path, message]) => ({ path, message }))
    assert.deepEqual([response.status, problem['errors']], [422, listed], JSON.stringify(body))
  }
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`${at}${'n'.repeat(500)}`, at]))
  const text = await (await server.fetch(request('/prompts/praise-it', many))).text()
  assert.equal(JSON.parse(text).errors.length, 20)
  assert.ok(text.length < 10_000, `${text.length} characters`)
})

const failures: readonly (readonly [get: () => unknown, status: number])[] = [
  [() => { throw new Fault('conflict', 'Not now.') }, 409],
  [() => { throw new Error('secret') }, 500],
  [() => 7, 500],
  [async () => 'a'.repeat(200), 413],
  [() => new Promise(() => {}), 504],
]

test('a failing prompt has the status of its kind', async (t) => {
  for (const [get, status] of failures) {
    const server = serve(t, prompting(get, { maxResultBytes: 100, toolTimeoutMs: 20 }))
    const response = await server.fetch(request('/prompts/p', {}))
    assert.equal(response.status, status, String(get))
    assert.doesNotMatch(await response.text(), /secret/)
  }
})

test('a prompt is for those who have its scopes', async (t) => {
  const apiKey = [{ id: 'in', key: 'in', scopes: ['secret'] }, { id: 'out', key: 'out' }]
  const prompts = [{ name: 'p', scopes: ['secret'], get: () => 'Hi' }]
  const server = serve(t, { prompts, protocol: 'http', apiKey })
  for (const [key, status] of [['in', 200], ['out', 403], ['', 401]] as const) {
    assert.equal((await server.fetch(request('/prompts/p', {}, { 'x-api-key': key }))).status, status, key)
  }
})
