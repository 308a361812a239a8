import assert from 'node:assert/strict'
import test from 'node:test'
import { createAuthenticate } from '../../lib/http/auth.ts'
import { readHead } from '../../lib/http/headers.ts'
import type { ApiKey, AuthRequest } from '../../lib/http/auth.ts'
import type { Principal } from '../../lib/index.ts'

const noRequest: AuthRequest = { method: 'GET', path: '/', header: () => undefined }

/** Who the headers and query say is asking. */
function who(apiKey: ApiKey, headers: Readonly<Record<string, string>>, query = ''): unknown {
  return createAuthenticate(apiKey)(readHead(Object.entries(headers).flat()), query, noRequest)
}

function idOf(found: unknown): string | undefined {
  return (found as Principal | undefined)?.id
}

const rows: readonly (readonly [
  what: string, headers: Record<string, string>, id: string | undefined, query?: string,
])[] = [
  ['the key', { 'x-api-key': 'secret' }, 'key:1'],
  ['a bearer', { authorization: 'Bearer secret' }, 'key:1'],
  ['a bearer in any case', { authorization: 'bEARER   secret' }, 'key:1'],
  ['the key twice', { 'x-api-key': 'secret', 'authorization': 'Bearer secret' }, 'key:1'],
  ['a query without a key', { 'x-api-key': 'secret' }, 'key:1', 'a=b&key=c'],
  ['nothing', {}, undefined],
  ['an empty key', { 'x-api-key': '' }, undefined],
  ['another key', { 'x-api-key': 'secreT' }, undefined],
  ['a shorter key', { 'x-api-key': 'secre' }, undefined],
  ['a longer key', { 'x-api-key': 'secret1' }, undefined],
  ['a very long key', { 'x-api-key': 's'.repeat(7_000) }, undefined],
  ['a key that is not ASCII', { 'x-api-key': 's\u00e9cret' }, undefined],
  ['a wrong bearer beside the right key', { 'x-api-key': 'secret', 'authorization': 'Bearer other' },
    undefined],
  ['a wrong key beside the right bearer', { 'x-api-key': 'other', 'authorization': 'Bearer secret' },
    undefined],
  ['another scheme beside the right key', { 'x-api-key': 'secret', 'authorization': 'Basic c2VjcmV0' },
    undefined],
  ['two key headers', { 'x-api-key': 'secret, secret' }, undefined],
  ['two bearers', { authorization: 'Bearer secret, Bearer secret' }, undefined],
  ['a bearer without a token', { authorization: 'Bearer ' }, undefined],
  ['a token without its scheme', { authorization: 'secret' }, undefined],
  ['a key in the query', { 'x-api-key': 'secret' }, undefined, 'a=b&api_key=secret'],
  ['a key in the query, in another spelling', { 'x-api-key': 'secret' }, undefined, 'API%5FKEY=secret'],
  ['a token in the query', { 'x-api-key': 'secret' }, undefined, 'access_token='],
  ['a key in a broken query', { 'x-api-key': 'secret' }, undefined, 'x-api-key=%zz'],
]

test('one right credential is a principal, everything else is nobody', () => {
  for (const [what, headers, id, query] of rows) assert.equal(idOf(who('secret', headers, query)), id, what)
})

test('several keys hold at once, each with its name, scopes and time', () => {
  const keys: ApiKey = [
    'first',
    { id: 'ops', key: 'second', scopes: ['write'] },
    { id: 'ops', key: 'third' },
    { id: 'late', key: 'fourth', expires: new Date(Date.now() + 60_000) },
    { id: 'gone', key: 'fifth', expires: '2020-01-01' },
    { id: 'gone', key: 'sixth', expires: Date.now() - 1 },
  ]
  const given = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth']
  const found = given.map((key) => who(keys, { 'x-api-key': key }))
  assert.deepEqual(found.map(idOf), ['key:1', 'key:ops', 'key:ops', 'key:late', undefined, undefined])
  assert.deepEqual((found[1] as Principal).scopes, ['write'])
})

test('a function may know the keys, at once or by a promise', async () => {
  const told: unknown[] = []
  const verify = (credential: string, request: AuthRequest): Principal | undefined => {
    told.push(credential, request.method, request.path)
    return credential === 'good' ? { id: 'ann', scopes: ['read'] } : undefined
  }
  assert.deepEqual(who(verify, { 'x-api-key': 'good' }), { id: 'ann', scopes: ['read'] })
  assert.equal(who(verify, { authorization: 'Bearer bad' }), undefined)
  assert.deepEqual(told, ['good', 'GET', '/', 'bad', 'GET', '/'])
  assert.equal(
    idOf(await who(async (credential) => verify(credential, noRequest), { 'x-api-key': 'good' })), 'ann',
  )
  assert.equal(await who(async () => null, { 'x-api-key': 'good' }), undefined)
  // Without one credential there is nothing to ask about.
  assert.equal(who(() => assert.fail('asked'), {}), undefined)
})

test('what a function says is not believed when its time is over or it is nobody', async () => {
  const of = (principal: object): unknown => who(() => principal as Principal, { 'x-api-key': 'x' })
  assert.deepEqual(of({ id: 'ann' }), { id: 'ann', scopes: [] })
  assert.equal(idOf(of({ id: 'ann', scopes: [], expiresAt: Date.now() + 60_000 })), 'ann')
  assert.equal(of({ id: 'ann', scopes: [], expiresAt: Date.now() - 1 }), undefined)
  assert.equal(of({ id: 'ann', scopes: [], expiresAt: Number.NaN }), undefined)
  for (const nobody of [{}, { id: '' }, { id: 7 }]) {
    assert.throws(() => of(nobody), /returned no principal; return \{ id: 'who' \}/)
  }
})

const mistakes: readonly (readonly [apiKey: unknown, sentence: RegExp])[] = [
  ['', /^TypeError: The API key 1 is empty; give a string, or leave apiKey out/],
  [[], /apiKey is an empty list; give at least one key/],
  [['a', ''], /The API key 2 is empty/],
  [[{ id: '', key: 'a' }], /The API key 1 has no id; write \{ id: 'ops', key \}/],
  [[{ id: 'ops', key: 7 }], /The API key 1 is empty/],
  [[{ id: 'ops', key: 'a', expires: 'tomorrow' }], /'expires' that is no date; write an ISO 8601 text/],
]

test('a key that cannot be one is a mistake in the options', () => {
  for (const [apiKey, sentence] of mistakes) {
    assert.throws(() => createAuthenticate(apiKey as ApiKey), sentence)
  }
})
