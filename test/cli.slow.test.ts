/** Command lines that start many processes, or send one more than its client reads. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { eventually } from './fixtures/client.ts'
import { ask, environment, program, run, serve } from './fixtures/command.ts'
import { modules } from './fixtures/modules.ts'
import { FINE, call, linesFor, linesOf, opening } from './fixtures/command-lines.ts'

/** Command lines for one module, and the environment that some need. */
const commandLines: readonly (readonly [args: readonly string[], env?: Record<string, string>])[] = [
  [['serve', 'agent.mjs', '--port', '0']],
  [['agent.mjs', '--port', '0']],
  [['--port=0', './agent.mjs']],
  [['--port', '0', 'serve', 'agent.cjs']],
  [['agent.mjs'], { PORT: '0' }],
  [['agent.mjs', '--port', '0'], { PORT: '1' }],
  [['agent.mjs', '--port', '0'], { PORT: 'none', HOST: 'localhost' }],
  [['agent.mjs', '--port', '0', '--host', '127.0.0.1'], { HOST: 'no.such.host.invalid' }],
]

test('a module is served with the word serve and without it, on the port that is asked for', async (t) => {
  const folder = modules(t, {
    'agent.mjs': `export default (prompt) => 'You said ' + prompt`,
    'agent.cjs': `module.exports = (prompt) => 'You said ' + prompt`,
  })
  await Promise.all(commandLines.map(async ([args, env]) => {
    const { child, ended, until } = run(t, args, env, folder)
    const [, url = ''] = await until(/ at (http:\S+)  \(docs: /)
    assert.equal((await ask(url))['response'], 'You said hi', args.join(' '))
    child.kill('SIGTERM')
    assert.equal(await ended, 0, args.join(' '))
  }))
})

const starts: readonly (readonly [what: string, args: readonly string[], env: Record<string, string>])[] = [
  ['without a key', [], {}],
  ['with a key of its own', ['--host', '0.0.0.0'], {}],
  ['with a given key', [], { TRIPORT_API_KEY: 'a key' }],
  ['with names', ['--host', '0.0.0.0', '--insecure', '--allowed-hosts', 'agents.example'], {}],
  ['with an address',
    ['--host', '0.0.0.0', '--insecure', '--public-url', 'https://agents.example:8443/'], {}],
]

test('the lines that a start prints work as they are', async (t) => {
  if (spawnSync('curl', ['--version']).status !== 0) return t.skip('this machine has no curl')
  const folder = modules(t, { 'fine.mjs': FINE })
  for (const [what, args, env] of starts) {
    const { said, url } = await serve(t, [join(folder, 'fine.mjs'), '--protocol', 'all', ...args], env)
    const lines = linesOf(said())
    assert.equal(lines.length, 3, what)
    const options = { env: { ...process.env, ...env }, encoding: 'utf8' } as const
    const answers = lines.map((line) => spawnSync('sh', ['-c', `${line} -s`], options).stdout)
    assert.match(answers[0]!, /"response":"You said hello"/, what)
    assert.match(answers[1]!, /"name":"execute_assistant_task"/, what)
    assert.match(answers[2]!, /"text":"You said hello"/, what)
    const [, docs = ''] = /\(docs: (.*)\)$/m.exec(said()) ?? []
    assert.match(docs, /\/docs$/)
    if (docs.startsWith(url)) assert.equal((await fetch(docs)).status, 200)
    else assert.match(docs, /^https?:\/\/agents\.example:\d+\/docs$/)
  }
})

test('a client that does not read does not make the process grow', async (t) => {
  const folder = modules(t, { 'large.mjs': `export default () => 'x'.repeat(100_000)` })
  const child = spawn(process.execPath, [program, 'serve', join(folder, 'large.mjs'), '--stdio'], {
    env: environment, stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  // More than the buffers between two processes hold.
  const calls = Array.from({ length: 2_000 }, (_, id) => call(id + 1, 'y'.repeat(1_000)))
  child.stdin.write(linesFor([...opening, ...calls]))
  // It stands still when nothing more is taken, from here and by this process.
  let left = -1
  let still = 0
  await eventually(() => {
    still = left === child.stdin.writableLength ? still + 1 : 0
    left = child.stdin.writableLength
    return still > 200
  }, 'an end of reading')
  assert.ok(left > 0, 'all was read from a client that does not read')
  if (process.platform === 'linux') {
    const [, peakKiB = ''] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
    assert.ok(Number(peakKiB) < 160 * 1024, `it took ${peakKiB} KiB`)
  }
  let bytes = 0
  child.stdout.on('data', (chunk) => { bytes += chunk.length })
  child.stdin.end()
  assert.equal(await new Promise((resolve) => child.on('close', resolve)), 0)
  assert.ok(bytes > 2_000 * 100_000, `${bytes} bytes were answered`)
})
