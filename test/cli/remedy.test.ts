import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { loadModule } from '../../lib/cli/load.ts'
import { remedyFor } from '../../lib/cli/remedy.ts'
import { modules } from '../fixtures/modules.ts'

const BY_TSX = /Or: 'npm install tsx', then 'node --import tsx \S+ serve \S*agent\.ts'$/

/** An error as Node makes it. */
function failure(code: string, message: string, more: object = {}): Error {
  return Object.assign(new Error(message), { code, ...more })
}

test('a Node that runs no TypeScript says which one does, and the command that needs none', () => {
  const unknown = failure('ERR_UNKNOWN_FILE_EXTENSION', 'Unknown file extension ".ts" for /a/agent.ts')
  const remedy = remedyFor(unknown, 'agent.ts') ?? ''
  assert.match(remedy, /^this Node, v\d+\.\d+\.\d+, does not run TypeScript\. Use Node 22\.18 or later\. /)
  assert.match(remedy, BY_TSX)
  const other = failure('ERR_UNKNOWN_FILE_EXTENSION', 'Unknown file extension ".css" for /a/agent.css')
  assert.equal(remedyFor(other, 'agent.css'), 'name a module that ends with .js, .mjs, .cjs or .ts')
  assert.equal(remedyFor(other, 'agent.js'), undefined)
})

test('what Node cannot take away has another form', () => {
  const syntax = failure('ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX', 'TypeScript enum is not supported')
  const remedy = remedyFor(syntax, 'agent.ts') ?? ''
  assert.match(remedy, /^Node only takes types away\. Write a constant object for an enum, /)
  assert.match(remedy, BY_TSX)
})

test('an import of a file that is not there names the file that is probably meant', async (t) => {
  const folder = modules(t, {
    'x.ts': '', 'deep/index.ts': '', 'plain.js': '',
    'agent.mjs': `import './x.js'`, 'bare.mjs': `import './plain'`, 'folder.mjs': `import './deep'`,
    'nothing.mjs': `import './gone.js'`,
  })
  const rows: readonly (readonly [file: string, said: RegExp])[] = [
    ['agent.mjs', /x\.js.* imported .*; there is \S+x\.ts, so end the import with 'x\.ts', and for tsc /],
    ['bare.mjs', /there is \S+plain\.js, so end the import with 'plain\.js'$/],
    ['nothing.mjs', /Cannot find module '\S+gone\.js' imported from \S+nothing\.mjs$/],
  ]
  for (const [file, said] of rows) {
    await assert.rejects(loadModule(join(folder, file)), { message: said }, file)
  }
  // A folder has a code of its own.
  const url = pathToFileURL(join(folder, 'deep')).href
  assert.match(remedyFor(failure('ERR_MODULE_NOT_FOUND', '', { url }), 'agent.ts') ?? '',
    /so end the import with 'deep\/index\.ts', and for tsc/)
})

test('a file that is taken for CommonJS says how it becomes an ES module', async (t) => {
  const folder = modules(t, {
    'package.json': '{ "type": "commonjs" }', 'x.mjs': '',
    'import.js': `import './x.mjs'\nexport default (prompt) => prompt`, 'export.js': 'export const agent = 1',
    'await.js': 'await 1', 'meta.js': 'import.meta.url', 'fine.cjs': 'export const agent = 1',
  })
  for (const file of ['import', 'export', 'await', 'meta']) {
    await assert.rejects(loadModule(join(folder, `${file}.js`)), {
      message: new RegExp(`; by \\S+package\\.json it is CommonJS\\. Run 'npm pkg set type=module' in \\S+, `
        + `or name it \\S+${file}\\.mjs\\n`),
    })
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  assert.equal(remedyFor(new SyntaxError(`Unexpected token 'export'`), join(folder, 'export.js')), undefined)
  await assert.rejects(loadModule(join(folder, 'fine.cjs')), ({ message }) => !/CommonJS/.test(message))
})

test('an export of TypeScript that is not there may be a type, and a wrong token a decorator', () => {
  const rows: readonly (readonly [message: string, path: string, remedy: RegExp | undefined])[] = [
    [`The requested module './types.ts' does not provide an export named 'Foo'`, 'agent.ts',
      /^if that is a type, write import type \{ Foo \} from '\.\/types\.ts'$/],
    [`The requested module './types.js' does not provide an export named 'Foo'`, 'agent.js', undefined],
    ['Invalid or unexpected token', 'agent.ts', /^if that is a decorator, Node runs none\. 'npm /],
    ['Invalid or unexpected token', 'agent.js', undefined],
  ]
  for (const [message, path, remedy] of rows) {
    const given = remedyFor(new SyntaxError(message), path)
    if (remedy === undefined) assert.equal(given, undefined)
    else assert.match(given ?? '', remedy)
  }
  const stripping = failure('ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING', 'Stripping types is unsupported')
  assert.match(remedyFor(stripping, 'agent.ts') ?? '', /^Node runs no TypeScript of packages; use one /)
  const tsx = failure('ERR_UNKNOWN_FILE_EXTENSION', 'Unknown file extension ".tsx" for /a/agent.tsx')
  assert.match(remedyFor(tsx, 'agent.tsx') ?? '', /^Node runs \.ts files, and none of \.tsx\. Or: /)
})

test('where Node runs TypeScript, an enum is reported with its line and the way out', async (t) => {
  const isRun = 'typescript' in process.features && Boolean(process.features.typescript)
  if (!isRun) return t.skip('this Node runs no TypeScript')
  const folder = modules(t, { 'agent.ts': 'enum Size { small }\nexport default () => String(Size.small)' })
  await assert.rejects(loadModule(join(folder, 'agent.ts')), /enum .*; Node only takes [^]*agent\.ts:1/)
})
