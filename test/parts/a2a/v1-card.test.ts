import assert from 'node:assert/strict'
import test from 'node:test'
import { encodeCard } from '../../../lib/parts/a2a/codec/cards.ts'
import { decodeV1Card } from '../../fixtures/a2a-client/v1-card.ts'
import type { Card, JsonMembers, SecurityScheme } from '../../../lib/parts/a2a/model/model.ts'

const encodeV1Card = (card: Card): JsonMembers => encodeCard(card, '1.0')

const bare: Card = {
  name: 'Golden', description: 'Answers.', version: '1.0.0',
  interfaces: [{ url: 'https://a.example/a2a', binding: 'JSONRPC', version: '1.0', tenant: undefined }],
  provider: undefined, documentationUrl: undefined, iconUrl: undefined, streams: true, pushes: false,
  hasExtendedCard: false, extensions: [], inputModes: ['text/plain'], outputModes: ['text/plain'],
  skills: [{ id: 'chat', name: 'Chat', description: 'Talks', tags: ['chat'] }], schemes: new Map(),
  security: [],
}
const schemes = new Map<string, SecurityScheme>([
  ['apiKey', { kind: 'apiKey', name: 'X-API-Key' }],
  ['bearer', { kind: 'http', scheme: 'bearer' }],
  ['oauth', { kind: 'oauth2', metadataUrl: 'https://a.example/meta' }],
])
const whole: Card = {
  ...bare,
  interfaces: [
    { url: 'https://a.example/a2a', binding: 'JSONRPC', version: '1.0', tenant: 'blue' },
    { url: 'https://a.example', binding: 'HTTP+JSON', version: '1.0', tenant: undefined },
    { url: 'https://a.example/a2a', binding: 'JSONRPC', version: '0.3', tenant: undefined },
  ],
  provider: { organization: 'Example', url: 'https://example.com' },
  documentationUrl: 'https://example.com/docs', iconUrl: 'https://example.com/icon.png', pushes: true,
  hasExtendedCard: true,
  extensions: [
    { uri: 'https://example.com/ext/v1', description: 'More', required: true, params: { a_b: 1 } },
    { uri: 'https://example.com/ext/v2' },
  ],
  skills: [
    { id: 'chat', name: 'Chat', description: 'Talks', tags: ['chat'], examples: ['Hello'] },
    {
      id: 'plot', name: 'Plot', description: 'Draws', tags: [],
      inputModes: ['text/csv'], outputModes: ['image/png'],
    },
  ],
  schemes,
  security: [new Map([['apiKey', []]]), new Map([['oauth', ['read', 'write']], ['bearer', []]])],
}

test('a card is read as it was meant', () => {
  // A token of OAuth is one of HTTP for who does not know where it comes from.
  const read = { ...whole, schemes: new Map([...schemes, ['oauth', { kind: 'http', scheme: 'bearer' }]]) }
  for (const [card, meant] of [[bare, bare], [whole, read]] as const) {
    assert.deepEqual(decodeV1Card(JSON.parse(JSON.stringify(encodeV1Card(card)))), meant)
  }
})

test('a bare card has what every card must have, and no member that is not set', () => {
  assert.deepEqual(encodeV1Card(bare), {
    name: 'Golden', description: 'Answers.',
    supportedInterfaces: [
      { url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ],
    version: '1.0.0',
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
    defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'],
    skills: [{ id: 'chat', name: 'Chat', description: 'Talks', tags: ['chat'] }],
  })
})

test('each scheme has one member', () => {
  const { securitySchemes, securityRequirements } = encodeV1Card(whole)
  assert.deepEqual(securitySchemes, {
    apiKey: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
    bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } },
    oauth: {
      httpAuthSecurityScheme: {
        scheme: 'bearer', description: 'A token of OAuth 2.0: https://a.example/meta',
      },
    },
  })
  assert.deepEqual(securityRequirements, [
    { schemes: { apiKey: { list: [] } } },
    { schemes: { oauth: { list: ['read', 'write'] }, bearer: { list: [] } } },
  ])
})

test('a card may have the names of the definition, and members of other dialects', () => {
  assert.deepEqual(decodeV1Card({
    name: 'Golden', description: 'Answers.', version: '1.0.0',
    url: 'https://a.example/old', protocolVersion: '0.3.0',
    supported_interfaces: [
      { url: 'https://a.example/a2a', protocol_binding: 'JSONRPC', protocol_version: '1.0', tenant: '' },
    ],
    capabilities: { streaming: true, push_notifications: false, stateTransitionHistory: false },
    default_input_modes: ['text/plain'], default_output_modes: ['text/plain'], signatures: [{}],
    security_schemes: {
      oauth: {
        type: 'oauth2',
        oauth2_security_scheme: {
          flows: {}, oauth2_metadata_url: 'https://a.example/meta',
        },
      },
    },
    security_requirements: [{ schemes: { oauth: {} } }],
    skills: [{ id: 'chat', name: 'Chat', description: 'Talks', tags: ['chat'], input_modes: ['a/b'] }],
  }), {
    ...bare,
    skills: [{ ...bare.skills[0]!, inputModes: ['a/b'] }],
    schemes: new Map([['oauth', { kind: 'oauth2', metadataUrl: 'https://a.example/meta' }]]),
    security: [new Map([['oauth', []]])],
  })
})

test('what is no card of 1.0 is refused with the member that is wrong', () => {
  const { supportedInterfaces, ...rest } = encodeV1Card(bare)
  const scheme = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X' } } }
  const members = 'must have exactly one of apiKeySecurityScheme, httpAuthSecurityScheme '
    + 'and oauth2SecurityScheme'
  const rows: readonly (readonly [card: unknown, said: string])[] = [
    [null, 'card is missing; it must be an object'],
    [{ ...rest, url: 'https://a.example' }, 'card.supportedInterfaces must be a list with at least one item'],
    [{ ...rest, supportedInterfaces: [{ url: 'https://a.example', protocolBinding: 'SOAP' }] },
      'card.supportedInterfaces[0].protocolBinding must be one of JSONRPC, HTTP+JSON'],
    [{ ...rest, supportedInterfaces, capabilities: null },
      'card.capabilities is missing; it must be an object'],
    [{ ...rest, supportedInterfaces, name: 7 }, 'card.name must be a non-empty string'],
    [{ ...rest, supportedInterfaces, ...scheme }, `card.securitySchemes.key ${members}`],
    [{ ...rest, supportedInterfaces, securitySchemes: { o: { oauth2SecurityScheme: {} } } },
      'card.securitySchemes.o.oauth2SecurityScheme.flows is missing; it must be an object'],
  ]
  for (const [card, said] of rows) {
    assert.throws(() => decodeV1Card(card), { kind: 'invalid', message: said }, said)
  }
})
