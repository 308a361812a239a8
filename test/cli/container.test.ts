/** The Dockerfile of the guide without Docker: its copies, its start and its health check. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { blocks } from '../fixtures/documents.ts'
import { ask, environment, runInThread, shipped } from '../fixtures/command.ts'
import { freePort } from '../fixtures/listening.ts'
import { modules } from '../fixtures/modules.ts'

const DOCKERFILE = blocks.find(({ language }) => language === 'dockerfile')?.text ?? ''

/** The lines of one instruction, without it. */
function linesOf(instruction: string): readonly string[] {
  return [...DOCKERFILE.matchAll(new RegExp(`^${instruction} (.*)$`, 'gm'))].map(([, rest = '']) => rest)
}

test('the image of the guide starts without a package install, is healthy, and ends in order', async (t) => {
  const [context, image] = [modules(t, {
    'agent.js': 'export default (prompt) => `You said ${prompt}`', 'package.json': '{ "type": "module" }',
    'secret.txt': '',
  }), modules(t, {})]
  assert.equal((await runInThread(['vendor', 'vendor/triport'], {}, context, shipped)).code, 0)
  for (const line of linesOf('COPY')) {
    const words = line.split(' ')
    const to = words.pop() ?? ''
    for (const from of words) {
      const target = join(image, to.endsWith('/') ? join(to, from) : to)
      mkdirSync(dirname(target), { recursive: true })
      cpSync(join(context, from), target, { recursive: true })
    }
  }
  assert.doesNotMatch(DOCKERFILE, /npm|yarn|pnpm/)
  const env = Object.fromEntries(linesOf('ENV').map((line) => line.split('=')))
  assert.deepEqual(env, { HOST: '0.0.0.0', PORT: '8000' })
  // The port of the image is its own; here it may be taken.
  const port = String(await freePort())
  const [start = ''] = linesOf('CMD')
  const [program, ...args] = JSON.parse(start) as readonly string[]
  assert.equal(program, 'node')
  const child = spawn(process.execPath, args, {
    cwd: image, env: { ...environment, ...env, PORT: port, TRIPORT_API_KEY: 'k' },
  })
  t.after(() => child.kill('SIGKILL'))
  await new Promise((up, reject) => {
    child.stderr.on('data', (chunk) => { if (String(chunk).includes(' at http://')) up(undefined) })
    child.on('exit', reject)
  })
  const url = `http://127.0.0.1:${port}`
  assert.equal((await ask(url, 'hi', { 'x-api-key': 'k' }))['response'], 'You said hi')
  const [check = ''] = linesOf('HEALTHCHECK CMD')
  const [, ...checkArgs] = JSON.parse(check.replace(':8000', `:${port}`)) as readonly string[]
  const health = (): number | null => spawnSync(process.execPath, checkArgs, { cwd: image }).status
  assert.equal(health(), 0)
  const ended = new Promise((done) => child.on('exit', done))
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
  assert.equal(health(), 1)
})
