import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { jsonOf } from './fixtures/client.ts'
import type { ChildProcess } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
// Takes nothing: it makes the compiler put the command beside this test.
import type {} from '../lib/cli.ts'

// The command lies beside this file as this file does: as source, or compiled.
const kind = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
const program = fileURLToPath(new URL(`../lib/cli.${kind}`, import.meta.url))
const PATIENCE_MS = 20_000

/** The environment without what would change what the command does. */
const {
  OPENAI_API_KEY: _key, OPENAI_BASE_URL: _url, TRIPORT_API_KEY: _own, TRIPORT_SECRET: _secret, ...environment
} = process.env

/** One run of the command. */
interface Run {
  readonly child: ChildProcess
  /** What it has written to standard error so far. */
  said(): string
  /** What it has written to standard output so far. */
  printed(): string
  /** Resolves to the exit code, and to the signal where that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
  /** Resolves to the first match in standard error. */
  until(pattern: RegExp): Promise<RegExpExecArray>
}

function run(t: TestContext, args: readonly string[], env: Record<string, string> = {}): Run {
  const child = spawn(
    process.execPath, [program, ...args], { env: { ...environment, ...env }, stdio: 'pipe' },
  )
  let said = ''
  let printed = ''
  child.stderr.on('data', (chunk) => { said += String(chunk) })
  child.stdout.on('data', (chunk) => { printed += String(chunk) })
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal))
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
  t.after(() => {
    clearTimeout(timer)
    child.kill('SIGKILL')
  })
  return {
    child,
    said: () => said,
    printed: () => printed,
    ended,
    until(pattern) {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(said)
          if (match !== null) resolve(match)
        }
        child.stderr.on('data', look)
        void ended.then((code) => reject(new Error(`It ended with ${code} and said ${said}`)))
        look()
      })
    },
  }
}

/** A run that listens: its address is the first that it tells. */
async function serve(
  t: TestContext, args: readonly string[], env?: Record<string, string>,
): Promise<Run & { readonly url: string }> {
  const started = run(t, ['serve', ...args, '--port', '0'], env)
  const [, url = ''] = await started.until(/ at (http:\S+)  \(docs: /)
  return { ...started, url }
}

/** A folder with modules in it. */
function modules(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'triport-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

async function ask(
  url: string, query = 'hi', headers: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const body = JSON.stringify({ query })
  return jsonOf(
    await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }),
  )
}

const agent = (name: string): string => `{ name: '${name}', run: (prompt) => '${name} heard ' + prompt }`
const tool = `{ name: 'add', inputSchema: { type: 'object' }, run: () => 3 }`

/** What a module may export, what then answers a query, and what else is to be seen. */
const forms: readonly (readonly [
  file: string, text: string, response: string, tools?: readonly string[],
])[] = [
  ['function.mjs', `export default (prompt) => 'You said ' + prompt`, 'You said hi'],
  ['definition.mjs', `export default ${agent('Ann')}`, 'Ann heard hi'],
  ['list.mjs', `export default [${agent('Ann')}, ${agent('Bob')}]`, 'Bob heard Ann heard hi'],
  ['agent.mjs', `export const agent = ${agent('Ann')}`, 'Ann heard hi'],
  ['agents.mjs', `export const agents = [${agent('Ann')}, ${agent('Bob')}]`, 'Bob heard Ann heard hi'],
  ['group.mjs', `export const group = {
    name: 'Desk', agents: [${agent('Ann')}, ${agent('Bob')}], mode: 'parallel',
  }`, 'Ann heard hi\n\nBob heard hi'],
  ['groups.mjs', `export const groups = [{ name: 'Desk', agents: [${agent('Ann')}] }]`, 'Ann heard hi'],
  ['with-tools.mjs', `export default ${agent('Ann')}\nexport const tools = [${tool}]`, 'Ann heard hi',
    ['execute_ann_task', 'add']],
  ['plain-tools.mjs', `export const agent = ${agent('Ann')}
    export const tools = [{ name: 'now', run: () => 1 }, { name: 'later', run: () => 2 }]`, 'Ann heard hi',
    ['execute_ann_task', 'now', 'later']],
  ['one-each.mjs', `export const agents = (prompt) => 'You said ' + prompt\nexport const tools = ${tool}`,
    'You said hi', ['execute_assistant_task', 'add']],
  ['function.cjs', `module.exports = (prompt) => 'You said ' + prompt`, 'You said hi'],
  ['named.cjs', `exports.agent = ${agent('Ann')}\nexports.tools = [${tool}]`, 'Ann heard hi',
    ['execute_ann_task', 'add']],
]

test('a module is served whatever form its export has', async (t) => {
  const folder = modules(t, Object.fromEntries(forms))
  await Promise.all(forms.map(async ([file, , response, tools]) => {
    const { url, child, ended } = await serve(t, [join(folder, file), '--protocol', 'http,mcp'])
    assert.equal((await ask(url))['response'], response, file)
    if (tools !== undefined) {
      const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
      const headers = { 'content-type': 'application/json' }
      const { result } = await jsonOf(await fetch(`${url}/messages/`, { method: 'POST', headers, body }))
      const names = (result as { tools: readonly { name: string }[] }).tools.map(({ name }) => name)
      assert.deepEqual(names, tools, file)
    }
    child.kill('SIGTERM')
    assert.equal(await ended, 0, file)
  }))
})

test('tools alone are served over MCP', async (t) => {
  const folder = modules(t, { 'tools.mjs': `export const tools = [${tool}]` })
  const { url, said } = await serve(t, [join(folder, 'tools.mjs')])
  assert.match(said(), /MCP {2,}http/)
  assert.doesNotMatch(said(), /HTTP {2,}http|A2A {2,}http/)
  assert.equal((await fetch(`${url}/agents`)).status, 404)
})

test('without a module the built-in assistant answers', async (t) => {
  const { url } = await serve(t, [])
  const { response } = await ask(url, 'What is 12 * (3 + 4)?')
  assert.match(String(response), /84/)
})

test('without a module a model answers, where the environment names one', async (t) => {
  const asked: unknown[] = []
  const endpoint = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    asked.push([request.url, request.headers.authorization, (JSON.parse(body) as { model: string }).model])
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'I am a model' } }] }))
  })
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
  t.after(() => { endpoint.closeAllConnections(); endpoint.close() })
  const { port } = endpoint.address() as AddressInfo
  const env = { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_API_KEY: 'sk', OPENAI_MODEL: 'small' }
  const { url } = await serve(t, [], env)
  assert.equal((await ask(url))['response'], 'I am a model')
  assert.deepEqual(asked, [['/v1/chat/completions', 'Bearer sk', 'small']])
})

test('help and version are printed, and nothing else', async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const rows: readonly (readonly [args: readonly string[], printed: RegExp])[] = [
    [['--version'], new RegExp(`^${version.replaceAll('.', '\\.')}\\n$`)], [['-v'], /^\d+\.\d+\.\d+\n$/],
    [['--help'], /^Usage: triport serve \[module\] \[options\]\n/], [['-h'], /^Usage: /], [[], /^Usage: /],
    [['serve', '--help'], /^Usage: /],
  ]
  for (const [args, printed] of rows) {
    const help = run(t, args)
    assert.equal(await help.ended, 0, args.join(' '))
    assert.match(help.printed(), printed)
    assert.equal(help.said(), '')
    for (const line of help.printed().split('\n')) assert.ok(line.length <= 100, line)
  }
})

const mistakes: readonly (readonly [args: readonly string[], code: number, sentence: RegExp])[] = [
  [['start'], 2, /^triport: There is no command 'start'; write triport serve\n$/],
  [['serve', 'fine.mjs', 'other.mjs'], 2, /^triport: One module can be served, not also other\.mjs\n$/],
  [['serve', '--colour'], 2, /^triport: Unknown option '--colour'/],
  [['serve', 'fine.mjs', '--port', 'many'], 2,
    /^triport: --port many is no port; write a number from 0 to 65535\n$/],
  [['serve', 'fine.mjs', '--port', '65536'], 2, /--port 65536 is no port/],
  [['serve', 'fine.mjs', '--port', '80.5'], 2, /--port 80\.5 is no port/],
  [['serve', 'fine.mjs', '--port', ''], 2, /--port {2}is no port/],
  [['serve', 'fine.mjs', '--protocol', 'soap'], 2,
    /^triport: protocol is "soap"; write 'http', 'mcp', 'a2a'/],
  [['serve', 'fine.mjs', '--port', '0', '--api-key', ''], 2, /^triport: The API key 1 is empty/],
  [['serve', 'fine.mjs', '--path', 'ask'], 2, /^triport: path is "ask"; write a path/],
  [['serve', 'fine.mjs', '--public-url', 'x'], 2, /^triport: publicUrl is "x"; write an address/],
  [['serve', 'fine.mjs', '--host', 'no.such.host.invalid', '--insecure'], 1,
    /^triport: 'no\.such\.host\.invalid' is no address of this machine/],
  [['serve', 'missing.mjs'], 1, /^triport: Cannot load .*missing\.mjs: there is no such file\n$/],
  [['serve', 'empty.mjs'], 1,
    /^triport: .*empty\.mjs exports nothing to serve; export default \(prompt\) => answer/],
  [['serve', 'number.mjs'], 2, /^triport: Cannot serve 7: write a function/],
  [['serve', 'nameless.mjs'], 2, /^triport: An agent needs 'name'/],
  [['serve', 'syntax.mjs'], 1, /^triport: Cannot load .*syntax\.mjs: /],
  [['serve', 'throws.mjs'], 1, /^triport: Cannot load .*throws\.mjs: on purpose\n$/],
  [['serve', 'needs.mjs'], 1, /^triport: Cannot load .*needs\.mjs: Cannot find package 'no-such-package'/],
]

test('what cannot be done is told in one sentence, without a stack', async (t) => {
  const folder = modules(t, {
    'fine.mjs': 'export default () => 1', 'empty.mjs': 'export const nothing = 1',
    'number.mjs': 'export default 7',
    'nameless.mjs': `export default { run: () => '' }`, 'syntax.mjs': 'export default (',
    'throws.mjs': `throw new Error('on purpose')`,
    'needs.mjs': `import 'no-such-package'`,
  })
  await Promise.all(mistakes.map(async ([args, code, sentence]) => {
    const failing = run(
      t, args.map((one) => one.endsWith('.mjs') && one !== 'other.mjs' ? join(folder, one) : one),
    )
    assert.equal(await failing.ended, code, args.join(' '))
    assert.match(failing.said(), sentence)
    assert.doesNotMatch(failing.said(), /^\s+at /m)
    assert.equal(failing.printed(), '')
  }))
})

test('a port in use is one sentence with a way out', async (t) => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  t.after(() => taken.close())
  const { port } = taken.address() as AddressInfo
  const failing = run(t, ['serve', '--port', String(port)])
  assert.equal(await failing.ended, 1)
  assert.equal(failing.said(), `triport: Port ${port} is in use; stop what uses it, or choose another port\n`)
})

const FINE = `export default (prompt) => 'You said ' + prompt`

test('what the flags say is what is served', async (t) => {
  const folder = modules(t, { 'fine.mjs': FINE })
  const fine = join(folder, 'fine.mjs')
  const keyed = await serve(
    t, [fine, '--api-key', 'k', '--path', '/ask', '--public-url', 'https://agents.example'],
  )
  assert.equal((await ask(`${keyed.url}/ask`))['status'], 401)
  assert.equal((await ask(`${keyed.url}/ask`, 'hi', { 'x-api-key': 'k' }))['response'], 'You said hi')
  const described = await fetch(`${keyed.url}/openapi.json`, { headers: { 'x-api-key': 'k' } })
  assert.deepEqual((await jsonOf(described))['servers'], [{ url: 'https://agents.example' }])
  const fromEnvironment = await serve(t, [fine], { TRIPORT_API_KEY: 'e' })
  assert.equal((await ask(fromEnvironment.url))['status'], 401)
  assert.equal(
    (await ask(fromEnvironment.url, 'hi', { authorization: 'Bearer e' }))['response'], 'You said hi',
  )
  const open = await serve(t, [fine, '--host', '0.0.0.0', '--insecure'], { TRIPORT_API_KEY: '' })
  assert.equal((await ask(open.url))['response'], 'You said hi')
  const listed = await serve(
    t, [fine, '--host', '0.0.0.0', '--insecure', '--allowed-hosts', 'agents.example, other.example'],
  )
  assert.equal((await fetch(`${listed.url}/health`)).status, 403)
})

/** The command lines that a start tells, one for each door. */
function linesOf(said: string): readonly string[] {
  return said.split('\n').map((line) => line.trim()).filter((line) => line.startsWith('curl '))
}

const starts: readonly (readonly [what: string, args: readonly string[], env: Record<string, string>])[] = [
  ['without a key', [], {}],
  ['with a key of its own', ['--host', '0.0.0.0'], {}],
  ['with a given key', [], { TRIPORT_API_KEY: 'a key' }],
]

test('the lines that a start prints work as they are', async (t) => {
  if (spawnSync('curl', ['--version']).status !== 0) return t.skip('this machine has no curl')
  const folder = modules(t, { 'fine.mjs': FINE })
  for (const [what, args, env] of starts) {
    const { said, url } = await serve(t, [join(folder, 'fine.mjs'), '--protocol', 'all', ...args], env)
    const lines = linesOf(said())
    assert.equal(lines.length, 3, what)
    const options = { env: { ...process.env, ...env }, encoding: 'utf8' } as const
    const answers = lines.map((line) => spawnSync('sh', ['-c', `${line} -s`], options).stdout)
    assert.match(answers[0]!, /"response":"You said hello"/, what)
    assert.match(answers[1]!, /"name":"execute_assistant_task"/, what)
    assert.match(answers[2]!, /"text":"You said hello"/, what)
    assert.equal((await fetch(`${url}/docs`)).status, 200)
  }
})

test('a signal closes in order, a second one at once', async (t) => {
  const folder = modules(t, {
    'slow.mjs': 'export default (prompt) => new Promise((resolve) => setTimeout(resolve, 300, prompt))',
    'never.mjs': 'export default () => new Promise(() => {})',
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const slow = await serve(t, [join(folder, 'slow.mjs')])
    const answer = ask(slow.url, 'in time')
    await new Promise((resolve) => setTimeout(resolve, 100))
    slow.child.kill(signal)
    assert.equal((await answer)['response'], 'in time', signal)
    assert.equal(await slow.ended, 0, signal)
    const never = await serve(t, [join(folder, 'never.mjs')])
    const lost = ask(never.url).catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 100))
    never.child.kill(signal)
    await new Promise((resolve) => setTimeout(resolve, 100))
    never.child.kill(signal)
    assert.equal(await never.ended, signal === 'SIGINT' ? 130 : 143)
    await lost
  }
})

test('what an agent leaves lying about does not end the process', async (t) => {
  const folder = modules(t, {
    'careless.mjs': `export default (prompt) => {
      if (prompt === 'reject') Promise.reject(new Error('forgotten'))
      if (prompt === 'throw') setTimeout(() => { throw new Error('later') })
      return 'fine'
    }`,
  })
  const { url, until } = await serve(t, [join(folder, 'careless.mjs')])
  await ask(url, 'reject')
  await until(/error A promise was rejected that nobody waited for\n {2}Error: forgotten\n/)
  await ask(url, 'throw')
  await until(/error An error was thrown where nobody could catch it\n {2}Error: later\n/)
  assert.equal((await ask(url))['response'], 'fine')
})

test('on standard input and output it speaks MCP, whatever else is printed', async (t) => {
  const folder = modules(t, {
    'chatty.mjs': `export default (prompt) => { console.log('noise'); return 'You said ' + prompt }`,
  })
  const host = run(t, ['serve', join(folder, 'chatty.mjs'), '--stdio'])
  const clientInfo = { name: 'test', version: '1' }
  const messages = [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'execute_assistant_task', arguments: { prompt: 'hi' } } },
  ]
  for (const message of messages) {
    host.child.stdin!.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n')
  }
  await host.until(/noise/)
  host.child.stdin!.end()
  assert.equal(await host.ended, 0)
  const answers = host.printed().trim().split('\n').map((line) => JSON.parse(line) as { id: number })
  assert.deepEqual(answers.map(({ id }) => id), [1, 2])
  assert.match(JSON.stringify(answers[1]), /You said hi/)
})
