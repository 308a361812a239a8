/** MCP Apps with real hosts: the example of the guide in a browser, and the AI SDK's client. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { shows } from '../clients.mjs'
import { missing, root } from '../start.mjs'
import { agent, QUESTION, SECRET, tool } from '../weather.mjs'

const isAbsent = !existsSync(new URL('node_modules/@ai-sdk/mcp/package.json', import.meta.url))
const skip = missing() || (isAbsent && 'packages not installed; run npm ci in test/interop/apps first')
const { absent, Browser } = skip ? {} : await import(`${root}.test/test/fixtures/browser.js`)
const withoutBrowser = skip || absent
if (withoutBrowser) console.log(`apps: skipped: ${withoutBrowser}`)
const { createServer } = skip ? {} : await import(`${root}dist/index.js`)

const page = 'ui://tools/weather'
const settings = { mimeTypes: ['text/html;profile=mcp-app'] }
const known = { extensions: { 'io.modelcontextprotocol/ui': settings } }
let server
let url

/** Serves what the program of the guide launches. */
before(async () => {
  if (skip) return
  const blocks = readFileSync(`${root}lib/parts/apps/apps.md`, 'utf8').matchAll(/^```js\n([^]*?)^```$/gm)
  const [program] = [...blocks].map(([, text]) => text).filter((text) => text.includes('ui/initialize'))
  const body = program.replace(`import { launch } from 'triport'`, '')
  const Program = Object.getPrototypeOf(async () => {}).constructor
  await new Program('launch', body)(async (offer) => {
    server = createServer({ ...offer, cors: '*', log: false });
    ({ url } = await server.listen(0))
  })
})
const browser = withoutBrowser ? undefined : new Browser()
after(async () => {
  await browser?.close()
  await server?.close()
})

test('a host with the official bridge shows the page of the guide, with the result in it',
  { skip: withoutBrowser, timeout: 120_000 }, async (t) => {
    shows(t, 'mcp-apps', 'two turns', 'tool', 'error')
    const { build } = await import('esbuild')
    const entry = fileURLToPath(new URL('host.js', import.meta.url))
    const { outputFiles: [{ text: script }] } = await build({
      entryPoints: [entry], bundle: true, write: false, format: 'iife', logLevel: 'error',
    })
    let html = ''
    // The policy of the specification for a page that declares no origins.
    const policy = `default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; `
      + `img-src 'self' data:; media-src 'self' data:; object-src 'none'; connect-src 'none'`
    const host = createHttpServer(async (request, response) => {
      if (request.method === 'POST') {
        html = ''
        for await (const chunk of request.setEncoding('utf8')) html += chunk
        return response.end('/page')
      }
      const isPage = request.url === '/page'
      const headers = isPage ? { 'Content-Security-Policy': policy } : {}
      response.writeHead(200, { ...headers, 'Content-Type': 'text/html; charset=utf-8' })
      response.end(isPage ? html : `<!doctype html><title>Host</title><link rel="icon" href="data:,"><body>`)
    })
    await new Promise((resolve) => { host.listen(0, '127.0.0.1', resolve) })
    t.after(() => { host.closeAllConnections(); host.close() })
    // The fixture lists what a page asks of others, and a frame that a test can look into.
    const expected = /^Left for http:\/\/127\.0\.0\.1:\d+\/mcp$|allow-scripts and allow-same-origin/
    const opened = await browser.open(t, `http://127.0.0.1:${host.address().port}/`, undefined, expected)
    await opened.evaluate(script)
    const shown = await opened.evaluate(`show('${url}/mcp', { city: 'Rome' }, { city: 'Oslo' }, { city: 1 })`)
    assert.deepEqual(shown, {
      app: { name: 'Weather', version: '1.0.0' }, ui: { prefersBorder: true },
      texts: ['Rome: sunny', 'Oslo: sunny', 'an error'],
    })
  })

for (const mode of ['auto', 'legacy', { pin: '2026-07-28' }]) {
  test(`the official client sees the page, ${JSON.stringify(mode)}`, { skip }, async () => {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
    const { getToolUiResourceUri } = await import('@modelcontextprotocol/ext-apps/app-bridge')
    for (const capabilities of [known, {}]) {
      const client = new Client({ name: 'interop', version: '1.0.0' }, {
        capabilities, versionNegotiation: { mode },
      })
      await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
      assert.deepEqual(client.getServerCapabilities().extensions, { 'io.modelcontextprotocol/ui': {} })
      const { tools: [tool] } = await client.listTools()
      assert.equal(getToolUiResourceUri(tool), capabilities === known ? page : undefined)
      const { contents: [read] } = await client.readResource({ uri: page })
      assert.equal(read.mimeType, 'text/html;profile=mcp-app')
      await client.close()
    }
  })
}

test('the AI SDK sorts the tool, and reads its page', { skip }, async () => {
  const { createMCPClient, mcpAppClientCapabilities, readMCPAppResource, splitMCPAppTools } = (
    await import('@ai-sdk/mcp')
  )
  const client = await createMCPClient({
    transport: { type: 'http', url: `${url}/mcp` }, capabilities: mcpAppClientCapabilities,
  })
  const { modelVisible, appVisible } = splitMCPAppTools(await client.listTools())
  assert.deepEqual([modelVisible, appVisible].map(({ tools }) => tools.map(({ name }) => name)), [
    ['weather'], ['weather'],
  ])
  const { uri, mimeType, html, meta } = await readMCPAppResource({ client, uri: page })
  assert.deepEqual([uri, mimeType, meta], [page, 'text/html;profile=mcp-app', { prefersBorder: true }])
  assert.match(html, /^<!doctype html>\n<title>Weather<\/title>/)
  await client.close()
})

test('the AI SDK calls over two turns, is asked, and told of an error', { skip }, async (t) => {
  shows(t, 'ai-sdk-mcp', 'two turns', 'tool', 'question', 'error')
  const { createMCPClient, ElicitationRequestSchema } = await import('@ai-sdk/mcp')
  const other = createServer({ agents: [agent], tools: [tool], protocol: 'mcp', log: false, graceMs: 0 })
  t.after(() => other.close())
  const client = await createMCPClient({
    transport: { type: 'http', url: `${(await other.listen(0)).url}/mcp` }, capabilities: { elicitation: {} },
  })
  t.after(() => client.close())
  const asked = []
  client.onElicitationRequest(ElicitationRequestSchema, ({ params }) => {
    asked.push(params.message)
    return { action: 'accept', content: { city: 'Bern' } }
  })
  const { execute_forecaster_task: task, weather } = await client.tools()
  const call = async (one, args) => {
    const { content, isError = false } = await one.execute(args, { toolCallId: 'c1', messages: [] })
    return [content.map(({ text }) => text).join(''), isError]
  }
  for (const city of ['Rome', 'Oslo']) {
    assert.deepEqual(await call(weather, { city }), [`sunny in ${city}`, false])
    assert.deepEqual(await call(task, { prompt: city }), [`0 before; sunny in ${city}`, false])
  }
  assert.deepEqual(await call(task, { prompt: 'ask' }), ['0 before; sunny in Bern', false])
  assert.deepEqual(asked, [QUESTION])
  const [text, isError] = await call(task, { prompt: 'break' })
  assert.match(text, /Internal error/)
  assert.ok(isError && !text.includes(SECRET))
})
