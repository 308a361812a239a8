/**
 * The modules of lib/: what each takes from others, how many lines of code it has, how large it is.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { gzipSync } from 'node:zlib'

const IMPORT = /(?:\bfrom|\bimport\(|^import)\s*'(\.[^']+)'/gm
const READ = /new URL\('(\.\/[^']+)', import\.meta\.url\)/g

/** The text of every module of a folder, by its path in there. */
export function modulesOf(folder, extension) {
  const paths = readdirSync(folder, { recursive: true }).map((path) => path.replaceAll('\\', '/'))
  return new Map(paths.filter((path) => path.endsWith(extension) && !path.endsWith('.d.ts'))
    .map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
}

/** The paths that some modules reach, theirs too: by every import, of types and at run time as well. */
export function reached(modules, entries) {
  const seen = new Set(entries)
  for (const path of seen) {
    for (const target of targetsOf(path, codeOf(modules.get(path)), IMPORT)) {
      if (modules.has(target)) seen.add(target)
    }
  }
  return seen
}

/** The paths of the files that a module reads when it starts. */
export function filesOf(path, text) {
  return targetsOf(path, text, READ)
}

function targetsOf(path, text, pattern) {
  return [...text.matchAll(pattern)].map(([, target]) => posix.join(posix.dirname(path), target))
}

/** The lines of a text that are neither blank nor comment: in this project a comment has lines of its own. */
export function codeOf(text) {
  let isComment = false
  return text.split('\n').filter((line) => {
    const bare = line.trim()
    const isBefore = isComment
    if (bare.startsWith('/*')) isComment = true
    const isCode = bare !== '' && !isComment && !isBefore && !bare.startsWith('//')
    if (bare.endsWith('*/')) isComment = false
    return isCode
  }).join('\n')
}

export function linesOf(text) {
  const code = codeOf(text)
  return code === '' ? 0 : code.split('\n').length
}

/** Bytes of some texts as one, plain and gzipped. */
export function bytesOf(texts) {
  const whole = Buffer.from(texts.join(''))
  return { plain: whole.length, gzipped: gzipSync(whole, { level: 9 }).length }
}
