/**
 * `x-mcp-header`: what a client repeats as a header must be what it says in the body.
 */
import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import { answerOf, begin, modern, said, serveMcp } from './client.ts'
import type { JsonSchema } from '../../../lib/index.ts'

const inputSchema = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    fast: { type: 'boolean', 'x-mcp-header': 'Fast' },
    deep: { type: 'object', properties: { er: { type: 'string', 'x-mcp-header': 'Deep-Er' } } },
    free: { type: 'string' },
  },
} as const

const server = serveMcp({ after }, {
  tools: [{ name: 't', inputSchema, run: (args) => JSON.stringify(args) }],
})

const b64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`

/** Arguments, headers below Mcp-Param-, and whether they agree. */
const rows: readonly (readonly [string, object, Record<string, string>, boolean])[] = [
  ['nothing at all', {}, {}, true],
  ['null and no header', { region: null }, {}, true],
  ['an argument without a header of its own', { free: 'x' }, {}, true],
  ['both, and equal', { region: 'eu' }, { Region: 'eu' }, true],
  ['a header name in other letters', { region: 'eu' }, { REGION: 'eu' }, true],
  ['blanks around the header', { region: 'eu' }, { Region: ' eu ' }, true],
  ['the empty text', { region: '' }, { Region: '' }, true],
  ['other letters', { region: 'eu' }, { Region: 'EU' }, false],
  ['no header', { region: 'eu' }, {}, false],
  ['no argument', {}, { Region: 'eu' }, false],
  ['an argument that has no text', { region: { toString: 1 } }, { Region: 'eu' }, false],
  ['null and a header', { region: null }, { Region: 'null' }, false],
  ['Base64', { region: 'Zürich ' }, { Region: b64('Zürich ') }, true],
  ['Base64 of something else', { region: 'Zürich' }, { Region: b64('Zurich') }, false],
  ['Base64 without padding', { region: 'Hello' }, { Region: '=?base64?SGVsbG8?=' }, false],
  ['Base64 with what is no Base64', { region: 'Hello' }, { Region: '=?base64?SGVs!!!bG8=?=' }, false],
  ['Base64 that is no UTF-8', { region: '\ufffd' }, { Region: '=?base64?/w==?=' }, false],
  ['one mark of Base64 alone, which is text', { region: '=?base64?x' }, { Region: '=?base64?x' }, true],
  ['the other mark alone', { region: 'x?=' }, { Region: 'x?=' }, true],
  ['marks in capitals', { region: '=?BASE64?SGVsbG8=?=' }, { Region: '=?BASE64?SGVsbG8=?=' }, true],
  ['a number', { count: 42 }, { Count: '42' }, true],
  ['a number with a fraction of nothing', { count: 42 }, { Count: '42.0' }, true],
  ['another number', { count: 42 }, { Count: '43' }, false],
  ['a number in another notation', { count: 42 }, { Count: '4.2e1' }, false],
  ['a number with blanks within', { count: 42 }, { Count: '4 2' }, false],
  ['true', { fast: true }, { Fast: 'true' }, true],
  ['true in capitals', { fast: true }, { Fast: 'True' }, false],
  ['a member of a member', { deep: { er: 'x' } }, { 'Deep-Er': 'x' }, true],
  ['a member of a member, and not', { deep: { er: 'x' } }, { 'Deep-Er': 'y' }, false],
  ['a member of what is no object', { deep: 'x' }, {}, true],
  ['a header that nobody declared', { free: 'x' }, { Free: 'y', Whatever: 'z' }, true],
]

for (const [what, args, params, agrees] of rows) {
  test(`${what}: ${agrees ? 'agrees' : '400 -32020'}`, async () => {
    const headers = Object.fromEntries(
      Object.entries(params).map(([name, value]) => [`Mcp-Param-${name}`, value]),
    )
    const response = await modern(server, 'tools/call', { name: 't', arguments: args }, { headers })
    const { error } = await answerOf(response)
    assert.equal(response.status, agrees ? 200 : 400)
    assert.equal(error?.code, agrees ? undefined : -32020)
    if (!agrees) assert.match(error.data.header, /^Mcp-Param-/)
  })
}

test('an argument of the wrong type is told by the schema, not by the header', async () => {
  const response = await modern(server, 'tools/call', { name: 't', arguments: { count: 'many' } }, {
    headers: { 'Mcp-Param-Count': 'many' },
  })
  const { result } = await answerOf(response)
  assert.equal(result.isError, true)
  assert.match(said(result), /count/)
})

test('revisions before 2026-07-28 know no such headers', async () => {
  const session = await begin(server)
  assert.equal(said(await session.call('t', { region: 'eu' })), '{"region":"eu"}')
})

const property = (schema: object): JsonSchema => ({ type: 'object', properties: { a: schema } }) as JsonSchema

const mistakes: readonly (readonly [string, JsonSchema])[] = [
  ['an empty name', property({ type: 'string', 'x-mcp-header': '' })],
  ['a name with a blank', property({ type: 'string', 'x-mcp-header': 'A B' })],
  ['a name with a colon', property({ type: 'string', 'x-mcp-header': 'A:B' })],
  ['a name that is a number', property({ type: 'string', 'x-mcp-header': 7 })],
  ['a number that is no integer', property({ type: 'number', 'x-mcp-header': 'A' })],
  ['an object', property({ type: 'object', 'x-mcp-header': 'A' })],
  ['a list', property({ type: 'array', 'x-mcp-header': 'A' })],
  ['no type', property({ 'x-mcp-header': 'A' })],
  ['an item of a list', property({ type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } })],
  ['a choice', property({ anyOf: [{ type: 'string', 'x-mcp-header': 'A' }] })],
  ['the root', { type: 'object', 'x-mcp-header': 'A' } as JsonSchema],
  ['a definition', { type: 'object', $defs: { a: { type: 'string', 'x-mcp-header': 'A' } } } as JsonSchema],
  ['two of one name', { type: 'object', properties: {
    a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' },
  } } as JsonSchema],
]

for (const [what, inputSchema] of mistakes) {
  test(`x-mcp-header on ${what} is refused when the tool is served`, (t) => {
    assert.throws(() => serveMcp(t, { tools: [{ name: 't', inputSchema, run: () => '' }] }), TypeError)
  })
}

test('an argument that is called x-mcp-header, and one in an example, are arguments', async (t) => {
  const server = serveMcp(t, { tools: [{
    name: 't', run: () => 'fine',
    inputSchema: {
      type: 'object', properties: { 'x-mcp-header': { type: 'string' } },
      examples: [{ 'x-mcp-header': 'a b' }], default: { 'x-mcp-header': 7 },
    },
  }] })
  const response = await modern(server, 'tools/call', { name: 't', arguments: { 'x-mcp-header': 'x' } })
  assert.equal(said((await answerOf(response)).result), 'fine')
})
