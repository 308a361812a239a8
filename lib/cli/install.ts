/** `triport install`: writes a module or an address into the configuration of an MCP host or an editor. */
import {
  copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import { claimStdout } from '../floors/lines/claim-stdout.ts'
import { hostEntry, hostFlag, mcpHosts } from '../floors/hosts/mcp-hosts.ts'
import { didYouMean, print, subcommand, UsageError } from './command-line.ts'
import { setMember } from './edit-json.ts'
import { setTable } from './edit-toml.ts'
import { loadModule, requireParts, serverOf } from './load.ts'
import type { HostedProcess, HostedUrl, HostFiles, McpHost } from '../floors/hosts/mcp-hosts.ts'
import type { Writable } from 'node:stream'
import type { CommandLine, Subcommand } from './command-line.ts'

const flags = [
  { name: 'name', value: 'NAME', fallback: `the server's own`, meaning: 'what the host calls it' },
  { name: 'project', meaning: 'for the project in this folder, not for its user' },
  { name: 'dotenv', value: 'FILE', meaning: 'a file of variables for a module, as OPENAI_API_KEY=…' },
  { name: 'key-variable', value: 'NAME', meaning: `the host's variable with the key for an address` },
  { name: 'dry-run', meaning: 'shows what would be written, and writes nothing' },
  { name: 'yes', short: 'y', meaning: 'writes without asking' },
] as const

type Line = CommandLine<typeof flags[number]['name']>

const hosts = mcpHosts.map(({ id, title }) => `  ${id.padEnd(12)} ${title}\n`).join('')

export const installCommand: Subcommand = subcommand('install', `Usage: triport install host module [options]
       triport install host url [options]

Writes an MCP server into the configuration of a host, or an agent into that of an editor: a module
is started by the host, over standard input and output; an address is called. What changes is shown
and has to be confirmed; the file as it was is kept beside it. Everything else in the file stays.
The hosts:

${hosts}`, flags, install)

async function install(line: Line): Promise<void> {
  // Before the module is imported: what that prints does not belong here.
  const output = claimStdout()
  await print(await run(line, output), output)
  // Even if the module still holds something open.
  process.exit(0)
}

/** Does it all, but for what is printed at the end. */
async function run(line: Line, output: Writable): Promise<string> {
  const [named = '', target, ...more] = line.words
  const host = hostNamed(named)
  if (target === undefined) {
    throw new UsageError(`install needs what to install: triport install ${named} agent.js`)
  }
  if (more.length > 0) throw new UsageError(`install takes one server, not also ${more.join(' ')}`)
  const isAddress = /^https?:\/\//i.test(target)
  const server = isAddress ? addressOf(target, host, line) : processOf(target, host, line)
  const given = nameOf(line)
  const entry = hostEntry(host, server)
  if (entry === undefined && host.protocol === 'acp') {
    const example = `triport install ${named} agent.js`
    throw new UsageError(`${host.title} only starts agents; install a module: ${example}`)
  }
  if (entry === undefined) {
    throw new UsageError(`By its file ${host.title} only starts servers; install a module, or add an address `
      + 'that the internet reaches in its settings, under Connectors')
  }
  const file = fileOf(host, line.has('project'))
  // A module is loaded in any case: a host would hardly say why it does not start.
  const own = isAddress ? new URL(target).hostname : await nameIn(target, host, line.value('dotenv'))
  const name = given ?? plainName(own)
  const { before, after } = edited(host, file, name, entry)
  if (after === before) return `${host.title} has '${name}' already, as it would be written to ${file}\n`
  await print(`${host.title}: ${file}\n\n${difference(before, after)}\n`, output)
  if (line.has('dry-run')) return 'Nothing was written.\n'
  if (!line.has('yes') && !await isConfirmed()) return 'Nothing was written.\n'
  const kept = write(file, after)
  return `Written.${kept === undefined ? '' : ` The file as it was: ${kept}`}\n${host.then}\n`
}

function hostNamed(id: string): McpHost {
  const host = mcpHosts.find((one) => one.id === id)
  if (host !== undefined) return host
  const ids = mcpHosts.map((one) => one.id)
  if (id === '') throw new UsageError(`install needs a host: ${ids.join(', ')}`)
  throw new UsageError(`There is no host '${id}'; ${didYouMean(id, ids, `write ${ids.join(', ')}`)}`)
}

function addressOf(target: string, host: McpHost, line: Line): HostedUrl {
  if (!URL.canParse(target)) {
    throw new UsageError(`${target} is no address; write one as in http://localhost:8000/mcp`)
  }
  if (line.has('dotenv')) {
    throw new UsageError('--dotenv and an address: it is for a module; leave it out')
  }
  const url = new URL(target)
  // Where a server of ours has MCP.
  if (url.pathname === '/') url.pathname = '/mcp'
  const keyVariable = line.value('key-variable')
  if (keyVariable === undefined) return { url: url.href }
  if (!/^[A-Za-z_]\w*$/.test(keyVariable)) {
    throw new UsageError('--key-variable takes the name of an environment variable, not a key; write '
      + '--key-variable TRIPORT_API_KEY')
  }
  if (host.takesVariables || host.address === undefined) return { url: url.href, keyVariable }
  throw new UsageError(`${host.title} takes no variables in its file; leave --key-variable out, and write `
    + `"headers": { "Authorization": "Bearer …" } there yourself`)
}

function processOf(module: string, host: McpHost, line: Line): HostedProcess {
  if (line.has('key-variable')) {
    throw new UsageError('--key-variable and a module: a process needs no key; leave it out')
  }
  if (!isFile(module)) {
    throw new Error(`There is no file ${module}; name a module, or an address, http://localhost:8000/mcp`)
  }
  const command = fileURLToPath(new URL('../cli.js', import.meta.url))
  if (/[\\/]_npx[\\/]/.test(command)) {
    throw new Error('This copy is in the cache of npx, which is emptied at times; install triport in your '
      + `project, or run 'npx triport vendor vendor/triport', and install by that copy`)
  }
  const envFile = line.value('dotenv')
  if (envFile !== undefined && !isFile(envFile)) throw new Error(`There is no file ${envFile}`)
  // Not named as Node's own flag: Node 20 would read that one too.
  const options = envFile === undefined ? [] : [`--env-file=${resolve(envFile)}`]
  // Hosts have neither the folder nor the search path of a terminal.
  const args = [...options, command, 'serve', resolve(module), hostFlag(host)]
  return { command: process.execPath, args }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function nameOf(line: Line): string | undefined {
  const name = line.value('name')
  if (name === undefined || /^[\w-]{1,64}$/.test(name)) return name
  throw new UsageError(`--name ${JSON.stringify(name)}: hosts take 1 to 64 letters, digits, '_' and '-'`)
}

/** The name of the server that a module makes. Throws an `Error` for one that the host could not start. */
async function nameIn(module: string, host: McpHost, envFile: string | undefined): Promise<string> {
  if (envFile !== undefined) process.loadEnvFile(envFile)
  const loaded = await loadModule(module)
  requireParts(loaded, hostFlag(host))
  serverOf(loaded)
  const { subject: { groups: [group], agents: [agent], tools: [tool] }, options } = loaded
  return options.name ?? group?.name ?? agent?.name ?? tool?.name ?? ''
}

/** A name that every host takes. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z\d]+/g, '-').replace(/^-|-$/g, '').slice(0, 40) || 'triport'
}

/** Where the host keeps its servers. */
function fileOf({ title, files }: McpHost, isProject: boolean): string {
  if (isProject) {
    if (files.project !== undefined) return resolve(files.project)
    throw new UsageError(`${title} has no file for one project; leave --project out`)
  }
  return userFile(files, { platform: process.platform, home: homedir(), variables: process.env })
}

/** What decides of the folders of a user. */
interface User {
  readonly platform: NodeJS.Platform
  readonly home: string
  readonly variables: Readonly<Record<string, string | undefined>>
}

/** The file of a host for one user. */
export function userFile(files: HostFiles, { platform, home, variables }: User): string {
  const path = platform === 'darwin' ? files.macos : platform === 'win32' ? files.windows : files.linux
  const { APPDATA: appData, XDG_CONFIG_HOME: config } = variables
  const [, root = '', rest = ''] = /^(~\/\.config|~|%APPDATA%)\/(.*)$/.exec(path) ?? []
  const folder = root === '%APPDATA%' ? appData || `${home}/AppData/Roaming`
    : root === '~' ? home
    : platform === 'linux' && config ? config : `${home}/.config`
  return join(folder, rest)
}

function edited(
  { member, format, title }: McpHost, file: string, name: string, entry: Readonly<Record<string, unknown>>,
): { readonly before: string; readonly after: string } {
  try {
    const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
    const set = format === 'toml' ? setTable : setMember
    return { before, after: set(before, [member, name], entry) }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`${file} cannot be changed: ${why}. Mend it, or write by hand what ${title} needs: `
      + `"${name}": ${JSON.stringify(entry)} in "${member}"`, { cause: error })
  }
}

/** The lines that go, and those that come, with two around them. */
function difference(before: string, after: string): string {
  const linesOf = (text: string): readonly string[] => text === '' ? [] : text.trimEnd().split(/\r?\n/)
  const [old, fresh] = [linesOf(before), linesOf(after)]
  let head = 0
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++
  let tail = 0
  while (tail < Math.min(old.length, fresh.length) - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++
  const mark = (sign: string, lines: readonly string[]): string => (
    lines.map((line) => `${sign} ${line}\n`).join('')
  )
  return mark(' ', fresh.slice(Math.max(0, head - 2), head))
    + mark('-', old.slice(head, old.length - tail)) + mark('+', fresh.slice(head, fresh.length - tail))
    + mark(' ', fresh.slice(fresh.length - tail, fresh.length - tail + 2))
}

/** Asks on the terminal. Throws `UsageError` where there is none. */
async function isConfirmed(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError('There is no terminal to ask on; write --yes, or --dry-run to see only')
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(?:es)?$/i.test((await terminal.question('Write this? (y/N) ')).trim())
  } finally {
    terminal.close()
  }
}

/** Writes a file at once, as a whole. Returns where the old one is kept. */
function write(file: string, text: string): string | undefined {
  mkdirSync(dirname(file), { recursive: true })
  const isThere = existsSync(file)
  // Behind a link is what is meant.
  const real = isThere ? realpathSync(file) : file
  const time = new Date().toISOString().replace(/[-:]|\.\d+Z$/g, '')
  const kept = `${real}.${time}.bak`
  if (isThere) copyFileSync(real, kept)
  const fresh = `${real}.${process.pid}.tmp`
  writeFileSync(fresh, text, { mode: isThere ? statSync(real).mode : 0o600 })
  renameSync(fresh, real)
  return isThere ? kept : undefined
}
