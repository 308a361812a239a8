import assert from 'node:assert/strict'
import test from 'node:test'
import { contentOf, isContent, isRecord, textOf } from '../../lib/core/content.ts'
import type { ContentInput } from '../../lib/index.ts'

const bytes = new Uint8Array([0xff, 0, 1, 2, 3, 0xff]).subarray(1, 5)

test('bytes become base64, from just their own part of memory', () => {
  assert.deepEqual(contentOf({ type: 'audio', data: bytes, mimeType: 'audio/wav' }), {
    type: 'audio', data: 'AAECAw==', mimeType: 'audio/wav',
  })
  assert.deepEqual(contentOf({ type: 'resource', resource: { uri: 'x:1', blob: bytes } }), {
    type: 'resource', resource: { uri: 'x:1', blob: 'AAECAw==' },
  })
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
  [{ type: 'data', data: 1n }, /holds what JSON cannot say/],
  [{ type: 'data', data: () => 1 }, /holds what JSON cannot say/],
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
