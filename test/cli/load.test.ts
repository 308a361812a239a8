import assert from 'node:assert/strict'
import { join, relative } from 'node:path'
import test from 'node:test'
import { localFiles } from '../../lib/cli/files.ts'
import { loadModule } from '../../lib/cli/load.ts'
import { modules } from '../fixtures/modules.ts'
import type { TestContext } from 'node:test'

const agent = (name: string): string => `{ name: '${name}', run: (prompt) => '${name} heard ' + prompt }`
const tool = (name: string): string => `{ name: '${name}', inputSchema: { type: 'object' }, run: () => 3 }`
const ANN = agent('Ann')
const BOB = agent('Bob')
/** A tool of another framework, which has its name from the key before it. */
const NAMELESS = `{ description: 'Adds.', inputSchema: { jsonSchema: { type: 'object' }, [Symbol.for('${
  'vercel.ai.schema'}')]: true }, execute: () => 3 }`
/** An agent of another framework, with tools of its own. */
const THEIRS = `{ version: 'agent-v1', id: 'Theirs', tools: { now: {} }, generate() {}, stream() {} }`
const NOTE = `{ uri: 'file:///note', name: 'note', read: () => 'text' }`
const NOTES = `{ uriTemplate: 'file:///notes/{name}', name: 'notes', read: () => 'text' }`
const GREET = `{ name: 'greet', description: 'Greets.', get: () => 'Hello' }`

/** What modules export, and the names of all that is found, in the order of the kinds. */
const forms: readonly (readonly [file: string, text: string, found: string])[] = [
  ['function.mjs', 'export default (prompt) => prompt', 'agents Assistant'],
  ['definition.mjs', `export default ${ANN}`, 'agents Ann'],
  ['list.mjs', `export default [${ANN}, ${BOB}]`, 'agents Ann Bob, groups triport'],
  ['agent.mjs', `export const agent = ${ANN}`, 'agents Ann'],
  ['agents.mjs', `export const agents = [${ANN}, ${BOB}]`, 'agents Ann Bob, groups triport'],
  ['agents-one.mjs', `export const agents = ${ANN}`, 'agents Ann'],
  ['agents-with-tools.mjs', `export const agents = [${ANN}, ${BOB}]; export const tools = [${tool('add')}]`,
    'agents Ann Bob, groups triport, tools add'],
  ['agent-and-agents.mjs', `export const agent = ${ANN}; export const agents = [${BOB}]`, 'agents Ann Bob'],
  ['group.mjs', `export const group = { name: 'Desk', agents: [${ANN}] }`, 'groups Desk'],
  ['groups.mjs', `export const groups = [{ name: 'Desk', agents: [${ANN}] }]`, 'groups Desk'],
  ['group-of-agents.mjs', `export const agents = [${ANN}, ${BOB}]
    export const group = { name: 'Desk', agents }`, 'groups Desk'],
  ['default-group-of-agents.mjs', `export const agents = [${ANN}, ${BOB}]
    export default { name: 'Desk', agents }`, 'groups Desk'],
  ['twice.mjs', `export const agent = ${ANN}; export default agent`, 'agents Ann'],
  ['tools.mjs', `export const tools = [${tool('add')}]`, 'tools add'],
  ['named-tools.mjs', `export const tools = { add: { inputSchema: { type: 'object' }, execute: () => 3 } }`,
    'tools add'],
  ['default-named-tools.mjs', `export default { tools: { sum: ${tool('add')} }, agents: [${ANN}] }`,
    'agents Ann, tools sum'],
  ['tools-without-schema.mjs', `export const agent = ${ANN}
    export const tools = [{ name: 'now', run: () => 1 }]`, 'agents Ann, tools now'],
  ['default-and-tools.mjs', `export default ${ANN}; export const tools = ${tool('add')}`,
    'agents Ann, tools add'],
  ['shapes.mjs', `export default [${ANN}, ${tool('add')}, ${NOTE}, ${NOTES}, ${GREET}]`,
    'agents Ann, tools add, resources note, resourceTemplates notes, prompts greet'],
  ['tool-among-agents.mjs', `export const agents = [${ANN}, ${tool('add')}]`, 'agents Ann, tools add'],
  ['resources.mjs', `export const resources = [${NOTE}]; export const resourceTemplates = [${NOTES}]
    export const prompts = [${GREET}]`, 'resources note, resourceTemplates notes, prompts greet'],
  ['one-of-each.mjs', `export const agent = ${ANN}; export const tool = ${tool('add')}
    export const resource = ${NOTE}; export const resourceTemplate = ${NOTES}
    export const prompt = ${GREET}`,
    'agents Ann, tools add, resources note, resourceTemplates notes, prompts greet'],
  ['offer.mjs', `export default { agents: [${ANN}], prompts: [${GREET}] }
    export const tools = [${tool('add')}]`,
    'agents Ann, tools add, prompts greet'],
  ['same-tools.mjs', `export const tools = [${tool('add')}]; export default { agents: [${ANN}], tools }`,
    'agents Ann, tools add'],
  ['function.cjs', 'module.exports = (prompt) => prompt', 'agents Assistant'],
  ['definition.cjs', `module.exports = ${ANN}`, 'agents Ann'],
  ['group.cjs', `module.exports = { name: 'Desk', agents: [${ANN}] }`, 'groups Desk'],
  ['list.cjs', `module.exports = [${ANN}, ${BOB}]`, 'agents Ann Bob, groups triport'],
  ['named.cjs', `exports.agent = ${ANN}; exports.tools = [${tool('add')}]; exports.prompts = [${GREET}]`,
    'agents Ann, tools add, prompts greet'],
  ['agents.cjs', `exports.agents = [${ANN}, ${BOB}]`, 'agents Ann Bob, groups triport'],
  ['resources.cjs', `const resources = [${NOTE}], resourceTemplates = [${NOTES}]
    module.exports = { resources, resourceTemplates }`, 'resources note, resourceTemplates notes'],
  ['port.cjs', `const port = 3000\nmodule.exports = { agents: [${ANN}], port }`, 'agents Ann'],
  ['tools-by-name.mjs', `export const tools = { add: ${NAMELESS}, sum: ${NAMELESS} }`, 'tools add sum'],
  ['tools-by-name-in-default.mjs', `export default { agents: [${ANN}], tools: { add: ${NAMELESS} } }`,
    'agents Ann, tools add'],
  ['foreign.mjs', `export default ${THEIRS}`, 'agents Theirs'],
  ['foreign-agent.mjs', `export const agent = ${THEIRS}; export const tools = [${tool('add')}]`,
    'agents Theirs, tools add'],
  ['foreign.cjs', `module.exports = ${THEIRS}`, 'agents Theirs'],
  ['promise.cjs', `module.exports = Promise.resolve({ agents: [${ANN}], tools: [${tool('add')}] })`,
    'agents Ann, tools add'],
  ['promise.mjs', `export default Promise.resolve(${ANN})`, 'agents Ann'],
  ['compiled.cjs', `Object.defineProperty(exports, '__esModule', { value: true })
    exports.default = ${ANN}; exports.tools = [${tool('add')}]`, 'agents Ann, tools add'],
]

/** The names of all that is found, by kind. */
function foundIn(subject: object): string {
  return Object.entries(subject).filter(([, things]) => things.length > 0)
    .map(([kind, things]) => [kind, ...things.map(({ name }: { name: string }) => name)].join(' ')).join(', ')
}

test('whatever a module exports to be served is found, in ES modules and in CommonJS', async (t) => {
  const folder = modules(t, Object.fromEntries(forms))
  for (const [file, , expected] of forms) {
    assert.equal(foundIn((await loadModule(join(folder, file))).subject), expected, file)
  }
})

/** What the default says besides what is to be served, and what is made of it. */
const withOptions: readonly (readonly [file: string, text: string, found: string, options: object])[] = [
  ['options.mjs',
    `export default { name: 'Shop', version: '2.0.0', instructions: 'Ask.', agents: [${ANN}] }`,
    'agents Ann', { name: 'Shop', version: '2.0.0', instructions: 'Ask.' }],
  ['first-answers.mjs', `export default { name: 'Shop', port: 81, agents: [${ANN}, ${BOB}] }`,
    'agents Ann Bob', { name: 'Shop', port: 81 }],
  ['limits.mjs', `export default { tools: [${tool('add')}], maxCalls: 7, cors: '*', host: '::1' }`,
    'tools add', { maxCalls: 7, cors: '*', host: '::1' }],
  ['group-with-version.mjs', `export default { name: 'Desk', version: '3.0.0', agents: [${ANN}] }`,
    'groups Desk', { version: '3.0.0' }],
  ['options.cjs', `module.exports = { name: 'Shop', tools: [${tool('add')}] }`, 'tools add',
    { name: 'Shop' }],
  ['exported.mjs', `export const name = 'Shop', version = '2.0.0', maxCalls = 7, port = 81
    export const mcp = { title: 'S' }
    export const tools = [${tool('add')}]`,
    'tools add', { maxCalls: 7, mcp: { title: 'S' }, name: 'Shop', port: 81, version: '2.0.0' }],
  ['exported.cjs', `exports.name = 'Shop'; exports.tools = [${tool('add')}]`, 'tools add', { name: 'Shop' }],
  ['beside.mjs', `export const name = 'Shop', instructions = 'Ask.'; export default ${ANN}`, 'agents Ann',
    { name: 'Shop', instructions: 'Ask.' }],
  ['both.mjs', `export const name = 'Shop'; export default { version: '2.0.0', agents: [${ANN}] }`,
    'agents Ann', { version: '2.0.0', name: 'Shop' }],
  ['around-group.mjs', `export const name = 'Shop'; export default { name: 'Desk', agents: [${ANN}] }`,
    'groups Desk', { name: 'Shop' }],
  ['around-group.cjs', `module.exports = { name: 'Desk', version: '3.0.0', agents: [${ANN}] }`,
    'groups Desk', { version: '3.0.0' }],
]

test('a module may export other things beside what is served', async (t) => {
  const more = 'export class Agent {}; export const items = new Map(), max = 3, db = {}, lists = []'
  const folder = modules(t, {
    'named.mjs': `${more}; export const agent = ${ANN}; export function handler() {}`,
    'default.mjs': `${more}; export default ${ANN}; export { Agent as Tool }`,
    'common.cjs': `module.exports = { agents: [${ANN}], retry() {}, Agent: class {}, items: [] }`,
  })
  for (const file of ['named.mjs', 'default.mjs', 'common.cjs']) {
    const { subject, options } = await loadModule(join(folder, file))
    assert.deepEqual([subject.agents.length, subject.tools.length, options], [1, 0, {}], file)
  }
})

test('options of createServer stand in the default, or are exports of their own', async (t) => {
  const folder = modules(t, Object.fromEntries(withOptions))
  for (const [file, , expected, owed] of withOptions) {
    const { subject, options } = await loadModule(join(folder, file))
    assert.equal(foundIn(subject), expected, file)
    assert.deepEqual(options, owed, file)
  }
})

test('a server that a module has made is served as it is', async (t) => {
  const library = new URL('../../lib/index.js', import.meta.url).href
  const made = `import { createServer } from '${library}'
    const server = createServer({ agents: [${ANN}] })\n`
  const folder = modules(t, {
    'default.mjs': `${made}export default server`, 'named.mjs': `${made}export { server }`,
    'promised.cjs': `module.exports = import('${library}').then(({ createServer }) => (
      createServer({ agents: [${ANN}] })))`,
  })
  for (const file of ['default.mjs', 'named.mjs', 'promised.cjs']) {
    const { server } = await loadModule(join(folder, file))
    assert.equal(server?.name, 'Ann', file)
    await server?.close()
  }
})

test('beside a server that is made, a module names where it listens, and nothing else', async (t) => {
  const library = new URL('../../lib/index.js', import.meta.url).href
  const made = `import { createServer } from '${library}'
    export default createServer({ agents: [${ANN}] })\n`
  const folder = modules(t, {
    'port.mjs': `${made}export const port = 81, host = '::1'`, 'cors.mjs': `${made}export const cors = '*'`,
  })
  const { options, server } = await loadModule(join(folder, 'port.mjs'))
  assert.deepEqual(options, { port: 81, host: '::1' })
  await server?.close()
  await assert.rejects(loadModule(join(folder, 'cors.mjs')), /cors\.mjs exports 'cors' beside a server that /)
})

const SYNTAX = `const a = 1\nexport default (prompt) => {\n  return 'x' +\n}\n`

/** Modules that cannot be loaded, and all that is said of them, seen from their own folder. */
const broken: readonly (readonly [file: string, text: string, said: string | RegExp])[] = [
  ['throws.mjs', `throw new Error('on purpose')`,
    'Cannot load throws.mjs: on purpose\n    at throws.mjs:1:7'],
  ['calls.mjs', `import { go } from './lib/go.mjs'\nexport default go()`,
    'Cannot load calls.mjs: too deep\n    at go (lib/go.mjs:2:9)\n    at calls.mjs:2:16'],
  ['syntax.mjs', SYNTAX, `Cannot load syntax.mjs: Unexpected token '}'\n    syntax.mjs:4\n    }\n    ^`],
  ['syntax.js', SYNTAX, `Cannot load syntax.js: Unexpected token '}'\n    syntax.js:4\n    }\n    ^`],
  ['syntax.cjs', `module.exports = (\n`, 'Cannot load syntax.cjs: Unexpected end of input\n    syntax.cjs:2'],
  ['imports.mjs', `import './lib/broken.mjs'`,
    `Cannot load imports.mjs: Unexpected token '}'\n    lib/broken.mjs:4\n    }\n    ^`],
  ['name.mjs', `import { nothing } from './lib/go.mjs'`,
    /^Cannot load name\.mjs: .* does not provide an export named 'nothing'\n {4}name\.mjs:1\n {4}import/],
  ['package.mjs', `import 'no-such-package'`,
    `Cannot load package.mjs: Cannot find package 'no-such-package' imported from package.mjs; run `
    + `'npm install' where package.json names it, else 'npm install no-such-package'`],
  ['own.mjs', `import 'triport'`,
    /; run 'npm install' where .* else 'npm install triport', or import '\.\S*\/index\.js'$/],
  ['file.mjs', `import './no-such-file.mjs'`,
    `Cannot load file.mjs: Cannot find module 'no-such-file.mjs' imported from file.mjs`],
  ['value.mjs', 'throw { a: 1 }', 'Cannot load value.mjs: it threw {"a":1}'],
  ['rejects.mjs', `export default Promise.reject(new Error('no database'))`,
    'Cannot load rejects.mjs: no database\n    at rejects.mjs:1:31'],
  ['null.mjs', 'throw null', 'Cannot load null.mjs: it threw null'],
  ['cause.mjs', `throw new Error('fetch failed', { cause: new Error('refused') })`,
    'Cannot load cause.mjs: fetch failed: refused\n    at cause.mjs:1:7'],
  ['wrapped.mjs', `throw new Error('add: too long', { cause: new Error('too long') })`,
    'Cannot load wrapped.mjs: add: too long\n    at wrapped.mjs:1:7'],
  ['library.mjs',
    `import { defineAgent } from '${new URL('../../lib/preset/define.js', import.meta.url).href}'\n`
    + 'export default defineAgent({})',
    /^Cannot load library\.mjs: An agent needs 'name'.*\n {4}at library\.mjs:2:16$/],
  ['missing.mjs', '', 'Cannot load gone.mjs: there is no such file'],
  ['empty.mjs', 'export const nothing = 1',
    /^empty\.mjs exports nothing to serve; export default \(prompt\) => answer, or name it agent, /],
  ['other.mjs', `export const graph = ${ANN}`,
    `other.mjs exports 'graph', which is no name that is served; make it the default export, or name it `
    + 'agent, group or tools'],
  ['starts.mjs', 'const launch = () => {}\nlaunch((prompt) => prompt)',
    'starts.mjs starts its server itself, and exports nothing; run it with: node starts.mjs'],
  ['none.mjs', 'export const agents = []', `none.mjs exports 'agents', and nothing is in it`],
  ['misspelt.mjs', 'export const toolss = []', `misspelt.mjs exports 'toolss'; did you mean 'tools'?`],
  ['signals.mjs', `export default { agents: [${ANN}], sekret: 'secret' }`,
    `signals.mjs: The default export has no option 'sekret'; did you mean 'secret'?`],
  ['misspelt-member.mjs', `export default { agents: [${ANN}], tols: [] }`,
    `misspelt-member.mjs: The default export has no option 'tols'; did you mean 'tools'?`],
  ['near.mjs', `export const nmae = 'Shop', agent = ${ANN}`,
    `near.mjs exports 'nmae'; did you mean 'name'? Else leave 'export' out there`],
  ['near-kind.cjs', `module.exports = { agent: ${ANN}, tolls: [] }`,
    /^near-kind\.cjs exports 'tolls'; did you mean /],
  ['near-option.mjs', `export const allowedHost = ['a'], agent = ${ANN}`,
    /'allowedHost'; did you mean 'allowedHosts'/],
  ['twice.mjs', `export const name = 'Shop'; export default { name: 'Shop', tools: [${tool('add')}] }`,
    `twice.mjs says 'name' as an export and in its default export; leave one of them out`],
  ['number.mjs', 'export default 7', /^number\.mjs: Cannot serve 7: write a function/],
  ['nameless.mjs', `export const tools = [{ run: () => '' }]`, /^nameless\.mjs: A tool needs 'name'/],
]

async function reasonOf(t: TestContext, file: string, folder: string): Promise<string> {
  const before = process.cwd()
  process.chdir(folder)
  t.after(() => process.chdir(before))
  try {
    await loadModule(file)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    process.chdir(before)
  }
  return 'It was loaded'
}

test('what cannot be loaded is reported with its position and the author\'s own lines only', async (t) => {
  const folder = modules(t, {
    ...Object.fromEntries(broken),
    'lib/go.mjs': `export function go() {\n  throw new TypeError('too deep')\n}`, 'lib/broken.mjs': SYNTAX,
  })
  for (const [file, , said] of broken) {
    const reason = await reasonOf(t, file === 'missing.mjs' ? 'gone.mjs' : file, folder)
    if (typeof said === 'string') assert.equal(reason, said)
    else assert.match(reason, said)
  }
  assert.equal(await reasonOf(t, 'lib', folder), 'Cannot load lib: it is a folder; name a file in it')
  for (const near of ['empty', 'empty.js']) {
    const reason = await reasonOf(t, near, folder)
    assert.equal(reason, `Cannot load ${near}: there is no such file; there is empty.mjs`)
  }
})

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

test('skills are enough to be served', async (t) => {
  const folder = modules(t, { 'skills.mjs': `export const skills = './skills'` })
  const { options, subject } = await loadModule(join(folder, 'skills.mjs'))
  assert.deepEqual([options.skills, subject.tools], ['./skills', []])
})
