/** What tokens, keys and documents of others may look like, one guard at a time. */
import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import test from 'node:test'
import { jwksVerifier } from '../../../lib/index.ts'
import type { KeyObject } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { JwksOptions } from '../../../lib/index.ts'

type Json = Record<string, unknown>
type Info = Awaited<ReturnType<ReturnType<typeof jwksVerifier>>>

const issuer = 'https://login.example.com'
const audience = 'https://agents.example.com/mcp'
const jwksUri = `${issuer}/keys`
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const next = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ec384 = generateKeyPairSync('ec', { namedCurve: 'P-384' })
const ed = generateKeyPairSync('ed25519')
const NOW = 1_700_000_000

const text = (value: unknown): string => Buffer.from(
  typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const jwk = ({ publicKey }: { readonly publicKey: KeyObject }, more: Json = {}): Json => (
  { ...publicKey.export({ format: 'jwk' }), ...more }
)
const claims = { iss: issuer, aud: audience, sub: 'ann', exp: NOW + 60 }

/** A token of any header and payload, which may be JSON texts. */
function tokenOf(
  payload: unknown = claims, header: unknown = { alg: 'RS256' }, key = rsa.privateKey,
): string {
  const data = `${text(header)}.${text(payload)}`
  const hash = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  const signature = sign(hash, Buffer.from(data), { key, dsaEncoding: 'ieee-p1363' })
  return `${data}.${signature.toString('base64url')}`
}

interface Net {
  /** The documents there are; a text or a response is sent as it is. */
  documents: Record<string, unknown>
  readonly asked: string[]
  monotonic: number
  read(token: string, more?: Partial<JwksOptions>): Promise<Info>
}

/** An issuer that is asked through `fetch`, at a time that stands. */
function netOf(t: TestContext, keys: readonly unknown[] = [jwk(rsa)]): Net {
  t.mock.timers.enable({ apis: ['Date'], now: NOW * 1_000 })
  const net: Net = {
    documents: { [jwksUri]: { keys } }, asked: [], monotonic: 1_000_000,
    read: (token, more) => jwksVerifier({ issuer, audience, jwksUri, ...more })(token),
  }
  t.mock.method(performance, 'now', () => net.monotonic)
  t.mock.method(globalThis, 'fetch', async (url: string) => {
    net.asked.push(url)
    const found = net.documents[url]
    if (found instanceof Response) return found
    if (found === undefined) return new Response('', { status: 404 })
    return typeof found === 'string' ? new Response(found) : Response.json(found)
  })
  return net
}

const reading = (name: string, payload: unknown, isGood: boolean, header?: unknown): void => {
  test(`${name} is ${isGood ? 'a good token' : 'no token'}`, async (t) => {
    const info = await netOf(t).read(tokenOf(payload, header))
    assert.equal(info?.subject, isGood ? 'ann' : undefined)
  })
}

reading('a token as it should be', claims, true)
for (const value of ['null', '[]', '5', '"a"', 'true', '', '{', '{"iss":1}x']) {
  reading(`a payload of ${value}`, value, false)
  reading(`a header of ${value}`, claims, false, value)
}
const plain = JSON.stringify(claims).slice(0, -1)
for (const [name, isGood, ...members] of [
  ['exp', false, '"1800000000"', 'null', 'true', '1e400', '-1e400', '[1800000000]', '{}'],
  ['exp', true, '1800000000.5', `${NOW - 29}`],
  ['exp', false, `${NOW - 30}`, `${NOW - 31}`],
  ['nbf', false, '"0"', 'null', '-1e400', '1e400', `${NOW + 31}`],
  ['nbf', true, '0', `${NOW + 30}`],
  ['iat', false, '"0"', 'null', '-1e400', '1e400', `${NOW + 31}`],
  ['iat', true, '0', `${NOW + 30}`],
  ['iss', false, `["${issuer}"]`, 'null', '1', `"${issuer}/x"`, '""'],
  ['sub', false, '""', 'null', '5', '["ann"]', 'true', '{}'],
  ['aud', false, '[]', 'null', '5', '{}', '""', `["${audience}",5]`, `[["${audience}"]]`, '["other"]'],
  ['aud', true, `["${audience}"]`, `["other","${audience}"]`],
] as const) {
  for (const member of members) reading(`${name}: ${member}`, `${plain},"${name}":${member}}`, isGood)
}
for (const name of ['iss', 'aud', 'sub', 'exp']) {
  reading(`without ${name}`, { ...claims, [name]: undefined }, false)
}

for (const [member, scopes] of [
  ['"scope":"a b"', ['a', 'b']], ['"scope":" a  b "', ['a', 'b']], ['"scope":""', []], ['"scope":5', []],
  ['"scope":["a"]', ['a']], ['"scope":["a",5]', []], ['"scp":["a"]', ['a']], ['"scp":"a b"', ['a', 'b']],
  ['"scope":null,"scp":"a"', ['a']], ['"scope":"a","scp":"b"', ['a']], ['"scope":{}', []],
  ['"scope":true', []],
] as const) {
  test(`${member} is the scopes ${JSON.stringify(scopes)}`, async (t) => {
    assert.deepEqual((await netOf(t).read(tokenOf(`${plain},${member}}`)))?.scopes, scopes)
  })
}

for (const [name, header, isGood] of [
  ['alg none', { alg: 'none' }, false], ['no alg', {}, false], ['a list of alg', { alg: ['RS256'] }, false],
  ['HS256', { alg: 'HS256' }, false], ['alg in lower case', { alg: 'rs256' }, false],
  ['an algorithm that is not taken', { alg: 'RS512' }, false],
  ['an algorithm of another key', { alg: 'ES256' }, false],
  ['crit', { alg: 'RS256', crit: [] }, false],
  ['b64 with crit', { alg: 'RS256', b64: false, crit: ['b64'] }, false],
  ['a kid that is a number', { alg: 'RS256', kid: 5 }, false],
  ['a kid of null', { alg: 'RS256', kid: null }, false],
  ['a type of its own', { alg: 'RS256', typ: 'secevent+jwt' }, false],
  ['a type that is no text', { alg: 'RS256', typ: 5 }, false],
  ['a type with more behind', { alg: 'RS256', typ: 'JWTx' }, false],
  ['a type with more before', { alg: 'RS256', typ: 'xJWT' }, false],
  ['the type of access tokens', { alg: 'RS256', typ: 'application/at+jwt' }, true],
  ['JWT', { alg: 'RS256', typ: 'JWT' }, true],
  ['a key of its own', { alg: 'RS256', jwk: jwk(next), jku: 'https://evil.example' }, true],
] as const) reading(`a header with ${name}`, claims, isGood, header)

test('base64url is strict, and a token has three parts', async (t) => {
  const net = netOf(t)
  const token = tokenOf()
  const [head = '', body = '', signature = ''] = token.split('.')
  const broken = [
    `${token}.`, `.${token}`, `${head}.${body}`, `${token}.${head}.${body}`, ` ${token}`, `${token}\n`,
    `${token}=`,
    `${head}=.${body}.${signature}`, `${head}.${body}==.${signature}`, `${head}.${body} .${signature}`,
    `${head}.${body}.${signature.slice(0, -4)}`, `${head}.${body}.${signature}AAAA`, `${head}.${body}.`,
    `${head}.${body}.${signature.replace(/^./, '+')}`, `${head}..${signature}`,
    `${head}.${body}.${signature.slice(0, 100)}!${signature.slice(100)}`,
  ]
  for (const one of broken) assert.equal(await net.read(one), undefined, one.slice(-30))
  assert.equal((await net.read(token))?.subject, 'ann')
})

test('a token may have 16,384 characters', async (t) => {
  const net = netOf(t)
  // The payload's characters come in fours for three bytes.
  const ofLength = (pad: number): string => tokenOf({ ...claims, pad: 'x'.repeat(pad) })
  let pad = 11_000
  while (ofLength(pad + 1).length <= 16_384) pad++
  assert.ok(ofLength(pad).length > 16_380)
  assert.equal((await net.read(ofLength(pad)))?.subject, 'ann')
  assert.equal(await net.read(ofLength(pad + 1)), undefined)
})

for (const [name, header, { privateKey }, keys, isGood] of [
  ['ES256 of the right curve', { alg: 'ES256' }, ec, [jwk(ec)], true],
  ['ES256 with a key of another curve', { alg: 'ES256' }, ec384, [jwk(ec384)], false],
  ['ES384 with a key of another curve', { alg: 'ES384' }, ec, [jwk(ec)], false],
  ['EdDSA', { alg: 'EdDSA' }, ed, [jwk(ed)], true],
  ['EdDSA with an RSA key', { alg: 'EdDSA' }, rsa, [jwk(rsa)], false],
  ['a key for this algorithm', { alg: 'RS256' }, rsa, [jwk(rsa, { alg: 'RS256' })], true],
  ['a key for another algorithm', { alg: 'RS256' }, rsa, [jwk(rsa, { alg: 'PS256' })], false],
  ['a key whose algorithm is no text', { alg: 'RS256' }, rsa, [jwk(rsa, { alg: 5 })], false],
  ['a key to sign with', { alg: 'RS256' }, rsa, [jwk(rsa, { use: 'sig' })], true],
  ['a key to encrypt with', { alg: 'RS256' }, rsa, [jwk(rsa, { use: 'enc' })], false],
  ['a key whose use is no text', { alg: 'RS256' }, rsa, [jwk(rsa, { use: ['sig'] })], false],
  ['a key to verify with', { alg: 'RS256' }, rsa, [jwk(rsa, { key_ops: ['verify', 'wrapKey'] })], true],
  ['a key not to verify with', { alg: 'RS256' }, rsa, [jwk(rsa, { key_ops: ['encrypt'] })], false],
  ['a key for no operation', { alg: 'RS256' }, rsa, [jwk(rsa, { key_ops: [] })], false],
  ['a key whose operations are no list', { alg: 'RS256' }, rsa, [jwk(rsa, { key_ops: 'verify' })], false],
  ['a key whose secret is public', { alg: 'RS256' }, rsa, [rsa.privateKey.export({ format: 'jwk' })], false],
  ['a key of another type', { alg: 'RS256' }, rsa, [jwk(rsa, { kty: 'EC' })], false],
  ['a key among what is none', { alg: 'RS256' }, rsa,
    [null, 5, 'a', [], {}, { kty: 'oct', k: 'AA' }, jwk(rsa)], true],
  ['a key of another name', { alg: 'RS256', kid: 'a' }, rsa, [jwk(rsa, { kid: 'b' })], false],
  ['a key whose name is no text', { alg: 'RS256', kid: '5' }, rsa, [jwk(rsa, { kid: 5 })], false],
  ['a key without a name', { alg: 'RS256', kid: 'a' }, rsa, [jwk(rsa)], true],
  ['two keys of one name', { alg: 'RS256', kid: 'a' }, rsa,
    [jwk(next, { kid: 'a' }), jwk(rsa, { kid: 'a' })], true],
  ['a token that names no key', { alg: 'RS256' }, rsa,
    [jwk(next, { kid: 'a' }), jwk(rsa, { kid: 'b' })], true],
  ['the hundredth key', { alg: 'RS256' }, rsa, [...Array(99).fill({}), jwk(rsa)], true],
  ['one key more than a hundred', { alg: 'RS256' }, rsa, [...Array(100).fill({}), jwk(rsa)], false],
] as const) {
  test(`${name}: the token is ${isGood ? 'good' : 'none'}`, async (t) => {
    const info = await netOf(t, keys).read(tokenOf(claims, header, privateKey))
    assert.equal(info?.subject, isGood ? 'ann' : undefined)
  })
}

test('a signature of another length is none, and never an error', async (t) => {
  const net = netOf(t, [jwk(ec), jwk(ed), jwk(rsa)])
  for (const [alg, { privateKey }] of [['ES256', ec], ['EdDSA', ed], ['RS256', rsa]] as const) {
    const token = tokenOf(claims, { alg }, privateKey)
    const data = token.slice(0, token.lastIndexOf('.'))
    const bytes = Buffer.from(token.slice(data.length + 1), 'base64url')
    for (const wrong of [bytes.subarray(1), bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.from([0])]),
      Buffer.alloc(0), Buffer.alloc(bytes.length), Buffer.alloc(300)]) {
      assert.equal(await net.read(`${data}.${wrong.toString('base64url')}`), undefined, alg)
    }
    const der = sign(alg === 'EdDSA' ? null : 'sha256', Buffer.from(data), privateKey).toString('base64url')
    if (alg === 'ES256') assert.equal(await net.read(`${data}.${der}`), undefined)
    assert.equal((await net.read(token))?.subject, 'ann')
  }
})

test('keys of RSA have at least 2,048 bits', async (t) => {
  for (const [modulusLength, isGood] of [[2_047, false], [2_048, true]] as const) {
    await t.test(String(modulusLength), async (t) => {
      const pair = modulusLength === 2_048 ? rsa : generateKeyPairSync('rsa', { modulusLength })
      const info = await netOf(t, [jwk(pair)]).read(tokenOf(claims, { alg: 'RS256' }, pair.privateKey))
      assert.equal(info?.subject, isGood ? 'ann' : undefined)
    })
  }
})

test('a document that has no keys is none', async (t) => {
  const whole = JSON.stringify({ keys: [jwk(rsa)] })
  const documents: readonly unknown[] = [
    '', 'null', '[]', '5', '{', {}, { keys: null }, { keys: {} }, { keys: 'a' }, `${whole.slice(0, -1)}`,
    whole.replace('{', `{"pad":"${'x'.repeat(262_144)}",`), new Response(whole, { status: 500 }),
    new Response(whole, { status: 201 }), whole.replace('{', `{"deep":${'['.repeat(20)}${']'.repeat(20)},`),
  ]
  for (const document of documents) {
    await t.test(String(document).slice(0, 40), async (t) => {
      const net = netOf(t)
      net.documents[jwksUri] = document
      await assert.rejects(net.read(tokenOf()), /cannot be read/)
    })
  }
})

test('metadata counts where it is of the same issuer and names a secure address', async (t) => {
  const [openid, oauth] = ['openid-configuration', 'oauth-authorization-server'].map((one) => (
    `${issuer}/.well-known/${one}`
  ))
  for (const [document, isTaken] of [
    [{ issuer, jwks_uri: jwksUri }, true],
    [{ issuer: `${issuer}/`, jwks_uri: jwksUri }, true],
    [{ issuer: `${issuer}/x`, jwks_uri: jwksUri }, false], [{ jwks_uri: jwksUri }, false],
    [{ issuer: [issuer], jwks_uri: jwksUri }, false], [{ issuer }, false], [{ issuer, jwks_uri: 5 }, false],
    [{ issuer, jwks_uri: 'http://login.example.com/keys' }, false],
    [{ issuer, jwks_uri: 'http://127.0.0.1:1/keys' }, false], [{ issuer, jwks_uri: 'keys' }, false],
    [{ issuer, jwks_uri: 'file:///keys' }, false], ['[]', false], ['{', false],
  ] as const) {
    await t.test(JSON.stringify(document), async (t) => {
      const net = netOf(t)
      net.documents[openid!] = document
      const read = net.read(tokenOf(), { jwksUri: undefined })
      if (isTaken) assert.equal((await read)?.subject, 'ann')
      else await assert.rejects(read, /cannot be read/)
      assert.deepEqual(net.asked, isTaken ? [openid, jwksUri] : [openid, oauth])
    })
  }
})

test('what a token says that is not for this server makes no key be read', async (t) => {
  const net = netOf(t)
  for (const more of [{ aud: 'other' }, { iss: 'other' }, { exp: NOW - 60 }, { sub: '' }]) {
    assert.equal(await net.read(tokenOf({ ...claims, ...more })), undefined)
  }
  assert.deepEqual(net.asked, [])
})

test('the path of an issuer is part of where its metadata is', async (t) => {
  const net = netOf(t)
  const tenant = `${issuer}/tenant/`
  const [openid, oauth] = [
    `${issuer}/tenant/.well-known/openid-configuration`,
    `${issuer}/.well-known/oauth-authorization-server/tenant`,
  ]
  net.documents[oauth] = { issuer: tenant, jwks_uri: jwksUri }
  const token = tokenOf({ ...claims, iss: tenant })
  assert.equal((await net.read(token, { issuer: tenant, jwksUri: undefined }))?.subject, 'ann')
  assert.deepEqual(net.asked, [openid, oauth, jwksUri])
})

test('unknown keys make the keys be read at most every 30 s', async (t) => {
  const net = netOf(t)
  const verify = jwksVerifier({ issuer, audience, jwksUri })
  const [good, unknown] = [tokenOf(), tokenOf(claims, { alg: 'ES256' }, ec.privateKey)]
  const read = async (passed: number, token = unknown): Promise<number> => {
    net.monotonic += passed
    await verify(token)
    return net.asked.length
  }
  assert.equal(await read(0, good), 1)
  assert.equal(await read(30_000), 1)
  assert.equal(await read(1), 2)
  for (let n = 0; n < 50; n++) assert.equal(await read(600), 2)
  assert.equal(await read(1), 3)
  // The known key alone makes nothing be read until half of its time is over.
  assert.equal(await read(300_000, good), 3)
  assert.equal(await read(1, good), 4)
})

test('keys that cannot be read are asked for once a second, and old ones count for a while', async (t) => {
  const net = netOf(t)
  const verify = jwksVerifier({ issuer, audience, jwksUri })
  assert.ok(await verify(tokenOf()))
  const { documents } = net
  net.documents = {}
  net.monotonic += 600_000
  assert.ok(await verify(tokenOf()))
  net.monotonic += 1
  await assert.rejects(verify(tokenOf()), /cannot be read/)
  const { length } = net.asked
  net.monotonic += 999
  await assert.rejects(verify(tokenOf()), /cannot be read/)
  net.documents = documents
  net.monotonic += 30_000
  assert.ok(await verify(tokenOf()))
  assert.ok(net.asked.length >= length)
})

test('an issuer has five seconds for its keys, and who has a known one does not wait for that', async (t) => {
  const net = netOf(t)
  const verify = jwksVerifier({ issuer, audience, jwksUri })
  assert.ok(await verify(tokenOf()))
  t.mock.timers.reset()
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: NOW * 1_000 })
  const signals: (AbortSignal | null | undefined)[] = []
  t.mock.method(globalThis, 'fetch', (_url: string, { signal }: RequestInit) => new Promise((_is, reject) => {
    signals.push(signal)
    signal?.addEventListener('abort', () => reject(new Error('aborted')))
  }))
  net.monotonic += 300_001
  assert.ok(await verify(tokenOf()))
  assert.equal(signals.length, 1)
  net.monotonic += 300_000
  const late = assert.rejects(verify(tokenOf()), /cannot be read/)
  t.mock.timers.tick(4_999)
  assert.equal(signals[0]?.aborted, false)
  t.mock.timers.tick(1)
  assert.equal(signals[0]?.aborted, true)
  await late
})

test('the tolerance of clocks is what was given', async (t) => {
  const net = netOf(t)
  for (const [exp, isGood] of [[NOW - 299, true], [NOW - 300, false]] as const) {
    const info = await net.read(tokenOf({ ...claims, exp }), { clockToleranceSeconds: 300 })
    assert.equal(info?.expiresAt, isGood ? (exp + 300) * 1_000 : undefined)
  }
  assert.ok(await net.read(tokenOf({ ...claims, exp: NOW + 1 }), { clockToleranceSeconds: 0 }))
  assert.equal(await net.read(tokenOf({ ...claims, exp: NOW }), { clockToleranceSeconds: 0 }), undefined)
  for (const clockToleranceSeconds of [-1, 300.5, NaN, Infinity]) {
    assert.throws(() => jwksVerifier({ issuer, audience, clockToleranceSeconds }), /write 0 to 300/)
  }
})

test('options of another kind are refused', () => {
  const bad: readonly (readonly [more: Json, why: RegExp])[] = [
    ...[[], '', [audience, ''], [5]].map((one) => (
      [{ audience: one }, /has audience .*; write for whom tokens are made/] as const
    )),
    [{ algorithms: [] }, /algorithms/], [{ algorithms: 'RS256' }, /algorithms/],
    [{ algorithms: ['none'] }, /algorithms/], [{ algorithms: ['HS256'] }, /algorithms/],
    [{ algorithms: ['RS256', 'toString'] }, /algorithms/],
    [{ jwksUri: 'http://login.example.com' }, /jwksUri/],
    [{ key: 'a' }, /no option 'key'/],
  ]
  for (const [more, why] of bad) {
    const options = { issuer, audience, ...more } as JwksOptions
    assert.throws(() => jwksVerifier(options), { name: 'TypeError', message: why })
  }
})

test('a slash at the end, a port that is usual and capitals make no other issuer or audience', async (t) => {
  const net = netOf(t, [jwk(rsa)])
  for (const [iss, aud] of [
    [`${issuer}/`, audience], ['HTTPS://LOGIN.example.com:443', audience], [issuer, `${audience}/`],
    [issuer, ['other', audience.replace('https://', 'HTTPS://')]],
  ] as const) {
    const info = await net.read(tokenOf({ ...claims, iss, aud }))
    assert.deepEqual([info?.subject, info?.issuer], ['ann', issuer], `${iss} ${aud}`)
  }
  for (const [iss, aud] of [
    [`${issuer}.`.replace('.com.', '.org'), audience], [issuer, `${audience}x`], [issuer, `${audience}?a`],
    [issuer.replace('https', 'http'), audience], [`${issuer}:8443`, audience],
  ] as const) assert.equal(await net.read(tokenOf({ ...claims, iss, aud })), undefined, `${iss} ${aud}`)
})
