/**
 * What is kept of what a client says about itself: what is needed, within bounds, in a memory of its own.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { decodeAbilities, decodeClient, unable } from '../../../lib/parts/mcp/protocol/client.ts'
import { modern, serveMcp } from './client.ts'
import type { ClientAbilities } from '../../../lib/parts/mcp/protocol/client.ts'

test('what clients say alike of themselves is kept once, and nobody can change it', () => {
  const asked = Array.from({ length: 300 }, (_, at) => ({
    name: `client ${at % 150}`, version: `1.${at % 3}`, ...at < 150 && { title: 'The client' },
  }))
  for (const info of asked) {
    const client = decodeClient({ ...info }, unable)
    assert.deepEqual(client, info)
    assert.equal(decodeClient({ ...info }, unable), client)
    assert.ok(Object.isFrozen(client))
  }
  // One after the other, they find the one before in their place.
  for (const more of [{}, { title: 'A' }, { title: 'B' }, { name: 'c' }, { version: '2' }, {}]) {
    const info = { name: 'a', version: '1', ...more }
    assert.deepEqual(decodeClient(info, unable), info)
  }
})

const abilities: readonly (readonly [capabilities: unknown, known: Partial<ClientAbilities>])[] = [
  [undefined, {}], [null, {}], ['all', {}], [[], {}], [{}, {}], [{ teleport: {} }, {}],
  [{ elicitation: {} }, { forms: true }],
  [{ elicitation: { form: {} } }, { forms: true }],
  [{ elicitation: { url: {} } }, { urls: true }],
  [{ elicitation: { form: {}, url: {}, more: {} } }, { forms: true, urls: true }],
  [{ elicitation: true, sampling: 1, roots: 'yes' }, {}],
  [{ sampling: {} }, { sampling: true }],
  [{ sampling: { tools: {}, context: {} } }, { sampling: true, samplingTools: true, samplingContext: true }],
  [{ sampling: { tools: true, context: [] } }, { sampling: true }],
  [{ roots: { listChanged: true } }, { roots: true }],
  [{ tasks: { requests: { sampling: { createMessage: {} } } } }, { samplingTasks: true }],
  [{ tasks: { requests: { elicitation: { create: {} } } } }, { elicitationTasks: true }],
  [{ tasks: { cancel: {} } }, { cancelsTasks: true }],
  [{ tasks: { requests: 7, cancel: true } }, {}],
]

test('of capabilities those that are known are kept, and nothing else', () => {
  for (const [capabilities, known] of abilities) {
    assert.deepEqual(decodeAbilities(capabilities), { ...unable, ...known }, JSON.stringify(capabilities))
  }
})

test('extensions are kept by name with their settings, up to 16 KiB together', () => {
  const kept = (extensions: object): readonly string[] => (
    Object.keys(decodeAbilities({ extensions }).extensions)
  )
  const half = { text: 'x'.repeat(8_000) }
  const mixed = { a: half, b: 7 }
  assert.deepEqual({ ...decodeAbilities({ extensions: { ...mixed, c: null } }).extensions }, mixed)
  assert.deepEqual(kept({ a: half, b: half }), ['a', 'b'])
  assert.deepEqual(kept({ a: half, b: half, c: half }), ['a', 'b'])
  assert.deepEqual(kept({ a: 'x'.repeat(16_384) }), [])
  assert.deepEqual(kept({ ['n'.repeat(16_384)]: {} }), [])
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`e${n}`, {}]))
  assert.ok(kept(many).length < 16_384 / 4)
  // A name is a name, whatever it is in JavaScript.
  const odd = decodeAbilities({ extensions: JSON.parse('{"__proto__":{"a":1}}') as object }).extensions
  assert.deepEqual(Object.keys(odd), ['__proto__'])
})

test('a client is its name, its version and its title, each cut to 256 characters', () => {
  const long = 'n'.repeat(257)
  const cut = 'n'.repeat(256)
  for (const [info, client] of [
    [{ name: 'a', version: '1', title: 'A', icons: [{}] }, { name: 'a', version: '1', title: 'A' }],
    [{ name: 'a' }, { name: 'a', version: '' }],
    [{ name: '', version: 7, title: 7 }, { name: '', version: '' }],
    [{ name: long, version: long, title: long }, { name: cut, version: cut, title: cut }],
    [{ name: '\u{1f600}'.repeat(300) }, { name: '\u{1f600}'.repeat(128), version: '' }],
    [{ version: '1' }, undefined], [{ name: 7 }, undefined], [undefined, undefined], ['a', undefined],
  ] as const) assert.deepEqual(decodeClient(info, unable), client)
  const extended = decodeAbilities({ extensions: { a: {} } })
  const nameless = { name: '', version: '', extensions: { a: {} } }
  assert.deepEqual(structuredClone(decodeClient(undefined, extended)), nameless)
})

test('what a handler sees of a client of 2026-07-28 is cut as well', async (t) => {
  const seen: unknown[] = []
  const server = serveMcp(t, { tools: [{ name: 'tool', description: 'Looks.', run(_args, call) {
    seen.push(call.client)
    return ''
  } }] })
  const long = 'n'.repeat(1_000)
  await modern(server, 'tools/call', { name: 'tool' }, {
    meta: { 'io.modelcontextprotocol/clientInfo': { name: long, version: long, title: long } },
    capabilities: { extensions: { a: {}, b: 'x'.repeat(20_000) } },
  })
  const cut = long.slice(0, 256)
  assert.deepEqual(structuredClone(seen), [{ name: cut, version: cut, title: cut, extensions: { a: {} } }])
})
