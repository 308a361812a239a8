import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { formatSigned, signerOf } from '../../../lib/parts/a2a/model/signature.ts'
import { isSignedBy, signedText } from '../../fixtures/card-signature.ts'
import type { SigningKey } from '../../../lib/parts/a2a/model/signature.ts'

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwk = pair.privateKey.export({ format: 'jwk' })
const pem = pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()

/** Of any server. */
const foreign = {
  name: 'Bot', description: '', version: '1.0.0', documentationUrl: '', provider: undefined,
  supportedInterfaces: [
    { url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
  ],
  capabilities: {
    streaming: false, pushNotifications: false,
    extensions: [
      { uri: 'https://a.example/x', required: false, description: '', params: { deep: false, none: [] } },
    ],
  },
  securitySchemes: {
    apiKey: { apiKeySecurityScheme: { description: '', location: 'header', name: 'X-API-Key' } },
    oauth: {
      oauth2SecurityScheme: {
        flows: { authorizationCode: { pkceRequired: false, scopes: {}, tokenUrl: '' } },
      },
    },
    mtls: { mtlsSecurityScheme: {} },
  },
  securityRequirements: [{ schemes: { apiKey: { list: [] }, oauth: { list: ['read'] } } }],
  defaultInputModes: [], defaultOutputModes: ['text/plain'],
  skills: [{ id: '', name: 'Chat', description: '', tags: [], examples: [], inputModes: ['text/plain'] }],
  signatures: [{ protected: 'x', signature: 'y' }],
}

/** As they are written here. */
const cards: readonly Record<string, unknown>[] = ['1.0-whole', '1.0-bare'].map((name) => (
  JSON.parse(readFileSync(`test/fixtures/a2a/cards/${name}.json`, 'utf8'))
))
const card = cards[0]!

test('the example of the specification comes out as it stands there', () => {
  const fragment = {
    name: 'Example Agent', description: '',
    capabilities: { streaming: false, pushNotifications: false, extensions: [] }, skills: [],
  }
  assert.equal(signedText(fragment), '{"capabilities":{"pushNotifications":false,"streaming":false},'
    + '"description":"","name":"Example Agent","skills":[]}')
})

test('what is required or was set is signed, and nothing else', () => {
  assert.deepEqual(JSON.parse(signedText(foreign)), {
    name: 'Bot', description: '', version: '1.0.0', documentationUrl: '',
    supportedInterfaces: [
      { url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ],
    capabilities: {
      streaming: false, pushNotifications: false,
      extensions: [{ uri: 'https://a.example/x', params: { deep: false, none: [] } }],
    },
    securitySchemes: {
      apiKey: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
      oauth: { oauth2SecurityScheme: { flows: { authorizationCode: { scopes: {}, tokenUrl: '' } } } },
      mtls: { mtlsSecurityScheme: {} },
    },
    securityRequirements: [{ schemes: { apiKey: {}, oauth: { list: ['read'] } } }],
    defaultInputModes: [], defaultOutputModes: ['text/plain'],
    skills: [{ id: '', name: 'Chat', description: '', tags: [], inputModes: ['text/plain'] }],
  })
  assert.equal(signedText({ provider: {}, securitySchemes: {}, iconUrl: null }), '{"provider":{}}')
})

test('of each card here the same is signed as of any', () => {
  for (const one of cards) {
    assert.equal(formatSigned({ ...one, signatures: [{ protected: 'x', signature: 'y' }] }), signedText(one))
  }
  assert.match(formatSigned(card), /\{"schemes":\{"apiKey":\{\}\}\}/)
})

test('a signed card is good under its key, in whatever order it arrives, and under no other', () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
  const signed = { ...card, signatures: [{ protected: 'e30', signature: '' }, signerOf(pem)(card)] }
  const turned = Object.fromEntries(Object.entries(signed).toReversed())
  assert.equal(isSignedBy(signed, pair.publicKey), true)
  assert.equal(isSignedBy(turned, pair.publicKey), true)
  assert.equal(isSignedBy(signed, other), false)
})

test('a card that was changed is not good', () => {
  const signed = { ...card, signatures: [signerOf(pem)(card)] }
  const changed: readonly object[] = [
    { ...signed, name: 'Bob' }, { ...signed, url: 'https://b.example' }, { ...signed, version: '1.0.1' },
    { ...signed, signatures: [] },
  ]
  for (const one of changed) assert.equal(isSignedBy({ ...one }, pair.publicKey), false, JSON.stringify(one))
})

test('a card that the official library has signed is good', () => {
  const text = readFileSync('test/fixtures/a2a/cards/signed-elsewhere.json', 'utf8')
  const { publicKey, card } = JSON.parse(text) as { publicKey: object; card: Record<string, unknown> }
  const key = createPublicKey({ key: { ...publicKey }, format: 'jwk' })
  assert.equal(isSignedBy(card, key), true)
  assert.equal(isSignedBy({ ...card, name: 'Bob' }, key), false)
})

test('a signature is 64 bytes of ES256, under a header with the names of the key', () => {
  const names = { kid: 'key-1', jku: 'https://a.example/jwks.json' }
  const rows: readonly (readonly [key: SigningKey, header: object])[] = [
    [{ key: pem, ...names }, names],
    [{ ...jwk, kid: 'own' }, { kid: 'own' }],
    [{ key: { ...jwk, kid: 'own' }, kid: 'given' }, { kid: 'given' }],
  ]
  for (const [key, header] of rows) {
    const { protected: head, signature } = signerOf(key)(card)
    const told: unknown = JSON.parse(Buffer.from(head, 'base64url').toString())
    assert.deepEqual(told, { alg: 'ES256', typ: 'JOSE', ...header })
    const bytes = Buffer.from(signature, 'base64url')
    assert.equal(bytes.length, 64)
    const input = `${head}.${Buffer.from(formatSigned(card)).toString('base64url')}`
    const publicKey = { key: pair.publicKey, dsaEncoding: 'ieee-p1363' } as const
    assert(verify('sha256', Buffer.from(input), publicKey, bytes))
  }
})

test('a key without a name is called by its thumbprint, in whatever form it comes', () => {
  // RFC 7638 §3 over the key of RFC 7515 A.3.
  const known = {
    kty: 'EC', crv: 'P-256', x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0', d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
  }
  const kidOf = (key: SigningKey): unknown => {
    return JSON.parse(Buffer.from(signerOf(key)({}).protected, 'base64url').toString()).kid
  }
  assert.equal(kidOf(known), 'oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U')
  assert.equal(kidOf(pem), kidOf(jwk))
  assert.equal(kidOf(pair.privateKey), kidOf({ key: pem }))
})

test('what is no ES256 private key is refused, and nothing of it is shown', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey
  const wrong: readonly unknown[] = [
    null, 7, '', 'secret-text', pair.publicKey, rsa, p384, { ...jwk, d: undefined },
    { kty: 'oct', k: 'secret-text' },
    { key: 'secret-text' }, { key: undefined }, { key: pem, kid: '' }, { key: pem, kid: 7 },
    { key: pem, jku: 'secret-text' }, { key: pem, kidd: 'secret-text' },
  ]
  for (const key of wrong) {
    assert.throws(() => signerOf(key), (error: Error) => {
      assert.match(error.message, /^a2a\.signingKey/)
      assert.doesNotMatch(error.message, /secret-text/)
      return error instanceof TypeError && error.cause === undefined
    })
  }
})
