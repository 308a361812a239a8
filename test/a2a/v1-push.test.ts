import assert from 'node:assert/strict'
import test from 'node:test'
import { v1 } from '../../lib/a2a/codec/v1.ts'

const url = 'https://client.example.com/webhook'

test('of several schemes of a receiver the first is written, and none without credentials of its own', () => {
  const rows: readonly (readonly [schemes: readonly string[], written: object | undefined])[] = [
    [['Bearer', 'Basic'], { scheme: 'Bearer', credentials: 'abc' }],
    [[], undefined],
  ]
  for (const [schemes, written] of rows) {
    const authentication = { schemes, credentials: 'abc' }
    const config = { id: 'p1', taskId: 't1', url, token: undefined, authentication }
    const result = v1.operations['push-get']!.encodeResult(config) as { authentication?: object }
    assert.deepEqual(result.authentication, written)
  }
})

test('addresses and secrets are bounded', () => {
  const long = 'x'.repeat(8193)
  const rows: readonly (readonly [config: object, field: string])[] = [
    [{ url: long }, 'params.url'],
    [{ url, token: long }, 'params.token'],
    [{ url, authentication: { scheme: long } }, 'params.authentication.scheme'],
    [{ url, authentication: { scheme: 'Bearer', credentials: long } }, 'params.authentication.credentials'],
  ]
  for (const [config, field] of rows) {
    const { decodeRequest } = v1.operations['push-create']!
    assert.throws(() => decodeRequest({ taskId: 't1', ...config }, 256), { kind: 'invalid', field }, field)
  }
})
