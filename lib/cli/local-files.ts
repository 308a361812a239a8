/**
 * The files that a module is made of: itself, and what it and they import by a relative path. Read from the
 * text, without running it: a path in a comment counts too, one that is put together at run time does not.
 */
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** More than a module that somebody works on is made of. */
const MAX_FILES = 2_000

const RELATIVE = /\b(?:from|import|require)\s*\(?\s*(?:'(\.{1,2}\/[^'\n]+)'|"(\.{1,2}\/[^"\n]+)")/g
const SCRIPT = /\.[cm]?[jt]s$/
/** What `require` lets one leave out. */
const ENDINGS = ['', '.js', '.cjs', '.json', '.ts', '/index.js', '/index.ts']

/** Their absolute paths, the module's own first. One that is imported and not there yet is among them. */
export function localFiles(module: string): readonly string[] {
  const files = new Set([resolve(module)])
  // A set may grow while it is walked.
  for (const file of files) {
    for (const path of importsOf(file)) if (files.size < MAX_FILES) files.add(path)
  }
  return [...files]
}

function importsOf(file: string): readonly string[] {
  const text = SCRIPT.test(file) ? textOf(file) : ''
  return [...text.matchAll(RELATIVE)].map(([, single, double = '']) => {
    const path = fileURLToPath(new URL(single ?? double, pathToFileURL(file)))
    return ENDINGS.map((ending) => path + ending).find(isFile) ?? path
  })
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // It may be in the middle of being saved.
    return ''
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
