/** What to do where Node does not run a module because of TypeScript: an error in, a sentence out. */
import { statSync } from 'node:fs'
import { dirname, extname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What an import may mean that names no file: the ending that it has, and those to look for instead. */
const INSTEAD: readonly (readonly [ending: string, files: readonly string[]])[] = [
  ['.js', ['.ts', '.tsx']], ['.mjs', ['.mts']], ['.cjs', ['.cts']],
  ['', ['.ts', '.js', '.mjs', '/index.ts', '/index.js']],
]

/** The remedy for an error of importing `path`; undefined where TypeScript is not its cause. */
export function typescriptRemedy(error: Error, path: string): string | undefined {
  const code = 'code' in error ? error.code : undefined
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION' && /\.[cm]?tsx?\b/.test(error.message)) {
    return `this Node, ${process.version}, does not run TypeScript. Use Node 22.18 or later. `
      + `Or: ${byTsx(path)}`
  }
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') {
    return 'Node only takes types away. Write a constant object for an enum, exports for a namespace, and '
      + `fields for what a constructor's parameters declare. Or: ${byTsx(path)}`
  }
  if (code !== 'ERR_MODULE_NOT_FOUND' || !('url' in error)) return undefined
  return remedyForFile(String(error.url), path)
}

/** The command that runs what Node alone does not. */
function byTsx(path: string): string {
  const command = near(process.argv[1] ?? 'triport')
  return `'npm install tsx', then 'node --import tsx ${command} serve ${near(path)}'`
}

/** The remedy for an import of a file that is not there, where another is that is probably meant. */
function remedyForFile(url: string, path: string): string | undefined {
  if (!url.startsWith('file:')) return undefined
  const missing = fileURLToPath(url)
  const ending = extname(missing)
  const whole = missing.slice(0, missing.length - ending.length)
  const found = INSTEAD.find(([one]) => one === ending)?.[1]
    .map((instead) => whole + instead).find((file) => statSync(file, { throwIfNoEntry: false })?.isFile())
  if (found === undefined) return undefined
  const end = relative(dirname(missing), found).replaceAll('\\', '/')
  const written = `there is ${near(found)}, so end the import with '${end}'`
  if (!/\.[cm]?tsx?$/.test(found)) return written
  return `${written}, and for tsc set "allowImportingTsExtensions": true. Or: ${byTsx(path)}`
}

function near(path: string): string {
  const here = relative('', path)
  return here === '' || here.startsWith('..') ? path : here
}
