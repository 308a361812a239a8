import assert from 'node:assert/strict'
import test from 'node:test'
import { decodeAbilities } from '../../../lib/parts/mcp/protocol/client.ts'
import {
  canAsk, capabilityFor, decodeAnswer, encodeQuestion,
} from '../../../lib/parts/mcp/protocol/questions.ts'
import { revisionByName } from '../../../lib/parts/mcp/protocol/revisions.ts'
import type { Ability, FormQuestion, Question } from '../../../lib/kernel/define/question.ts'
import type { Peer } from '../../../lib/parts/mcp/session/session.ts'

/** A client of a revision that has declared some capabilities. */
function peerOf(revision: string, capabilities: object): Peer {
  return {
    revision: revisionByName.get(revision)!, abilities: decodeAbilities(capabilities),
    client: undefined, logLevel: undefined, session: undefined,
  }
}

const everything = {
  elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {},
}
const newest = peerOf('2026-07-28', everything)
const every: readonly Ability[] = ['elicit', 'elicit-url', 'sample', 'roots']

test('what a client can be asked is what it has declared, and what its revision knows', () => {
  const known = (revision: string, capabilities: object): readonly Ability[] => (
    every.filter((what) => canAsk(peerOf(revision, capabilities), what))
  )
  assert.deepEqual(known('2024-11-05', everything), ['sample', 'roots'])
  assert.deepEqual(known('2025-03-26', everything), ['sample', 'roots'])
  assert.deepEqual(known('2025-06-18', everything), ['elicit', 'sample', 'roots'])
  for (const revision of ['2025-11-25', '2026-07-28']) {
    assert.deepEqual(known(revision, everything), every)
    assert.deepEqual(known(revision, {}), [])
    // What is asked for where a client lacks it is just what makes it able.
    for (const what of every) assert.deepEqual(known(revision, capabilityFor(what)), [what])
    assert.deepEqual(known(revision, { elicitation: {} }), ['elicit'])
  }
})

const address = {
  what: 'elicit-url', message: 'In', url: 'https://x.test', elicitationId: 'e-1', key: 'k',
} as const
const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
const form = { what: 'elicit', message: 'Who?', schema, key: 'k', task: { ttlMs: 1 } } as const

test('a question is spelled without what is only the house\'s own', () => {
  const rows: readonly (readonly [revision: string, question: Question, request: object])[] = [
    ['2025-11-25', { what: 'roots', key: 'k' }, { method: 'roots/list' }],
    ['2025-11-25', form, {
      method: 'elicitation/create', params: { message: 'Who?', requestedSchema: schema },
    }],
    ['2025-11-25', address, { method: 'elicitation/create', params: {
      mode: 'url', message: 'In', url: 'https://x.test', elicitationId: 'e-1',
    } }],
    // By rounds the key of the round is the only id.
    ['2026-07-28', address, { method: 'elicitation/create', params: {
      mode: 'url', message: 'In', url: 'https://x.test',
    } }],
    ['2025-11-25', {
      what: 'sample', key: 'k', task: {}, maxTokens: 9, stop: ['.'],
      messages: [{ role: 'user', content: 'tea?' }, { role: 'user', content: [] }],
    }, { method: 'sampling/createMessage', params: {
      maxTokens: 9, stop: ['.'],
      messages: [{ role: 'user', content: { type: 'text', text: 'tea?' } }, { role: 'user', content: [] }],
    } }],
  ]
  for (const [revision, question, request] of rows) {
    assert.deepEqual(encodeQuestion(question, peerOf(revision, everything)), request)
  }
})

test('a sampling that needs more than the client has declared does not go out', () => {
  const sample = { what: 'sample', messages: [], maxTokens: 1 } as const
  const needs = [
    [{ tools: [] }, { tools: {} }], [{ includeContext: 'thisServer' }, { context: {} }],
    [{ includeContext: 'allServers' }, { context: {} }],
  ] as const
  for (const revision of ['2025-11-25', '2026-07-28']) {
    for (const [more, sampling] of needs) {
      const able = peerOf(revision, { sampling })
      const { params } = encodeQuestion({ ...sample, ...more }, able)
      assert.deepEqual(params, { messages: [], maxTokens: 1, ...more })
      assert.throws(() => encodeQuestion({ ...sample, ...more }, peerOf(revision, { sampling: {} })), {
        kind: 'unsupported', detail: { ability: 'sample', requiredCapabilities: { sampling } },
      })
    }
    // Nothing is what every client can add.
    encodeQuestion({ ...sample, includeContext: 'none' }, peerOf(revision, { sampling: {} }))
  }
})

const words = { type: 'text', text: 'tea?' }
const image = { type: 'image', data: 'AA==', mimeType: 'image/png' }
const audio = { type: 'audio', data: 'AA==', mimeType: 'audio/wav' }
const use = { type: 'tool_use', id: '1', name: 't', input: {} }
const result = { type: 'tool_result', toolUseId: '1', content: [] }

test('before a client could declare more of sampling, any adds context; tools are for who says so', () => {
  const sample = { what: 'sample', messages: [], maxTokens: 1 } as const
  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18']) {
    for (const includeContext of ['none', 'thisServer', 'allServers']) {
      const { params } = encodeQuestion({ ...sample, includeContext }, peerOf(revision, { sampling: {} }))
      assert.deepEqual(params, { messages: [], maxTokens: 1, includeContext })
    }
    const withTools: Question = { ...sample, tools: [], messages: [{ role: 'user', content: [words, use] }] }
    assert.throws(() => encodeQuestion(withTools, peerOf(revision, { sampling: {} })), {
      kind: 'unsupported', message: /has not declared sampling\.tools/,
    })
    const { params } = encodeQuestion(withTools, peerOf(revision, { sampling: { tools: {} } }))
    assert.deepEqual(params, { messages: withTools.messages, maxTokens: 1, tools: [] })
  }
})

test('to a model of an older revision each message is one block, of a kind that the revision knows', () => {
  const oldest = ['2024-11-05']
  const older = [...oldest, '2025-03-26', '2025-06-18']
  const newer = ['2025-11-25', '2026-07-28']
  const encode = (revision: string, ...contents: readonly unknown[]): unknown => {
    const roles = ['user', 'assistant'] as const
    const messages = contents.map((content, at) => ({ role: roles[at]!, content }))
    const question: Question = { what: 'sample', messages, maxTokens: 1 }
    const { params } = encodeQuestion(question, peerOf(revision, { sampling: {} }))
    return params?.['messages']
  }
  const user = (content: unknown): object => ({ role: 'user', content })
  const assistant = (content: unknown): object => ({ role: 'assistant', content })
  for (const [contents, sent] of [
    [['tea?'], [user(words)]], [[words], [user(words)]], [[[words]], [user(words)]], [[image], [user(image)]],
    [[[words, image]], [user(words), user(image)]], [[[]], []],
    [[[image, words], 'tea?'], [user(image), user(words), assistant(words)]],
  ]) {
    assert.ok(contents && sent)
    for (const revision of older) assert.deepEqual(encode(revision, ...contents), sent)
  }
  for (const content of [audio, [words, audio], [audio]]) {
    const sent = [content].flat().map(user)
    for (const revision of older.slice(1)) assert.deepEqual(encode(revision, content), sent)
    for (const revision of oldest) assert.throws(() => encode(revision, content), {
      kind: 'unsupported', detail: undefined,
      message: 'A client of MCP 2024-11-05 takes no "audio" in a message to its model; '
        + 'write it in what it takes (text, image), or leave it out',
    })
  }
  for (const content of [use, [words, use], result, [result], { type: 7 }, ['tea?'], [null]]) {
    for (const revision of older) assert.throws(() => encode(revision, content), {
      kind: 'unsupported', message: new RegExp(`^A client of MCP ${revision} takes no .* in what it takes `),
    })
  }
  for (const revision of newer) {
    for (const content of [words, [words], [words, image], audio, [words, use], [result], []]) {
      assert.deepEqual(encode(revision, content), [user(content)])
    }
    const resource = { type: 'resource', resource: { uri: 'a:b', text: 'tea' } }
    for (const content of [resource, [words, { type: 7 }]]) {
      assert.throws(() => encode(revision, content), {
        kind: 'unsupported',
        message: new RegExp(`^A client of MCP ${revision} takes no .*audio, tool_use, tool_result\\), or`),
      })
    }
  }
})

test('what a message to a model has besides goes out with it', () => {
  const messages = [{ role: 'user', content: [words, image], _meta: { 'com.example/n': 1 } }] as const
  const question: Question = { what: 'sample', messages, maxTokens: 1 }
  const sent = (revision: string): unknown => (
    encodeQuestion(question, peerOf(revision, { sampling: {} })).params?.['messages']
  )
  assert.deepEqual(sent('2025-11-25'), messages)
  const { content: _content, ...rest } = messages[0]
  assert.deepEqual(sent('2025-06-18'), [{ ...rest, content: words }, { ...rest, content: image }])
})

/** Fields of a form as 2025-11-25 has them, and as they go out to a client of 2025-06-18. */
const fields: readonly (readonly [newer: object, older: object])[] = [
  [{ type: 'boolean', title: 'Sure?', default: true }, { type: 'boolean', title: 'Sure?', default: true }],
  [{ type: 'string', format: 'email', minLength: 3, default: 'a@b.c' },
    { type: 'string', format: 'email', minLength: 3 }],
  [{ type: 'integer', minimum: 1, default: 2 }, { type: 'integer', minimum: 1 }],
  [{ type: 'number', default: 0 }, { type: 'number' }],
  [{ type: 'string', enum: ['s', 'l'], default: 's' }, { type: 'string', enum: ['s', 'l'] }],
  [{ type: 'string', enum: ['s'], enumNames: ['Small'] },
    { type: 'string', enum: ['s'], enumNames: ['Small'] }],
  [{ type: 'string', description: 'Size', default: 's', oneOf: [
    { const: 's', title: 'Small' }, { const: 'l', title: 'Large' }, { const: 'x' },
  ] }, { type: 'string', description: 'Size', enum: ['s', 'l', 'x'], enumNames: ['Small', 'Large', 'x'] }],
]

test('a form goes out as the revision of its client has forms', () => {
  const encode = (revision: string, schema: FormQuestion['schema']): unknown => (
    encodeQuestion({ what: 'elicit', message: 'Well?', schema }, peerOf(revision, everything))
      .params?.['requestedSchema']
  )
  const named = (at: 0 | 1): object => ({
    type: 'object', required: ['f0'],
    properties: Object.fromEntries(fields.map((one, n) => [`f${n}`, one[at]])),
  })
  const schema = named(0) as FormQuestion['schema']
  assert.deepEqual(encode('2025-06-18', schema), named(1))
  for (const items of [{ type: 'string', enum: ['a'] }, { anyOf: [{ const: 'a', title: 'A' }] }]) {
    const several = { type: 'object', properties: { toppings: { type: 'array', items } } }
    for (const revision of ['2025-11-25', '2026-07-28']) {
      assert.deepEqual(encode(revision, schema), schema)
      assert.deepEqual(encode(revision, several), several)
    }
    assert.throws(() => encode('2025-06-18', several), {
      kind: 'unsupported', detail: undefined,
      message: "A client of MCP 2025-06-18 takes one choice in a field, and 'toppings' has several; "
        + 'ask for each by a boolean of its own',
    })
  }
})

test('what was chosen in an older form fits the form that was asked', () => {
  const oneOf = [{ const: 's', title: 'Small' }, { const: 'l', title: 'Large' }]
  const schema = { type: 'object', properties: { size: { type: 'string', oneOf } } }
  const question: Question = { what: 'elicit', message: 'Well?', schema }
  const chosen = (size: string): object => ({ action: 'accept', content: { size } })
  assert.deepEqual(decodeAnswer(question, chosen('l'), newest, 1_000), chosen('l'))
  assert.throws(() => decodeAnswer(question, chosen('Large'), newest, 1_000), { kind: 'invalid' })
})

test('of the roots those that are no files are dropped, and the others stay as they came', () => {
  const files = [{ uri: 'file:///home/a', name: 'a' }, { uri: 'FILE:///B' }]
  const others = ['https://x.test/', 'javascript:1', 'ftp://x', 'profile:///x', ' file:///x', '/etc', '']
  const mixed = [files[0], ...others.map((uri) => ({ uri })), files[1]]
  assert.deepEqual(decodeAnswer({ what: 'roots' }, { roots: mixed }, newest, 1_000), files)
  assert.deepEqual(decodeAnswer({ what: 'roots' }, { roots: [] }, newest, 1_000), [])
})

test('an answer is handed over as far as its question goes; what is none is refused', () => {
  const sample: Question = { what: 'sample', messages: [], maxTokens: 1 }
  const said = { role: 'assistant', content: [], model: 'm' }
  const accepted = { action: 'accept', content: { name: 'Alice' } }
  for (const [question, result, answer] of [
    [form, accepted, accepted], [form, { action: 'cancel', content: { name: 7 } }, { action: 'cancel' }],
    [address, { action: 'accept', content: { password: 'x' } }, { action: 'accept' }],
    [sample, said, said], [sample, { ...said, stopReason: null, _meta: null }, said],
    [form, { action: 'accept', content: { name: 'Alice', nick: null }, _meta: null }, accepted],
    [address, { action: 'accept', content: null }, { action: 'accept' }],
    [{ what: 'roots' }, { roots: [{ uri: 'file:///a', name: null }] }, [{ uri: 'file:///a' }]],
  ] as const) assert.deepEqual(decodeAnswer(question, result, newest, 1_000), answer)
  for (const [question, result, message] of [
    [form, null, /is not an object/], [form, {}, /needs an action/],
    [form, { action: 'yes' }, /needs an action/],
    [form, { action: 'accept', content: { name: 7 } }, /does not fit the form/],
    [form, { action: 'accept' }, /does not fit the form/],
    [sample, { ...said, role: 'tool' }, /role, content and model/], [sample, { ...said, model: 7 }, /model/],
    [sample, { role: 'user', model: 'm' }, /content/],
    [{ what: 'roots' }, { roots: [{ uri: 7 }] }, /no list of roots/],
    [{ what: 'roots' }, {}, /no list of roots/],
    [{ what: 'roots' }, { roots: [{ uri: 'file:///a', name: 7 }] }, /no list of roots/],
  ] as const) assert.throws(() => decodeAnswer(question, result, newest, 1_000), { kind: 'invalid', message })
})

test('what a model said is as the revision of its client has it, or is refused', () => {
  const older = ['2024-11-05', '2025-03-26', '2025-06-18'] as const
  const newer = ['2025-11-25', '2026-07-28'] as const
  const all = [...older, ...newer]
  const question: Question = { what: 'sample', messages: [], maxTokens: 1 }
  const answer = (content: unknown, more: object = {}): object => ({
    role: 'assistant', model: 'm', content, ...more,
  })
  const decode = (revision: string, result: object, sampling: object = {}): unknown => (
    decodeAnswer(question, result, peerOf(revision, { sampling }), 1_000)
  )
  const taken: readonly (readonly [revisions: readonly string[], content: unknown])[] = [
    [all, words], [all, image], [all.slice(1), audio], [newer, use], [newer, result],
    [newer, []], [newer, [words]], [newer, [words, use]],
  ]
  for (const [revisions, content] of taken) {
    const said = answer(content, { stopReason: 'endTurn', _meta: {} })
    for (const revision of revisions) assert.deepEqual(decode(revision, said), said)
    // With the tools comes all that came with them.
    for (const revision of older) assert.deepEqual(decode(revision, said, { tools: {} }), said)
    for (const revision of all.filter((one) => !revisions.includes(one))) {
      const message = new RegExp(`^The client's answer has .* as content, which .*MCP ${revision}`)
      assert.throws(() => decode(revision, said), { kind: 'invalid', message })
    }
  }
  for (const [content, more, message] of [
    [null, {}, /needs role, content and model/],
    [7, {}, /has 7 as content/], ['tea', {}, /has "tea" as content/],
    [{}, {}, /a block of type undefined as content/], [{ type: 7 }, {}, /type 7/],
    [{ type: 'hologram' }, {}, /type "hologram" as content/], [{ type: 'toString' }, {}, /type "toString"/],
    [{ type: 'text' }, {}, /type "text" that needs 'text'/],
    [{ ...words, text: 7 }, {}, /needs 'text'/], [{ ...image, data: null }, {}, /needs 'data'/],
    [{ type: 'image', data: 'AA==' }, {}, /needs 'mimeType'/],
    [words, { stopReason: 7 }, /has the stopReason 7, which is no string/],
    [words, { content: { type: { toString: 1 }, text: 'a' } }, /has a block of type an object as content/],
  ] as const) {
    for (const revision of all) {
      assert.throws(() => decode(revision, answer(content, more)), { kind: 'invalid', message })
    }
  }
  for (const [content, message] of [
    [[words, null], /has null as content/], [[[words]], /has an array as content/], [[7], /has 7/],
    [[{ ...use, id: 1 }], /needs 'id'/], [{ ...use, input: [] }, /needs 'input'/],
    [{ ...result, toolUseId: undefined }, /needs 'toolUseId'/],
  ] as const) {
    for (const revision of newer) {
      assert.throws(() => decode(revision, answer(content)), { kind: 'invalid', message })
    }
  }
})

test('an answer that takes too many steps to check does not fit its form', () => {
  const names = { type: 'array', items: { type: 'string' } }
  const question: Question = {
    what: 'elicit', message: 'Who?',
    schema: { type: 'object', properties: { names } } as FormQuestion['schema'],
  }
  const accepted = { action: 'accept', content: { names: Array.from({ length: 100 }, () => 'Ann') } }
  assert.deepEqual(decodeAnswer(question, accepted, newest, 10_000), accepted)
  const tooCostly = { kind: 'invalid', message: /too costly to check/ }
  assert.throws(() => decodeAnswer(question, accepted, newest, 10), tooCostly)
})
