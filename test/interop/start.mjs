/**
 * What all files of this folder begin with: whether their packages are installed, and the server of
 * `test/fixtures/everything.ts` as a process of its own. No test itself.
 */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository's root, with a final slash. */
export const root = fileURLToPath(new URL('../../', import.meta.url))

export const modules = fileURLToPath(new URL('node_modules/', import.meta.url))

const program = `${root}.test/test/fixtures/everything.js`

/** Why the tests of a file cannot run, in a sentence for `skip`; false where they can. */
export function missing(...packages) {
  const isBuilt = existsSync(program) && existsSync(`${root}dist/cli.js`)
  if (!isBuilt) return 'the tests are not built; run npm test first'
  const absent = packages.filter(
    (name) => !existsSync(new URL(`node_modules/${name}/package.json`, import.meta.url)),
  )
  return absent.length > 0 && `${absent.join(', ')} not installed; run npm ci in test/interop first`
}

/** A binary of Node 22: this one, or that of the package `node`; undefined where there is none. */
export function node22() {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath
  const shipped = existsSync(modules) ? readdirSync(modules).filter((name) => /^node(?:-|$)/.test(name)) : []
  const nested = shipped.flatMap((name) => [
    join(modules, name, 'bin/node'), join(
      modules, name, 'node_modules', `node-linux-${process.arch}`, 'bin/node',
    ),
  ])
  return nested.find((path) => existsSync(path))
}

/**
 * A port that nobody listens on. It is none of those that a system gives out by itself (from 32768 on), so
 * that nobody is given it before it is taken, or while a server begins again; nor is the one 10000 above it,
 * which a Redis of a cluster takes too, and where nobody listens either.
 */
export async function freePort() {
  for (;;) {
    const port = randomInt(10_000, 22_000)
    if (await isFree(port) && await isFree(port + 10_000)) return port
  }
}

async function isFree(port) {
  const probe = createServer().listen(port, '127.0.0.1')
  try {
    await once(probe, 'listening')
  } catch (error) {
    if (error.code !== 'EADDRINUSE') throw error
    return false
  }
  probe.close()
  await once(probe, 'close')
  return true
}

/** Starts the server; `stop` ends it as an operator would. `env` adds to its environment. */
export async function startEverything(env = {}) {
  const port = await freePort()
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise((resolve, reject) => {
    child.stdout.on('data', (text) => { if (String(text).includes('ready')) resolve() })
    child.on('exit', (code) => reject(new Error(`The server ended with ${code} before it was ready`)))
  })
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}
