/** Listed keys, and what functions of operators may return, one guard at a time. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { createAuthenticator } from '../../../lib/kernel/http/access/auth.ts'
import {
  bearerOf, createKeys, isInSeconds, principalOf, requireId,
} from '../../../lib/kernel/http/access/keys.ts'
import { readHead } from '../../../lib/kernel/http/message/headers.ts'
import type { ApiKey, AskingRequest, Authorization } from '../../../lib/kernel/http/access/auth.ts'
import type { Principal } from '../../../lib/kernel.ts'

const NOW = 1_700_000_000_000
const limits = { authTimeoutMs: 1_000, maxCalls: 10 }
const issuer = 'https://login.example.com'
const request = { method: 'POST', path: '/', header: () => undefined }
const auth: Authorization = {
  resource: 'https://agents.example.com/mcp', authorizationServers: [issuer], verify: () => undefined,
}
type Headers = Readonly<Record<string, string>>

function asking(headers: Headers, query = ''): AskingRequest {
  return { ...request, head: readHead(Object.entries(headers).flat()), query, network: undefined }
}

function asked(apiKey: ApiKey | undefined, headers: Headers, more?: Authorization, query?: string): unknown {
  return createAuthenticator({ apiKey, auth: more, limits }).find(asking(headers, query))
}

/** Values that decoders of other languages make, in the place of any member. */
const odd: readonly unknown[] = [null, true, false, 0, 5, NaN, [], {}, [5], () => 'a', Symbol('a'), 5n]
const any = (value: unknown): never => value as never

test('what is no principal is the mistake of the apiKey function', () => {
  for (const value of [true, 5, 'ann', [], {}, { id: '' }, ...odd.map((id) => ({ id }))]) {
    assert.throws(() => principalOf(any(value)), { name: 'TypeError', message: /returned no principal/ })
  }
  assert.deepEqual(principalOf(any({ id: 'ann' })), { id: 'ann', scopes: [] })
})

test('what is no token is the mistake of auth.verify', () => {
  for (const value of [true, 5, 'ann', [], {}, { subject: '' }, ...odd.map((subject) => ({ subject }))]) {
    assert.throws(() => bearerOf(any(value), issuer), { name: 'TypeError', message: /returned no subject/ })
  }
  for (const from of ['', 5, true, {}, []]) {
    const info = any({ subject: 'ann', issuer: from })
    assert.throws(() => bearerOf(info, issuer), { name: 'TypeError', message: /returned no issuer/ })
  }
  assert.throws(() => bearerOf({ subject: 'ann' }, undefined), /returned no issuer/)
  assert.throws(() => bearerOf({ subject: 'ann' }, ''), /returned no issuer/)
  for (const scope of [null, 5, [], {}, true]) {
    assert.throws(() => bearerOf(any({ subject: 'ann', scope }), issuer), /scope that is no text/)
  }
})

test('scopes are a list of strings, and nothing else', () => {
  for (const scopes of ['orders:read', true, 5, {}, [5], ['a', null], [['a']]]) {
    assert.throws(() => principalOf(any({ id: 'ann', scopes })), { name: 'TypeError', message: /scopes/ })
    assert.throws(() => bearerOf(any({ subject: 'ann', scopes }), issuer), /scopes/)
  }
  assert.throws(() => principalOf(any({ id: 'ann', scopes: null })), /scopes/)
})

test('a time is milliseconds, and at its very moment it is over', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: NOW })
  const at = (expiresAt: unknown): Principal | undefined => principalOf(any({ id: 'ann', expiresAt }))
  for (const value of ['2100-01-01', null, true, new Date(NOW + 1), {}, 5n]) {
    assert.throws(() => at(value), /no number/)
  }
  for (const seconds of [NOW / 1_000, 1e9 + 1, 1e11 - 1]) assert.throws(() => at(seconds), /in seconds/)
  for (const over of [NaN, NOW, NOW - 1, 0, -1, 1e9, 1e11, -Infinity]) assert.equal(at(over), undefined)
  for (const good of [NOW + 1, Infinity]) assert.equal(at(good)?.expiresAt, good)
  const times = [1e9, 1e9 + 1, 1e11 - 1, 1e11, '1500000000']
  assert.deepEqual(times.map(isInSeconds), [false, true, true, false, false])
})

test('an id has at most 512 bytes, and does not begin as those of the server', () => {
  assert.equal(requireId('It', 'é'.repeat(256)).length, 256)
  assert.throws(() => requireId('It', `${'é'.repeat(256)}a`), /more than 512 bytes/)
  assert.throws(() => requireId('It', '~a'), /begins with ~/)
  assert.throws(() => principalOf({ id: '~a', scopes: [] }), /begins with ~/)
  assert.throws(() => bearerOf({ subject: 'a'.repeat(512) }, issuer), /more than 512 bytes/)
})

test('claims are a plain object of JSON, at most 16 KiB', () => {
  const of = (claims: unknown): unknown => principalOf(any({ id: 'ann', claims }))?.claims
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  for (const claims of ['a', 5, true, null, [], () => 5]) assert.throws(() => of(claims), /no object/)
  for (const claims of [circle, { a: 5n }]) assert.throws(() => of(claims), /cannot represent/)
  assert.throws(() => of({ toJSON: () => undefined }), /no object/)
  const fits = { a: 'x'.repeat(16 * 1024 - 8) }
  assert.deepEqual(of(fits), fits)
  assert.throws(() => of({ a: `${fits.a}x` }), /more than 16384 bytes/)
  assert.ok(Object.isFrozen(of({ a: { b: [] } })))
})

test('a listed key is over at the moment of its expires, and no function is asked about it', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: NOW })
  const keys = [{ id: 'ann', key: 'k', expires: NOW }, { id: 'bob', key: 'l', expires: new Date(NOW + 1) }]
  const verify = (): never => assert.fail('a key of the list is decided there')
  const one = { ...auth, verify }
  assert.equal(asked(keys, { 'authorization': 'Bearer k' }, one), undefined)
  assert.equal((asked(keys, { 'authorization': 'Bearer l' }, one) as Principal).id, 'key:bob')
  t.mock.timers.tick(1)
  assert.equal(asked(keys, { 'x-api-key': 'l' }, one), undefined)
})

test('the entries of a list are checked, each by its number', () => {
  const wrong: readonly (readonly [entries: readonly unknown[], why: RegExp])[] = [
    [[], /empty list/], [[''], /API key 1 is empty/], [['a', { id: 'b' }], /API key 2 is empty/],
    [['a', 'b', 'a'], /API keys 1 and 3 are the same/], [['é'], /visible ASCII/], [[' a'], /visible ASCII/],
    [['a\n'], /visible ASCII/], [[{ key: 'a' }], /has no id/], [[{ key: 'a', id: '' }], /has no id/],
    [[{ key: 'a', id: 5 }], /has no id/], [[{ key: 5, id: 'a' }], /is empty/],
    [[{ key: 'a', id: 'b', scopes: 'c' }], /scopes that are none/],
    [[{ key: 'a', id: 'b', scopes: ['c d'] }], /scopes that are none/],
    [[{ key: 'a', id: 'b', expires: 'soon' }], /no date/], [[{ key: 'a', id: 'b', expires: NaN }], /no date/],
    [[{ key: 'a', id: 'b', expires: 1_700_000_000 }], /in seconds/],
    [[{ key: 'a', id: 'x'.repeat(509) }], /more than 512 bytes/],
  ]
  for (const [entries, message] of wrong) {
    assert.throws(() => createKeys(any(entries)), { name: 'TypeError', message })
  }
})

test('a key is found whole, by its own bytes, however long', () => {
  const long = 'x'.repeat(300)
  const find = createKeys([{ id: 'short', key: 'k' }, { id: 'long', key: long }])
  assert.equal(find('k')?.id, 'key:short')
  assert.equal(find(long)?.id, 'key:long')
  // Latin-1 would cut U+016B to the letter k.
  for (const wrong of ['', 'K', 'kk', 'k\0', '\u016b', `${long}x`, long.slice(1)]) {
    assert.equal(find(wrong), undefined)
  }
  const entries = [{ id: 'ann', key: 'k', scopes: ['a'] }]
  const kept = createKeys(entries)
  entries[0]!.scopes.push('b')
  entries[0]!.key = 'l'
  assert.deepEqual(kept('k')?.scopes, ['a'])
  assert.ok(Object.isFrozen(kept('k')))
  assert.equal(kept('l'), undefined)
})

test('a credential is one, in a header, by one scheme', () => {
  const of = (headers: Headers): string | undefined => {
    let credential: string | undefined
    asked((given) => { credential = given; return null }, headers)
    return credential
  }
  assert.equal(of({ 'authorization': 'bEARER   k' }), 'k')
  assert.equal(of({ 'authorization': 'Bearer k', 'x-api-key': 'k' }), 'k')
  assert.equal(of({ 'x-api-key': 'k' }), 'k')
  assert.equal(of({ 'authorization': '', 'x-api-key': 'k' }), 'k')
  assert.equal(of({ 'authorization': '' }), undefined)
  const others = ['Basic k', 'Bearer', 'Bearer ', 'Bearerk', 'k', 'x Bearer k', 'Bearer\tk']
  for (const authorization of others) {
    assert.equal(of({ authorization }), undefined, authorization)
    assert.equal(of({ authorization, 'x-api-key': 'k' }), undefined, authorization)
  }
  assert.equal(of({ 'authorization': 'Bearer k', 'x-api-key': 'l' }), undefined)
  assert.equal(of({}), undefined)
})

test('a key in the address is refused, whatever else is there', () => {
  const names = ['api_key', 'apikey', 'x-api-key', 'access_token', 'API_KEY', '%61pi_key', '%41PI%5fkey']
  for (const name of names) {
    for (const query of [`${name}=k`, `a=b&${name}=k`]) {
      assert.equal(asked('k', { 'x-api-key': 'k' }, undefined, query), undefined, query)
    }
  }
  for (const query of ['', 'a=b', 'api_key', '=api_key', 'key=k', 'xapi_key=k', `${'%61'.repeat(12)}a=k`]) {
    assert.ok(asked('k', { 'x-api-key': 'k' }, undefined, query), query)
  }
  const longest = [...'access_token'].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('')
  assert.equal(asked('k', { 'x-api-key': 'k' }, undefined, `${longest}=k`), undefined)
  const why = (headers: Headers, query: string, tokensOnly?: boolean): string => (
    createAuthenticator({ limits, ...tokensOnly === true ? { auth } : { apiKey: 'k' } })
      .objection(asking(headers, query))
  )
  assert.match(why({}, 'api_key=k'), /must not stand in the address/)
  assert.match(why({ authorization: 'Basic k' }, ''), /one key or token/)
  assert.match(why({ authorization: 'Basic k' }, '', true), /^Authorization must be Bearer and one token$/)
  assert.match(why({ 'authorization': 'Bearer k', 'x-api-key': 'l' }, ''), /two different things/)
  assert.match(why({ 'authorization': 'Bearer k', 'x-api-key': 'k' }, ''), /A valid key is needed/)
  assert.match(why({ 'x-api-key': 'k' }, ''), /A valid key is needed: send it as X-API-Key/)
  assert.match(why({}, '', true), /A valid token is needed: send it as Authorization/)
})

test('a wrong credential is final, and X-API-Key is no token', async () => {
  const tokens: string[] = []
  const one: Authorization = {
    ...auth,
    verify: (token) => {
      tokens.push(token)
      return token === 't' ? { subject: 'ann' } : null
    },
  }
  assert.equal(asked('k', { 'x-api-key': 't' }, one), undefined)
  assert.deepEqual(tokens, [])
  assert.equal(asked('k', { authorization: 'Bearer u' }, one), undefined)
  const bearer = { authorization: 'Bearer t' }
  const id = `token:${encodeURIComponent(issuer)}:ann`
  assert.equal((asked('k', bearer, one) as Principal).id, id)
  assert.equal((asked(() => null, bearer, one) as Principal).id, id)
  assert.equal(await asked(async () => undefined, { 'x-api-key': 't' }, one), undefined)
  // An expired principal of the function is refused there, and no token.
  assert.equal(asked(() => ({ id: 'a', scopes: [], expiresAt: 5 }), bearer, one), undefined)
  assert.deepEqual(tokens, ['u', 't', 't'])
})

test('where several issuers are listed, a token says which it is of', () => {
  const authorizationServers = [issuer, 'https://b.example']
  const two = { ...auth, authorizationServers, verify: () => ({ subject: 'ann' }) }
  assert.throws(() => asked(undefined, { authorization: 'Bearer t' }, two), /returned no issuer/)
})

test('options of tokens that cannot work are refused', () => {
  const bad: readonly (readonly [more: object, why: RegExp])[] = [
    [{ resource: 'mcp' }, /auth\.resource/], [{ resource: 'ftp://a.example/' }, /auth\.resource/],
    [{ resource: 'https://a.example/#b' }, /auth\.resource/],
    [{ resource: 'https://a.example/%20' }, /auth\.resource/],
    [{ authorizationServers: [] }, /authorizationServers/],
    [{ authorizationServers: issuer }, /authorizationServers/],
    [{ authorizationServers: [issuer, 'b'] }, /authorizationServers/], [{ scopes: 'a' }, /auth\.scopes/],
    [{ scopes: ['a b'] }, /auth\.scopes/], [{ verify: 5 }, /auth\.verify is missing/],
  ]
  for (const [more, message] of bad) {
    assert.throws(() => asked(undefined, {}, any({ ...auth, ...more })), { name: 'TypeError', message })
  }
})
