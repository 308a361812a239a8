/** What rounds hold on the server, of a whole heap. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { keptBytes } from '../../fixtures/heap.ts'
import { ask, serveMcp } from './client.ts'
import { form } from '../mcp-tasks/task-client.ts'

const able = { capabilities: { elicitation: {}, sampling: {}, roots: {} } }

test('a round keeps nothing on the server', async (t) => {
  const server = serveMcp(t, {
    secret: 'a secret of enough characters',
    maxStateBytes: 4_096,
    tools: [{
      name: 'hello', description: 'Asks once.', inputSchema: { type: 'object' }, async run(_args, call) {
        const { content } = await call.elicit({ key: 'who', message: 'Who?', schema: form })
        return `Hello ${String(content?.['name'])}`
      },
    }],
  })
  const first = async (): Promise<void> => {
    const { result } = await ask(server, 'tools/call', { name: 'hello', arguments: {} }, able)
    assert.equal(result.resultType, 'input_required')
  }
  const timers = (): number => process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length
  const before = timers()
  const kept = await keptBytes(1_000, () => first())
  assert.ok(kept < 450, `${Math.round(kept)} bytes are kept of each round`)
  assert.ok(timers() <= before + 1)
})
