import assert from 'node:assert/strict'
import test from 'node:test'
import { checkMediaTypes } from '../../lib/a2a/codec/parts.ts'
import { defineAgent } from '../../lib/index.ts'
import type { Content } from '../../lib/index.ts'

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
