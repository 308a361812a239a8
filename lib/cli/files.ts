/** The files that a module is made of, read from their texts, without running them. */
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** More files are not watched. */
export const MAX_LOCAL_FILES = 2_000

const RELATIVE = /\b(?:from|import|require)\s*(?:\(\s*)?(?:'(\.{1,2}\/[^'\n]+)'|"(\.{1,2}\/[^"\n]+)")/g
/** What a program's file ends with. */
export const SCRIPT: RegExp = /\.[cm]?[jt]s$/
/** Endings that `require` adds. */
const ENDINGS = ['', '.js', '.cjs', '.json', '.ts', '/index.js', '/index.ts']

/**
 * The files that a module is made of: itself, and what it and they import by a relative path, whether it
 * exists or not. Read from the text, without running it: paths in comments count, computed ones do not.
 */
export function localFiles(module: string): readonly string[] {
  const files = new Set([resolve(module)])
  // A set may grow during iteration.
  for (const file of files) {
    for (const path of importsOf(file)) if (files.size < MAX_LOCAL_FILES) files.add(path)
  }
  return [...files]
}

function importsOf(file: string): readonly string[] {
  const text = SCRIPT.test(file) ? sourceOf(file) : ''
  return [...text.matchAll(RELATIVE)].map(([, single, double = '']) => {
    const path = fileURLToPath(new URL(single ?? double, pathToFileURL(file)))
    return ENDINGS.map((ending) => path + ending).find(isFile) ?? path
  })
}

/** The text of a file; nothing where it cannot be read. */
export function sourceOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // It may be just being saved.
    return ''
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
