/**
 * A module of an author's: a path in, all that it exports to be served out, sorted into its kinds. ES modules
 * and CommonJS are read alike.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { defineGroup, groupChecks } from '../define/agent.ts'
import { isRecord } from '../define/content.ts'
import { describe } from '../define/log.ts'
import { normalizeDefinitions } from '../define/normalize-definitions.ts'
import { rejectUnknown } from '../define/validate.ts'
import { serverOptions } from '../server/options.ts'
import { isThenable } from '../util/thenable.ts'
import { namesLike } from './command-line.ts'
import type { Defined, Subject } from '../define/normalize-definitions.ts'
import type { LaunchOptions } from '../server/launch.ts'
import type { TriportServer } from '../server/server.ts'

/** The name of the group that a list of agents makes. */
const NAME = 'triport'

/** What a module may export besides its default: one thing by the first name, a list by either. */
const kinds = [
  ['agent', 'agents'], ['group', 'groups'], ['tool', 'tools'], ['resource', 'resources'],
  ['resourceTemplate', 'resourceTemplates'], ['prompt', 'prompts'],
] as const

type Kind = typeof kinds[number][1]
type Exports = Readonly<Record<string, unknown>>

/** What a default may say besides what is to be served: options of the server, and where it listens. */
const optionNames: readonly string[] = [
  ...serverOptions.filter((name) => !kinds.some(([, many]) => many === name)), 'port', 'host', 'quiet',
]

/** What a module exports. */
export interface Loaded {
  readonly subject: Defined
  /** Those that its default holds beside what is served. */
  readonly options: LaunchOptions
  /** It has made its server itself; then the others are empty. */
  readonly server?: TriportServer | undefined
}

/**
 * Imports a module. Rejects with an `Error` whose message says all there is to say. Ends the process with 13
 * where the module waits for what never comes.
 */
export async function loadModule(path: string): Promise<Loaded> {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw new Error(`Cannot load ${path}: there is no such file`)
  if (stat.isDirectory()) throw new Error(`Cannot load ${path}: it is a folder; name a file in it`)
  // Nothing is left to do, and the import has not come to its end: what it awaits is not on its way.
  const giveUp = (): never => {
    process.stderr.write(`triport: ${path} never finishes loading: it awaits what nothing will settle\n`)
    process.exit(13)
  }
  process.once('beforeExit', giveUp)
  let exported: Exports
  try {
    exported = await import(pathToFileURL(resolve(path)).href)
    // A CommonJS module cannot write await before what it exports.
    if (isThenable(exported['default'])) exported = { ...exported, default: await exported['default'] }
  } catch (error) {
    throw new Error(`Cannot load ${path}: ${loadReason(error, path)}`, { cause: error })
  } finally {
    process.off('beforeExit', giveUp)
  }
  const server = exported['default'] ?? exported['server']
  if (isTriport(server)) return { subject: nothing, options: {}, server }
  const { options, isOffer, ...read } = readDefault(exported, path)
  const subject = sortOutExports(read.exported, isOffer, path)
  if (Object.values(subject).some(({ length }) => length > 0)) return { subject, options }
  throw new Error(`${path} ${nothingIn(read.exported)}`)
}

const nothing: Defined = {
  agents: [], groups: [], tools: [], resources: [], resourceTemplates: [], prompts: [],
}

/** Whether a value is what `createServer` returns, of whichever copy of this library. */
function isTriport(value: unknown): value is TriportServer {
  return isRecord(value) && Array.isArray(value['protocols'])
    && ['listen', 'close', 'status', 'fetch', 'handler'].every((name) => typeof value[name] === 'function')
}

/** A module's exports, with what its default holds among them, and what that says besides. */
interface ReadDefault {
  readonly exported: Exports
  readonly options: LaunchOptions
  /** The default is what `createServer` takes: of several agents the first answers. */
  readonly isOffer: boolean
}

/**
 * What CommonJS exports by name arrives as the members of a default, and often a second time by name. It may
 * be anything; in the default of an ES module there is nothing but what is to be served, or what
 * `createServer` takes. Throws an `Error`.
 */
function readDefault(module: Exports, path: string): ReadDefault {
  const { default: whole } = module
  const asItIs = { exported: module, options: {}, isOffer: false }
  if (!isRecord(whole) || 'run' in whole) return asItIs
  const members = Object.keys(whole)
  if (!members.some((name) => name === 'default' || kinds.flat().some((kind) => kind === name))) return asItIs
  if ('name' in whole && 'agents' in whole && members.every((name) => Object.hasOwn(groupChecks, name))) {
    const { version } = whole
    return { ...asItIs, options: typeof version === 'string' ? { version } : {} }
  }
  const isOffer = !isCommonJs(path)
  if (isOffer) rejectUnknown(`${path}: The default export`, whole, [...kinds.flat(), ...optionNames])
  const options = Object.fromEntries(Object.entries(whole).filter(([name]) => optionNames.includes(name)))
  return { exported: { ...module, default: undefined, ...whole }, options, isOffer }
}

/** Whether a module that has been imported is CommonJS, which stays where `require` looks. */
function isCommonJs(path: string): boolean {
  return createRequire(import.meta.url).cache[realpathSync(path)] !== undefined
}

/** Throws an `Error` that names the module, for what in it cannot be served. */
function sortOutExports(exported: Exports, isOffer: boolean, path: string): Defined {
  try {
    return sortExports(exported, isOffer)
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

function sortExports(exported: Exports, isOffer: boolean): Defined {
  const { default: main } = exported
  const held = new Set(partsOf(main))
  const exportedAs = (kind: Kind): readonly unknown[] => {
    const names = kinds.find(([, many]) => many === kind) ?? []
    return names.flatMap((name) => exported[name] ?? []).filter((thing) => !held.has(thing))
  }
  const groups = exportedAs('groups')
  const members = new Set(groups.flatMap(partsOf))
  const subjects: readonly unknown[] = [
    ...main === undefined ? [] : [main],
    ...exportedAs('agents').filter((agent) => !members.has(agent)),
    ...groups,
    {
      tools: exportedAs('tools'), resources: exportedAs('resources'),
      resourceTemplates: exportedAs('resourceTemplates'), prompts: exportedAs('prompts'),
    },
  ]
  const all = merge(subjects.map((subject) => normalizeDefinitions(subject as Subject, NAME)))
  // Several agents of which none is put first are a group, as a list of them is.
  const isList = !isOffer && main === undefined && exported['agent'] === undefined && all.groups.length === 0
  if (!isList || all.agents.length < 2) return all
  return { ...all, groups: [defineGroup({ name: NAME, agents: all.agents })] }
}

/** A thing, or each of a list, with what is in it: what is exported under two names is served once. */
function partsOf(thing: unknown): readonly unknown[] {
  if (Array.isArray(thing)) return thing.flatMap(partsOf)
  const parts = isRecord(thing) ? kinds.flatMap(([, many]) => thing[many] ?? []) : []
  return [thing, ...parts.flatMap(partsOf)]
}

function merge(all: readonly Defined[]): Defined {
  return {
    agents: all.flatMap(({ agents }) => agents),
    groups: all.flatMap(({ groups }) => groups),
    tools: all.flatMap(({ tools }) => tools),
    resources: all.flatMap(({ resources }) => resources),
    resourceTemplates: all.flatMap(({ resourceTemplates }) => resourceTemplates),
    prompts: all.flatMap(({ prompts }) => prompts),
  }
}

function nothingIn(exported: Exports): string {
  const known = kinds.flat()
  const [meant] = Object.keys(exported)
    .flatMap((name) => namesLike(name, known).map((one) => ({ name, one })))
  if (meant !== undefined) return `exports '${meant.name}'; did you mean '${meant.one}'?`
  return 'exports nothing to serve; export default (prompt) => answer, or name it agent, group or tools'
}

/** Lines of a stack that are shown, and files in which the source of a syntax error is looked for. */
const MAX_FRAMES = 5
const MAX_FILES = 20

/** A source line that is longer was made by a machine; of a longer message the end is cut off. */
const MAX_SOURCE = 200
const MAX_MESSAGE = 2_000

/** How a stack begins where it knows the source: the place, a few lines, and mostly a mark below. */
const EXCERPT = /^(\S.*:\d+)\n((?:.*\n){0,8}?)SyntaxError\b/

/** This house's own files, as they look in a stack. */
const SYSTEM_OWNER = new URL('..', import.meta.url).href

/** Where the author's part of a stack ends. */
const LOADED_BY = 'at async loadModule'

/** A message, and below it the lines that show where. */
export function loadReason(error: unknown, path: string): string {
  if (!(error instanceof Error)) return `it threw ${describe(error)}`
  if ('code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION' && /\.[cm]?ts\b/.test(error.message)) {
    return 'this Node does not run TypeScript; compile it first, or use Node 22.18 or later'
  }
  const { cause } = error
  const message = error.message || error.name
  const reason = cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message
  const where = error instanceof SyntaxError ? excerptOf(error, path) : framesOf(error)
  return [near(reason.slice(0, MAX_MESSAGE)), ...where.map((line) => `    ${near(line)}`)].join('\n')
}

function framesOf({ stack }: Error): readonly string[] {
  const [within = ''] = String(stack).split(LOADED_BY)
  return within.split('\n').map((line) => line.trim())
    .filter((line) => /^at .*[\\/:]/.test(line) && !line.includes('node:') && !line.includes(SYSTEM_OWNER))
    .slice(0, MAX_FRAMES)
}

/** Node knows the line of an ES module's syntax error, and tells it to nobody but its own last words. */
function excerptOf(error: SyntaxError, path: string): readonly string[] {
  const known = EXCERPT.exec(String(error.stack))
  if (known !== null) return excerpt(known)
  for (const file of localFiles(path).filter((one) => /\.[cm]?js$/.test(one)).slice(0, MAX_FILES)) {
    const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' })
    const found = EXCERPT.exec(stderr)
    if (found !== null && stderr.includes(error.message)) return excerpt(found)
  }
  return framesOf(error)
}

function excerpt([, place = '', source = '']: RegExpExecArray): readonly string[] {
  const lines = source.split('\n').filter((line) => line.trim() !== '')
  return lines.some(({ length }) => length > MAX_SOURCE) ? [place] : [place, ...lines]
}

/** A text with the paths in it as they look from the working directory. */
function near(text: string): string {
  const folder = process.cwd()
  const here = folder + sep
  // At the root every path is as short as it can be.
  const paths = dirname(folder) === folder ? text
    : text.replaceAll(pathToFileURL(here).href, '').replaceAll(here, '')
  return paths.replace(/file:\/\/[^\s)]+?(?=:\d|[\s)]|$)/g, (url) => fileURLToPath(url))
}

/** More than a module that somebody works on is made of. */
const MAX_LOCAL_FILES = 2_000

const RELATIVE = /\b(?:from|import|require)\s*\(?\s*(?:'(\.{1,2}\/[^'\n]+)'|"(\.{1,2}\/[^"\n]+)")/g
const SCRIPT = /\.[cm]?[jt]s$/
/** What `require` lets one leave out. */
const ENDINGS = ['', '.js', '.cjs', '.json', '.ts', '/index.js', '/index.ts']

/** Their absolute paths, the module's own first. One that is imported and not there yet is among them. */
export function localFiles(module: string): readonly string[] {
  const files = new Set([resolve(module)])
  // A set may grow while it is walked.
  for (const file of files) {
    for (const path of importsOf(file)) if (files.size < MAX_LOCAL_FILES) files.add(path)
  }
  return [...files]
}

function importsOf(file: string): readonly string[] {
  const text = SCRIPT.test(file) ? textOf(file) : ''
  return [...text.matchAll(RELATIVE)].map(([, single, double = '']) => {
    const path = fileURLToPath(new URL(single ?? double, pathToFileURL(file)))
    return ENDINGS.map((ending) => path + ending).find(isFile) ?? path
  })
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // It may be in the middle of being saved.
    return ''
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
