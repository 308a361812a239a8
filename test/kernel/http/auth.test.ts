import assert from 'node:assert/strict'
import test from 'node:test'
import { kernelDefaults } from '../../../lib/kernel/define/limits.ts'
import { createAuthenticator } from '../../../lib/kernel/http/access/auth.ts'
import { readHead } from '../../../lib/kernel/http/message/headers.ts'
import type {
  ApiKey, AskingRequest, Authorization, AuthRequest,
} from '../../../lib/kernel/http/access/auth.ts'
import type { Principal } from '../../../lib/kernel.ts'
import type { TokenInfo } from '../../../lib/kernel/http/access/keys.ts'

const noRequest: AuthRequest = { method: 'GET', path: '/', header: () => undefined }

function asking(rawHeaders: readonly string[], query = ''): AskingRequest {
  return { ...noRequest, head: readHead(rawHeaders), query, network: undefined }
}

/** Who the headers and query say is asking. */
function who(
  apiKey: ApiKey | undefined, headers: Readonly<Record<string, string>>, query = '', auth?: Authorization,
): unknown {
  const authenticator = createAuthenticator({ apiKey, auth, limits: kernelDefaults })
  return authenticator.find(asking(Object.entries(headers).flat(), query))
}

function idOf(found: unknown): string | undefined {
  return (found as Principal | undefined)?.id
}

/** Made of the key's digest: `secret`, and nothing else, has it. */
const SECRET = 'key:B06n1lKnpdASRHYs'

const rows: readonly (readonly [
  what: string, headers: Record<string, string>, id: string | undefined, query?: string,
])[] = [
  ['the key', { 'x-api-key': 'secret' }, SECRET],
  ['a bearer', { authorization: 'Bearer secret' }, SECRET],
  ['a bearer in any case', { authorization: 'bEARER   secret' }, SECRET],
  ['the key twice', { 'x-api-key': 'secret', 'authorization': 'Bearer secret' }, SECRET],
  ['a query without a key', { 'x-api-key': 'secret' }, SECRET, 'a=b&key=c'],
  ['nothing', {}, undefined],
  ['an empty key', { 'x-api-key': '' }, undefined],
  ['another key', { 'x-api-key': 'secreT' }, undefined],
  ['a shorter key', { 'x-api-key': 'secre' }, undefined],
  ['a longer key', { 'x-api-key': 'secret1' }, undefined],
  ['a very long key', { 'x-api-key': 's'.repeat(7_000) }, undefined],
  ['a key that is not ASCII', { 'x-api-key': 's\u00e9cret' }, undefined],
  ['a key whose characters end in the same bytes', { 'x-api-key': '\u0173\u0165cret' }, undefined],
  ['a key that is filled up', { 'x-api-key': 'secret'.padEnd(128, '\0') }, undefined],
  ['a wrong bearer beside the right key', { 'x-api-key': 'secret', 'authorization': 'Bearer other' },
    undefined],
  ['a wrong key beside the right bearer', { 'x-api-key': 'other', 'authorization': 'Bearer secret' },
    undefined],
  ['another scheme beside the right key', { 'x-api-key': 'secret', 'authorization': 'Basic c2VjcmV0' },
    undefined],
  ['two headers of one key', { 'x-api-key': 'secret, secret' }, SECRET],
  ['two headers of one bearer', { authorization: 'Bearer secret,Bearer secret' }, SECRET],
  ['two headers of one bearer, in two cases', { authorization: 'Bearer secret, bearer secret' }, SECRET],
  ['an empty key beside a bearer', { 'x-api-key': '', 'authorization': 'Bearer secret' }, SECRET],
  ['an empty bearer beside a key', { 'x-api-key': 'secret', 'authorization': '' }, SECRET],
  ['two keys', { 'x-api-key': 'secret, secret, other' }, undefined],
  ['two bearers', { authorization: 'Bearer other, Bearer secret' }, undefined],
  ['one bearer, cut', { authorization: 'Bearer secret, secret' }, undefined],
  ['a bearer without a token', { authorization: 'Bearer ' }, undefined],
  ['a token without its scheme', { authorization: 'secret' }, undefined],
  ['a key in the query', { 'x-api-key': 'secret' }, undefined, 'a=b&api_key=secret'],
  ['a key in the query, in another spelling', { 'x-api-key': 'secret' }, undefined, 'API%5FKEY=secret'],
  ['a token in the query', { 'x-api-key': 'secret' }, undefined, 'access_token='],
  ['a key in a broken query', { 'x-api-key': 'secret' }, undefined, 'x-api-key=%zz'],
  ['a key beside what is broken', { 'x-api-key': 'secret' }, undefined, '%zz=1&api%5fkey=secret'],
  ['a key whose name is escaped whole', { 'x-api-key': 'secret' }, undefined,
    '%58%2d%41%50%49%2D%4b%45%59=a'],
  ['a value that is called like a key', { 'x-api-key': 'secret' }, SECRET, 'a=b%26api_key%3Dc&x=api_key'],
  ['a longer name', { 'x-api-key': 'secret' }, SECRET, 'my_api_key=c&api_key_id=d&api_keys[]=e'],
]

test('one right credential is a principal, everything else is nobody', () => {
  for (const [what, headers, id, query] of rows) assert.equal(idOf(who('secret', headers, query)), id, what)
})

test('several keys hold at once, each with its name, scopes and time', () => {
  const later = Date.now() + 60_000
  const keys: ApiKey = [
    'first',
    { id: 'ops', key: 'second', scopes: ['write'] },
    { id: 'ops', key: 'third' },
    { id: 'late', key: 'fourth', expires: new Date(later) },
    { id: 'gone', key: 'fifth', expires: '2020-01-01' },
    { id: 'gone', key: 'sixth', expires: Date.now() - 1 },
  ]
  const given = ['second', 'third', 'fourth', 'fifth', 'sixth', 'seventh']
  const found = given.map((key) => who(keys, { 'x-api-key': key }))
  assert.deepEqual(found.map(idOf), ['key:ops', 'key:ops', 'key:late', undefined, undefined, undefined])
  assert.deepEqual((found[0] as Principal).scopes, ['write'])
  assert.equal((found[2] as Principal).expiresAt, later)
})

test('a key of any length is compared to its end', () => {
  for (const length of [1, 127, 128, 129, 1_000]) {
    const [key, other] = ['k'.repeat(length), `${'k'.repeat(length - 1)}j`]
    const of = (given: string): string | undefined => {
      return idOf(who(['short', { id: 'long', key }], { 'x-api-key': given }))
    }
    assert.equal(of(key), 'key:long')
    assert.match(String(of('short')), /^key:(?!long)/)
    for (const wrong of [other, `${key}k`, `${key}\0`, key.repeat(2), key.slice(1), `x${key}`]) {
      assert.equal(of(wrong), undefined, `${length}: ${wrong.length}`)
    }
  }
})

test('a key without a name is the same caller wherever it stands, and no other is', () => {
  const of = (apiKey: ApiKey, key: string): string | undefined => idOf(who(apiKey, { 'x-api-key': key }))
  const bob = of(['alice', 'bob'], 'bob')
  assert.match(String(bob), /^key:[\w-]{16}$/)
  assert.equal(of(['bob'], 'bob'), bob)
  assert.equal(of('bob', 'bob'), bob)
  assert.notEqual(of(['alice'], 'alice'), bob)
  assert.doesNotMatch(String(bob), /bob/)
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
  const of = (principal: unknown): unknown => who(() => principal as Principal, { 'x-api-key': 'x' })
  assert.deepEqual(of({ id: 'ann' }), { id: 'ann', scopes: [] })
  assert.equal(idOf(of({ id: 'ann', scopes: [], expiresAt: Date.now() + 60_000 })), 'ann')
  assert.equal(of({ id: 'ann', scopes: [], expiresAt: Date.now() - 1 }), undefined)
  assert.equal(of({ id: 'ann', scopes: [], expiresAt: Number.NaN }), undefined)
  for (const nobody of [{}, { id: '' }, { id: 7 }, true, false, 'ann', []]) {
    assert.throws(() => of(nobody), /returned no principal; return \{ id: 'who' \}/)
  }
  for (const [principal, sentence] of unkept) assert.throws(() => of(principal), sentence)
})

/** Principals that would be somebody else, or everybody, or could not be kept. */
const unkept: readonly (readonly [principal: object, sentence: RegExp])[] = [
  [{ id: '~house' }, /has an id that begins with ~, which is for the server's own/],
  [{ id: 'x'.repeat(513) }, /has an id of more than 512 bytes/],
  [{ id: 'ä'.repeat(257) }, /has an id of more than 512 bytes/],
  [{ id: 'ann', scopes: 'orders:write-own' }, /has scopes that are no list; return strings/],
  [{ id: 'ann', scopes: [7] }, /has scopes that are no list/],
  [{ id: 'ann', scopes: new Set(['a']) }, /has scopes that are no list/],
  [{ id: 'ann', scopes: null }, /has scopes that are no list/],
  [{ id: 'ann', expiresAt: '2099-01-01' }, /has an expiresAt that is no number/],
  [{ id: 'ann', expiresAt: new Date() }, /has an expiresAt that is no number/],
  [{ id: 'ann', expiresAt: Date.now() / 1000 + 60 },
    /^TypeError: The principal of .* has an expiresAt in seconds; return milliseconds, as in exp \* 1000$/],
]

const auth: Authorization = {
  resource: 'https://agents.example/mcp',
  authorizationServers: ['https://login.example'],
  verify: () => null,
}

function tokenOf(info: unknown, more: Partial<Authorization> = {}): unknown {
  const verify = (): TokenInfo => info as TokenInfo
  return who(undefined, { authorization: 'Bearer t' }, '', { ...auth, ...more, verify })
}

const two = { authorizationServers: ['https://a.example', 'https://b.example'] }

test('the subjects of two issuers are two callers', () => {
  const ids = [
    tokenOf({ subject: 'ann' }),
    tokenOf({ subject: 'ann', issuer: 'https://login.example' }),
    tokenOf({ subject: 'ann', issuer: 'https://a.example' }, two),
    tokenOf({ subject: 'ann', issuer: 'https://b.example' }, two),
    tokenOf({ subject: 'b:c', issuer: 'a' }, two),
    tokenOf({ subject: 'c', issuer: 'a:b' }, two),
  ].map(idOf)
  assert.equal(ids[0], 'token:https%3A%2F%2Flogin.example:ann')
  assert.equal(ids[1], ids[0])
  assert.equal(new Set(ids).size, 5)
  assert.throws(() => tokenOf({ subject: 'ann' }, two), /returned no issuer, and there are several/)
  assert.throws(() => tokenOf({ subject: 'ann', issuer: 7 }), /returned no issuer/)
})

test('scopes of a token are a list, or OAuth\'s own text', () => {
  const of = (info: object): unknown => (tokenOf({ subject: 'ann', ...info }) as Principal).scopes
  assert.deepEqual(of({}), [])
  assert.deepEqual(of({ scope: 'orders:write-own read' }), ['orders:write-own', 'read'])
  assert.deepEqual(of({ scope: '' }), [])
  assert.deepEqual(of({ scopes: ['read'], scope: 'read write' }), ['read'])
  const odd = [{ scopes: 'orders:write-own' }, { scopes: {} }, { scopes: null, scope: 7 }, { scope: ['a'] }]
  for (const one of odd) {
    assert.throws(() => of(one), /has scopes that are no list|returned a scope that is no text/)
  }
})

test('a token whose subject cannot own anything is the verifier\'s mistake', () => {
  for (const nobody of [true, 'ann', {}, { subject: '' }, { subject: 7 }]) {
    assert.throws(() => tokenOf(nobody), /auth.verify returned no subject/)
  }
  const soon = Math.floor(Date.now() / 1000) + 60
  assert.throws(() => tokenOf({ subject: 'ann', expiresAt: soon }), /The token has an expiresAt in seconds/)
  assert.throws(() => tokenOf({ subject: 'x'.repeat(512) }), /has an id of more than 512 bytes/)
  assert.equal(tokenOf(null), undefined)
  assert.equal(tokenOf(undefined), undefined)
  assert.equal(tokenOf({ subject: 'ann', expiresAt: Date.now() - 1 }), undefined)
})

/** Who is asked about what, by which header it came, and what comes of it. */
const chains: readonly (readonly [
  what: string, apiKey: ApiKey | undefined, headers: Record<string, string>, asked: readonly string[],
  id: string | undefined,
])[] = [
  ['a listed key', [{ id: 'k', key: 'listed' }], { authorization: 'Bearer listed' }, [], 'key:k'],
  ['a bearer that is on no list', ['listed'], { authorization: 'Bearer tok' }, ['token'],
    'token:https%3A%2F%2Flogin.example:tok'],
  ['a key that is on no list', ['listed'], { 'x-api-key': 'tok' }, [], undefined],
  ['an expired key of the list', [{ id: 'k', key: 'listed', expires: 1 }], { authorization: 'Bearer listed' },
    [], undefined],
  ['a key that the function knows', knows('fn'), { 'x-api-key': 'fn' }, ['key'], 'fn'],
  ['a bearer that the function knows', knows('fn'), { authorization: 'Bearer fn' }, ['key'], 'fn'],
  ['a bearer that the function does not know', knows('fn'), { authorization: 'Bearer tok' }, ['key', 'token'],
    'token:https%3A%2F%2Flogin.example:tok'],
  ['a key that the function does not know', knows('fn'), { 'x-api-key': 'tok' }, ['key'], undefined],
  ['one that the function knows as expired', knows('fn', 1), { authorization: 'Bearer fn' }, ['key'],
    undefined],
  ['another scheme', knows('fn'), { authorization: 'Basic Zm4=' }, [], undefined],
]

const log: string[] = []

function knows(key: string, expiresAt?: number): ApiKey {
  return (credential) => {
    log.push('key')
    return credential === key ? { id: key, scopes: [], ...expiresAt !== undefined && { expiresAt } } : null
  }
}

/** A promise of no known make. */
function foreign<T>(value: T): Promise<T> {
  return { then: (done: (value: T) => void) => { setImmediate(done, value) } } as unknown as Promise<T>
}

test('a key is asked of its list, then of its function, and only a bearer then of the verifier', async () => {
  const makes: readonly (<T>(value: T) => T | Promise<T>)[] = [
    (value) => value, (value) => Promise.resolve(value), foreign,
  ]
  for (const make of makes) {
    for (const [what, apiKey, headers, asked, id] of chains) {
      log.length = 0
      const keys: ApiKey | undefined = typeof apiKey !== 'function' ? apiKey
        : (credential, request) => make(apiKey(credential, request)) as Promise<Principal>
      const found = await who(keys, headers, '', {
        ...auth,
        verify(token) {
          log.push('token')
          return make(token === 'tok' ? { subject: 'tok' } : undefined) as Promise<TokenInfo>
        },
      })
      assert.equal(idOf(found), id, what)
      assert.deepEqual(log, asked, what)
    }
  }
})

test('a function is waited for only so long, and only so many times at once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const limits = { authTimeoutMs: 1_000, maxCalls: 2 }
  const answers: ((found: Principal) => void)[] = []
  const apiKey: ApiKey = () => new Promise((resolve) => answers.push(resolve))
  const authenticator = createAuthenticator({ apiKey, limits })
  const ask = (): unknown => authenticator.find(asking(['x-api-key', 'k']))
  const busy = { name: 'Unavailable', retryAfterSeconds: 1 }
  const late = { name: 'Unavailable', retryAfterSeconds: 5 }

  const [first, second] = [ask(), ask()]
  assert.throws(ask, busy)
  t.mock.timers.tick(1_000)
  for (const hung of [first, second]) await assert.rejects(hung as Promise<unknown>, late)
  // They may be running still, so their places are free only after the same time again.
  assert.throws(ask, busy)
  answers[0]!({ id: 'ann', scopes: [] })
  await new Promise((resolve) => setImmediate(resolve))
  const third = ask()
  assert.throws(ask, busy)
  answers[2]!({ id: 'ann', scopes: [] })
  assert.equal(idOf(await third), 'ann')
  t.mock.timers.tick(1_000)
  const [fourth, fifth] = [ask(), ask()]
  assert.throws(ask, busy)
  for (const answer of answers) answer({ id: 'bob', scopes: [] })
  assert.deepEqual([idOf(await fourth), idOf(await fifth)], ['bob', 'bob'])
})

test('keys of a list need no function, and are never turned away by one that hangs', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const limits = { authTimeoutMs: 1_000, maxCalls: 1 }
  const verify = (): Promise<TokenInfo> => new Promise(() => {})
  const authenticator = createAuthenticator({ apiKey: 'k', auth: { ...auth, verify }, limits })
  const ask = (key: string): unknown =>
    authenticator.find(asking(['authorization', `Bearer ${key}`]))
  assert.ok(ask('token') instanceof Promise)
  assert.throws(() => ask('token'), { name: 'Unavailable' })
  assert.match(String(idOf(ask('k'))), /^key:/)
})

test('a function that throws, or promises and fails, is heard by whoever asks', async () => {
  assert.throws(() => who(() => { throw new Error('down') }, { 'x-api-key': 'x' }), /down/)
  const later = who(async () => { throw new Error('down') }, { 'x-api-key': 'x' })
  await assert.rejects(later as Promise<unknown>, /down/)
})

const mistakes: readonly (readonly [apiKey: unknown, sentence: RegExp])[] = [
  ['', /^TypeError: The API key 1 is empty; give a string, or leave apiKey out/],
  [[], /apiKey is an empty list; give at least one key/],
  [['a', ''], /The API key 2 is empty/],
  [7, /The API key 1 is empty/],
  [[{ id: '', key: 'a' }], /The API key 1 has no id; write \{ id: 'ops', key \}/],
  [[{ key: 'a' }], /The API key 1 has no id/],
  [[{ id: 'ops', key: 7 }], /The API key 1 is empty/],
  [[{ id: 'ops', key: 'a', expires: 'tomorrow' }], /'expires' that is no date; write an ISO 8601 text/],
  [[{ id: 'ops', key: 'a', expires: 1_900_000_000 }], /'expires' in seconds; write an ISO 8601 text or/],
  [[{ id: 'ops', key: 'a', scopes: 'admin' }], /has scopes that are none; write a list of names/],
  [[{ id: 'ops', key: 'a', scopes: ['a b'] }], /has scopes that are none/],
  [[{ id: 'x'.repeat(509), key: 'a' }], /has an id of more than 512 bytes/],
  [['a', 'b', 'a'], /The API keys 1 and 3 are the same; give each entry its own/],
  [[{ id: 'a', key: 'k' }, { id: 'b', key: 'k' }], /The API keys 1 and 2 are the same/],
  [['secret\n'], /The API key 1 cannot be sent in a header/],
  [['secret,'], /The API key 1 reads in a header like a list of one value; write it without its commas/],
  [['a,a'], /The API key 1 reads in a header like a list/],
  [[' secret'], /The API key 1 cannot be sent in a header/],
  [['s\u00e9cret'], /The API key 1 cannot be sent in a header/],
]

test('a key that cannot be one is a mistake in the options, and is not shown', () => {
  for (const [apiKey, sentence] of mistakes) {
    const make = (): unknown => createAuthenticator({ apiKey: apiKey as ApiKey, limits: kernelDefaults })
    assert.throws(make, (error: Error) => {
      assert.match(String(error), sentence)
      assert.doesNotMatch(String(error), /secret/)
      return true
    })
  }
})

const unauthorized: readonly (readonly [more: object, sentence: RegExp])[] = [
  [{ resource: 'agents' }, /auth.resource is "agents"; write the address that clients dial/],
  [{ resource: 'https://a.example/#b' }, /auth.resource/],
  [{ resource: 'ftp://a.example' }, /auth.resource/],
  [{ authorizationServers: [] }, /auth.authorizationServers has no issuer/],
  [{ authorizationServers: 'https://login.example' }, /auth.authorizationServers has no issuer/],
  [{ authorizationServers: ['login'] }, /auth.authorizationServers has no issuer, or what is none/],
  [{ scopes: 'read' }, /auth.scopes is no list of scopes/],
  [{ scopes: ['a b'] }, /auth.scopes is no list of scopes/],
  [{ verify: undefined }, /auth.verify is missing; write \(token, request\)/],
]

test('an authorization that cannot be one is a mistake in the options', () => {
  for (const [more, sentence] of unauthorized) {
    assert.throws(() => createAuthenticator({ auth: { ...auth, ...more }, limits: kernelDefaults }), sentence)
  }
})
