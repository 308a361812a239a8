import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/index.ts'
import { invalid, refuseHttp, unavailable } from '../../../lib/parts/mcp/protocol/replies.ts'
import type { Reply } from '../../../lib/kernel/http/message/exchange.ts'

function told(
  reply: Reply,
): readonly [status: number, headers: readonly string[] | undefined, message: object] {
  return [reply.status, reply.headers, JSON.parse(String(reply.body)) as object]
}

test('what is no valid request is told why, by its id where that could be read', () => {
  const error = { code: -32600, message: 'Invalid request', data: { detail: 'so not' } }
  assert.deepEqual(told(invalid(400, 'so not', 7)), [400, undefined, { jsonrpc: '2.0', id: 7, error }])
  assert.deepEqual(told(invalid(405, 'so not', undefined, ['Allow', 'POST'])), [
    405, ['Allow', 'POST'], { jsonrpc: '2.0', error },
  ])
  assert.deepEqual(told(invalid(400, 'so not', null)), [400, undefined, { jsonrpc: '2.0', error }])
})

test('where no session can begin a client is told when to come again', () => {
  const [status, headers, message] = told(unavailable(new Fault('busy', 'All are in use'), 'a'))
  assert.equal(status, 503)
  assert.ok(headers?.[0] === 'Retry-After' && Number(headers[1]) > 0)
  assert.deepEqual(message, {
    jsonrpc: '2.0', id: 'a',
    error: { code: -32603, message: 'Internal error', data: { detail: 'All are in use' } },
  })
})

test('a refusal of the door is an error without an id, with its status and its headers', () => {
  for (const [status, code] of [
    [401, -32600], [413, -32600], [429, -32600], [503, -32603], [504, -32603],
  ] as const) {
    const reply = refuseHttp({ status, detail: 'so not', requestId: 'r', headers: ['X', 'y'] })
    const [given, headers, message] = told(reply)
    assert.deepEqual([given, headers], [status, ['X', 'y']])
    assert.deepEqual(Reflect.get(Reflect.get(message, 'error') as object, 'code'), code, String(status))
    assert.ok(!('id' in message))
  }
})
