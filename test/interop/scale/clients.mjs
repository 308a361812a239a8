/**
 * Official clients of MCP of both versions, as people use them, and what they do in these tests. No test
 * itself.
 */
import { missing } from '../start.mjs'

/** Why there are none; false where there are. */
export const noClients = missing('@modelcontextprotocol/sdk', '@modelcontextprotocol/client')
const load = (path) => noClients ? {} : import(path)
const first = await load('@modelcontextprotocol/sdk/client/index.js')
const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js')
const { SSEClientTransport } = await load('@modelcontextprotocol/sdk/client/sse.js')
const { ElicitRequestSchema } = await load('@modelcontextprotocol/sdk/types.js')
const second = await load('@modelcontextprotocol/client')

const reconnectionOptions = {
  initialReconnectionDelay: 20, maxReconnectionDelay: 200, reconnectionDelayGrowFactor: 1.5, maxRetries: 500,
}

/** The revision that a client offers, written over what its official code says. */
function offering(revision) {
  return (url, init) => {
    const isOffer = typeof init?.body === 'string' && init.body.includes('"method":"initialize"')
    if (revision === undefined || !isOffer) return fetch(url, init)
    const message = JSON.parse(init.body)
    message.params.protocolVersion = revision
    return fetch(url, { ...init, body: JSON.stringify(message) })
  }
}

/**
 * Counts the progress that comes to a client, each time anew. On the wire: these clients forget a call at its
 * result, and with it the progress that came in one piece with it.
 */
function countProgress(transport) {
  const receive = transport.onmessage
  let count = 0
  transport.onmessage = (message, ...more) => {
    if (message.method === 'notifications/progress') count += 1
    receive(message, ...more)
  }
  return () => {
    const counted = count
    count = 0
    return counted
  }
}

/** Version 1, over Streamable HTTP or over the pair of 2024. */
async function connectFirst(url, name, { revision, isPair = false } = {}) {
  const client = new first.Client({ name, version: '1.0.0' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { name } }))
  const requestInit = { headers: { 'X-Client': name } }
  const options = { requestInit, fetch: offering(revision), reconnectionOptions }
  const transport = isPair ? new SSEClientTransport(new URL('/sse', url), options)
    : new StreamableHTTPClientTransport(new URL('/mcp', url), options)
  await client.connect(transport)
  return {
    client, transport, progress: countProgress(transport),
    list: (options) => client.listTools(undefined, options),
    call: (tool, args, options) => client.callTool({ name: tool, arguments: args }, undefined, options),
  }
}

/** Version 2, which looks for 2026-07-28 first, or speaks as of old. */
async function connectSecond(url, name, { mode = 'auto' } = {}) {
  const client = new second.Client({ name, version: '2.0.0' }, {
    capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode },
  })
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { name } }))
  const transport = new second.StreamableHTTPClientTransport(new URL('/mcp', url), {
    reconnectionOptions, requestInit: { headers: { 'X-Client': name } },
  })
  await client.connect(transport)
  return {
    client, transport, progress: countProgress(transport),
    list: (options) => client.listTools(undefined, options),
    call: (tool, args, options) => client.callTool({ name: tool, arguments: args }, options),
  }
}

/** How each kind of client connects. */
export const connects = {
  'v1': connectFirst,
  'v1 pair': (url, name) => connectFirst(url, name, { isPair: true }),
  'v1 2025-06-18': (url, name) => connectFirst(url, name, { revision: '2025-06-18' }),
  'v1 2025-03-26': (url, name) => connectFirst(url, name, { revision: '2025-03-26' }),
  'v1 2024-11-05': (url, name) => connectFirst(url, name, { revision: '2024-11-05' }),
  'v2': connectSecond,
  'v2 legacy': (url, name) => connectSecond(url, name, { mode: 'legacy' }),
}

/** What a client does in turn; each resolves to whether the answer was right. */
export const acts = [
  async ({ list }, name, at, options) => (await list(options)).tools.some((tool) => tool.name === 'double'),
  async ({ call }, name, at, options) => {
    const { content } = await call('double', { a: at }, options)
    return content[0].text === String(2 * at)
  },
  async ({ call }, name, at, options) => {
    const { content } = await call('greet', {}, options)
    return content[0].text === `Hello ${name}`
  },
  async ({ call, progress }, name, at, options) => {
    progress()
    const { content } = await call('count', {}, { ...options, onprogress() {} })
    return content[0].text === 'counted' && (options.mayMissProgress === true || progress() === 3)
  },
]
