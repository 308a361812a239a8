import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { composeCard } from '../../../lib/parts/a2a/card/card.ts'
import { documentOf, modeFor } from '../../../lib/parts/a2a/card/card-replies.ts'
import { signerOf } from '../../../lib/parts/a2a/model/signature.ts'
import { createService } from '../../../lib/kernel/server/service.ts'
import { kernelOptionsOf } from '../../../lib/preset/create-server.ts'
import { decodeV03Card } from '../../fixtures/a2a-client/v03-card.ts'
import { decodeV1Card } from '../../fixtures/a2a-client/v1-card.ts'
import { isSignedBy } from '../../fixtures/card-signature.ts'
import type { CardMode } from '../../../lib/parts/a2a/card/card-replies.ts'
import type { Card, JsonMembers } from '../../../lib/parts/a2a/model/model.ts'

const modes: readonly CardMode[] = ['hybrid', '1.0', '0.3']

/** A card with something in each of its members. */
function wholeCard(): Card {
  const skills = [
    { id: 'sum', name: 'Sum', description: 'Adds.', tags: ['math'], examples: ['1 + 1'] },
    { id: 'plot', name: 'Plot', description: 'Draws.', inputModes: ['text/csv'], outputModes: ['image/png'] },
  ]
  const { service } = createService(kernelOptionsOf({
    agents: [
      {
        name: 'Bot', description: 'Helps.', version: '3.0.0', outputModes: ['text/html'], skills,
        run: () => '',
      },
    ],
    tools: [{ name: 'add', title: 'Addition', description: 'Adds two numbers.', run: () => 1 }], log: false,
  }))
  const auth = {
    resource: 'https://a.example/mcp', authorizationServers: ['https://login.example.com'], scopes: ['read'],
    verify: () => undefined,
  }
  return composeCard(service, {
    provider: { organization: 'Example', url: 'https://example.com' },
    documentationUrl: 'https://example.com/docs', iconUrl: 'https://example.com/icon.png',
    extensions: [
      { uri: 'https://example.com/ext/v1', description: 'More.', required: true, params: { level: 1 } },
      { uri: 'https://example.com/ext/v2' },
    ],
    extendedCard: {}, tenants: ['acme'], pushNotifications: true, auth, takesKeys: () => true,
  }, service.catalog.root!, 'https://a.example', true)
}

function bareCard(): Card {
  const { service } = createService(kernelOptionsOf({ agents: [{ name: 'Bot', run: () => '' }], log: false }))
  const { root } = service.catalog
  return composeCard(service, { takesKeys: () => false }, root!, 'https://a.example', true)
}

function golden(name: string): unknown {
  return JSON.parse(readFileSync(`test/fixtures/a2a/cards/${name}.json`, 'utf8'))
}

function asSent(members: JsonMembers): unknown {
  return JSON.parse(JSON.stringify(members))
}

for (const mode of modes) {
  test(`a card in the mode ${mode} is as its golden ones`, () => {
    assert.deepEqual(asSent(documentOf(wholeCard(), mode, undefined)), golden(`${mode}-whole`))
    assert.deepEqual(asSent(documentOf(bareCard(), mode, undefined)), golden(`${mode}-bare`))
  })
}

test('every reader finds its own card in the hybrid one', () => {
  const card = wholeCard()
  const hybrid = asSent(documentOf(card, 'hybrid', undefined))
  assert.deepEqual(decodeV1Card(hybrid), decodeV1Card(documentOf(card, '1.0', undefined)))
  assert.deepEqual(decodeV03Card(hybrid), decodeV03Card(documentOf(card, '0.3', undefined)))
  const { url, capabilities } = hybrid as { url: string; capabilities: object }
  assert.equal(url, 'https://a.example/a2a')
  assert.deepEqual(capabilities, {
    streaming: true, pushNotifications: true, stateTransitionHistory: false, extendedAgentCard: true,
    extensions: [
      { uri: 'https://example.com/ext/v1', description: 'More.', required: true, params: { level: 1 } },
      { uri: 'https://example.com/ext/v2' },
    ],
  })
})

test('a card of 1.0 alone is signed, and no other', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signer = signerOf(privateKey)
  for (const mode of modes) {
    const document = documentOf(wholeCard(), mode, signer)
    assert.equal('signatures' in document, mode === '1.0')
    assert.equal(isSignedBy(asSent(document) as JsonMembers, publicKey), mode === '1.0')
  }
})

test('who asks for 1.0 gets a card of 1.0, unless the operator has decided for all', () => {
  for (const version of ['1.0', '1', '1.0.1', '1.7', ' 1.0 ']) assert.equal(modeFor(version), '1.0')
  for (const version of [undefined, '', '0.3', '0.2.6', '2.0', '10.0', 'a1.0', '1.0a']) {
    assert.equal(modeFor(version), 'hybrid', version)
  }
  for (const mode of ['1.0', '0.3'] as const) {
    for (const version of [undefined, '0.3', '1.0']) assert.equal(modeFor(version, mode), mode)
  }
})
