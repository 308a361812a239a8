#!/usr/bin/env node
/**
 * The `triport` command. Says what it does on standard error; ends with 0, with 2 for a wrong command
 * line, with 1 for what could not be done.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { isRecord } from './core/content.ts'
import { formatLine } from './core/log.ts'
import { sortOut } from './core/subject.ts'
import { launch } from './launch.ts'
import { serveStdio } from './stdio.ts'
import type { Subject, ToolLike } from './core/subject.ts'
import type { LaunchOptions } from './launch.ts'
import type { ProtocolName } from './options.ts'

/** As in package.json, which a copied dist/ does not have beside it. */
const VERSION = '0.1.0'

const HELP = `Usage: triport serve [module] [options]

Puts an agent, a group of agents or a set of tools on the network.

module exports a function, a definition or a list: as default, or named agent, agents, group, groups
or tools. Without a module a built-in assistant is served, or a model when OPENAI_API_KEY or
OPENAI_BASE_URL is set (and OPENAI_MODEL names it).

  --protocol LIST        http, mcp, a2a, all, or several with commas  (http; mcp for tools alone)
  --port N               8000; 8080 for mcp alone; 0 for any free port
  --host HOST            127.0.0.1; any other address asks for a key
  --api-key KEY          the key that callers need; better given as TRIPORT_API_KEY
  --insecure             no key on an address that others can reach
  --public-url URL       where clients reach this server
  --allowed-hosts LIST   names that this server is reached by, joined by commas
  --path PATH            a further path for queries, as in /ask
  --stdio                MCP on standard input and output, for hosts that start a process
  --help, --version
`

const options = {
  'protocol': { type: 'string' },
  'port': { type: 'string' },
  'host': { type: 'string' },
  'api-key': { type: 'string' },
  'insecure': { type: 'boolean' },
  'public-url': { type: 'string' },
  'allowed-hosts': { type: 'string' },
  'path': { type: 'string' },
  'stdio': { type: 'boolean' },
  'help': { type: 'boolean', short: 'h' },
  'version': { type: 'boolean', short: 'v' },
} as const

/** A mistake in the command line: told in a sentence, without a stack. */
class UsageError extends Error {}

async function main(args: readonly string[]): Promise<void> {
  const { values, positionals } = parse(args)
  if (values.version === true) return void process.stdout.write(`${VERSION}\n`)
  if (values.help === true || positionals.length === 0) return void process.stdout.write(HELP)
  const [command, module, ...more] = positionals
  if (command !== 'serve') throw new UsageError(`There is no command '${command}'; write triport serve`)
  if (more.length > 0) throw new UsageError(`One module can be served, not also ${more.join(' ')}`)
  surviveHandlers()
  const subject = module === undefined ? await builtIn() : await load(module)
  if (values.stdio === true) await serveStdio(subject)
  else await launch(subject, launchOptions(values))
}

interface CommandLine { options: typeof options; allowPositionals: true }

function parse(args: readonly string[]): ReturnType<typeof parseArgs<CommandLine>> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

type Values = ReturnType<typeof parse>['values']

function launchOptions(values: Values): LaunchOptions {
  const protocols = listOf(values.protocol)
  return {
    port: portOf(values.port),
    host: values.host,
    protocol: protocols?.includes('all') === true ? 'all' : protocols as readonly ProtocolName[] | undefined,
    // An empty variable is one that was not set; an empty flag is a mistake that createServer names.
    apiKey: values['api-key'] ?? (process.env['TRIPORT_API_KEY'] || undefined),
    insecure: values.insecure,
    publicUrl: values['public-url'],
    allowedHosts: listOf(values['allowed-hosts']),
    path: values.path,
  }
}

function portOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65535) return Number(value)
  throw new UsageError(`--port ${value} is no port; write a number from 0 to 65535`)
}

function listOf(value: string | undefined): readonly string[] | undefined {
  return value?.split(',').map((item) => item.trim()).filter((item) => item !== '')
}

/** The agent of a machine that has nothing else. */
async function builtIn(): Promise<Subject> {
  const { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: apiKey, OPENAI_MODEL: model } = process.env
  if (baseUrl || apiKey) {
    const { openaiAgent } = await import('./adapters/openai.ts')
    return openaiAgent({
      baseUrl: baseUrl || undefined, apiKey: apiKey || undefined, model: model || undefined,
    })
  }
  const { assistant, tools } = await import('./assistant/assistant.ts')
  return { agents: [assistant], tools }
}

/** What a module exports, as something to serve. */
async function load(path: string): Promise<Subject> {
  const url = pathToFileURL(resolve(path))
  let module: Readonly<Record<string, unknown>>
  try {
    module = await import(url.href) as Readonly<Record<string, unknown>>
  } catch (error) {
    throw new Error(`Cannot load ${path}: ${reason(error, path)}`, { cause: error })
  }
  // What a CommonJS module exports by name arrives as the members of its default.
  const { default: whole } = module
  const named = isRecord(whole) && ('agent' in whole || 'group' in whole) ? whole : module
  const { default: main = named['agent'] ?? named['group'], agents, groups, tools } = named
  if (main !== undefined) {
    if (tools === undefined) return main as Subject
    const sorted = sortOut(main as Subject, 'triport')
    return { ...sorted, tools: [...sorted.tools, ...listed(tools) as readonly ToolLike[]] }
  }
  if (agents === undefined && groups === undefined && tools === undefined) {
    const remedy = 'export default (prompt) => answer, or name it agent, agents or tools'
    throw new Error(`${path} exports nothing to serve; ${remedy}`)
  }
  if (Array.isArray(agents) && groups === undefined && tools === undefined) return agents as Subject
  return { agents: listed(agents), groups: listed(groups), tools: listed(tools) } as Subject
}

/** One thing is a list of one. */
function listed(things: unknown): readonly unknown[] {
  return things === undefined ? [] : [things].flat()
}

function reason(error: unknown, path: string): string {
  if (!existsSync(path)) return 'there is no such file'
  if (!(error instanceof Error)) return String(error)
  if ('code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION' && /\.[cm]?ts$/.test(path)) {
    return 'this Node does not run TypeScript; compile it first, or use Node 22.18 or later'
  }
  return error.message
}

/** A promise that an agent forgot must not take the server, and everybody else's calls, with it. */
function surviveHandlers(): void {
  const tell = (what: string) => (cause: unknown): void => {
    process.stderr.write(formatLine('error', what, { cause }) + '\n')
  }
  process.on('unhandledRejection', tell('A promise was rejected that nobody waited for'))
  process.on('uncaughtException', tell('An error was thrown where nobody could catch it'))
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`triport: ${message}\n`)
  const isMistake = [UsageError, TypeError, RangeError].some((kind) => error instanceof kind)
  process.exit(isMistake ? 2 : 1)
})
