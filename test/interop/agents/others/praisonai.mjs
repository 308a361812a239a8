/** Agents of PraisonAI: one text in, one text out, and prints beside it. Needs `npm ci` here. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { guideProgram } from '../guide.mjs'
import { matrix, missing, versionOf } from '../matrix.mjs'
import { startModel } from '../model.mjs'

const skip = missing(import.meta.url, 'praisonai')

// The address of its model is read when it is imported.
async function agent(url, options) {
  Object.assign(process.env, { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: url })
  const { Agent } = await import('praisonai')
  return new Agent({ name: 'helper', instructions: 'Help.', verbose: false, ...options })
}

matrix({
  framework: 'PraisonAI', version: versionOf(import.meta.url, 'praisonai'), skip,
  agents: { plain: (url) => agent(url) },
  without: {
    stream: 'it prints its pieces to standard output, and gives them to nobody',
    history: 'it takes one text: earlier messages stand in that',
    abort: 'it takes no signal',
    files: 'it takes one text',
    usage: 'it does not say it',
  },
  returns: { 'chat()': (one, prompt) => one.chat(prompt), 'start()': (one, prompt) => one.start(prompt) },
})

const title = 'PraisonAI: what it prints is not among the protocol on standard output'
test(title, { skip, timeout: 120_000 }, async (t) => {
  const model = await startModel()
  t.after(() => model.close())
  const file = fileURLToPath(new URL('served/praisonai.mjs', import.meta.url))
  const command = fileURLToPath(new URL('../../../../dist/cli.js', import.meta.url))
  const child = spawn(process.execPath, [command, '--stdio', file], {
    env: { ...process.env, OPENAI_API_KEY: 'key', OPENAI_BASE_URL: model.url },
  })
  t.after(() => child.kill('SIGKILL'))
  const printed = { output: '', errors: '' }
  child.stdout.on('data', (chunk) => { printed.output += chunk })
  child.stderr.on('data', (chunk) => { printed.errors += chunk })
  const clientInfo = { name: 'test', version: '1' }
  const name = 'execute_helper_task'
  const messages = [
    { id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } },
    { id: 1, method: 'tools/call', params: { name, arguments: { prompt: 'Good day' } } },
  ]
  child.stdin.end(messages.map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join(''))
  await once(child, 'close')
  const answers = printed.output.trimEnd().split('\n').map((line) => JSON.parse(line))
  assert.deepEqual(answers.map(({ id }) => id), [0, 1])
  assert.equal(answers[1].result.content[0].text, 'You said Good day.')
  assert.match(printed.errors, /printed by the import/)
  assert.match(printed.errors, /You said Good day\./)
})

guideProgram(import.meta.url, 'praisonai', { skip })
