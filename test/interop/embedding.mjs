/**
 * The programs of the guide that mount a server, each with its real host: compiled with the host's types, and
 * asked. Those of Next are in the folder next. A host that is not installed skips itself, and says so.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { missing, root } from './start.mjs'

const here = fileURLToPath(new URL('./', import.meta.url))
const chapter = readFileSync(`${root}lib/guide/embedding.md`, 'utf8')
const programs = [...chapter.matchAll(/^```(js|ts)\n([\s\S]*?)^```$/gm)]
  .map(([, language, text]) => ({ language, text }))

/** Its name, what tells its program, its packages, how it is run, and where its server is. */
const hosts = [
  ['Express', `from 'express'`, ['express', '@types/express'], 'node', '/agents'],
  ['Fastify', `from 'fastify'`, ['fastify'], 'node', '/agents'],
  ['Koa', `from 'koa'`, ['koa', '@types/koa'], 'node', '/agents'],
  ['Hono', `from 'hono'`, ['hono', '@hono/node-server'], 'node', '/agents'],
  ['h3', `from 'h3'`, ['h3'], 'node', '/agents'],
  ['Bun', 'Bun.serve(', ['bun'], 'bun', ''],
  ['Deno', 'Deno.serve(', ['deno'], 'deno', ''],
  ['workers', 'export default {', ['miniflare', 'esbuild'], 'workers', ''],
]

// A program that listens gets a free port in the place of the one that it names, and prints it.
const anyPort = `import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function (given, ...rest) {
  this.once('listening', () => console.log('port ' + this.address().port))
  return listen.call(this, typeof given === 'object' ? { ...given, port: 0 } : 0, ...rest)
}`

function programOf(mark) {
  const found = programs.find(({ text }) => text.includes(mark))
  assert.ok(found, `The guide has no program with ${mark}`)
  return found
}

async function spawned(t, command, args) {
  const child = spawn(command, args, { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit')
  })
  const [line] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  const [, port] = /(?:port |localhost:)(\d+)/.exec(String(line)) ?? []
  assert.ok(port, `It ended, or said ${line}`)
  return `http://127.0.0.1:${port}`
}

/** Starts a program; its address. */
async function start(t, runtime, name, { language, text }) {
  const file = `${here}.embedding-${name}.${language === 'ts' ? 'ts' : 'mjs'}`
  t.after(() => rmSync(file, { force: true }))
  const local = text.replace(`'triport'`, `'${root}dist/index.js'`)
  if (runtime === 'node') {
    writeFileSync(file, local)
    const preload = `data:text/javascript,${encodeURIComponent(anyPort)}`
    return spawned(t, process.execPath, ['--import', preload, file])
  }
  if (runtime === 'bun') {
    writeFileSync(file, local.replace('Bun.serve({ port: 8000', 'const { port } = Bun.serve({ port: 0')
      + `console.log('port ' + port)\n`)
    return spawned(t, `${here}node_modules/.bin/bun`, ['run', file])
  }
  if (runtime === 'deno') {
    const where = '{ port: 0, onListen: ({ port }) => console.log(`port ${port}`) }'
    writeFileSync(file, local.replace('{ port: 8000 }', where))
    const flags = ['--allow-net', '--allow-env', '--allow-read', '--allow-sys']
    return spawned(t, `${here}node_modules/.bin/deno`, ['run', ...flags, file])
  }
  writeFileSync(file, local)
  const { build } = await import('esbuild')
  const { Miniflare } = await import('miniflare')
  const { outputFiles: [made] } = await build({
    entryPoints: [file], bundle: true, write: false, format: 'esm', platform: 'node', logLevel: 'error',
  })
  const host = new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents: made.text }],
    compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'],
  })
  t.after(() => host.dispose())
  return String(await host.ready).replace(/\/$/, '')
}

for (const [name, mark, packages, runtime, prefix] of hosts) {
  const skip = missing(...packages)
  if (skip) console.log(`embedding: ${name} skipped: ${skip}`)
  test(`the guide's program for ${name} serves all that it says`, { skip, timeout: 120_000 }, async (t) => {
    const at = await start(t, runtime, name.toLowerCase(), programOf(mark)) + prefix
    const post = (path, body, more = {}) => fetch(at + path, {
      method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...more },
    })
    assert.equal((await (await fetch(`${at}/health`)).json()).status, 'ok')
    const { servers } = await (await fetch(`${at}/openapi.json`)).json()
    assert.equal(new URL(servers[0].url).pathname, prefix || '/')
    for (const path of ['', '/']) {
      assert.equal((await (await post(path, { query: 'hi' })).json()).response, 'You said: hi')
    }
    assert.match(await (await post('', { query: 'hi', stream: true })).text(), /event: done\n/)
    const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
    const sent = await post('/message:send', { message }, { 'content-type': 'application/a2a+json' })
    assert.equal((await sent.json()).task.status.state, 'TASK_STATE_COMPLETED')
    const call = { name: 'execute_assistant_task', arguments: { prompt: 'hi' } }
    const called = await post('/messages/', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call })
    assert.equal((await called.json()).result.content[0].text, 'You said: hi')
    assert.equal((await post('', { query: 'x'.repeat(2_000_000) })).status, 200)
  })
}

test('the programs of the guide that mount a server compile with the types of their hosts', {
  skip: missing('express', '@types/express', 'fastify', 'koa', '@types/koa', 'hono', 'h3'),
}, (t) => {
  const files = programs.filter(({ text }) => !/\b(?:Bun|Deno)\.serve/.test(text)).map(({ text }, at) => {
    const file = `${here}.embedding-${at}.ts`
    t.after(() => rmSync(file, { force: true }))
    writeFileSync(file, text.replace(`'triport'`, `'${root}dist/index.js'`))
    return file
  })
  const { stdout, stderr } = spawnSync(`${root}node_modules/.bin/tsc`, [
    '--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023',
    '--typeRoots', `${root}node_modules/@types`, '--types', 'node', ...files,
  ], { cwd: here, encoding: 'utf8' })
  assert.equal(stdout + stderr, '')
})
