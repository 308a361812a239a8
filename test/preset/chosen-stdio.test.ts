/** Chosen parts over lines, without the rest: MCP for hosts of tools, ACP for editors. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { defineAgent, defineTool } from '../../lib/kernel.ts'
import { acp } from '../../lib/parts/acp/part.ts'
import { apps } from '../../lib/parts/apps/part.ts'
import { docs } from '../../lib/parts/docs/part.ts'
import { http } from '../../lib/parts/http/part.ts'
import { mcp } from '../../lib/parts/mcp/part.ts'
import { mcpTasks } from '../../lib/parts/mcp-tasks/part.ts'
import { serveStdio } from '../../lib/stdio.ts'
import { eventually } from '../fixtures/wire.ts'
import type { StdioOptions } from '../../lib/stdio.ts'
import type { Json } from '../fixtures/events.ts'

const add = defineTool({
  name: 'add', description: 'Adds one.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  run: ({ a }) => String(Number(a) + 1),
})
const echo = defineAgent({
  name: 'Echo', description: 'Says it again.', run: (prompt, { history }) => `${history.length}: ${prompt}`,
})

/** A client that asks one by one. */
class Client {
  readonly #input = new PassThrough()
  readonly #over: Promise<void>
  readonly lines: Json[] = []

  constructor(options: StdioOptions) {
    const output = new PassThrough()
    output.on('data', (chunk) => {
      this.lines.push(...String(chunk).trim().split('\n').map((line) => JSON.parse(line)))
    })
    this.#over = serveStdio({ log: false, graceMs: 0, ...options, input: this.#input, output })
  }

  async ask(id: number, method: string, params: object): Promise<Json> {
    this.#input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const answer = (): Json => this.lines.find((line) => line.id === id && !('method' in line))
    await eventually(() => answer() !== undefined)
    return answer().result
  }

  end(): Promise<void> {
    this.#input.end()
    return this.#over
  }
}

test('tools are called over lines with MCP alone, and with what else is chosen', async () => {
  for (const parts of [[mcp({ instructions: 'Ask.' })], [docs(), mcpTasks(), apps(), http(), mcp()]]) {
    const client = new Client({ name: 'Shop', tools: [add], parts })
    const opened = await client.ask(1, 'initialize', {
      protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' },
    })
    assert.equal(opened.serverInfo.name, 'Shop')
    assert.equal(opened.instructions, parts.length === 1 ? 'Ask.' : undefined)
    assert.equal('tasks' in opened.capabilities, false)
    for (const a of [1, 2]) {
      const called = await client.ask(a + 1, 'tools/call', { name: 'add', arguments: { a } })
      assert.deepEqual(called.content, [{ type: 'text', text: String(a + 1) }])
    }
    await client.end()
  }
})

test('an editor has a conversation with an agent of chosen parts', async () => {
  const client = new Client({ agents: [echo], parts: [acp()] })
  await client.ask(1, 'initialize', { protocolVersion: 1, clientCapabilities: {} })
  const { sessionId } = await client.ask(2, 'session/new', { cwd: process.cwd(), mcpServers: [] })
  for (const id of [3, 4]) {
    const prompt = [{ type: 'text', text: 'hi' }]
    assert.equal((await client.ask(id, 'session/prompt', { sessionId, prompt })).stopReason, 'end_turn')
  }
  const said = client.lines.filter(({ method, params }) => (
    method === 'session/update' && params.update.sessionUpdate === 'agent_message_chunk'
  ))
  assert.deepEqual(said.map(({ params }) => params.update.content.text), ['0: hi', '2: hi'])
  await client.end()
})

test('one client has one protocol, and editors need an agent', async () => {
  const served = (options: StdioOptions): Promise<void> => (
    serveStdio({ ...options, log: false, input: new PassThrough(), output: new PassThrough() })
  )
  await assert.rejects(served({ agents: [echo], parts: [mcp(), acp()] }), {
    name: 'TypeError', message: `One client on standard input and output has one protocol, and parts has `
      + `'mcp' and 'acp'; leave all but one out`,
  })
  await assert.rejects(served({ agents: [echo], parts: [http()] }), {
    name: 'TypeError', message: 'None of the parts serves a client on standard input and output; add mcp(), '
      + 'of triport/mcp, for hosts of tools, or acp(), of triport/acp, for editors',
  })
  await assert.rejects(served({ tools: [add], parts: [acp()] }), /^TypeError: Over ACP agents are served/)
})
