/** Agents of a group that each wait for an approval, with a client that is asked between two runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missing } from '../matrix.mjs'
import { startModel } from '../model.mjs'

const skip = missing(import.meta.url, 'ai7', 'openai-compatible-3', 'zod')
const load = (path) => (skip ? {} : import(path))
const { ToolLoopAgent, tool } = await load('ai7')
const { createOpenAICompatible } = await load('openai-compatible-3')
const { z } = await load('zod')
const { createServer } = await load('../../../../dist/index.js')

const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'group', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
}

const headers = {
  'Content-Type': 'application/json', 'Accept': 'application/json, text/event-stream',
  'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'execute_desk_workflow',
}

for (const mode of ['parallel', 'sequence']) {
  const what = `in a ${mode} group no tool runs twice, and no model is asked twice`
  test(what, { skip, timeout: 120_000 }, async (t) => {
    const model = await startModel()
    const booked = []
    const make = (id) => new ToolLoopAgent({
      id,
      model: createOpenAICompatible({ name: 'fake', baseURL: model.url })('fake'),
      tools: {
        book: tool({
          description: 'Books a room.', inputSchema: z.object({ city: z.string() }), needsApproval: true,
          execute() {
            booked.push(id)
            // So that the next one of a sequence books too.
            return `(book) for ${id}`
          },
        }),
      },
    })
    const server = createServer({
      groups: [{ name: 'Desk', mode, agents: [make('one'), make('two')] }],
      protocol: 'mcp', log: false, graceMs: 0,
    })
    const { url } = await server.listen(0)
    t.after(async () => {
      await server.close()
      await model.close()
    })
    let more = {}
    for (;;) {
      const params = { name: 'execute_desk_workflow', arguments: { query: '(book)' }, _meta, ...more }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      const { result } = await (await fetch(`${url}/mcp`, { method: 'POST', headers, body })).json()
      if (result.resultType === 'complete') {
        assert.match(result.content[0].text, /\(book\) for two/)
        break
      }
      const answers = Object.keys(result.inputRequests)
        .map((key) => [key, { action: 'accept', content: { approve: true } }])
      more = { requestState: result.requestState, inputResponses: Object.fromEntries(answers) }
    }
    assert.deepEqual([booked, model.requests.length], [['one', 'two'], 4])
  })
}
