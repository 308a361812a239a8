import assert from 'node:assert/strict'
import test from 'node:test'
import { contentOf, isContent, isRecord, textOf } from '../../../lib/kernel/define/content.ts'
import type { ContentInput } from '../../../lib/kernel/define/content.ts'

const bytes = new Uint8Array([0xff, 0, 1, 2, 3, 0xff]).subarray(1, 5)

test('bytes become base64, from just their own part of memory', () => {
  assert.deepEqual(contentOf({ type: 'audio', data: bytes, mimeType: 'audio/wav' }), {
    type: 'audio', data: 'AAECAw==', mimeType: 'audio/wav',
  })
  assert.deepEqual(contentOf({ type: 'resource', resource: { uri: 'x:1', blob: bytes } }), {
    type: 'resource', resource: { uri: 'x:1', blob: 'AAECAw==' },
  })
})

test('base64 of an author is sent as every client reads it', () => {
  const rows = [['AAEC', 'AAEC'], ['-_8', '+/8='], ['AQ', 'AQ=='], ['AA\nEC\r\n', 'AAEC'], ['', '']] as const
  for (const [data, sent] of rows) {
    assert.deepEqual(contentOf({ type: 'image', data, mimeType: 'image/png' }), {
      type: 'image', data: sent, mimeType: 'image/png',
    })
    assert.deepEqual(contentOf({ type: 'resource', resource: { uri: 'x:1', blob: data } }), {
      type: 'resource', resource: { uri: 'x:1', blob: sent },
    })
  }
})

test('a block that is complete is itself, marks and all', () => {
  const block = { type: 'text', text: 'a', annotations: { priority: 1 }, _meta: { b: 1 } } as const
  assert.equal(contentOf(block), block)
})

const broken: readonly (readonly [block: unknown, missing: RegExp])[] = [
  [{ type: 'text' }, /type 'text' needs 'text'/],
  [{ type: 'text', text: 7 }, /needs 'text'/],
  [{ type: 'image', data: 'AAAA' }, /type 'image' needs 'mimeType'/],
  [{ type: 'audio', mimeType: 'audio/wav', data: [0] }, /type 'audio' needs 'data'/],
  [{ type: 'resource' }, /type 'resource' needs 'resource'/],
  [{ type: 'resource', resource: {} }, /needs 'uri'/],
  [{ type: 'resource_link', uri: 'x:1' }, /type 'resource_link' needs 'name'/],
  [{ type: 'data' }, /type 'data' needs 'data'/],
  [{ type: 'data', data: 1n }, /holds what JSON cannot represent/],
  [{ type: 'data', data: () => 1 }, /holds what JSON cannot represent/],
]

const link = { type: 'resource_link', uri: 'x:1', name: 'x' }

/** What would have a client refuse the whole result. */
const strange: readonly (readonly [block: unknown, sentence: RegExp])[] = [
  [{ type: 'image', data: 'data:image/png;base64,AAAA', mimeType: 'image/png' },
    /type 'image' has a data that is no base64; write a Uint8Array, or base64 alone, without 'data:'/],
  [{ type: 'audio', data: 'A', mimeType: 'audio/wav' }, /type 'audio' has a data that is no base64/],
  [{ type: 'resource', resource: { uri: 'x:1', blob: '!' } }, /type 'resource' has a blob that is no base64/],
  [{ type: 'text', text: '', annotations: { priority: 2 } }, /has a priority that is no number from 0 to 1/],
  [{ type: 'text', text: '', annotations: { audience: ['me'] } },
    /has an audience that is no list of 'user'/],
  [{ ...link, annotations: { audience: 'user' } },
    /has an audience that is no list of 'user' and 'assistant'/],
  [{ ...link, annotations: { lastModified: 7 } }, /has a lastModified that is no text, as '2026-07-28T/],
  [{ ...link, mimeType: 7 }, /type 'resource_link' has a mimeType that is no string/],
  [{ ...link, size: '7' }, /has a size that is no number of bytes/],
  [{ type: 'resource', resource: { uri: 'x:1', text: '', mimeType: 7 } },
    /the resource of a content block has a mimeType that is no string/],
]

const unknown: readonly (readonly [block: unknown, sentence: RegExp])[] = [
  [{ type: 'txt', text: 'a' }, /^a content block has the type "txt"; did you mean 'text'\?$/],
  [{ type: 'Text', text: 'a' }, /has the type "Text"; did you mean 'text'\?$/],
  [{ type: 'image_url' },
    /has the type "image_url"; write one of text, image, audio, resource, resource_link, data$/],
  [{ type: 'x'.repeat(1_000) }, /has the type "x{60}"; write one of/],
  [{ text: 'a' }, /^a list of content holds strings and content blocks, and nothing else$/],
  [7, /^a list of content holds strings/],
  [null, /^a list of content holds strings/],
]

test('what is no block is the mistake of its author, and says which was probably meant', () => {
  for (const [block, sentence] of unknown) {
    assert.throws(() => contentOf(block as ContentInput), (error: Error) => {
      return sentence.test((error.cause as Error).message)
    })
  }
})

test('half a block is the mistake of its author, and says what is missing', () => {
  for (const [block, missing] of broken) {
    assert.ok(isContent(block))
    assert.throws(
      () => contentOf(block as ContentInput), (error: Error) => missing.test((error.cause as Error).message),
    )
  }
})

test('a block that clients would refuse is the mistake of its author, and says what to write', () => {
  for (const [block, sentence] of strange) {
    assert.throws(() => contentOf(block as ContentInput), (error: Error) => {
      return sentence.test((error.cause as Error).message)
    }, JSON.stringify(block))
  }
  const annotations = { audience: ['user', 'assistant'], priority: 0, lastModified: '2026-07-28', other: 1 }
  const fine = { ...link, annotations, title: 'X', description: '', mimeType: 'text/plain', size: 0 }
  assert.equal(contentOf(fine as ContentInput), fine)
})

test('only the five types are blocks', () => {
  for (const value of [null, 'text', [], {}, { type: 'cat' }, { type: 7 }, { type: 'constructor' }]) {
    assert.equal(isContent(value), false)
  }
  assert.deepEqual([null, [], 'a', {}, new Date()].map(isRecord), [false, false, false, true, true])
})

test('the text of blocks is what clients read that read nothing else', () => {
  assert.equal(
    textOf([
      { type: 'text', text: 'a' }, { type: 'image', data: '', mimeType: 'x/y' }, { type: 'text', text: 'b' },
    ]),
    'ab',
  )
})
