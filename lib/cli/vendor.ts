/**
 * `triport vendor`: copies what is shipped, or some of it, into a folder, with a licence and the SHA-256 of
 * each file.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join, posix, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { print, subcommand, UsageError, VERSION } from './command-line.ts'
import { single, source, subset, unitsNamed } from './subset.ts'
import { kernelFile, units } from './units.ts'
import type { Flag, Subcommand } from './command-line.ts'
import type { PackageUnit } from './units.ts'

/** Where this copy of the library is. */
const HERE = fileURLToPath(new URL('../', import.meta.url))

const LICENSE = readFileSync(new URL('../../LICENSE', import.meta.url), 'utf8')

/** The list of the copied files, as `sha256sum -c` reads it. */
const SUMS = 'SHA256SUMS'
const SHIPPED = /\.(?:js|md|d\.ts)$/

type FlagName = 'only' | 'single' | 'source'

/** What a copy is made of, and its file that programs import. */
type Form = 'modules' | 'single' | 'source'
const indexes: Readonly<Record<Form, string>> = {
  modules: 'index.js', single: 'triport.mjs', source: 'index.ts',
}

const flags: readonly Flag<FlagName>[] = [
  {
    name: 'only', value: 'LIST',
    meaning: 'the kernel, these units and what they need: mcp, a2a, http, openai, redis, testing …',
  },
  { name: 'single', meaning: 'one file that imports nothing, as triport.mjs and as triport.cjs' },
  { name: 'source', meaning: 'the TypeScript as it was written' },
]

export const vendorCommand: Subcommand = subcommand('vendor', `Usage: triport vendor dir [options]

Copies triport ${VERSION} into a folder of your project: its modules, its types, its guide, its
licence, and SHA256SUMS, a list of what is in it. Nothing has to be built, and nothing outside of
the folder is read. A copy that is there already is replaced, unless one of its files was changed.
`, flags, (line) => {
  const [folder, ...more] = line.words
  if (folder === undefined) throw new UsageError('vendor needs a folder: triport vendor vendor/triport')
  if (more.length > 0) throw new UsageError(`vendor takes one folder, not also ${more.join(' ')}`)
  if (line.has('single') && line.has('source')) throw new UsageError('Write --single or --source, not both')
  const names = line.value('only')?.split(',').map((name) => name.trim()).filter((name) => name !== '')
  const chosen = names && unitsNamed(names)
  const form = line.has('single') ? 'single' : line.has('source') ? 'source' : 'modules'
  const files = filesOf(folder, chosen, form)
  const count = writeCopy(folder, files)
  const here = relative('', folder).replaceAll('\\', '/')
  const path = here.startsWith('..') ? folder : here || '.'
  const what = chosen === undefined ? '' : ` (${['kernel', ...chosen.keys()].join(', ')})`
  const words = chosen === undefined ? ['launch'] : ['createServer', ...[...chosen.values()].flatMap(wordsOf)]
  const from = `${isAbsolute(path) ? '' : './'}${posix.join(path, indexes[form])}`.replace(/['\\]/g, '\\$&')
  return print([
    `Copied triport ${VERSION}${what} to ${path}: ${count} files`, '',
    `  Import it:  import { ${words.join(', ')} } from '${from}'`,
    ...files.has('cli.js') ? [`  Run it:     node ${quoted(posix.join(path, 'cli.js'))} serve agent.js`] : [],
    `  Check it:   cd ${quoted(path)} && sha256sum -c ${SUMS}`, '',
  ].join('\n'))
})

function wordsOf({ names }: PackageUnit): readonly string[] {
  return Object.values(names).flatMap((list) => list.slice(0, 1))
}

/** A path as a shell takes it. */
export function quoted(path: string): string {
  if (/^[\w@%+=:,./-]+$/.test(path)) return path
  return /["$\x60\\!']/.test(path) ? `'${path.replaceAll(`'`, `'\\''`)}'` : JSON.stringify(path)
}

/**
 * Copies the whole library, and returns how many files that were. Throws an `Error` where the folder holds
 * something else, and where this is no copy that could be copied.
 */
export function copyLibrary(folder: string): number {
  return writeCopy(folder, filesOf(folder, undefined, 'modules'))
}

type Files = Map<string, string | Buffer>
type Chosen = ReadonlyMap<string, PackageUnit> | undefined

/** The files of a copy, with a licence and a manifest. */
function filesOf(folder: string, chosen: Chosen, form: Form): Files {
  const paths = shippedFiles()
  if (!paths.includes('index.d.ts')) {
    throw new Error(`These are the sources, and a copy is made of what is built; run 'npm run build', then `
      + `'node dist/cli.js vendor ${folder}'`)
  }
  if (form === 'single') {
    const files = single(chosen, readHere, paths)
    return new Map([
      ...[...files].map(([path, text]) => [path, `/*\n${LICENSE}*/\n${text}`] as const), ['LICENSE', LICENSE],
    ])
  }
  const files: Files = form === 'source' ? source(chosen, readSource)
    : chosen !== undefined ? subset(chosen, readHere, paths)
    : new Map(paths.map((path) => [path, readFileSync(join(HERE, path))]))
  files.set('LICENSE', LICENSE)
  files.set('package.json', `${JSON.stringify(manifestOf(chosen, indexes[form]), null, 2)}\n`)
  return files
}

function readHere(path: string): string | undefined {
  const file = join(HERE, path)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

function readSource(path: string): string | undefined {
  const file = join(HERE, '../lib', path)
  if (existsSync(file)) return readFileSync(file, 'utf8')
  if (existsSync(join(HERE, '../lib/kernel.ts'))) return undefined
  throw new Error('The sources are not in this copy; build triport in a clone of its repository, and run '
    + `'node dist/cli.js vendor DIR --source' there`)
}

/** What package.json says of a copy. Of chosen units, every subpath leads to the one index. */
function manifestOf(chosen: Chosen, index: string): object {
  const isWhole = chosen === undefined && index === indexes.modules
  const subpaths = isWhole ? [['kernel', kernelFile], ...[...units].map(([name, { file }]) => [name, file])]
    : ['kernel', ...chosen?.keys() ?? []].map((name) => [name, index])
  return {
    name: 'triport', version: VERSION, license: 'MIT', type: 'module',
    exports: {
      '.': `./${index}`, ...Object.fromEntries(subpaths.map(([name, file]) => [`./${name}`, `./${file}`])),
      './package.json': './package.json',
    },
    main: `./${index}`, ...index.endsWith('.js') && { types: './index.d.ts' },
    ...isWhole && { bin: { triport: './cli.js' } },
    sideEffects: false, engines: { node: '>=20.19' },
  }
}

/** Writes a copy with its sums into a folder, in the place of an older one. Returns how many files it has. */
function writeCopy(folder: string, files: Files): number {
  clear(folder)
  const sums = [...files].map(([path, content]) => `${digest(content)}  ${path}\n`)
  files.set(SUMS, sums.join(''))
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return files.size
}

/** The files of this copy, their paths with `/`. */
function shippedFiles(): readonly string[] {
  const entries = readdirSync(HERE, { recursive: true, encoding: 'utf8' })
  return entries.map((path) => path.replaceAll('\\', '/')).filter((path) => SHIPPED.test(path)).toSorted()
}

/** Removes an older copy. Throws an `Error` where the folder holds anything else. */
function clear(folder: string): void {
  const way = relative(HERE, resolve(folder))
  if (!way.startsWith('..') && !isAbsolute(way)) {
    const where = way === '' ? 'this copy itself' : 'in the folder of this copy'
    throw new Error(`${folder} is ${where}; name another folder`)
  }
  const stat = statSync(folder, { throwIfNoEntry: false })
  if (stat === undefined) return
  if (!stat.isDirectory()) throw new Error(`${folder} is a file; name a folder`)
  // A link is one thing, wherever it leads.
  const found = new Set(readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll('\\', '/')))
  if (found.size === 0) return
  if (!found.has(SUMS)) throw new Error(`${folder} is not empty; name a folder that is new`)
  const listed = new Map(readFileSync(join(folder, SUMS), 'utf8').split(/\r?\n/)
    .map((line) => [line.slice(66), line.slice(0, 64)]))
  for (const path of found) {
    const sum = listed.get(path)
    if (path === SUMS || sum !== undefined && sum === digest(readFileSync(join(folder, path)))) continue
    const what = sum !== undefined ? 'has been changed' : 'is no file of triport'
    throw new Error(`${join(folder, path)} ${what}; move it away, then run this again`)
  }
  // Its content alone: it may be where this runs, or what a link leads to.
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
}

function digest(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}
