/**
 * The `triport` command. Reports on standard error. Exit codes: 0, 2 for a wrong command line, 1 for what
 * could not be done, 13 for a module that never finishes loading.
 */
import { randomBytes } from 'node:crypto'
import { createServer as createProbe } from 'node:net'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { formatLine } from '../kernel/define/log.ts'
import { frameworks } from '../adapters/frameworks.ts'
import { isLoopback } from '../kernel/http/access/guard.ts'
import { listenError } from '../kernel/http/server/listener.ts'
import { launch, launchServer } from '../preset/launch.ts'
import { GENERATED_KEY } from '../kernel/server/server.ts'
import { claimStdout } from '../floors/lines/claim-stdout.ts'
import { ofSockets, serveStdio } from '../preset/stdio.ts'
import { normalizeDefinitions } from '../preset/subject.ts'
import { didYouMean, formatFlags, parseCommandLine, print, UsageError, VERSION } from './command-line.ts'
import { readGuide } from './guide.ts'
import { loadModule, requireParts, serverOf } from './load.ts'
import { endWithWatcher, watchModule } from './watch.ts'
import type { Writable } from 'node:stream'
import type { Launched, LaunchOptions } from '../preset/launch.ts'
import type { ProtocolName } from '../preset/options.ts'
import type { TriportServer } from '../preset/create-server.ts'
import type { Store } from '../kernel/store/store.ts'
import type { CommandLine, Flag, Subcommand } from './command-line.ts'
import type { Loaded } from './load.ts'


const flags = [
  { name: 'protocol', value: 'LIST', fallback: 'http; mcp for tools alone',
    meaning: 'http, mcp, a2a, all, or several with commas' },
  { name: 'port', value: 'N', variable: 'PORT', fallback: '8000; 8080 for mcp alone',
    meaning: '0 for any free one' },
  { name: 'host', value: 'HOST', variable: 'HOST', fallback: '127.0.0.1',
    meaning: 'any other address asks for a key' },
  { name: 'api-key', value: 'KEY', variable: 'TRIPORT_API_KEY', isSecret: true,
    meaning: 'the key that callers need' },
  { name: 'insecure', meaning: 'no key on an address that others can reach' },
  { name: 'public-url', value: 'URL', meaning: 'where clients reach this server' },
  { name: 'trust-proxy', meaning: 'believes the X-Forwarded headers of the proxy in front' },
  { name: 'allowed-hosts', value: 'LIST', meaning: 'names that this server is reached by, joined by commas' },
  // Its address may have a password in it.
  { name: 'store', value: 'NAME', isSecret: true, fallback: 'memory',
    meaning: 'sqlite:FILE, redis:URL or postgres:URL keeps state' },
  { name: 'deployment', value: 'NAME', variable: 'TRIPORT_DEPLOYMENT', fallback: 'who has the secret',
    meaning: 'whose state the store keeps' },
  { name: 'workers', value: 'N', meaning: 'serves in N processes that share state; auto: one for each core' },
  { name: 'name', value: 'NAME', meaning: 'the name of the server' },
  { name: 'instructions', value: 'TEXT', meaning: 'how a model should use the server (MCP)' },
  { name: 'mount-path', value: 'PATH', meaning: 'prefix of every path, as in /assistant' },
  { name: 'cors', value: 'LIST', meaning: `origins of pages that may call, joined by commas; '*' for all` },
  { name: 'metrics', meaning: 'serves GET /metrics for Prometheus' },
  { name: 'path', value: 'PATH', meaning: 'a further path for queries, as in /ask' },
  { name: 'stdio', meaning: 'MCP on standard input and output, for hosts that start a process' },
  { name: 'acp', meaning: 'ACP on standard input and output, for editors' },
  { name: 'watch', meaning: 'starts again when the module, or what it imports, changes' },
  { name: 'verbose', meaning: 'logs each request in one line' },
  { name: 'quiet', meaning: 'does not print the addresses' },
  { name: 'help', short: 'h', meaning: 'prints this' },
  { name: 'version', short: 'v', meaning: 'prints the version' },
] as const satisfies readonly Flag[]

type FlagName = typeof flags[number]['name']
type Line = CommandLine<FlagName>

const HELP = `Usage: triport serve [module] [options]
       triport check module              what is wrong with its definitions, or weak
       triport new [dir] [--from KIND]   a small project that runs
       triport vendor dir                a copy of triport, to be kept in a project
       triport install host module|url   writes an MCP server into a host's configuration
       triport manifest [module]         the server.json of the MCP registry
       triport help [chapter|command]

Puts an agent, a group of agents or a set of tools on the network. The word serve may be left out
before a path and before an option.

module exports a function, a definition or a list: as default, or named agent, agents, group,
groups, tools, resources, resourceTemplates or prompts. It may also export options of createServer,
as in: export const name = 'Shop', version = '2.0.0', metrics = true. Its default may also be what
createServer takes, { name, version, agents, … }, or a server. Without a module a built-in assistant
is served, or a model when OPENAI_API_KEY or OPENAI_BASE_URL is set (and OPENAI_MODEL names it).

${formatFlags(flags)}`

/** The other commands, which are loaded when they are asked for. */
const later: ReadonlyMap<string, () => Promise<Subcommand>> = new Map([
  ['check', async () => (await import('./check.ts')).checkCommand],
  ['new', async () => (await import('./new.ts')).newCommand],
  ['vendor', async () => (await import('./vendor.ts')).vendorCommand],
  ['install', async () => (await import('./install.ts')).installCommand],
  ['manifest', async () => (await import('./manifest.ts')).manifestCommand],
])

const commands = ['serve', 'help', ...later.keys()]

/** Marks a process as a worker; its value does not count. */
const WORKER = 'TRIPORT_WORKER'

/** Runs a command line; on failure ends the process. */
export async function runCommand(args: readonly string[]): Promise<void> {
  surviveHandlers()
  try {
    await execute(args)
  } catch (error) {
    process.stderr.write(`triport: ${reasonOf(error)}\n`)
    process.exit(error instanceof UsageError ? 2 : 1)
  }
}

/** What helps where the system refuses to read or to write, by the codes of its errors. */
const remedies: readonly (readonly [codes: readonly string[], remedy: string])[] = [
  [['EACCES', 'EPERM', 'EROFS'], 'change its rights, or name another place'],
  [['ENOSPC', 'EDQUOT'], 'make room there, or name another place'],
  [['ENOTDIR', 'EEXIST'], 'a file is where a folder has to be; move it away, or name another place'],
  [['ENOENT', 'ELOOP'], 'a part of it is not there, or is a link that leads nowhere; name another place'],
]

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'syscall' in error && 'code' in error ? String(error.code) : ''
  const remedy = remedies.find(([codes]) => codes.includes(code))?.[1]
  return remedy === undefined ? error.message : `${error.message}; ${remedy}`
}

/** Runs a command line. Rejects with `UsageError` where it is wrong, with `Error` for what cannot be done. */
export async function execute(args: readonly string[]): Promise<void> {
  const other = later.get(args[0] ?? '')
  if (other !== undefined) return (await other()).run(args.slice(1))
  const line = parseCommandLine<FlagName>(args, flags, process.env)
  if (line.has('version')) return print(`${VERSION}\n`)
  if (line.has('help') || args.length === 0) return print(HELP)
  if (line.words[0] === 'help') return print(await help(line.words.slice(1)))
  const module = moduleOf(line.words)
  if (line.has('watch')) return watch(module, line)
  const isWorker = takeWorker()
  if (!isWorker) endWithWatcher()
  const flag = stdioFlag(line)
  if (flag !== undefined) {
    requireNoSocket(line, flag)
    // Before the module is imported: what that prints is not protocol.
    const output = claimStdout()
    await serveOnStdio(await subjectOf(module, line), line, flag, output, await storeOf(line, module))
    // Even if the module still holds something open.
    process.exit(0)
  }
  if (line.has('workers')) return hostWorkers(module, line)
  if (isWorker) return work(module, line)
  const options = launchOptions(line)
  const loaded = await subjectOf(module, line)
  if (loaded.server !== undefined) return void await serveMade(loaded.server, line, loaded.options)
  await serve(loaded, { ...options, store: await storeOf(line, module) })
}

/** What `triport help` prints: the usage of a command, or chapters of the guide. */
async function help(words: readonly string[]): Promise<string> {
  const [first = ''] = words
  const command = words.find((word) => commands.includes(word))
  if (command !== undefined && words.length > 1) {
    throw new UsageError(`help explains a command by itself; write triport help ${command}`)
  }
  if (first === 'serve') return HELP
  if (first === 'help') return readGuide([], commands)
  return (await later.get(first)?.())?.help ?? readGuide(words, commands)
}

/** Flags that cannot change a server that the module has made. */
const serverFlags = [
  'protocol', 'api-key', 'insecure', 'public-url', 'trust-proxy', 'allowed-hosts', 'store', 'deployment',
  'path', 'verbose', 'name', 'instructions', 'mount-path', 'cors', 'metrics',
] as const

async function serveMade(server: TriportServer, line: Line, own: LaunchOptions): Promise<void> {
  const late = serverFlags.find((name) => line.has(name))
  if (late !== undefined) {
    throw new UsageError(`--${late} and a server that is made: write it where the module calls `
      + 'createServer, or export by default what that takes')
  }
  const { port = own.port, host = own.host, quiet = own.quiet === true } = launchOptions(line)
  await launchServer(server, { port, host, quiet })
}

type StdioFlag = 'stdio' | 'acp'

/** The flag by which a protocol is served on standard input and output. */
function stdioFlag(line: Line): StdioFlag | undefined {
  if (line.has('stdio') && line.has('acp')) {
    throw new UsageError('--acp and --stdio: one client has one protocol; leave one out')
  }
  return line.has('acp') ? 'acp' : line.has('stdio') ? 'stdio' : undefined
}

async function serveOnStdio(
  loaded: Loaded, line: Line, flag: StdioFlag, output: Writable, store: Store | undefined,
): Promise<void> {
  requireParts(loaded, `--${flag}`)
  const useless = new Set<string>([...ofSockets, 'port', 'host', 'quiet', 'protocol'])
  if (flag === 'acp') for (const name of ['instructions', 'mcp']) useless.add(name)
  const options = Object.fromEntries(Object.entries(loaded.options).filter(([name]) => !useless.has(name)))
  const given = givenOf({
    name: line.value('name'), instructions: line.value('instructions'),
    deployment: line.value('deployment'), store,
  })
  await serveStdio(loaded.subject, {
    ...options, ...given, protocol: flag === 'acp' ? 'acp' : 'mcp', output,
  })
}

const socketFlags = [
  'workers', 'port', 'host', 'api-key', 'insecure', 'public-url', 'trust-proxy', 'allowed-hosts',
  'path', 'mount-path', 'cors', 'metrics', 'verbose',
] as const

/** What an editor's threads are kept by, and a host of tools has no use for; and what is the other way. */
const stdioFlags: Readonly<Record<StdioFlag, readonly FlagName[]>> = {
  stdio: ['store', 'deployment'],
  acp: ['instructions'],
}

/** Throws `UsageError` for flags that have no effect on standard input and output. */
function requireNoSocket(line: Line, flag: StdioFlag): void {
  const useless = [...socketFlags, ...stdioFlags[flag]].find((name) => line.has(name))
  if (useless !== undefined) {
    throw new UsageError(`--${useless} and --${flag}: one client needs none; leave one out`)
  }
  const protocol = line.value('protocol')
  if (flag === 'acp' && protocol !== undefined) {
    throw new UsageError(`--protocol ${protocol} and --acp: only ACP is served there; leave one out`)
  }
  if (protocol === undefined || ['mcp', 'all'].some((name) => listOf(protocol)?.includes(name))) return
  throw new UsageError(`--protocol ${protocol} and --stdio: only MCP is served there; leave one out`)
}

/** The module to serve; undefined for the built-in agent. */
function moduleOf(words: readonly string[]): string | undefined {
  const [first = 'serve'] = words
  const [named, ...more] = commands.includes(first) ? words.slice(1) : words
  if (!commands.includes(first) && !/[./\\]/.test(first)) {
    // Of the flags only the exact name is suggested.
    const known = [...commands, ...flags.filter(({ name }) => name === first).map(({ name }) => `--${name}`)]
    throw new UsageError(`There is no command '${first}'; ${didYouMean(first, known, 'write triport serve')}`)
  }
  if (more.length > 0) throw new UsageError(`One module can be served, not also ${more.join(' ')}`)
  return named === undefined ? undefined : pathOf(named)
}

/** The path of a module, which may be given as a file URL. A Windows drive letter is no scheme. */
function pathOf(named: string): string {
  if (!/^[a-z][a-z\d+.-]+:/i.test(named)) return named
  try {
    return fileURLToPath(named)
  } catch {
    throw new UsageError(`${named} is no file of this machine; write a path, or file:///… of one`)
  }
}

/** Flags and variables win over the module's options. */
async function serve({ subject, options: own }: Loaded, given: LaunchOptions): Promise<Launched> {
  try {
    return await launch(subject, { ...own, ...givenOf(given) })
  } catch (error) {
    const isMistake = error instanceof TypeError || error instanceof RangeError
    // A mistake without any flag is the module's.
    throw isMistake && isServable({ subject, options: own }) ? new UsageError(error.message) : error
  }
}

function isServable(loaded: Loaded): boolean {
  try {
    return serverOf(loaded) !== undefined
  } catch {
    return false
  }
}

/** Those that are not left out. */
function givenOf(options: LaunchOptions): LaunchOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

function launchOptions(line: Line): LaunchOptions {
  const protocols = listOf(line.value('protocol'))
  return {
    port: portOf(line),
    host: line.value('host'),
    protocol: protocols?.join() === 'all' ? 'all' : protocols as readonly ProtocolName[] | undefined,
    apiKey: line.value('api-key'),
    insecure: line.has('insecure') || undefined,
    publicUrl: line.value('public-url'),
    trustProxy: line.has('trust-proxy') || undefined,
    allowedHosts: listOf(line.value('allowed-hosts')),
    path: line.value('path'),
    deployment: line.value('deployment'),
    quiet: line.has('quiet') || undefined,
    name: line.value('name'),
    instructions: line.value('instructions'),
    mountPath: line.value('mount-path'),
    cors: listOf(line.value('cors')),
    metrics: line.has('metrics') || undefined,
    accessLog: line.has('verbose') || undefined,
  }
}

async function storeOf(line: Line, module: string | undefined): Promise<Store | undefined> {
  const named = line.value('store')
  if (named === undefined || named === 'memory') return undefined
  if (!process.env['TRIPORT_SECRET']) {
    const remedy = `the same in all processes: what 'openssl rand -base64 32' prints`
    throw new UsageError(`--store needs TRIPORT_SECRET in the environment, ${remedy}`)
  }
  const { openStore } = await import('./command-store.ts')
  return openStore(named, module)
}

function portOf(line: Line): number | undefined {
  const port = line.value('port')
  if (port === undefined) return undefined
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65535) return Number(port)
  const by = line.has('port') ? '--port' : 'PORT'
  throw new UsageError(`${by} ${port} is no port; write a number from 0 to 65535`)
}

function listOf(value: string | undefined): readonly string[] | undefined {
  return value?.split(',').map((item) => item.trim()).filter((item) => item !== '')
}

/** Runs the command in a child process that restarts on changes. */
async function watch(module: string | undefined, line: Line): Promise<void> {
  if (module === undefined) throw new UsageError('--watch needs a module: triport serve agent.js --watch')
  const flag = stdioFlag(line)
  if (flag !== undefined) {
    throw new UsageError(`--watch and --${flag}: a client would lose its session; leave one of them out`)
  }
  const { port, variables } = await commonStart(line)
  const args = ['serve', module, ...line.format(['watch', 'port']), ...port]
  watchModule(module, (isLater) => isLater ? [...args, '--quiet'] : args, variables)
}

/** Runs the command in several worker processes; this one only supervises. */
async function hostWorkers(module: string | undefined, line: Line): Promise<void> {
  const count = countOf(line)
  const { startWorkers } = await import('./command-workers.ts')
  const store = await storeOf(line, module)
  const { port, variables } = await commonStart(line)
  const words = module === undefined ? ['serve'] : ['serve', module]
  const args = [...words, ...line.format(['workers', 'store', 'port']), ...port]
  startWorkers({ count, args, variables: { ...variables, [WORKER]: '1' }, store })
}

function countOf(line: Line): number {
  const value = line.value('workers') ?? ''
  if (value === 'auto') return availableParallelism()
  if (/^[1-9]\d{0,2}$/.test(value)) return Number(value)
  throw new UsageError(`--workers ${value} is no number of processes; write one from 1 to 999, or auto`)
}

/** Serves as one of several processes. */
async function work(module: string | undefined, line: Line): Promise<void> {
  const { isFirstWorker, reportSources, workerOptions, serveAsWorker } = (
    await import('./command-workers.ts')
  )
  if (isFirstWorker()) reportSources()
  // The primary's channel must not keep a module alive that waits for what never comes.
  process.channel?.unref()
  const loaded = await subjectOf(module, line)
  process.channel?.ref()
  requireParts(loaded, '--workers')
  const { log, store, ...given } = workerOptions(launchOptions(line))
  const { options } = loaded
  const { host = options.host, apiKey = options.apiKey, insecure = options.insecure } = given
  const needsKey = apiKey === undefined && insecure !== true && options.auth === undefined
    && host !== undefined && !isLoopback(host)
  serveAsWorker(await serve(loaded, {
    ...given, log: options.log ?? log, store: sharedStoreOf(options) ?? store,
    // Only the first worker prints the generated key.
    ...needsKey && !isFirstWorker() && { apiKey: process.env[GENERATED_KEY] },
  }))
}

/** The store of the module's options. Throws `UsageError` where each worker would have its own. */
function sharedStoreOf({ store }: LaunchOptions): Store | undefined {
  if (store === undefined || store.isShared) return store
  throw new UsageError('--workers and a store that is not shared; leave one of them out')
}

/** Whether a primary has started this process as its worker. */
function takeWorker(): boolean {
  const isWorker = process.env[WORKER] !== undefined
  // Processes that the module starts are not workers.
  delete process.env[WORKER]
  return isWorker
}

async function subjectOf(module: string | undefined, line: Line): Promise<Loaded> {
  if (module !== undefined) return loadModule(module, line.value('name'))
  const { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: apiKey, OPENAI_MODEL: model } = process.env
  if (baseUrl || apiKey) {
    const { openaiAgent } = await import('../agents/openai/openai.ts')
    const given = { baseUrl: baseUrl || undefined, apiKey: apiKey || undefined, model: model || undefined }
    try {
      return { subject: normalizeDefinitions(openaiAgent(given), 'triport', frameworks), options: {} }
    } catch (error) {
      throw new UsageError(`By OPENAI_BASE_URL and OPENAI_API_KEY, ${reasonOf(error)}`)
    }
  }
  const { assistant, tools } = await import('../agents/assistant/assistant.ts')
  return { subject: normalizeDefinitions({ agents: [assistant], tools }, 'triport', frameworks), options: {} }
}

/** An unhandled rejection of one handler must not end the server, and everybody's calls with it. */
function surviveHandlers(): void {
  const log = (what: string) => (cause: unknown): void => {
    process.stderr.write(formatLine('error', what, { cause }) + '\n')
  }
  process.on('unhandledRejection', log('A promise was rejected that no code handles'))
  process.on('uncaughtException', log('An error was thrown that no code catches'))
  // A reader that closes its end must not end the server either; reporting that would fail again.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
}

/** What all processes of one command line share: a fixed port, and variables of their environment. */
async function commonStart(line: Line): Promise<{
  readonly port: readonly string[]
  readonly variables: Readonly<Record<string, string>>
}> {
  const { port, host } = launchOptions(line)
  const fixed = port === 0 ? await freePort(host) : port
  const random = (): string => randomBytes(24).toString('base64url')
  return {
    port: fixed === undefined ? [] : [`--port=${fixed}`],
    variables: {
      // Sessions continue after a restart, and in every worker.
      TRIPORT_SECRET: process.env['TRIPORT_SECRET'] || random(),
      // So does a key that a server makes because none was given.
      [GENERATED_KEY]: process.env[GENERATED_KEY] || random(),
    },
  }
}

function freePort(host = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createProbe().once('error', (error) => reject(listenError(error, 0, host)))
    probe.listen(0, host, () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' ? address?.port ?? 0 : 0))
    })
  })
}
