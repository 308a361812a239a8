/**
 * Requests to addresses that clients have chosen, under Bun and Deno: they go where the look-up says, and
 * nowhere when it refuses. A runtime that asked nobody would post to what only the server can reach. One that
 * is not installed here skips itself, and says so.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { missing, modules } from './start.mjs'

const [url] = process.argv.slice(2)

/** What becomes of posts to a name that is found here, and to one that is refused. Prints it. */
async function post() {
  const load = (path) => import(new URL(`../../.test/lib/floors/outbound/${path}.js`, import.meta.url))
  const { guardedRequest } = await load('guarded-request')
  const { lookupBy } = await load('host-lookups')
  const said = []
  for (const protocol of ['http:', 'https:']) {
    for (const name of ['found.invalid', 'localhost']) {
      const lookup = lookupBy(async (asked) => {
        if (asked !== 'found.invalid') throw new Error('refused')
        return [{ address: '127.0.0.1', family: 4 }]
      })
      const to = Object.assign(new URL(url), { protocol, hostname: name })
      const asked = { method: 'POST', headers: {}, body: name, agent: false, lookup, maxBytes: 100 }
      const ending = new AbortController()
      const late = setTimeout(() => ending.abort(new Error('late')), 30_000)
      said.push(await guardedRequest(to, asked, ending.signal).then(
        ({ status }) => status, ({ message }) => message === 'refused' ? message : 'failed',
      ))
      clearTimeout(late)
    }
  }
  console.log(JSON.stringify(said))
  process.exit(0)
}

function register() {
  for (const [name, ...args] of [['bun', 'run'], ['deno', 'run', '-A']]) {
    const skip = missing(name)
    if (skip) console.log(`guarded: ${name} skipped: ${skip}`)
    test(`${name} connects where the look-up of a request says`, { skip, timeout: 120_000 }, async (t) => {
      let came = 0
      const hook = createServer((_request, response) => {
        came++
        response.end()
      }).listen(0, '127.0.0.1')
      await once(hook, 'listening')
      t.after(() => { hook.closeAllConnections(); hook.close() })
      const to = `http://localhost:${hook.address().port}/`
      const program = [...args, fileURLToPath(import.meta.url), to]
      const child = spawn(`${modules}.bin/${name}`, program, { stdio: ['ignore', 'pipe', 'inherit'] })
      t.after(() => child.kill())
      // What answers speaks no TLS.
      assert.deepEqual(await json(child.stdout), [200, 'refused', 'failed', 'refused'])
      assert.equal(came, 1)
    })
  }
}

if (url?.startsWith('http:')) await post()
else register()
