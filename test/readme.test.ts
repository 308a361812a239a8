/**
 * The README is true: its commands print what it says they print, and its programs run. A `…` in what is
 * printed stands for anything.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { Fault } from '../lib/index.ts'
import { jsonOf, request, serve } from './fixtures/client.ts'
import { freePort } from './fixtures/listening.ts'
import type { ChildProcess } from 'node:child_process'
import type { FaultKind, TriportServer } from '../lib/index.ts'

interface Block { readonly language: string; readonly text: string }

const readme = readFileSync('README.md', 'utf8')
const blocks: readonly Block[] = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
  .map(([, language, text]) => ({ language: language!, text: text! }))

const hasCurl = spawnSync('curl', ['--version']).status === 0

/** Compares as a reader would: blanks at the ends do not count. */
function matches(printed: string, promised: string): boolean {
  const parts = promised.trim().split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const pattern = parts.join('[\\s\\S]*')
  return new RegExp(`^${pattern}$`).test(printed.trim())
}

/** Resolves to where a process has said that it listens; rejects when it ends before. */
function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr!.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const [, place] = / at http:\/\/(\S+) /.exec(said) ?? []
      if (place !== undefined) resolve(place)
    })
    child.on('exit', (code) => reject(new Error(`ended with ${code}: ${said}`)))
  })
}

const commands = blocks.flatMap(({ language, text }, index) => {
  const promised = blocks[index + 1]
  if (language !== 'sh' || !text.startsWith('curl') || promised === undefined) return []
  return [{ text, promised: promised.text }]
})

const skip = hasCurl ? false : 'curl is not installed'

// A program that listens gets a free port in the place of the one that it names.
const anyPort = `import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function (port, ...rest) { return listen.call(this, 0, ...rest) }`

// Those that need a server are run in test/interop/scale.
const isHere = (text: string): boolean => !/from '(?:ioredis|pg)'/.test(text)
const programs = blocks.filter(({ language, text }) => language === 'js' && isHere(text))

function start(text: string): ChildProcess {
  mkdirSync('.test/readme', { recursive: true })
  const file = `.test/readme/${programs.findIndex((program) => program.text === text)}.mjs`
  writeFileSync(file, text)
  return spawn(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(anyPort)}`, file])
}

/** Who answers at the addresses that the commands name: the command itself, and a program. */
const servers: readonly (readonly [named: string, start: () => Promise<ChildProcess>])[] = [
  ['localhost:8000', async () => (
    spawn(process.execPath, ['dist/cli.js', 'serve', '--protocol', 'all', '--port', String(await freePort())])
  )],
  ['localhost:8001', async () => start(programs.find(({ text }) => text.includes('port: 8001'))!.text)],
]

for (const [named, begin] of servers) {
  test(`the commands of the README for ${named} print what it says`, { skip }, async (t) => {
    const child = await begin()
    try {
      const place = await listening(child)
      const own = commands.filter(({ text }) => text.includes(named))
      assert.ok(own.length > 5)
      for (const { text, promised } of own) {
        await t.test(text.split('\n')[0]!, () => {
          const here = (written: string): string => written.replaceAll(named, place)
          const { stdout } = spawnSync('sh', ['-c', here(text)], { encoding: 'utf8' })
          assert.ok(matches(stdout, here(promised)), `printed:\n${stdout}\npromised:\n${here(promised)}`)
        })
      }
    } finally {
      child.kill()
    }
  })
}

for (const { text } of programs) {
  const title = text.split('\n').filter((line) => !line.startsWith('import') && line !== '')[0]!
  test(`the program of the README runs: ${title}`, async () => {
    const child = start(text)
    const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
    let printed = ''
    child.stdout!.on('data', (chunk: Buffer) => { printed += chunk.toString() })
    if (text.includes('launch(')) {
      await listening(child)
      child.kill('SIGTERM')
      assert.equal(await ended, 0)
      return
    }
    const last = text.includes('compile(') ? 'true /age' : 'ok'
    const isDone = (): boolean => printed.includes(last)
    const deadline = Date.now() + 60_000
    while (!isDone() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))
    child.kill()
    assert.ok(isDone(), printed)
  })
}

test('the programs of the README compile as strictly as can be', () => {
  const folder = '.test/readme-types'
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const files = programs.map(({ text }, at) => {
    writeFileSync(`${folder}/${at}.mjs`, text)
    return `${folder}/${at}.mjs`
  })
  const { stdout, stderr, status } = spawnSync('node_modules/.bin/tsc', [
    '--ignoreConfig', '--noEmit', '--strict', '--exactOptionalPropertyTypes', '--allowJs', '--checkJs',
    '--module', 'nodenext', '--target', 'es2023', '--types', 'node', ...files,
  ], { encoding: 'utf8' })
  assert.equal(stdout + stderr, '')
  assert.equal(status, 0)
  assert.ok(files.length > 5)
})

test('every limit that the README names has the default that it says', async () => {
  const { defaults } = await import('../lib/define/limits.ts')
  const units = new Map([['KiB', 1024], ['MiB', 1024 * 1024], ['s', 1000], ['min', 60_000]])
  for (const [, names, values] of readme.matchAll(/^\| (`\w+`(?:, `\w+`)*) \| ([\d][^|]*) \|/gm)) {
    const said = values!.split(/, (?=\d+(?:,\d{3})*(?: |$|,))/).map((value) => {
      const [, digits, unit] = /^([\d,]+) ?(\w+)?/.exec(value.trim())!
      return Number(digits!.replaceAll(',', '')) * (units.get(unit ?? '') ?? 1)
    })
    if (!Object.hasOwn(defaults, /\w+/.exec(names!)![0])) continue
    const real = [...names!.matchAll(/`(\w+)`/g)].map(([, name]) => Reflect.get(defaults, name!))
    assert.deepEqual(said, real, names)
  }
})

/** How a fault is told over JSON-RPC: the status where it has one of its own, `isError`, or the code. */
async function toldBy(server: TriportServer, path: string, method: string, params: object): Promise<string> {
  const response = await server.fetch(request(path, { jsonrpc: '2.0', id: '1', method, params }))
  const { error, result } = await jsonOf(response) as {
    readonly error?: { readonly code: number }, readonly result?: { readonly isError?: boolean },
  }
  if (response.status === 401 || response.status === 403) return String(response.status)
  return error === undefined ? `\`${result?.isError === true ? 'isError' : 'result'}\`` : String(error.code)
}

test('each kind of fault is told as the table of the README says', async (t) => {
  const rows = readme.split('\n')
    .slice(readme.split('\n').findIndex((line) => line.startsWith('| `Fault` kind')) + 2)
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
      assert.equal(await toldBy(server, '/messages/', 'tools/call', args), ofTools, kind)
      const prompt = { name: 'execute_assistant_task', arguments: { prompt: 'hello' } }
      assert.equal(await toldBy(server, '/messages/', 'tools/call', prompt), ofTools, kind)
      assert.equal(await toldBy(server, '/messages/', 'prompts/get', { name: 'fail' }), ofTheRest, kind)
      const read = await toldBy(server, '/messages/', 'resources/read', { uri: 'a:b' })
      assert.equal(read, kind === 'not-found' ? '-32002' : ofTheRest, kind)
      assert.equal(await toldBy(server, '/a2a', 'message/send', { message }), a2a, kind)
    }
  }
})
