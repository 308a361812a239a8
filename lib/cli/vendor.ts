/** `triport vendor`: copies what is shipped into a folder, with a licence and the SHA-256 of each file. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join, posix, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { subcommand, UsageError, VERSION } from './command-line.ts'
import type { Subcommand } from './command-line.ts'

/** Where this copy of the library is. */
const HERE = fileURLToPath(new URL('../', import.meta.url))

const LICENSE = readFileSync(new URL('../../LICENSE', import.meta.url), 'utf8')

/** The list of the copied files, as `sha256sum -c` reads it. */
const SUMS = 'SHA256SUMS'
const SHIPPED = /\.(?:js|md|d\.ts)$/

const manifest = {
  name: 'triport', version: VERSION, license: 'MIT', type: 'module',
  exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
  main: './index.js', types: './index.d.ts', bin: { triport: './cli.js' },
  sideEffects: false, engines: { node: '>=20.19' },
}

export const vendorCommand: Subcommand = subcommand('vendor', `Usage: triport vendor dir

Copies triport ${VERSION} into a folder of your project: its modules, its types, its guide, its
licence, and SHA256SUMS, a list of what is in it. Nothing has to be built, and nothing outside of
the folder is read. A copy that is there already is replaced, unless one of its files was changed.
`, [], ({ words: [folder, ...more] }) => {
  if (folder === undefined) throw new UsageError('vendor needs a folder: triport vendor vendor/triport')
  if (more.length > 0) throw new UsageError(`vendor takes one folder, not also ${more.join(' ')}`)
  const count = copyLibrary(folder)
  const here = relative('', folder).replaceAll('\\', '/')
  const path = here.startsWith('..') ? folder : here || '.'
  process.stdout.write(`Copied triport ${VERSION} to ${path}: ${count} files

  Import it:  import { launch } from '${isAbsolute(path) ? '' : './'}${posix.join(path, 'index.js')}'
  Run it:     node ${quoted(posix.join(path, 'cli.js'))} serve agent.js
  Check it:   cd ${quoted(path)} && sha256sum -c ${SUMS}
`)
})

/** A path as a shell takes it. */
export function quoted(path: string): string {
  return /\s/.test(path) ? JSON.stringify(path) : path
}

/**
 * Copies the library, and returns how many files that were. Throws an `Error` where the folder holds
 * something else, and where this is no copy that could be copied.
 */
export function copyLibrary(folder: string): number {
  const files = new Map(shippedFiles().map((path) => [path, readFileSync(join(HERE, path))]))
  if (!files.has('index.d.ts')) {
    throw new Error(`These are the sources, and a copy is made of what is built; run 'npm run build', then `
      + `'node dist/cli.js vendor ${folder}'`)
  }
  clear(folder)
  files.set('LICENSE', Buffer.from(LICENSE))
  files.set('package.json', Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`))
  const sums = [...files].map(([path, bytes]) => `${digest(bytes)}  ${path}\n`)
  files.set(SUMS, Buffer.from(sums.join('')))
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), bytes)
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
  const stat = statSync(folder, { throwIfNoEntry: false })
  if (stat === undefined) return
  if (!stat.isDirectory()) throw new Error(`${folder} is a file; name a folder`)
  if (resolve(folder) === resolve(HERE)) throw new Error(`${folder} is this copy itself; name another folder`)
  const found = new Set(readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/')).filter((path) => statSync(join(folder, path)).isFile()))
  if (found.size === 0) return
  if (!found.has(SUMS)) throw new Error(`${folder} is not empty; name a folder that is new`)
  const listed = new Map(readFileSync(join(folder, SUMS), 'utf8').split('\n')
    .map((line) => [line.slice(66), line.slice(0, 64)]))
  for (const path of found) {
    if (path === SUMS || listed.get(path) === digest(readFileSync(join(folder, path)))) continue
    const what = listed.has(path) ? 'has been changed' : 'is no file of triport'
    throw new Error(`${join(folder, path)} ${what}; move it away, then run this again`)
  }
  rmSync(folder, { recursive: true })
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
