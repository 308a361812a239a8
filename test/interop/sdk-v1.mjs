/**
 * The official TypeScript SDK, version 1, against everything: Streamable HTTP, HTTP+SSE and stdio. It knows
 * the four revisions with a handshake, and checks every message that it gets by its own schemas.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { missing, root, startEverything } from './start.mjs'

const skip = missing('@modelcontextprotocol/sdk')
const load = (path) => import(`@modelcontextprotocol/sdk/${path}`)

let server
before(async () => { if (!skip) server = await startEverything({ API_KEY: 'interop-key' }) })
after(() => server?.stop())

const key = { 'X-API-Key': 'interop-key' }

const transports = {
  async http(options) {
    const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js')
    return new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
      requestInit: { headers: key },
      reconnectionOptions: {
        initialReconnectionDelay: 10, maxReconnectionDelay: 100, reconnectionDelayGrowFactor: 1,
        maxRetries: 5,
      },
      ...options,
    })
  },
  async sse() {
    const { SSEClientTransport } = await load('client/sse.js')
    return new SSEClientTransport(new URL(`${server.url}/sse`), {
      requestInit: { headers: key },
      eventSourceInit: {
        fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...key } }),
      },
    })
  },
  async stdio() {
    const { StdioClientTransport } = await load('client/stdio.js')
    const args = [`${root}dist/cli.js`, 'serve', `${root}test/interop/served.mjs`, '--stdio']
    return new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' })
  },
}

const roots = [{ uri: 'file:///home/alice', name: 'home' }]

/** A client that can be asked everything, and that keeps what it is told. */
async function connect(transport, answers = {}) {
  const { Client } = await load('client/index.js')
  const types = await load('types.js')
  const capabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } }
  const client = new Client({ name: 'interop', version: '1.0.0' }, { capabilities })
  const told = []
  const errors = []
  client.onerror = (error) => errors.push(error)
  client.fallbackNotificationHandler = async (notification) => { told.push(notification) }
  client.setRequestHandler(types.CreateMessageRequestSchema, async ({ params: { messages: [asked] } }) => ({
    role: 'assistant', model: 'test', content: { type: 'text', text: `about ${asked.content.text}` },
  }))
  client.setRequestHandler(types.ElicitRequestSchema, async ({ params }) => answers.elicit?.(params) ?? {
    action: 'accept', content: { username: 'alice', email: 'alice@example.com' },
  })
  client.setRequestHandler(types.ListRootsRequestSchema, async () => ({ roots }))
  await client.connect(transport)
  return { client, told, errors, transport }
}

/** Runs a test with a client of one transport, closed in the end. */
function withClient(name, kind, run, options) {
  test(`${kind}: ${name}`, { skip, timeout: 120_000 }, async () => {
    const connected = await connect(await transports[kind](options?.transport), options?.answers)
    try {
      await run(connected)
    } finally {
      await connected.client.close()
    }
  })
}

async function until(what, holds) {
  const end = Date.now() + 20_000
  while (!await holds()) {
    assert.ok(Date.now() < end, `${what} did not happen`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const textOf = (result) => result.content.map((block) => block.text).join('')

for (const kind of ['http', 'sse', 'stdio']) {
  withClient('a client lists and calls tools', kind, async ({ client }) => {
    const { tools } = await client.listTools()
    assert.equal(tools[0].name, 'execute_echo_task')
    assert.ok(tools.some((tool) => tool.name === 'echo'))
    assert.equal(textOf(await client.callTool({ name: 'echo', arguments: { text: 'héllo' } })), 'héllo')
    assert.equal(
      textOf(await client.callTool({ name: 'execute_echo_task', arguments: { prompt: 'hi' } })), 'hi',
    )
    assert.equal(textOf(await client.callTool({ name: 'ask_echo', arguments: { message: 'hi' } })), 'hi')
  })

  withClient('the newest revision with a handshake is negotiated', kind, async ({ client, transport }) => {
    assert.equal(client.getServerVersion().name, kind === 'stdio' ? 'Echo' : 'Everything')
    assert.ok(client.getServerCapabilities().tools)
    if (kind === 'http') assert.equal(transport.protocolVersion, '2025-11-25')
  })

  withClient('ping is answered by an empty object', kind, async ({ client }) => {
    assert.deepEqual(await client.ping(), {})
  })

  withClient('an unknown tool is an error, bad arguments are a result', kind, async ({ client }) => {
    await assert.rejects(client.callTool({ name: 'nobody', arguments: {} }), { code: -32602 })
    const result = await client.callTool({ name: 'echo', arguments: { text: 1 } })
    assert.equal(result.isError, true)
    assert.match(textOf(result), /text/)
  })

  withClient('progress arrives before the result', kind, async ({ client }) => {
    const seen = []
    const result = await client.callTool({ name: 'test_tool_with_progress', arguments: {} }, undefined, {
      onprogress: ({ progress, total }) => seen.push([progress, total]),
    })
    assert.equal(textOf(result), 'Done.')
    // This client passes over a last progress that comes in one piece with the result.
    const owed = [[0, 100], [50, 100], [100, 100]]
    assert.deepEqual(seen, owed.slice(0, Math.max(seen.length, 2)))
  })

  withClient('a tool asks the person, and gets what was filled in', kind, async ({ client }) => {
    const result = await client.callTool({ name: 'test_elicitation', arguments: { message: 'Who?' } })
    assert.match(textOf(result), /"username":"alice"/)
  })

  withClient('twenty calls at one time get their own answers', kind, async ({ client }) => {
    const said = Array.from({ length: 20 }, (_, index) => `number ${index}`)
    const results = await Promise.all(
      said.map((text) => client.callTool({ name: 'echo', arguments: { text } })),
    )
    assert.deepEqual(results.map(textOf), said)
  })
}

for (const kind of ['http', 'sse']) {
  withClient('a tool asks the model and for the roots', kind, async ({ client }) => {
    const sampled = await client.callTool({ name: 'test_sampling', arguments: { prompt: 'tea' } })
    assert.equal(textOf(sampled), 'LLM response: about tea')
    const listed = await client.callTool({ name: 'test_input_required_result_list_roots', arguments: {} })
    assert.deepEqual(JSON.parse(textOf(listed)), roots)
  })

  withClient('the code for rounds works in a session too', kind, async ({ client }) => {
    const result = await client.callTool(
      { name: 'test_input_required_result_multiple_inputs', arguments: {} },
    )
    assert.match(textOf(result), /1 roots/)
  }, { answers: { elicit: () => ({ action: 'accept', content: { name: 'alice' } }) } })

  withClient('a question can be declined', kind, async ({ client }) => {
    const result = await client.callTool({ name: 'test_elicitation', arguments: { message: 'Who?' } })
    assert.equal(textOf(result), 'User response: decline')
  }, { answers: { elicit: () => ({ action: 'decline' }) } })

  withClient('an answer that does not fit the form is a failed call', kind, async ({ client }) => {
    const result = await client.callTool({ name: 'test_elicitation', arguments: { message: 'Who?' } })
    assert.equal(result.isError, true)
  }, { answers: { elicit: () => ({ action: 'accept', content: { username: 1 } }) } })

  withClient('a client can be asked to open an address', kind, async ({ client }) => {
    const result = await client.callTool({ name: 'test_elicitation_url', arguments: {} })
    assert.equal(textOf(result), 'accept')
  }, { answers: { elicit: ({ mode, url }) => ({ action: mode === 'url' && url ? 'accept' : 'cancel' }) } })

  withClient('resources, templates and prompts are listed, read and got', kind, async ({ client }) => {
    assert.equal((await client.listResources()).resources.length, 7)
    assert.equal(
      (await client.listResourceTemplates()).resourceTemplates[0].uriTemplate, 'test://template/{id}/data',
    )
    const { contents } = await client.readResource({ uri: 'test://template/7/data' })
    assert.deepEqual(JSON.parse(contents[0].text), { id: '7', templateTest: true, data: 'Data for ID: 7' })
    await assert.rejects(client.readResource({ uri: 'test://nothing' }), { code: -32002 })
    assert.ok((await client.listPrompts()).prompts.length >= 5)
    const { messages } = await client.getPrompt({
      name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' },
    })
    assert.match(messages[0].content.text, /arg1='a', arg2='b'/)
    await assert.rejects(
      client.getPrompt({ name: 'test_prompt_with_arguments', arguments: {} }), { code: -32602 },
    )
  })

  withClient('arguments are completed', kind, async ({ client }) => {
    const prompt = { type: 'ref/prompt', name: 'test_prompt_with_arguments' }
    const { completion } = await client.complete({ ref: prompt, argument: { name: 'arg1', value: 't' } })
    assert.deepEqual(completion.values, ['test1', 'test2'])
    const template = { type: 'ref/resource', uri: 'test://template/{id}/data' }
    const ids = await client.complete({ ref: template, argument: { name: 'id', value: '12' } })
    assert.deepEqual(ids.completion.values, ['123', '124'])
  })

  withClient('the log is told from the level that was set on', kind, async ({ client, told }) => {
    await client.setLoggingLevel('error')
    await client.callTool({ name: 'test_tool_with_logging', arguments: {} })
    assert.deepEqual(told, [])
    await client.setLoggingLevel('debug')
    await client.callTool({ name: 'test_tool_with_logging', arguments: {} })
    assert.deepEqual(told.map(({ method, params }) => [method, params.level, params.data]), [
      ['notifications/message', 'info', 'Tool execution started'],
      ['notifications/message', 'info', 'Tool processing data'],
      ['notifications/message', 'info', 'Tool execution completed'],
    ])
  })

  withClient('lists and resources that change are told', kind, async ({ client, told }) => {
    const methods = () => told.map(({ method }) => method)
    await until('the news of tools', async () => {
      await client.callTool({ name: 'test_trigger_tool_change', arguments: {} })
      return methods().includes('notifications/tools/list_changed')
    })
    await client.callTool({ name: 'test_trigger_prompt_change', arguments: {} })
    await until('the news of prompts', () => methods().includes('notifications/prompts/list_changed'))
    const update = { name: 'test_trigger_resource_update', arguments: {} }
    await client.callTool(update)
    await client.subscribeResource({ uri: 'test://watched-resource' })
    told.length = 0
    await client.callTool(update)
    await until('the news of the resource', () => told.length > 0)
    assert.deepEqual(told, [{
      jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'test://watched-resource' },
    }].map(({ method, params }) => ({ ...told[0], method, params })))
    await client.unsubscribeResource({ uri: 'test://watched-resource' })
    await client.callTool(update)
    await client.ping()
    assert.equal(told.length, 1)
  })

  withClient('a cancelled call stops, and the session goes on', kind, async ({ client }) => {
    const controller = new AbortController()
    const call = client.callTool({ name: 'slow_compute', arguments: { seconds: 30 } }, undefined, {
      signal: controller.signal,
    })
    setTimeout(() => controller.abort(), 50)
    await assert.rejects(call)
    assert.equal(
      textOf(await client.callTool({ name: 'echo', arguments: { text: 'still here' } })), 'still here',
    )
  })

  withClient('structured content arrives with its text', kind, async ({ client }) => {
    await client.listTools()
    const result = await client.callTool({ name: 'test_structured_content', arguments: { a: 1, b: 2 } })
    assert.deepEqual(result.structuredContent, { sum: 3 })
    assert.equal(textOf(result), '{"sum":3}')
  })
}

withClient('a call that lets the client hang up is come back to', 'http', async ({ client, errors }) => {
  const result = await client.callTool({ name: 'test_reconnection', arguments: {} })
  assert.equal(textOf(result), 'Reconnection test completed.')
  assert.deepEqual(errors, [])
})

let cuts = 0

/** Passes on the first piece of the first event stream of a call, then breaks the connection. */
async function cutting(url, init) {
  const response = await fetch(url, init)
  const isCall = init.method === 'POST' && String(init.body).includes('tools/call')
  if (!isCall || cuts > 0 || !response.headers.get('content-type')?.includes('event-stream')) return response
  cuts++
  const reader = response.body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  const body = new ReadableStream({
    start(controller) { controller.enqueue(value) },
    pull(controller) { controller.error(new Error('cut')) },
  })
  return new Response(body, { status: response.status, headers: response.headers })
}

withClient('a call whose connection was cut is come back to', 'http', async ({ client }) => {
  const seen = []
  const result = await client.callTool({ name: 'test_tool_with_progress', arguments: {} }, undefined, {
    onprogress: ({ progress }) => seen.push(progress),
  })
  assert.equal(cuts, 1)
  assert.equal(textOf(result), 'Done.')
  assert.deepEqual(seen, [0, 50, 100])
}, { transport: { fetch: cutting } })

withClient('a session ends when its client says so', 'http', async ({ client, transport }) => {
  const { sessionId } = transport
  assert.match(sessionId, /^[\x21-\x7e]{22,}$/)
  await transport.terminateSession()
  const response = await fetch(`${server.url}/mcp`, {
    method: 'POST',
    headers: { ...key, 'Content-Type': 'application/json', 'Mcp-Session-Id': sessionId },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  })
  assert.equal(response.status, 404)
  assert.equal(transport.sessionId, undefined)
  void client
})

withClient('what a tool prints does not disturb the protocol', 'stdio', async ({ client }) => {
  assert.equal(textOf(await client.callTool({ name: 'noisy', arguments: {} })), 'quiet')
})

for (const kind of ['http', 'sse']) {
  test(`${kind}: without the key nobody comes in`, { skip, timeout: 120_000 }, async () => {
    const path = kind === 'http' ? '/mcp' : '/sse'
    const response = await fetch(server.url + path, { headers: { Accept: 'text/event-stream' } })
    assert.equal(response.status, 401)
    assert.match(response.headers.get('www-authenticate'), /^Bearer realm="Everything"/)
  })
}
