/**
 * `triport manifest`: prints the `server.json` with which the MCP registry lists a server, made of a module
 * and of the package.json around it. Its schema: 2025-12-11.
 */
import { readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { isRecord } from '../kernel/define/content.ts'
import { claimStdout } from '../floors/lines/claim-stdout.ts'
import { isRegistryName, MAX_REGISTRY_TEXT, remoteOf } from '../floors/hosts/mcp-registry.ts'
import { ipKindOf } from '../floors/outbound/ip.ts'
import { isLoopbackName, isSecureAddress } from '../floors/outbound/secure-address.ts'
import { print, subcommand, UsageError } from './command-line.ts'
import { loadModule } from './load.ts'
import type { CommandLine, Subcommand } from './command-line.ts'

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

const flags = [
  { name: 'name', value: 'NAME', fallback: 'mcpName of package.json',
    meaning: 'the name in the registry, as in com.example/shop' },
  { name: 'url', value: 'URL', meaning: 'where the internet reaches the server' },
  { name: 'key', meaning: 'callers of the URL need a key, as where the module sets apiKey' },
  { name: 'variables', value: 'LIST', meaning: 'variables that the package needs, as in OPENAI_API_KEY' },
] as const

type Line = CommandLine<typeof flags[number]['name']>

export const manifestCommand: Subcommand = subcommand('manifest', `Usage: triport manifest [module] [options]

Prints the server.json with which the MCP registry lists a server. What the server is comes from the
module, and else from package.json: title, description, version, repository. How it is got: as the
npm package whose package.json has mcpName, which hosts start over standard input and output; or by
its address; or by both.

Nothing is published: mcp-publisher, the program of the registry, sends the file.
`, flags, printManifest)

/** A package.json; empty where there is none. */
interface Manifest { readonly file: string; readonly members: Readonly<Record<string, unknown>> }

/** What a module says of its server. */
interface Server {
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly version?: string | undefined
  readonly mountPath?: string | undefined
  readonly isKeyed?: boolean
}

async function printManifest(line: Line): Promise<void> {
  const [module, ...more] = line.words
  if (more.length > 0) throw new UsageError(`manifest takes one module, not also ${more.join(' ')}`)
  // Before the module is imported: what that prints is no part of the document.
  const output = claimStdout()
  const server = module === undefined ? {} : await serverOf(module)
  const manifest = nearestManifest(resolve(module === undefined ? '.' : dirname(module)))
  const text = `${JSON.stringify(documentOf(server, manifest, line), null, 2)}\n`
  await print(text, output)
  // Even if the module still holds something open.
  process.exit(0)
}

async function serverOf(module: string): Promise<Server> {
  const { server, subject, options } = await loadModule(module)
  const { groups: [group], agents: [agent] } = subject
  const root = server?.catalog.root ?? group ?? agent
  return {
    title: server?.name ?? options.name ?? root?.name,
    description: options.description ?? root?.description,
    version: options.version,
    mountPath: options.mountPath,
    isKeyed: options.apiKey !== undefined,
  }
}

/** The package.json in a folder, or in the nearest one around it. */
function nearestManifest(folder: string): Manifest {
  const file = join(folder, 'package.json')
  const shown = relative('', file)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    const parent = dirname(folder)
    return parent === folder ? { file: 'package.json', members: {} } : nearestManifest(parent)
  }
  try {
    const members: unknown = JSON.parse(text)
    if (isRecord(members)) return { file: shown, members }
  } catch {
    // Said below.
  }
  throw new Error(`${shown} is no JSON object; mend it`)
}

function documentOf(server: Server, manifest: Manifest, line: Line): object {
  const { file, members } = manifest
  const packages = packagesOf(manifest, line)
  const url = urlOf(server, line)
  const name = nameOf(manifest, line, packages)
  if (packages === undefined && url === undefined) {
    throw new Error('The registry needs to know how the server is got. Write --url https://… if the internet '
      + `reaches it; or publish it with npm, and write "mcpName": "${name}" in ${file}`
      + `${members['private'] === true ? ', without "private"' : ''}`)
  }
  const version = server.version ?? textIn(members, 'version')
  if (version === undefined) throw new Error(`There is no version; write "version": "1.0.0" in ${file}`)
  const { title } = server
  const repository = repositoryOf(members['repository'])
  const homepage = textIn(members, 'homepage')
  return {
    $schema: SCHEMA,
    name,
    ...title !== undefined && title.length <= MAX_REGISTRY_TEXT && { title },
    description: descriptionOf(server, manifest),
    version,
    ...isSecureAddress(homepage) && homepage.startsWith('https:') && { websiteUrl: homepage },
    ...repository !== undefined && { repository },
    ...packages !== undefined && { packages },
    ...url !== undefined && { remotes: [remoteOf(url, line.has('key') || server.isKeyed === true)] },
  }
}

function nameOf({ file, members }: Manifest, line: Line, packages: object | undefined): string {
  const given = line.value('name')
  const own = members['mcpName']
  const name = given ?? own
  const form = 'as in io.github.<user>/<server> or com.example/<server>, of a user or a domain that is yours'
  if (name === undefined) {
    throw new Error(`The registry needs a name, ${form}; write it in ${file} as "mcpName", or --name`)
  }
  if (!isRegistryName(name)) {
    throw new Error(`${JSON.stringify(name)} is no name for the registry; write one ${form}, `
      + `${given === undefined ? `in ${file} as "mcpName"` : 'as --name'}`)
  }
  if (packages !== undefined && own !== name) {
    throw new Error(`--name ${name} and "mcpName" of ${file}, ${JSON.stringify(own)}: the registry wants `
      + 'both alike; leave --name out')
  }
  return name
}

function descriptionOf(server: Server, { file, members }: Manifest): string {
  const description = (server.description || textIn(members, 'description'))?.trim() ?? ''
  const by = server.description ? 'the description of the server' : `"description" in ${file}`
  if (description === '') {
    throw new Error(`There is no description; write "description" in ${file}, in at most `
      + `${MAX_REGISTRY_TEXT} characters`)
  }
  if (description.length <= MAX_REGISTRY_TEXT) return description
  throw new Error(`The registry takes ${MAX_REGISTRY_TEXT} characters, and ${by} has ${description.length}; `
    + 'shorten it')
}

/** Where the internet reaches MCP. Throws `UsageError`. */
function urlOf({ mountPath = '' }: Server, line: Line): string | undefined {
  const given = line.value('url')
  if (given === undefined) {
    if (line.has('key')) throw new UsageError('--key is for an address; write --url https://… too')
    return undefined
  }
  const url = URL.canParse(given) ? new URL(given) : undefined
  const host = url?.hostname.replace(/^\[|\]$/g, '') ?? ''
  const isPublic = !isLoopbackName(url?.hostname ?? '') && (ipKindOf(host) ?? 'public') === 'public'
  if (url === undefined || !isSecureAddress(given) || !isPublic) {
    throw new UsageError(`--url ${given}: the registry lists what the internet reaches; write an address as `
      + 'in https://shop.example.com/mcp, without a user or a password')
  }
  // Where a server of ours has MCP.
  if (url.pathname === '/') url.pathname = `${mountPath}/mcp`
  return url.href
}

/** The npm package; undefined where package.json does not offer one. */
function packagesOf({ file, members }: Manifest, line: Line): readonly object[] | undefined {
  const variables = line.value('variables')?.split(',').map((name) => name.trim()) ?? []
  const wrong = variables.find((name) => !/^[A-Za-z_]\w*$/.test(name))
  if (wrong !== undefined) {
    throw new UsageError(`--variables takes the names of environment variables, as in OPENAI_API_KEY, not `
      + 'their values')
  }
  if (members['mcpName'] === undefined || members['private'] === true) {
    if (variables.length === 0) return undefined
    throw new UsageError(`--variables is for an npm package, and ${file} offers none: it needs "mcpName"`
      + `${members['private'] === true ? `, and no "private"` : ''}`)
  }
  const [identifier, version] = [textIn(members, 'name'), textIn(members, 'version')]
  if (identifier === undefined || version === undefined) {
    throw new Error(`An npm package needs "name" and "version" in ${file}`)
  }
  if (!isStarted(members['bin'], identifier)) {
    const short = identifier.replace(/^@[^/]*\//, '')
    throw new Error(`Hosts start the package by npx, and ${file} does not say what that runs; write `
      + `"bin": { "${short}": "server.js" }, where server.js begins with the line #!/usr/bin/env node and `
      + 'calls serveStdio')
  }
  const secrets = variables.map((name) => ({ name, isRequired: true, isSecret: true }))
  return [{
    registryType: 'npm', identifier, version, runtimeHint: 'npx', transport: { type: 'stdio' },
    ...secrets.length > 0 && { environmentVariables: secrets },
  }]
}

/** Whether npx finds a program: the only one, or that with the name of the package. */
function isStarted(bin: unknown, name: string): boolean {
  if (!isRecord(bin)) return typeof bin === 'string' && bin !== ''
  return Object.keys(bin).length === 1 || Object.hasOwn(bin, name.replace(/^@[^/]*\//, ''))
}

/** As the registry has it; undefined where it is on no forge that the registry knows. */
function repositoryOf(value: unknown): object | undefined {
  const written = typeof value === 'string' ? value : isRecord(value) ? textIn(value, 'url') : undefined
  const subfolder = isRecord(value) ? textIn(value, 'directory') : undefined
  const [, forge, path] = /^(?:(github|gitlab):)?([\w.-]+\/[\w.-]+)$/.exec(written ?? '')
    ?? /\b(github|gitlab)\.com[/:]((?:[\w.-]+\/)+[\w.-]+?)(?:\.git)?\/?(?:#.*)?$/.exec(written ?? '') ?? []
  if (path === undefined) return undefined
  const source = forge ?? 'github'
  return { url: `https://${source}.com/${path}`, source, ...subfolder !== undefined && { subfolder } }
}

function textIn(members: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = members[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
