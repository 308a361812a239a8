/**
 * The programs of the guide that need a server: two processes of each, on real ones, and a conversation that
 * both continue. Skipped where a server or its client is missing.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { noPostgres, noRedis, startPostgres, startRedis, until } from './servers.mjs'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const chapter = readFileSync(at('../../../lib/guide/stores-and-processes.md'), 'utf8')

/** The program that imports a package, and the address in it. */
function programOf(name) {
  const programs = [...chapter.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, text]) => text)
  const text = programs.find((one) => one.includes(`from '${name}'`))
  return { text, address: /'((?:redis|postgres):\/\/[^']+)'/.exec(text)[1] }
}

// A program that listens gets a free port in the place of the one that it names.
const anyPort = `import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function (port, ...rest) { return listen.call(this, 0, ...rest) }`

async function start(t, file) {
  const atAnyPort = `data:text/javascript,${encodeURIComponent(anyPort)}`
  const child = spawn(process.execPath, ['--import', atAnyPort, file])
  t.after(() => child.kill('SIGKILL'))
  const ended = new Promise((resolve) => child.on('exit', resolve))
  let said = ''
  child.stderr.on('data', (chunk) => { said += chunk })
  await until('a program of the guide', () => / at http:\/\/\S+ /.test(said) || child.exitCode !== null)
  const url = / at (http:\/\/\S+) /.exec(said)?.[1]
  assert.ok(url, said)
  return { child, ended, url, said: () => said }
}

for (const [name, installed, skip, startServer] of [
  ['ioredis', 'ioredis-5', noRedis, startRedis], ['pg', 'pg', noPostgres, startPostgres],
]) {
  test(`the program of the guide with ${name} is one server in several processes`, { skip }, async (t) => {
    const server = await startServer()
    const file = at(`.guide-${name}.mjs`)
    t.after(async () => {
      rmSync(file, { force: true })
      await server.close()
    })
    const { text, address } = programOf(name)
    writeFileSync(file, text.replace(`'${name}'`, `'${installed}'`).replace(address, server.url)
      .replace(`'triport'`, `'${new URL('../../../dist/index.js', import.meta.url)}'`))
    const processes = await Promise.all([start(t, file), start(t, file)])
    for (const [turn, { url }] of [...processes, ...processes].entries()) {
      const response = await fetch(url, {
        method: 'POST', headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'hello', session_id: 'shared-1' }),
      })
      assert.equal((await response.json()).response, `${2 * turn} messages before`)
    }
    for (const { child, ended } of processes) {
      child.kill('SIGTERM')
      assert.equal(await ended, 0)
    }
  })
}
