/**
 * The skills in a folder of the disk: each folder with a SKILL.md, however deep, with all that lies below it.
 * They are read once. What begins with a dot is left out, and links do not lead out.
 */
import { readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { readSource, sourcePath, statSource } from '../../floors/files/source.ts'
import { show } from '../../kernel/define/validate.ts'
import type { Stats } from 'node:fs'

/** Where a skill is, below all skills, and its files by their paths in it. */
export interface SkillSource {
  readonly path: string
  /** How errors name its SKILL.md. */
  readonly label: string
  readonly scopes: readonly string[]
  readonly files: ReadonlyMap<string, Uint8Array>
  /** Those with nothing in them, by their paths in it. */
  readonly emptyFolders: readonly string[]
}

/** The file that makes a folder a skill. */
export const MANIFEST = 'SKILL.md'
const MAX_DEPTH = 16
/** Files and folders that are looked at. */
const MAX_ENTRIES = 20_000

/** Where a file lies, and what it is. */
interface Found { readonly path: string; readonly stat: Stats }

/** The skills of a folder, in the order of their paths. Throws `TypeError` with a sentence. */
export function* readSkillFolder(
  given: string | URL, maxFiles: number, maxBytes: number,
): Generator<SkillSource> {
  const path = sourcePath('skills', given)
  statSource('The folder of skills', path)
  const root = realpathSync(path)
  if (!statSync(root).isDirectory()) {
    throw new TypeError(`The folder of skills is a file: ${path}; name the folder that holds the skills`)
  }
  const files = new Map<string, Found>()
  const empty: string[] = []
  collect(files, empty, root, root, '', 0)
  const places = placesIn(files)
  if (places.size === 0) {
    throw new TypeError(`The folder of skills has no ${MANIFEST} in it: ${path}; write one in a folder of `
      + `its own, as in ${join('my-skill', MANIFEST)}`)
  }
  const kept = new Map<string, Uint8Array>()
  // The folder itself may be a skill.
  const top = files.has(MANIFEST) ? `${basename(root)}/` : ''
  for (const [place, found] of places) {
    const label = join(path, place, MANIFEST)
    const own = found.toSorted(([a], [b]) => Number(b === place + MANIFEST) - Number(a === place + MANIFEST))
    const bytes = own.reduce((sum, [, { stat: { size } }]) => sum + size, 0)
    if (own.length > maxFiles || bytes > maxBytes) {
      throw new TypeError(`The skill of ${label} has ${own.length} files of ${bytes} bytes, and hosts may `
        + `refuse more than ${maxFiles}, or ${maxBytes} bytes; move out what it does not need`)
    }
    const held = own.map(([file, found]): [string, Uint8Array] => {
      let content = kept.get(file)
      if (content === undefined) {
        kept.set(file, content = readSource('A file of a skill', found.path, found.stat, maxBytes))
      }
      return [file.slice(place.length), content]
    })
    const at = (top + place).slice(0, -1)
    requirePrefix(label, at)
    const emptyFolders = empty.filter((one) => one.startsWith(place)).map((one) => one.slice(place.length))
    yield { path: at, label, scopes: [], files: new Map(held), emptyFolders }
  }
}

/** Where skills are, each with the files in it and below. */
function placesIn(files: ReadonlyMap<string, Found>): ReadonlyMap<string, [string, Found][]> {
  const places = new Map<string, [string, Found][]>()
  for (const file of files.keys()) {
    if (basename(file) === MANIFEST) places.set(file.slice(0, -MANIFEST.length), [])
  }
  for (const [file, found] of files) {
    for (let end = file.lastIndexOf('/'); ; end = file.lastIndexOf('/', end - 1)) {
      places.get(file.slice(0, end + 1))?.push([file, found])
      if (end <= 0) break
    }
  }
  return places
}

/** The folders above a skill are part of its address, the first of them where a host would be. */
function requirePrefix(label: string, path: string): void {
  const odd = path.split('/').slice(0, -1).find((part) => !/^[a-z0-9][a-z0-9._-]*$/.test(part))
  if (odd === undefined) return
  throw new TypeError(`The skill of ${label} lies in a folder ${show(odd)}, which is part of its address; `
    + 'rename that to a-z, 0-9, - and _')
}

function collect(
  files: Map<string, Found>, empty: string[], root: string, folder: string, prefix: string, depth: number,
): void {
  if (depth > MAX_DEPTH) {
    throw new TypeError(`The folder of skills goes deeper than ${MAX_DEPTH} levels: ${folder}; move it up`)
  }
  statSource('A folder of a skill', folder)
  const names = readdirSync(folder).filter((name) => !name.startsWith('.')).toSorted()
  if (names.length === 0 && empty.length < MAX_ENTRIES) empty.push(prefix.slice(0, -1))
  for (const name of names) {
    const path = join(folder, name)
    const stat = statSource('A file of a skill', path)
    if (stat.isDirectory()) {
      collect(files, empty, root, path, `${prefix}${name}/`, depth + 1)
      continue
    }
    if (files.size >= MAX_ENTRIES) {
      throw new TypeError(`The folder of skills has more than ${MAX_ENTRIES} files: ${root}; `
        + 'name a smaller one')
    }
    files.set(prefix + name, { path, stat: stat.isSymbolicLink() ? linked(path, root) : stat })
    if (/[\\\u0000-\u001f\u007f\ufffd]/.test(name)) {
      throw new TypeError(`A file of a skill has a name that no address can hold: ${show(path)}; rename it`)
    }
    if (!files.get(prefix + name)!.stat.isFile()) {
      throw new TypeError(`A file of a skill is no file: ${path}; put a copy in its place, or take it away`)
    }
  }
}

/** What a link points to. It may be a file within the folder. */
function linked(path: string, root: string): Stats {
  let target: string
  try {
    target = realpathSync(path)
  } catch {
    throw new TypeError(`A file of a skill is a link to nothing: ${path}; mend it, or take it away`)
  }
  if (target.startsWith(root.endsWith(sep) ? root : root + sep)) return statSync(target)
  throw new TypeError(`A file of a skill is a link that leads out of the folder: ${path}; `
    + 'put a copy in its place')
}
