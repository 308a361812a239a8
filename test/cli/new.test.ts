import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { templates } from '../../lib/cli/new.ts'
import { ask, environment, nodeIn, runInThread, shipped } from '../fixtures/command.ts'
import { modules } from '../fixtures/modules.ts'
import type { Ended } from '../fixtures/command.ts'
import type { TestContext } from 'node:test'

/** Runs the command that is shipped. */
function command(cwd: string, ...args: readonly string[]): Promise<Ended> {
  return runInThread(args, {}, cwd, shipped)
}

/** Runs a script of package.json, as npm does, until the test is over; resolves to its address. */
function start(t: TestContext, folder: string, script: string): Promise<string> {
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const [program, ...args] = String(scripts[script]).split(' ')
  assert.equal(program, 'node')
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...environment, PORT: '0' } })
  t.after(() => child.kill('SIGKILL'))
  return new Promise((found, reject) => {
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += String(chunk)
      const [, url] = / at (http:\S+)  \(docs: /.exec(said) ?? []
      if (url !== undefined) found(url)
    })
    child.on('exit', () => reject(new Error(said)))
  })
}

test('a new project runs at once, without an install, and has nothing to be mended', async (t) => {
  const folder = modules(t, {})
  const plain = nodeIn(folder, shipped, 'new', 'My Agent')
  assert.equal(plain.code, 0, plain.said)
  assert.match(plain.printed, /^Made My Agent\/agent\.js, .*\n\nNext:\n {2}cd "My Agent"\n {2}npm start\n\n/)
  const project = join(folder, 'My Agent')
  assert.equal(JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')).name, 'my-agent')
  assert.deepEqual(readdirSync(project).toSorted(), ['.gitignore', 'agent.js', 'package.json', 'vendor'])
  const url = await start(t, project, 'start')
  assert.equal((await ask(url, 'good day'))['response'], 'good day ')
  const tools = await command(folder, 'new', '--from', 'tools', 'shop')
  assert.match(tools.printed, /^ {2}curl http:\S+\/tools\/stock -H \S+ \S+ -d '\{"article":"apple"\}'$/m)
  const shop = await start(t, join(folder, 'shop'), 'start')
  const response = await fetch(`${shop}/tools/stock`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"article":"apple"}',
  })
  assert.match(await response.text(), /"result":\{"article":"apple","count":3\}/)
  for (const [name, file] of [['My Agent', 'agent.js'], ['shop', 'tools.js']] as const) {
    const checked = nodeIn(join(folder, name), 'vendor/triport/cli.js', 'check', file, '--strict')
    assert.equal(checked.code, 0, checked.printed)
  }
})

test('an empty folder becomes a project, and one that is not stays as it is', async (t) => {
  const folder = modules(t, { 'full/note.txt': '', 'file': '' })
  for (const path of ['empty', 'here', 'repository/.git']) mkdirSync(join(folder, path), { recursive: true })
  assert.equal((await command(folder, 'new', 'empty')).code, 0)
  const here = await command(join(folder, 'here'), 'new')
  assert.match(here.printed, /^Made agent\.js, .*\n\nNext:\n {2}npm start\n/)
  assert.equal((await command(folder, 'new', 'repository')).code, 0)
  const rows: readonly (readonly [args: readonly string[], code: number, sentence: RegExp])[] = [
    [['full'], 1, /^triport: full is not empty, it has note\.txt; name a new folder: triport new demo\n$/],
    [['empty'], 1, /^triport: empty is not empty, it has \.gitignore; name a new folder: /],
    [[], 1, /^triport: This folder is not empty, it has \w+; name a new folder: triport new demo\n$/],
    [['file'], 1, /^triport: file is a file; name a folder\n$/],
    [['a', 'b'], 2, /^triport: new makes one project, not also b\n$/],
    [['a', '--from', 'aisdk'], 2, /^triport: There is no kind 'aisdk'; did you mean ai-sdk\?\n$/],
    [['a', '--from', 'x'], 2,
      /^triport: There is no kind 'x'; write plain, tools, ai-sdk, .*openai\n$/],
  ]
  for (const [args, code, sentence] of rows) {
    const failed = await command(folder, 'new', ...args)
    assert.equal(failed.code, code)
    assert.match(failed.said, sentence)
  }
  assert.deepEqual(readdirSync(join(folder, 'full')), ['note.txt'])
  assert.ok(!existsSync(join(folder, 'a')))
})

test('each kind has a program that parses, and names the packages that it imports', async (t) => {
  const folder = modules(t, {})
  for (const [kind, { text }] of templates) writeFileSync(join(folder, `${kind}.mjs`), text)
  // As `node --check`, which takes one file.
  const { code, said } = nodeIn(folder, '--experimental-vm-modules', '--eval', `
    const { SourceTextModule } = require('node:vm')
    const { readFileSync } = require('node:fs')
    for (const identifier of process.argv.slice(1)) {
      new SourceTextModule(readFileSync(identifier, 'utf8'), { identifier })
    }`, ...[...templates.keys()].map((kind) => `${kind}.mjs`))
  assert.equal(code, 0, said)
  for (const [kind, { file, text, dependencies }] of templates) {
    assert.match(file, /^\w+\.js$/)
    for (const [, name = ''] of text.matchAll(/^import .* from '(@[^'/]+\/[^'/]+|[^.'/][^'/]*)/gm)) {
      assert.ok(Object.hasOwn(dependencies, name), `${kind} imports ${name}`)
    }
    for (const line of text.split('\n')) assert.ok(line.length <= 110, line)
  }
  const help = (await command(folder, 'help', 'new')).printed
  for (const [kind, { meaning }] of templates) assert.match(help, new RegExp(`^  ${kind} +${meaning}$`, 'm'))
})
