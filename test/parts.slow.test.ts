/** A part is taken away by its folder, and by the lines that name it in what is put together of all parts. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, posix } from 'node:path'
import test from 'node:test'
import { isAbove, withoutPart } from './fixtures/without-part.ts'

const parts = readdirSync('lib/parts')

/** Parts that cannot be taken away so, and why. A step takes one off; none is added. */
const bound: ReadonlyMap<string, string> = new Map([
  ['mcp', 'serveStdio serves it where no other is named, and the command configures its hosts'],
])

/** What the compiler says of a copy of lib/ without a part; '' where it compiles. */
function complaints(part: string): string {
  const copy = `.test/without/${part}`
  rmSync(copy, { recursive: true, force: true })
  for (const entry of readdirSync('lib', { recursive: true, encoding: 'utf8' })) {
    const path = posix.join(...entry.split(/[\\/]/))
    if (!path.endsWith('.ts') || path.startsWith(`parts/${part}/`)) continue
    const file = `${copy}/lib/${path}`
    mkdirSync(dirname(file), { recursive: true })
    if (isAbove(path)) writeFileSync(file, withoutPart(readFileSync(`lib/${path}`, 'utf8'), path, part))
    else cpSync(`lib/${path}`, file)
  }
  writeFileSync(`${copy}/tsconfig.json`, JSON.stringify({
    extends: '../../../tsconfig.json', include: ['lib'],
    // What a line made for one that is gone is not used any more.
    compilerOptions: {
      rootDir: 'lib', noEmit: true, skipLibCheck: true, noUnusedLocals: false, noUnusedParameters: false,
    },
  }))
  const { stdout, stderr, status } = spawnSync('node_modules/.bin/tsc', ['-p', copy], { encoding: 'utf8' })
  rmSync(copy, { recursive: true })
  return status === 0 ? '' : `${stdout}${stderr}`.trim() || `tsc ended with ${status}`
}

test('the parts that cannot be taken away are parts', () => {
  assert.deepEqual([...bound.keys()].filter((part) => !parts.includes(part)), [])
})

for (const part of parts) {
  const why = bound.get(part)
  test(why === undefined ? `lib/ compiles without ${part}` : `lib/ needs ${part} yet: ${why}`, () => {
    const found = complaints(part)
    if (why === undefined) assert.equal(found, '')
    else assert.notEqual(found, '', `lib/ compiles without ${part}; take it off the list`)
  })
}
