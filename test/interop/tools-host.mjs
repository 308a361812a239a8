/**
 * A program that serves a tool over MCP, of nothing but the kernel and this part, as each host runs it; and
 * a client that calls the tool. No test itself.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { modules } from './start.mjs'

const tool = `
const add = {
  name: 'add', description: 'Adds two numbers.',
  inputSchema: {
    type: 'object', required: ['a', 'b'], properties: { a: { type: 'number' }, b: { type: 'number' } },
  },
  async run({ a, b }, call) {
    call.progress(1, 2, 'adding')
    return a + b
  },
}
let server
const made = () => server ??= createServer({ tools: [add], parts: [mcp()], log: false })
const answer = (request) => made().fetch(request)
`

/** How a host serves it. Those that listen print their address. */
const hosts = {
  node: `made().listen(0).then(({ url }) => console.log(url))
    process.once('SIGTERM', () => server.close())`,
  bun: `console.log(Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer }).url.href)`,
  deno: `Deno.serve({
    port: 0, hostname: '127.0.0.1', onListen: ({ port }) => console.log('http://127.0.0.1:' + port),
  }, answer)`,
  workers: 'export default { fetch: answer }',
}

/** The program for a host. `imports`: the line that brings `createServer` and `mcp`. */
export function programFor(host, imports) {
  return `${imports}\n${tool}\n${hosts[host]}\n`
}

/** The path of a program that is installed here. */
export const installed = (name) => `${modules}.bin/${name}`

/** Starts a program that prints its address. */
export async function listening(t, program, args, cwd) {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.on('data', (text) => { said += text })
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal)
  t.after(async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await ended
  })
  for await (const url of createInterface(child.stdout)) {
    // Ends it as an operator would, and says how it ended.
    return { url, said: () => said, stop: () => { child.kill(); return ended } }
  }
  assert.fail(`${program} ended with ${await ended} before it listened: ${said}`)
}

/** Runs modules, by their paths, in a workers' runtime; the first is the program. */
export async function inWorkers(t, files) {
  const { Miniflare } = await import('miniflare')
  const runtime = new Miniflare({
    modules: Object.entries(files).map(([path, contents]) => ({ type: 'ESModule', path, contents })),
    compatibilityDate: '2026-07-01',
    compatibilityFlags: ['nodejs_compat'],
  })
  t.after(() => runtime.dispose())
  return String(await runtime.ready)
}

/** Calls the tool with the official client, with and without a session. */
export async function callsTool(url) {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  for (const mode of ['legacy', { pin: '2026-07-28' }]) {
    const client = new Client({ name: 'interop', version: '1.0.0' }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(new URL('mcp', url)))
    try {
      assert.deepEqual((await client.listTools()).tools.map(({ name }) => name), ['add'])
      const seen = []
      const onprogress = ({ message }) => seen.push(message)
      const { content } = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } }, { onprogress })
      assert.deepEqual([content, seen], [[{ type: 'text', text: '3' }], ['adding']])
      const wrong = await client.callTool({ name: 'add', arguments: { a: 1 } })
      assert.ok(wrong.isError && /\bb\b/.test(wrong.content[0].text), JSON.stringify(wrong))
    } finally {
      await client.close()
    }
  }
}
