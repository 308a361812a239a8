/**
 * Signatures of agent cards, both ways, against the official library: what one signs, the other finds good.
 * Skips itself, and says so, where it is not installed.
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { missing } from './start.mjs'

const skip = missing('@a2a-js/sdk')
if (skip) console.log(`a2a-card: skipped: ${skip}`)

const load = (path) => (skip ? {} : import(path))
const sdk = await load('@a2a-js/sdk')
const { createService } = await load('../../.test/lib/kernel/server/service.js')
const { kernelOptionsOf } = await load('../../.test/lib/preset/create-server.js')
const { composeCard } = await load('../../.test/lib/parts/a2a/card/card.js')
const { documentOf } = await load('../../.test/lib/parts/a2a/card/card-replies.js')
const { formatSigned, signerOf } = await load('../../.test/lib/parts/a2a/model/signature.js')
const { isSignedBy } = await load('../../.test/test/fixtures/card-signature.js')

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** The members of a signed card, as they arrive. */
function signed(takesKeys) {
  const agents = [{ name: 'Bot', description: 'Helps “you”.', run: () => 'ok' }]
  const tools = [{ name: 'add', run: () => 1 }]
  const { service } = createService(kernelOptionsOf({ agents, tools, log: false }))
  const options = {
    takesKeys: () => takesKeys, tenants: ['acme'],
    provider: { organization: 'Example', url: 'https://example.com' },
    extensions: [{ uri: 'urn:x', description: 'X', required: true, params: { level: 1 } }, { uri: 'urn:y' }],
  }
  const card = composeCard(service, options, service.catalog.root, 'https://a.example', true)
  return JSON.parse(JSON.stringify(documentOf(card, '1.0', signerOf(privateKey))))
}

test('the library finds good what triport has signed, and nothing that was changed', { skip }, async () => {
  const verify = sdk.verifyAgentCardSignature(async () => publicKey)
  const card = signed(false)
  assert.equal(formatSigned(card), sdk.canonicalizeAgentCard(card))
  await verify(card)
  await assert.rejects(verify({ ...card, name: 'Bob' }))
})

test('triport finds a card good that the library has signed', { skip }, async () => {
  const { signatures, ...card } = signed(false)
  const sign = sdk.generateAgentCardSignature(privateKey, { alg: 'ES256', typ: 'JOSE', kid: 'key-1' })
  assert.equal(isSignedBy(await sign(card), publicKey), true)
  assert.equal(isSignedBy({ ...await sign(card), name: 'Bob' }, publicKey), false)
})

test('of an empty list of scopes the library signs less than the specification does', { skip }, () => {
  const card = signed(true)
  assert.equal(isSignedBy(card, publicKey), true)
  // When this fails, the two agree: then the first test may ask for keys too.
  assert.notEqual(formatSigned(card), sdk.canonicalizeAgentCard(card))
})
