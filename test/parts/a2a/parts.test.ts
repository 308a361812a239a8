import assert from 'node:assert/strict'
import test from 'node:test'
import { blockFor, checkMediaTypes, nameOf, partFor, readBytes } from '../../../lib/parts/a2a/codec/parts.ts'
import { defineAgent } from '../../../lib/index.ts'
import type { PartLabels } from '../../../lib/parts/a2a/codec/parts.ts'
import type { Content } from '../../../lib/index.ts'

test('a file is called by the last segment of its address', () => {
  const rows: readonly (readonly [uri: string, name: string])[] = [
    ['https://a.example/x/y.pdf', 'y.pdf'],
    ['https://a.example/x/y.pdf?v=1/2#p/3', 'y.pdf'],
    ['https://a.example/my%20file.txt', 'my file.txt'],
    ['https://a.example/bad%zz.txt', 'bad%zz.txt'],
    ['https://a.example/x/', 'file'],
    ['https://a.example', 'file'],
    ['https://a.example?x', 'file'],
    ['file:///tmp/notes.md', 'notes.md'],
    ['urn:isbn:123', 'isbn:123'],
    ['y.pdf', 'y.pdf'],
    ['attachment:a%2Fb%3F.txt', 'a/b?.txt'],
    ['data:text/plain;base64,QUJD/QUJD', 'data'],
  ]
  for (const [uri, name] of rows) assert.equal(nameOf(uri), name, uri)
})

test('bytes are read from Base64 of both alphabets, padded or not', () => {
  const rows: readonly (readonly [given: string, normal: string])[] = [
    ['', ''], ['AAEC', 'AAEC'], ['+/8=', '+/8='], ['-_8=', '+/8='], ['-_8', '+/8='],
    ['+/8', '+/8='], ['QQ', 'QQ=='], ['QQ==', 'QQ=='], ['_-_-', '/+/+'],
  ]
  for (const [given, normal] of rows) assert.equal(readBytes(given, 'parts[0]', 'raw'), normal, given)
  const wrong = [null, 7, 'A', 'AAAAA', 'QQ=', 'A===', '====', 'AA\nAA', 'AA A', 'ä', 'Q=Q=', 'QQ===']
  for (const given of wrong) {
    const expected = { kind: 'invalid', message: 'parts[0].raw must be a string of Base64' }
    assert.throws(() => readBytes(given, 'parts[0]', 'raw'), expected, String(given))
  }
})

type Read = Parameters<typeof blockFor>[0] & PartLabels

const none = { name: undefined, mediaType: undefined, metadata: undefined }

test('bytes are a picture, a sound or a resource, by their media type', () => {
  const _meta = { page: 1, filename: 'a.png' }
  const rows: readonly (readonly [mediaType: string | undefined, block: Content])[] = [
    ['image/png', { type: 'image', data: 'AAEC', mimeType: 'image/png', _meta }],
    ['IMAGE/PNG', { type: 'image', data: 'AAEC', mimeType: 'IMAGE/PNG', _meta }],
    ['audio/wav', { type: 'audio', data: 'AAEC', mimeType: 'audio/wav', _meta }],
    ['imagery/x', {
      type: 'resource', resource: { uri: 'attachment:a.png', mimeType: 'imagery/x', blob: 'AAEC' },
      _meta: { page: 1 },
    }],
    [undefined, {
      type: 'resource', resource: { uri: 'attachment:a.png', blob: 'AAEC' }, _meta: { page: 1 },
    }],
  ]
  for (const [mediaType, block] of rows) {
    const labels = { name: 'a.png', mediaType, metadata: { page: 1 } }
    assert.deepEqual(blockFor({ kind: 'bytes', value: 'AAEC' }, labels), block)
  }
})

test('the block of a part becomes that part again', () => {
  const names = [undefined, 'a.txt', 'a b/ü?#%\u{1f600}.txt']
  for (const mediaType of [undefined, 'image/png', 'audio/wav', 'text/csv']) {
    for (const name of names) {
      for (const metadata of [undefined, { page: 1, nested: { filename: 'x' } }]) {
        const parts: readonly Read[] = [
          { kind: 'text', value: 'a', name, mediaType, metadata },
          { kind: 'data', value: { a: null }, name, mediaType, metadata },
          { kind: 'data', value: null, name, mediaType, metadata },
          { kind: 'bytes', value: 'AAEC', name, mediaType, metadata },
          // By its address a file has a name, whoever gave it.
          { kind: 'uri', value: 'https://a.example/b.pdf', name: name ?? 'b.pdf', mediaType, metadata },
          { kind: 'uri', value: 'https://a.example/', name, mediaType, metadata },
        ]
        for (const part of parts) assert.deepEqual(partFor(blockFor(part, part)), part)
      }
    }
  }
})

test('what a text or a value was called stands in its _meta', () => {
  const labels = { name: 'a.csv', mediaType: 'text/csv', metadata: { page: 1 } }
  const rows: readonly (readonly [part: Read, block: Content])[] = [
    [{ kind: 'text', value: 'a', ...none }, { type: 'text', text: 'a' }],
    [{ kind: 'text', value: 'a', ...none, mediaType: 'text/plain' }, { type: 'text', text: 'a' }],
    [{ kind: 'text', value: 'a', ...labels }, {
      type: 'text', text: 'a', _meta: { page: 1, mediaType: 'text/csv', filename: 'a.csv' },
    }],
    [{ kind: 'data', value: [1], ...none }, { type: 'data', data: [1] }],
    [{ kind: 'data', value: null, ...labels }, {
      type: 'data', data: null, mimeType: 'text/csv', _meta: { page: 1, filename: 'a.csv' },
    }],
  ]
  for (const [part, block] of rows) assert.deepEqual(blockFor(part, part), block)
})

test('an address that holds the bytes is the file itself', () => {
  const picture = { type: 'image', data: 'AAEC', mimeType: 'image/png' }
  const rows: readonly (readonly [uri: string, block: unknown])[] = [
    ['data:image/png;base64,AAEC', picture],
    ['DATA:image/png;name=a;BASE64,AAEC', picture],
    ['data:;base64,AAEC', { type: 'resource', resource: { uri: 'attachment:file', blob: 'AAEC' } }],
    ['data:,a', { type: 'resource_link', uri: 'data:,a', name: 'data' }],
    ['data:image/png;base64,?', { type: 'resource_link', uri: 'data:image/png;base64,?', name: 'data' }],
    ['https://a.example/b', { type: 'resource_link', uri: 'https://a.example/b', name: 'b' }],
  ]
  for (const [uri, block] of rows) {
    assert.deepEqual(blockFor({ kind: 'uri', value: uri }, none), block, uri)
  }
  const labels = { name: 'a.png', mediaType: 'image/png', metadata: { mood: 1 } }
  assert.deepEqual(blockFor({ kind: 'uri', value: 'data:a/b;base64,AAEC' }, labels), {
    ...picture, _meta: { mood: 1, filename: 'a.png' },
  })
})

test('a block that an author made is a part as well', () => {
  const rows: readonly (readonly [block: Content, part: object])[] = [
    [{ type: 'resource_link', uri: 'https://a.example/x.pdf', name: 'Report' },
      { kind: 'uri', value: 'https://a.example/x.pdf', name: 'Report' }],
    [{ type: 'resource_link', uri: 'https://a.example/x.pdf', name: 'x.pdf' },
      { kind: 'uri', value: 'https://a.example/x.pdf', name: 'x.pdf' }],
    [{ type: 'resource_link', uri: 'https://a.example/', name: 'file' },
      { kind: 'uri', value: 'https://a.example/' }],
    [{ type: 'resource_link', uri: 'data:,a', name: 'data' }, { kind: 'uri', value: 'data:,a' }],
    [{ type: 'resource', resource: { uri: 'file:///tmp/notes.md', text: '# Hi', mimeType: 'text/markdown' } },
      { kind: 'document', value: '# Hi', name: 'notes.md', mediaType: 'text/markdown' }],
    [{ type: 'resource', resource: { uri: 'file:///tmp/file', blob: '+/8=' } },
      { kind: 'bytes', value: '+/8=', name: 'file' }],
    [{ type: 'resource', resource: { uri: 'attachment:file', text: '' } }, { kind: 'document', value: '' }],
    [{ type: 'image', data: 'AAEC', mimeType: 'image/png', _meta: { filename: 7 } },
      { kind: 'bytes', value: 'AAEC', mediaType: 'image/png', metadata: { filename: 7 } }],
    [{ type: 'text', text: 'a', _meta: { filename: 'a.txt', mediaType: 7 } },
      { kind: 'text', value: 'a', name: 'a.txt', metadata: { mediaType: 7 } }],
    [{ type: 'text', text: 'a', annotations: { priority: 1 } }, { kind: 'text', value: 'a' }],
  ]
  for (const [block, part] of rows) {
    assert.deepEqual(partFor(block), { ...none, ...part }, JSON.stringify(block))
  }
})

const link = (mimeType?: string): Content => ({
  type: 'resource_link', uri: 'http://a.test/b', name: 'b', ...mimeType !== undefined && { mimeType },
})
const text = (mediaType?: string): Content => ({
  type: 'text', text: 'a', ...mediaType !== undefined && { _meta: { mediaType } },
})

const parts: readonly (readonly [modes: readonly string[] | undefined, part: Content, isRead: boolean])[] = [
  [undefined, link('application/pdf'), true],
  [['text/plain'], text(), true],
  [['text/plain'], link(), true],
  [['text/plain'], text('text/markdown'), false],
  [['text/*'], text('text/markdown'), true],
  [['Text/*'], text('TEXT/markdown; charset=utf-8'), true],
  [['text/*'], link('textual/plain'), false],
  [['*/*'], link('application/pdf'), true],
  [['text/plain', 'application/pdf'], link('application/pdf'), true],
  [['application/json'], { type: 'data', data: {}, mimeType: 'text/csv' }, false],
  [['image/png'], { type: 'image', data: 'AA==', mimeType: 'image/gif' }, false],
  [['image/png'], { type: 'resource', resource: { uri: 'a:b', blob: 'AA==', mimeType: 'a/b' } }, false],
]

test('a part that states another type than the agent reads is refused, with those that it does', () => {
  for (const [inputModes, part, isRead] of parts) {
    const agent = defineAgent({ name: 'Bot', run: () => '', ...inputModes && { inputModes } })
    const check = (): void => checkMediaTypes(agent, [text(), part])
    const what = `${inputModes?.join()} ${JSON.stringify(part)}`
    const refusal = { reason: 'CONTENT_TYPE_NOT_SUPPORTED', message: /^Bot does not read .*; send / }
    if (isRead) assert.doesNotThrow(check, what)
    else assert.throws(check, refusal, what)
  }
})
