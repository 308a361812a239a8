/**
 * Makes dist/ of what tsc has put into .build/lib: the few files of JavaScript that are shipped, the one of
 * declarations that a program's compiler reads, and the guide. With `--test` makes the folder .test/packed instead, in
 * which the tests run on the same text: each module of lib/ stands there at its path, and passes on what is
 * packed.
 *
 * It is in a folder with a dot because it is neither shipped nor a part of what lib/ means.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { prune } from './declarations.js'
import { copyGuide } from './guide.js'
import { pack } from './pack.js'
import { running } from './running.js'

const EMITTED = '.build/lib'

const isForTests = process.argv.includes('--test')
const folder = isForTests ? '.test/packed/lib' : 'dist'

rmSync(folder, { recursive: true, force: true })
writePacked()
writePacked(await running(folder))
copyGuide(join(folder, 'guide'))
if (isForTests) {
  cpSync('.test/test', '.test/packed/test', { recursive: true })
  // An entry that is not packed: what it passes on is.
  write('kernel.js', read('kernel.js'))
} else {
  write('index.d.ts', prune(read, 'index.d.ts'))
}

function writePacked(running) {
  const files = pack(read, ['index.js', 'cli.js'], { isOpen: isForTests, running })
  for (const [path, text] of files) write(path, text)
}

/** The text of a module, or of a file that one reads, which tsc leaves where it is. */
function read(path) {
  return readFileSync(existsSync(join(EMITTED, path)) ? join(EMITTED, path) : join('lib', path), 'utf8')
}

function write(path, text) {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
