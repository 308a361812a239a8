import assert from 'node:assert/strict'
import test from 'node:test'
import { linesOf } from '../../../lib/floors/conversations/message.ts'
import { text } from '../../../lib/kernel/define/content.ts'

test('the lines of blocks are their texts, one below the other, without the files', () => {
  const link = { type: 'resource_link', uri: 'https://a.example', name: 'a' } as const
  assert.equal(linesOf([text('one'), link, text('two')]), 'one\ntwo')
  assert.equal(linesOf([text(''), text('two')]), '\ntwo')
  assert.equal(linesOf([link]), '')
})
