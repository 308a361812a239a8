import assert from 'node:assert/strict'
import test from 'node:test'
import { decodeV1Artifact, decodeV1Message, v1 } from '../../fixtures/a2a-client/v1.ts'
import { sent } from './sent.ts'
import type { Artifact } from '../../../lib/kernel/define/artifact.ts'
import type { Content } from '../../../lib/kernel/define/content.ts'

const encodeEvent = v1.operations.stream!.encodeResult

function encode(parts: readonly Content[]): unknown {
  const message = {
    id: 'm1', role: 'agent', parts, contextId: undefined, taskId: undefined, metadata: undefined,
    extensions: undefined, referenceTaskIds: undefined,
  } as const
  return (sent(encodeEvent({ what: 'message', message })) as { message: { parts: unknown } }).message.parts
}

function encodeArtifact(artifact: Artifact): unknown {
  const ids = { taskId: 't1', contextId: 'c1' }
  const event = encodeEvent({ what: 'artifact', ...ids, artifact, append: false, last: true })
  return (sent(event) as { artifactUpdate: { artifact: unknown } }).artifactUpdate.artifact
}

function decode(part: unknown): Content {
  return decodeV1Message({ messageId: 'm1', role: 'ROLE_AGENT', parts: [part] }, 'result').parts[0]!
}

test('each part is a block, and each such block the part again', () => {
  const rows: readonly (readonly [part: object, block: Content])[] = [
    [{ text: 'a' }, { type: 'text', text: 'a' }],
    [{ text: '' }, { type: 'text', text: '' }],
    [{ text: 'a', metadata: { b: 1 } }, { type: 'text', text: 'a', _meta: { b: 1 } }],
    [
      { text: 'a', filename: 'a.csv', mediaType: 'text/csv', metadata: { b: 1 } },
      { type: 'text', text: 'a', _meta: { b: 1, mediaType: 'text/csv', filename: 'a.csv' } },
    ],
    [
      { url: 'https://a.example/b%20c', mediaType: 'a/b', filename: 'b c' },
      { type: 'resource_link', uri: 'https://a.example/b%20c', name: 'b c', mimeType: 'a/b' },
    ],
    [
      { url: 'https://a.example/b.pdf', filename: 'Report', metadata: { b: 1 } },
      { type: 'resource_link', uri: 'https://a.example/b.pdf', name: 'Report', _meta: { b: 1 } },
    ],
    [
      { raw: 'AAEC', mediaType: 'image/png', filename: 'a.png' },
      { type: 'image', data: 'AAEC', mimeType: 'image/png', _meta: { filename: 'a.png' } },
    ],
    [{ raw: 'AAEC', mediaType: 'audio/wav' }, { type: 'audio', data: 'AAEC', mimeType: 'audio/wav' }],
    [
      { raw: 'AAEC', filename: 'a/b.zip', metadata: { b: 1 } },
      { type: 'resource', resource: { uri: 'attachment:a%2Fb.zip', blob: 'AAEC' }, _meta: { b: 1 } },
    ],
    [
      { raw: '', mediaType: 'text/csv' },
      { type: 'resource', resource: { uri: 'attachment:file', mimeType: 'text/csv', blob: '' } },
    ],
    [{ data: null }, { type: 'data', data: null }],
    [{ data: 'a' }, { type: 'data', data: 'a' }],
    [{ data: [{ a_b: null }] }, { type: 'data', data: [{ a_b: null }] }],
    [
      { data: {}, mediaType: 'application/json', filename: 'a.json', metadata: { b: 1 } },
      { type: 'data', data: {}, mimeType: 'application/json', _meta: { b: 1, filename: 'a.json' } },
    ],
  ]
  for (const [part, block] of rows) {
    assert.deepEqual(decode(part), block, JSON.stringify(part))
    assert.deepEqual(encode([block]), [part], JSON.stringify(block))
  }
})

test('a file that nobody named is called as its address ends', () => {
  const block = { type: 'resource_link', uri: 'https://a.example/b.pdf', name: 'b.pdf' } as const
  assert.deepEqual(decode({ url: 'https://a.example/b.pdf' }), block)
  const picture = { type: 'image', data: 'AAEC', mimeType: 'image/png' }
  assert.deepEqual(decode({ url: 'data:image/png;base64,AAEC' }), picture)
})

test('what only an author makes is the nearest part', () => {
  const rows: readonly (readonly [block: Content, part: object])[] = [
    [
      { type: 'resource', resource: { uri: 'file:///tmp/notes.md', text: '# Hi', mimeType: 'a/b' } },
      { text: '# Hi', filename: 'notes.md', mediaType: 'a/b' },
    ],
    [
      { type: 'resource', resource: { uri: 'file:///tmp/a.zip', blob: '+/8=' } },
      { raw: '+/8=', filename: 'a.zip' },
    ],
    [
      { type: 'resource_link', uri: 'https://a.example/b.pdf', name: 'b.pdf', title: 'B', size: 7 },
      { url: 'https://a.example/b.pdf', filename: 'b.pdf' },
    ],
    [{ type: 'text', text: 'a', annotations: { priority: 1 } }, { text: 'a' }],
  ]
  for (const [block, part] of rows) assert.deepEqual(encode([block]), [part], JSON.stringify(block))
})

test('a message has a part even where its author had nothing to say, and so has an artifact', () => {
  assert.deepEqual(encode([]), [{ text: '' }])
  assert.deepEqual(encodeArtifact({ id: 'a1', parts: [] }), { artifactId: 'a1', parts: [{ text: '' }] })
})

test('members of an artifact that are not set are not there', () => {
  const bare = { id: 'a1', parts: [] }
  assert.deepEqual(encodeArtifact({ ...bare, name: '' }), {
    artifactId: 'a1', parts: [{ text: '' }],
  })
  const given = { artifact_id: 'a1', name: null, description: '', parts: null, extensions: [] }
  assert.deepEqual(decodeV1Artifact(given, 'result'), bare)
})
