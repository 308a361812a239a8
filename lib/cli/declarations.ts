/** Declarations: which files of them others need, and those of a unit. */
import { dirname, join } from 'node:path/posix'
import { pathFrom } from './packed.ts'
import type { PackageUnit } from './units.ts'

/** As tsc emits them, a source for each module; readers of older versions want what they would run. */
const SOURCE = /(?<=(?:from |import\()['"])\.[^'"]+(?=['"])/g

/**
 * The texts of files of declarations by their paths: those that are named, and all that they need. Throws
 * where one is not there.
 */
export function declarations(
  read: (path: string) => string | undefined, paths: readonly string[],
): Map<string, string> {
  const found = new Map<string, string>()
  const open = [...paths]
  for (const path of open) {
    const text = read(path)
    if (text === undefined) throw new Error(`${path} is needed, and is not there`)
    if (found.has(path)) continue
    found.set(path, text.replace(SOURCE, (source) => {
      open.push(join(dirname(path), source.replace(/\.[jt]s$/, '.d.ts')))
      return source.replace(/\.ts$/, '.js')
    }))
  }
  return found
}

/** The declarations of a unit: names and types of modules. */
export function formatDeclarations({ file, names, types = {} }: PackageUnit): string {
  const lines = (verb: string, all: PackageUnit['names']): string[] => Object.entries(all)
    .map(([path, list]) => `${verb} { ${list.join(', ')} } from '${pathFrom(file, path)}';\n`)
  return [...lines('export', names), ...lines('export type', types)].join('')
}
