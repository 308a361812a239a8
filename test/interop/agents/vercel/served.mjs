/** Agents as the command serves them: a module whose default they are, over HTTP, and over stdio. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { addressOf } from '../listening.mjs'
import { missing } from '../matrix.mjs'
import { startModel } from '../model.mjs'

const packages = ['ai', 'ai5', 'ai7', '@ai-sdk/openai', '@mastra/core', 'mastra-0', '@voltagent/core']
const untyped = missing(import.meta.url, ...packages)

test('agents and results of the real packages compile', { skip: untyped, timeout: 120_000 }, () => {
  const at = (path) => fileURLToPath(new URL(path, import.meta.url))
  const { stdout, stderr } = spawnSync(process.execPath, [
    at('../../../../node_modules/typescript/bin/tsc'), '--ignoreConfig', '--noEmit', '--strict',
    '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023', '--types', 'node', at('types.mts'),
  ], { encoding: 'utf8' })
  assert.equal(stdout + stderr, '')
})

const command = fileURLToPath(new URL('../../../../dist/cli.js', import.meta.url))

const modules = [
  ['ai7', `import { ToolLoopAgent } from 'ai7'
import { openai } from '@ai-sdk/openai'
export default new ToolLoopAgent({ model: openai('fake'), maxRetries: 0 })`],
  ['@mastra/core', `import { Agent } from '@mastra/core/agent'
export default new Agent({ id: 'helper', name: 'Helper', instructions: 'Help.', model: 'openai/fake' })`],
  ['@voltagent/core', `import { Agent } from '@voltagent/core'
export default new Agent({ name: 'Helper', instructions: 'Help.', model: 'openai/fake', maxRetries: 0 })`],
]

for (const [name, text] of modules) {
  const skip = missing(import.meta.url, name, '@ai-sdk/openai')

  /** Starts the command with a module that has an agent as its default. */
  async function serve(t, ...flags) {
    const own = `.served-${name.replaceAll('/', '-')}${flags.length}.mjs`
    const file = fileURLToPath(new URL(own, import.meta.url))
    writeFileSync(file, text)
    const model = await startModel()
    const child = spawn(process.execPath, [command, 'serve', file, ...flags], {
      env: { ...process.env, OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: model.url },
    })
    t.after(async () => {
      child.kill('SIGKILL')
      rmSync(file, { force: true })
      await model.close()
    })
    return child
  }

  const options = { skip, timeout: 120_000 }
  test(`triport serve takes an agent of ${name} as the default of a module`, options, async (t) => {
    const child = await serve(t, '--port', '0')
    const { url, said } = await addressOf(child)
    const headers = { 'Content-Type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body: '{"query":"Good day"}' })
    assert.equal((await response.json()).response, 'You said Good day.', said())
  })

  test(`over stdio an agent of ${name} writes nothing but messages`, options, async (t) => {
    const child = await serve(t, '--stdio')
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    let id = 0
    const ask = async (method, params) => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`)
      const message = JSON.parse((await lines.next()).value)
      assert.equal(message.id, id, JSON.stringify(message))
      return message.result
    }
    const clientInfo = { name: 'test', version: '1.0.0' }
    await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
    const { tools: [tool] } = await ask('tools/list', {})
    for (const [prompt, isError] of [['Good day', undefined], ['(401)', true]]) {
      const result = await ask('tools/call', { name: tool.name, arguments: { prompt } })
      assert.equal(result.isError, isError, JSON.stringify(result))
    }
  })
}
