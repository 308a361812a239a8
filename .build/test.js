/**
 * Runs the tests in the files that are named, three at a time per core, since most of them wait. They
 * begin in the order in which they are named, a file that is named twice where it comes first.
 */
import { availableParallelism } from 'node:os'
import { run } from 'node:test'
import { spec, tap } from 'node:test/reporters'

const files = [...new Set(process.argv.slice(2))]
const results = run({ files, concurrency: 3 * availableParallelism() })
results.on('test:fail', ({ todo }) => {
  if (todo === undefined || todo === false) process.exitCode = 1
})
results.compose(process.stdout.isTTY ? spec : tap).pipe(process.stdout)
