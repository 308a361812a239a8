import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { pathToFileURL } from 'node:url'

interface Size {
  readonly lines: number
  readonly files: number
  readonly plain: number
  readonly gzipped: number
}
interface Row { readonly name: string; readonly beside: Size | undefined; readonly whole: Size }

const { sizes }: { readonly sizes: () => readonly Row[] } = await import(pathToFileURL('bench/size.js').href)
const { linesOf, reached }: {
  readonly linesOf: (text: string) => number
  readonly reached: (modules: ReadonlyMap<string, string>, entries: readonly string[]) => ReadonlySet<string>
} = await import(pathToFileURL('bench/modules.js').href)

test('every part has a size, and what it has beside the kernel is all that it adds', () => {
  const rows = sizes()
  const names = rows.map(({ name }) => name)
  const kernel = rows.find(({ name }) => name === 'kernel')!.whole
  for (const part of readdirSync('lib/parts')) assert.ok(names.includes(part), part)
  for (const { name, beside, whole } of rows) {
    assert.ok(whole.lines >= kernel.lines && whole.plain > whole.gzipped && whole.gzipped > 0, name)
    if (beside === undefined) continue
    assert.equal(whole.lines, kernel.lines + beside.lines, name)
    assert.equal(whole.files, kernel.files + beside.files, name)
    assert.equal(whole.plain, kernel.plain + beside.plain, name)
  }
  const table = readFileSync('bench/results.md', 'utf8').split('<!-- size -->')[1] ?? ''
  assert.deepEqual([...table.matchAll(/^\| ([a-z][^|]*) \|/gm)].map(([, name]) => name), names,
    'node bench/size.js --markdown bench/results.md writes the table')
})

test('a line of code is neither blank nor comment', () => {
  assert.equal(linesOf(''), 0)
  assert.equal(linesOf('/** One. */\n'), 0)
  assert.equal(linesOf(`/**
 * Two.
 */

// Three.
const a = 'b' // Four.
  /* Five. */
const c = a`), 2)
})

test('a module reaches what it imports at run time, later and for types, and no comment', () => {
  const modules = new Map([
    ['a/one.ts', `import { two } from '../b/two.ts'\nimport type {\n  Three,\n} from './three.ts'\n`],
    ['b/two.ts', `import './four.ts'\nconst five = () => import('../a/five.ts')\n// from './six.ts'\n`],
    ['a/three.ts', `export { seven } from '../seven.ts'\nimport { readFileSync } from 'node:fs'\n`],
    ['b/four.ts', `import { one } from '../a/one.ts'\n`],
    ['a/five.ts', ''], ['b/six.ts', ''], ['seven.ts', ''], ['eight.ts', ''],
  ])
  assert.deepEqual([...reached(modules, ['a/one.ts'])].toSorted(), [
    'a/five.ts', 'a/one.ts', 'a/three.ts', 'b/four.ts', 'b/two.ts', 'seven.ts',
  ])
})
