/**
 * Codex as it comes, with an agent as its model over Responses: it says hello, goes on, runs a command, and
 * calls a tool of an MCP server. It is a program of 320 MB, in a folder of its own.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { shows } from '../clients.mjs'
import { QUESTION, THOUGHT } from '../weather.mjs'

const program = fileURLToPath(new URL('node_modules/@openai/codex/bin/codex.js', import.meta.url))
const skip = existsSync(program) ? false : 'the package is not installed: cd test/interop/codex && npm ci'
if (skip) console.log(`codex: skipped: ${skip}`)
const { createServer, Fault } = await import('../../../dist/index.js')

/** The tool that each prompt is answered by, and its arguments. */
const wanted = {
  'Run it': [/^exec_command$/, { cmd: 'echo it ran' }],
  'What time is it?': [/now$/, {}],
  'Which city?': [/where$/, {}],
}

/** What it has asked to be answered with. */
const accepted = new Set()
/** How often the agent has refused a prompt. */
let refusals = 0

/** Calls the tool that is wanted, and says what it was asked, and how often it has said so before. */
const agent = {
  name: 'Coder',
  async* run(prompt, call) {
    const { clientTools, clientToolResults: [done], history } = call
    if (prompt === 'Refuse') {
      refusals += 1
      throw new Fault('invalid', 'There is no such city')
    }
    accepted.add(call.headers.get('accept'))
    call.event({ type: 'reasoning', text: THOUGHT })
    const [name, args] = wanted[prompt] ?? []
    const tool = clientTools.find((one) => name?.test(one.name))
    if (tool !== undefined && done === undefined) return yield { toolCalls: [{ name: tool.name, args }] }
    const said = history.filter(({ role, content }) => role === 'assistant' && content.startsWith('You said'))
    yield `You said ${prompt}, after ${said.length}.`
    if (done !== undefined) yield ` ${done.name}: ${done.result}`
  },
}

const now = {
  name: 'now', description: 'Tells the time.', annotations: { readOnlyHint: true }, run: () => 'Noon.',
}

/** Codex lets a program that nobody sits at decline what it is asked. */
const where = {
  name: 'where', description: 'Asks where.', annotations: { readOnlyHint: true },
  async run(_args, call) {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    return (await call.elicit({ message: QUESTION, schema })).action
  },
}

/** Serves the agent and the tools. Returns what asks Codex, for its exit code and its events. */
async function open(t) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'triport-codex-')))
  const tools = [now, where]
  const server = createServer({ agents: [agent], tools, protocol: 'all', log: false, graceMs: 0 })
  const { url } = await server.listen(0)
  t.after(async () => {
    await server.close()
    rmSync(home, { recursive: true, force: true })
  })
  const folder = join(home, 'project')
  mkdirSync(folder)
  writeFileSync(join(home, 'config.toml'), `
model = "coder"
model_provider = "triport"
[model_providers.triport]
name = "triport"
base_url = "${url}/v1"
wire_api = "responses"
[mcp_servers.clock]
url = "${url}/mcp"
`)
  return async (prompt, ...resume) => {
    const args = [program, 'exec', ...resume, '--skip-git-repo-check', '--json', prompt]
    const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: home }
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    t.signal.addEventListener('abort', () => child.kill('SIGKILL'))
    let [out, error] = ['', '']
    child.stdout.on('data', (chunk) => { out += chunk })
    child.stderr.on('data', (chunk) => { error += chunk })
    const code = await new Promise((resolve) => { child.on('close', resolve) })
    return { code, error, events: out.trim().split('\n').map((line) => JSON.parse(line)) }
  }
}

const itemsOf = (events, type) => events.flatMap(({ type: event, item }) => (
  event === 'item.completed' && item.type === type ? [item] : []
))
const textOf = (events) => itemsOf(events, 'agent_message').at(-1)?.text

test('Codex says hello, goes on, runs a command and calls a tool', { skip, timeout: 120_000 }, async (t) => {
  shows(t, 'codex', 'two turns', 'tool', 'reasoning', 'stream')
  const run = await open(t)
  const ask = async (...args) => {
    const { code, error, events } = await run(...args)
    assert.equal(code, 0, JSON.stringify(events) + error)
    return events
  }
  const first = await ask('Hello')
  assert.equal(textOf(first), 'You said Hello, after 0.')
  assert.deepEqual(itemsOf(first, 'reasoning').map(({ text }) => text), [THOUGHT])
  const second = await ask('Run it', 'resume', '--last')
  const [command] = itemsOf(second, 'command_execution')
  assert.match(command.aggregated_output, /it ran/)
  assert.match(textOf(second), /^You said Run it, after 1\. exec_command: .*it ran/s)
  const third = await ask('What time is it?', 'resume', '--last')
  assert.match(textOf(third), /^You said What time is it\?, after 2\. \w+__now: .*Noon\./s)
  assert.deepEqual([...accepted], ['text/event-stream'])
})

test('Codex is asked, and told of an error once', { skip, timeout: 120_000 }, async (t) => {
  shows(t, 'codex', 'question', 'error')
  const run = await open(t)
  const { events: asked } = await run('Which city?')
  assert.match(textOf(asked), /^You said Which city\?, after 0\. \w+__where: .*decline/s)
  const { code, events } = await run('Refuse')
  const { type, error } = events.at(-1)
  assert.deepEqual([code, type, refusals], [1, 'turn.failed', 1])
  assert.match(error.message, /There is no such city/)
})
