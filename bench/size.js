/**
 * How large the kernel is, and each part with what it needs.
 *
 * Method. A unit is its entry and every module that this reaches by imports, those at run time and those of
 * types included: of the kernel `kernel/server/server.ts`, of a part its `part.ts`, or all of its folder
 * where it has none yet. What a part has beside the kernel, the kernel does not reach.
 *
 * Lines are those of the sources in lib/ that are neither blank nor comment, and files are those sources.
 * Bytes are those of the modules that `npm run build` emits into .build/lib, with the files that these read:
 * readable, without comments and types, before they are packed into the few files of dist/. Only what is left
 * when types are gone is reached there. Gzipped are all modules of a unit as one text; a kB has 1,000 bytes.
 *
 *   node bench/size.js [--markdown FILE]      --markdown: writes the table, where results.md has a place
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bytesOf, filesOf, linesOf, modulesOf, reached } from './modules.js'
import { markdownOfSizes, textOfSizes, writeTables } from './report.js'

const KERNEL = 'kernel/server/server'

/** What is often wanted together. */
const sets = [
  ['mcp', 'mcp-tasks', 'skills', 'apps'],
  ['mcp', 'a2a', 'http'],
]

/** The size of everything that is in a checkout, built, a row a unit. */
export function sizes(checkout = '.') {
  const sources = modulesOf(join(checkout, 'lib'), '.ts')
  const emitted = modulesOf(join(checkout, '.build/lib'), '.js')
  if (emitted.size === 0) throw new Error('.build/lib is empty; run npm run build')

  const isThere = (path) => existsSync(join(checkout, 'lib', path))
  const read = (path) => readFileSync(join(checkout, 'lib', path), 'utf8')
  const sizeOf = (wanted, without = []) => {
    const files = pathsOf(sources, wanted, without, '.ts')
    const lines = files.reduce((sum, path) => sum + linesOf(sources.get(path)), 0)
    const texts = pathsOf(emitted, wanted, without, '.js').flatMap((path) => {
      const text = emitted.get(path)
      return [text, ...filesOf(path, text).filter(isThere).map(read)]
    })
    return { lines, files: files.length, ...bytesOf(texts) }
  }
  const row = (name, parts) => {
    const wanted = parts.flatMap((part) => entriesOf(sources, part))
    return { name, beside: sizeOf(wanted, [KERNEL]), whole: sizeOf([KERNEL, ...wanted]) }
  }

  const parts = [...new Set([...sources.keys()].flatMap((path) => /^parts\/([^/]+)\//.exec(path)?.[1] ?? []))]
  return [
    { name: 'kernel', beside: undefined, whole: sizeOf([KERNEL]) },
    ...parts.toSorted().map((part) => row(part, [part])),
    ...sets.map((set) => row(set.join(', '), set)),
    { name: 'everything', beside: sizeOf(['index'], [KERNEL]), whole: sizeOf(['index']) },
  ]
}

/** Where a part begins: paths in lib/, without their extension. */
function entriesOf(sources, part) {
  const folder = [...sources.keys()].filter((path) => path.startsWith(`parts/${part}/`))
  const entry = folder.filter((path) => path === `parts/${part}/part.ts`)
  return (entry.length > 0 ? entry : folder).map((path) => path.slice(0, -'.ts'.length))
}

/** What some entries reach and others do not. */
function pathsOf(modules, entries, others, extension) {
  const from = (list) => (
    reached(modules, list.map((path) => path + extension).filter((path) => modules.has(path)))
  )
  const without = from(others)
  return [...from(entries)].filter((path) => !without.has(path)).toSorted()
}

if (process.argv[1] === import.meta.filename) {
  const { values: options } = parseArgs({ options: { markdown: { type: 'string' } } })
  const rows = sizes()
  console.log(textOfSizes(rows))
  if (options.markdown !== undefined) writeTables(options.markdown, markdownOfSizes(rows), 'size')
}
