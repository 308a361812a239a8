import assert from 'node:assert/strict'
import test from 'node:test'
import { compile, defineTool } from '../../../lib/index.ts'
import { jsonOf, request, serve } from '../../fixtures/client.ts'
import type { JsonSchema, TriportServer } from '../../../lib/index.ts'

type Json = Record<string, unknown>

const inputSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { article: { $ref: '#/$defs/article' }, note: { type: 'string' } },
  required: ['article'],
  $defs: { article: { enum: ['apple', 'pear'] } },
} as const
const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const

const stock = defineTool({
  name: 'stock.of', title: 'Stock', description: 'Counts.', inputSchema, outputSchema, run: () => ({ n: 3 }),
})
const now = defineTool({ name: 'now', run: () => 'noon' })
const praise = {
  name: 'praise', arguments: [{ name: 'article', description: 'Which.', required: true }, { name: 'tone' }],
  get: () => 'Hi',
}
const hours = { uri: 'shop://hours', name: 'hours', read: () => '9 to 5' }

async function documentOf(server: TriportServer): Promise<Json> {
  return jsonOf(await server.fetch(request('/openapi.json')))
}

/** The member of a document at a path of names. */
function at(document: unknown, ...names: readonly string[]): unknown {
  return names.reduce((value, name) => (value as Json | undefined)?.[name], document)
}

/** A schema of the document that stands alone, with all that it may refer to. */
function schemaAt(document: Json, ...names: readonly string[]): JsonSchema {
  return { ...at(document, ...names) as Json, components: document['components'] }
}

const call = ['paths', '/tools/stock.of', 'post'] as const
const json = ['content', 'application/json', 'schema'] as const

test('each tool is described with its own schemas, which check what it takes and gives', async (t) => {
  const server = serve(t, { tools: [stock, now], protocol: 'http' })
  const document = await documentOf(server)
  assert.equal(at(document, ...call, 'summary'), 'Stock')
  assert.equal(at(document, ...call, 'description'), 'Counts.')
  assert.equal(at(document, ...call, 'requestBody', 'required'), true)
  assert.equal(at(document, 'paths', '/tools/now', 'post', 'requestBody', 'required'), false)

  const takes = compile(schemaAt(document, ...call, 'requestBody', ...json))
  assert.equal(takes({ article: 'pear' }).valid, true)
  assert.equal(takes({ article: 'plum' }).errors[0]?.path, '/article')
  assert.equal(takes({}).valid, false)

  const gives = compile(schemaAt(document, ...call, 'responses', '200', ...json))
  const reply = await jsonOf(await server.fetch(request('/tools/stock.of', { article: 'pear' })))
  assert.equal(gives(reply).valid, true)
  assert.equal(gives({ ...reply, result: { n: 'three' } }).errors[0]?.path, '/result/n')

  assert.ok(at(document, ...call, 'responses', '200', 'content', 'text/event-stream') !== undefined)
  for (const status of ['400', '409', '422', 'default']) {
    const reference = at(document, ...call, 'responses', status, '$ref')
    assert.equal(reference, '#/components/responses/Problem', status)
  }
  const problem = at(document, 'components', 'responses', 'Problem', 'content', 'application/problem+json')
  assert.ok(problem !== undefined)
})

test('what a prompt takes is text by name', async (t) => {
  const document = await documentOf(serve(t, { prompts: [praise], protocol: 'http' }))
  const takes = compile(schemaAt(document, 'paths', '/prompts/praise', 'post', 'requestBody', ...json))
  assert.equal(takes({ article: 'a' }).valid, true)
  assert.equal(takes({ article: 1 }).errors[0]?.path, '/article')
  assert.equal(takes({}).valid, false)
})

test('reading asks for the URI', async (t) => {
  const document = await documentOf(serve(t, { resources: [hours], protocol: 'http' }))
  const [uri] = at(document, 'paths', '/resources/read', 'get', 'parameters') as Json[]
  assert.deepEqual([uri!['name'], uri!['in'], uri!['required']], ['uri', 'query', true])
})

test('only what is served is described, as it comes and goes', async (t) => {
  const server = serve(t, { tools: [now], protocol: 'http' })
  const paths = async (): Promise<readonly string[]> => {
    const document = await documentOf(server)
    return Object.keys(document['paths'] as Json).filter((path) => /^\/(?:agents|tools|prom|res)/.test(path))
  }
  assert.deepEqual(await paths(), ['/tools', '/tools/now'])
  server.catalog.add(stock)
  server.catalog.add(praise)
  server.catalog.add(hours)
  assert.deepEqual(await paths(), [
    '/tools', '/tools/now', '/tools/stock.of', '/resources', '/resources/read', '/prompts', '/prompts/praise',
  ])
  server.catalog.remove('tool', 'now')
  server.catalog.remove('prompt', 'praise')
  server.catalog.remove('resource', 'shop://hours')
  assert.deepEqual(await paths(), ['/tools', '/tools/stock.of'])
  assert.equal(at(await documentOf(server), 'paths', '/', 'post'), undefined)
})

test('every operation has an id of its own', async (t) => {
  const same = { ...praise, name: 'now' }
  const document = await documentOf(serve(t, {
    tools: [stock, now], prompts: [praise, same], protocol: 'all',
  }))
  const ids = Object.values(document['paths'] as Record<string, Record<string, Json>>)
    .flatMap((item) => Object.values(item)).flatMap(({ operationId }) => operationId ?? [])
  assert.equal(new Set(ids).size, ids.length)
})
