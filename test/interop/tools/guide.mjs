/** The programs of the guide with tools of other frameworks, run as they stand there, each called once. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const skip = existsSync(new URL('./node_modules/', import.meta.url)) ? false
  : 'the packages are not installed: cd test/interop/tools && npm ci'
if (skip) console.log(`guide: skipped: ${skip}`)

const path = new URL('../../../lib/guide/tools-of-other-frameworks.md', import.meta.url)
const chapter = readFileSync(path, 'utf8')
const [, whole] = /^```js\n([\s\S]*?)^```$/m.exec(chapter)

// A program that listens gets a free port in the place of the one that it names.
const anyPort = `data:text/javascript,${encodeURIComponent(`import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function (port, ...rest) { return listen.call(this, 0, ...rest) }`)}`

/** What each row of the table makes, with the lines around it. */
const rows = [...chapter.matchAll(/^\| ([^|]+) \| (?:`(import [^`]+)`<br>)?`(const add = [^`]+)` \|$/gm)]
const programs = new Map([['AI SDK', whole], ...rows.map(([, name, imports = '', line]) => [name, `${imports}
import { launch } from 'triport'
import { z } from 'zod'
const schema = z.object({ a: z.number() })
${line}
await launch({ tools: [add] })
`])])

/** Packages that are here under another name: a part of the whole, which has the same. */
const installed = {
  'triport': new URL('../../../dist/index.js', import.meta.url).href, '@openai/agents': '@openai/agents-core',
}

test('there is a program for each framework', () => {
  assert.equal(programs.size, 13)
})

let number = 0
for (const [name, text] of programs) {
  test(`the program with ${name} serves its tool`, { skip, timeout: 120_000 }, async (t) => {
    const file = fileURLToPath(new URL(`.guide-${++number}.mjs`, import.meta.url))
    const changed = Object.entries(installed)
      .reduce((one, [from, to]) => one.replace(`from '${from}'`, `from '${to}'`), text)
    writeFileSync(file, changed)
    t.after(() => rmSync(file, { force: true }))
    const stdio = ['ignore', 'ignore', 'pipe']
    const child = spawn(process.execPath, ['--import', anyPort, file], { stdio })
    t.after(() => child.kill('SIGKILL'))
    let said = ''
    const url = await new Promise((resolve, reject) => {
      child.stderr.on('data', (chunk) => {
        said += chunk
        const [, address] = / at (http:\/\/\S+)/.exec(said) ?? []
        if (address !== undefined) resolve(address)
      })
      child.on('exit', () => reject(new Error(`It ended: ${said}`)))
    })
    const response = await fetch(`${url}/messages/`, {
      method: 'POST', headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add', arguments: { a: 1 } },
      }),
    })
    const { result } = await response.json()
    assert.equal(result?.content[0].text, '2', said)
  })
}
