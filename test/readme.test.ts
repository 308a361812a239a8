/**
 * The README and the guide are true: their commands print what stands below them, their programs run, and
 * their tables are those of the code. A `…` in what is printed stands for anything.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { defaults, Fault } from '../lib/index.ts'
import { serverOptions } from '../lib/server/options.ts'
import { jsonOf, request, serve } from './fixtures/client.ts'
import { freePort } from './fixtures/listening.ts'
import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { FaultKind, TriportServer } from '../lib/index.ts'

/** A block of code: what is below it without a line between is what it prints. */
interface Block {
  readonly document: string
  readonly language: string
  readonly text: string
  readonly printed: string | undefined
}

const GUIDE = 'lib/guide'
const chapters = readdirSync(GUIDE).map((name) => join(GUIDE, name))
const README = readFileSync('README.md', 'utf8')
const MAP = '.github/CONTRIBUTING.md'

/** Processes of programs that run at one time. */
const AT_ONCE = 4

const blocks = ['README.md', ...chapters].flatMap(blocksOf)

function blocksOf(document: string): readonly Block[] {
  const text = readFileSync(document, 'utf8')
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```\n(?=(?:```(?:json|text)\n([\s\S]*?)^```$)?)/gm)]
    .map(([, language = '', text = '', printed]) => ({ document, language, text, printed }))
}

/** Compares as a reader would: blanks at the ends do not count. */
function matches(printed: string, promised: string): boolean {
  const parts = promised.trim().split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const pattern = parts.join('[\\s\\S]*')
  return new RegExp(`^${pattern}$`).test(printed.trim())
}

function requireMatch(printed: string, promised: string): void {
  assert.ok(matches(printed, promised), `printed:\n${printed}\npromised:\n${promised}`)
}

/** What a process has written so far. */
interface Output { text: string }

function outputOf(stream: Readable | null): Output {
  const output: Output = { text: '' }
  stream!.on('data', (chunk: Buffer) => { output.text += chunk.toString() })
  return output
}

/** Resolves to the address at which a process says that it listens; rejects when it ends before. */
function listening(child: ChildProcess, output = outputOf(child.stderr)): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stderr!.on('data', () => {
      const [, address] = / at http:\/\/(\S+) /.exec(output.text) ?? []
      if (address !== undefined) resolve(address)
    })
    child.on('exit', (code) => reject(new Error(`ended with ${code}: ${output.text}`)))
  })
}

// A program that listens gets a free port in the place of the one that it names.
const anyPort = `import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function (port, ...rest) { return listen.call(this, 0, ...rest) }`

// Those that need a server are run in test/interop/scale.
const programs = blocks.filter(({ language, text }) => (
  language === 'js' && !/from '(?:ioredis|pg)'/.test(text)
))

function start(program: Block): ChildProcess {
  mkdirSync('.test/readme', { recursive: true })
  const file = `.test/readme/${programs.indexOf(program)}.mjs`
  writeFileSync(file, program.text)
  return spawn(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(anyPort)}`, file])
}

const commands = blocks.filter(({ language, text, printed }) => (
  language === 'sh' && text.startsWith('curl') && printed !== undefined
))

/** What answers at port 8000 is the command; at another, the program of the same document that names it. */
async function startAt(port: string, document: string): Promise<ChildProcess> {
  if (port === '8000') {
    const args = ['serve', '--protocol', 'all', '--port', String(await freePort())]
    return spawn(process.execPath, ['dist/cli.js', ...args])
  }
  return start(programs.find((one) => one.document === document && one.text.includes(`port: ${port}`))!)
}

const portOf = ({ text }: Block): string => /localhost:(\d+)/.exec(text)![1]!
const serverOf = (one: Block): string => portOf(one) === '8000' ? '8000' : `${portOf(one)} of ${one.document}`
const skip = spawnSync('curl', ['--version']).status === 0 ? false : 'curl is not installed'

for (const server of new Set(commands.map(serverOf))) {
  test(`the commands for localhost:${server} print what is below them`, { skip }, async (t) => {
    const own = commands.filter((one) => serverOf(one) === server)
    const port = portOf(own[0]!)
    const child = await startAt(port, own[0]!.document)
    try {
      const place = await listening(child)
      assert.ok(own.length > 5)
      for (const { document, text, printed = '' } of own) {
        await t.test(`${basename(document)}: ${text.split('\n')[0]}`, () => {
          const here = (written: string): string => written.replaceAll(`localhost:${port}`, place)
          const { stdout } = spawnSync('sh', ['-c', here(text)], { encoding: 'utf8' })
          requireMatch(stdout, here(printed))
        })
      }
    } finally {
      child.kill()
    }
  })
}

async function runs(program: Block): Promise<void> {
  const { text, printed } = program
  const child = start(program)
  const isLaunched = text.includes('launch(')
  const output = outputOf(isLaunched ? child.stderr : child.stdout)
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
  if (isLaunched) {
    const place = await listening(child, output)
    const promised = printed?.replaceAll(/127\.0\.0\.1:8\d{3}/g, place)
    if (promised !== undefined) requireMatch(output.text, promised)
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
    return
  }
  assert.ok(printed !== undefined, 'a program that does not launch must show what it prints')
  const deadline = Date.now() + 60_000
  const isDone = (): boolean => matches(output.text, printed) || child.exitCode !== null
  while (!isDone() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))
  child.kill()
  requireMatch(output.text, printed)
}

test('the programs of the README and of the guide run', { concurrency: AT_ONCE }, async (t) => {
  await Promise.all(programs.map((program) => {
    const lines = program.text.split('\n').filter((line) => !line.startsWith('import') && line !== '')
    return t.test(`${basename(program.document)}: ${lines[0]}`, () => runs(program))
  }))
})

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
    '--module', 'nodenext', '--target', 'es2023', '--types', 'node', ...files,
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
