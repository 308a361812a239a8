/** Methods that are loaded when one is first called: the order of these tests is the order of the loading. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { serveStdio } from '../../../lib/index.ts'
import { eventually } from '../../fixtures/client.ts'
import { withMeta } from './client.ts'
import { capabilities } from '../mcp-tasks/task-client.ts'

test('a call that is cancelled before its method is loaded does not run', async () => {
  let runs = 0
  const input = new PassThrough()
  const output = new PassThrough()
  const tools = [{ name: 'work', task: 'optional' as const, run: () => `${++runs}` }]
  const over = serveStdio({ tools }, { input, output, log: false, graceMs: 20 })
  const params = withMeta({ name: 'work', arguments: {} }, { capabilities })
  const lines = [
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
  ]
  input.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const second = { jsonrpc: '2.0', id: 2, method: 'tools/call', params }
  await new Promise((resolve) => setImmediate(resolve))
  input.write(`${JSON.stringify(second)}\n`)
  let text = ''
  output.on('data', (piece) => { text += String(piece) })
  await eventually(() => text.includes('"id":2'), 'the second call is answered')
  assert.match(text, /^{"jsonrpc":"2.0","id":2,[^\n]*\n$/)
  assert.equal(runs, 1)
  input.end()
  await over
})
