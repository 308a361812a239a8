import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { kernelFile, units } from '../../lib/cli/units.ts'
import type { KernelServer } from '../../lib/kernel.ts'

type Names = Readonly<Record<string, unknown>>
const shipped = async (file: string): Promise<Names> => await import(pathToFileURL(`dist/${file}`).href)

test('package.json has a subpath for the kernel and for every unit', () => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly exports: Names }
  assert.deepEqual(exports, {
    '.': './dist/index.js', './kernel': `./dist/${kernelFile}`,
    ...Object.fromEntries([...units].map(([name, { file }]) => [`./${name}`, `./dist/${file}`])),
    './package.json': './package.json',
  })
})

test('every part and store is a unit, or a word says why not', () => {
  const without = new Map([
    ['remote', 'it is what stores have in common'], ['engine', 'it is what stores have in common'],
  ])
  const folders = [...readdirSync('lib/parts'), ...readdirSync('lib/stores')]
    .map((name) => name.replace(/\.ts$/, ''))
  assert.deepEqual(folders.filter((name) => !units.has(name) && !without.has(name)), [])
})

test('a unit exports its names, and what it needs are units', async () => {
  for (const [name, { file, names, needs = [] }] of units) {
    const all = await shipped(file)
    const wanted = Object.values(names).flat().toSorted()
    assert.deepEqual(Object.keys(all).filter((key) => key !== '$').toSorted(), wanted, name)
    const declared = [...readFileSync(`dist/${file.replace(/js$/, 'd.ts')}`, 'utf8')
      .matchAll(/^export \{ (.+) \} from/gm)].flatMap(([, list = '']) => list.split(', '))
      .map((one) => one.split(' as ').at(-1))
    assert.deepEqual(declared.toSorted(), wanted, name)
    for (const need of needs) assert.ok(units.has(need), `${name} needs ${need}`)
  }
})

test('all subpaths are one copy of the library', async () => {
  const [triport, kernel, { mcp }] = await Promise.all([
    shipped('index.js'), shipped(kernelFile), shipped('parts/mcp.js'),
  ])
  assert.equal(triport['Fault'], kernel['Fault'])
  const createServer = kernel['createServer'] as (options: object) => KernelServer
  const parts = [(mcp as () => object)()]
  const tools = [{ name: 'one', run: () => 1 }]
  assert.deepEqual(createServer({ tools, parts, log: false }).protocols, ['mcp'])
})
