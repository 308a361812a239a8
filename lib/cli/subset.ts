/** Copies of some units: their names in, the files of a copy out. Nothing is written here. */
import { dirname, join } from 'node:path/posix'
import { declarations, formatDeclarations } from './declarations.ts'
import { formatFiles, formatSingle, reachedFrom, readFile } from './packed.ts'
import { kernelFile, kernelChapters, units } from './units.ts'
import { didYouMean, UsageError } from './command-line.ts'
import type { PackedModule, PublicNames } from './packed.ts'
import type { PackageUnit } from './units.ts'

/** Reads a file of this copy of the library by its path; undefined where there is none. */
export type ReadShipped = (path: string) => string | undefined

/** The units of these names, and those that they need. Throws `UsageError` for a name that is none. */
export function unitsNamed(names: readonly string[]): ReadonlyMap<string, PackageUnit> {
  const found = new Map<string, PackageUnit>()
  const open = names.filter((name) => name !== 'kernel')
  for (const name of open) {
    const unit = units.get(name)
    if (unit === undefined) {
      const known = ['kernel', ...units.keys()]
      const remedy = didYouMean(name, known, `--only takes ${known.join(', ')}`)
      throw new UsageError(`There is no '${name}'; ${remedy}`)
    }
    found.set(name, unit)
    open.push(...unit.needs ?? [])
  }
  return found
}

/** The kernel and these units: a file for what a start needs, others for later, declarations, chapters. */
export function subset(
  chosen: ReadonlyMap<string, PackageUnit>, read: ReadShipped, paths: readonly string[],
): Map<string, string> {
  const { modules, fileOf, names } = shipped(read, paths)
  const wanted = namesOf([kernelFile, ...filesOf(chosen)], names)
  const early = reachedFrom(wanted.keys(), modules)
  const own = [...reachedFrom(wanted.keys(), modules, true)]
  const files = formatFiles({
    modules: new Map(own.map((id) => [id, modules.get(id) as PackedModule])),
    names: new Map([['index.js', wanted]]),
    fileOf: new Map(own.map((id) => [id, early.has(id) ? 'index.js' : laterFile(fileOf.get(id) ?? '')])),
  })
  const readTypes = (path: string): string | undefined => (
    path === 'index.d.ts' ? indexOf(chosen) : read(path)
  )
  for (const [path, text] of declarations(readTypes, ['index.d.ts'])) files.set(path, text)
  const chapters = [...chosen].flatMap(([name, { chapters = [name] }]) => chapters)
  for (const path of [...kernelChapters, ...chapters].map((chapter) => `guide/${chapter}.md`)) {
    const text = read(path)
    if (text !== undefined) files.set(path, text)
  }
  return files
}

/** All of it in one file that imports nothing, as an ES module and as CommonJS. Undefined: the preset. */
export function single(
  chosen: ReadonlyMap<string, PackageUnit> | undefined, read: ReadShipped, paths: readonly string[],
): Map<string, string> {
  const { modules, names } = shipped(read, paths)
  const wanted = namesOf(chosen === undefined ? ['index.js'] : [kernelFile, ...filesOf(chosen)], names)
  return new Map([
    ['triport.mjs', formatSingle(wanted, modules, 'mjs')],
    ['triport.cjs', formatSingle(wanted, modules, 'cjs')],
  ])
}

/** The sources as they were written, and an index of what these units export. Undefined: the preset. */
export function source(
  chosen: ReadonlyMap<string, PackageUnit> | undefined, read: ReadShipped,
): Map<string, string> {
  const files = new Map<string, string>()
  const open = ['index.ts']
  for (const path of open) {
    const text = path === 'index.ts' && chosen !== undefined
      ? indexOf(chosen).replaceAll(`.js'`, `.ts'`) : read(path)
    if (files.has(path) || text === undefined) continue
    files.set(path, text)
    for (const [, target = ''] of text.matchAll(/(?:from |import\(|new URL\()'(\.[^']+)'/g)) {
      open.push(join(dirname(path), target))
    }
  }
  return files
}

/** What an index exports: the kernel's names and types, and those of these units. */
function indexOf(chosen: ReadonlyMap<string, PackageUnit>): string {
  const units = [...chosen.values()].map((unit) => formatDeclarations({ ...unit, file: 'index.js' }))
  return [`export * from './${kernelFile}';\n`, ...units].join('')
}

function filesOf(chosen: ReadonlyMap<string, PackageUnit>): readonly string[] {
  return [...chosen.values()].map(({ file }) => file)
}

/** All that is shipped as modules: where each stands, and which names each file exports. */
function shipped(read: ReadShipped, paths: readonly string[]): {
  readonly modules: ReadonlyMap<string, PackedModule>
  readonly fileOf: ReadonlyMap<string, string>
  readonly names: ReadonlyMap<string, PublicNames>
} {
  const files = paths.filter((path) => path.endsWith('.js'))
    .map((path) => [path, readFile(read(path) ?? '')] as const)
  const placed = files.flatMap(([path, { modules }]) => modules.map((module) => [path, module] as const))
  return {
    modules: new Map(placed.map(([, module]) => [module.id, module])),
    fileOf: new Map(placed.map(([path, { id }]) => [id, path])),
    names: new Map(files.map(([path, { names }]) => [path, names])),
  }
}

function namesOf(files: readonly string[], names: ReadonlyMap<string, PublicNames>): PublicNames {
  const all = new Map<string, (readonly [string, string])[]>()
  for (const file of files) {
    for (const [id, list] of names.get(file) ?? []) all.set(id, [...all.get(id) ?? [], ...list])
  }
  return all
}

/** What is early for others may be late here: it stands with what is late of its room. */
function laterFile(path: string): string {
  return path.endsWith('.later.js') ? path : path.replace(/\.js$/, '.later.js')
}
