/** Agents of LlamaIndex. Needs `npm ci` here. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { guideProgram } from '../guide.mjs'
import { matrix, missing, versionOf } from '../matrix.mjs'
import { startModel } from '../model.mjs'

const skip = missing(import.meta.url, '@llamaindex/workflow', '@llamaindex/openai')
const { agent } = skip ? {} : await import('@llamaindex/workflow')
const { openai } = skip ? {} : await import('@llamaindex/openai')
const { tool } = skip ? {} : await import('@llamaindex/core/tools')

const make = (tools) => (url) => agent({
  name: 'helper', systemPrompt: 'Help.', tools,
  llm: openai({ model: 'gpt-4o', apiKey: 'key', baseURL: url, maxRetries: 0 }),
})
const weather = skip ? undefined : tool({
  name: 'weather', description: 'The weather.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  execute: ({ city }) => `sunny in ${city}`,
})

matrix({
  framework: 'LlamaIndex', version: versionOf(import.meta.url, '@llamaindex/workflow'), skip,
  agents: { plain: make([]), tools: make([weather]) },
  without: {
    abort: 'it takes no signal: its run ends with the next piece',
    usage: 'it does not say it',
  },
})

// A run of theirs that fails rejects what nobody handles, and never ends.
const title = 'LlamaIndex: a result may be returned; where its model fails, the time limit ends the call'
test(title, { skip, timeout: 120_000 }, async (t) => {
  const model = await startModel()
  t.after(() => model.close())
  const file = fileURLToPath(new URL('served/llamaindex.mjs', import.meta.url))
  const command = fileURLToPath(new URL('../../../../dist/cli.js', import.meta.url))
  const child = spawn(process.execPath, [command, 'serve', file, '--port', '0'], {
    env: { ...process.env, OPENAI_BASE_URL: model.url },
  })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  const url = await new Promise((resolve, reject) => {
    child.on('exit', () => reject(new Error(said)))
    child.stderr.on('data', (chunk) => {
      said += chunk
      const [, address] = / at (http:\/\/\S+) /.exec(said) ?? []
      if (address !== undefined) resolve(address)
    })
  })
  const ask = async (agent, query) => {
    const headers = { 'Content-Type': 'application/json' }
    const body = JSON.stringify({ query })
    const response = await fetch(`${url}/agents/${agent}`, { method: 'POST', headers, body })
    return { status: response.status, text: (await response.json()).response }
  }
  for (const agent of ['run', 'stream']) {
    assert.deepEqual(await ask(agent, 'Good day'), { status: 200, text: 'You said Good day.' })
    assert.equal((await ask(agent, '(500)')).status, 504)
    assert.deepEqual(await ask(agent, 'Good day'), { status: 200, text: 'You said Good day.' })
  }
  assert.match(said, /rejected that no code handles/)
})

guideProgram(import.meta.url, '@llamaindex/workflow', { skip })
