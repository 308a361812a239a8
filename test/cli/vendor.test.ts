import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { nodeIn, runInThread, shipped } from '../fixtures/command.ts'
import { modules } from '../fixtures/modules.ts'
import type { Ended } from '../fixtures/command.ts'
import type { TestContext } from 'node:test'

/** Runs `vendor` of what is shipped, in a folder that lies outside of every `node_modules`. */
function vendor(cwd: string, ...args: readonly string[]): Promise<Ended> {
  return runInThread(['vendor', ...args], {}, cwd, shipped)
}

/** A folder with a copy in `vendor/triport`. */
async function vendored(t: TestContext, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = modules(t, files)
  const { code, said } = await vendor(folder, 'vendor/triport')
  assert.equal(code, 0, said)
  return folder
}

/** Asks a server in every way, and prints what came. */
const PROGRAM = `import { createServer } from './vendor/triport/index.js'
const inputSchema = { type: 'object', properties: { a: { type: 'number' } } }
const tool = { name: 'add', inputSchema, run: ({ a }) => a }
const server = createServer({ agents: [(prompt) => prompt], tools: [tool], protocol: 'all', log: false })
const ask = async (path, body) => {
  const headers = { 'content-type': 'application/json' }
  const init = body && { method: 'POST', headers, body: JSON.stringify(body) }
  return (await server.fetch(new Request('http://localhost' + path, init))).text()
}
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add', arguments: { a: 'x' } } }
const message = { role: 'user', parts: [{ type: 'text', text: 'hi' }] }
console.log(JSON.stringify([
  await ask('/', { query: 'hi' }), await ask('/messages/', call),
  await ask('/a2a', { jsonrpc: '2.0', id: 2, method: 'message/send', params: { message } }),
  (await ask('/docs')).slice(0, 15), JSON.parse(await ask('/openapi.json')).openapi,
]))
await server.listen(0)
await server.close()
`

/** The flags by which this Node lets a program read one folder, and nothing else. */
function readingOnly(folder: string): readonly string[] {
  const [major = 0] = process.versions.node.split('.').map(Number)
  const flags = [major < 23 ? '--experimental-permission' : '--permission', `--allow-fs-read=${folder}/`]
  // Where a socket is a permission too, a server needs it.
  return major < 25 ? flags : [...flags, '--allow-net']
}

test('a copy runs without packages, without code from strings, and reads its own folder only', async (t) => {
  const agent = 'export default (prompt) => prompt'
  const folder = await vendored(t, { 'program.mjs': PROGRAM, 'agent.mjs': agent })
  assert.deepEqual(readdirSync(folder).toSorted(), ['agent.mjs', 'program.mjs', 'vendor'])
  for (const flags of [[], ['--disallow-code-generation-from-strings', ...readingOnly(folder)]]) {
    const { code, printed, said } = nodeIn(folder, ...flags, 'program.mjs')
    assert.equal(code, 0, said)
    const [query, call, message, page, openapi] = JSON.parse(printed) as readonly string[]
    assert.match(query!, /^\{"response":"hi",/)
    assert.match(call!, /a: must be a number|"isError":true/)
    assert.match(message!, /"text":"hi"/)
    assert.deepEqual([page, openapi], ['<!doctype html>', '3.1.1'])
    const checked = nodeIn(folder, ...flags, 'vendor/triport/cli.js', 'check', 'agent.mjs')
    assert.match(checked.printed, /agent\.mjs: no errors, 1 warning /)
    const help = nodeIn(folder, ...flags, 'vendor/triport/cli.js', 'help', 'schemas')
    assert.equal(help.printed, readFileSync('lib/guide/schemas.md', 'utf8'))
  }
})

test('what is read elsewhere is refused under these flags, so that they prove something', (t) => {
  const text = `import { readFileSync } from 'node:fs'\nreadFileSync('/etc/hostname')`
  const folder = modules(t, { 'read.mjs': text })
  const { code, said } = nodeIn(folder, ...readingOnly(folder), 'read.mjs')
  assert.equal(code, 1)
  assert.match(said, /ERR_ACCESS_DENIED/)
})

test('what is printed of a copy runs as it is, wherever the copy is', async (t) => {
  const elsewhere = join(modules(t, {}), 'copy')
  for (const [folder, imported, program] of [
    ['.', './index.js', 'cli.js'], ['a copy', './a copy/index.js', '"a copy/cli.js"'],
    [elsewhere, `${elsewhere}/index.js`, `${elsewhere}/cli.js`],
  ] as const) {
    const { printed, said } = await vendor(modules(t, {}), folder)
    assert.ok(printed.includes(`from '${imported}'`), printed + said)
    assert.ok(printed.includes(`node ${program} serve`), printed)
    assert.doesNotMatch(printed, /cd  |to :/)
  }
})

test('a copy lists the SHA-256 of every file, and holds the licence and the types', async (t) => {
  const folder = join(await vendored(t), 'vendor', 'triport')
  const lines = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trimEnd().split('\n')
  const listed = lines.map((line) => {
    const [, sum, path = ''] = /^([\da-f]{64})  (\S+)$/.exec(line) ?? []
    assert.equal(createHash('sha256').update(readFileSync(join(folder, path))).digest('hex'), sum, path)
    return path
  })
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  assert.equal(listed.length + 1, files.length)
  for (const path of ['index.js', 'index.d.ts', 'cli.js', 'guide/command.md', 'LICENSE', 'package.json']) {
    assert.ok(listed.includes(path), path)
  }
  assert.equal(readFileSync(join(folder, 'LICENSE'), 'utf8'), readFileSync('LICENSE', 'utf8'))
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  assert.equal(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version, version)
})

test('a copy makes a copy, and replaces one that nobody has changed', async (t) => {
  const folder = await vendored(t)
  const first = readFileSync(join(folder, 'vendor/triport/SHA256SUMS'), 'utf8')
  const again = nodeIn(folder, 'vendor/triport/cli.js', 'vendor', 'second')
  assert.equal(again.code, 0, again.said)
  assert.equal(readFileSync(join(folder, 'second/SHA256SUMS'), 'utf8'), first)
  rmSync(join(folder, 'second/index.js'))
  assert.equal(nodeIn(folder, shipped, 'vendor', 'second').code, 0)
  assert.equal(readFileSync(join(folder, 'second/SHA256SUMS'), 'utf8'), first)
  writeFileSync(join(folder, 'second/index.js'), '')
  writeFileSync(join(folder, 'vendor/triport/mine.js'), '')
  const rows: readonly (readonly [target: string, sentence: RegExp])[] = [
    ['second', /^triport: second\/index\.js has been changed; move it away, then run this again\n$/],
    ['vendor/triport', /^triport: vendor\/triport\/mine\.js is no file of triport; move it away, /],
    ['vendor', /^triport: vendor is not empty; name a folder that is new\n$/],
    ['second/LICENSE', /^triport: second\/LICENSE is a file; name a folder\n$/],
  ]
  for (const [target, sentence] of rows) {
    const { code, said } = await vendor(folder, target)
    assert.equal(code, 1, target)
    assert.match(said, sentence)
  }
  const itself = nodeIn(folder, 'second/cli.js', 'vendor', 'second')
  assert.match(itself.said, /^triport: second is this copy itself; name another folder\n$/)
})

test('what the sources cannot do, and a wrong command line, is said', async (t) => {
  const folder = modules(t, {})
  const rows: readonly (readonly [args: readonly string[], sentence: RegExp])[] = [
    [[], /^triport: vendor needs a folder: triport vendor vendor\/triport\n$/],
    [['a', 'b'], /^triport: vendor takes one folder, not also b\n$/],
    [['a', '--force'], /^triport: Unknown option '--force'; triport help vendor lists them\n$/],
  ]
  for (const [args, sentence] of rows) {
    const { code, said } = await vendor(folder, ...args)
    assert.equal(code, 2)
    assert.match(said, sentence)
  }
})
