/**
 * Packed modules: how they stand in a file, and how files are made of some of them. A module is a function
 * that runs at once and returns what the module exports, under a line that says its path. It takes what it
 * needs of others at its beginning, by their ids; `$` exports the modules that other files take.
 */
import { dirname, relative } from 'node:path/posix'

export interface PackedModule {
  /** What it is called among the others. */
  readonly id: string
  /** As it stands in a file. What it imports later it takes of a path that `formatFiles` writes. */
  readonly text: string
  /** The ids of the modules that have to run before it, and of those that it imports later. */
  readonly needs: readonly string[]
  readonly later: readonly string[]
}

/** Names that programs import, each with the name that it has in its module: by that module's id. */
export type PublicNames = ReadonlyMap<string, readonly (readonly [name: string, as: string])[]>

/** What a file holds. */
export interface PackedFile {
  readonly modules: readonly PackedModule[]
  readonly names: PublicNames
}

/** What stands where. */
export interface Places {
  /** Modules by their ids, each behind those that it needs. */
  readonly modules: ReadonlyMap<string, PackedModule>
  readonly fileOf: ReadonlyMap<string, string>
  /** By their files. */
  readonly names: ReadonlyMap<string, PublicNames>
  /** By their files: the line that such a file begins with. */
  readonly bangs?: ReadonlyMap<string, string>
  /** Every module can be taken of its file, for tests. */
  readonly isOpen?: boolean
}

const MODULE = /^const (\$\w+) = \(\(\) => \{$/
const NEED = /^const .+ = (\$\w+);$/gm
const LATER = /\bimport\('[^']*'\)\.then\(\(\{ \$ \}\) => \$\.(\$\w+)\)/g
const NAMES = /^export const \{ (.+) \} = (\$\w+);$/gm

/** What imports a module later, and gets what it exports. */
export function importLater(id: string, path = ''): string {
  return `import(${`'${path}'`}).then(({ $ }) => $.${id})`
}

/** A module of its code, by its path. `returned`: what it exports, as members of an object. */
export function packedModule(
  id: string, path: string, code: string, returned: readonly string[],
): PackedModule {
  return readModule(id, [
    `// ${path}`, `const ${id} = (() => {`, code, `return ${formatObject(returned)};`, '})();', '',
  ].join('\n'))
}

/** `{ a, b: c }`, and `{}` of nothing. */
export function formatObject(members: readonly string[]): string {
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

function readModule(id: string, text: string): PackedModule {
  const found = (pattern: RegExp): string[] => (
    [...new Set([...text.matchAll(pattern)].map(([, found = '']) => found))]
  )
  return { id, text, needs: found(NEED), later: found(LATER) }
}

/** The modules and names of a file that `formatFiles` has made. */
export function readFile(text: string): PackedFile {
  const modules: PackedModule[] = []
  const lines = text.split('\n')
  for (let at = 0, begin = 0, id = ''; at < lines.length; at++) {
    const found = MODULE.exec(lines[at] ?? '')
    if (found !== null && id === '') [begin, id] = [at - 1, found[1] ?? '']
    if (lines[at] !== '})();' || lines[at - 1]?.startsWith('return {') !== true) continue
    modules.push(readModule(id, `${lines.slice(begin, at + 1).join('\n')}\n`))
    id = ''
  }
  const pairs = (list: string): [string, string][] => list.split(', ')
    .map((one) => one.split(': ')).map(([name = '', as = name]) => [name, as])
  const names = [...text.matchAll(NAMES)].map(([, list = '', id = '']) => [id, pairs(list)] as const)
  return { modules, names: new Map(names) }
}

/**
 * The ids of these modules and of what they need, each behind what it needs itself. `withLater`: what they
 * import later too.
 */
export function reachedFrom(
  ids: Iterable<string>, modules: ReadonlyMap<string, PackedModule>, withLater = false,
): ReadonlySet<string> {
  const reached = new Set<string>()
  const open: string[] = []
  const waiting = [...ids]
  const add = (id: string): void => {
    const module = modules.get(id)
    if (reached.has(id) || module === undefined) return
    if (open.includes(id)) throw circle(id, open)
    open.push(id)
    for (const need of module.needs) add(need)
    open.pop()
    reached.add(id)
    if (withLater) waiting.push(...module.later)
  }
  for (const id of waiting) add(id)
  return reached
}

function circle(at: string, open: readonly string[]): Error {
  const round = [...open.slice(open.indexOf(at)), at]
  return new Error(`${round.join(' needs ')}: a circle has no order in which it could run`)
}

/** The text of each file by its path. Throws where two files would need each other. */
export function formatFiles(places: Places): Map<string, string> {
  const { modules, fileOf, names, bangs, isOpen = false } = places
  const files = new Map<string, PackedModule[]>([...names.keys()].map((file) => [file, []]))
  for (const module of modules.values()) {
    const file = fileAt(fileOf, module.id)
    files.set(file, [...files.get(file) ?? [], module])
  }
  const taken = new Map([...files.keys()].map((file) => [file, new Map<string, Set<string>>()]))
  const given = new Set<string>()
  for (const [file, own] of files) {
    for (const id of [...own.flatMap(({ needs }) => needs), ...names.get(file)?.keys() ?? []]) {
      const from = fileAt(fileOf, id)
      if (from === file) continue
      given.add(id)
      taken.get(file)?.set(from, (taken.get(file)?.get(from) ?? new Set()).add(id))
    }
    for (const id of own.flatMap(({ later }) => later)) given.add(id)
  }
  refuseCircles(taken)
  return new Map([...files].map(([file, own]) => {
    const sources = [...taken.get(file) ?? []].map(([from, ids], n) => ({ from, ids: [...ids], as: `$${n}` }))
    const shown = own.map(({ id }) => id).filter((id) => isOpen || given.has(id))
    return [file, [
      bangs?.get(file) ?? '',
      ...sources.map(({ from, as }) => `import { $ as ${as} } from '${pathFrom(file, from)}';\n`),
      ...sources.map(({ ids, as }) => `const ${formatObject(ids)} = ${as};\n`),
      ...own.map(({ text }) => text.replace(LATER, (_, id: string) => (
        importLater(id, pathFrom(file, fileAt(fileOf, id)))
      ))),
      shown.length > 0 ? `export const $ = ${formatObject(shown)};\n` : '',
      ...[...names.get(file) ?? []].map(([id, list]) => `export const ${patternOf(list)} = ${id};\n`),
    ].join('')]
  }))
}

function fileAt(fileOf: ReadonlyMap<string, string>, id: string): string {
  const file = fileOf.get(id)
  if (file === undefined) throw new Error(`${id} is needed, and stands in no file`)
  return file
}

function refuseCircles(taken: ReadonlyMap<string, ReadonlyMap<string, unknown>>): void {
  const open: string[] = []
  const add = (file: string): void => {
    if (open.includes(file)) throw circle(file, open)
    open.push(file)
    for (const from of taken.get(file)?.keys() ?? []) add(from)
    open.pop()
  }
  for (const file of taken.keys()) add(file)
}

/** A pattern of names, and of what they are called here. */
export function patternOf(names: readonly (readonly [name: string, as: string])[]): string {
  return formatObject(names.map(([name, as]) => name === as ? as : `${name}: ${as}`))
}

/** How a file is named in another. */
export function pathFrom(file: string, target: string): string {
  const path = relative(dirname(file), target)
  return path.startsWith('.') ? path : `./${path}`
}

/**
 * One file of all that these names come to, for where nothing can be imported. What is imported later
 * elsewhere runs here when it is first asked for.
 */
export function formatSingle(
  names: PublicNames, modules: ReadonlyMap<string, PackedModule>, form: 'mjs' | 'cjs',
): string {
  const early = reachedFrom(names.keys(), modules)
  const texts = [...reachedFrom(names.keys(), modules, true)].map((id) => {
    const { text } = modules.get(id) as PackedModule
    const linked = text.replace(LATER, (_, other: string) => (
      early.has(other) ? `Promise.resolve(${other})` : `Promise.resolve().then(${other})`
    ))
    if (early.has(id)) return linked
    return linked.replace(/ = \(\(\) => \{\n/, ' = $once(() => {\n').replace(/\}\)\(\);\n$/, '});\n')
      .replace(NEED, (line, other: string) => early.has(other) ? line : `${line.slice(0, -1)}();`)
  })
  const all = [...names].flatMap(([, list]) => list.map(([, as]) => as)).toSorted()
  return [
    form === 'cjs' ? `'use strict';\n` : '',
    'const $once = (make, made) => () => made ??= make();\n',
    ...texts,
    ...[...names].map(([id, list]) => `const ${patternOf(list)} = ${id};\n`),
    form === 'cjs' ? `module.exports = ${formatObject(all)};\n` : `export ${formatObject(all)};\n`,
  ].join('')
}
