import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/index.ts'
import { jsonOf, request, serve } from '../../fixtures/client.ts'
import type { FaultKind } from '../../../lib/index.ts'

function chat(content: string, stream = false): Request {
  const messages = [{ role: 'user', content }]
  return request('/v1/chat/completions', { model: 'agent', messages, stream })
}

interface Told { readonly message: string; readonly type: string; readonly code: string | null }

const wrong = 'invalid_request_error'
const ours = 'server_error'

/** `mayRetry`: undefined leaves it to the client. */
const rows: readonly (readonly [
  kind: FaultKind, status: number, type: string, code: string | null, mayRetry?: 'false',
])[] = [
  ['invalid', 400, wrong, null],
  ['unauthenticated', 401, wrong, 'invalid_api_key'],
  ['forbidden', 403, wrong, 'forbidden'],
  ['not-found', 404, wrong, 'not_found'],
  ['conflict', 409, wrong, 'conflict', 'false'],
  ['unsupported', 501, ours, null, 'false'],
  ['too-large', 413, wrong, 'request_too_large'],
  ['busy', 503, ours, 'overloaded'],
  ['timeout', 504, ours, 'timeout', 'false'],
  ['cancelled', 503, ours, 'overloaded'],
  ['failed', 500, ours, null, 'false'],
]

test('a fault is an error of OpenAI, and says whether its clients are to try again', async (t) => {
  const run = (prompt: string): never => { throw new Fault(prompt as FaultKind, `It is ${prompt}`) }
  const server = serve(t, { agents: [{ name: 'Agent', run }] })
  for (const [kind, status, type, code, mayRetry = null] of rows) {
    const response = await server.fetch(chat(kind))
    assert.equal(response.status, status, kind)
    assert.equal(response.headers.get('x-should-retry'), mayRetry, kind)
    assert.equal(response.headers.get('retry-after'), status === 503 ? '1' : null, kind)
    const error = { message: `It is ${kind}`, type, param: null, code }
    assert.deepEqual(await jsonOf(response), { error }, kind)
    const streamed = await (await server.fetch(chat(kind, true))).text()
    assert.equal(streamed.split('\n\n').at(-2), `data: ${JSON.stringify({ error })}`, kind)
  }
})

test('what a defect says stays in the log', async (t) => {
  const logged: unknown[] = []
  const server = serve(t, {
    agents: [{
      name: 'Agent', description: 'Fails.',
      run: () => { throw new Fault('internal', 'a secret', { code: 'secret' }) },
    }],
    log: (...line) => logged.push(line),
  })
  const { error } = await jsonOf(await server.fetch(chat('a'))) as { error: Told }
  assert.match(error.message, /^Internal error \(request [\w-]+\)$/)
  assert.deepEqual([error.type, error.code], [ours, null])
  assert.equal(logged.length, 1)
})

test('a fault may name its own code, and is bounded', async (t) => {
  let detail: unknown
  const run = (): never => { throw new Fault('failed', 'é'.repeat(5_000), detail) }
  const server = serve(t, { agents: [{ name: 'Agent', run }] })
  for (const [given, code] of [
    [{ code: 'out_of_ink' }, 'out_of_ink'], [{ code: 7 }, null], ['text', null], [null, null], [[1], null],
  ] as const) {
    detail = given
    const { error } = await jsonOf(await server.fetch(chat('a'))) as { error: Told }
    assert.equal(error.code, code)
    assert.ok(Buffer.byteLength(error.message) < 1_010)
  }
})
