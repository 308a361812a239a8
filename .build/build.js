/**
 * Makes dist/ of what tsc has put into .build/lib: the few files of JavaScript that are shipped, and the
 * declarations that a program's compiler reads. With `--test` makes the folder .test/packed instead, in which
 * the tests run on the same text: each module of lib/ stands there at its path, and passes on what is packed.
 *
 * It is in a folder with a dot because it is neither shipped nor a part of what lib/ means.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pack } from './pack.js'

const EMITTED = '.build/lib'
/** Import lines of a declaration, and types that it takes from elsewhere in place. */
const DECLARED = /\bfrom '(\.[^']+)'|\bimport\("(\.[^"]+)"\)/g

const isForTests = process.argv.includes('--test')
const folder = isForTests ? '.test/packed/lib' : 'dist'

rmSync(folder, { recursive: true, force: true })
for (const [path, text] of pack(read, ['index.js', 'cli.js'], { isOpen: isForTests })) write(path, text)
if (isForTests) cpSync('.test/test', '.test/packed/test', { recursive: true })
else copyDeclarations('index.d.ts', new Set())

/** The text of a module, or of a file that one reads, which tsc leaves where it is. */
function read(path) {
  return readFileSync(existsSync(join(EMITTED, path)) ? join(EMITTED, path) : join('lib', path), 'utf8')
}

function write(path, text) {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

/** A declaration, and those that it needs. */
function copyDeclarations(path, seen) {
  if (seen.has(path)) return
  seen.add(path)
  const text = read(path)
  write(path, text)
  for (const [, from, inPlace] of text.matchAll(DECLARED)) {
    copyDeclarations(join(dirname(path), from ?? inPlace).replace(/\.[jt]s$/, '.d.ts'), seen)
  }
}
