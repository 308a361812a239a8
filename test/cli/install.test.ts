import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import test from 'node:test'
import { userFile } from '../../lib/cli/install.ts'
import { mcpHosts } from '../../lib/floors/hosts/mcp-hosts.ts'
import { answersIn, linesFor, opening } from '../fixtures/command-lines.ts'
import { environment, program, runInThread, runWhole } from '../fixtures/command.ts'
import { modules } from '../fixtures/modules.ts'
import type { Ended, Run } from '../fixtures/command.ts'
import type { TestContext } from 'node:test'

const SHOP = `console.log('noise')
  setInterval(() => {}, 1_000)
  export const name = 'My Shop'
  const run = () => process.env.ADDEND ?? 3
  export const tools = [{ name: 'add', description: 'Adds two numbers.', run }]`

/** A home of its own, with a module in it, and what runs the command there. */
function homeOf(t: TestContext, files: Readonly<Record<string, string>> = {}): {
  readonly home: string
  install(...args: readonly string[]): Promise<Ended>
  installInProcess(...args: readonly string[]): Promise<Ended>
  read(path: string): string
} {
  const home = modules(t, { 'shop.mjs': SHOP, ...files })
  const env = { HOME: home, USERPROFILE: home, APPDATA: join(home, 'app'), XDG_CONFIG_HOME: '' }
  return {
    home,
    install: (...args) => runInThread(['install', ...args], env, home),
    installInProcess: (...args) => runWhole(t, ['install', ...args], env, home),
    read: (path) => readFileSync(join(home, path), 'utf8'),
  }
}

/** Where Claude Desktop and VS Code have their files here. */
const CLAUDE = process.platform === 'darwin' ? 'Library/Application Support/Claude/claude_desktop_config.json'
  : process.platform === 'win32' ? 'app/Claude/claude_desktop_config.json'
  : '.config/Claude/claude_desktop_config.json'

test('what is written starts the server, as the host does', async (t) => {
  const needy = `if (!process.env.ADDEND) throw new Error('ADDEND is missing')\n${SHOP}`
  const { home, installInProcess, read } = homeOf(t, { '.env': 'ADDEND=41\n', 'shop.mjs': needy })
  const { code, printed, said } = await installInProcess('claude', 'shop.mjs', '--yes', '--dotenv', '.env')
  assert.equal(code, 0, said)
  assert.match(printed, /^Claude Desktop: .*\n\n\+ \{\n[^]*\n\nWritten\.\nQuit Claude Desktop and start it /)
  const { mcpServers } = JSON.parse(read(CLAUDE))
  const { command, args } = mcpServers['my-shop']
  // A host has neither this folder nor this environment.
  const child = spawn(command, args, { cwd: '/', env: {}, stdio: 'pipe' })
  t.after(() => child.kill('SIGKILL'))
  let answers = ''
  child.stdout.on('data', (chunk) => { answers += String(chunk) })
  const params = { name: 'add', arguments: {} }
  child.stdin.end(linesFor([...opening, { id: 1, method: 'tools/call', params }]))
  await new Promise((done) => child.on('close', done))
  const [, called] = answersIn({ printed: () => answers } as Run)
  assert.match(JSON.stringify(called), /"text":"41"/)
  assert.equal(statSync(join(home, CLAUDE)).mode & 0o777, process.platform === 'win32' ? 0o666 : 0o600)
})

test('an editor gets an agent, and no address', async (t) => {
  const { install, read } = homeOf(t, { 'agent.mjs': `export default { name: 'Desk', run: (text) => text }` })
  const { code, printed, said } = await install('jetbrains', 'agent.mjs', '--yes')
  assert.equal(code, 0, said)
  assert.match(printed, /It is in the list of agents of AI Chat\.\n$/)
  const { command, args } = JSON.parse(read('.jetbrains/acp.json')).agent_servers.desk
  const child = spawn(command, args, { cwd: '/', env: {}, stdio: 'pipe' })
  t.after(() => child.kill('SIGKILL'))
  let answers = ''
  child.stdout.on('data', (chunk) => { answers += String(chunk) })
  child.stdin.end(linesFor([{ id: 1, method: 'initialize', params: { protocolVersion: 1 } }]))
  await new Promise((done) => child.on('close', done))
  assert.match(answers, /"agentInfo":\{"name":"Desk"/)
  const refused = await install('zed-agent', 'http://localhost:8000')
  assert.equal(refused.code, 2)
  assert.match(refused.said, /^triport: Zed \(ACP\) only starts agents; install a module: triport inst/)
})

test('the file keeps everything else, is kept as it was, and is written once', async (t) => {
  const servers = '    "my-shop": { "command": "old" }, // ours\n    "b": {}\n'
  const old = `// mine\n{\n  "mcpServers": {\n${servers}  }\n}\n`
  const { home, install, read } = homeOf(t, { [CLAUDE]: old })
  const folder = dirname(join(home, CLAUDE))
  const shown = await install('claude', 'shop.mjs', '--dry-run')
  assert.match(shown.printed, /^- {5}"my-shop": \{ "command": "old" \}, \/\/ ours$/m)
  assert.match(shown.printed, /^\+ {7}"command": .*$/m)
  assert.match(shown.printed, /\nNothing was written\.\n$/)
  assert.equal(read(CLAUDE), old)
  const asked = await install('claude', 'shop.mjs')
  assert.equal(asked.code, 2)
  assert.equal(asked.said.replace('noise\n', ''),
    'triport: There is no terminal to ask on; write --yes, or --dry-run to see only\n')
  assert.equal(read(CLAUDE), old)
  const done = await install('claude', 'shop.mjs', '-y')
  assert.equal(done.code, 0)
  assert.match(read(CLAUDE), /^\/\/ mine\n[^]*\}, \/\/ ours\n {4}"b": \{\}\n {2}\}\n\}\n$/)
  const [, kept = ''] = /The file as it was: (.*)$/m.exec(done.printed) ?? []
  assert.equal(readFileSync(kept, 'utf8'), old)
  const again = await install('claude', 'shop.mjs', '-y')
  assert.match(again.printed, /^Claude Desktop has 'my-shop' already, as it would be written to .*\n$/)
  assert.equal(readdirSync(folder).length, 2, 'one file and one copy')
})

test('addresses, projects, names and links are written where the host looks', async (t) => {
  const { home, install, read } = homeOf(t)
  const local = ['http://localhost:8000', '--key-variable', 'SHOP_KEY']
  assert.equal((await install('cursor', ...local, '--yes')).code, 0)
  assert.deepEqual(JSON.parse(read('.cursor/mcp.json')), { mcpServers: { localhost: {
    url: 'http://localhost:8000/mcp', headers: { Authorization: 'Bearer ${env:SHOP_KEY}' },
  } } })
  const team = ['https://a.example/team/mcp', '--name', 'Team_1']
  assert.equal((await install('vscode', ...team, '--yes', '--project')).code, 0)
  assert.deepEqual(JSON.parse(read('.vscode/mcp.json')), {
    servers: { Team_1: { type: 'http', url: 'https://a.example/team/mcp' } },
  })
  mkdirSync(join(home, '.codex'))
  writeFileSync(join(home, 'real.toml'), 'model = "m"\n')
  symlinkSync(join(home, 'real.toml'), join(home, '.codex', 'config.toml'))
  assert.equal((await install('codex', 'https://a.example/mcp', '--yes', '--name', 'shop')).code, 0)
  assert.equal(read('real.toml'), 'model = "m"\n\n[mcp_servers.shop]\nurl = "https://a.example/mcp"\n')
})

test('on a terminal it asks, and only yes writes', (t) => {
  if (spawnSync('script', ['--version']).status !== 0) return t.skip('this machine has no script')
  for (const [answer, isWritten] of [['n', false], ['', false], ['y', true]] as const) {
    const { home, read } = homeOf(t)
    const line = `'${process.execPath}' '${program}' install claude shop.mjs --name shop`
    const { stdout } = spawnSync('script', ['-qec', line, '/dev/null'], {
      cwd: home, encoding: 'utf8', input: `${answer}\n`,
      env: { ...environment, HOME: home, XDG_CONFIG_HOME: '' },
    })
    assert.match(stdout, /Write this\? \(y\/N\)/)
    assert.match(stdout, isWritten ? /Written\./ : /Nothing was written\./)
    if (isWritten) assert.match(read(CLAUDE), /"shop"/)
    else assert.throws(() => read(CLAUDE), /ENOENT/)
  }
})

test('each system has its own place for the file of a host', () => {
  type Row = readonly [id: string, platform: NodeJS.Platform, variables: object, file: string]
  const rows: readonly Row[] = [
    ['claude', 'darwin', {}, '/h/Library/Application Support/Claude/claude_desktop_config.json'],
    ['claude', 'win32', { APPDATA: 'C:/$&/Roaming' }, 'C:/$&/Roaming/Claude/claude_desktop_config.json'],
    ['claude', 'win32', {}, '/h/AppData/Roaming/Claude/claude_desktop_config.json'],
    ['claude', 'linux', {}, '/h/.config/Claude/claude_desktop_config.json'],
    ['claude', 'linux', { XDG_CONFIG_HOME: '/c' }, '/c/Claude/claude_desktop_config.json'],
    ['claude', 'linux', { XDG_CONFIG_HOME: '' }, '/h/.config/Claude/claude_desktop_config.json'],
    ['zed', 'darwin', { XDG_CONFIG_HOME: '/c' }, '/h/.config/zed/settings.json'],
    ['cursor', 'linux', { XDG_CONFIG_HOME: '/c' }, '/h/.cursor/mcp.json'],
    ['vscode', 'darwin', {}, '/h/Library/Application Support/Code/User/mcp.json'],
  ]
  for (const [id, platform, variables, file] of rows) {
    const { files } = mcpHosts.find((host) => host.id === id)!
    assert.equal(userFile(files, { platform, home: '/h', variables: { ...variables } }), normalize(file))
  }
})

const mistakes: readonly (readonly [args: readonly string[], code: number, sentence: RegExp])[] = [
  [[], 2, /^triport: install needs a host: claude, claude-code, cursor, .*, codex, zed-agent, jetbrains\n$/],
  [['curser', 'shop.mjs'], 2, /^triport: There is no host 'curser'; did you mean cursor\?\n$/],
  [['x', 'shop.mjs'], 2, /^triport: There is no host 'x'; write claude, claude-code, /],
  [['cursor'], 2, /^triport: install needs what to install: triport install cursor agent\.js\n$/],
  [['cursor', 'shop.mjs', 'b.js'], 2, /^triport: install takes one server, not also b\.js\n$/],
  [['cursor', 'gone.mjs'], 1, /^triport: There is no file gone\.mjs; name a module, or an address, http:/],
  [['cursor', 'broken.mjs', '-y'], 1, /^triport: Cannot load broken\.mjs: on purpose\n/],
  [['cursor', 'broken.mjs', '-y', '--name', 's'], 1, /^triport: Cannot load broken\.mjs: on purpose\n/],
  [['cursor', 'http://'], 2, /^triport: http:\/\/ is no address; write one as in http:\/\/local/],
  [['claude', 'http://localhost:8000'], 2, /^triport: By its file Claude Desktop only starts servers; /],
  [['zed', 'http://localhost:8000', '--key-variable', 'KEY'], 2, /^triport: Zed takes no variables /],
  [['cursor', 'http://localhost', '--key-variable', 'sk-1 2'], 2, /takes the name of an environment /],
  [['cursor', 'shop.mjs', '--key-variable', 'KEY'], 2, /^triport: --key-variable and a module: a /],
  [['cursor', 'http://localhost', '--dotenv', '.env'], 2, /^triport: --dotenv and an address: it is /],
  [['cursor', 'shop.mjs', '--dotenv', '.env'], 1, /^triport: There is no file \.env\n$/],
  [['cursor', 'shop.mjs', '--dotenv', '.'], 1, /^triport: There is no file \.\n$/],
  [['cursor', 'shop.mjs', '--name', 'a b'], 2, /^triport: --name "a b": hosts take 1 to 64 letters, /],
  [['windsurf', 'shop.mjs', '--project', '--name', 's'], 2, /^triport: Windsurf has no file for one /],
  [['cursor', 'shop.mjs', '-y', '--name', 's'], 1,
    /^noise\ntriport: \S+mcp\.json cannot be changed: line 2 is no JSON at 'oops'\. Mend it, or write /],
  [['codex', 'shop.mjs', '-y'], 1,
    /^triport: \S+config\.toml cannot be changed: EISDIR: .*\. Mend it, or write by hand /],
  [['cursor', 'made.mjs', '-y'], 2, /^triport: --stdio and a server that is made: export by default what /],
  [['cursor', 'wrong.mjs', '-y'], 1, /^triport: maxBodyBytes is "4MB"; write a whole number/],
]

test('what cannot be installed is said, and no file is touched', async (t) => {
  const broken = '{\n  oops\n}\n'
  const { install, read } = homeOf(t, {
    '.cursor/mcp.json': broken, 'broken.mjs': `throw new Error('on purpose')`, '.codex/config.toml/a': '',
    'wrong.mjs': `export const maxBodyBytes = '4MB'; export default () => 1`,
    'made.mjs': `import { createServer } from '${new URL('../../lib/index.js', import.meta.url).href}'
      export default createServer({ agents: [() => 'hi'], log: false })`,
  })
  for (const [args, code, sentence] of mistakes) {
    const failed = await install(...args)
    assert.equal(failed.code, code, args.join(' '))
    assert.match(failed.said, sentence)
    assert.doesNotMatch(failed.said, /sk-1/)
    assert.equal(read('.cursor/mcp.json'), broken)
  }
})
