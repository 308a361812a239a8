/**
 * The package as programs get it: packed, installed into an empty folder, and looked at by what checks
 * packages, by compilers from TypeScript 5.4 on, and by Node, with `import` and with `require`.
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import {
  mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { missing, modules, root } from './start.mjs'
import { callsTool, installed, inWorkers, listening, programFor } from './tools-host.mjs'

const skip = missing(
  'publint', '@arethetypeswrong/core', 'typescript-5.4', 'typescript', 'typescript-6',
  'bun', 'deno', 'esbuild', 'miniflare', '@modelcontextprotocol/client',
)
if (skip) console.log(`package: skipped: ${skip}`)

const timeout = 120_000

/** Where the package is installed, and the archive that it comes from. */
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'triport-package-')))
after(() => rmSync(folder, { recursive: true, force: true }))
const archive = skip ? undefined : install()

function install() {
  const npm = (...args) => execFileSync('npm', [...args, '--ignore-scripts', '--json'], { cwd: folder })
  writeFileSync(join(folder, 'package.json'), '{ "name": "program", "private": true, "type": "module" }')
  const [{ filename }] = JSON.parse(npm('pack', root, '--pack-destination', folder))
  npm('install', `./${filename}`, '--offline', '--no-audit', '--no-fund')
  mkdirSync(join(folder, 'node_modules/@types'))
  symlinkSync(`${root}node_modules/@types/node`, join(folder, 'node_modules/@types/node'))
  return readFileSync(join(folder, filename))
}

/** What a program writes; where it fails, also how. */
function said(program, args) {
  return new Promise((resolve) => {
    execFile(program, args, { cwd: folder }, (error, stdout, stderr) => {
      resolve(`${stdout}${stderr}${error === null ? '' : `It ended with ${error.code ?? error.signal}`}`)
    })
  })
}

test('publint and attw have nothing to say against it', { skip }, async () => {
  const { publint } = await import('publint')
  const { checkPackage, createPackageFromTarballData } = await import('@arethetypeswrong/core')
  const { buffer: tarball } = new Uint8Array(archive)
  assert.deepEqual((await publint({ pack: { tarball }, strict: true })).messages, [])
  const { problems, entrypoints } = await checkPackage(createPackageFromTarballData(new Uint8Array(archive)))
  // It is an ES module for a Node that can `require` one; the resolution of Node 10 knows no subpaths.
  const others = problems.filter(({ kind, resolutionKind }) => (
    kind !== 'CJSResolvesToESM' && resolutionKind !== 'node10'
  ))
  assert.deepEqual(others, [])
  assert.ok('./kernel' in entrypoints && './mcp' in entrypoints)
})

/** Programs that use the whole, and that use what they name. */
const WHOLE = `
import { createServer, defineAgent, defineTool, Fault, memoryStore, redisStore, testClient } from 'triport'
import type { Call, ServerOptions, Tool, TriportServer } from 'triport'

const add: Tool = defineTool({
  name: 'add',
  inputSchema: {
    type: 'object', properties: { a: { type: 'number' }, b: { type: 'string' } }, required: ['a'],
  },
  async run({ a, b }, call: Call) {
    if (b === 'none') throw new Fault('not-found', 'There is none')
    call.signal.throwIfAborted()
    return a.toFixed(b?.length)
  },
})
const agent = defineAgent({
  name: 'Echo', description: 'Says it.',
  async *run(prompt, call) { yield prompt.toUpperCase() + call.principal?.id },
})
const options: ServerOptions = { agents: [agent], tools: [add], protocol: 'all', store: memoryStore() }
export const server: TriportServer = createServer(options)
export const close = async (): Promise<void> => server.close()
export const answered = async (): Promise<string> => (await testClient(server).query('hi')).response
export { redisStore }
// @ts-expect-error
createServer({ tools: 'add' })
`

const UNITS = `
import { createServer, defineTool } from 'triport/kernel'
import type { Call, KernelServer, Part, Store } from 'triport/kernel'
import { mcp } from 'triport/mcp'
import { redisStore } from 'triport/redis'
import { shareStore } from 'triport/shared'
import { testClient } from 'triport/testing'

const add = defineTool({
  name: 'add', inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  run: ({ a }, call: Call) => a.toFixed(call.signal.aborted ? 1 : 2),
})
const parts: Part[] = [mcp({ sessions: 'none' })]
const client = { command: async (words: readonly string[]) => words.length, subscribe: async () => () => {} }
export const store = (): Store => redisStore(client)
export const server: KernelServer = createServer({ tools: [add], parts, share: shareStore })
export const called = async () => (await testClient(server).mcp.callTool('add', { a: 1 })).content
// @ts-expect-error
mcp({ sessions: 'some' })
`

/** Compilers by their folders: 5.4, the newest 5, 6, and the one that this library is built with. */
const compilers = skip ? [] : ['typescript-5.4', 'typescript', 'typescript-6'].map((name) => modules + name)
  .concat(`${root}node_modules/typescript`)

/** How programs are compiled. What compiles where declarations are checked compiles where they are not. */
const settings = {
  nodenext: { module: 'nodenext', lib: ['es2023'], types: ['node'] },
  bundler: { module: 'esnext', moduleResolution: 'bundler', target: 'es2018', types: ['node'] },
  // Without the types of Node, as for a page or a worker.
  bare: {
    module: 'esnext', moduleResolution: 'bundler', target: 'es2022', types: [], skipLibCheck: true,
  },
}

for (const compiler of compilers) {
  const { version } = JSON.parse(readFileSync(`${compiler}/package.json`, 'utf8'))
  test(`programs compile with TypeScript ${version}`, { timeout }, async () => {
    writeFileSync(join(folder, 'whole.ts'), WHOLE)
    writeFileSync(join(folder, 'units.ts'), UNITS)
    await Promise.all(Object.entries(settings).map(async ([name, options]) => {
      const compilerOptions = { ...options, strict: true, noEmit: true }
      const config = JSON.stringify({ compilerOptions, files: ['whole.ts', 'units.ts'] })
      writeFileSync(join(folder, `${name}.json`), config)
      assert.equal(await said(process.execPath, [`${compiler}/bin/tsc`, '-p', `${name}.json`]), '', name)
    }))
  })
}

test('every subpath is imported and required, and the command runs', { skip }, async () => {
  const { exports } = JSON.parse(readFileSync(join(folder, 'node_modules/triport/package.json'), 'utf8'))
  const subpaths = Object.keys(exports).filter((subpath) => !subpath.endsWith('.json'))
    .map((subpath) => subpath.replace(/^\./, 'triport'))
  writeFileSync(join(folder, 'subpaths.cjs'), `
    const names = ${JSON.stringify(subpaths)}
    const all = names.map((name) => require(name))
    Promise.all(names.map((name) => import(name))).then((same) => {
      console.log(names.filter((_, n) => same[n].createServer !== all[n].createServer
        || Object.keys(same[n]).filter((key) => key !== '$').length === 0).join() || 'fine')
    })`)
  assert.equal(await said(process.execPath, ['--no-warnings', 'subpaths.cjs']), 'fine\n')
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  assert.equal(await said('node_modules/.bin/triport', ['--version']), `${version}\n`)
})

const IMPORTS = `import { createServer } from 'triport/kernel'\nimport { mcp } from 'triport/mcp'`

for (const [host, program, ...args] of [
  ['node', process.execPath], ['bun', installed('bun')], ['deno', installed('deno'), 'run', '-A'],
]) {
  test(`the kernel and a part serve in ${host}`, { skip, timeout }, async (t) => {
    writeFileSync(join(folder, `${host}.mjs`), programFor(host, IMPORTS))
    await callsTool((await listening(t, program, [...args, `${host}.mjs`], folder)).url)
  })
}

test('the kernel and a part serve in a workers\' runtime, bundled', { skip, timeout }, async (t) => {
  const { build } = await import('esbuild')
  const { outputFiles: [{ text }] } = await build({
    stdin: { contents: programFor('workers', IMPORTS), resolveDir: folder },
    bundle: true, write: false, format: 'esm', external: ['node:*'], conditions: ['workerd', 'worker'],
  })
  await callsTool(await inWorkers(t, { 'program.mjs': text }))
})
