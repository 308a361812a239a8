import assert from 'node:assert/strict'
import { join, relative } from 'node:path'
import test from 'node:test'
import { localFiles } from '../../lib/cli/local-files.ts'
import { modules } from '../fixtures/modules.ts'

test('a module is made of what it and its own imports import by a relative path', (t) => {
  const folder = modules(t, {
    'agent.mjs': `import { a } from './a.mjs'
      import "./side.mjs"
      export * from './deep/all.mjs'
      const later = () => import('./later.mjs')
      import data from './data.json' with { type: 'json' }
      import { readFile } from 'node:fs'
      import some from 'some-package'
      import '/absolute.mjs'
      import './not-yet.mjs'
      import './a%20b.mjs?version=2'`,
    'a.mjs': `import './agent.mjs'`,
    'side.mjs': '', 'later.mjs': '', 'data.json': `import './never.mjs'`, 'a b.mjs': '',
    'deep/all.mjs': `const a = require('./plain'), b = require("../folder")`,
    'deep/plain.cjs': '', 'folder/index.js': '',
  })
  assert.deepEqual(localFiles(join(folder, 'agent.mjs')).map((file) => relative(folder, file)), [
    'agent.mjs', 'a.mjs', 'side.mjs', 'deep/all.mjs', 'later.mjs', 'data.json', 'not-yet.mjs', 'a b.mjs',
    'deep/plain.cjs', 'folder/index.js',
  ])
})

test('a module that is not there is made of itself', () => {
  assert.deepEqual(localFiles('/no/such/module.js'), ['/no/such/module.js'])
})
