import assert from 'node:assert/strict'
import test from 'node:test'
import { decodeV1Push, encodeV1Push } from '../../lib/a2a/codec/v1.ts'

const url = 'https://client.example.com/webhook'

test('of several schemes of a receiver the first is written, and none without credentials of its own', () => {
  const rows: readonly (readonly [schemes: readonly string[], written: object | undefined])[] = [
    [['Bearer', 'Basic'], { scheme: 'Bearer', credentials: 'abc' }],
    [[], undefined],
  ]
  for (const [schemes, written] of rows) {
    const authentication = { schemes, credentials: 'abc' }
    const config = { id: 'p1', taskId: 't1', url, token: undefined, authentication }
    assert.deepEqual(encodeV1Push(config).authentication, written)
  }
})

test('addresses and secrets are bounded', () => {
  const long = 'x'.repeat(8193)
  const rows: readonly (readonly [config: object, field: string])[] = [
    [{ url: long }, 'at.url'],
    [{ url, token: long }, 'at.token'],
    [{ url, authentication: { scheme: long } }, 'at.authentication.scheme'],
    [{ url, authentication: { scheme: 'Bearer', credentials: long } }, 'at.authentication.credentials'],
  ]
  for (const [config, field] of rows) {
    assert.throws(() => decodeV1Push(config, 'at', 256), { kind: 'invalid', field }, field)
  }
})
