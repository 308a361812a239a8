/**
 * Makes dist/ of what tsc has put into .build/lib: the few files of JavaScript that are shipped, the
 * declarations of what they export, and the guide. With `--test` makes the folder .test/packed instead, in
 * which the tests run on the same text: each module of lib/ stands there at its path, and passes on what is
 * packed.
 *
 * It is in a folder with a dot because it is neither shipped nor a part of what lib/ means.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { copyGuide } from './guide.js'
import { declarations, formatDeclarations } from './lib/cli/declarations.js'
import { kernelFile, units } from './lib/cli/units.js'
import { pack } from './pack.js'
import { running } from './running.js'

const EMITTED = '.build/lib'

const isForTests = process.argv.includes('--test')
const folder = isForTests ? '.test/packed/lib' : 'dist'

/** What programs import and run, and the modules whose names each file has. */
const entries = Object.fromEntries([
  ...['index.js', 'cli.js', 'cli/command.js', kernelFile].map((file) => [file, { [file]: undefined }]),
  ...[...units.values()].map(({ file, names }) => [file, names]),
])

rmSync(folder, { recursive: true, force: true })
writePacked()
writePacked(await running(folder))
copyGuide(join(folder, 'guide'))
if (isForTests) {
  cpSync('.test/test', '.test/packed/test', { recursive: true })
} else {
  const made = new Map([...units.values()].map((unit) => [typesOf(unit.file), formatDeclarations(unit)]))
  const named = [...made.keys(), typesOf('index.js'), typesOf(kernelFile)]
  const readTypes = (path) => emitted(path) ?? made.get(path)
  for (const [path, text] of declarations(readTypes, named)) write(path, text)
}

function writePacked(running) {
  for (const [path, text] of pack(read, entries, { isOpen: isForTests, running })) write(path, text)
}

/** The text of a module, or of a file that one reads, which tsc leaves where it is. */
function read(path) {
  return emitted(path) ?? readFileSync(join('lib', path), 'utf8')
}

function emitted(path) {
  return existsSync(join(EMITTED, path)) ? readFileSync(join(EMITTED, path), 'utf8') : undefined
}

function typesOf(file) {
  return file.replace(/js$/, 'd.ts')
}

function write(path, text) {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
