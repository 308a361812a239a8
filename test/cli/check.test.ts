import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { findingsOf } from '../../lib/cli/check.ts'
import { createServer } from '../../lib/index.ts'
import { runInThread, runWhole, serveInThread } from '../fixtures/command.ts'
import { programs } from '../fixtures/documents.ts'
import { modules } from '../fixtures/modules.ts'
import type { Finding } from '../../lib/cli/check.ts'
import type { ServerOptions, ToolDefinition } from '../../lib/index.ts'

/** What is found in what a server of these options serves. */
function findings(options: ServerOptions, importMs = 1): readonly Finding[] {
  const { name, catalog } = createServer({ log: false, ...options })
  const { agents, groups, tools, resources, templates, prompts } = catalog
  return findingsOf({ name, agents, groups, tools, resources, templates, prompts }, importMs)
}

const tool = { name: 'add', title: 'Add', description: 'Adds two numbers.', run: () => 1 }

/** The findings as `level rule`, of one tool that is fine but for `members`. */
function ofTool(members: Partial<ToolDefinition>): readonly string[] {
  const found = findings({ name: 'Shop', tools: [{ ...tool, ...members }] })
  return found.map(({ level, rule }) => `${level} ${rule}`)
}

const argument = (schema: object): Partial<ToolDefinition> => (
  { inputSchema: { type: 'object', properties: { a: { description: 'A number.', ...schema } } } }
)

/** A page with something in it. */
const page = (body: string, csp?: object): Partial<ToolDefinition> => (
  { ui: { html: `<!doctype html><title>Page</title>${body}`, ...csp !== undefined && { csp } } }
)

/** A value in so many lists. */
const nested = (levels: number): object => levels === 0 ? { type: 'string' }
  : { type: 'array', items: nested(levels - 1) }

const tools: readonly (readonly [members: Partial<ToolDefinition>, found: readonly string[]])[] = [
  [{}, []],
  [{ name: 'math.add' }, ['error tool-name']],
  [{ name: 'a'.repeat(65) }, ['error tool-name']],
  [{ name: 'a'.repeat(60) }, ['warning long-name']],
  [{ name: 'a'.repeat(53) }, []],
  [{ name: 'a'.repeat(54) }, ['warning long-name']],
  [{ description: undefined }, ['warning description']],
  [{ description: '  ' }, ['warning description']],
  [{ description: 'Adds.' }, ['warning description']],
  [{ description: 'TODO: describe what it does' }, ['warning description']],
  [{ name: 'add_numbers', description: 'Add numbers.' }, ['warning description']],
  [{ description: '加两个数字' }, []],
  [{ description: 'a'.repeat(1_024) }, []],
  [{ description: 'a'.repeat(1_025) }, ['warning long-description']],
  [{ title: undefined }, ['warning title']],
  [{ title: undefined, annotations: { title: 'Add' } }, []],
  [{ name: 'delete_user' }, ['warning annotations']],
  [{ name: 'removeUser', annotations: { readOnlyHint: true } }, ['warning annotations']],
  [{ name: 'delete_user', annotations: { destructiveHint: false } }, ['warning annotations']],
  [{ name: 'delete_user', annotations: { destructiveHint: true } }, []],
  [{ name: 'deletes' }, []],
  [{ name: 'listUsers' }, ['warning annotations']],
  [{ name: 'get', annotations: { readOnlyHint: true } }, []],
  [{ name: 'get', annotations: { readOnlyHint: false } }, []],
  [argument({}), []],
  [argument({ description: '' }), ['warning argument-description']],
  [{ inputSchema: { type: 'object', properties: { 'a b': { description: 'A number.' } } } },
    ['error argument-name']],
  [{ inputSchema: { type: 'object', properties: { 'a.b-c_1': { description: 'A number.' } } } }, []],
  [{ inputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: {} } } }, []],
  [{ inputSchema: { anyOf: [{ type: 'object' }, { type: 'object' }] } }, ['error root-union']],
  [{ inputSchema: { type: 'object', allOf: [{ required: ['a'] }] } }, ['error root-union']],
  [argument({ anyOf: [{ type: 'string' }, { type: 'number' }] }), []],
  [argument({ type: 'array' }), ['error array-items']],
  [argument({ type: ['array', 'null'] }), ['error array-items']],
  [argument({ anyOf: [{ type: 'array' }] }), ['error array-items']],
  [argument({ type: 'object', properties: { b: { type: 'array' } } }), ['error array-items']],
  [argument(nested(4)), []],
  [argument(nested(5)), ['warning depth']],
  [argument(nested(9)), ['warning depth']],
  [argument({ type: 'string', pattern: '^[a-z]+$' }), []],
  [argument({ type: 'string', pattern: '^(?!x)[a-z]+$' }), ['warning pattern']],
  [argument({ type: 'string', pattern: '^(a)\\1$' }), ['warning pattern']],
  [page('<script src="https://cdn.example/a.js"></script>'), ['warning page-origin']],
  [page('<script src=https://cdn.example/a.js></script><img alt="" src=\'https://cdn.example/b.png\'>'),
    ['warning page-origin']],
  [page('<link rel="stylesheet" href="https://a.example/a"><iframe src="https://a.example"></iframe>'),
    ['warning page-origin', 'warning page-origin']],
  [page('<script src="https://cdn.example/a"></script>', { resourceDomains: ['https://cdn.example'] }), []],
  [page('<img src="https://a.cdn.example/b.png">', { resourceDomains: ['https://*.cdn.example'] }), []],
  [page('<img src="https://cdn.example.org/b.png">', { resourceDomains: ['https://*.cdn.example'] }),
    ['warning page-origin']],
  [page('<iframe src="https://cdn.example"></iframe>', { resourceDomains: ['https://cdn.example'] }),
    ['warning page-origin']],
  [page('<!-- <img src="https://cdn.example/b.png"> --><a href="https://cdn.example">More</a>'), []],
  [argument({ type: 'string', minLenght: 1 }), ['warning keyword']],
  [argument({ type: 'object', 'properties': { b: nested(0) }, 'x-order': 1, 'required': ['c'] }),
    ['warning required']],
  [argument({ type: 'object', properties: {}, required: ['c'], additionalProperties: nested(0) }), []],
  [{ inputSchema: { type: 'object', properties: {}, requird: ['a'] } }, ['warning keyword']],
  [page('<link rel="canonical" href="https://cdn.example"><img src="data:image/png;base64,AAAA">'), []],
]

test('each mistake in a tool is found, and what is fine is not', () => {
  for (const [members, found] of tools) assert.deepEqual(ofTool(members), found, JSON.stringify(members))
})

const described = 'Answers questions about orders.'

const servers: readonly (readonly [options: ServerOptions, found: readonly string[]])[] = [
  [{ tools: [tool] }, [`the server: server-name`]],
  [{ name: 'Shop', tools: [tool, { ...tool, name: 'Add', description: 'Adds several numbers.' }] },
    [`tool 'Add': similar-names`]],
  [{ name: 'Shop', tools: [{ ...tool, name: 'a-b' }, { ...tool, name: 'a_b', description: 'Adds it now.' }] },
    [`tool 'a_b': similar-names`]],
  [{ name: 'Shop', tools: [tool, { ...tool, name: 'sum' }] }, [`tool 'sum': same-description`]],
  [{ name: 'Shop', tools: Array.from({ length: 129 }, (_, at) => (
    { ...tool, name: `add${at}`, description: `Adds ${at} to a number.` }
  )) }, ['the tools: many-tools']],
  [{ agents: [(prompt) => prompt] }, [`agent 'Assistant': description`]],
  [{ agents: [{ name: 'Clerk', description: described, run: () => '' }] }, []],
  [{ name: 'Shop', agents: [{ name: 'a'.repeat(41), description: described, run: () => '' }] },
    [`agent '${'a'.repeat(41)}': long-name`]],
  [{ groups: [{ name: 'Desk', agents: [{ name: 'Clerk', description: described, run: () => '' }] }] }, []],
  [{ name: 'Shop', prompts: [{ name: 'praise', get: () => '' }] },
    [`prompt 'praise': description`, `prompt 'praise': title`]],
  [{ name: 'Shop', prompts: [{
    name: 'praise', title: 'Praise', description: 'Praises an article.', arguments: [{ name: 'article' }],
    get: () => '',
  }] }, [`prompt 'praise', argument 'article': argument-description`]],
  [{ name: 'Shop', resources: [{ uri: 'shop://hours', name: 'hours', read: () => '' }] },
    [`resource 'shop://hours': description`]],
  [{ name: 'Shop', resources: [{ uri: 'skill://pay/mail.md', name: 'mail.md', read: () => '' }] }, []],
  [{ name: 'Shop', resourceTemplates: [{ uriTemplate: 'shop://{day}', name: 'day', read: () => '' }] },
    [`resource 'shop://{day}': description`]],
]

test('what concerns the whole server, agents, prompts and resources is found', () => {
  for (const [options, found] of servers) {
    assert.deepEqual(findings(options).map(({ where, rule }) => `${where}: ${rule}`), found)
  }
})

test('an import that makes a host wait is found, and its time is named', () => {
  const options: ServerOptions = { name: 'Shop', tools: [tool] }
  assert.deepEqual(findings(options, 1_000), [])
  const [found] = findings(options, 1_500.4)
  assert.equal(found?.rule, 'slow-import')
  assert.match(found?.message ?? '', /^Its import takes 1500 ms, /)
})

const FINE = `export const name = 'Shop'
  console.log('noise')
  setInterval(() => {}, 1_000)
  export const tools = [{ name: 'add', title: 'Add', description: 'Adds two numbers.', run: () => 1 }]`
const WEAK = `export default (prompt) => prompt`
const WRONG = `export const name = 'Shop'
  export const tools = [{ name: 'a.b', title: 'Add', description: 'Adds two numbers.', run: () => 1 }]`

test('the example of the guide is served under its name, and nothing in it is to be mended', async (t) => {
  const [example] = programs.filter(({ document }) => document.endsWith('command.md'))
  const module = join(modules(t, { 'shop.mjs': example!.text }), 'shop.mjs')
  const checked = await runInThread(['check', module, '--strict'])
  assert.equal(checked.code, 0, checked.printed)
  const { url, said } = await serveInThread([module])
  assert.match(said, /^Shop 2\.0\.0 at /m)
  assert.equal((await fetch(`${url}/metrics`)).status, 200)
})

test('the exit code and the report say whether anything is wrong', async (t) => {
  const library = new URL('../../lib/index.js', import.meta.url).href
  const folder = modules(t, {
    'fine.mjs': FINE, 'weak.mjs': WEAK, 'wrong.mjs': WRONG, 'broken.mjs': `throw new Error('on purpose')`,
    'twins.mjs': `const tool = { name: 'a', run: () => 1 }\nexport const tools = [tool, { ...tool }]`,
    'made.mjs': `import { createServer } from '${library}'
      export default createServer({ agents: [(prompt) => prompt], log: false })`,
    'stuck.mjs': 'await new Promise(() => {})', 'port.mjs': `export const port = '80'; ${FINE}`,
    'quiet.mjs': `export const quiet = 'yes'; ${FINE}`,
    'theirs.mjs': `const run = () => ''\nexport const name = 'Shop'
      export const agent = { id: 'Theirs', version: 'agent-v1', generate: run, stream: run }`,
  })
  const rows: readonly (readonly [args: readonly string[], code: number, printed: RegExp])[] = [
    [['fine.mjs'], 0, /^\S*fine\.mjs: no errors, no warnings \(imported in \d+ ms\)\n$/],
    [['weak.mjs'], 0,
      /^warning  agent 'Assistant'\n {4}It has no description, .*\n\S+: no errors, 1 warning /],
    [['theirs.mjs'], 0, /^warning  agent 'Theirs'\n {4}It has no .* Write adapt\(agent, { name: .* }\)\.\n/],
    [['weak.mjs', '--strict'], 1, /: no errors, 1 warning /],
    [['made.mjs'], 0, /: no errors, 1 warning /],
    [['wrong.mjs'], 1, /^error {4}tool 'a\.b'\n {4}Its name has '\.'\. .*\n\S+: 1 error, no warnings /],
    [['broken.mjs'], 1, /^error {4}the module\n {4}Cannot load \S+broken\.mjs: on purpose\n/],
    [['gone.mjs'], 1, /Cannot load \S+gone\.mjs: there is no such file\n/],
    [['twins.mjs'], 1, /^error {4}the module\n {4}Two tools are named 'a'; rename one of them\n/],
    [['port.mjs'], 1, /^error {4}the module\n {4}port is "80"; write a whole number from 0 to 65535/],
    [['quiet.mjs'], 1, /^error {4}the module\n {4}quiet is "yes"; write true or false\n/],
    [['stuck.mjs'], 13, /^$/],
  ]
  const check = async (
    [[file = '', ...more], code, printed]: typeof rows[number], start: typeof runInThread,
  ): Promise<void> => {
    const checked = await start(['check', join(folder, file), ...more])
    assert.equal(checked.code, code, file)
    assert.match(checked.printed, printed)
  }
  for (const row of rows) if (row[1] !== 13) await check(row, runInThread)
  // The exit codes once more, of processes, and the one that only a process comes to.
  const first = (code: number): typeof rows[number] => rows.find((row) => row[1] === code)!
  await Promise.all([0, 1, 13].map((code) => check(first(code), (args) => runWhole(t, args))))
  for (const [file, ok] of [['fine.mjs', true], ['wrong.mjs', false], ['broken.mjs', false]] as const) {
    const module = join(folder, file)
    const checked = await runInThread(['check', '--json', module])
    assert.equal(checked.code, ok ? 0 : 1)
    const report = JSON.parse(checked.printed)
    assert.deepEqual({ ...report, importMs: 0, findings: 0 }, { module, ok, importMs: 0, findings: 0 })
    assert.equal(typeof report.importMs, 'number')
    assert.equal(report.findings.length, ok ? 0 : 1)
    for (const finding of report.findings) {
      assert.deepEqual(Object.keys(finding), ['level', 'rule', 'where', 'message'])
    }
  }
})
