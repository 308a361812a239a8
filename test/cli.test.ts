import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { endpoint, reply } from './agents/openai/endpoint.ts'
import { answersIn, linesFor, linesOf, opening } from './fixtures/command-lines.ts'
import { ask, initialize, run, runInThread, runWhole, serve, serveInThread } from './fixtures/command.ts'
import { chapters } from './fixtures/documents.ts'
import { portOf } from './fixtures/listening.ts'
import { modules } from './fixtures/modules.ts'

const tool = `{ name: 'add', inputSchema: { type: 'object' }, run: () => 3 }`

test('tools alone are served over MCP', async (t) => {
  const folder = modules(t, { 'tools.mjs': `export const tools = [${tool}]` })
  const { url, said } = await serveInThread([join(folder, 'tools.mjs')])
  assert.match(said, /MCP {2,}http/)
  assert.doesNotMatch(said, /HTTP {2,}http|A2A {2,}http/)
  assert.equal((await fetch(`${url}/agents`)).status, 404)
})

test('a protocol that no client could use is not announced, and the reason is printed', async (t) => {
  const folder = modules(t, { 'tools.mjs': `export const tools = [${tool}]` })
  for (const protocol of ['all', 'http', 'http,mcp']) {
    const { said } = await serveInThread([join(folder, 'tools.mjs'), '--protocol', protocol])
    assert.match(said, /^ {2}HTTP {2}http:\S+\/tools$/m)
    assert.equal(/^ {2}A2A {3}http/m.test(said), protocol === 'all')
    assert.equal(linesOf(said).length, ['', 'http', 'http,mcp', 'all'].indexOf(protocol))
  }
})

test('without a module the built-in assistant answers', async (t) => {
  const { url } = await serve(t, ['--store', 'memory'])
  const { response } = await ask(url, 'What is 12 * (3 + 4)?')
  assert.match(String(response), /84/)
})

test('without a module a model answers, where the environment names one', async (t) => {
  const said = { choices: [{ message: { role: 'assistant', content: 'I am a model' } }] }
  const { baseUrl, received } = await endpoint(t, reply(200, JSON.stringify(said)))
  const { url } = await serveInThread([], {
    OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: 'sk', OPENAI_MODEL: 'small',
  })
  assert.equal((await ask(url))['response'], 'I am a model')
  assert.deepEqual(
    received.map(({ request, body }) => [request.url, request.headers.authorization, body['model']]),
    [['/v1/chat/completions', 'Bearer sk', 'small']],
  )
  const wrong = await runInThread(['serve'], { OPENAI_BASE_URL: 'localhost/v1' })
  assert.equal(wrong.code, 2)
  assert.match(wrong.said, /^triport: By OPENAI_BASE_URL and OPENAI_API_KEY, openaiAgent needs a baseUrl/)
})

test('help and version are printed, and nothing else', async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const rows: readonly (readonly [args: readonly string[], printed: RegExp])[] = [
    [['--version'], new RegExp(`^${version.replaceAll('.', '\\.')}\\n$`)], [['-v'], /^\d+\.\d+\.\d+\n$/],
    [['--help'], /^Usage: triport serve \[module\] \[options\]\n/], [['-h'], /^Usage: /], [[], /^Usage: /],
    [['serve', '--help'], /^Usage: /],
  ]
  for (const [args, printed] of rows) {
    const help = await runInThread(args)
    assert.equal(help.code, 0, args.join(' '))
    assert.match(help.printed, printed)
    assert.equal(help.said, '')
    for (const line of help.printed.split('\n')) assert.ok(line.length <= 100, line)
  }
  const inProcess = run(t, ['--help'])
  assert.equal(await inProcess.ended, 0)
  assert.deepEqual([inProcess.printed(), inProcess.said()], [(await runInThread(['--help'])).printed, ''])
})

test('the guide is printed by the chapter, and without one as a list', async () => {
  const list = await runInThread(['help'])
  assert.equal(list.code, 0)
  const lines = `( {2}[\\w-]+ {2,}[A-Z\`].*\\.\\n){${chapters.length}}`
  const usage = 'Usage: triport help \\[chapter\\|command\\]'
  const commands = 'Commands: serve, help, check, new, vendor, install, manifest'
  assert.match(list.printed, new RegExp(`^${usage}\\n\\n${lines}\\n${commands}\\n$`))
  assert.deepEqual(await runInThread(['help', 'help']), list)
  const chapter = await runInThread(['help', 'mcp'])
  assert.equal(chapter.code, 0)
  assert.equal(chapter.printed, readFileSync('lib/parts/mcp/mcp.md', 'utf8'))
})

test('a chapter that is now several is printed as these', async () => {
  const former = await runInThread(['help', 'http-and-openai'])
  assert.equal(former.code, 0)
  const names = ['http', 'openai', 'agui', 'ui-stream', 'docs']
  assert.equal(former.printed, (await runInThread(['help', ...names])).printed)
})

test('each command prints its usage, by help and by its flag', async () => {
  for (const name of ['serve', 'check', 'new', 'vendor', 'install', 'manifest']) {
    const [help, flag] = [await runInThread(['help', name]), await runInThread([name, '--help'])]
    assert.deepEqual([help.code, flag.code], [0, 0], name)
    assert.match(help.printed, new RegExp(`^Usage: triport ${name} `))
    assert.equal(flag.printed, help.printed)
    for (const line of help.printed.split('\n')) assert.ok(line.length <= 100, line)
  }
})

/** What createServer takes, and what it has made. */
const OPTIONS = `{
  name: 'Shop', version: '2.1.0', instructions: 'Ask first.', port: 1, protocol: 'all',
  agents: [{ name: 'Clerk', run: () => 'mine' }, { name: 'Other', run: () => 'other' }], tools: [${tool}],
}`

test('a module may export what createServer takes, or the server itself; flags win', async (t) => {
  const library = new URL('../lib/index.js', import.meta.url).href
  const folder = modules(t, {
    'options.mjs': `export default ${OPTIONS}`,
    'server.mjs': `import { createServer } from '${library}'
      const { port, ...options } = ${OPTIONS}
      export default createServer(options)`,
  })
  for (const module of ['options.mjs', 'server.mjs']) {
    const path = join(folder, module)
    const { url, said } = await serveInThread([module === 'server.mjs' ? pathToFileURL(path).href : path])
    assert.match(said, /^Shop 2\.1\.0 at http/m, module)
    assert.equal((await ask(url))['response'], 'mine', 'the first agent answers')
    const handshake = await initialize(url)
    assert.match(await handshake.text(), /"name":"Shop".*"version":"2\.1\.0".*"instructions":"Ask first\."/)
  }
  const { url } = await serveInThread([join(folder, 'options.mjs'), '--protocol', 'http'])
  assert.equal((await fetch(`${url}/mcp`, { method: 'POST', body: '{}' })).status, 404)
  const host = run(t, [join(folder, 'options.mjs'), '--stdio'])
  host.child.stdin!.end(linesFor(opening))
  assert.equal(await host.ended, 0)
  assert.match(JSON.stringify(answersIn(host)[0]), /"instructions":"Ask first\."/)
})

test('exports and flags name and configure the server; flags win', async (t) => {
  const folder = modules(t, {
    'shop.mjs': `export const name = 'Shop', version = '2.1.0', instructions = 'Ask first.', metrics = true
      export const agents = [{ name: 'Clerk', run: (prompt) => prompt }, { name: 'Other', run: (p) => p }]`,
  })
  const shop = join(folder, 'shop.mjs')
  const { url, said } = await serveInThread([shop])
  assert.match(said, /^Shop 2\.1\.0 at http\S+ /m)
  assert.match(said, /^ {2}HTTP {2}http:\S+\/ {2}asks Shop: Clerk, then Other$/m)
  assert.equal((await fetch(`${url}/metrics`)).status, 200)
  const named = await serveInThread([
    shop, '--name', 'Store', '--mount-path', '/store', '--cors', 'https://a.example, https://b.example',
    '--protocol', 'all', '--instructions', 'Be brief.', '--trust-proxy',
  ])
  assert.match(named.said, /^Store 2\.1\.0 at http\S+\/store /m)
  assert.match(named.said, / asks Store: Clerk, then Other$/m)
  const health = await fetch(`${named.url}/health`, { headers: { origin: 'https://b.example' } })
  assert.equal(health.headers.get('access-control-allow-origin'), 'https://b.example')
  const behind = { 'x-forwarded-prefix': '/team', 'accept': 'application/json' }
  const welcome = await (await fetch(named.url, { headers: behind })).text()
  assert.match(welcome, /"docs":"\/team\/store\/docs"/)
  assert.match(await (await initialize(named.url)).text(), /"name":"Store".*"instructions":"Be brief\."/)
  const host = run(t, [shop, '--stdio', '--name', 'Store'])
  host.child.stdin!.end(linesFor(opening))
  assert.equal(await host.ended, 0)
  assert.match(JSON.stringify(answersIn(host)[0]), /"name":"Store".*"instructions":"Ask first\."/)
})

type Mistake = readonly [args: readonly string[], code: number, sentence: RegExp]

const mistakes: readonly Mistake[] = [
  [['start'], 2, /^triport: There is no command 'start'; write triport serve\n$/],
  [['server', 'fine.mjs'], 2, /^triport: There is no command 'server'; did you mean serve\?\n$/],
  [['helo'], 2, /^triport: There is no command 'helo'; did you mean help\?\n$/],
  [['help', 'mpc'], 2,
    /^triport: There is no chapter 'mpc'; did you mean mcp\? Chapters: a2a, agui, [\w-, ]+\n$/],
  [['help', 'Middleware'], 2, /'Middleware'; the word stands in handlers\. Chapters: a2a/],
  [['help', 'X-Accel-Buffering'], 2, /; the word stands in proxies\. Chapters: a2a/],
  [['help', 'xyz'], 2, /^triport: There is no chapter 'xyz'; choose another\. Chapters: a2a, [\w-, ]+\n$/],
  [['chekc', 'fine.mjs'], 2, /^triport: There is no command 'chekc'; did you mean check\?\n$/],
  [['constructor'], 2, /^triport: There is no command 'constructor'; write triport serve\n$/],
  [['check'], 2, /^triport: check needs a module: triport check agent\.js\n$/],
  [['check', 'fine.mjs', 'other.mjs'], 2, /^triport: check takes one module, not also other\.mjs\n$/],
  [['check', 'fine.mjs', '--jsn'], 2, /^triport: Unknown option '--jsn'; did you mean --json\?\n$/],
  [['check', 'fine.mjs', '--colour'], 2, /^triport: .*'--colour'; triport help check lists them\n$/],
  [['serve', 'fine.mjs', 'other.mjs'], 2, /^triport: One module can be served, not also other\.mjs\n$/],
  [['serve', '--colour'], 2, /^triport: Unknown option '--colour'; triport --help lists them\n$/],
  [['serve', '--prot', '80'], 2, /^triport: Unknown option '--prot'; did you mean --port or --protocol\?\n$/],
  [['serve', '--watch'], 2, /^triport: --watch needs a module: triport serve agent\.js --watch\n$/],
  [['serve', 'fine.mjs', '--watch', '--protocol', 'soap'], 2, /^triport: protocol is "soap"/],
  [['serve', 'fine.mjs', '--watch', '--stdio'], 2, /^triport: --watch and --stdio: a client would lose/],
  [['serve', 'fine.mjs', '--store', 'sqlite:a.db'], 2, /^triport: --store needs TRIPORT_SECRET in the env/],
  [['serve', 'fine.mjs', '--store', 'sqlite:a.db', '--stdio'], 2,
    /^triport: --store and --stdio: one client/],
  [['serve', 'fine.mjs', '--deployment', 'shop', '--stdio'], 2,
    /^triport: --deployment and --stdio: one client/],
  [['serve', 'fine.mjs', '--stdio', '--verbose'], 2, /^triport: --verbose and --stdio: one client/],
  [['serve', 'fine.mjs', '--protocol', 'all,soap'], 2,
    /^triport: protocol is "all"; write 'all' alone, without a list\n$/],
  [['serve', 'fine.mjs', '--cors', '*,a.example'], 2, /^triport: 'a\.example' is no origin; write scheme/],
  [['serve', 'fine.mjs', '--watch', '--port', '0', '--host', 'no.such.host.invalid'], 1,
    /^triport: 'no\.such\.host\.invalid' is no address of this machine; choose another host/],
  [['serve', 'fine.mjs', '--host', 'localhost:80'], 2, /^triport: host is "localhost:80"; write a name/],
  [['check', 'leaves.mjs'], 1,
    /^triport: \S+leaves\.mjs ends the process while it is loaded, by process\.exit\(0\); leave that out\n$/],
  [['serve', 'leaves.mjs', '--stdio'], 1, /^triport: \S+leaves\.mjs ends the process while it is loaded/],
  [['serve', 'fine.mjs', '--stdio', '--api-key', 'k'], 2,
    /^triport: --api-key and --stdio: one client needs none; leave one out\n$/],
  [['serve', 'fine.mjs', '--stdio', '--protocol', 'http,a2a'], 2,
    /^triport: --protocol http,a2a and --stdio: only MCP is served there; leave one out\n$/],
  [['serve', 'fine.mjs', '--acp', '--stdio'], 2,
    /^triport: --acp and --stdio: one client has one protocol; leave one out\n$/],
  [['serve', 'fine.mjs', '--acp', '--watch'], 2, /^triport: --watch and --acp: a client would lose/],
  [['serve', 'fine.mjs', '--acp', '--port', '80'], 2, /^triport: --port and --acp: one client needs none/],
  [['serve', 'fine.mjs', '--acp', '--instructions', 'a'], 2,
    /^triport: --instructions and --acp: one client/],
  [['serve', 'fine.mjs', '--acp', '--protocol', 'mcp'], 2,
    /^triport: --protocol mcp and --acp: only ACP is served there; leave one out\n$/],
  [['serve', 'fine.mjs', '--acp', '--store', 'sqlite:a.db'], 2, /^triport: --store needs TRIPORT_SECRET in/],
  [['serve', 'made.mjs', '--acp'], 2, /^triport: --acp and a server that is made: export by default /],
  [['serve', 'tools.mjs', '--acp'], 1, /\ntriport: Over ACP agents are served, and there is none; add one/],
  [['serve', 'fine.mjs', '--port', 'many'], 2,
    /^triport: --port many is no port; write a number from 0 to 65535\n$/],
  [['serve', 'fine.mjs', '--port', '65536'], 2, /--port 65536 is no port/],
  [['serve', 'fine.mjs', '--port', '80.5'], 2, /--port 80\.5 is no port/],
  [['serve', 'fine.mjs', '--port', ''], 2, /--port {2}is no port/],
  [['vendor', ''], 2, /^triport: An argument is empty; write it, or leave it out\n$/],
  [['help', 'mcp', 'check'], 2, /^triport: help explains a command by itself; write triport help check\n$/],
  [['serve', 'fine.mjs', '--protocol', 'soap'], 2,
    /^triport: protocol is "soap"; write 'http', 'mcp', 'a2a'/],
  [['serve', 'fine.mjs', '--port', '0', '--api-key', ''], 2, /^triport: The API key 1 is empty/],
  [['serve', 'fine.mjs', '--path', 'ask'], 2, /^triport: path is "ask"; write a path/],
  [['serve', 'fine.mjs', '--public-url', 'x'], 2, /^triport: publicUrl is "x"; write an address/],
  [['serve', 'fine.mjs', '--host', 'no.such.host.invalid', '--insecure'], 1,
    /^triport: 'no\.such\.host\.invalid' is no address of this machine/],
  [['serve', 'fine.mjs', '--port', '80', '--port=81'], 2,
    /^triport: --port is given twice, "80" and "81"; it takes one value, so leave one out\n$/],
  [['serve', 'fine.mjs', '--api-key', 'k-one', '--api-key', 'k-two'], 2,
    /^triport: --api-key is given twice; it takes one value, so leave one out\n$/],
  [['serve', 'made.mjs', '--api-key', 'k'], 2, /^triport: --api-key and a server that is made: write it /],
  [['serve', 'made.mjs', '--name', 'Shop'], 2, /^triport: --name and a server that is made: write it /],
  [['serve', 'fine.mjs', '--stdio', '--metrics'], 2, /^triport: --metrics and --stdio: one client/],
  [['serve', 'fine.mjs', '--mount-path', 'x'], 2, /^triport: mountPath is "x"; write a path/],
  [['serve', 'made.mjs', '--stdio'], 2, /^triport: --stdio and a server that is made: export by default /],
  [['serve', 'https://a.example/fine.mjs'], 2, /^triport: https:\S+ is no file of this machine; write a /],
  [['serve', 'file://host/fine.mjs'], 2, /^triport: file:\S+ is no file of this machine; write a path, /],
  [['serve', 'wrong.mjs'], 1, /^triport: mountPath is "x"; write /],
  [['serve', 'port.mjs'], 1, /^triport: port is "x"; write a whole number/],
  [['serve', 'quiet.mjs'], 1, /^triport: quiet is "yes"; write true or false\n$/],
  [['serve', 'missing.mjs'], 1, /^triport: Cannot load .*missing\.mjs: there is no such file\n$/],
  [['serve', 'empty.mjs'], 1,
    /^triport: .*empty\.mjs exports nothing to serve; export default \(prompt\) => answer/],
  [['serve', 'number.mjs'], 1, /^triport: .*number\.mjs: Cannot serve 7: write a function/],
  [['serve', 'nameless.mjs'], 1, /^triport: .*nameless\.mjs: An agent needs 'name'/],
  [['serve', 'twins.mjs', '--port', '0'], 1, /^triport: Two tools are named 'add'/],
  [['serve', 'nameless.mjs', '--stdio'], 1, /^triport: .*nameless\.mjs: An agent needs 'name'/],
  [['serve', 'twins.mjs', '--stdio'], 1, /^triport: Two tools are named 'add'/],
  [['serve', 'stuck.mjs'], 13,
    /^triport: .*stuck\.mjs never finishes loading: it awaits what nothing will settle\n$/],
  [['serve', 'stuck.mjs', '--stdio'], 13, /^triport: .*stuck\.mjs never finishes loading/],
  [['serve', 'syntax.mjs'], 1, /^triport: Cannot load .*syntax\.mjs: /],
  [['serve', 'throws.mjs'], 1,
    /^triport: Cannot load .*throws\.mjs: on purpose\n {4}at .*throws\.mjs:1:7\n$/],
  [['serve', 'needs.mjs'], 1, /^triport: Cannot load .*needs\.mjs: Cannot find package 'no-such-package'/],
]

test('what cannot be done is reported in one sentence and by the exit code', async (t) => {
  const folder = modules(t, {
    'fine.mjs': 'export default () => 1', 'empty.mjs': 'export const nothing = 1',
    'number.mjs': 'export default 7', 'port.mjs': `export const port = 'x'; export default () => 1`,
    'quiet.mjs': `export const quiet = 'yes'; export default () => 1`,
    'wrong.mjs': `export default { tools: [${tool}], mountPath: 'x', log: false }`,
    'made.mjs': `import { createServer } from '${new URL('../lib/index.js', import.meta.url).href}'
      export default createServer({ tools: [${tool}], log: false })`,
    'nameless.mjs': `export default { run: () => '' }`, 'syntax.mjs': 'export default (',
    'tools.mjs': `export const tools = [${tool}]`,
    'twins.mjs': `export const tools = [${tool}, ${tool}]`, 'stuck.mjs': 'await new Promise(() => {})',
    'throws.mjs': `throw new Error('on purpose')`, 'leaves.mjs': 'process.exit(0)',
    'needs.mjs': `import 'no-such-package'`,
  })
  const check = async ([names, code, sentence]: Mistake, isProcess: boolean): Promise<void> => {
    const args = names.map((one) => (
      /^[\w-]+\.mjs$/.test(one) && one !== 'other.mjs' ? join(folder, one) : one
    ))
    const failed = await (isProcess ? runWhole(t, args) : runInThread(args))
    assert.equal(failed.code, code, args.join(' '))
    assert.match(failed.said, sentence)
    assert.doesNotMatch(failed.said, /node:|cli\.[jt]s/)
    assert.equal(failed.printed, '')
  }
  const isProcess = ([names]: Mistake): boolean => OF_A_PROCESS.test(names.join(' '))
  await Promise.all(mistakes.filter(isProcess).map((mistake) => check(mistake, true)))
  for (const mistake of mistakes) if (!isProcess(mistake)) await check(mistake, false)
})

/** Command lines that end by themselves, or by a process that they start; the first two for their codes. */
const OF_A_PROCESS = /^start$|missing|stuck|leaves|--watch --protocol/

test('a port of the environment is checked like one of a flag', async () => {
  for (const args of [['serve'], ['serve', '--watch', 'agent.js']]) {
    const failing = await runInThread(args, { PORT: 'web' })
    assert.equal(failing.code, 2)
    assert.equal(failing.said, 'triport: PORT web is no port; write a number from 0 to 65535\n')
  }
})

test('a port in use is one sentence with a way out', async (t) => {
  const port = await portOf(t, createServer())
  const failing = await runInThread(['serve', '--port', String(port)])
  assert.equal(failing.code, 1)
  const sentence = `Port ${port} is in use; stop what uses it, or choose another (--port)`
  assert.equal(failing.said, `triport: ${sentence}\n`)
})
