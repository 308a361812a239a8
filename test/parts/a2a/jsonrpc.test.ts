import assert from 'node:assert/strict'
import test from 'node:test'
import { a2aLimits } from '../../../lib/parts/a2a/model/limits.ts'
import { a2aRoutes } from '../../../lib/parts/a2a/transport/routes.ts'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { createService } from '../../../lib/kernel/server/service.ts'
import { kernelOptionsOf } from '../../../lib/preset/create-server.ts'
import { request } from '../../fixtures/client.ts'
import { ask, message, post } from './ask.ts'
import { serveBot } from './caller.ts'
import type { Run } from '../../../lib/kernel/define/agent.ts'
import type { FaultKind } from '../../../lib/kernel/define/fault.ts'
import type { Exchange } from '../../../lib/kernel/http/message/exchange.ts'
import type { RpcError } from '../../../lib/floors/jsonrpc/jsonrpc.ts'

const echo: Run = (prompt) => `You said ${prompt}`

const open = '{"jsonrpc":"2.0","id":"1","method":"message/send","params":'

test('what is not JSON is a parse error with the status 400 and no id', async (t) => {
  const server = serveBot(t, echo)
  const bodies: readonly (string | Uint8Array)[] = [
    '', '   ', '{', '{"jsonrpc":"2.0"', `${open}{}} tail`, '{"id":NaN}', '{/* */}', "{'id':1}", '{"id":"\n"}',
    'hello',
    new Uint8Array([0x22, 0xff, 0xfe, 0x22]), new Uint8Array([0x22, 0xc0, 0xaf, 0x22]),
    `${'['.repeat(65)}${']'.repeat(65)}`, `${open}${'{"a":'.repeat(70)}1${'}'.repeat(70)}}`,
  ]
  for (const body of bodies) {
    const { status, id, code, error, data } = await post(server, body)
    assert.deepEqual([status, id, code, error], [400, null, -32700, 'Parse error'], String(body))
    assert.equal(typeof data?.['detail'], 'string')
  }
  assert.equal(await ask(server, 'hello'), 'You said hello')
})

test('JSON that is no request is an invalid request, with its id where that could be read', async (t) => {
  const server = serveBot(t, echo)
  const request = { jsonrpc: '2.0', id: '1', method: 'message/send' }
  const rows: readonly (readonly [body: unknown, id: unknown])[] = [
    ['1', null], ['null', null], ['true', null], ['"hello"', null], ['[]', null],
    [[request], null], [{}, null],
    [{ ...request, jsonrpc: '1.0' }, '1'],
    [{ ...request, jsonrpc: 2 }, '1'],
    [{ ...request, method: '' }, '1'],
    [{ ...request, method: 7 }, '1'],
    [{ ...request, method: null }, '1'],
    [{ ...request, method: 'm'.repeat(257) }, '1'],
    [{ ...request, id: {} }, null],
    [{ ...request, id: ['1'] }, null],
    [{ ...request, id: true }, null],
    [{ ...request, id: 1.5 }, null],
    [{ ...request, id: 2 ** 53 }, null],
    [{ ...request, id: 'x'.repeat(257) }, null],
    ['{"jsonrpc":"2.0","id":1e400,"method":"message/send"}', null],
    [{ jsonrpc: '2.0', id: '1' }, '1'],
    [{ jsonrpc: '2.0', id: '1', result: {} }, '1'],
    [{ jsonrpc: '2.0', id: '1', error: { code: 1, message: 'x' } }, '1'],
  ]
  for (const [body, known] of rows) {
    const { status, id, code, error } = await post(server, body)
    assert.deepEqual([status, id, code, error], [200, known, -32600, 'Invalid request'], JSON.stringify(body))
  }
})

test('an id comes back with its type', async (t) => {
  const server = serveBot(t, echo)
  for (const id of ['1', '', 'ü"\u2028', 0, -7, Number.MAX_SAFE_INTEGER, null]) {
    assert.equal((await post(server, message('hello', { id }))).id, id)
    assert.equal((await post(server, { jsonrpc: '2.0', id, method: 'nothing' })).id, id)
  }
})

test('a method of no dialect is not found', async (t) => {
  const server = serveBot(t, echo)
  const methods = [
    'tasks/send', 'SendMessages', 'MESSAGE/SEND', 'message/send ', 'tools/list',
    '__proto__', 'constructor', 'toString',
  ]
  for (const method of methods) {
    const { status, id, code, error } = await post(server, { ...message('hello'), method })
    assert.deepEqual([status, id, code, error], [200, '1', -32601, 'Method not found'], method)
  }
})

test('strange but legal JSON is plain data', async (t) => {
  const server = serveBot(t, (prompt, { metadata }) => {
    return `${prompt} ${Object.keys(metadata).join()} ${Reflect.get({}, 'x')}`
  })
  const part = '{"text":"hi","__proto__":{"x":1},"constructor":1}'
  const said = `{"role":"user","parts":[${part}],"__proto__":{"x":1}}`
  const metadata = '{"__proto__":{"x":1},"x":2}'
  const { text } = await post(server, `\ufeff${open}{"message":${said},"metadata":${metadata}}}`)
  assert.equal(text, 'hi __proto__,x undefined')
  assert.equal(await ask(server, '\u0000\u2028\ud800'), '\u0000\u2028\ufffd  undefined')
})

test('each kind of fault has its number and its status', async (t) => {
  const rows: readonly (readonly [FaultKind, status: number, code: number])[] = [
    ['invalid', 200, -32602], ['unauthenticated', 401, -32600], ['forbidden', 403, -32600],
    ['not-found', 200, -32602], ['conflict', 200, -32004], ['unsupported', 200, -32004],
    ['too-large', 200, -32602], ['busy', 503, -32603], ['timeout', 200, -32603], ['cancelled', 503, -32603],
    ['failed', 200, -32603],
  ]
  for (const [kind, ...owed] of rows) {
    const fault = new Fault(kind, 'why')
    for (const run of [() => { throw fault }, async () => { throw fault }]) {
      const server = serveBot(t, run, { name: 'Café "7"' })
      const { status, id, code, data, headers } = await post(server, message('hello'))
      assert.deepEqual([status, code, id, data], [...owed, '1', { detail: 'why' }], kind)
      assert.equal(headers.get('retry-after'), status === 503 ? '1' : null)
      assert.equal(headers.get('www-authenticate'), status === 401 ? 'Bearer realm="Caf 7"' : null)
    }
  }
})

test('whatever else an agent does wrong is an internal error that tells nothing', async (t) => {
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  const throws = (value: unknown) => () => { throw value }
  const runs: readonly Run[] = [
    throws(new Error('secret')), throws(null), throws(undefined), throws('secret'), throws({ secret: 1 }),
    async () => { throw new Error('secret') },
    () => ({ secret: 1n }) as never,
    () => cycle,
    () => (() => 'secret') as never,
    () => 7 as never,
    () => ({ toJSON() { throw new Error('secret') } }),
    () => ({ get secret() { throw new Error('secret') } }),
    () => ({ type: 'resource_link', uri: 'https://a.example', name: 'a', mimeType: 1n }) as never,
    () => ({ type: 'image', data: 7, mimeType: 'image/png' }) as never,
    async function* () {
      yield 'a'
      throw new Error('secret')
    },
  ]
  for (const run of runs) {
    const lines: string[] = []
    const server = serveBot(t, run, { log: (level) => lines.push(level) })
    const headers = { 'x-request-id': 'r-1' }
    const { status, id, code, error, data } = await post(server, message('hello'), { headers })
    assert.deepEqual([status, id, code, error], [200, '1', -32603, 'Internal error'], String(run))
    assert.deepEqual(data, { detail: 'Internal error (request r-1)' })
    assert.deepEqual(lines, ['error'], String(run))
  }
})

test('exposeErrors shows the message of a defect', async (t) => {
  const server = serveBot(t, () => { throw new Error('no such table') }, { exposeErrors: true })
  assert.deepEqual((await post(server, message('hello'))).data, { detail: 'no such table' })
})

test('a fault whose detail is not JSON is answered without it', async (t) => {
  const server = serveBot(t, () => { throw new Fault('failed', 'why', { secret: 1n }) })
  const { code, error, data } = await post(server, message('hello'))
  assert.deepEqual([code, error, data], [-32603, 'Internal error', { detail: 'why' }])
})

test('a reply over maxResultBytes is refused, however it is counted', async (t) => {
  for (const run of [(prompt: string) => prompt, async (prompt: string) => prompt]) {
    const server = serveBot(t, run, { maxResultBytes: 1024 })
    assert.equal((await post(server, message('x'.repeat(700)))).code, undefined)
    for (const text of ['x'.repeat(1025), '\u0000'.repeat(200), 'ü'.repeat(500)]) {
      const { status, id, code } = await post(server, message(text))
      assert.deepEqual([status, id, code], [200, '1', -32602])
    }
  }
})

test('a body that is too long, of another type or coded is refused in the form of the door', async (t) => {
  const server = serveBot(t, echo, { maxBodyBytes: 1024 })
  const rows: readonly (readonly [headers: Record<string, string>, status: number])[] = [
    [{ 'content-type': 'text/plain' }, 415],
    [{ 'content-type': 'text/plain; a=application/json' }, 415],
    [{ 'content-type': 'application/a2a+json' }, 415],
    [{ 'content-type': 'application/json; charset=utf-16' }, 415],
    [{ 'content-encoding': 'gzip' }, 415],
    [{ 'content-length': '1025' }, 413],
  ]
  for (const [headers, owed] of rows) {
    const asked = await post(server, message('hello'), { headers })
    const { status, id, code } = asked
    const expected = [owed, null, owed === 415 ? -32005 : -32600]
    assert.deepEqual([status, id, code], expected, JSON.stringify(headers))
    assert.equal(asked.headers.get('content-type'), 'application/json')
  }
  assert.equal((await post(server, message('x'.repeat(1025)))).status, 413)
  const types = ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;charset="UTF-8"']
  for (const type of types) {
    assert.equal((await post(server, message('hello'), { headers: { 'content-type': type } })).status, 200)
  }
})

/** What is wrong before a method is known: a path, a body and headers. */
const unread: readonly (readonly [
  what: string, code: number, path: string, body: string, headers?: object,
])[] = [
  ['a parse error', -32700, '/a2a', '{'],
  ['no UTF-8', -32700, '/a2a', '\xff'],
  ['a batch', -32600, '/a2a', '[]'],
  ['no envelope', -32600, '/a2a', '{"id":7,"method":"SendMessage"}'],
  ['an answer', -32600, '/a2a', '{"jsonrpc":"2.0","id":7,"result":{}}'],
  ['another media type', -32005, '/a2a', '{}', { 'content-type': 'text/plain' }],
  ['too long a body', -32600, '/a2a', `"${'x'.repeat(2000)}"`],
  ['no key', -32600, '/a2a', '{}', { 'x-api-key': 'no key' }],
  ['nobody', -32600, '/agents/nobody/a2a', '{}'],
]

test('what is wrong before a method is known is spelled as the version of its client has it', async (t) => {
  const server = serveBot(t, echo, { maxBodyBytes: 1024, apiKey: 'the key' })
  const refused = async (
    path: string, body: string, headers: object,
  ): Promise<{ status: number; id: unknown; error: RpcError }> => {
    const bytes = Buffer.from(body, 'latin1')
    const response = await server.fetch(request(path, bytes, { 'x-api-key': 'the key', ...headers }))
    const { id, error } = await response.json() as { id: unknown; error: RpcError }
    return { status: response.status, id, error }
  }
  for (const [what, code, path, body, headers] of unread) {
    const old = await refused(path, body, { ...headers })
    const { detail } = old.error.data as { detail?: unknown }
    assert.equal(old.error.code, code, what)
    assert.equal(typeof detail, 'string', what)
    for (const version of ['', '0.3', '0.2.5', '7.0', 'new']) {
      assert.deepEqual(await refused(path, body, { ...headers, 'a2a-version': version }), old, what)
    }
    const info = { reason: 'CONTENT_TYPE_NOT_SUPPORTED', domain: 'a2a-protocol.org', metadata: { detail } }
    const data = code === -32005 ? [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', ...info }]
      : [{ '@type': 'type.googleapis.com/google.rpc.LocalizedMessage', locale: 'en', message: detail }]
    const owed = { ...old, error: { ...old.error, data } }
    for (const version of ['1.0', '1.0.1', '1']) {
      assert.deepEqual(await refused(path, body, { ...headers, 'a2a-version': version }), owed, what)
    }
    assert.deepEqual(await refused(`${path}?A2A-Version=1.0`, body, { ...headers }), owed, what)
  }
})

test('a method is of the version that its client asks for, or the refusal says of which it is', async (t) => {
  const server = serveBot(t, echo)
  const refused = async (method: string, version: string): Promise<RpcError> => {
    const body = { jsonrpc: '2.0', id: 1, method, params: {} }
    const response = await server.fetch(request('/a2a', body, { 'a2a-version': version }))
    assert.equal(response.status, 200)
    return (await response.json() as { error: RpcError }).error
  }
  const rows: readonly (readonly [method: string, version: string, code: number, said: string])[] = [
    ['SendMessage', '0.3', -32601, `A2A 0.3 has no method 'SendMessage'; it is of A2A 1.0: `],
    ['tasks/get', '1.0', -32601, `A2A 1.0 has no method 'tasks/get'; it is of A2A 0.3: `],
    ['Nothing', '1.0', -32601, `There is no method 'Nothing' here; `],
    ['Nothing', '2.0', -32009, 'A2A 2.0 is not spoken here; '],
    ['SendMessage', 'new', -32009, 'A2A new is not spoken here; '],
    ['tasks/get', '2.1.7', -32009, 'A2A 2.1 is not spoken here; '],
  ]
  for (const [method, version, code, said] of rows) {
    const error = await refused(method, version)
    assert.equal(error.code, code, `${method} ${version}`)
    assert(JSON.stringify(error.data).includes(said), `${method} ${version}: ${JSON.stringify(error)}`)
  }
})

test('more calls than allowed are 503, with the id of the message', async (t) => {
  let release = (): void => {}
  const done = new Promise<string>((resolve) => { release = () => resolve('done') })
  const server = serveBot(t, () => done, { maxCalls: 1 })
  const first = post(server, message('one'))
  await new Promise(setImmediate)
  const second = await post(server, message('two', { id: 2 }))
  assert.deepEqual([second.status, second.id, second.code], [503, 2, -32603])
  assert.equal(second.headers.get('retry-after'), '1')
  release()
  assert.equal((await first).text, 'done')
})

test('an agent that takes too long is an internal error, in time', async (t) => {
  const server = serveBot(t, () => new Promise<string>(() => {}), {}, { timeoutMs: 20 })
  const { status, code, data } = await post(server, message('hello'))
  assert.deepEqual([status, code, data], [200, -32603, { detail: 'No result within 20 ms' }])
})

test('a thousand clients with one id each get their own answer', async (t) => {
  const server = serveBot(t, async (prompt) => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 50))
    return `You said ${prompt}`
  })
  const texts = Array.from({ length: 1000 }, (_, index) => `number ${index}`)
  const answers = await Promise.all(texts.map((text) => post(server, message(text))))
  assert.deepEqual(answers.map(({ text }) => text), texts.map((text) => `You said ${text}`))
  assert.equal(new Set(answers.map(({ said }) => said?.contextId)).size, 1000)
})

test('once the door is loaded, an agent that answers at once is answered without a promise', async () => {
  const agents = [(prompt: string): string => `You said ${prompt}`]
  const { service, seal } = createService(kernelOptionsOf({ agents, log: false }))
  const endpoint = a2aRoutes(service, { takesKeys: () => false }, a2aLimits.defaults, seal).endpoints[0]!
  const principal = { id: 'anonymous', scopes: [] }
  const origin = {
    requestId: 'r', principal, onDisconnect: () => assert.fail('nobody waits'), header: () => undefined,
  }
  const exchange = { body: JSON.stringify(message('hello')), origin, head: {}, query: '', params: new Map() }
  await endpoint.load?.()
  assert.equal(endpoint.load?.(), undefined)
  const reply = endpoint.handle(exchange as unknown as Exchange)
  assert(!(reply instanceof Promise))
  assert.deepEqual([reply.status, reply.type], [200, 'application/json'])
  assert.match(String(reply.body), /"text":"You said hello"/)
})
