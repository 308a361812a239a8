import assert from 'node:assert/strict'
import test from 'node:test'
import { readAt } from '../../fixtures/a2a-client/client.ts'
import { decodeV03Message, v03 } from '../../fixtures/a2a-client/v03.ts'
import { sent } from './sent.ts'
import type { Content } from '../../../lib/kernel/define/content.ts'

const PNG = 'image/png'

/** The block of a part in a message. */
function decode(part: unknown): Content {
  const message = { role: 'user', messageId: 'm', parts: [part] }
  return readAt('part', 'm.parts[0]', () => decodeV03Message(message, 'm')).parts[0]!
}

/** The part of a block in a message. */
function encode(block: Content): unknown {
  const message = {
    id: 'm', role: 'user', parts: [block], contextId: undefined, taskId: undefined, metadata: undefined,
    extensions: undefined, referenceTaskIds: undefined,
  } as const
  const written = v03.operations.send!.encodeResult({ what: 'message', message })
  const { parts } = sent(written) as { parts: readonly unknown[] }
  return parts[0]
}

test('a part is written as it stands here, and read as the block that it was', () => {
  const rows: readonly (readonly [block: Content, part: object])[] = [
    [{ type: 'text', text: 'hi' }, { kind: 'text', text: 'hi' }],
    [{ type: 'text', text: '' }, { kind: 'text', text: '' }],
    [
      { type: 'text', text: '<p>', _meta: { mediaType: 'text/html', filename: 'a.html', mood: 1 } },
      { kind: 'text', text: '<p>', metadata: { mediaType: 'text/html', filename: 'a.html', mood: 1 } },
    ],
    [{ type: 'image', data: 'AAEC', mimeType: PNG },
      { kind: 'file', file: { bytes: 'AAEC', mimeType: PNG } }],
    [
      { type: 'image', data: 'AAEC', mimeType: PNG, _meta: { filename: 'a.png', mood: 1 } },
      { kind: 'file', file: { bytes: 'AAEC', mimeType: PNG, name: 'a.png' }, metadata: { mood: 1 } },
    ],
    [
      { type: 'audio', data: 'AAEC', mimeType: 'audio/wav' },
      { kind: 'file', file: { bytes: 'AAEC', mimeType: 'audio/wav' } },
    ],
    [
      { type: 'resource', resource: { uri: 'attachment:a%20b.zip', mimeType: 'a/zip', blob: 'AAEC' } },
      { kind: 'file', file: { bytes: 'AAEC', mimeType: 'a/zip', name: 'a b.zip' } },
    ],
    [
      { type: 'resource', resource: { uri: 'attachment:file', blob: '' }, _meta: { mood: 1 } },
      { kind: 'file', file: { bytes: '' }, metadata: { mood: 1 } },
    ],
    [
      { type: 'resource_link', uri: 'https://a.example/b.pdf', name: 'b.pdf', mimeType: 'a/pdf' },
      { kind: 'file', file: { uri: 'https://a.example/b.pdf', mimeType: 'a/pdf', name: 'b.pdf' } },
    ],
    [
      { type: 'resource_link', uri: 'https://a.example/b.pdf', name: 'Report', _meta: { mood: 1 } },
      { kind: 'file', file: { uri: 'https://a.example/b.pdf', name: 'Report' }, metadata: { mood: 1 } },
    ],
    [{ type: 'data', data: { a: [1, null] } }, { kind: 'data', data: { a: [1, null] } }],
    [{ type: 'data', data: {}, _meta: { mood: 1 } }, { kind: 'data', data: {}, metadata: { mood: 1 } }],
    [
      { type: 'data', data: {}, mimeType: 'a/json', _meta: { mood: 1 } },
      { kind: 'data', data: {}, metadata: { mood: 1, mediaType: 'a/json' } },
    ],
    ...[[1], 'text', 7, false, null].map((data): [Content, object] => [
      { type: 'data', data }, { kind: 'data', data: { value: data }, metadata: { data_part_compat: true } },
    ]),
    [
      { type: 'data', data: null, mimeType: 'a/json', _meta: { mood: 1 } },
      {
        kind: 'data', data: { value: null },
        metadata: { mood: 1, mediaType: 'a/json', data_part_compat: true },
      },
    ],
    // What only looks as if it were wrapped.
    [
      { type: 'data', data: { value: 1 }, _meta: { data_part_compat: false } },
      { kind: 'data', data: { value: 1 }, metadata: { data_part_compat: false } },
    ],
    [
      { type: 'data', data: {}, _meta: { data_part_compat: true, mediaType: 7 } },
      { kind: 'data', data: {}, metadata: { data_part_compat: true, mediaType: 7 } },
    ],
  ]
  for (const [block, part] of rows) {
    assert.deepEqual(encode(block), part)
    assert.deepEqual(decode(part), block)
  }
})

test('what the dialect does not tell apart is read as what it is most like', () => {
  const rows: readonly (readonly [block: Content, read: Content])[] = [
    [
      { type: 'resource', resource: { uri: 'memo://a/b', text: 'x' } },
      { type: 'resource', resource: { uri: 'attachment:b', mimeType: 'text/plain', blob: 'eA==' } },
    ],
    [
      { type: 'resource', resource: { uri: 'memo://a/b', mimeType: PNG, blob: 'AAEC' } },
      { type: 'image', data: 'AAEC', mimeType: PNG, _meta: { filename: 'b' } },
    ],
    [{ type: 'text', text: 'x', annotations: { priority: 1 } }, { type: 'text', text: 'x' }],
    [
      { type: 'resource_link', uri: 'a:b', name: 'b', title: 'B', size: 3 },
      { type: 'resource_link', uri: 'a:b', name: 'b' },
    ],
    [{ type: 'data', data: 7, _meta: { data_part_compat: true } }, { type: 'data', data: 7 }],
  ]
  for (const [block, read] of rows) assert.deepEqual(decode(encode(block)), read)
})

test('parts of old and of careless clients are read', () => {
  const link = { type: 'resource_link', uri: 'https://a.example/b', name: 'b' }
  const rows: readonly (readonly [part: object, block: unknown])[] = [
    [{ type: 'text', text: 'hi' }, { type: 'text', text: 'hi' }],
    [{ kind: null, type: 'text', text: 'hi', metadata: null }, { type: 'text', text: 'hi' }],
    [{ text: 'hi' }, { type: 'text', text: 'hi' }],
    [{ file: { uri: link.uri } }, link],
    [{ data: { a: 1 }, text: null }, { type: 'data', data: { a: 1 } }],
    [{ kind: 'text', text: 'hi', color: 'red' }, { type: 'text', text: 'hi' }],
    [{ kind: 'file', file: { uri: link.uri, bytes: null, name: null, mimeType: '' } }, link],
    [{ kind: 'file', file: { uri: link.uri, mime_type: 'a/b' } }, { ...link, mimeType: 'a/b' }],
    [{ kind: 'file', file: { bytes: '-_8', mimeType: PNG } }, { type: 'image', data: '+/8=', mimeType: PNG }],
  ]
  for (const [part, block] of rows) assert.deepEqual(decode(part), block, JSON.stringify(part))
})

test('a part that is wrong is refused with the member and what it must be', () => {
  const rows: readonly (readonly [part: unknown, said: string])[] = [
    [null, 'part is missing; it must be an object'],
    ['hi', 'part must be an object'],
    [[], 'part must be an object'],
    [{}, 'part.kind must be one of text, file, data'],
    [{ kind: 'image', text: 'hi' }, 'part.kind must be one of text, file, data: "image" would not be seen'],
    [{ type: 'image', text: 'hi' }, 'part.kind must be one of text, file, data: "image" would not be seen'],
    [{ kind: '', text: 'hi' }, 'part.kind must be one of text, file, data'],
    [{ kind: '__proto__', text: 'hi' },
      'part.kind must be one of text, file, data: "__proto__" would not be seen'],
    [{ kind: ['text'], text: 'hi' }, 'part.kind must be one of text, file, data: an array would not be seen'],
    [{ kind: 'x'.repeat(1_000_000) },
      `part.kind must be one of text, file, data: "${'x'.repeat(60)}…" would not be seen`],
    [{ url: 'https://a.example', mediaType: PNG, file: null, metadata: {} },
      'part.kind must be one of text, file, data: "url, mediaType" would not be seen'],
    [{ kind: 'text' }, 'part.text must be a string'],
    [{ kind: 'text', text: 7 }, 'part.text must be a string'],
    [{ kind: 'text', text: 'hi', metadata: [] }, 'part.metadata must be an object'],
    [{ kind: 'file' }, 'part.file is missing; it must be an object'],
    [{ kind: 'file', file: {} }, 'part.file.uri is missing; a file has "uri" or "bytes"'],
    [{ kind: 'file', file: { data: 'AAEC' } }, 'part.file.uri is missing; a file has "uri" or "bytes"'],
    [{ kind: 'file', file: { uri: 7 } }, 'part.file.uri must be a string'],
    [{ kind: 'file', file: { bytes: 'a?' } }, 'part.file.bytes must be a string of Base64'],
    [{ kind: 'file', file: { bytes: [1] } }, 'part.file.bytes must be a string of Base64'],
    [{ kind: 'file', file: { bytes: '', name: 7 } }, 'part.file.name must be a string of at most 8192 bytes'],
    [{ kind: 'file', file: { bytes: '', mimeType: {} } },
      'part.file.mimeType must be a string of at most 8192 bytes'],
    [{ kind: 'data' }, 'part.data is missing; it must be an object'],
    [{ kind: 'data', data: [1] }, 'part.data must be an object'],
    [{ kind: 'data', data: 'text' }, 'part.data must be an object'],
  ]
  for (const [part, said] of rows) {
    assert.throws(() => decode(part), { kind: 'invalid', message: said }, JSON.stringify(part))
  }
})
