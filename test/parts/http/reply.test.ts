import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/index.ts'
import { jsonOf, request, serve } from '../../fixtures/client.ts'
import type { FaultKind } from '../../../lib/index.ts'

const statuses: readonly (readonly [kind: FaultKind, status: number])[] = [
  ['invalid', 422], ['unauthenticated', 401], ['forbidden', 403], ['not-found', 404], ['conflict', 409],
  ['unsupported', 501], ['too-large', 413], ['busy', 503], ['timeout', 504], ['cancelled', 503],
  ['failed', 500],
]

test('a fault is told with its own status and its own sentence', async (t) => {
  const server = serve(
    t, { agents: [(prompt) => { throw new Fault(prompt as FaultKind, `It is ${prompt}`) }] },
  )
  for (const [kind, status] of statuses) {
    const response = await server.fetch(request('/', { query: kind }))
    assert.equal(response.status, status, kind)
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
    assert.equal(response.headers.get('retry-after'), status === 503 ? '1' : null)
    assert.equal(response.headers.get('www-authenticate'), status === 401 ? 'Bearer realm="Assistant"' : null)
    const { detail, error, status: told, request_id: requestId } = await jsonOf(response)
    assert.deepEqual([detail, error, told], [`It is ${kind}`, `It is ${kind}`, status])
    assert.equal(requestId, response.headers.get('x-request-id'))
  }
})

const cycle: Record<string, unknown> = {}
cycle['self'] = cycle

const details: readonly (readonly [what: string, detail: unknown, members: Record<string, unknown>])[] = [
  ['nothing', undefined, {}],
  ['an object', { errors: [{ path: '/a', message: 'b' }], colour: 'red' },
    { errors: [{ path: '/a', message: 'b' }], colour: 'red' }],
  ['an object that claims too much', { status: 200, error: 'mine', title: 'Fine' }, {}],
  ['a list', ['a', 'b'], { data: ['a', 'b'] }],
  ['a text', 'more', { data: 'more' }],
  ['null', null, { data: null }],
  ['what is not JSON', { n: 1n }, {}],
  ['a circle', cycle, {}],
]

test('the detail of a fault stands in the document, and cannot spoil it', async (t) => {
  let detail: unknown
  const server = serve(t, { agents: [() => { throw new Fault('invalid', 'Wrong', detail) }] })
  for (const [what, given, members] of details) {
    detail = given
    for (const stream of [false, true]) {
      const text = await (await server.fetch(request('/', { query: 'a', stream }))).text()
      const document = JSON.parse(stream ? /^data: (.*)$/m.exec(text)![1]! : text) as Record<string, unknown>
      const { type, title, status, error, detail: sentence, request_id: requestId, ...rest } = document
      assert.deepEqual(
        [type, title, status, error, sentence],
        ['about:blank', 'Unprocessable Content', 422, 'Wrong', 'Wrong'], what,
      )
      assert.equal(typeof requestId, 'string')
      assert.deepEqual(rest, members, what)
    }
  }
})

test('what is no fault shows nothing but the id of its request, unless the operator develops', async (t) => {
  const secret = '/etc/passwd is missing'
  for (const thrown of [new Error(secret), secret, null, undefined, 7n, Object.create(null), { secret }]) {
    const run = (): never => { throw thrown }
    const logged: unknown[] = []
    const log = (level: string, message: string, fields: object = {}): void => {
      logged.push([level, message, 'cause' in fields])
    }
    const closed = await serve(t, { agents: [run], log }).fetch(
      request('/', { query: 'a' }, { 'x-request-id': 'r-1' }),
    )
    assert.equal(closed.status, 500)
    assert.equal((await jsonOf(closed))['error'], 'Internal error (request r-1)')
    assert.deepEqual(logged, [['error', 'A handler failed', true]])
    const exposed = await serve(t, { agents: [run], exposeErrors: true }).fetch(request('/', { query: 'a' }))
    assert.equal(exposed.status, 500)
    if (thrown instanceof Error || thrown === secret) assert.equal((await jsonOf(exposed))['error'], secret)
  }
})
