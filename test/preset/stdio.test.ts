/** What one client on standard input and output gets of the preset, and how it ends. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { serveStdio } from '../../lib/index.ts'
import { echo, eventually, gate, serve } from '../fixtures/client.ts'
import { slowly, slowStore } from '../fixtures/slow-store.ts'
import { modern, withMeta } from '../parts/mcp/client.ts'
import type { Store } from '../../lib/index.ts'

const empty = { type: 'object' } as const

test('the end of a task is written before a store is closed, over sockets and over lines', async (t) => {
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
  const params = { name: 'job', arguments: {} }
  const jobOf = (run: () => Promise<string>) => (
    { name: 'job', description: 'Works.', inputSchema: empty, task: 'required', run } as const
  )
  const ways: readonly ((store: Store, run: () => Promise<string>) => Promise<() => Promise<void>>)[] = [
    async (store, run) => {
      const server = serve(t, { tools: [jobOf(run)], protocol: 'mcp', store, ...slowly })
      await (await modern(server, 'tools/call', params, { capabilities })).text()
      return () => server.close()
    },
    async (store, run) => {
      const [input, output] = [new PassThrough(), new PassThrough()]
      const over = serveStdio({ tools: [jobOf(run)] }, {
        input, output, log: false, secret: 'the secret of all servers', store, graceMs: 0, ...slowly,
      })
      const whole = withMeta(params, { capabilities })
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: whole })}\n`)
      await once(output, 'data')
      return () => {
        input.end()
        return over
      }
    },
  ]
  for (const [at, way] of ways.entries()) {
    const { store, done } = slowStore()
    const held = gate<string>()
    const close = await way(store, () => held.promise)
    const begun = done.filter((one) => one === 'write tasks').length
    held.open('done')
    await new Promise(setImmediate)
    await close()
    assert.ok(done.filter((one) => one === 'write tasks').length > begun, `${at}: ${done.join()}`)
    for (const one of ['remove runs', 'remove leases', 'remove members']) assert.ok(done.includes(one), one)
    assert.equal(done.at(-1), 'close', `${at}: ${done.join()}`)
  }
})

test('sessions of an editor are kept for a month, or as long as was said', async () => {
  for (const [options, ms] of [[{}, 30 * 86_400_000], [{ conversationIdleMs: 60_000 }, 60_000]] as const) {
    const { store, keptMs } = slowStore()
    const [input, output] = [new PassThrough(), new PassThrough()]
    const over = serveStdio(echo, {
      protocol: 'acp', input, output, log: false, secret: 'the secret of all servers', store, ...slowly,
      ...options,
    })
    const lines: string[] = []
    output.on('data', (chunk) => lines.push(...String(chunk).trim().split('\n')))
    const ask = async (id: number, method: string, params: object): Promise<Record<string, string>> => {
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      const answer = (): string | undefined => lines.find((line) => JSON.parse(line).id === id)
      await eventually(() => answer() !== undefined)
      return JSON.parse(answer()!).result
    }
    await ask(1, 'initialize', { protocolVersion: 1, clientCapabilities: {} })
    const { sessionId } = await ask(2, 'session/new', { cwd: process.cwd(), mcpServers: [] })
    await ask(3, 'session/prompt', { sessionId, prompt: [{ type: 'text', text: 'hi' }] })
    input.end()
    await over
    const kept = [...keptMs].filter(([name]) => !['deployments', 'members', 'leases'].includes(name))
    assert.ok(kept.length > 0)
    assert.deepEqual(new Set(kept.map(([, keepMs]) => keepMs)), new Set([ms]))
  }
})

test('only standard input takes the signals of a process, where nothing else is said', async () => {
  const count = (): number => process.listenerCount('SIGINT') + process.listenerCount('SIGTERM')
  const before = count()
  for (const [signals, more] of [[undefined, 0], [false, 0], [true, 2]] as const) {
    const input = new PassThrough()
    const over = serveStdio(echo, { input, output: new PassThrough(), log: false, signals })
    await new Promise(setImmediate)
    await eventually(() => count() === before + more)
    input.end()
    await over
    assert.equal(count(), before)
  }
})

test('standard output is for the protocol alone, named or not, and ends in order', async () => {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const library = new URL(`../../lib/index.${extension}`, import.meta.url)
  for (const output of ['', 'output: process.stdout, ']) {
    const code = `import { memoryStore, serveStdio } from ${JSON.stringify(library)}
      process.on('exit', (code) => console.error('exit ' + code))
      setInterval(() => {}, 1_000)
      const run = async () => {
        process.stdout.end('noise of a module\\n')
        process.stdout.write('which does not know of its end')
        setTimeout(() => process.kill(process.pid, 'SIGTERM'))
        await new Promise((resolve) => process.once('SIGTERM', () => setTimeout(resolve, 50)))
        return 'in time'
      }
      const tools = [{ name: 'job', description: 'Works.', inputSchema: { type: 'object' }, run }]
      const close = () => console.error('closed')
      await serveStdio({ tools }, { ${output}log: false, store: { ...memoryStore(), close } })`
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { timeout: 30_000 })
    let [said, warned] = ['', '']
    child.stdout.on('data', (chunk) => { said += String(chunk) })
    child.stderr.on('data', (chunk) => { warned += String(chunk) })
    const asked = {
      jsonrpc: '2.0', id: 1, method: 'tools/call', params: withMeta({ name: 'job', arguments: {} }),
    }
    child.stdin.write(`${JSON.stringify(asked)}\n`)
    const [exitCode] = await once(child, 'close')
    assert.equal(exitCode, 0)
    assert.equal(JSON.parse(said).result.content[0].text, 'in time')
    assert.match(warned, /^noise of a module\n.*waiting for 1 call;.*\nclosed\nexit 0\n$/)
  }
})
