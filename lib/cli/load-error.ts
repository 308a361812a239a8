/**
 * Why a module could not be loaded, for the person who wrote it: a thrown value in; the message, the source
 * line of a syntax error, and those lines of the stack out that are the author's own. Paths are as they look
 * from the working directory.
 */
import { spawnSync } from 'node:child_process'
import { dirname, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe } from '../define/log.ts'
import { localFiles } from './local-files.ts'

/** Lines of a stack that are shown, and files in which the source of a syntax error is looked for. */
const MAX_FRAMES = 5
const MAX_FILES = 20

/** A source line that is longer was made by a machine; of a longer message the end is cut off. */
const MAX_SOURCE = 200
const MAX_MESSAGE = 2_000

/** How a stack begins where it knows the source: the place, a few lines, and mostly a mark below. */
const EXCERPT = /^(\S.*:\d+)\n((?:.*\n){0,8}?)SyntaxError\b/

/** This house's own files, as they look in a stack. */
const SYSTEM_OWNER = new URL('..', import.meta.url).href

/** Where the author's part of a stack ends. */
const LOADED_BY = 'at async loadModule'

/** A message, and below it the lines that show where. */
export function loadReason(error: unknown, path: string): string {
  if (!(error instanceof Error)) return `it threw ${describe(error)}`
  if ('code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION' && /\.[cm]?ts\b/.test(error.message)) {
    return 'this Node does not run TypeScript; compile it first, or use Node 22.18 or later'
  }
  const { cause } = error
  const message = error.message || error.name
  const reason = cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message
  const where = error instanceof SyntaxError ? excerptOf(error, path) : framesOf(error)
  return [near(reason.slice(0, MAX_MESSAGE)), ...where.map((line) => `    ${near(line)}`)].join('\n')
}

function framesOf({ stack }: Error): readonly string[] {
  const [within = ''] = String(stack).split(LOADED_BY)
  return within.split('\n').map((line) => line.trim())
    .filter((line) => /^at .*[\\/:]/.test(line) && !line.includes('node:') && !line.includes(SYSTEM_OWNER))
    .slice(0, MAX_FRAMES)
}

/** Node knows the line of an ES module's syntax error, and tells it to nobody but its own last words. */
function excerptOf(error: SyntaxError, path: string): readonly string[] {
  const known = EXCERPT.exec(String(error.stack))
  if (known !== null) return excerpt(known)
  for (const file of localFiles(path).filter((one) => /\.[cm]?js$/.test(one)).slice(0, MAX_FILES)) {
    const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' })
    const found = EXCERPT.exec(stderr)
    if (found !== null && stderr.includes(error.message)) return excerpt(found)
  }
  return framesOf(error)
}

function excerpt([, place = '', source = '']: RegExpExecArray): readonly string[] {
  const lines = source.split('\n').filter((line) => line.trim() !== '')
  return lines.some(({ length }) => length > MAX_SOURCE) ? [place] : [place, ...lines]
}

/** A text with the paths in it as they look from the working directory. */
function near(text: string): string {
  const folder = process.cwd()
  const here = folder + sep
  // At the root every path is as short as it can be.
  const paths = dirname(folder) === folder ? text
    : text.replaceAll(pathToFileURL(here).href, '').replaceAll(here, '')
  return paths.replace(/file:\/\/[^\s)]+?(?=:\d|[\s)]|$)/g, (url) => fileURLToPath(url))
}
