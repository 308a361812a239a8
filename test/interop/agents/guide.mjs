/** The programs of the guide with other frameworks, run as they stand there: no test itself. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { addressOf } from './listening.mjs'
import { startModel } from './model.mjs'

const chapter = readFileSync(new URL('../../../lib/guide/other-frameworks.md', import.meta.url), 'utf8')
const programs = [...chapter.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, text]) => text)

// A program that listens gets a free port in the place of the one that it names. OpenAI's address is that of
// the model, for what does not read the environment.
const anyPort = `import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function (port, ...rest) { return listen.call(this, 0, ...rest) }
const { fetch } = globalThis
globalThis.fetch = (to, options) => fetch(to instanceof Request ? to
  : String(to).replace('https://api.openai.com/v1', process.env.OPENAI_BASE_URL), options)`

/**
 * Runs the program that imports a package, and asks it once. `folder` is the URL of the file that asks;
 * `installed` names packages that are there under another name, `env` makes what the environment has for a
 * model at a URL, `elsewhere` resolves to an address for `https://agents.example`.
 */
export function guideProgram(folder, name, options = {}) {
  const { skip = false, installed = {}, env = () => ({}), elsewhere } = options
  test(`the program of the guide with ${name} answers`, { skip, timeout: 120_000 }, async (t) => {
    let text = programs.find((one) => one.includes(`from '${name}'`))
    assert.ok(text, `the guide has no program with ${name}`)
    assert.ok(text.split('\n').filter((line) => line.trim() !== '').length <= 6, 'it is too long')
    const dist = new URL('../../../dist/index.js', import.meta.url).href
    for (const [from, to] of Object.entries({ ...installed, triport: dist })) {
      text = text.replace(`from '${from}'`, `from '${to}'`)
    }
    const file = fileURLToPath(new URL(`.guide-${name.replaceAll('/', '-')}.mjs`, folder))
    const model = await startModel()
    t.after(() => model.close())
    if (elsewhere !== undefined) text = text.replace('https://agents.example', await elsewhere(model.url))
    writeFileSync(file, text)
    t.after(() => rmSync(file, { force: true }))
    const atAnyPort = `data:text/javascript,${encodeURIComponent(anyPort)}`
    const child = spawn(process.execPath, ['--import', atAnyPort, file], {
      env: { ...process.env, OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: model.url, ...env(model.url) },
    })
    t.after(() => child.kill('SIGKILL'))
    const { url, said } = await addressOf(child)
    const headers = { 'Content-Type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body: '{"query":"Good day"}' })
    const { response: answer } = await response.json()
    assert.equal(answer, 'You said Good day.', said())
  })
}
