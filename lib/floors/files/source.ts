/** Files and folders that definitions name: where they are, and what is in them. */
import { lstatSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { noteSource } from './source-files.ts'
import { show } from '../../kernel/define/validate.ts'
import type { Stats } from 'node:fs'

/** How an author names what lies beside a module; in pieces, for bundlers would take it for an address. */
const BESIDE = `new URL('./name', ${'import'}.meta.url)`

/** The absolute path of what an author names. `owner` begins the sentence of the `TypeError`. */
export function sourcePath(owner: string, given: unknown): string {
  const isAddress = typeof given === 'string' && /^file:/i.test(given) && URL.canParse(given)
  const url = isAddress ? new URL(given) : given instanceof URL ? given : undefined
  if (url === undefined && typeof given === 'string' && given !== '' && !given.includes('\0')) {
    return resolve(given)
  }
  if (url?.protocol === 'file:') return fileURLToPath(url)
  throw new TypeError(`${owner} is ${show(url?.href ?? given)}; write a path, or for what lies beside the `
    + `module ${BESIDE}`)
}

/** What is at a path, a link itself and not where it points. Throws `TypeError` where nothing is. */
export function statSource(owner: string, path: string): Stats {
  noteSource(path)
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat !== undefined) return stat
  throw new TypeError(`${owner} is not there: ${path}. A relative path begins at the working directory; for `
    + `what lies beside the module write ${BESIDE}`)
}

/** The bytes of a file that was found. Throws `TypeError` for one that is too large, or cannot be read. */
export function readSource(owner: string, path: string, { size }: Stats, maxBytes: number): Buffer {
  noteSource(path)
  if (size > maxBytes) throw tooLarge(owner, path, maxBytes)
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
    throw new TypeError(`${owner} cannot be read${why}: ${path}`, { cause })
  }
  if (bytes.length > maxBytes) throw tooLarge(owner, path, maxBytes)
  return bytes
}

function tooLarge(owner: string, path: string, maxBytes: number): TypeError {
  return new TypeError(`${owner} has more than ${maxBytes} bytes: ${path}; make it smaller`)
}
