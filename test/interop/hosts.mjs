/**
 * Real hosts connect by what `triport install` writes: Claude Code, Codex and Gemini CLI, where their
 * programs are on the PATH. They are large, so nothing here installs them.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { freePort, root } from './start.mjs'

const command = `${root}dist/cli.js`
const module = `${root}test/interop/served.mjs`

/** What each says of its servers by `mcp list`: of one that is started, and of one that is called. */
const hosts = [
  ['claude-code', 'claude', /^started: .* ✔ Connected$/m, /^called: .* ✔ Connected$/m],
  ['gemini', 'gemini', /✓ started: .*Connected/, /✓ called: .*Connected/],
  // It reads its file, and connects when it is used.
  ['codex', 'codex', /^started +\S+ .*--stdio .*enabled/m, /^called +http\S+\/mcp +KEY_OF_CALLED +enabled/m],
]

for (const [host, program, started, called] of hosts) {
  const isThere = spawnSync(program, ['--version']).status === 0
  const skip = !isThere && `${program} is not on the PATH`
  test(`${host} uses what is written for it`, { skip, timeout: 120_000 }, async (t) => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'triport-host-')))
    t.after(() => rmSync(home, { recursive: true, force: true }))
    const folder = join(home, 'project')
    mkdirSync(folder)
    const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: '', KEY_OF_CALLED: 'a-key-of-our-own' }
    const port = await freePort()
    const args = [command, 'serve', module, '--protocol', 'mcp', '--port', String(port)]
    const server = spawn(process.execPath, args, { env: { ...env, TRIPORT_API_KEY: env.KEY_OF_CALLED } })
    t.after(() => server.kill('SIGKILL'))
    await new Promise((resolve, reject) => {
      server.stderr.on('data', (chunk) => { if (String(chunk).includes(' at http://')) resolve() })
      server.on('exit', reject)
    })
    for (const what of [
      [module, '--name', 'started'],
      [`http://127.0.0.1:${port}`, '--name', 'called', '--key-variable', 'KEY_OF_CALLED'],
    ]) {
      const install = [command, 'install', host, ...what, '--yes']
      const written = spawnSync(process.execPath, install, { env, encoding: 'utf8' })
      assert.equal(written.status, 0, written.stderr)
    }
    // It starts nothing in a folder that nobody trusts.
    const trusted = join(home, '.gemini', 'trustedFolders.json')
    if (host === 'gemini') writeFileSync(trusted, JSON.stringify({ [folder]: 'TRUST_FOLDER' }))
    const { stdout, stderr } = spawnSync(program, ['mcp', 'list'], { cwd: folder, env, encoding: 'utf8' })
    assert.match(stdout + stderr, started)
    assert.match(stdout + stderr, called)
  })
}
