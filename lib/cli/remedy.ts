/** What to do where Node cannot load a module as it is written: an error in, a sentence out. */
import { statSync } from 'node:fs'
import { dirname, extname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SCRIPT, sourceOf } from './files.ts'

/** What an import may mean that names no file: the ending that it has, and those to look for instead. */
const INSTEAD: readonly (readonly [ending: string, files: readonly string[]])[] = [
  ['.js', ['.ts', '.tsx']], ['.mjs', ['.mts']], ['.cjs', ['.cts']],
  ['', ['.ts', '.js', '.mjs', '/index.ts', '/index.js']],
]

/** What Node says of a file that is written as an ES module, and taken for CommonJS. */
const MODULE_SYNTAX = new RegExp('^(?:Cannot use (?:import statement|\'import\\.meta\') outside a module'
  + '|Unexpected token \'export\'|await is only valid in async functions and the top level bodies)')
const NO_EXPORT = /^The requested module '(?<file>[^']+)' does not provide an export named '(?<name>[^']+)'/
const NO_PACKAGE = /^Cannot find package '(?<name>(?:@[\w.-]+\/)?[\w.-]+)'/
/** What a module imports of the copy of triport that runs. */
const OWN = fileURLToPath(new URL('../index.js', import.meta.url)).replaceAll('\\', '/')
const TYPESCRIPT = /\.[cm]?tsx?$/

function fromFolderOf(path: string): string {
  const own = relative(dirname(resolve(path)), OWN).replaceAll('\\', '/')
  return own.startsWith('.') ? own : `./${own}`
}

/** The remedy for an error of importing `path`; undefined where none is known. */
export function remedyFor(error: Error, path: string): string | undefined {
  const code = 'code' in error ? error.code : undefined
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION' && /\.[cm]?tsx?\b/.test(error.message)) {
    const isTsx = /\.tsx\b/.test(error.message)
    const what = isTsx ? 'Node runs .ts files, and none of .tsx. '
      : `this Node, ${process.version}, does not run TypeScript. Use Node 22.18 or later. `
    return `${what}Or: ${byTsx(path)}`
  }
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION' || code === 'ERR_IMPORT_ATTRIBUTE_MISSING') {
    return SCRIPT.test(path) ? undefined : 'name a module that ends with .js, .mjs, .cjs or .ts'
  }
  if (code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING') {
    return `Node runs no TypeScript of packages; use one that is compiled. Or: ${byTsx(path)}`
  }
  if (error instanceof SyntaxError && code === undefined) return remedyForSyntax(error, path)
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') {
    return 'Node only takes types away. Write a constant object for an enum, exports for a namespace, and '
      + `fields for what a constructor's parameters declare. Or: ${byTsx(path)}`
  }
  if (code !== 'ERR_MODULE_NOT_FOUND') return undefined
  const { name } = NO_PACKAGE.exec(error.message)?.groups ?? {}
  if (name !== undefined) {
    const isCopied = name === 'triport' && !OWN.includes('/node_modules/')
    return `run 'npm install' where package.json names it, else 'npm install ${name}'`
      + (isCopied ? `, or import '${fromFolderOf(path)}'` : '')
  }
  if (!('url' in error)) return undefined
  return remedyForFile(String(error.url), path)
}

function remedyForSyntax({ message }: SyntaxError, path: string): string | undefined {
  if (MODULE_SYNTAX.test(message) && !/\.[cm][jt]s$/.test(path)) return asModule(path)
  const { file = '', name = '' } = NO_EXPORT.exec(message)?.groups ?? {}
  if (TYPESCRIPT.test(file)) return `if that is a type, write import type { ${name} } from '${file}'`
  if (!TYPESCRIPT.test(path) || message !== 'Invalid or unexpected token') return undefined
  return `if that is a decorator, Node runs none. ${byTsx(path)}`
}

/** How a file becomes an ES module; undefined where it is one. */
function asModule(path: string): string | undefined {
  const renamed = near(path.replace(/\.([jt]s)$/, '.m$1'))
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json')
    const text = sourceOf(manifest)
    if (/"type"\s*:\s*"module"/.test(text)) return undefined
    if (text !== '') {
      const where = near(folder) === '.' ? '' : ` in ${near(folder)}`
      return `by ${near(manifest)} it is CommonJS. Run 'npm pkg set type=module'${where}, or name `
        + `it ${renamed}`
    }
    if (folder === dirname(folder)) return `for import and export name it ${renamed}`
  }
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
  if (!TYPESCRIPT.test(found)) return written
  return `${written}, and for tsc set "allowImportingTsExtensions": true. Or: ${byTsx(path)}`
}

function near(path: string): string {
  const here = relative('', path)
  if (here === '') return '.'
  return here.startsWith('..') ? path : here
}
