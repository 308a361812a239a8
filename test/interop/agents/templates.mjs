/** What `triport new --from …` makes, with the real packages and the model of the tests. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { addressOf } from './listening.mjs'
import { startModel } from './model.mjs'

const command = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url))

/** Where the packages of a kind are, and which of them are there under another name. */
const kinds = [
  ['ai-sdk', 'vercel', { ai: 'ai7' }],
  ['mastra', 'vercel', {}],
  ['langgraph', 'langchain', {}],
  ['openai', 'langchain', {}],
]

/** Why a kind cannot be tested; false where it can. */
function missing(folder, installed) {
  if (!existsSync(command)) return 'triport is not built; run npm run build first'
  const names = Object.values(installed)
  const isThere = existsSync(new URL('node_modules', folder))
    && names.every((name) => existsSync(new URL(`node_modules/${name}`, folder)))
  return !isThere && `the packages are not installed; run npm ci in ${fileURLToPath(folder)}`
}

for (const [kind, name, installed] of kinds) {
  const folder = new URL(`./${name}/`, import.meta.url)
  const skip = missing(folder, installed)
  test(`a project from ${kind} answers`, { skip, timeout: 120_000 }, async (t) => {
    // Below the packages, which it finds as its own.
    const project = fileURLToPath(new URL(`.new-${kind}`, folder))
    rmSync(project, { recursive: true, force: true })
    t.after(() => rmSync(project, { recursive: true, force: true }))
    const made = spawnSync(process.execPath, [command, 'new', project, '--from', kind], { encoding: 'utf8' })
    assert.equal(made.status, 0, made.stderr)
    const { scripts, dependencies } = JSON.parse(readFileSync(`${project}/package.json`, 'utf8'))
    let text = readFileSync(`${project}/agent.js`, 'utf8')
    for (const [from, to] of Object.entries(installed)) text = text.replace(`from '${from}'`, `from '${to}'`)
    writeFileSync(`${project}/agent.js`, text)
    for (const [dependency, range] of Object.entries(dependencies)) {
      const { version } = JSON.parse(readFileSync(
        new URL(`node_modules/${installed[dependency] ?? dependency}/package.json`, folder), 'utf8',
      ))
      assert.equal(version.split('.')[0], range.slice(1).split('.')[0], `${dependency} ${version} is tested`)
    }
    const model = await startModel()
    t.after(() => model.close())
    const [, ...args] = scripts.start.split(' ')
    const child = spawn(process.execPath, [...args, '--port', '0'], {
      cwd: project, env: { ...process.env, OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: model.url },
    })
    t.after(() => child.kill('SIGKILL'))
    const { url, said } = await addressOf(child)
    const headers = { 'Content-Type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body: '{"query":"Good day"}' })
    assert.equal((await response.json()).response, 'You said Good day.', said())
    const { name: agent, description } = (await (await fetch(`${url}/agents`)).json()).agents[0]
    assert.equal(agent, 'Helper')
    assert.match(description, /^Answers questions/)
    const options = { cwd: project, encoding: 'utf8' }
    const checked = spawnSync(process.execPath, [command, 'check', 'agent.js'], options)
    assert.match(checked.stdout, /agent\.js: no errors, /)
  })
}
