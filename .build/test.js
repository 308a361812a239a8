/**
 * Runs the tests in the files that are named, three at a time per core, since most of them wait. They begin in
 * the order in which they are named, a file that is named twice where it comes first. What is still leased at
 * the end of a file of ours fails it. `--quick` leaves out the slow ones (`*.slow.test.js`): real browsers,
 * watched and worker processes, full heaps, clients that leave for seconds. With `CI=true` a file that failed
 * among others is run once more, alone: only what fails again fails the run, and what passes is told at the end.
 * A file that takes longer than `FILE_SECONDS` (720) is ended, and has failed.
 */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { run } from 'node:test'
import { spec, tap } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { copyChanged } from './copy.js'
import { copyGuide } from './guide.js'

// What modules read at run time, and tsc leaves where it is.
const READ = ['parts/docs/docs.html', 'cli/templates']
copyChanged('LICENSE', '.test/LICENSE')
for (const path of READ) copyChanged(`lib/${path}`, `.test/lib/${path}`)
copyGuide('.test/lib/guide')

const [first, ...others] = process.argv.slice(2)
const isQuick = first === '--quick'
const files = [...new Set(isQuick ? others : [first, ...others])]
  .filter((file) => !isQuick || !file.endsWith('.slow.test.js'))
const leases = resolve(/^.*\/test\//.exec(files[0] ?? '')?.[0] ?? '', 'fixtures/leases.js')
if (existsSync(leases)) process.env.NODE_OPTIONS = `--import=${pathToFileURL(leases)}`

const timeout = 1000 * Number(process.env.FILE_SECONDS ?? 720)
const failed = await failing(files, 3 * availableParallelism())
const again = process.env.CI === 'true' && failed.length > 0 ? await failing(failed, 1) : failed
if (again.length > 0) process.exitCode = 1
for (const file of failed.filter((file) => !again.includes(file))) {
  process.stdout.write(`# passes alone: ${file}\n`)
}

/** Runs these files, so many at a time, and resolves with those that fail; all, where none says so of itself. */
async function failing(files, concurrency) {
  const failed = []
  let hasFailed = false
  const results = run({ files, concurrency, timeout })
  results.on('test:fail', ({ todo }) => { hasFailed ||= todo === undefined || todo === false })
  results.on('test:complete', ({ name, details }) => {
    if (files.includes(name) && !details.passed) failed.push(name)
  })
  for await (const text of results.compose(process.stdout.isTTY ? spec : tap)) process.stdout.write(text)
  return hasFailed && failed.length === 0 ? files : failed
}
