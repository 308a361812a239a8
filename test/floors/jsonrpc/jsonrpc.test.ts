import assert from 'node:assert/strict'
import test from 'node:test'
import {
  decodeMessage, errorReply, formatError, formatNotification, formatRequest, formatResult, INTERNAL_ERROR,
  INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, refusalError, rpcError,
} from '../../../lib/floors/jsonrpc/jsonrpc.ts'
import type { RpcMessage } from '../../../lib/floors/jsonrpc/jsonrpc.ts'

const MAX = 16

/** Messages, and the text that says them: read, they are the message; written, the text. */
const both: readonly (readonly [text: string, message: RpcMessage])[] = [
  ['{"jsonrpc":"2.0","id":1,"method":"a"}', { kind: 'request', id: 1, method: 'a', params: undefined }],
  ['{"jsonrpc":"2.0","id":"x","method":"a","params":{"b":[1]}}',
    { kind: 'request', id: 'x', method: 'a', params: { b: [1] } }],
  ['{"jsonrpc":"2.0","id":null,"method":"a","params":[1]}',
    { kind: 'request', id: null, method: 'a', params: [1] }],
  ['{"jsonrpc":"2.0","method":"a"}', { kind: 'notification', method: 'a', params: undefined }],
  ['{"jsonrpc":"2.0","method":"a","params":{}}', { kind: 'notification', method: 'a', params: {} }],
  ['{"jsonrpc":"2.0","id":-7,"result":{"c":1}}',
    { kind: 'response', id: -7, result: { c: 1 }, error: undefined }],
  ['{"jsonrpc":"2.0","id":"","result":null}', { kind: 'response', id: '', result: null, error: undefined }],
  ['{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}',
    { kind: 'response', id: 1, result: undefined, error: { code: -1, message: 'no' } }],
]

function textOf(message: RpcMessage): string {
  switch (message.kind) {
    case 'request': return formatRequest(message.id, message.method, json(message.params))
    case 'notification': return formatNotification(message.method, json(message.params))
    case 'response': return message.error === undefined ? formatResult(message.id, json(message.result)!)
      : formatError(message.id, message.error as { code: number; message: string })
    case 'malformed': return assert.fail('is never written')
  }
}

function json(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value)
}

test('what is written is what is read', () => {
  for (const [text, message] of both) {
    assert.deepEqual(decodeMessage(JSON.parse(text), MAX), message, text)
    assert.equal(textOf(message), text)
  }
})

/** What is no message: why, and the id that an answer to it has. */
const malformed: readonly (readonly [text: string, why: RegExp, id: unknown])[] = [
  ['7', /is a JSON object/, undefined],
  ['null', /is a JSON object/, undefined],
  ['[]', /is a JSON object/, undefined],
  ['{}', /"jsonrpc" must be "2\.0"/, undefined],
  ['{"jsonrpc":2,"id":1,"method":"a"}', /"jsonrpc" must be "2\.0"/, 1],
  ['{"jsonrpc":"1.0","id":"x","method":"a"}', /"jsonrpc" must be "2\.0"/, 'x'],
  ['{"jsonrpc":"2.0"}', /"method" is missing/, undefined],
  ['{"jsonrpc":"2.0","id":3}', /"method" is missing/, 3],
  ['{"jsonrpc":"2.0","id":3,"method":7}', /"method" must be a string/, 3],
  ['{"jsonrpc":"2.0","id":3,"method":""}', /"method" must be a string/, 3],
  ['{"jsonrpc":"2.0","id":3,"method":"seventeen letters"}', /at most 16 bytes/, 3],
  ['{"jsonrpc":"2.0","id":3,"method":"ééééééééé"}', /at most 16 bytes/, 3],
  ['{"jsonrpc":"2.0","id":1.5,"method":"a"}', /"id" must be a string of at most \d+ bytes, or an integer of/,
    undefined],
  ['{"jsonrpc":"2.0","id":1e300,"method":"a"}', /"id" must be/, undefined],
  ['{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}', /"id" must be/, undefined],
  ['{"jsonrpc":"2.0","id":true,"method":"a"}', /"id" must be/, undefined],
  ['{"jsonrpc":"2.0","id":{},"method":"a"}', /"id" must be/, undefined],
  ['{"jsonrpc":"2.0","id":["a"],"method":"a"}', /"id" must be/, undefined],
  ['{"jsonrpc":"2.0","id":"seventeen letters","method":"a"}', /"id" must be/, undefined],
  ['{"jsonrpc":"2.0","id":"ééééééééé","method":"a"}', /"id" must be/, undefined],
]

test('what is no message says why, with the id where that could be read', () => {
  for (const [text, why, id] of malformed) {
    const message = decodeMessage(JSON.parse(text), MAX)
    assert.ok(message.kind === 'malformed', text)
    assert.match(message.why, why, text)
    assert.equal(message.id, id, text)
  }
})

test('names of the prototype are no members', () => {
  const message = decodeMessage(JSON.parse('{"jsonrpc":"2.0","id":1,"__proto__":{"method":"a"}}'), MAX)
  assert.equal(message.kind, 'malformed')
})

test('the five codes say what JSON-RPC says, and what was wrong beside it', () => {
  const rows = [
    [PARSE_ERROR, -32700, 'Parse error'], [INVALID_REQUEST, -32600, 'Invalid request'],
    [METHOD_NOT_FOUND, -32601, 'Method not found'], [INVALID_PARAMS, -32602, 'Invalid params'],
    [INTERNAL_ERROR, -32603, 'Internal error'],
  ] as const
  for (const [code, number, message] of rows) {
    assert.deepEqual(rpcError(code), { code: number, message })
    assert.deepEqual(rpcError(code, 'why'), { code: number, message, data: { detail: 'why' } })
    const data = { detail: 'why', field: 'a' }
    assert.deepEqual(rpcError(code, 'why', { field: 'a' }), { code: number, message, data })
  }
})

test('an error without a readable id leaves it out, or writes null', () => {
  const error = rpcError(PARSE_ERROR)
  const json = '"error":{"code":-32700,"message":"Parse error"}}'
  assert.equal(formatError(undefined, error), `{"jsonrpc":"2.0",${json}`)
  assert.equal(formatError(null, error), `{"jsonrpc":"2.0","id":null,${json}`)
  assert.deepEqual(errorReply(null, error, 400, ['Allow', 'POST']), {
    status: 400, type: 'application/json', body: formatError(null, error), headers: ['Allow', 'POST'],
  })
})

test('a refusal is a parse error, an invalid request or an internal error', () => {
  const rows = [[400, true, -32700], [400, false, -32600], [401, false, -32600], [429, false, -32600],
    [500, false, -32603], [503, false, -32603]] as const
  for (const [status, unparsable, code] of rows) {
    assert.deepEqual([refusalError({ status, detail: 'why', unparsable }).code], [code], String(status))
  }
})

test('no error multiplies what a client sent', () => {
  assert.ok(JSON.stringify(rpcError(INVALID_PARAMS, 'x'.repeat(1_000_000))).length < 1_200)
})
