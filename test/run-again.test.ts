/** `.build/test.js` runs the tests: what fails beside others is run once more, alone, with `CI=true`. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import test from 'node:test'
import type { TestContext } from 'node:test'

/** Each writes down that it ran. */
const passes = "test('is well', () => {})"
const fails = "test('is broken', () => { throw new Error('It is broken.') })"
const failsFirst = "test('is late', () => { if (runs === 1) throw new Error('It is late.') })"
const crashesFirst = "if (runs === 1) throw new Error('It crashed.')\ntest('is well', () => {})"
const leavesFirst = `${passes}\nprocess.once('exit', () => { if (runs === 1) process.exitCode = 1 })`
const hides = `${fails}\nprocess.once('exit', () => { process.reallyExit(0) })`
const hangs = `${passes}\nsetInterval(() => {}, 1000)`
const isTodo = "test('is to come', { todo: true }, () => { throw new Error('It is to come.') })"

interface Ran {
  readonly status: number
  readonly text: string
  /** How often each file ran. */
  readonly runs: readonly number[]
  /** Those that were told to pass alone. */
  readonly alone: readonly string[]
}

async function ran(t: TestContext, CI: string, ...files: readonly string[]): Promise<Ran> {
  return ranWith(t, { CI }, ...files)
}

async function ranWith(
  t: TestContext, settings: Readonly<Record<string, string>>, ...files: readonly string[]
): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'triport-run-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const paths = files.map((text, index) => {
    const path = join(folder, `${index}.test.cjs`)
    writeFileSync(path, `const test = require('node:test')
const { appendFileSync, readFileSync } = require('node:fs')
appendFileSync(__filename + '.runs', '.')
const runs = readFileSync(__filename + '.runs').length
${text}
`)
    return path
  })
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { status, text } = await new Promise<Pick<Ran, 'status' | 'text'>>((resolve) => {
    const words = ['.build/test.js', ...paths]
    const child = execFile(process.execPath, words, { env: { ...env, ...settings } }, (_, stdout) => {
      resolve({ status: child.exitCode ?? -1, text: stdout })
    })
  })
  return {
    status, text, runs: paths.map((path) => readFileSync(`${path}.runs`).length),
    alone: [...text.matchAll(/^# passes alone: (.*)$/gm)].map(([, path = '']) => basename(path)),
  }
}

test('what fails beside others and passes alone fails no run in CI, and is told', async (t) => {
  const files = [failsFirst, passes, crashesFirst, leavesFirst, isTodo]
  const { status, text, runs, alone } = await ran(t, 'true', ...files)
  assert.equal(status, 0, text)
  assert.deepEqual(runs, [2, 1, 2, 2, 1])
  assert.deepEqual([...alone].sort(), ['0.test.cjs', '2.test.cjs', '3.test.cjs'])
  assert.match(text, /^not ok 1 - is late$[^]*^# passes alone: /m, 'the first failure is printed')
})

test('what fails again fails the run in CI', async (t) => {
  const { status, runs, alone, text } = await ran(t, 'true', fails, failsFirst)
  assert.equal(status, 1)
  assert.deepEqual(runs, [2, 2])
  assert.deepEqual(alone, ['1.test.cjs'])
  assert.equal(text.match(/^not ok \d+ - is broken$/gm)?.length, 2, 'both failures are printed')
})

test('what fails fails the run, even if its process ends as if all were well', async (t) => {
  const { status, alone } = await ran(t, 'true', hides, passes)
  assert.equal(status, 1)
  assert.deepEqual(alone, [])
})

test('elsewhere nothing is run again', async (t) => {
  for (const CI of ['', 'false']) {
    const { status, runs, alone } = await ran(t, CI, failsFirst, passes)
    assert.deepEqual([status, runs, alone], [1, [1, 1], []])
  }
  assert.equal((await ran(t, '', isTodo)).status, 0)
})

test('a file that does not end is ended, and has failed', async (t) => {
  const { status, text } = await ranWith(t, { CI: '', FILE_SECONDS: '3' }, hangs)
  assert.equal(status, 1)
  assert.match(text, /^ok 1 - is well$[^]*timed out after 3000ms/m, 'what it did before is printed')
})

test('what tests read is not copied again while it is the same: other runs may be reading it', async (t) => {
  const paths = ['.test/LICENSE', '.test/lib/parts/docs/docs.html', '.test/lib/guide/mcp.md']
  const before = paths.map((path) => statSync(path).ctimeMs)
  await ran(t, '', passes)
  assert.deepEqual(paths.map((path) => statSync(path).ctimeMs), before)
})
