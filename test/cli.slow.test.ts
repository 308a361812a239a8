/** Command lines that start many processes, or send one more than its client reads. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { eventually, jsonOf } from './fixtures/client.ts'
import { answersIn, call, FINE, linesFor, linesOf, opening } from './fixtures/command-lines.ts'
import { ask, environment, program, run, serve } from './fixtures/command.ts'
import { modules } from './fixtures/modules.ts'

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

test('what the flags say is what is served', async (t) => {
  const folder = modules(t, { 'fine.mjs': FINE })
  const fine = join(folder, 'fine.mjs')
  const keyed = await serve(
    t, [fine, '--api-key', 'k', '--path', '/ask', '--public-url', 'https://agents.example'],
  )
  assert.equal((await ask(`${keyed.url}/ask`))['status'], 401)
  assert.equal((await ask(`${keyed.url}/ask`, 'hi', { 'x-api-key': 'k' }))['response'], 'You said hi')
  const described = await fetch(`${keyed.url}/openapi.json`, { headers: { 'x-api-key': 'k' } })
  assert.deepEqual((await jsonOf(described))['servers'], [{ url: 'https://agents.example' }])
  const fromEnvironment = await serve(t, [fine], { TRIPORT_API_KEY: 'e' })
  assert.equal((await ask(fromEnvironment.url))['status'], 401)
  assert.equal(
    (await ask(fromEnvironment.url, 'hi', { authorization: 'Bearer e' }))['response'], 'You said hi',
  )
  const open = await serve(t, [fine, '--host', '0.0.0.0', '--insecure'], { TRIPORT_API_KEY: '' })
  assert.equal((await ask(open.url))['response'], 'You said hi')
  const listed = await serve(
    t, [fine, '--host', '0.0.0.0', '--insecure', '--allowed-hosts', 'agents.example, other.example'],
  )
  assert.equal((await fetch(`${listed.url}/docs`)).status, 403)
})

test('a signal closes in order, a second one at once', async (t) => {
  const folder = modules(t, {
    'slow.mjs': `export default (prompt) => {
      console.error('called')
      return new Promise((resolve) => setTimeout(resolve, 300, prompt))
    }`,
    'never.mjs': `export default () => { console.error('called'); return new Promise(() => {}) }`,
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const slow = await serve(t, [join(folder, 'slow.mjs')])
    const answer = ask(slow.url, 'in time')
    await slow.until(/called/)
    slow.child.kill(signal)
    assert.equal((await answer)['response'], 'in time', signal)
    assert.equal(await slow.ended, 0, signal)
    const never = await serve(t, [join(folder, 'never.mjs')])
    const lost = ask(never.url).catch(() => undefined)
    await never.until(/called/)
    never.child.kill(signal)
    await never.until(/^triport: waiting for 1 call; a second signal stops at once$/m)
    never.child.kill(signal)
    assert.equal(await never.ended, signal === 'SIGINT' ? 130 : 143)
    await lost
  }
})

const SLOW = `setInterval(() => {}, 1_000)
  export default (prompt, call) => new Promise((resolve) => {
    process.stderr.write('called\\n')
    call.signal.addEventListener('abort', () => process.stderr.write('aborted\\n'))
    if (prompt !== 'never') process.stdin.once('end', () => resolve('at last'))
    process.once('SIGUSR2', () => resolve('at last'))
  })`

test('a signal on standard input and output lets calls end, and answers them', async (t) => {
  const folder = modules(t, { 'slow.mjs': SLOW })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const host = run(t, ['serve', join(folder, 'slow.mjs'), '--stdio'])
    host.child.stdin!.write(linesFor([...opening, call(1)]))
    await host.until(/called/)
    host.child.kill(signal)
    await host.until(/waiting for 1 call/)
    host.child.kill('SIGUSR2')
    assert.equal(await host.ended, 0, signal)
    assert.match(JSON.stringify(answersIn(host)), /at last/)
    assert.doesNotMatch(host.said(), /aborted/)
  }
})

test('at the end of input calls come to their end; a signal then cancels them, with an answer', async (t) => {
  const folder = modules(t, { 'slow.mjs': SLOW })
  const host = run(t, ['serve', join(folder, 'slow.mjs'), '--stdio'])
  host.child.stdin!.end(linesFor([...opening, call(1), call(2, 'never')]))
  await eventually(() => host.printed().includes('at last'), 'the first answer')
  host.child.kill('SIGTERM')
  assert.equal(await host.ended, 0)
  assert.match(host.said(), /aborted/)
  const answers = answersIn(host)
  assert.deepEqual(answers.map(({ id }) => id), [0, 1, 2])
  assert.match(JSON.stringify(answers.at(-1)), /"error":.*The server is closing down/)
})

test('a client that closes its end of the output ends the process quietly', async (t) => {
  const folder = modules(t, { 'slow.mjs': SLOW })
  const host = run(t, ['serve', join(folder, 'slow.mjs'), '--stdio'])
  host.child.stdin!.on('error', () => {})
  host.child.stdin!.write(linesFor([...opening, call(1, 'never')]))
  await host.until(/called/)
  host.child.stdout!.destroy()
  host.child.stdin!.write(linesFor([{ id: 2, method: 'ping' }]))
  assert.equal(await host.ended, 0)
  assert.equal(host.said(), 'called\naborted\n')
})
