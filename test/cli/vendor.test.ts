import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
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
    [`it's $1`, `./it\\'s $1/index.js`, `'it'\\''s $1/cli.js'`],
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
  writeFileSync(join(folder, 'second/SHA256SUMS'), first.replaceAll('\n', '\r\n'))
  assert.equal(nodeIn(folder, shipped, 'vendor', 'second').code, 0)
  assert.equal(readFileSync(join(folder, 'second/SHA256SUMS'), 'utf8'), first)
  writeFileSync(join(folder, 'second/index.js'), '')
  writeFileSync(join(folder, 'vendor/triport/mine.js'), '')
  mkdirSync(join(folder, 'linked'))
  for (const link of ['gone', 'linked/gone']) symlinkSync('nowhere', join(folder, link))
  symlinkSync('.', join(folder, 'linked/self'))
  const rows: readonly (readonly [target: string, sentence: RegExp])[] = [
    ['second', /^triport: second\/index\.js has been changed; move it away, then run this again\n$/],
    ['vendor/triport', /^triport: vendor\/triport\/mine\.js is no file of triport; move it away, /],
    ['vendor', /^triport: vendor is not empty; name a folder that is new\n$/],
    ['second/LICENSE', /^triport: second\/LICENSE is a file; name a folder\n$/],
    ['second/LICENSE/a', /^triport: ENOTDIR: .*; a file is where a folder has to be; move it away, or name /],
    ['gone', /^triport: ENOENT: .*'gone'; a part of it is not there, or is a link that leads nowhere; name /],
    ['linked', /^triport: linked is not empty; name a folder that is new\n$/],
  ]
  for (const [target, sentence] of rows) {
    const { code, said } = await vendor(folder, target)
    assert.equal(code, 1, target)
    assert.match(said, sentence)
  }
  const itself = nodeIn(folder, 'second/cli.js', 'vendor', 'second')
  assert.match(itself.said, /^triport: second is this copy itself; name another folder\n$/)
  for (const below of ['second/copy', 'second/a/b']) {
    const within = nodeIn(folder, 'second/cli.js', 'vendor', below)
    assert.match(within.said, new RegExp(`^triport: ${below} is in the folder of this copy; name another `))
  }
})

test('what the sources cannot do, and a wrong command line, is said', async (t) => {
  const folder = modules(t, {})
  const rows: readonly (readonly [args: readonly string[], sentence: RegExp])[] = [
    [[], /^triport: vendor needs a folder: triport vendor vendor\/triport\n$/],
    [['a', 'b'], /^triport: vendor takes one folder, not also b\n$/],
    [['a', '--only', 'mpc'], /^triport: There is no 'mpc'; did you mean mcp\?\n$/],
    [['a', '--only', 'everything'], /^triport: There is no 'everything'; --only takes kernel, mcp, a2a, /],
    [['a', '--only', ','], /^triport: --only is empty; write it, or leave it out\n$/],
    [['a', '--single', '--source'], /^triport: Write --single or --source, not both\n$/],
    [['a', '--everything'], /^triport: Unknown option '--everything'; triport help vendor lists them\n$/],
  ]
  for (const [args, sentence] of rows) {
    const { code, said } = await vendor(folder, ...args)
    assert.equal(code, 2)
    assert.match(said, sentence)
  }
})

/** What a copy of some units answers, in a folder that has nothing else. */
const SOME = `
const server = createServer({ tools: [{ name: 'add', run: () => 1 + 2 }], parts: [mcp()], log: false })
const { url } = await server.listen(0)
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add', arguments: {} } }
const headers = { 'content-type': 'application/json', 'accept': 'application/json, text/event-stream' }
const ask = async (body) => (
  (await fetch(url + '/mcp', { method: 'POST', headers, body: JSON.stringify(body) })).json()
)
const none = await ask({ ...call, method: 'tools/none' })
console.log(JSON.stringify([(await ask(call)).result, none.error.code]))
await server.close()
`
const SAID = '[{"content":[{"type":"text","text":"3"}]},-32601]\n'

test('a copy of some units has these and what they need, and nothing else', async (t) => {
  const program = `import { createServer, mcp } from './triport/index.js'${SOME}`
  const folder = modules(t, { 'program.mjs': program })
  const { code, printed, said } = await vendor(folder, 'triport', '--only', 'mcp-tasks')
  assert.equal(code, 0, said)
  assert.match(printed, /^Copied triport \S+ \(kernel, mcp-tasks, mcp\) to triport: \d+ files$/m)
  assert.match(printed, /Import it: {2}import \{ createServer, mcpTasks, mcp \} from '.\/triport\/index/)
  assert.doesNotMatch(printed, /Run it/)
  const files = readdirSync(join(folder, 'triport'), { recursive: true, encoding: 'utf8' })
  assert.deepEqual(files.filter((file) => /a2a|openai|agui|acp|redis|command/.test(file)), [])
  assert.deepEqual(['index.js', 'index.d.ts', 'guide/mcp.md', 'LICENSE', 'SHA256SUMS'].filter((file) => (
    !files.includes(file)
  )), [])
  const names = JSON.parse(readFileSync(join(folder, 'triport/package.json'), 'utf8')) as { exports: object }
  assert.deepEqual(Object.keys(names.exports), ['.', './kernel', './mcp-tasks', './mcp', './package.json'])
  for (const flags of [[], ['--disallow-code-generation-from-strings', ...readingOnly(folder)]]) {
    const ended = nodeIn(folder, ...flags, 'program.mjs')
    assert.equal(ended.printed, SAID, ended.said)
  }
})

test('one file is all of it, as an ES module and as CommonJS, and nothing else is read', async (t) => {
  const folder = modules(t, {})
  const { printed, said } = await vendor(folder, 'one', '--only', 'mcp', '--single')
  assert.match(printed, /from '.\/one\/triport\.mjs'\n {2}Check it/, said)
  assert.deepEqual(readdirSync(join(folder, 'one')).toSorted(),
    ['LICENSE', 'SHA256SUMS', 'triport.cjs', 'triport.mjs'])
  const [esm, cjs] = ['mjs', 'cjs'].map((form) => readFileSync(join(folder, `one/triport.${form}`), 'utf8'))
  assert.ok([esm!, cjs!].every((text) => text.startsWith('/*\nMIT License') && !/\bimport\(/.test(text)))
  // The program is in the file itself, so that this one file is all that may be read.
  writeFileSync(join(folder, 'all.mjs'), esm!.replace(/^export \{.*$/m, SOME))
  writeFileSync(join(folder, 'all.cjs'), cjs!.replace(/^module\.exports = .*$/m, `(async () => {${SOME}})()`))
  for (const file of ['all.mjs', 'all.cjs']) {
    const ended = nodeIn(folder, ...readingOnly(folder).map((flag) => flag.replace(/\/$/, `/${file}`)), file)
    assert.equal(ended.printed, SAID, ended.said)
  }
})

test('what is imported later runs in one file when it is first asked for', async (t) => {
  const program = PROGRAM.replace('./vendor/triport/index.js', './one/triport.mjs')
  const folder = modules(t, { 'program.mjs': program })
  assert.equal((await vendor(folder, 'one', '--single')).code, 0)
  const { code, printed, said } = nodeIn(folder, 'program.mjs')
  assert.equal(code, 0, said)
  assert.match((JSON.parse(printed) as readonly string[])[0]!, /^\{"response":"hi",/)
})

/** What the compiler says of a program. */
function complaintsOf(file: string, lib = 'es2023,es2024.string'): string {
  return spawnSync(process.execPath, [
    'node_modules/typescript/bin/tsc', '--ignoreConfig', '--noEmit', '--strict', '--target', 'es2023',
    '--lib', lib, '--module', 'nodenext', '--allowImportingTsExtensions',
    '--erasableSyntaxOnly', '--verbatimModuleSyntax',
    '--typeRoots', join(process.cwd(), 'node_modules/@types'), '--types', 'node', file,
  ], { encoding: 'utf8' }).stdout
}

const TYPED = `
const tool = defineTool({
  name: 'add', inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  run: ({ a }) => a.toFixed(1),
})
export const protocols: readonly string[] = createServer({ tools: [tool], parts: [mcp()] }).protocols
// @ts-expect-error
mcp({ sessions: 'some' })
`

test('the types of some units are there', async (t) => {
  const folder = modules(t, {
    'program.mts': `import { createServer, defineTool, mcp } from './some/index.js'${TYPED}`,
  })
  assert.equal((await vendor(folder, 'some', '--only', 'mcp')).code, 0)
  assert.equal(complaintsOf(join(folder, 'program.mts')), '')
})

test('the sources of some units are as they were written, and compile', async (t) => {
  const folder = modules(t, {
    'program.mts': `import { createServer, defineTool, mcp } from './source/index.ts'${TYPED}`,
  })
  const { code, said } = await vendor(folder, 'source', '--only', 'mcp', '--source')
  assert.equal(code, 0, said)
  const files = readdirSync(join(folder, 'source'), { recursive: true, encoding: 'utf8' })
  for (const file of files.filter((path) => path.startsWith('kernel/') && path.endsWith('.ts'))) {
    assert.equal(readFileSync(join(folder, 'source', file), 'utf8'), readFileSync(`lib/${file}`, 'utf8'))
  }
  assert.deepEqual(files.filter((file) => /parts\/(?!mcp)/.test(file)), [])
  assert.equal(complaintsOf(join(folder, 'program.mts')), '')
})

test('all sources compile in projects that are strict and no more, with a DOM and without', async (t) => {
  const folder = modules(t, {
    'program.mts': `import { createServer } from './source/index.ts'
      export const protocols: readonly string[] = createServer({ agents: [(prompt) => prompt] }).protocols`,
  })
  assert.equal((await vendor(folder, 'source', '--source')).code, 0)
  assert.equal(complaintsOf(join(folder, 'program.mts')), '')
  assert.equal(complaintsOf(join(folder, 'program.mts'), 'es2024,dom'), '')
})

test('the package and a copy in one process end in a sentence', async (t) => {
  const folder = modules(t, {})
  assert.equal((await vendor(folder, 'copy', '--only', 'mcp')).code, 0)
  writeFileSync(join(folder, 'program.mjs'), `
    import { createServer } from ${JSON.stringify(pathToFileURL('dist/kernel.js').href)}
    import { mcp } from './copy/index.js'
    createServer({ tools: [{ name: 'add', run: () => 3 }], parts: [mcp()] })`)
  const { code, said } = nodeIn(folder, 'program.mjs')
  assert.equal(code, 1)
  assert.match(said, /TypeError: The part 'mcp' is of another copy of triport than this server; /)
})

test('a copy into the folder where this runs, or behind a link, is replaced in its place', async (t) => {
  const folder = modules(t, { 'real/.keep': '' })
  rmSync(join(folder, 'real/.keep'))
  symlinkSync(join(folder, 'real'), join(folder, 'link'))
  for (const [cwd, target] of [[join(folder, 'real'), '.'], [folder, 'link']] as const) {
    for (const only of ['mcp', 'kernel']) {
      const { code, said } = await vendor(cwd, target, '--only', only)
      assert.equal(code, 0, said)
    }
    const files = readdirSync(join(folder, 'real'), { recursive: true, encoding: 'utf8' })
    assert.ok(files.includes('index.js') && !files.some((path) => path.startsWith('parts')), target)
  }
})
