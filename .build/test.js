/** Runs the tests in the files that are named, as many at a time as there are cores: Node keeps one idle. */
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

const files = process.argv.slice(2)
const options = ['--test', `--test-concurrency=${availableParallelism()}`]
const { status } = spawnSync(process.execPath, [...options, ...files], { stdio: 'inherit' })
process.exitCode = status ?? 1
