import assert from 'node:assert/strict'
import test from 'node:test'
import { decodeSend, encodeReply } from '../../lib/a2a/plain.ts'
import { Fault } from '../../lib/core/fault.ts'
import type { Content } from '../../lib/core/content.ts'

const message = (parts: unknown, more?: object): unknown => ({ message: { role: 'user', parts, ...more } })
const decode = (params: unknown): ReturnType<typeof decodeSend> => decodeSend(params, 256)

test('a part is what its type says, else what its one member says', () => {
  const link = { type: 'resource_link', uri: 'https://a.example/b.pdf', name: 'b.pdf' }
  const rows: readonly (readonly [part: unknown, block: unknown])[] = [
    [{ type: 'text', text: 'hi' }, { type: 'text', text: 'hi' }],
    [{ text: 'hi' }, { type: 'text', text: 'hi' }],
    [{ text: '' }, { type: 'text', text: '' }],
    [{ type: null, text: 'hi', uri: null }, { type: 'text', text: 'hi' }],
    [{ type: 'text', text: 'hi', uri: 'https://a.example/b.pdf' }, { type: 'text', text: 'hi' }],
    [{ type: 'file', uri: link.uri, mimeType: 'application/pdf' }, { ...link, mimeType: 'application/pdf' }],
    [{ uri: link.uri, mimeType: 'application/pdf' }, { ...link, mimeType: 'application/pdf' }],
    [{ uri: link.uri }, link],
    [{ uri: link.uri, text: null, mimeType: null }, link],
  ]
  for (const [part, block] of rows) {
    assert.deepEqual(decode(message([part])).message.parts, [block], JSON.stringify(part))
  }
})

test('a file without a name is called by its address', () => {
  const [block] = decode(message([{ uri: 'https://a.example/x/my%20file.txt' }])).message.parts
  assert.equal(block?.type === 'resource_link' && block.name, 'my file.txt')
})

test('params that are wrong are refused with the member and what it must be', () => {
  const text = { type: 'text', text: 'hi' }
  const part = 'params.message.parts[0]'
  const rows: readonly (readonly [params: unknown, said: string])[] = [
    [undefined, 'params is missing'],
    [null, 'params must be an object'],
    [[], 'params must be an object'],
    ['hi', 'params must be an object'],
    [{}, 'params.message must be an object'],
    [{ message: [] }, 'params.message must be an object'],
    [{ message: { parts: [text] } }, 'params.message.role must be "user"'],
    [message([text], { role: 'agent' }), 'params.message.role must be "user"'],
    [message([text], { role: 'ROLE_USER' }), 'params.message.role must be "user"'],
    [message(undefined), 'params.message.parts must be a list of at least one part'],
    [message([]), 'params.message.parts must be a list of at least one part'],
    [message({ 0: text }), 'params.message.parts must be a list of at least one part'],
    [message([null]), `${part} must be {`],
    [message(['hi']), `${part} must be {`],
    [message([[]]), `${part} must be {`],
    [message([{}]), `${part} must be {`],
    [message([{ type: 'text' }]), `${part}.text must be a string`],
    [message([{ type: 'text', uri: 'https://a.example' }]), `${part}.text must be a string`],
    [message([{ text: 7 }]), `${part}.text must be a string`],
    [message([{ type: 'file' }]), `${part}.uri must be a non-empty string`],
    [message([{ type: 'file', file: { uri: 'https://a.b' } }]), `${part}.uri must be a non-empty string`],
    [message([{ uri: '' }]), `${part}.uri must be a non-empty string`],
    [message([{ uri: 'https://a.example', mimeType: 7 }]), `${part}.mimeType must be a string`],
    [message([{ text: 'hi', uri: 'https://a.example' }]), `${part} must be {`],
    [message([{ type: 'image', uri: 'https://a.example' }]), `${part} must be {`],
    [message([{ type: 'data', data: {} }]), `${part} must be {`],
    [message([{ type: {}, text: 'hi' }]), `${part} must be {`],
    [message([{ type: '__proto__', text: 'hi' }]), `${part} must be {`],
    [message([text, text, {}]), 'params.message.parts[2] must be {'],
    [message([text], { contextId: 7 }), 'params.message.contextId must be a string'],
    [message([text], { contextId: 'x'.repeat(257) }), 'params.message.contextId must be a string of'],
    [message([text], { contextId: 'ü'.repeat(129) }), 'params.message.contextId must be a string of'],
    [{ ...message([text]) as object, metadata: 'x' }, 'params.metadata must be an object'],
    [{ ...message([text]) as object, metadata: [] }, 'params.metadata must be an object'],
  ]
  for (const [params, said] of rows) {
    assert.throws(() => decode(params), (error) => {
      assert(error instanceof Fault)
      assert.equal(error.kind, 'invalid')
      assert(error.message.startsWith(said), `${JSON.stringify(params)}: ${error.message}`)
      return true
    })
  }
})

test('a context and metadata are optional, and null or empty is none', () => {
  const text = { text: 'hi' }
  assert.equal(decode(message([text])).message.contextId, undefined)
  assert.equal(decode(message([text], { contextId: null })).message.contextId, undefined)
  assert.equal(decode(message([text], { contextId: '' })).message.contextId, undefined)
  assert.equal(decode(message([text], { contextId: 'ü'.repeat(128) })).message.contextId, 'ü'.repeat(128))
  assert.equal(decode({ ...message([text]) as object, metadata: null }).metadata, undefined)
  assert.deepEqual(decode({ ...message([text]) as object, metadata: { a: 1 } }).metadata, { a: 1 })
})

test('an answer is one message whose parts are texts and files', () => {
  const rows: readonly (readonly [blocks: readonly Content[], parts: readonly unknown[]])[] = [
    [[], [{ type: 'text', text: '' }]],
    [[{ type: 'text', text: 'a"\u2028\ud800' }], [{ type: 'text', text: 'a"\u2028\ud800' }]],
    [
      [{ type: 'text', text: 'a' }, { type: 'text', text: 'b', annotations: { priority: 1 } }],
      [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }],
    ],
    [
      [{ type: 'resource_link', uri: 'https://a.example/b', name: 'b', mimeType: 'text/html', size: 3 }],
      [{ type: 'file', uri: 'https://a.example/b', mimeType: 'text/html' }],
    ],
    [
      [{ type: 'resource_link', uri: 'https://a.example/b', name: 'b' }],
      [{ type: 'file', uri: 'https://a.example/b', mimeType: 'application/octet-stream' }],
    ],
    [
      [{ type: 'resource', resource: { uri: 'memo://1', mimeType: 'text/plain', text: 'x' } }],
      [{ type: 'file', uri: 'memo://1', mimeType: 'text/plain' }],
    ],
    [
      [
        { type: 'image', data: 'AAEC', mimeType: 'image/png' },
        { type: 'audio', data: 'AAEC', mimeType: 'audio/wav' },
      ],
      [
        { type: 'file', uri: 'data:image/png;base64,AAEC', mimeType: 'image/png' },
        { type: 'file', uri: 'data:audio/wav;base64,AAEC', mimeType: 'audio/wav' },
      ],
    ],
  ]
  for (const [content, parts] of rows) {
    const reply = {
      id: 'm', role: 'agent', contextId: 'c "1"', parts: content, taskId: undefined, metadata: undefined,
      extensions: undefined, referenceTaskIds: undefined,
    } as const
    assert.deepEqual(encodeReply({ what: 'message', message: reply }), {
      message: { role: 'agent', parts, messageId: 'm', contextId: 'c "1"' },
    })
  }
})
