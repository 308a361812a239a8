/**
 * The README and the guide are true: their commands print what stands below them, their programs run, and
 * their tables are those of the code. A `…` in what is printed stands for anything.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { defaults, Fault } from '../lib/index.ts'
import { serverOptions } from '../lib/preset/options.ts'
import { jsonOf, request, serve } from './fixtures/client.ts'
import { GUIDE, MAP, README, chapters, programs } from './fixtures/documents.ts'
import type { FaultKind, TriportServer } from '../lib/index.ts'

test('the programs of the README and of the guide compile as strictly as can be', () => {
  const folder = '.test/readme-types'
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const files = programs.map(({ text }, at) => {
    writeFileSync(`${folder}/${at}.mjs`, text)
    return `${folder}/${at}.mjs`
  })
  const { stdout, stderr, status } = spawnSync('node_modules/.bin/tsc', [
    '--ignoreConfig', '--noEmit', '--strict', '--exactOptionalPropertyTypes', '--allowJs', '--checkJs',
    '--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--singleThreaded',
    '--skipDefaultLibCheck', ...files,
  ], { encoding: 'utf8' })
  assert.equal(stdout + stderr, '')
  assert.equal(status, 0)
  assert.ok(files.length > 15)
})

test('the README is short, and every path that it, the guide or the map names exists', () => {
  assert.ok(Buffer.byteLength(README) <= 12 * 1024)
  for (const document of ['README.md', MAP, '.github/SECURITY.md', ...chapters]) {
    const text = readFileSync(document, 'utf8')
    for (const [, path = ''] of text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
      assert.ok(existsSync(join(dirname(document), path)), `${document}: ${path}`)
    }
  }
  for (const chapter of chapters) assert.ok(README.includes(`(${chapter})`), chapter)
  const names = chapters.map((chapter) => basename(chapter))
  assert.equal(new Set(names).size, names.length, 'two chapters have one name')
  const map = readFileSync(MAP, 'utf8')
  for (const [, path = ''] of map.matchAll(/`([\w./-]+\/|[\w./-]+\/[\w.-]+\.\w+)`/g)) {
    assert.ok([path, `lib/${path}`].some((one) => existsSync(one)), `${MAP}: there is no ${path}`)
  }
  for (const room of readdirSync('lib').filter((name) => !name.endsWith('.ts'))) {
    assert.ok(map.includes(`\`${room}/\``), `${MAP} does not name ${room}/`)
  }
})

test('every limit that a table names has the default that it says, and every limit is named', () => {
  const units = new Map([['KiB', 1024], ['MiB', 1024 ** 2], ['s', 1000], ['min', 60_000], ['h', 3_600_000]])
  const options = readFileSync(join(GUIDE, 'options-and-limits.md'), 'utf8')
  const named = new Set<string>()
  const [, limits = ''] = /^## Limits$([\s\S]*?)^## /m.exec(README) ?? []
  for (const [, names, values] of (limits + options).matchAll(/^\| (`\w+`(?:, `\w+`)*) \| (\d[^|]*) \|/gm)) {
    const written = values!.split(/, (?=\d+(?:,\d{3})*(?: |$|,))/).map((value) => {
      const [, digits, unit] = /^([\d,]+) ?(\w+)?/.exec(value.trim())!
      return Number(digits!.replaceAll(',', '')) * (units.get(unit ?? '') ?? 1)
    })
    const keys = [...names!.matchAll(/`(\w+)`/g)].map(([, name]) => name!)
    assert.deepEqual(written, keys.map((name) => Reflect.get(defaults, name)), names)
    for (const name of keys) named.add(name)
  }
  assert.deepEqual(Object.keys(defaults).filter((name) => !named.has(name)), [])
  assert.deepEqual(serverOptions.filter((name) => !options.includes(`\`${name}\``)), [])
})

/** How a fault is shown over JSON-RPC: the status where it has one of its own, `isError`, or the code. */
async function shownBy(server: TriportServer, path: string, method: string, params: object): Promise<string> {
  const response = await server.fetch(request(path, { jsonrpc: '2.0', id: '1', method, params }))
  const { error, result } = await jsonOf(response) as {
    readonly error?: { readonly code: number }, readonly result?: { readonly isError?: boolean },
  }
  if (response.status === 401 || response.status === 403) return String(response.status)
  return error === undefined ? `\`${result?.isError === true ? 'isError' : 'result'}\`` : String(error.code)
}

test('each kind of fault is shown as the table of the guide says', async (t) => {
  const lines = readFileSync(join(GUIDE, 'errors.md'), 'utf8').split('\n')
  const rows = lines.slice(lines.findIndex((line) => line.startsWith('| `Fault` kind')) + 2)
  const table = rows.slice(0, rows.indexOf('')).map((row) => row.split('|').map((cell) => cell.trim()))
  assert.ok(table.length >= 10)
  const message = { role: 'user', parts: [{ type: 'text', text: 'hello' }] }
  for (const [, kinds = '', ...cells] of table) {
    for (const [at, [, kind]] of [...kinds.matchAll(/`([a-z-]+)`/g)].entries()) {
      const fail = (): never => { throw new Fault(kind as FaultKind, 'on purpose') }
      const server = serve(t, {
        protocol: 'all', agents: [fail], tools: [{ name: 'fail', description: 'Fails.', run: fail }],
        prompts: [{ name: 'fail', get: fail }], resources: [{ uri: 'a:b', name: 'b', read: fail }],
      })
      const [http, ofTools, ofTheRest, a2a] = cells.map((cell) => /^[\d,\s]+$/.test(cell)
        ? cell.split(', ')[at] : cell.split(';')[0])
      assert.equal(String((await server.fetch(request('/tools/fail', {}))).status), http, kind)
      const args = { name: 'fail', arguments: {} }
      assert.equal(await shownBy(server, '/messages/', 'tools/call', args), ofTools, kind)
      const prompt = { name: 'execute_assistant_task', arguments: { prompt: 'hello' } }
      assert.equal(await shownBy(server, '/messages/', 'tools/call', prompt), ofTools, kind)
      assert.equal(await shownBy(server, '/messages/', 'prompts/get', { name: 'fail' }), ofTheRest, kind)
      const read = await shownBy(server, '/messages/', 'resources/read', { uri: 'a:b' })
      assert.equal(read, kind === 'not-found' ? '-32002' : ofTheRest, kind)
      assert.equal(await shownBy(server, '/a2a', 'message/send', { message }), a2a, kind)
    }
  }
})
