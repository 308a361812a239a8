import assert from 'node:assert/strict'
import test from 'node:test'
import { encodeCard } from '../../../lib/parts/a2a/codec/cards.ts'
import { decodeV1Card } from '../../fixtures/a2a-client/v1-card.ts'
import type { Card, JsonMembers, SecurityScheme } from '../../../lib/parts/a2a/model/model.ts'

const encodeV1Card = (card: Card): JsonMembers => encodeCard(card, '1.0')

const flow = { tokenUrl: 'https://a.example/token', scopes: { read: 'To read' } }
const bare: Card = {
  name: 'Golden', description: 'Answers.', version: '1.0.0',
  interfaces: [{ url: 'https://a.example/a2a', binding: 'JSONRPC', version: '1.0', tenant: undefined }],
  provider: undefined, documentationUrl: undefined, iconUrl: undefined, streams: true, pushes: false,
  hasExtendedCard: false, extensions: [], inputModes: ['text/plain'], outputModes: ['text/plain'],
  skills: [{ id: 'chat', name: 'Chat', description: 'Talks', tags: ['chat'] }], schemes: new Map(),
  security: [],
}
const schemes = new Map<string, SecurityScheme>([
  ['apiKey', { kind: 'apiKey', location: 'header', name: 'X-API-Key' }],
  ['cookie', { kind: 'apiKey', location: 'cookie', name: 'key' }],
  ['bearer', { kind: 'http', scheme: 'bearer', bearerFormat: undefined }],
  ['jwt', { kind: 'http', scheme: 'bearer', bearerFormat: 'JWT' }],
  ['oauth', { kind: 'oauth2', flows: { clientCredentials: flow }, metadataUrl: undefined }],
  ['server', { kind: 'oauth2', flows: { clientCredentials: flow }, metadataUrl: 'https://a.example/meta' }],
  ['told', { kind: 'oauth2', flows: {}, metadataUrl: 'https://a.example/meta' }],
  ['connect', { kind: 'openIdConnect', url: 'https://a.example/.well-known/openid-configuration' }],
  ['certificate', { kind: 'mutualTls' }],
])
const whole: Card = {
  ...bare,
  interfaces: [
    { url: 'https://a.example/a2a', binding: 'JSONRPC', version: '1.0', tenant: 'blue' },
    { url: 'https://a.example', binding: 'HTTP+JSON', version: '1.0', tenant: undefined },
    { url: 'https://a.example/grpc', binding: 'GRPC', version: '1.0', tenant: undefined },
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
  security: [new Map([['apiKey', []]]), new Map([['oauth', ['read', 'write']], ['certificate', []]])],
}

test('a card is read as it was meant', () => {
  for (const card of [bare, whole]) {
    assert.deepEqual(decodeV1Card(JSON.parse(JSON.stringify(encodeV1Card(card)))), card)
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

test('each scheme has one member, and of several flows one is written', () => {
  const { securitySchemes, securityRequirements } = encodeV1Card({
    ...whole,
    schemes: new Map([...schemes, ['oauth', {
      kind: 'oauth2', flows: { password: flow, authorizationCode: flow, clientCredentials: flow },
      metadataUrl: undefined,
    }]]),
  })
  assert.deepEqual(securitySchemes, {
    apiKey: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
    cookie: { apiKeySecurityScheme: { location: 'cookie', name: 'key' } },
    bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } },
    jwt: { httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: 'JWT' } },
    oauth: { oauth2SecurityScheme: { flows: { authorizationCode: flow } } },
    server: {
      oauth2SecurityScheme: {
        flows: { clientCredentials: flow }, oauth2MetadataUrl: 'https://a.example/meta',
      },
    },
    told: { oauth2SecurityScheme: { flows: {}, oauth2MetadataUrl: 'https://a.example/meta' } },
    connect: {
      openIdConnectSecurityScheme: { openIdConnectUrl: 'https://a.example/.well-known/openid-configuration' },
    },
    certificate: { mtlsSecurityScheme: {} },
  })
  assert.deepEqual(securityRequirements, [
    { schemes: { apiKey: { list: [] } } },
    { schemes: { oauth: { list: ['read', 'write'] }, certificate: { list: [] } } },
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
          flows: { client_credentials: { token_url: flow.tokenUrl, scopes: { read_all: 'To read' } } },
          oauth2_metadata_url: null,
        },
      },
    },
    security_requirements: [{ schemes: { oauth: {} } }],
    skills: [{ id: 'chat', name: 'Chat', description: 'Talks', tags: ['chat'], input_modes: ['a/b'] }],
  }), {
    ...bare,
    skills: [{ ...bare.skills[0]!, inputModes: ['a/b'] }],
    schemes: new Map([['oauth', {
      kind: 'oauth2',
      flows: { clientCredentials: { tokenUrl: flow.tokenUrl, scopes: { read_all: 'To read' } } },
      metadataUrl: undefined,
    }]]),
    security: [new Map([['oauth', []]])],
  })
})

test('what is no card of 1.0 is refused with the member that is wrong', () => {
  const { supportedInterfaces, ...rest } = encodeV1Card(bare)
  const scheme = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X' } } }
  const members = 'must have exactly one of apiKeySecurityScheme, httpAuthSecurityScheme, '
    + 'oauth2SecurityScheme, openIdConnectSecurityScheme and mtlsSecurityScheme'
  const rows: readonly (readonly [card: unknown, said: string])[] = [
    [null, 'card is missing; it must be an object'],
    [{ ...rest, url: 'https://a.example' }, 'card.supportedInterfaces must be a list with at least one item'],
    [{ ...rest, supportedInterfaces: [{ url: 'https://a.example', protocolBinding: 'SOAP' }] },
      'card.supportedInterfaces[0].protocolBinding must be one of JSONRPC, HTTP+JSON, GRPC'],
    [{ ...rest, supportedInterfaces, capabilities: null },
      'card.capabilities is missing; it must be an object'],
    [{ ...rest, supportedInterfaces, name: 7 }, 'card.name must be a non-empty string'],
    [{ ...rest, supportedInterfaces, ...scheme }, `card.securitySchemes.key ${members}`],
    [{ ...rest, supportedInterfaces, securitySchemes: { o: { oauth2SecurityScheme: { flows: {} } } } },
      'card.securitySchemes.o.oauth2SecurityScheme.flows must have one of authorizationCode, '
      + 'clientCredentials, deviceCode, implicit, password'],
  ]
  for (const [card, said] of rows) {
    assert.throws(() => decodeV1Card(card), { kind: 'invalid', message: said }, said)
  }
})
