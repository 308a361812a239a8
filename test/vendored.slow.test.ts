/**
 * Copies of some units are what they are copies of: each is made by the command in a folder that has nothing
 * else, and passes the tests of its protocols. What these import of the preset is made here of the copy.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { shipped } from './fixtures/command.ts'

/** Units, the tests that are run with them, and golden replies that are those of other units. */
const sets: readonly (readonly [only: string, tests: readonly string[], others?: readonly string[]])[] = [
  ['mcp', ['mcp/golden', 'mcp/sessions', 'mcp/tools-call'], ['mcp/2026-07-28/34-listen.json']],
  ['mcp,mcp-tasks,skills,apps', [
    'mcp/golden', 'mcp-tasks/task-augmentation', 'skills/skills', 'apps/tool-ui',
  ]],
  ['a2a', ['a2a/wire', 'a2a/http-json-wire', 'a2a/card-document', 'a2a/v03', 'a2a/v1', 'a2a/stream']],
  ['http', ['http/query', 'http/resources', 'http/prompts']],
  ['openai', ['openai/chat-request', 'openai/chat-stop', 'openai/client-functions', 'openai/response-lists']],
  ['mcp,a2a,http', ['mcp/golden', 'a2a/wire', 'http/query'], ['mcp/2026-07-28/34-listen.json']],
]

/** The preset's `createServer`, made of a copy: each part gets the options that are its own. */
const presetOf = (copy: string): string => `
import * as copy from ${JSON.stringify(copy)}
export * from ${JSON.stringify(copy)}
export function createServer({ protocol, instructions, path, mcp, a2a, skills, openTelemetry, ...options }) {
  const own = { mcp: { instructions, ...mcp }, a2a: { ...a2a }, http: { path }, skills }
  const names = ['http', 'openai', 'mcp', 'a2a', 'mcpTasks', 'skills', 'apps'].filter((name) => name in copy)
  const limits = names.map((name) => {
    const { optionNames = [] } = copy[name](name === 'skills' ? [] : {})
    return optionNames.filter((limit) => limit in options)
  })
  const parts = names.map((name, at) => copy[name](name === 'skills' ? skills ?? [] : {
    ...own[name], ...Object.fromEntries(limits[at].map((limit) => [limit, options[limit]])),
  }))
  for (const limit of limits.flat()) delete options[limit]
  return copy.createServer({ ...options, parts })
}
`

/** The kB that the README tells of copies, by their units. */
const rows = readFileSync('README.md', 'utf8').matchAll(/`triport\/kernel`, ([^|]+) \| (\d+) \|/g)
const told = new Map([...rows].map(([, list = '', kB]) => [list.replace(/[`/ ]/g, ''), Number(kB)]))

/** The kB of the modules in a folder. */
function kilobytesOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const sizes = files.filter((path) => path.endsWith('.js')).map((path) => statSync(join(folder, path)).size)
  return sizes.reduce((sum, size) => sum + size) / 1000
}

for (const [only, tests, others = []] of sets) {
  test(`a copy of ${only} passes the tests of its protocols`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'triport-vendored-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const vendored = spawnSync(process.execPath, [shipped, 'vendor', 'copy', '--only', only], {
      cwd: folder, encoding: 'utf8',
    })
    assert.equal(vendored.status, 0, vendored.stderr)
    assert.deepEqual(readdirSync(folder), ['copy'])
    const [said, is] = [told.get(only), kilobytesOf(join(folder, 'copy'))]
    assert.ok(said === undefined || Math.abs(is / said - 1) < 0.03, `the README tells ${said} kB of ${is}`)

    mkdirSync(join(folder, 'lib'))
    for (const name of readdirSync('.test/lib')) {
      if (name !== 'index.js') symlinkSync(resolve('.test/lib', name), join(folder, 'lib', name))
    }
    writeFileSync(join(folder, 'lib/index.js'), presetOf(pathToFileURL(join(folder, 'copy/index.js')).href))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    cpSync('.test/test/fixtures', join(folder, 'test/fixtures'), { recursive: true })
    cpSync('.test/test/parts', join(folder, 'test/parts'), { recursive: true })
    for (const replies of ['mcp', 'a2a']) {
      cpSync(`test/fixtures/${replies}`, join(folder, 'test/fixtures', replies), { recursive: true })
    }
    for (const path of others) rmSync(join(folder, 'test/fixtures', path))
    const files = tests.map((path) => join(folder, `test/parts/${path}.test.js`))
    const all = ['--test', '--test-reporter=tap', ...files]
    const { status, stdout, stderr } = spawnSync(process.execPath, all, {
      cwd: folder, encoding: 'utf8', maxBuffer: 1 << 26,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    })
    const [, passed = '0'] = /^# pass (\d+)$/m.exec(stdout) ?? []
    const failed = stdout.split('\n').filter((line) => !/^ *ok |duration_ms/.test(line))
    assert.equal(status, 0, `${failed.join('\n')}${stderr}`)
    assert.ok(Number(passed) >= tests.length, stdout)
    t.diagnostic(`${only}: ${passed} tests`)
  })
}

test('the README tells what copies of some units weigh', () => {
  assert.ok(told.size >= 5 && [...told.keys()].every((only) => sets.some(([one]) => one === only)))
})
