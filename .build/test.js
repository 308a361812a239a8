/**
 * Runs the tests in the files that are named, three at a time per core, since most of them wait. They begin in
 * the order in which they are named, a file that is named twice where it comes first. What is still leased at
 * the end of a file of ours fails it. `--quick` leaves out the slow ones (`*.slow.test.js`): real browsers,
 * watched and worker processes, full heaps, clients that leave for seconds.
 */
import { cpSync, existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { run } from 'node:test'
import { spec, tap } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { copyGuide } from './guide.js'

// What modules read at run time, and tsc leaves where it is.
const READ = ['parts/docs/docs.html', 'cli/templates']
cpSync('LICENSE', '.test/LICENSE')
for (const path of READ) cpSync(`lib/${path}`, `.test/lib/${path}`, { recursive: true })
copyGuide('.test/lib/guide')

const [first, ...others] = process.argv.slice(2)
const isQuick = first === '--quick'
const files = [...new Set(isQuick ? others : [first, ...others])]
  .filter((file) => !isQuick || !file.endsWith('.slow.test.js'))
const leases = resolve(/^.*\/test\//.exec(files[0] ?? '')?.[0] ?? '', 'fixtures/leases.js')
if (existsSync(leases)) process.env.NODE_OPTIONS = `--import=${pathToFileURL(leases)}`
const results = run({ files, concurrency: 3 * availableParallelism() })
results.on('test:fail', ({ todo }) => {
  if (todo === undefined || todo === false) process.exitCode = 1
})
results.compose(process.stdout.isTTY ? spec : tap).pipe(process.stdout)
