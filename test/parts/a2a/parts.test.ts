import assert from 'node:assert/strict'
import test from 'node:test'
import {
  addressBlock, bytesBlock, checkMediaTypes, dataBlock, filenameOf, fileOf, linkBlock, mediaTypeOf,
  metadataOf, nameOf, readBytes, textBlock,
} from '../../../lib/parts/a2a/codec/parts.ts'
import { defineAgent } from '../../../lib/index.ts'
import type { FileBlock } from '../../../lib/parts/a2a/codec/parts.ts'
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

test('bytes are a picture, a sound or a resource, by their media type', () => {
  const _meta = { filename: 'a.png', page: 1 }
  const rows: readonly (readonly [mimeType: string | undefined, block: FileBlock])[] = [
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
  for (const [mimeType, block] of rows) {
    assert.deepEqual(bytesBlock('AAEC', mimeType, 'a.png', { page: 1 }), block)
  }
})

test('what a file becomes gives the file again', () => {
  const odd = 'a b/ü?#%\u{1f600}.txt'
  for (const mediaType of [undefined, 'image/png', 'audio/wav', 'text/csv']) {
    for (const name of [undefined, 'a.txt', odd]) {
      for (const metadata of [undefined, { page: 1, nested: { filename: 'x' } }]) {
        const uri = 'https://a.example/b.pdf'
        const file = { name, mediaType, text: undefined }
        const bytes = bytesBlock('AAEC', mediaType, name, metadata)
        assert.deepEqual(fileOf(bytes), { ...file, uri: undefined, bytes: 'AAEC' })
        assert.deepEqual(metadataOf(bytes), metadata)
        const link = linkBlock(uri, mediaType, name, metadata)
        // By its address a file has a name, whoever gave it.
        assert.deepEqual(fileOf(link), { ...file, name: name ?? 'b.pdf', uri, bytes: undefined })
        assert.deepEqual(metadataOf(link), metadata)
      }
    }
  }
})

test('what a text or a value was called stands in its _meta, and comes out of it again', () => {
  assert.deepEqual(textBlock('a', undefined, undefined, undefined), { type: 'text', text: 'a' })
  assert.deepEqual(textBlock('a', 'text/plain', undefined, undefined), { type: 'text', text: 'a' })
  const text = textBlock('a', 'text/csv', 'a.csv', { page: 1 })
  const _meta = { page: 1, mediaType: 'text/csv', filename: 'a.csv' }
  assert.deepEqual(text, { type: 'text', text: 'a', _meta })
  assert.deepEqual([mediaTypeOf(text), filenameOf(text)], ['text/csv', 'a.csv'])
  assert.deepEqual(metadataOf(text), { page: 1 })
  const bare = textBlock('a', 'text/csv', 'a.csv', undefined)
  assert.equal(metadataOf(bare), undefined)
  const data = dataBlock(null, 'application/json', 'a.json', { page: 1 })
  assert.deepEqual(data, {
    type: 'data', data: null, mimeType: 'application/json', _meta: { page: 1, filename: 'a.json' },
  })
  assert.deepEqual([filenameOf(data), metadataOf(data)], ['a.json', { page: 1 }])
  assert.deepEqual(dataBlock([1], undefined, undefined, undefined), { type: 'data', data: [1] })
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
    assert.deepEqual(addressBlock(uri, undefined, undefined, undefined), block, uri)
  }
  assert.deepEqual(addressBlock('data:a/b;base64,AAEC', 'image/png', 'a.png', { mood: 1 }), {
    ...picture, _meta: { mood: 1, filename: 'a.png' },
  })
})

test('a block that an author made is a file as well', () => {
  const none = { uri: undefined, bytes: undefined, text: undefined, name: undefined, mediaType: undefined }
  const rows: readonly (readonly [block: FileBlock, file: object])[] = [
    [{ type: 'resource_link', uri: 'https://a.example/x.pdf', name: 'Report' },
      { ...none, uri: 'https://a.example/x.pdf', name: 'Report' }],
    [{ type: 'resource_link', uri: 'https://a.example/x.pdf', name: 'x.pdf' },
      { ...none, uri: 'https://a.example/x.pdf', name: 'x.pdf' }],
    [linkBlock('https://a.example/', undefined, undefined, undefined),
      { ...none, uri: 'https://a.example/' }],
    [linkBlock('data:,a', undefined, undefined, undefined), { ...none, uri: 'data:,a' }],
    [{ type: 'resource', resource: { uri: 'file:///tmp/notes.md', text: '# Hi', mimeType: 'text/markdown' } },
      { ...none, name: 'notes.md', text: '# Hi', mediaType: 'text/markdown' }],
    [{ type: 'resource', resource: { uri: 'file:///tmp/file', blob: '+/8=' } },
      { ...none, name: 'file', bytes: '+/8=' }],
    [{ type: 'resource', resource: { uri: 'attachment:file', text: '' } }, { ...none, text: '' }],
    [{ type: 'image', data: 'AAEC', mimeType: 'image/png', _meta: { filename: 7 } },
      { ...none, bytes: 'AAEC', mediaType: 'image/png' }],
  ]
  for (const [block, file] of rows) assert.deepEqual(fileOf(block), file, JSON.stringify(block))
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
