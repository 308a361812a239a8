import assert from 'node:assert/strict'
import test from 'node:test'
import { echo, jsonOf, request, serve } from '../../fixtures/client.ts'
import type { ServerOptions } from '../../../lib/index.ts'

type Json = Record<string, unknown>

const writer = { name: 'The Writer', description: 'Writes.', run: (prompt: string) => `Wrote ${prompt}` }
const desk = { name: 'Desk', description: 'Both.', agents: [echo, writer] }
const house: ServerOptions = { groups: [desk], name: 'House' }

function chat(model: unknown, more: object = {}): object {
  return { model, messages: [{ role: 'user', content: 'hi' }], ...more }
}

test('the agents and groups are models, listed and one by one', async (t) => {
  const server = serve(t, { ...house, mountPath: '/team' })
  const list = await jsonOf(await server.fetch(request('/team/v1/models')))
  const data = list['data'] as Json[]
  assert.deepEqual(data.map(({ created, ...model }) => [Number.isSafeInteger(created), model]), [
    ['desk', 'Desk', 'Both.'], ['echo', 'Echo', 'Says what was said.'],
    ['the-writer', 'The Writer', 'Writes.'],
  ].map(([id, name, description]) => [true, { id, object: 'model', owned_by: 'House', name, description }]))
  assert.equal(list['object'], 'list')
  for (const [index, id] of ['desk', 'echo', 'the_writer'].entries()) {
    assert.deepEqual(await jsonOf(await server.fetch(request(`/team/v1/models/${id}`))), data[index])
  }
})

test('a model is the agent or the group of that id', async (t) => {
  const server = serve(t, house)
  for (const [model, said] of [
    ['echo', 'You said hi'], ['the-writer', 'Wrote hi'], ['desk', 'Wrote You said hi'],
  ]) {
    const reply = await jsonOf(await server.fetch(request('/v1/chat/completions', chat(model))))
    const [choice] = reply['choices'] as { message: Json }[]
    assert.equal(choice?.message['content'], said)
    assert.equal(reply['model'], model)
  }
})

const path = '/v1/chat/completions'
const responses = `/v1/responses/resp_${'0'.repeat(32)}`
const key = { authorization: 'Bearer k' }

type Refused = readonly [
  what: string, method: string, path: string, body: unknown, headers: Record<string, string>,
  status: number, code: string | null, param?: string,
]

const refusals: readonly Refused[] = [
  ['no key', 'POST', path, chat('echo'), { authorization: '' }, 401, 'invalid_api_key'],
  ['a wrong key', 'GET', '/v1/models', undefined, { authorization: 'Bearer x' }, 401, 'invalid_api_key'],
  ['a foreign page', 'POST', path, chat('echo'), { origin: 'https://evil.example' }, 403, 'forbidden'],
  ['an unknown model', 'POST', path, chat('nobody'), {}, 404, 'model_not_found', 'model'],
  ['a model named like a method', 'POST', path, chat('__proto__'), {}, 404, 'model_not_found', 'model'],
  ['an unknown model to look at', 'GET', '/v1/models/nobody', undefined, {}, 404, 'model_not_found', 'model'],
  ['what OpenAI has besides', 'POST', '/v1/embeddings', {}, {}, 404, 'not_found'],
  ['what OpenAI has deeper down', 'POST', '/v1/audio/speech', {}, {}, 404, 'not_found'],
  ['what is deeper than a path', 'GET', `${path}/chatcmpl-1`, undefined, {}, 404, 'not_found'],
  ['what is deeper than a model', 'GET', '/v1/models/echo/deeper', undefined, {}, 404, 'not_found'],
  ['a wrong method of no model', 'DELETE', '/v1/models/nobody', undefined, {}, 404, 'not_found'],
  ['an unknown operation', 'POST', '/v1/responses/input_tokens', {}, {}, 404, 'not_found'],
  ['one of no response', 'POST', '/v1/responses/input_tokens/cancel', {}, {}, 404, 'response_not_found'],
  ['one of a response', 'POST', `${responses}/input_tokens`, {}, {}, 404, 'not_found'],
  ['a wrong method of a response', 'POST', responses, {}, {}, 405, 'method_not_allowed'],
  ['one of an operation', 'GET', '/v1/responses/compact', undefined, {}, 405, 'method_not_allowed'],
  ['a wrong method', 'POST', '/v1/models', {}, {}, 405, 'method_not_allowed'],
  ['a wrong method of one', 'DELETE', '/v1/models/echo', undefined, {}, 405, 'method_not_allowed'],
  ['another wrong method', 'GET', path, undefined, {}, 405, 'method_not_allowed'],
  ['a long body', 'POST', path, chat('echo', { user: 'a'.repeat(1000) }), {}, 413, 'request_too_large'],
  ['another type', 'POST', path, 'hi', { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
  ['half a body', 'POST', path, '{"model":', {}, 400, null],
  ['a wrong member', 'POST', path, chat('echo', { n: 3 }), {}, 400, 'unsupported_value', 'n'],
  ['tools', 'POST', path, chat('echo', { tools: [{}] }), {}, 400, 'unsupported_value', 'tools[0].type'],
]

test('what is refused is refused in the form that clients of OpenAI read', async (t) => {
  const server = serve(t, { ...house, apiKey: 'k', maxBodyBytes: 500 })
  for (const [what, method, at, body, headers, status, code, param = null] of refusals) {
    const response = await server.fetch(request(at, body, { ...key, ...headers }, method))
    assert.equal(response.status, status, what)
    assert.equal(response.headers.get('content-type'), 'application/json', what)
    const { error } = await jsonOf(response) as { error: Json }
    const { message, type, ...rest } = error
    assert.deepEqual(rest, { param, code }, what)
    assert.equal(type, 'invalid_request_error', what)
    assert.ok(typeof message === 'string' && message.length > 10, what)
    assert.equal(response.headers.has('allow'), status === 405, what)
    assert.equal(response.headers.has('www-authenticate'), status === 401, what)
  }
})

test('a caller that asks too often is told so, and when to ask again', async (t) => {
  const server = serve(t, { ...house, rateLimit: { perMinute: 1, burst: 1 } })
  assert.equal((await server.fetch(request(path, chat('echo')))).status, 200)
  const response = await server.fetch(request(path, chat('echo')))
  assert.equal(response.status, 429)
  assert.ok(response.headers.has('retry-after'))
  const { error } = await jsonOf(response) as { error: Json }
  assert.deepEqual([error['type'], error['code']], ['rate_limit_error', 'rate_limit_exceeded'])
})

test('outside of these paths what is not there is told as everywhere', async (t) => {
  const server = serve(t, house)
  for (const at of ['/v1', '/v2/models', '/v1models']) {
    const response = await server.fetch(request(at))
    assert.equal(response.status, 404)
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
  }
  const without = serve(t, { agents: [echo], protocol: 'mcp' })
  const response = await without.fetch(request('/v1/models'))
  assert.deepEqual([response.status, response.headers.get('content-type')], [404, 'application/problem+json'])
})
