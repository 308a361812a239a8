/**
 * The official TypeScript client, version 2, against everything: it looks for 2026-07-28 first (`auto`), or
 * insists on it (`pin`), answers questions by calling again, and listens to changes.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { missing, root, startEverything } from './start.mjs'

const skip = missing('@modelcontextprotocol/client')

let server
before(async () => { if (!skip) server = await startEverything() })
after(() => server?.stop())

const modes = { auto: 'auto', pinned: { pin: '2026-07-28' }, legacy: 'legacy' }
const roots = [{ uri: 'file:///home/alice', name: 'home' }]

/** A client that can be asked everything. `stdio`: over a process's standard input and output. */
async function connect(mode, { elicit, stdio = false } = {}) {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const capabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} }
  const client = new Client({ name: 'interop', version: '2.0.0' }, {
    capabilities, versionNegotiation: { mode: modes[mode] },
  })
  const asked = []
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    asked.push(params.message)
    return elicit?.(params) ?? { action: 'accept', content: { name: 'Alice', color: 'red', ok: true } }
  })
  client.setRequestHandler('sampling/createMessage', async ({ params }) => ({
    role: 'assistant', model: 'test', content: {
      type: 'text', text: `about ${params.messages[0].content.text}`,
    },
  }))
  client.setRequestHandler('roots/list', async () => ({ roots }))
  let transport
  if (stdio) {
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
    const args = [`${root}dist/cli.js`, 'serve', `${root}test/interop/served.mjs`, '--stdio']
    transport = new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' })
  } else {
    transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`))
  }
  await client.connect(transport)
  return { client, asked, transport }
}

/** Runs a test with a client in each mode, closed in the end. */
function withClient(name, modesOfTest, run, options) {
  for (const mode of modesOfTest) {
    test(`${mode}: ${name}`, { skip, timeout: 120_000 }, async () => {
      const connected = await connect(mode, options)
      try {
        await run(connected, mode)
      } finally {
        await connected.client.close()
      }
    })
  }
}

async function until(what, holds) {
  const end = Date.now() + 20_000
  while (!await holds()) {
    assert.ok(Date.now() < end, `${what} did not happen`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const textOf = (result) => result.content.map((block) => block.text).join('')
const all = ['auto', 'pinned', 'legacy']
const modern = ['auto', 'pinned']

withClient('the newest revision that it looks for is found', all, async ({ client }, mode) => {
  assert.equal(client.getNegotiatedProtocolVersion(), mode === 'legacy' ? '2025-11-25' : '2026-07-28')
  assert.equal(client.getServerVersion()?.name, 'Everything')
})

withClient('a client lists, calls, reads and gets', all, async ({ client }) => {
  const { tools } = await client.listTools()
  assert.equal(tools[0].name, 'execute_echo_task')
  assert.equal(textOf(await client.callTool({ name: 'echo', arguments: { text: 'héllo' } })), 'héllo')
  const { contents } = await client.readResource({ uri: 'test://template/7/data' })
  assert.equal(JSON.parse(contents[0].text).id, '7')
  assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 1)
  // This client gives the older code the newer number.
  await assert.rejects(client.readResource({ uri: 'test://nothing' }), { code: -32602 })
  assert.ok((await client.listPrompts()).prompts.length >= 5)
  const { messages } = await client.getPrompt({
    name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' },
  })
  assert.match(messages[0].content.text, /arg1='a', arg2='b'/)
  const { completion } = await client.complete({
    ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' }, argument: { name: 'arg1', value: '' },
  })
  assert.deepEqual(completion.values, ['test1', 'test2'])
})

withClient('an argument travels as a header too', all, async ({ client }) => {
  await client.listTools()
  for (const region of ['eu-west', 'Zürich ', '=?base64?x?=']) {
    const result = await client.callTool({ name: 'test_x_mcp_header', arguments: { region } })
    assert.equal(textOf(result), `In ${region}.`)
  }
})

withClient('names that no header can hold are found', all, async ({ client }) => {
  const { contents } = await client.readResource({ uri: 'test://template/%C3%BC/data' })
  assert.equal(JSON.parse(contents[0].text).id, 'ü')
  await assert.rejects(client.callTool({ name: 'nobody ü', arguments: {} }), { code: -32602 })
})

withClient('structured content is valid by the schema of the tool', all, async ({ client }) => {
  await client.listTools()
  const result = await client.callTool({ name: 'test_structured_content', arguments: { a: 1, b: 2 } })
  assert.deepEqual(result.structuredContent, { sum: 3 })
})

withClient('progress arrives before the result', all, async ({ client }) => {
  const seen = []
  const result = await client.callTool({ name: 'test_tool_with_progress', arguments: {} }, {
    onprogress: ({ progress }) => seen.push(progress),
  })
  assert.equal(textOf(result), 'Done.')
  assert.deepEqual(seen, [0, 50, 100].slice(0, Math.max(seen.length, 2)))
})

withClient('a tool asks, in as many rounds as it takes', all, async ({ client, asked }) => {
  const result = await client.callTool({ name: 'test_input_required_result_multi_round', arguments: {} })
  assert.match(textOf(result), /"name":"Alice".*"color":"red"/)
  assert.deepEqual(asked, ['Step 1: What is your name?', 'Step 2: What is your favorite color?'])
})

withClient('three questions go out at once', all, async ({ client, asked }) => {
  const result = await client.callTool({ name: 'test_input_required_result_multiple_inputs', arguments: {} })
  assert.match(textOf(result), /"name":"Alice".* about Generate a greeting 1 roots/)
  assert.equal(asked.length, 1)
})

withClient('a question can be declined', all, async ({ client }) => {
  const result = await client.callTool({ name: 'test_streaming_elicitation', arguments: {} })
  assert.equal(textOf(result), 'decline')
}, { elicit: () => ({ action: 'decline' }) })

withClient('a prompt asks before it says anything', modern, async ({ client }) => {
  const { messages } = await client.getPrompt({ name: 'test_input_required_result_prompt' })
  assert.equal(messages[0].content.text, 'Context: tea')
}, { elicit: () => ({ action: 'accept', content: { context: 'tea' } }) })

withClient('a client that cannot be asked gets a typed error', modern, async () => {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const client = new Client({ name: 'mute', version: '1.0.0' }, {
    capabilities: {}, versionNegotiation: { mode: 'auto' },
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)))
  await assert.rejects(client.callTool({ name: 'test_missing_capability', arguments: {} }), (error) => {
    assert.equal(error.code, -32021)
    assert.deepEqual(error.data.requiredCapabilities, { sampling: {} })
    return true
  })
  await client.close()
})

withClient('a client listens, hears what it asked for, and leaves', modern, async ({ client }) => {
  const heard = []
  for (const method of ['tools/list_changed', 'prompts/list_changed', 'resources/updated']) {
    client.setNotificationHandler(
      `notifications/${method}`, ({ params }) => { heard.push([method, params?.uri]) },
    )
  }
  const uri = 'test://watched-resource'
  const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] })
  assert.deepEqual(subscription.honoredFilter, { toolsListChanged: true, resourceSubscriptions: [uri] })
  for (const what of ['prompt_change', 'tool_change', 'resource_update']) {
    await client.callTool({ name: `test_trigger_${what}`, arguments: {} })
  }
  await until('the news', () => heard.length >= 2)
  assert.deepEqual(heard.sort(), [['resources/updated', uri], ['tools/list_changed', undefined]])
  await subscription.close()
  assert.equal(await subscription.closed, 'local')
})

withClient('leaving cancels the call', modern, async ({ client }) => {
  const controller = new AbortController()
  const call = client.callTool(
    { name: 'slow_compute', arguments: { seconds: 30 } }, { signal: controller.signal },
  )
  setTimeout(() => controller.abort(), 50)
  await assert.rejects(call)
  assert.equal(
    textOf(await client.callTool({ name: 'echo', arguments: { text: 'still here' } })), 'still here',
  )
})

test('a server that closes ends a subscription in its own form', { skip, timeout: 120_000 }, async () => {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const short = await startEverything()
  const client = new Client({ name: 'interop', version: '2.0.0' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${short.url}/mcp`)))
  const subscription = await client.listen({ toolsListChanged: true })
  await short.stop()
  assert.equal(await subscription.closed, 'graceful')
  await client.close()
})

withClient('stdio speaks the same', all, async ({ client }, mode) => {
  assert.equal(client.getNegotiatedProtocolVersion(), mode === 'legacy' ? '2025-11-25' : '2026-07-28')
  assert.equal(textOf(await client.callTool({ name: 'echo', arguments: { text: 'hi' } })), 'hi')
  const result = await client.callTool({ name: 'test_elicitation', arguments: { message: 'Who?' } })
  assert.equal(textOf(result), 'User response: {"username":"bob"}')
}, { stdio: true, elicit: () => ({ action: 'accept', content: { username: 'bob' } }) })

withClient('over stdio a client listens and leaves', modern, async ({ client }) => {
  const subscription = await client.listen({ toolsListChanged: true })
  assert.deepEqual(subscription.honoredFilter, { toolsListChanged: true })
  await subscription.close()
  assert.equal(textOf(await client.callTool({ name: 'echo', arguments: { text: 'hi' } })), 'hi')
}, { stdio: true })
