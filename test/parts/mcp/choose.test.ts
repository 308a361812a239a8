/**
 * The ladder: which revision a request on `/mcp` speaks, and what is said where it contradicts itself.
 */
import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import { allRevisions, answerOf, ask, begin, modern, post, serveMcp, withMeta } from './client.ts'
import type { Json } from '../../fixtures/events.ts'

const server = serveMcp({ after }, {
  tools: [{ name: 'hello', description: 'Greets.', run: () => 'Hello' }],
  resources: [{ uri: 'test://über', name: 'ü', read: () => 'text' }],
  prompts: [{ name: 'p', description: 'A prompt.', get: () => 'text' }],
})

const PROTOCOL = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

const version = { 'MCP-Protocol-Version': '2026-07-28' }
const list = { ...version, 'Mcp-Method': 'tools/list' }

interface Row {
  readonly what: string
  readonly message: object
  readonly headers: Record<string, string>
  readonly status: number
  readonly code: number | undefined
  /** Part of `error.data`. */
  readonly data?: object
}

function message(method: string, params?: object, id: unknown = 7): object {
  return { jsonrpc: '2.0', id, method, ...params !== undefined && { params } }
}

const other = { _meta: { [PROTOCOL]: 'v999.0.0', [CAPABILITIES]: {} } }
const older = { _meta: { [PROTOCOL]: '2025-11-25', [CAPABILITIES]: {} } }

const rows: readonly Row[] = [
  {
    what: 'no params, header 2026-07-28', message: message('tools/list'), headers: list, status: 400,
    code: -32602,
  },
  {
    what: '_meta without a version', message: message('tools/list', { _meta: { [CAPABILITIES]: {} } }),
    headers: list, status: 400, code: -32602,
  },
  {
    what: '_meta without capabilities',
    message: message('tools/list', { _meta: { [PROTOCOL]: '2026-07-28' } }), headers: list, status: 400,
    code: -32602,
  },
  {
    what: 'a version that is no string',
    message: message('tools/list', { _meta: { [PROTOCOL]: 2026, [CAPABILITIES]: {} } }), headers: list,
    status: 400, code: -32602,
  },
  {
    what: 'capabilities that are a list',
    message: message('tools/list', { _meta: { [PROTOCOL]: '2026-07-28', [CAPABILITIES]: [] } }),
    headers: list, status: 400, code: -32602,
  },
  {
    what: '_meta that is a list', message: message('tools/list', { _meta: [] }), headers: list, status: 400,
    code: -32602,
  },
  {
    what: 'no version header', message: message('tools/list', withMeta()),
    headers: { 'Mcp-Method': 'tools/list' }, status: 400, code: -32020,
    data: { header: 'MCP-Protocol-Version' },
  },
  {
    what: 'a version header that nobody knows', message: message('tools/list', withMeta()),
    headers: { ...list, 'MCP-Protocol-Version': '2026-07-29' }, status: 400, code: -32020,
  },
  {
    what: 'two different version headers', message: message('tools/list', withMeta()),
    headers: { ...list, 'MCP-Protocol-Version': '2025-11-25, 2026-07-28' }, status: 400, code: -32020,
  },
  ...['2025-11-25', '2025-11-25, 2025-11-25', '2025-11-25,', '2024-11-05'].map((older) => ({
    what: `the version header ${older} beside a newer body`, message: message('tools/list', withMeta()),
    headers: { 'MCP-Protocol-Version': older }, status: 200, code: undefined,
  })),
  {
    what: 'an older version header and an Mcp-Method that says something else',
    message: message('tools/list', withMeta()),
    headers: { 'MCP-Protocol-Version': '2025-11-25', 'Mcp-Method': 'tools/call' }, status: 400, code: -32020,
    data: { header: 'Mcp-Method' },
  },
  {
    what: 'an older version header, a call without Mcp-Name',
    message: message('tools/call', withMeta({ name: 'hello' })),
    headers: { 'MCP-Protocol-Version': '2025-11-25' }, status: 200, code: undefined,
  },
  {
    what: 'an older version header, a call with another Mcp-Name',
    message: message('tools/call', withMeta({ name: 'hello' })),
    headers: { 'MCP-Protocol-Version': '2025-11-25', 'Mcp-Name': 'bye' }, status: 400, code: -32020,
    data: { header: 'Mcp-Name' },
  },
  {
    what: 'an older version header and _meta that nobody serves', message: message('tools/list', other),
    headers: { 'MCP-Protocol-Version': '2025-11-25' }, status: 400, code: -32020,
  },
  {
    what: 'a version in _meta that says something else', message: message('tools/list', other),
    headers: list, status: 400, code: -32020,
  },
  {
    what: 'a version that nobody serves', message: message('tools/list', other),
    headers: { ...list, 'MCP-Protocol-Version': 'v999.0.0' }, status: 400, code: -32022,
    data: { supported: [...allRevisions].reverse(), requested: 'v999.0.0' },
  },
  {
    what: 'an older version by _meta', message: message('tools/list', older),
    headers: { ...list, 'MCP-Protocol-Version': '2025-11-25' }, status: 400, code: -32022,
    data: { supported: ['2026-07-28'], requested: '2025-11-25' },
  },
  {
    what: 'no Mcp-Method', message: message('tools/list', withMeta()), headers: version, status: 400,
    code: -32020, data: { header: 'Mcp-Method' },
  },
  {
    what: 'an Mcp-Method in capitals', message: message('tools/list', withMeta()),
    headers: { ...version, 'Mcp-Method': 'TOOLS/LIST' }, status: 400, code: -32020,
  },
  {
    what: 'an Mcp-Method of another method', message: message('tools/list', withMeta()),
    headers: { ...version, 'Mcp-Method': 'prompts/list' }, status: 400, code: -32020,
  },
  {
    what: 'no Mcp-Name', message: message('tools/call', withMeta({ name: 'hello' })),
    headers: { ...version, 'Mcp-Method': 'tools/call' }, status: 400, code: -32020,
    data: { header: 'Mcp-Name' },
  },
  {
    what: 'an Mcp-Name of another tool', message: message('tools/call', withMeta({ name: 'hello' })),
    headers: { ...version, 'Mcp-Method': 'tools/call', 'Mcp-Name': 'Hello' }, status: 400, code: -32020,
  },
  {
    what: 'an Mcp-Name in broken Base64', message: message('tools/call', withMeta({ name: 'hello' })),
    headers: { ...version, 'Mcp-Method': 'tools/call', 'Mcp-Name': '=?base64?aGVsbG8?=' }, status: 400,
    code: -32020,
  },
  {
    what: 'no name in the body', message: message('tools/call', withMeta({})),
    headers: { ...version, 'Mcp-Method': 'tools/call' }, status: 200, code: -32602,
  },
  {
    what: 'an unknown method', message: message('no/such', withMeta()),
    headers: { ...version, 'Mcp-Method': 'no/such' }, status: 404, code: -32601,
  },
  {
    what: 'a level of log that is none',
    message: message('tools/list', withMeta({}, { meta: { 'io.modelcontextprotocol/logLevel': 'loud' } })),
    headers: list, status: 400, code: -32602,
  },
  {
    what: 'initialize with _meta',
    message: message('initialize', withMeta({ protocolVersion: '2025-11-25' })),
    headers: { ...version, 'Mcp-Method': 'initialize' }, status: 404, code: -32601,
  },
  {
    what: 'server/discover without _meta', message: message('server/discover', {}), headers: {}, status: 400,
    code: -32602,
  },
  {
    what: 'subscriptions/listen without _meta', message: message('subscriptions/listen', {}), headers: {},
    status: 400, code: -32602,
  },
  {
    what: 'an unknown version header and no session', message: message('tools/list'),
    headers: { 'MCP-Protocol-Version': '1999-01-01' }, status: 400, code: -32022,
  },
  {
    what: 'everything right', message: message('tools/list', withMeta()), headers: list, status: 200,
    code: undefined,
  },
  {
    what: 'an unused session id', message: message('tools/list', withMeta()),
    headers: { ...list, 'Mcp-Session-Id': 'nobody', 'Last-Event-ID': 'x-1' }, status: 200, code: undefined,
  },
  { what: 'no mark at all', message: message('tools/list'), headers: {}, status: 200, code: undefined },
  {
    what: 'an older version by its header alone', message: message('tools/list'),
    headers: { 'MCP-Protocol-Version': '2025-06-18' }, status: 200, code: undefined,
  },
]

for (const { what, message, headers, status, code, data } of rows) {
  test(`${what}: ${status}${code === undefined ? '' : ` ${code}`}`, async () => {
    const response = await post(server, message, headers)
    assert.equal(response.status, status)
    assert.equal(response.headers.get('mcp-session-id'), null)
    const answer = await answerOf(response)
    assert.equal(answer.id, 7)
    assert.equal(answer.error?.code, code)
    for (const [name, value] of Object.entries(data ?? {})) assert.deepEqual(answer.error.data[name], value)
  })
}

test('a name with blanks around it, in Base64, or beyond ASCII is found', async () => {
  for (const name of [' hello ', '=?base64?aGVsbG8=?=']) {
    const { result } = await ask(server, 'tools/call', { name: 'hello' }, { headers: { 'Mcp-Name': name } })
    assert.equal(result.content[0].text, 'Hello')
  }
  const encoded = `=?base64?${Buffer.from('test://über').toString('base64')}?=`
  const read = await ask(
    server, 'resources/read', { uri: 'test://über' }, { headers: { 'Mcp-Name': encoded } },
  )
  assert.equal(read.result.contents[0].text, 'text')
})

test('the client need not say who it is', async () => {
  const meta = { 'io.modelcontextprotocol/clientInfo': undefined }
  const { result } = await ask(server, 'server/discover', {}, { meta })
  assert.equal(result.resultType, 'complete')
})

test('ids keep their type in errors of every rung', async () => {
  for (const id of [0, '0', 'a']) {
    const { error, id: echoed } = await answerOf(
      await post(server, message('tools/list', undefined, id), list),
    )
    assert.strictEqual(echoed, id)
    assert.equal(error.code, -32602)
  }
})

test('in 2026-07-28 a posted response is refused, a notification taken and not acted on', async () => {
  const response = await post(server, { jsonrpc: '2.0', id: 1, result: {} }, version)
  assert.equal(response.status, 400)
  assert.equal((await answerOf(response)).error.code, -32600)
  const notification = {
    jsonrpc: '2.0', method: 'notifications/cancelled', params: withMeta({ requestId: 1 }),
  }
  const taken = await post(server, notification, version)
  assert.equal(taken.status, 202)
  assert.equal(await taken.text(), '')
})

test('the version header of a session may be missing or another one; nonsense is refused', async () => {
  const session = await begin(server, '2025-06-18')
  const seen = []
  const sent = [undefined, '2025-06-18', '2025-11-25', '2024-11-05', '1999-01-01', 'x', '2026-07-28']
  for (const header of sent) {
    const headers: Record<string, string> = { 'Mcp-Session-Id': session.id }
    if (header !== undefined) headers['MCP-Protocol-Version'] = header
    const response = await post(server, message('tools/list'), headers)
    const { error, result } = await answerOf(response)
    // The revision of the session holds, whatever the header says.
    if (result !== undefined) assert.equal('_meta' in result, false)
    seen.push([header, response.status, error?.code])
  }
  assert.deepEqual(seen, [
    [undefined, 200, undefined], ['2025-06-18', 200, undefined], ['2025-11-25', 200, undefined],
    ['2024-11-05', 200, undefined], ['1999-01-01', 400, -32022], ['x', 400, -32022], [
      '2026-07-28', 400, -32602,
    ],
  ])
})

test('initialize is a handshake whatever the version header says', async () => {
  for (const header of ['2025-11-25', '2026-07-28', '1999-01-01']) {
    const response = await post(server, message('initialize', { protocolVersion: '2025-11-25' }), {
      'MCP-Protocol-Version': header,
    })
    assert.equal(response.status, 200)
    assert.equal((await answerOf(response)).result.protocolVersion, '2025-11-25')
  }
})

const negotiated: readonly (readonly [unknown, string])[] = [
  ['2024-11-05', '2024-11-05'], ['2025-03-26', '2025-03-26'], ['2025-06-18', '2025-06-18'],
  ['2025-11-25', '2025-11-25'], ['2026-07-28', '2025-11-25'], ['2024-10-07', '2025-11-25'],
  ['2099-01-01', '2025-11-25'], ['', '2025-11-25'], ['draft', '2025-11-25'], ['__proto__', '2025-11-25'],
]

for (const [asked, given] of negotiated) {
  test(`initialize for ${JSON.stringify(asked)} gives ${given}`, async () => {
    const response = await post(server, message('initialize', { protocolVersion: asked, capabilities: {} }))
    assert.equal(response.status, 200)
    const { result } = await answerOf(response)
    assert.equal(result.protocolVersion, given)
    assert.equal(result.resultType, undefined)
  })
}

const badHandshakes: readonly (readonly [string, unknown])[] = [
  ['no params', undefined], ['no version', {}], ['a number', { protocolVersion: 20251125 }],
  ['null', { protocolVersion: null }], [
    'capabilities that are a list', { protocolVersion: '2025-11-25', capabilities: [] },
  ],
  ['clientInfo that is text', { protocolVersion: '2025-11-25', clientInfo: 'me' }],
]

for (const [what, params] of badHandshakes) {
  test(`initialize with ${what} is -32602 and opens no session`, async () => {
    const response = await post(server, message('initialize', params as object))
    assert.equal(response.headers.get('mcp-session-id'), null)
    assert.equal((await answerOf(response)).error.code, -32602)
  })
}

test('an editor that speaks ACP is told how it is served', async () => {
  const params = { protocolVersion: 1, clientCapabilities: {} }
  const { error } = await answerOf(await post(server, message('initialize', params)))
  assert.match(error.data.detail, /must be a string; for an editor with ACP, start triport serve --acp$/)
})

test('every refusal has a JSON-RPC body, so that no client takes this for an old server', async () => {
  for (const { message, headers, status } of rows.filter(({ status }) => status !== 200)) {
    const response = await post(server, message, headers)
    assert.equal(response.status, status)
    const body = await response.json() as Json
    assert.equal(body.jsonrpc, '2.0')
    assert.equal(typeof body.error.message, 'string')
  }
})

test('the supported versions in an error are among those that discover lists', async () => {
  const { result } = await ask(server, 'server/discover')
  const response = await post(
    server, message('tools/list', other), { ...list, 'MCP-Protocol-Version': 'v999.0.0' },
  )
  const { error } = await answerOf(response)
  for (const name of error.data.supported) assert.ok(result.supportedVersions.includes(name))
})

test('what is no method of the endpoint is 405', async () => {
  for (const method of ['PUT', 'PATCH']) {
    const response = await server.fetch(new Request('http://localhost/mcp', { method, body: '{}' }))
    assert.equal(response.status, 405)
    assert.deepEqual(response.headers.get('allow')?.split(', ').sort(), ['DELETE', 'GET', 'HEAD', 'POST'])
  }
  assert.equal((await modern(server, 'tools/list')).status, 200)
})
