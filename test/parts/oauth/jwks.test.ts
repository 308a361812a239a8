import assert from 'node:assert/strict'
import { constants, createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { createServer } from 'node:http'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { jwksVerifier } from '../../../lib/index.ts'
import { eventually, request, serve } from '../../fixtures/client.ts'
import type { KeyObject } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { JwksOptions } from '../../../lib/index.ts'

type Json = Record<string, unknown>
interface Pair { readonly publicKey: KeyObject; readonly privateKey: KeyObject }

const audience = 'https://agents.example.com/mcp'
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const other = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ed = generateKeyPairSync('ed25519')

function jwkOf({ publicKey }: Pair, kid: string, more: Json = {}): Json {
  return { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', ...more }
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

interface Issuer {
  readonly url: string
  keys: Json[]
  /** Paths that were asked for. */
  readonly asked: string[]
  status: number
  /** Where its keys are. */
  path: string
}

async function issuerFor(t: TestContext): Promise<Issuer> {
  const asked: string[] = []
  const server = createServer((req, res) => {
    asked.push(req.url ?? '')
    const metadata = { issuer: issuer.url, jwks_uri: `${issuer.url}${issuer.path}` }
    const isMetadata = req.url?.startsWith('/.well-known/') === true
    const status = isMetadata ? 200 : req.url === issuer.path ? issuer.status : 404
    res.writeHead(status).end(JSON.stringify(isMetadata ? metadata : { keys: issuer.keys }))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const issuer: Issuer = { url, asked, status: 200, path: '/keys', keys: [
    jwkOf(rsa, 'rsa'), jwkOf(ec, 'ec'), jwkOf(ed, 'ed'), jwkOf(weak, 'weak'),
    { kty: 'oct', k: 'AAAA', kid: 'rsa' }, { kty: 'EC', kid: 'broken' },
  ] }
  return issuer
}

function claimsOf(issuer: Issuer, more: Json = {}): Json {
  const now = Math.floor(Date.now() / 1_000)
  return { iss: issuer.url, aud: audience, sub: 'ann', exp: now + 60, iat: now, scope: 'a b', ...more }
}

const usual = { alg: 'RS256', kid: 'rsa' }

/** A token; `header` has at least its algorithm. */
function tokenOf(claims: Json, header: Json = usual, { privateKey: key }: Pair = rsa): string {
  const data = `${encode(header)}.${encode(claims)}`
  const hash = String(header['alg']) === 'EdDSA' ? null : 'sha256'
  const isEllipse = header['alg'] === 'ES256'
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_DIGEST: saltLength } = constants
  const signature = sign(hash, Buffer.from(data), isEllipse ? { key, dsaEncoding: 'ieee-p1363' }
    : header['alg'] === 'PS256' ? { key, padding, saltLength } : key)
  return `${data}.${signature.toString('base64url')}`
}

function verifierOf({ url }: Issuer, more: Partial<JwksOptions> = {}): ReturnType<typeof jwksVerifier> {
  return jwksVerifier({ issuer: url, audience, ...more })
}

test('a token of the issuer names its subject, scopes, time and claims', async (t) => {
  const issuer = await issuerFor(t)
  const verify = verifierOf(issuer)
  const claims = claimsOf(issuer, { email: 'ann@example.com' })
  assert.deepEqual(await verify(tokenOf(claims)), {
    subject: 'ann', issuer: issuer.url, scopes: ['a', 'b'], claims,
    expiresAt: (Number(claims['exp']) + 30) * 1_000,
  })
  const good: readonly (readonly [claims: Json, header: Json, pair: Pair])[] = [
    [{ aud: ['other', audience], scope: undefined, scp: ['a'] },
      { alg: 'ES256', kid: 'ec', typ: 'at+jwt' }, ec],
    [{ exp: Number(claims['exp']) - 80 }, { alg: 'EdDSA', kid: 'ed', typ: 'JWT' }, ed],
    [{}, { alg: 'RS256' }, rsa],
    [{}, { alg: 'PS256', kid: 'rsa' }, rsa],
  ]
  for (const [more, header, pair] of good) {
    assert.equal((await verify(tokenOf(claimsOf(issuer, more), header, pair)))?.subject, 'ann')
  }
  assert.deepEqual(issuer.asked, ['/.well-known/openid-configuration', '/keys'])
})

test('any other token is none', async (t) => {
  const issuer = await issuerFor(t)
  const verify = verifierOf(issuer)
  const claims = claimsOf(issuer)
  const now = Number(claims['iat'])
  const [head = '', body = '', signature = ''] = tokenOf(claims).split('.')
  const secret = issuer.keys[0]!['n']
  const forged = `${encode({ alg: 'HS256' })}.${body}`
  const hmac = createHmac('sha256', String(secret)).update(forged).digest('base64url')
  const bad: readonly string[] = [
    '', 'a', 'a.b.c', `${head}.${body}.`, `${head}.${encode({ ...claims, sub: 'eve' })}.${signature}`,
    `${encode({ alg: 'none' })}.${body}.`, `${forged}.${hmac}`,
    tokenOf(claims, usual, other), tokenOf(claims, { alg: 'RS256', kid: 'weak' }, weak),
    tokenOf(claims, { alg: 'ES256', kid: 'rsa' }, ec), tokenOf(claims, { ...usual, crit: ['b64'] }),
    tokenOf(claims, { ...usual, typ: 'dpop+jwt' }), `x${'a'.repeat(20_000)}.${body}.${signature}`,
    ...[
      { iss: 'https://other.example' }, { aud: 'https://other.example' }, { aud: undefined }, { sub: '' },
      { exp: now - 40 }, { exp: undefined }, { exp: String(now + 60) }, { nbf: now + 40 }, { iat: now + 40 },
    ].map((more) => tokenOf({ ...claims, ...more })),
  ]
  for (const token of bad) assert.equal(await verify(token), undefined, token.slice(0, 80))
})

test('keys are read again for a token with a new one, and not for each', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const issuer = await issuerFor(t)
  const verify = verifierOf(issuer, { jwksUri: `${issuer.url}/keys` })
  assert.ok(await verify(tokenOf(claimsOf(issuer))))
  issuer.keys = [...issuer.keys, jwkOf(other, 'new')]
  const token = tokenOf(claimsOf(issuer), { alg: 'RS256', kid: 'new' }, other)
  // Within the time in which they are not read again it is not known.
  assert.equal(await verify(token), undefined)
  const clock = t.mock.method(performance, 'now')
  const start = performance.now()
  clock.mock.mockImplementation(() => start + 31_000)
  const all = await Promise.all(Array.from({ length: 20 }, () => verify(token)))
  assert.ok(all.every((info) => info?.subject === 'ann'))
  assert.deepEqual(issuer.asked, ['/keys', '/keys'])
  // A key that was withdrawn is good until the keys are old.
  issuer.keys = []
  clock.mock.mockImplementation(() => start + 31_000 + 601_000)
  assert.equal(await verify(token), undefined)
})

test('keys in use are read again before they are old, so an issuer may be away for a while', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const issuer = await issuerFor(t)
  const verify = verifierOf(issuer, { jwksUri: `${issuer.url}/keys` })
  const clock = t.mock.method(performance, 'now')
  const start = performance.now()
  const steps = [[0, 200, 1], [310, 500, 2], [350, 200, 3], [900, 500, 4]] as const
  for (const [seconds, status, reads] of steps) {
    clock.mock.mockImplementation(() => start + seconds * 1_000)
    issuer.status = status
    assert.ok(await verify(tokenOf(claimsOf(issuer))), `after ${seconds} s`)
    await eventually(() => issuer.asked.length === reads)
    // Until it has read the reply too.
    await sleep(20)
  }
  clock.mock.mockImplementation(() => start + 960_000)
  await assert.rejects(verify(tokenOf(claimsOf(issuer))), /keys of the issuer cannot be read/)
})

test('keys that have moved are found again by the metadata', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const issuer = await issuerFor(t)
  const verify = verifierOf(issuer)
  assert.ok(await verify(tokenOf(claimsOf(issuer))))
  issuer.path = '/moved'
  const clock = t.mock.method(performance, 'now')
  const start = performance.now()
  clock.mock.mockImplementation(() => start + 700_000)
  await assert.rejects(verify(tokenOf(claimsOf(issuer))), /cannot be read/)
  clock.mock.mockImplementation(() => start + 702_000)
  assert.ok(await verify(tokenOf(claimsOf(issuer))))
  assert.deepEqual(issuer.asked, [
    '/.well-known/openid-configuration', '/keys', '/keys', '/.well-known/openid-configuration', '/moved',
  ])
})

test('an issuer sends nobody elsewhere for keys, by a redirect or to the machine that asks', async (t) => {
  const asked: string[] = []
  const login = 'https://login.example.com'
  const documents: Readonly<Record<string, Json>> = {
    [`${login}/.well-known/openid-configuration`]: { issuer: login, jwks_uri: 'http://127.0.0.1:1/keys' },
    [`${login}/.well-known/oauth-authorization-server`]: { issuer: login, jwks_uri: `${login}/keys` },
    [`${login}/keys`]: { keys: [jwkOf(rsa, 'rsa')] },
  }
  t.mock.method(globalThis, 'fetch', (url: string, { redirect }: RequestInit) => {
    asked.push(url)
    assert.equal(redirect, 'error')
    return Promise.resolve(Response.json(documents[url]))
  })
  const verify = jwksVerifier({ issuer: login, audience })
  const now = Math.floor(Date.now() / 1_000)
  const info = await verify(tokenOf({ iss: login, aud: audience, sub: 'ann', exp: now + 60 }))
  assert.equal(info?.subject, 'ann')
  assert.deepEqual(asked, Object.keys(documents))
})

test('while keys cannot be read callers get 503, and then they are let in', async (t) => {
  const issuer = await issuerFor(t)
  issuer.status = 500
  const server = serve(t, {
    protocol: 'http',
    tools: [{ name: 'who', description: 'Who calls.', run: (_args, { principal }) => principal.id }],
    auth: { resource: audience, authorizationServers: [issuer.url], verify: verifierOf(issuer) },
  })
  const ask = (): Promise<Response> => server.fetch(request('/tools/who', {}, {
    authorization: `Bearer ${tokenOf(claimsOf(issuer))}`,
  }))
  const refused = await ask()
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5'])
  issuer.status = 200
  const start = performance.now()
  t.mock.method(performance, 'now', () => start + 1_100)
  const let_in = await ask()
  assert.equal(let_in.status, 200)
  assert.match(await let_in.text(), /ann/)
})

test('options that cannot work are refused with what to write', () => {
  const fine = { issuer: 'https://login.example.com', audience }
  const wrong: readonly (readonly [options: Json, message: RegExp])[] = [
    [{ ...fine, issuer: 'login' }, /issuer "login"; write an https address/],
    [{ ...fine, issuer: 'http://login.example.com' }, /https address/],
    [{ ...fine, jwksUri: 'ftp://a' }, /jwksUri "ftp:\/\/a"/],
    [{ ...fine, audience: [] }, /has audience .*; write for whom tokens are made/],
    [{ issuer: fine.issuer }, /^jwksVerifier has audience undefined; write for whom tokens/],
    [null as never, /^jwksVerifier takes an object, not null/],
    [{ ...fine, algorithms: ['HS256'] }, /write some of RS256/],
    [{ ...fine, algorithms: [] }, /write some of/],
    [{ ...fine, clockToleranceSeconds: 1_000 }, /write 0 to 300/],
    [{ ...fine, jwks: 'a' }, /no option 'jwks'; it has/],
  ]
  for (const [options, message] of wrong) {
    assert.throws(() => jwksVerifier(options as never), { name: 'TypeError', message })
  }
})
