/**
 * The descriptions of several servers, judged by the linters that people run on OpenAPI, and made into types
 * that compile. Skips itself, and says so, where they are not installed.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { missing } from './start.mjs'

const skip = missing('@redocly/cli', '@stoplight/spectral-cli', 'openapi-typescript', 'typescript')
if (skip) console.log(`openapi: skipped: ${skip}`)

const { createServer } = skip ? {} : await import('../../dist/index.js')
const here = fileURLToPath(new URL('.', import.meta.url))

const writer = { name: 'The Writer', description: 'Writes.', run: (prompt) => prompt }
const critic = { name: 'Critic', run: (prompt) => prompt }
const tools = [
  {
    name: 'stock.of', title: 'Stock', description: 'Counts.', scopes: ['stock'], run: () => ({ n: 3 }),
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', required: ['article'],
      properties: { article: { $ref: '#/$defs/article' }, count: { type: ['integer', 'null'], default: 1 } },
      $defs: { article: { enum: ['apple', 'pear'] } },
    },
    outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  },
  {
    name: 'odd-name_x', run: () => '',
    inputSchema: {
      type: 'object', required: ['fruit'],
      properties: { fruit: { enum: ['apple', 'pear'] }, count: { type: 'integer', default: 1 } },
    },
  },
]
const things = {
  resources: [{ uri: 'shop://hours', name: 'hours', mimeType: 'text/plain', read: () => '9 to 5' }],
  prompts: [{ name: 'praise', arguments: [{ name: 'article', required: true }], get: () => 'Hi' }],
}
const auth = {
  resource: 'https://agents.example/mcp', authorizationServers: ['https://login.example'], scopes: ['a'],
  verify: () => undefined,
}
const apiKey = [{ key: 'k', id: 'owner', scopes: ['stock'] }]
const a2a = { tenants: ['acme'], pushNotifications: true, extendedCard: { skills: [] } }

const servers = {
  agent: { agents: [writer], protocol: 'http' },
  group: { groups: [{ name: 'Desk', agents: [writer, critic] }], path: '/ask', protocol: 'http' },
  tools: { tools, protocol: 'all' },
  mcp: { tools, ...things, protocol: 'mcp' },
  a2a: { agents: [writer, critic], protocol: 'a2a', apiKey, a2a },
  tokens: { agents: [writer], tools, protocol: 'all', apiKey, auth, mountPath: '/team' },
  everything: { agents: [writer], tools, ...things, protocol: 'all', apiKey, metrics: true },
}

let folder
let files = []
before(async () => {
  if (skip) return
  folder = mkdtempSync(join(tmpdir(), 'triport-openapi-'))
  for (const [name, options] of Object.entries(servers)) {
    const server = createServer({ log: false, ...options })
    const url = `http://localhost${options.mountPath ?? ''}/openapi.json`
    const response = await server.fetch(new Request(url, { headers: { 'x-api-key': 'k' } }))
    assert.equal(response.status, 200)
    writeFileSync(join(folder, `${name}.json`), await response.text())
    await server.close()
  }
  files = readdirSync(folder).map((name) => join(folder, name))
})
after(() => folder && rmSync(folder, { recursive: true }))

/** Runs the command of a package; what it printed, and whether it was content. */
function run(path, ...words) {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  return new Promise((resolve) => {
    execFile(process.execPath, [join(here, 'node_modules', path), ...words], { cwd: folder, env }, (
      error, stdout, stderr,
    ) => resolve({ code: error?.code ?? 0, said: stdout + stderr }))
  })
}

const options = { skip, timeout: 240_000 }

test('openapi: Redocly finds no errors', options, async () => {
  const { code, said } = await run('@redocly/cli/bin/cli.js', 'lint', ...files, '--format=stylish')
  assert.equal(code, 0, said)
})

test('openapi: Spectral finds no errors', options, async () => {
  const ruleset = join(folder, 'ruleset.yaml')
  writeFileSync(ruleset, 'extends: ["spectral:oas"]\n')
  const { code, said } = await run(
    '@stoplight/spectral-cli/dist/index.js', 'lint', '-r', ruleset, ...files, '-F', 'error', '-D',
  )
  assert.equal(code, 0, said)
})

test('openapi: types are made of it, and compile', options, async () => {
  const types = []
  for (const file of files) {
    types.push(file.replace(/json$/, 'ts'))
    const { code, said } = await run(
      'openapi-typescript/bin/cli.js', file, '-o', types.at(-1), '--default-non-nullable=false',
    )
    assert.equal(code, 0, said)
  }
  const use = join(folder, 'use.ts')
  writeFileSync(use, `
    import type { operations, paths } from './everything.ts'
    type Arguments = operations['call.stock.of']['requestBody']['content']['application/json']
    type Result = operations['call.stock.of']['responses']['200']['content']['application/json']['result']
    export const right: Arguments = { article: 'pear' }
    // @ts-expect-error: there are no plums
    export const wrong: Arguments = { article: 'plum' }
    export const result: Result = { n: 3 }
    export type Reply = paths['/']['post']['responses']['200']['content']['application/json']
    export const said = (reply: Reply): string => reply.response
    export type Problem = paths['/']['post']['responses']['422']['content']['application/problem+json']
    export const errors = (problem: Problem): number => problem.errors?.length ?? 0
  `)
  const flags = ['--noEmit', '--strict', '--allowImportingTsExtensions', '--module', 'esnext']
  const { code, said } = await run(
    'typescript/bin/tsc', ...flags, '--moduleResolution', 'bundler', use, ...types,
  )
  assert.equal(code, 0, said)
})
