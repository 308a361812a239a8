import assert from 'node:assert/strict'
import test from 'node:test'
import { plain } from '../../fixtures/a2a-client/plain.ts'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { sent } from './sent.ts'
import type { SendRequest, SendResult } from '../../../lib/parts/a2a/model/model.ts'
import type { Content } from '../../../lib/kernel/define/content.ts'

const message = (parts: unknown, more?: object): unknown => ({ message: { role: 'user', parts, ...more } })
const { send } = plain.operations
assert(send !== undefined)
const decode = (params: unknown): SendRequest => send.decodeRequest(params, 256)

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
  const partTypes = `${part} must be { "type": "text", "text" } or { "type": "file", "uri", "mimeType" }`
  const rows: readonly (readonly [params: unknown, said: string])[] = [
    [undefined, 'params is missing'],
    [null, 'params is missing'],
    [[], 'params must be an object'],
    ['hi', 'params must be an object'],
    [{}, 'params.message must be an object'],
    [{ message: [] }, 'params.message must be an object'],
    [{ message: { parts: [text] } }, 'params.message.role must be "user"'],
    [message([text], { role: 'agent' }), 'params.message.role must be "user"'],
    [message([text], { role: 'ROLE_USER' }), 'params.message.role must be "user"'],
    [message(undefined), 'params.message.parts must be a list with at least one item'],
    [message([]), 'params.message.parts must be a list with at least one item'],
    [message({ 0: text }), 'params.message.parts must be a list with at least one item'],
    [message([null]), `${part} must be {`],
    [message(['hi']), `${partTypes}: "hi" would not be seen`],
    [message([[]]), `${part} must be {`],
    [message([{}]), partTypes],
    [message([{ type: 'text' }]), `${part}.text must be a string`],
    [message([{ type: 'text', uri: 'https://a.example' }]), `${part}.text must be a string`],
    [message([{ text: 7 }]), `${part}.text must be a string`],
    [message([{ type: 'file' }]), `${part}.uri must be a non-empty string`],
    [message([{ type: 'file', file: { uri: 'https://a.b' } }]), `${part}.uri must be a non-empty string`],
    [message([{ uri: '' }]), `${part}.uri must be a non-empty string`],
    [message([{ uri: 'https://a.example', mimeType: 7 }]), `${part}.mimeType must be a string`],
    [message([{ text: 'hi', name: 7 }]), `${part}.name must be a string`],
    [message([{ uri: 'data:;base64,?' }]), `${part}.uri must be a string of Base64`],
    [message([{ text: 'hi', uri: 'https://a.example' }]), partTypes],
    [message([{ type: 'image', uri: 'https://a.example' }]), `${partTypes}: "image" would not be seen`],
    [message([{ data: {}, name: 'a' }]), `${partTypes}: "data, name" would not be seen`],
    [message([{ type: 'data', data: {} }]), `${partTypes}: "data" would not be seen`],
    [message([{ type: {}, text: 'hi' }]), `${part} must be {`],
    [message([{ type: '__proto__', text: 'hi' }]), `${part} must be {`],
    [message([text, text, {}]), 'params.message.parts[2] must be {'],
    [message([text], { contextId: 7 }), 'params.message.contextId must be a string'],
    [message([text], { contextId: 'x'.repeat(257) }), 'params.message.contextId must be a string of'],
    [message([text], { contextId: 'ü'.repeat(129) }), 'params.message.contextId must be a string of'],
    [message([text], { metadata: 'x' }), 'params.message.metadata must be an object'],
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

test('a file that is an address of its own bytes is those bytes', () => {
  const rows: readonly (readonly [part: object, block: unknown])[] = [
    [
      { uri: 'data:image/png;base64,AAEC' },
      { type: 'image', data: 'AAEC', mimeType: 'image/png' },
    ],
    [
      { uri: 'DATA:;BASE64,AAECAw', mimeType: 'audio/wav', name: 'a.wav' },
      { type: 'audio', data: 'AAECAw==', mimeType: 'audio/wav', _meta: { filename: 'a.wav' } },
    ],
    [
      { uri: 'data:text/plain;charset=utf-8;base64,eA==', name: 'a b.txt' },
      { type: 'resource', resource: { uri: 'attachment:a%20b.txt', mimeType: 'text/plain', blob: 'eA==' } },
    ],
    [
      { uri: 'data:;base64,eA==' },
      { type: 'resource', resource: { uri: 'attachment:file', blob: 'eA==' } },
    ],
    [{ uri: 'data:,a;base64' }, { type: 'resource_link', uri: 'data:,a;base64', name: 'data' }],
    [{ uri: 'data:base64' }, { type: 'resource_link', uri: 'data:base64', name: 'data' }],
  ]
  for (const [part, block] of rows) {
    assert.deepEqual(decode(message([part])).message.parts, [block], JSON.stringify(part))
  }
})

const text = { type: 'text', text: 'hi' } as const
const none = { metadata: undefined, taskId: undefined, extensions: undefined, referenceTaskIds: undefined }
const asked: SendRequest = {
  tenant: undefined, outputModes: undefined, historyLength: undefined, isBlocking: true, push: undefined,
  metadata: { tone: 'dry' },
  message: { id: 'm', role: 'user', parts: [text], contextId: 'c', ...none },
}

test('what a client asks is what a server reads', () => {
  const { message } = asked
  const rows: readonly SendRequest[] = [
    asked, { ...asked, metadata: undefined }, { ...asked, message: { ...message, contextId: undefined } },
  ]
  for (const row of rows) assert.deepEqual(send.decodeRequest(sent(send.encodeRequest(row)), 256), row)
  // How much of it is wanted in which form is only a hint.
  const hinting = { ...asked, outputModes: ['text/html'], historyLength: 3 }
  assert.deepEqual(send.encodeRequest(hinting), send.encodeRequest(asked))
})

test('what a request of the dialect has no words for is refused', () => {
  const { message } = asked
  const push = {
    id: 'p', taskId: undefined, url: 'https://a.example', token: undefined, authentication: undefined,
  }
  const rows: readonly (readonly [what: string, request: SendRequest])[] = [
    ['a tenant', { ...asked, tenant: 'blue' }],
    ['which task a message is for', { ...asked, message: { ...message, taskId: 't' } }],
    ['other tasks', { ...asked, message: { ...message, referenceTaskIds: ['t'] } }],
    ['extensions', { ...asked, message: { ...message, extensions: ['https://e.example'] } }],
    ['where events are posted to', { ...asked, push }],
    ['that nobody waits for the answer', { ...asked, isBlocking: false }],
  ]
  for (const [what, request] of rows) {
    assert.throws(() => send.encodeRequest(request), {
      kind: 'unsupported', message: `The plain dialect cannot say ${what}; use A2A 0.3 or 1.0`,
    })
  }
})

test('what a server answers is what a client reads, but for what the dialect does not tell apart', () => {
  const png = { type: 'image', data: 'AAEC', mimeType: 'image/png' } as const
  const pdf = {
    type: 'resource_link', uri: 'https://a.example/b.pdf', name: 'b.pdf', mimeType: 'a/pdf',
  } as const
  const zip = { uri: 'attachment:a.zip', mimeType: 'a/zip', blob: 'AAEC' }
  const octets = 'application/octet-stream'
  const rows: readonly (readonly [block: Content, read?: Content])[] = [
    [text],
    [{ ...text, _meta: { filename: 'a.txt' } }],
    [{ ...png, _meta: { filename: 'a.png' } }],
    [png],
    [{ ...png, type: 'audio', mimeType: 'audio/wav' }],
    [pdf],
    [{ ...pdf, name: 'Report' }],
    [{ type: 'resource', resource: zip }],
    [{ type: 'resource', resource: { ...zip, uri: 'attachment:file' } }],
    // A value is its JSON.
    [{ type: 'data', data: { a: [1] } }, { type: 'text', text: '{"a":[1]}' }],
    [{ type: 'data', data: null }, { type: 'text', text: 'null' }],
    // A text that is a file is its bytes, and each file has a media type.
    [
      { type: 'resource', resource: { uri: 'memo://a/b', text: 'x' } },
      { type: 'resource', resource: { uri: 'attachment:b', mimeType: 'text/plain', blob: 'eA==' } },
    ],
    [
      { type: 'resource', resource: { uri: 'attachment:a', blob: '' } },
      { type: 'resource', resource: { uri: 'attachment:a', mimeType: octets, blob: '' } },
    ],
    [{ type: 'resource_link', uri: 'a:b', name: 'b' },
      { type: 'resource_link', uri: 'a:b', name: 'b', mimeType: octets }],
    // Nothing else of a block is told.
    [{ ...text, annotations: { priority: 1 }, _meta: { mediaType: 'text/html', other: 1 } }, text],
    [{ ...pdf, size: 3, title: 'B' }, pdf],
  ]
  for (const [block, read = block] of rows) {
    const said = (part: Content): SendResult => {
      return { what: 'message', message: { id: 'm', role: 'agent', parts: [part], contextId: 'c', ...none } }
    }
    assert.deepEqual(send.decodeResult(sent(send.encodeResult(said(block)))), said(read))
  }
})

test('what is no answer of the dialect is refused', () => {
  const rows: readonly (readonly [result: unknown, said: string])[] = [
    [undefined, 'result is missing; it must be an object'],
    [[], 'result must be an object'],
    [{}, 'result.message is missing; it must be an object'],
    [{ message: { role: 'user', parts: [text] } }, 'result.message.role must be "agent"'],
    [{ message: { role: 'agent', parts: [] } }, 'result.message.parts must be a list with at least one item'],
    [{ kind: 'task', id: 't' }, 'result.message is missing; it must be an object'],
  ]
  for (const [result, said] of rows) {
    assert.throws(() => send.decodeResult(result), { kind: 'invalid', message: said })
  }
})

test('a task cannot be an answer', () => {
  const status = { state: 'working', at: '2026-01-01T00:00:00.000Z' } as const
  const task = {
    id: 't', contextId: 'c', status, artifacts: undefined, history: undefined, metadata: undefined,
  }
  assert.throws(() => send.encodeResult({ what: 'task', task }), {
    kind: 'unsupported', message: 'The plain dialect has no tasks; answer with a message',
  })
})

test('an answer is one message whose parts are texts and files', () => {
  const rows: readonly (readonly [blocks: readonly Content[], parts: readonly unknown[]])[] = [
    [[], [{ type: 'text', text: '' }]],
    [[{ type: 'text', text: 'a"\u2028\ud800' }], [{ type: 'text', text: 'a"\u2028\ufffd' }]],
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
      [{
        type: 'file', uri: 'data:text/plain;charset=utf-8;base64,eA==', mimeType: 'text/plain', name: 'file',
      }],
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
    assert.deepEqual(send.encodeResult({ what: 'message', message: reply }), {
      message: { role: 'agent', parts, messageId: 'm', contextId: 'c "1"' },
    })
  }
})
