import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { loadModule } from '../../lib/cli/load.ts'
import { typescriptRemedy } from '../../lib/cli/typescript.ts'
import { modules } from '../fixtures/modules.ts'

const BY_TSX = /Or: 'npm install tsx', then 'node --import tsx \S+ serve \S*agent\.ts'$/

/** An error as Node makes it. */
function failure(code: string, message: string, more: object = {}): Error {
  return Object.assign(new Error(message), { code, ...more })
}

test('a Node that runs no TypeScript says which one does, and the command that needs none', () => {
  const unknown = failure('ERR_UNKNOWN_FILE_EXTENSION', 'Unknown file extension ".ts" for /a/agent.ts')
  const remedy = typescriptRemedy(unknown, 'agent.ts') ?? ''
  assert.match(remedy, /^this Node, v\d+\.\d+\.\d+, does not run TypeScript\. Use Node 22\.18 or later\. /)
  assert.match(remedy, BY_TSX)
  const other = failure('ERR_UNKNOWN_FILE_EXTENSION', 'Unknown file extension ".css" for /a/agent.css')
  assert.equal(typescriptRemedy(other, 'agent.css'), undefined)
})

test('what Node cannot take away has another form', () => {
  const syntax = failure('ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX', 'TypeScript enum is not supported')
  const remedy = typescriptRemedy(syntax, 'agent.ts') ?? ''
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
  assert.match(typescriptRemedy(failure('ERR_MODULE_NOT_FOUND', '', { url }), 'agent.ts') ?? '',
    /so end the import with 'deep\/index\.ts', and for tsc/)
})

test('where Node runs TypeScript, an enum is reported with its line and the way out', async (t) => {
  const isRun = 'typescript' in process.features && Boolean(process.features.typescript)
  if (!isRun) return t.skip('this Node runs no TypeScript')
  const folder = modules(t, { 'agent.ts': 'enum Size { small }\nexport default () => String(Size.small)' })
  await assert.rejects(loadModule(join(folder, 'agent.ts')), /enum .*; Node only takes [^]*agent\.ts:1/)
})
