import assert from 'node:assert/strict'
import test from 'node:test'
import { encodeCard } from '../../../lib/parts/a2a/codec/cards.ts'
import { decodeV03Card } from '../../fixtures/a2a-client/v03-card.ts'
import { sent } from './sent.ts'
import type { Card, JsonMembers, SecurityScheme } from '../../../lib/parts/a2a/model/model.ts'

const encodeV03Card = (card: Card): JsonMembers => encodeCard(card, '0.3')

const url = 'https://a.example/a2a'
const least: Card = {
  name: 'Bot',
  description: 'Helps.',
  version: '1.0.0',
  interfaces: [{ url, binding: 'JSONRPC', version: '0.3', tenant: undefined }],
  provider: undefined,
  documentationUrl: undefined,
  iconUrl: undefined,
  streams: false,
  pushes: false,
  hasExtendedCard: false,
  extensions: [],
  inputModes: ['text/plain'],
  outputModes: ['text/plain'],
  skills: [],
  schemes: new Map(),
  security: [],
}
const most: Card = {
  ...least,
  interfaces: [
    { url, binding: 'JSONRPC', version: '0.3', tenant: undefined },
    { url: 'https://a.example', binding: 'HTTP+JSON', version: '0.3', tenant: undefined },
  ],
  provider: { organization: 'Acme', url: 'https://acme.example' },
  documentationUrl: 'https://a.example/docs',
  iconUrl: 'https://a.example/icon.png',
  streams: true,
  pushes: true,
  hasExtendedCard: true,
  extensions: [
    { uri: 'https://e.example' },
    { uri: 'https://f.example', description: 'More', required: true, params: { a: 1 } },
  ],
  inputModes: ['text/plain', 'image/png'],
  outputModes: ['text/html'],
  skills: [
    { id: 'sum', name: 'Sum', description: 'Adds.', tags: ['math'], examples: ['1 + 1'] },
    {
      id: 'draw', name: 'Draw', description: 'Draws.', tags: ['art'],
      inputModes: ['a/b'], outputModes: ['c/d'],
    },
    { id: 'plot', name: 'Plot', description: '', tags: [] },
  ],
  schemes: new Map<string, SecurityScheme>([
    ['key', { kind: 'apiKey', name: 'X-API-Key' }],
    ['bearer', { kind: 'http', scheme: 'bearer' }],
    ['oauth', { kind: 'oauth2', metadataUrl: 'https://a.example/metadata' }],
  ]),
  security: [new Map([['key', []]]), new Map([['oauth', ['read']], ['bearer', []]])],
}

test('a card is read as it was written', () => {
  for (const card of [least, most]) assert.deepEqual(decodeV03Card(sent(encodeV03Card(card))), card)
})

test('a card has its main address first, and only addresses at which 0.3 is spoken', () => {
  const [main, rest] = most.interfaces
  const card = {
    ...least, interfaces: [{ ...main!, url: 'https://a.example/one', version: '1.0' }, main!, rest!],
  }
  const { url: first, preferredTransport, additionalInterfaces, protocolVersion } = encodeV03Card(card)
  assert.deepEqual([first, preferredTransport, protocolVersion], [url, 'JSONRPC', '0.3.0'])
  assert.deepEqual(additionalInterfaces, [
    { url, transport: 'JSONRPC' }, { url: 'https://a.example', transport: 'HTTP+JSON' },
  ])
})

test('a key is a scheme told by its type, and any one of the ways lets in', () => {
  const { securitySchemes, security } = encodeV03Card(most)
  assert.deepEqual(sent(securitySchemes), {
    key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    bearer: { type: 'http', scheme: 'bearer' },
    oauth: { type: 'oauth2', flows: {}, oauth2MetadataUrl: 'https://a.example/metadata' },
  })
  assert.deepEqual(security, [{ key: [] }, { oauth: ['read'], bearer: [] }])
  const open = encodeV03Card(least)
  assert(!('security' in open) && !('securitySchemes' in open))
})

test('cards of old and of careless servers are read', () => {
  const bare = { ...least, description: '', version: '' }
  const [main] = least.interfaces
  const rows: readonly (readonly [members: object, card: Partial<Card>])[] = [
    [{ url }, {}],
    [{ url, capabilities: {}, skills: null, security: null }, {}],
    [{ url, protocolVersion: '0.2.6' }, { interfaces: [{ ...main!, version: '0.2' }] }],
    [
      { url, skills: [{ id: 'a', name: 'A' }] },
      { skills: [{ id: 'a', name: 'A', description: '', tags: [] }] },
    ],
    [
      {
        url, preferredTransport: 'PIGEON',
        additionalInterfaces: [{ url: 'x:1', transport: 'HTTP+JSON' }, {}],
      },
      { interfaces: [{ ...main!, url: 'x:1', binding: 'HTTP+JSON' }] },
    ],
    [{ url, securitySchemes: { a: { type: 'riddle' } } }, {}],
    [{ url, signatures: [{ protected: 'a', signature: 'b' }], color: 'red' }, {}],
  ]
  for (const [members, card] of rows) {
    const read = decodeV03Card({ name: 'Bot', ...members })
    assert.deepEqual(read, { ...bare, ...card }, JSON.stringify(members))
  }
})

test('a card that is wrong is refused with the member and what it must be', () => {
  const rows: readonly (readonly [card: unknown, said: string])[] = [
    [null, 'card is missing; it must be an object'],
    [{}, 'card.name must be a string'],
    [{ name: 'Bot' }, 'card.url must be a string'],
    [{ name: 'Bot', url: '' }, 'card.url must be an absolute URL'],
    [
      { name: 'Bot', url, preferredTransport: 'PIGEON' },
      'card.preferredTransport must be one of JSONRPC, HTTP+JSON',
    ],
    [{ name: 'Bot', url, capabilities: { streaming: 'yes' } },
      'card.capabilities.streaming must be true or false'],
    [{ name: 'Bot', url, skills: [{ name: 'A' }] }, 'card.skills[0].id must be a string'],
    [{ name: 'Bot', url, provider: { url } }, 'card.provider.organization must be a string'],
    [{ name: 'Bot', url, securitySchemes: { a: { type: 'oauth2' } } },
      'card.securitySchemes.a.flows is missing; it must be an object'],
    [{ name: 'Bot', url, security: [{ a: 'read' }] }, 'card.security[0].a must be a list of strings'],
  ]
  for (const [card, said] of rows) {
    assert.throws(() => decodeV03Card(card), { kind: 'invalid', message: said })
  }
})
