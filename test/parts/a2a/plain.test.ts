import assert from 'node:assert/strict'
import test from 'node:test'
import { encodeCard } from '../../../lib/parts/a2a/codec/cards.ts'
import { isPlainParams } from '../../../lib/parts/a2a/codec/plain.ts'
import { plain } from '../../fixtures/a2a-client/plain.ts'
import type { Card } from '../../../lib/parts/a2a/model/model.ts'

test('plain is what has no kind, on the message and on each part', () => {
  const text = { type: 'text', text: 'hello' }
  const rows: readonly (readonly [params: unknown, isPlain: boolean])[] = [
    [undefined, true],
    [{}, true],
    [{ message: { parts: [text] } }, true],
    [{ message: { kind: null, parts: [{ ...text, kind: null }] } }, true],
    [{ message: { kind: 'message', parts: [text] } }, false],
    [{ message: { parts: [text, { kind: 'text', text: 'hello' }] } }, false],
    [{ message: { parts: [{ kind: '' }] } }, false],
  ]
  for (const [params, isPlain] of rows) assert.equal(isPlainParams(params), isPlain, JSON.stringify(params))
})

test('a card tells a plain client all that it looks for', () => {
  const card: Card = {
    name: 'Bot',
    description: 'Helps.',
    version: '1.0.0',
    interfaces: [{ url: 'https://a.example/a2a', binding: 'JSONRPC', version: '0.3', tenant: undefined }],
    provider: undefined,
    documentationUrl: undefined,
    iconUrl: undefined,
    streams: true,
    pushes: false,
    hasExtendedCard: false,
    extensions: [],
    inputModes: ['text/plain'],
    outputModes: ['text/plain'],
    skills: [{ id: 'chat', name: 'Chat', description: 'Talks.', tags: ['chat'] }],
    schemes: new Map(),
    security: [],
  }
  const members = encodeCard(card, '0.3')
  assert.deepEqual(members['capabilities'], {
    streaming: true, pushNotifications: false, stateTransitionHistory: false,
  })
  for (const name of ['name', 'description', 'url', 'version', 'skills']) assert(name in members, name)
  assert.deepEqual(plain.decodeCard(JSON.parse(JSON.stringify(members))), card)
})

