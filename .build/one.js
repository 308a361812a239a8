/**
 * `npm run test:one -- mcp/session` compiles without checking types, and runs test/parts/mcp/session*.test.ts:
 * all whose path, from some folder on, begins so. Tests that read dist/ (readme, pack) see the last
 * `npm run build`.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'

const paths = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/')).filter((path) => path.endsWith('.test.ts'))
const words = process.argv.slice(2)
const wanted = paths.filter((path) => words.some((word) => `/${path}`.includes(`/${word}`)))
if (wanted.length === 0) {
  process.stderr.write('Name a path below test/, as in: npm run test:one -- mcp/session\n')
  process.exit(2)
}
run('node_modules/typescript/bin/tsc', ['-p', 'test', '--noCheck'])
run('.build/test.js', wanted.map((path) => `.test/test/${path.replace(/ts$/, 'js')}`))

function run(program, args) {
  const { status } = spawnSync(process.execPath, [program, ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
