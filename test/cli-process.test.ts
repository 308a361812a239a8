/** The command as a process: its streams, and what it outlives. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { test } from './fixtures/at-once.ts'
import { answersIn, call, linesFor, opening } from './fixtures/command-lines.ts'
import { ask, program, run, serve } from './fixtures/command.ts'
import { modules } from './fixtures/modules.ts'

/** A disk that is always full, where the system has one. */
const FULL = { path: '/dev/full', absent: existsSync('/dev/full') ? false : 'there is no /dev/full' }

test('--acp serves an editor, and nothing else is printed', async (t) => {
  const folder = modules(t, { 'agent.mjs': `console.log('loud')\nexport default (prompt) => prompt` })
  const host = run(t, ['serve', '--acp', join(folder, 'agent.mjs')])
  const params = { protocolVersion: 1 }
  host.child.stdin!.end(linesFor([
    { jsonrpc: '2.0', id: 1, method: 'initialize', params },
    { jsonrpc: '2.0', id: 2, method: 'session/new', params: { cwd: '/', mcpServers: [] } },
  ]))
  assert.equal(await host.ended, 0)
  assert.match(JSON.stringify(answersIn(host)), /"protocolVersion":1.*"sessionId":"[\w-]+"/)
  assert.match(host.said(), /loud/)
})

test('what an agent leaves lying about does not end the process', async (t) => {
  const folder = modules(t, {
    'careless.mjs': `export default (prompt) => {
      if (prompt === 'reject') Promise.reject(new Error('forgotten'))
      if (prompt === 'throw') setTimeout(() => { throw new Error('later') })
      return 'fine'
    }`,
  })
  const { url, until } = await serve(t, [join(folder, 'careless.mjs')])
  await ask(url, 'reject')
  await until(/error A promise was rejected that no code handles\n {2}Error: forgotten\n/)
  await ask(url, 'throw')
  await until(/error An error was thrown that no code catches\n {2}Error: later\n/)
  assert.equal((await ask(url))['response'], 'fine')
})

test('a reader that closes its end of the output does not end the server', async (t) => {
  const folder = modules(t, {
    'chatty.mjs': `export default (prompt) => { console.log(prompt); console.error(prompt); return prompt }`,
  })
  const { url, child, ended } = await serve(t, [join(folder, 'chatty.mjs')])
  child.stdout!.destroy()
  child.stderr!.destroy()
  for (let count = 0; count < 10; count++) assert.equal((await ask(url))['response'], 'hi')
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
})

test('what cannot be printed is said, and by the exit code', { skip: FULL.absent }, async (t) => {
  const folder = modules(t, { 'fine.mjs': 'export default () => 1' })
  const check = ['check', join(folder, 'fine.mjs')]
  for (const args of [['--version'], ['help', 'mcp'], ['vendor', '--help'], check]) {
    const full = openSync(FULL.path, 'w')
    t.after(() => closeSync(full))
    const { status, stderr } = spawnSync(process.execPath, [program, ...args], {
      stdio: ['ignore', full, 'pipe'], encoding: 'utf8',
    })
    assert.equal(status, 1, args.join(' '))
    assert.match(stderr, /^triport: ENOSPC: .*; make room there, or name another place\n$/)
  }
})

/** Ways to print that do not ask the stream, or that have kept it. */
const STUBBORN = `import { createWriteStream, write as writeTo, writeFileSync, writeSync } from 'node:fs'
  import { createRequire } from 'node:module'
  const fs = createRequire(import.meta.url)('node:fs')
  const { stdout } = process
  const kept = Object.getPrototypeOf(Object.getPrototypeOf(stdout)).write.bind(stdout)
  const stream = createWriteStream('', { fd: 1, autoClose: false })
  export default async (prompt) => {
    kept('kept write\\n')
    writeSync(1, 'writeSync\\n')
    writeFileSync(1, 'writeFileSync\\n')
    fs.appendFileSync(1, 'appendFileSync\\n')
    await new Promise((resolve) => writeTo(1, Buffer.from('write\\n'), resolve))
    await fs.promises.writeFile('/dev/null', 'x')
    await new Promise((resolve) => stream.write('stream of its own\\n', resolve))
    stdout.cork()
    stdout.write('corked ')
    stdout.write('twice\\n')
    stdout.uncork()
    stdout.end('the end\\n')
    return 'You said ' + prompt
  }`

test('nothing that a module prints in whatever way comes among the protocol', async (t) => {
  const file = join(modules(t, { 'stubborn.mjs': STUBBORN }), 'stubborn.mjs')
  const host = run(t, [file, '--stdio'])
  host.child.stdin!.end(linesFor([...opening, call(1), call(2)]))
  assert.equal(await host.ended, 0)
  // Both calls wait for files, and either may be first.
  assert.deepEqual(answersIn(host).map(({ id }) => Number(id)).toSorted(), [0, 1, 2])
  assert.match(JSON.stringify(answersIn(host)[2]), /You said hi/)
  for (const noise of [
    'kept write', 'writeSync', 'writeFileSync', 'appendFileSync', 'write', 'stream of its own',
    'corked twice', 'the end',
  ]) {
    assert.ok(host.said().includes(`${noise}\n`), noise)
  }
})

test('on standard input and output it serves MCP alone, and ends with its input', async (t) => {
  const folder = modules(t, {
    'chatty.mjs': `console.log('noise at import')
      process.stdout.write('more of it\\n')
      setInterval(() => {}, 1_000)
      const { createServer } = await import('node:net')
      createServer().listen(0, '127.0.0.1')
      export default (prompt) => { console.log('noise in a call'); return 'You said ' + prompt }`,
  })
  const chatty = join(folder, 'chatty.mjs')
  for (const args of [['serve', chatty, '--stdio'], ['--stdio', chatty]]) {
    const host = run(t, args)
    // The last line has no line feed.
    host.child.stdin!.end(linesFor([...opening, call(1)]).trimEnd())
    assert.equal(await host.ended, 0)
    assert.deepEqual(answersIn(host).map(({ id }) => id), [0, 1])
    assert.match(JSON.stringify(answersIn(host)[1]), /You said hi/)
    for (const noise of ['noise at import', 'more of it', 'noise in a call']) {
      assert.ok(host.said().includes(noise), noise)
    }
  }
})
