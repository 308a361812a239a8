/** The commands and the programs of the README and of the guide do what stands below them. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'
import { freePort } from './fixtures/listening.ts'
import { blocks, programs } from './fixtures/documents.ts'
import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { Block } from './fixtures/documents.ts'

/** Processes of programs that run at one time. */
const AT_ONCE = 4

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

function start(program: Block): ChildProcess {
  mkdirSync('.test/readme', { recursive: true })
  const file = `.test/readme/${programs.indexOf(program)}.mjs`
  writeFileSync(file, program.text)
  // Tests in a program of the guide are reported as to a reader.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const preload = `data:text/javascript,${encodeURIComponent(anyPort)}`
  return spawn(process.execPath, ['--import', preload, file], { env })
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

test('there are commands to try', () => {
  assert.ok(commands.length > 20)
})

for (const server of new Set(commands.map(serverOf))) {
  test(`the commands for localhost:${server} print what is below them`, { skip }, async (t) => {
    const own = commands.filter((one) => serverOf(one) === server)
    const port = portOf(own[0]!)
    const child = await startAt(port, own[0]!.document)
    try {
      const place = await listening(child)
  
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
  if (printed === undefined && text.includes('export ')) {
    // A module for the command.
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
