/**
 * `triport serve --store` from outside: a conversation begins at one process and goes on at another, through
 * each client that is found beside the module. Skips itself, and says so, where something is not there.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { noPostgres, noRedis, startPostgres, startRedis } from './servers.mjs'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const node24 = at('node_modules/node/bin/node')
const noNode = !existsSync(node24) && 'there is no Node 24: npm ci in test/interop/scale'

/** A folder with a module, and of all clients beside it one. */
function shop(t, client, installed) {
  const folder = mkdtempSync(join(tmpdir(), 'triport-command-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const agent = 'export default (prompt, call) => `${call.history.length} ${process.pid}`'
  writeFileSync(join(folder, 'agent.mjs'), agent)
  mkdirSync(join(folder, 'node_modules'))
  const clients = ['ioredis-5', 'ioredis-6', 'iovalkey', 'redis-5', 'redis-6', 'pg', 'postgres']
  for (const name of client === undefined ? [] : readdirSync(at('node_modules'))) {
    const as = name === installed ? client : clients.includes(name) ? undefined : name
    if (as !== undefined) symlinkSync(at(`node_modules/${name}`), join(folder, 'node_modules', as))
  }
  return folder
}

function serve(t, folder, store, node = process.execPath) {
  const args = ['serve', join(folder, 'agent.mjs'), '--port', '0', '--protocol', 'http', '--store', store]
  const env = { ...process.env, TRIPORT_SECRET: 'a secret of this test alone and long enough' }
  const child = spawn(node, ['--no-warnings', at('../../../dist/cli.js'), ...args], { env, cwd: folder })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  const ended = once(child, 'exit').then(([code]) => ({ code, said }))
  const url = new Promise((resolve, reject) => {
    child.stderr.on('data', (text) => {
      said += text
      const [, found] = / at (http:\S+)/.exec(said) ?? []
      if (found !== undefined) resolve(found)
    })
    void ended.then(() => reject(new Error(said)))
  })
  url.catch(() => {})
  return { child, url, ended }
}

async function ask({ url }) {
  const response = await fetch(await url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: 'Hello', session_id: 'session-1' }),
  })
  return (await response.json()).response?.split(' ')
}

async function goesOn(t, folder, store, node) {
  const [one, other] = [serve(t, folder, store, node), serve(t, folder, store, node)]
  const answers = [await ask(one), await ask(other), await ask(one)]
  assert.deepEqual(answers.map(([before]) => before), ['0', '2', '4'])
  assert.notEqual(answers[0][1], answers[1][1])
  for (const { child, ended } of [one, other]) {
    child.kill()
    assert.equal((await ended).code, 0)
  }
  assert.equal((await ask(serve(t, folder, store, node)))[0], '6')
}

for (const [client, installed, skip, start] of [
  ['ioredis', 'ioredis-6', noRedis, startRedis], ['iovalkey', 'iovalkey', noRedis, startRedis],
  ['redis', 'redis-6', noRedis, startRedis], ['pg', 'pg', noPostgres, startPostgres],
  ['postgres', 'postgres', noPostgres, startPostgres],
]) {
  test(`a conversation goes on at another process through ${installed}`, { skip }, async (t) => {
    const server = await start()
    t.after(() => server.close())
    await goesOn(t, shop(t, client, installed), server.url)
  })
}

test('a conversation goes on at another process through a file', { skip: noNode }, async (t) => {
  await goesOn(t, shop(t), 'sqlite:state.db', node24)
})

test('without a client, and without a server, a sentence says so', { skip: noRedis }, async (t) => {
  const { code, said } = await serve(t, shop(t), 'redis://127.0.0.1:1').ended
  assert.equal(code, 1)
  const needs = '^triport: --store needs a client of Redis beside \\S+agent\\.mjs: '
  assert.match(said, new RegExp(`${needs}npm install ioredis \\(or iovalkey, redis\\)\\n$`))
  for (const [client, installed] of [
    ['ioredis', 'ioredis-5'], ['redis', 'redis-5'], ['pg', 'pg'], ['postgres', 'postgres'],
  ]) {
    const engine = client.startsWith('p') ? 'postgres' : 'redis'
    const refused = await serve(t, shop(t, client, installed), `${engine}://me:secret@127.0.0.1:1/a`).ended
    assert.equal(refused.code, 1, client)
    assert.match(refused.said, /^triport: (?:Redis|PostgreSQL) at 127\.0\.0\.1:1 does not answer: .*\n$/)
    assert.doesNotMatch(refused.said, /secret/)
  }
})
