import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { eventually } from '../fixtures/client.ts'
import { ask, initialize, mcpHeaders, run, serve } from '../fixtures/command.ts'
import { freePort } from '../fixtures/listening.ts'
import { modules } from '../fixtures/modules.ts'

const FINE = `export default (prompt) => 'You said ' + prompt`

test('a module that is watched starts again when a file of it changes, on its port', async (t) => {
  const agent = (file: string, word: string): string => `import { end } from './${file}'
    export default (prompt) => '${word} ' + prompt + end`
  const folder = modules(t, {
    'agent.mjs': agent('end.mjs', 'You said'), 'end.mjs': `export const end = '.'`,
  })
  // While it cannot be loaded, no other process may get its port.
  const { url, child, ended, said } = await serve(
    t, [join(folder, 'agent.mjs'), '--watch', '--protocol', 'all'], {}, await freePort(),
  )
  const answers = async (expected: string): Promise<void> => {
    await eventually(() => ask(url).then(({ response }) => response === expected, () => false), expected)
  }
  await answers('You said hi.')
  const session = (await initialize(url)).headers.get('mcp-session-id')
  assert.ok(session)
  writeFileSync(join(folder, 'end.mjs'), `export const end = '!'`)
  await answers('You said hi!')
  const list = await fetch(`${url}/mcp`, {
    method: 'POST', headers: { ...mcpHeaders, 'mcp-session-id': session },
    body: JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' }),
  })
  assert.equal(list.status, 200, 'a session of MCP goes on after a start')
  writeFileSync(join(folder, 'agent.mjs'), 'export default (')
  await eventually(() => /Cannot load .*agent\.mjs: [^]*ended; it starts again/.test(said()), 'the fault')
  writeFileSync(join(folder, 'agent.mjs'), agent('other.mjs', 'I heard'))
  await eventually(() => said().includes('Cannot find module'), 'the second fault')
  writeFileSync(join(folder, 'other.mjs'), `export const end = '?'`)
  await answers('I heard hi?')
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
  const lines = said().split('\n')
  assert.equal(lines.filter((line) => line.endsWith('has changed; starting again')).length, 4)
  assert.equal(lines.filter((line) => line.includes('(docs: ')).length, 1)
})

test('a file that a definition names is watched too, also while it is wrong', async (t) => {
  const page = (word: string): string => `<!doctype html><p>${word}`
  const folder = modules(t, {
    'tools.mjs': `export const tool = {
      name: 'cart', ui: { file: new URL('./cart.html', import.meta.url) }, run: () => '',
    }
    export const skills = new URL('./skills/', import.meta.url)`,
    'cart.html': page('One'), 'skills/pay/SKILL.md': '---\nname: pay\ndescription: Pays.\n---\n',
  })
  const file = join(folder, 'cart.html')
  const { url, child, ended, said } = await serve(
    t, [join(folder, 'tools.mjs'), '--watch', '--protocol', 'all'], {}, await freePort(),
  )
  const shows = async (expected: string): Promise<void> => {
    const read = async (): Promise<string> => (
      (await fetch(`${url}/resources/read?uri=ui://tools/cart`)).text()
    )
    await eventually(() => read().then((text) => text === expected, () => false), expected)
  }
  await shows(page('One'))
  writeFileSync(file, page('Two'))
  await shows(page('Two'))
  writeFileSync(file, 'Three')
  await eventually(() => /has a ui\.file that is no whole document[^]*ended; it starts/.test(said()),
    'the fault')
  writeFileSync(file, page('Three'))
  await shows(page('Three'))
  writeFileSync(join(folder, 'skills/pay/more.md'), 'More')
  const more = async (): Promise<boolean> => (await fetch(`${url}/skills/pay/more.md`)).status === 200
  await eventually(() => more().catch(() => false), 'a file that is added to a skill')
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
})

test('a file that changes after it was read, and before it is watched, has changed', async (t) => {
  const folder = modules(t, {
    // Its watcher is told late, and meanwhile the skill gets a file.
    'late.mjs': `import { existsSync, writeFileSync } from 'node:fs'
      const more = new URL('./skills/pay/more.md', import.meta.url)
      const send = process.send
      if (!existsSync(more)) {
        process.send = (...message) => setTimeout(() => send.apply(process, message), 300)
        setTimeout(() => writeFileSync(more, 'More'), 150)
      }
      export default () => 'hi'
      export const skills = new URL('./skills/', import.meta.url)`,
    'skills/pay/SKILL.md': '---\nname: pay\ndescription: Pays.\n---\n',
  })
  const { url, child, ended, said } = await serve(
    t, [join(folder, 'late.mjs'), '--watch'], {}, await freePort(),
  )
  const more = async (): Promise<boolean> => (await fetch(`${url}/skills/pay/more.md`)).status === 200
  await eventually(() => more().catch(() => false), 'the file')
  assert.equal(said().match(/has changed; starting again/g)?.length, 1)
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
})

test('where a key has to be made, what is watched keeps it from start to start', async (t) => {
  const fine = (word: string): string => FINE.replace('You said', word)
  const library = new URL('../../lib/index.js', import.meta.url).href
  const own = (word: string): string => (
    `export default { host: '0.0.0.0', agents: [${fine(word).replace('export default', '')}] }`
  )
  const made = (word: string): string => `import { createServer } from '${library}'
    export default createServer({ agents: [${fine(word).replace('export default', '')}] })`
  const rows = [[fine, '--host', '0.0.0.0'], [own], [made, '--host', '0.0.0.0']] as const
  await Promise.all(rows.map(async ([text, ...args], at) => {
    const folder = modules(t, { 'agent.mjs': text('You said') })
    const { url, said } = await serve(t, [join(folder, 'agent.mjs'), '--watch', ...args])
    const [, key = ''] = /asks for a key: (\S+)$/m.exec(said()) ?? []
    assert.equal((await ask(url))['status'], 401, String(at))
    const answers = (expected: string): Promise<void> => eventually(
      () => ask(url, 'hi', { 'x-api-key': key }).then(({ response }) => response === expected, () => false),
      expected,
    )
    await answers('You said hi')
    writeFileSync(join(folder, 'agent.mjs'), text('I heard'))
    await answers('I heard hi')
    assert.equal((await ask(url))['status'], 401)
  }))
})

test('what is watched ends in order while it ends for its next start, and while it loads', async (t) => {
  const folder = modules(t, {
    'slow.mjs': `export default () => {
      console.error('called')
      return new Promise((resolve) => setTimeout(resolve, 1000, 'late'))
    }`,
    'stuck.mjs': `console.error('loads'); setInterval(() => {}, 1000); await new Promise(() => {})`,
  })
  const { url, child, ended, until } = await serve(t, [join(folder, 'slow.mjs'), '--watch'])
  const asked = ask(url)
  await until(/called/)
  writeFileSync(join(folder, 'slow.mjs'), FINE)
  await until(/has changed; starting again/)
  child.kill('SIGTERM')
  assert.equal((await asked)['response'], 'late')
  assert.equal(await ended, 0)
  const loading = run(t, ['serve', join(folder, 'stuck.mjs'), '--watch'])
  await loading.until(/loads/)
  loading.child.kill('SIGTERM')
  assert.equal(await loading.ended, 0)
})

test('what is watched ends with the one that watches it', async (t) => {
  const folder = modules(t, { 'agent.mjs': FINE })
  const { url, child, ended } = await serve(t, [join(folder, 'agent.mjs'), '--watch'])
  child.kill('SIGKILL')
  // The streams are closed only when the last who has them is gone.
  await ended
  await assert.rejects(fetch(url))
})

/** What is watched comes no further than to its start before the one that watches it is gone. */
const HELD = `if (process.send !== undefined) {
  console.error('starts ' + process.pid)
  while (process.connected) await new Promise((resolve) => setTimeout(resolve, 10))
}`

test('what is watched does not begin to serve where the one that watches it is gone', async (t) => {
  const folder = modules(t, { 'agent.mjs': FINE, 'held.mjs': HELD })
  const { child, ended, until } = run(
    t, ['serve', join(folder, 'agent.mjs'), '--watch', '--port', '0'],
    { NODE_OPTIONS: `--import=${pathToFileURL(join(folder, 'held.mjs')).href}` },
  )
  const [, pid] = await until(/starts (\d+)/)
  child.kill('SIGKILL')
  t.after(() => {
    try {
      process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It is gone, as it should be.
    }
  })
  // The streams are closed only when the last who has them is gone.
  const gone = ended.then(() => 'gone')
  assert.equal(await Promise.race([gone, until(/\(docs: /).then(() => 'serves', () => 'gone')]), 'gone')
})
