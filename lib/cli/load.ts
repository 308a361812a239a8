/**
 * The module that is served: a path in; what it exports out, sorted by kind, or why it could not be loaded.
 * ES modules and CommonJS are read alike.
 */
import { spawnSync } from 'node:child_process'
import { realpathSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { defineGroup } from '../preset/define.ts'
import { frameworks } from '../adapters/frameworks.ts'
import { groupChecks } from '../kernel/define/agent.ts'
import { isRecord } from '../kernel/define/content.ts'
import { describe } from '../kernel/define/log.ts'
import { areNamedTools } from '../kernel/define/normalize-definitions.ts'
import { checkValues, rejectUnknown } from '../kernel/define/validate.ts'
import { nearest } from '../kernel/schema/options.ts'
import { checkAddress } from '../kernel/server/options.ts'
import { serverOptions } from '../preset/options.ts'
import { createServer } from '../preset/create-server.ts'
import { launchChecks } from '../preset/launch.ts'
import { normalizeDefinitions } from '../preset/subject.ts'
import { isThenable } from '../kernel/util/thenable.ts'
import { namesLike, UsageError } from './command-line.ts'
import { localFiles, sourceOf } from './files.ts'
import type { Defined } from '../kernel/define/normalize-definitions.ts'
import type { Subject } from '../preset/subject.ts'
import type { LaunchOptions } from '../preset/launch.ts'
import type { TriportServer } from '../preset/create-server.ts'

/** Name of the server, and of the group that a list of agents makes, where none is given. */
const NAME = 'triport'

/** Named exports: one thing by the first name, a list by either. */
const kinds = [
  ['agent', 'agents'], ['group', 'groups'], ['tool', 'tools'], ['resource', 'resources'],
  ['resourceTemplate', 'resourceTemplates'], ['prompt', 'prompts'],
] as const

type Kind = typeof kinds[number][1]
type Exports = Readonly<Record<string, unknown>>

/** Options of the server that a module may name, as exports or in its default, beside what is served. */
const optionNames: readonly string[] = [
  ...serverOptions.filter((name) => !kinds.some(([, many]) => many === name)), 'port', 'host', 'quiet',
]

/** Of the options those that concern where a server listens, and not what it is. */
const PLACE: readonly string[] = ['port', 'host', 'quiet']

/** What Node and compilers add to the exports of CommonJS. */
const ADDED: readonly string[] = ['default', '__esModule', 'module.exports']

/** In a shorter name one letter may be wrong, or it is another word. */
const LONG = 8

/** What a module's file may end with. */
const ENDINGS: readonly string[] = ['.js', '.mjs', '.ts', '.mts', '.cjs', '.cts']

/** What a module exports. With a `server` that it has made itself, the others are empty. */
export interface Loaded {
  readonly subject: Defined
  readonly options: LaunchOptions
  readonly server?: TriportServer | undefined
}

/**
 * Imports a module. `name`: that of the server, which wins over the module's. Rejects with an `Error` whose
 * message is complete. Ends the process with 13 where the module waits for what never comes.
 */
export async function loadModule(path: string, name?: string): Promise<Loaded> {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw new Error(`Cannot load ${path}: there is no such file${insteadOf(path)}`)
  if (stat.isDirectory()) throw new Error(`Cannot load ${path}: it is a folder; name a file in it`)
  const leave = (code: number): void => {
    process.stderr.write(`triport: ${path} ends the process while it is loaded, by process.exit(${code}); `
      + 'leave that out\n')
    process.exitCode = code || 1
  }
  // The event loop is empty and the import has not ended: nothing will settle it.
  const giveUp = (): never => {
    process.off('exit', leave)
    process.stderr.write(`triport: ${path} never finishes loading: it awaits what nothing will settle\n`)
    process.exit(13)
  }
  process.once('exit', leave)
  process.once('beforeExit', giveUp)
  let exported: Exports
  try {
    exported = await import(pathToFileURL(resolve(path)).href)
    // A CommonJS module cannot write await before what it exports.
    if (isThenable(exported['default'])) exported = { ...exported, default: await exported['default'] }
  } catch (error) {
    throw new Error(`Cannot load ${path}: ${await loadReason(error, path)}`, { cause: error })
  } finally {
    process.off('exit', leave)
    process.off('beforeExit', giveUp)
  }
  const server = exported['default'] ?? exported['server']
  if (isTriport(server)) return { subject: merge([]), options: optionsBeside(exported, path), server }
  const { options, isOffer, ...read } = readDefault(exported, path)
  const subject = sortOutExports(read.exported, isOffer, name ?? options.name ?? NAME, path)
  const isEmpty = Object.values(subject).every(({ length }) => length === 0)
  if (isEmpty && Reflect.get(options, 'skills') === undefined) {
    throw new Error(`${path} ${nothingIn(read.exported, path)}`)
  }
  for (const [name, value] of Object.entries(read.exported)) {
    const meant = isKnown(name) ? undefined : misspelt(name, value)
    if (meant !== undefined) {
      throw new Error(`${path} exports '${name}'; did you mean '${meant}'? Else leave 'export' out there`)
    }
  }
  return { subject, options }
}

/** Throws `UsageError` for a finished server where its options are needed. */
export function requireParts({ server }: Loaded, flag: string): void {
  if (server === undefined) return
  throw new UsageError(`${flag} and a server that is made: export by default what createServer takes`)
}

/** The server that `serve` makes without a flag, without its log and store. Throws where it makes none. */
export function serverOf({ server, subject, options }: Loaded): TriportServer {
  const { port = 0, host = '127.0.0.1', quiet, signals, ...rest } = options
  checkAddress([], port, host)
  checkValues('', { quiet, signals }, launchChecks)
  return server ?? createServer({ ...rest, ...subject, log: false, store: undefined })
}

/** The end of a sentence about a file that is not there, where one is of another ending. */
function insteadOf(path: string): string {
  const ending = extname(path)
  const whole = path.slice(0, path.length - ending.length)
  const found = ENDINGS.map((one) => whole + one)
    .find((file) => statSync(file, { throwIfNoEntry: false })?.isFile())
  return found === undefined ? '' : `; there is ${found}`
}

function isKnown(name: string): boolean {
  return ADDED.includes(name) || optionNames.includes(name) || kinds.flat().some((kind) => kind === name)
}

/**
 * The name that was probably meant by an export that means nothing. A module may export other things too,
 * such as classes: `Agent` is one of its own.
 */
function misspelt(name: string, value: unknown): string | undefined {
  if (typeof value === 'function' && /^[A-Z]/.test(name)) return undefined
  return nearest(name, [...kinds.flat(), ...optionNames], name.length < LONG ? 1 : 2)
}

/** The options among the exports of a module that has made its server itself. Throws an `Error`. */
function optionsBeside(exported: Exports, path: string): LaunchOptions {
  const options = optionsIn(exported)
  const late = Object.keys(options).find((name) => !PLACE.includes(name))
  if (late === undefined) return options
  throw new Error(`${path} exports '${late}' beside a server that is made; write it where the module calls `
    + 'createServer')
}

function optionsIn(exported: Exports): LaunchOptions {
  return Object.fromEntries(Object.entries(exported).filter(([name]) => optionNames.includes(name)))
}

/** Whether a value is a server, of this or another copy of the library. */
function isTriport(value: unknown): value is TriportServer {
  return isRecord(value) && Array.isArray(value['protocols'])
    && ['listen', 'close', 'status', 'fetch', 'handler'].every((name) => typeof value[name] === 'function')
}

/** A module's exports, with the members of its default among them. */
interface ReadDefault {
  readonly exported: Exports
  readonly options: LaunchOptions
  /** The default is what `createServer` takes: of several agents the first answers. */
  readonly isOffer: boolean
}

/**
 * Named exports of CommonJS arrive as the members of a default, among anything else, and often a second time
 * by name. The default of an ES module may only have what `createServer` takes, or throws an `Error`.
 */
function readDefault(module: Exports, path: string): ReadDefault {
  const { default: whole } = module
  const isCommon = isCommonJs(path)
  // Those of an object that is exported as a whole are its members.
  const named = isCommon && isRecord(whole)
    ? Object.fromEntries(Object.entries(module).filter(([name]) => !Object.hasOwn(whole, name))) : module
  const asItIs = { exported: { ...named, default: whole }, options: optionsIn(named), isOffer: false }
  // An agent of another framework may have tools of its own.
  if (!isRecord(whole) || 'run' in whole || frameworks.agent(whole) !== undefined) return asItIs
  const members = Object.keys(whole)
  if (!members.some((name) => name === 'default' || kinds.flat().some((kind) => kind === name))) return asItIs
  if ('name' in whole && 'agents' in whole && members.every((name) => Object.hasOwn(groupChecks, name))) {
    const { version } = whole
    return { ...asItIs, options: { ...typeof version === 'string' && { version }, ...asItIs.options } }
  }
  const isOffer = !isCommon
  if (isOffer) rejectUnknown(`${path}: The default export`, whole, [...kinds.flat(), ...optionNames])
  const twice = Object.keys(asItIs.options).find((name) => Object.hasOwn(whole, name))
  if (twice !== undefined) {
    throw new Error(`${path} says '${twice}' as an export and in its default export; leave one of them out`)
  }
  return {
    exported: { ...named, default: undefined, ...whole },
    options: { ...optionsIn(whole), ...asItIs.options }, isOffer,
  }
}

/** Whether a module that has been imported is CommonJS: then it is in the cache of `require`. */
function isCommonJs(path: string): boolean {
  return createRequire(import.meta.url).cache[realpathSync(path)] !== undefined
}

/** Throws an `Error` that names the module for what cannot be served. */
function sortOutExports(exported: Exports, isOffer: boolean, name: string, path: string): Defined {
  try {
    return sortExports(exported, isOffer, name)
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

function sortExports(exported: Exports, isOffer: boolean, name: string): Defined {
  const { default: main } = exported
  const held = new Set(partsOf(main))
  const exportedAs = (kind: Kind): readonly unknown[] => {
    const names = kinds.find(([, many]) => many === kind) ?? []
    return names.flatMap((name) => exported[name] ?? [])
      .filter((thing) => !held.has(thing) && !(kind === 'tools' && areNamedTools(thing, frameworks)))
  }
  const groups = exportedAs('groups')
  const members = new Set(groups.flatMap(partsOf))
  const subjects: readonly unknown[] = [
    ...main === undefined ? [] : [main],
    ...exportedAs('agents').filter((agent) => !members.has(agent)),
    ...groups,
    ...areNamedTools(exported['tools'], frameworks) ? [{ tools: exported['tools'] }] : [],
    {
      tools: exportedAs('tools'), resources: exportedAs('resources'),
      resourceTemplates: exportedAs('resourceTemplates'), prompts: exportedAs('prompts'),
    },
  ]
  const all = merge(subjects.map((subject) => normalizeDefinitions(subject as Subject, name, frameworks)))
  // Several agents without a first one are a group, as a list is.
  const isList = !isOffer && main === undefined && exported['agent'] === undefined && all.groups.length === 0
  if (!isList || all.agents.length < 2) return all
  return { ...all, groups: [defineGroup({ name, agents: all.agents })] }
}

/** A thing, or each of a list, with its parts: what is exported under two names is served once. */
function partsOf(thing: unknown): readonly unknown[] {
  if (Array.isArray(thing)) return thing.flatMap(partsOf)
  const isOffer = isRecord(thing) && frameworks.agent(thing) === undefined
  const parts = isOffer ? kinds.flatMap(([, many]) => thing[many] ?? []) : []
  return [thing, ...parts.flatMap(partsOf)]
}

function merge(all: readonly Defined[]): Defined {
  const lists = kinds.map(([, many]) => [many, all.flatMap((one): readonly unknown[] => one[many])])
  return Object.fromEntries(lists) as Defined
}

/** How a program starts a server by itself. */
const STARTS = /\b(?:launch|serveStdio)\(|\.listen\(/

function nothingIn(exported: Exports, path: string): string {
  const known = kinds.flat()
  const [meant] = Object.keys(exported)
    .flatMap((name) => namesLike(name, known).map((one) => ({ name, one })))
  if (meant !== undefined) {
    return Object.hasOwn(exported, meant.one) ? `exports '${meant.one}', and nothing is in it`
      : `exports '${meant.name}'; did you mean '${meant.one}'?`
  }
  if (STARTS.test(sourceOf(path))) {
    return `starts its server itself, and exports nothing; run it with: node ${path}`
  }
  const other = Object.keys(exported).find((name) => !isKnown(name) && mayBeServed(exported[name]))
  if (other !== undefined) {
    return `exports '${other}', which is no name that is served; make it the default export, or name it `
      + 'agent, group or tools'
  }
  return 'exports nothing to serve; export default (prompt) => answer, or name it agent, group or tools'
}

function mayBeServed(value: unknown): boolean {
  return typeof value === 'function' || isRecord(value)
}

/** Stack lines that are shown; files that are searched for the source of a syntax error. */
const MAX_FRAMES = 5
const MAX_FILES = 20

/** Longer source lines are generated code. */
const MAX_SOURCE = 200
const MAX_MESSAGE = 2_000

/** How a stack begins that has the source: the position, a few lines, and mostly a mark below. */
const EXCERPT = /^(\S.*:\d+)\n((?:.*\n){0,8}?)SyntaxError\b/

/** Checks standard input: where no package.json says what a `.js` is, Node checks none that has `import`. */
const AS_MODULE = ['--input-type=module', '--check', '-']

/** This library's own files, as they look in a stack. */
const OWN_FILES = new URL('..', import.meta.url).href

/** Where the author's part of a stack ends. */
const LOADED_BY = 'at async loadModule'

/**
 * Why a module could not be loaded: the message, the source line of a syntax error, and the author's lines of
 * the stack. Paths are relative to the working directory.
 */
async function loadReason(error: unknown, path: string): Promise<string> {
  if (!(error instanceof Error)) return `it threw ${describe(error)}`
  const { remedyFor } = await import('./remedy.ts')
  const remedy = remedyFor(error, path)
  const isWhole = 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION'
  if (remedy !== undefined && isWhole) return near(remedy)
  const { cause } = error
  const message = (error.message || error.name) + (remedy === undefined ? '' : `; ${remedy}`)
  // A message may have that of its cause in it.
  const isMore = cause instanceof Error && !message.includes(cause.message)
  const reason = isMore ? `${message}: ${cause.message}` : message
  const where = error instanceof SyntaxError ? excerptOf(error, path) : framesOf(error)
  return [near(reason.slice(0, MAX_MESSAGE)), ...where.map((line) => `    ${near(line)}`)].join('\n')
}

function framesOf({ stack }: Error): readonly string[] {
  const [within = ''] = String(stack).split(LOADED_BY)
  return within.split('\n').map((line) => line.trim())
    .filter((line) => /^at .*[\\/:]/.test(line) && !line.includes('node:') && !line.includes(OWN_FILES))
    .slice(0, MAX_FRAMES)
}

/** Node prints the line of an ES module's syntax error only when it ends with it. */
function excerptOf(error: SyntaxError, path: string): readonly string[] {
  const known = EXCERPT.exec(String(error.stack))
  if (known !== null) return excerpt(known)
  for (const file of localFiles(path).filter((one) => /\.[cm]?js$/.test(one)).slice(0, MAX_FILES)) {
    for (const args of [['--check', file], ...file.endsWith('.js') ? [AS_MODULE] : []]) {
      const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', input: sourceOf(file) })
      const found = EXCERPT.exec(stderr.replace('[stdin]', () => file))
      if (found !== null && stderr.includes(error.message)) return excerpt(found)
    }
  }
  return framesOf(error)
}

function excerpt([, place = '', source = '']: RegExpExecArray): readonly string[] {
  const lines = source.split('\n').filter((line) => line.trim() !== '')
  return lines.some(({ length }) => length > MAX_SOURCE) ? [place] : [place, ...lines]
}

/** Makes the paths in a text relative to the working directory. */
function near(text: string): string {
  const folder = process.cwd()
  const here = folder + sep
  const isRoot = dirname(folder) === folder
  const paths = isRoot ? text : text.replaceAll(pathToFileURL(here).href, '').replaceAll(here, '')
  return paths.replace(/file:\/\/(?:(?!:\d)[^\s)])+/g, (url) => fileURLToPath(url))
}
