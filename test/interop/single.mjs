/**
 * Copies that `triport vendor` makes, where nothing is installed: one file inside a program that is one file
 * itself, and in hosts of web requests; the sources, where types are taken away as they are read.
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import {
  copyFileSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { missing, modules, node22, root } from './start.mjs'
import { callsTool, installed, inWorkers, listening, programFor } from './tools-host.mjs'

const run = promisify(execFile)
const timeout = 120_000

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'triport-single-')))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Why a test cannot run; said once. */
function skipped(what, ...packages) {
  const skip = missing('@modelcontextprotocol/client', ...packages)
  if (skip) console.log(`single: ${what} skipped: ${skip}`)
  return skip
}

/** Makes a copy in a folder of its own. */
function vendor(name, ...args) {
  execFileSync(process.execPath, [`${root}dist/cli.js`, 'vendor', name, ...args], { cwd: folder })
}

if (!missing()) {
  vendor('one', '--only', 'mcp', '--single')
  vendor('sources', '--only', 'mcp', '--source')
  vendor('all-sources', '--source')
}

/** What Node looks for in itself, to see that a program was put there. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
const noExecutable = skipped('an executable', 'esbuild', 'postject') || (
  process.platform !== 'linux' && 'a copy of Node has to be signed here'
)

/** The Node that it is made of, and whether its text is compiled when it is made. */
const executables = [[process.execPath, false], [node22() ?? process.execPath, true]]

for (const [node, useCodeCache] of executables) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  const name = `one file serves in an executable of Node ${version}${useCodeCache ? ', compiled before' : ''}`
  test(name, { skip: noExecutable, timeout }, async (t) => {
    const { build } = await import('esbuild')
    const at = mkdtempSync(join(folder, 'executable-'))
    const program = join(at, 'program')
    await build({
      stdin: {
        contents: programFor('node', `const { createServer, mcp } = require('./one/triport.cjs')`),
        resolveDir: folder,
      },
      outfile: join(at, 'bundle.cjs'), bundle: true, platform: 'node', format: 'cjs', target: 'node20',
    })
    writeFileSync(join(at, 'sea.json'), JSON.stringify({
      main: 'bundle.cjs', output: 'blob', disableExperimentalSEAWarning: true, useCodeCache,
    }))
    await run(node, ['--experimental-sea-config', 'sea.json'], { cwd: at })
    copyFileSync(realpathSync(node), program)
    const inject = [`${modules}postject/dist/cli.js`, program, 'NODE_SEA_BLOB', join(at, 'blob')]
    await run(process.execPath, [...inject, '--sentinel-fuse', FUSE])
    // It is all that is in its folder.
    for (const file of ['bundle.cjs', 'blob', 'sea.json']) rmSync(join(at, file))
    const { url, said, stop } = await listening(t, program, [], at)
    await callsTool(url)
    assert.equal(await stop(), 0)
    assert.equal(said(), '')
    const [size, own] = [program, realpathSync(node)].map((path) => statSync(path).size)
    t.diagnostic(`${size} bytes, of which Node has ${own}`)
  })
}

for (const [host, ...args] of [['bun'], ['deno', 'run', '-A']]) {
  test(`one file and the sources serve in ${host}`, { skip: skipped(host, host), timeout }, async (t) => {
    for (const [file, copy] of [[`${host}.mjs`, 'one/triport.mjs'], [`${host}.ts`, 'sources/index.ts']]) {
      const imports = `import { createServer, mcp } from './${copy}'`
      writeFileSync(join(folder, file), programFor(host, imports))
      await callsTool((await listening(t, installed(host), [...args, file], folder)).url)
    }
  })
}

test('one file serves in a workers\' runtime', {
  skip: skipped('a workers\' runtime', 'miniflare'), timeout,
}, async (t) => {
  await callsTool(await inWorkers(t, {
    'program.mjs': programFor('workers', `import { createServer, mcp } from './one/triport.mjs'`),
    'one/triport.mjs': readFileSync(join(folder, 'one/triport.mjs'), 'utf8'),
  }))
})

test('the sources serve in a Node that takes types away', {
  skip: skipped('the sources', ...node22() === undefined ? ['node'] : []), timeout,
}, async (t) => {
  const all = `import { createServer as createAny } from './all-sources/index.ts'
    const mcp = () => 'mcp'
    const createServer = ({ parts, ...options }: any) => createAny({ ...options, protocol: 'all' })`
  for (const imports of [`import { createServer, mcp } from './sources/index.ts'`, all]) {
    writeFileSync(join(folder, 'program.mts'), programFor('node', imports))
    const { url, stop } = await listening(t, node22(), ['program.mts'], folder)
    await callsTool(url)
    const page = await (await fetch(new URL('docs', url))).text()
    assert.equal(page.startsWith('<!doctype html>'), imports === all)
    assert.equal(await stop(), 0)
  }
})
