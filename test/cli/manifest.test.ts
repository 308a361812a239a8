import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { compile } from '../../lib/kernel/schema/compile.ts'
import { runInThread, runWhole } from '../fixtures/command.ts'
import { modules } from '../fixtures/modules.ts'
import { registrySchemas } from '../fixtures/optional.ts'
import type { JsonSchema } from '../../lib/index.ts'
import type { Ended } from '../fixtures/command.ts'
import type { TestContext } from 'node:test'

const SHOP = `console.log('noise')
  setInterval(() => {}, 1_000)
  export const name = 'Shop'
  export const description = 'Sells apples.'
  export const tools = [{ name: 'add', description: 'Adds.', run: () => 3 }]`

const PACKAGE = {
  name: '@acme/shop', version: '1.2.0', mcpName: 'com.acme/shop', description: 'A shop.',
  bin: { shop: 'server.js', admin: 'admin.js' }, homepage: 'https://acme.example/shop',
  repository: { type: 'git', url: 'git+https://github.com/acme/shops.git', directory: 'apple' },
}

/** What the registry asks of the members that are written here. */
const url = { type: 'string', pattern: '^https://[^\\s]+$' }
const text = { type: 'string', minLength: 1, maxLength: 100 }
const closed = (properties: object, required = Object.keys(properties)): JsonSchema => (
  { type: 'object', properties, required, additionalProperties: false }
)
const secret = { isRequired: { const: true }, isSecret: { const: true } }
const header = closed({
  name: { const: 'Authorization' }, ...secret, value: { const: 'Bearer {key}' },
  variables: closed({ key: closed({ description: text, ...secret }) }),
})
const schema = closed({
  $schema: { const: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json' },
  name: { type: 'string', minLength: 3, maxLength: 200, pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$' },
  title: text, description: text, version: { type: 'string', maxLength: 255 }, websiteUrl: url,
  repository: closed({ url, source: { enum: ['github', 'gitlab'] }, subfolder: text }, ['url', 'source']),
  packages: {
    type: 'array', items: closed({
      registryType: { const: 'npm' }, identifier: text, version: text, runtimeHint: { const: 'npx' },
      transport: closed({ type: { const: 'stdio' } }),
      environmentVariables: { type: 'array', items: closed({ name: text, ...secret }) },
    }, ['registryType', 'identifier', 'version', 'transport']),
  },
  remotes: {
    type: 'array', items: closed({
      type: { const: 'streamable-http' }, url, headers: { type: 'array', items: header },
    }, ['type', 'url']),
  },
}, ['$schema', 'name', 'description', 'version'])

/** Runs the command in a folder with these files. */
function manifest(
  t: TestContext, files: Readonly<Record<string, string>>, ...args: readonly string[]
): Promise<Ended> {
  return runInThread(['manifest', ...args], {}, modules(t, files))
}

/** The document that it prints, which the registry would take. */
function documentIn({ code, printed, said }: Ended): Readonly<Record<string, unknown>> {
  assert.equal(code, 0, said)
  const document = JSON.parse(printed)
  assert.deepEqual(compile(schema)(document).errors, [])
  return document
}

const packed = (members: object = {}): string => JSON.stringify({ ...PACKAGE, ...members })

test('an npm package and an address are listed as the registry writes them', async (t) => {
  const files = { 'package.json': packed(), 'lib/shop.mjs': SHOP }
  const made = await runWhole(t, ['manifest', 'lib/shop.mjs', '--url', 'https://shop.acme.example', '--key',
    '--variables', 'SHOP_KEY,OPENAI_API_KEY'], {}, modules(t, files))
  const key = { description: 'The key of this server', isRequired: true, isSecret: true }
  assert.deepEqual(documentIn(made), {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: 'com.acme/shop', title: 'Shop', description: 'Sells apples.', version: '1.2.0',
    websiteUrl: 'https://acme.example/shop',
    repository: { url: 'https://github.com/acme/shops', source: 'github', subfolder: 'apple' },
    packages: [{
      registryType: 'npm', identifier: '@acme/shop', version: '1.2.0', runtimeHint: 'npx',
      transport: { type: 'stdio' },
      environmentVariables: [
        { name: 'SHOP_KEY', isRequired: true, isSecret: true },
        { name: 'OPENAI_API_KEY', isRequired: true, isSecret: true },
      ],
    }],
    remotes: [{
      type: 'streamable-http', url: 'https://shop.acme.example/mcp',
      headers: [{
        name: 'Authorization', isRequired: true, isSecret: true, value: 'Bearer {key}', variables: { key },
      }],
    }],
  })
  assert.match(made.said, /noise/)
})

test('the schema of the registry takes what is printed', { skip: registrySchemas.absent }, async (t) => {
  const official = JSON.parse(readFileSync(join(registrySchemas.folder, 'server.schema.json'), 'utf8'))
  const files = { 'package.json': packed(), 'shop.mjs': SHOP }
  const args = ['--url', 'https://acme.example', '--key', '--variables', 'A']
  const made = await manifest(t, files, 'shop.mjs', ...args)
  assert.deepEqual(compile(official)(documentIn(made)).errors, [])
  assert.notDeepEqual(compile(official)({ name: 'shop' }).errors, [])
})

test('without a module it says what package.json says; without a package what the module says', async (t) => {
  const own = documentIn(await manifest(t, {
    'package.json': packed({ bin: 'a.js', repository: 'acme/shop' }),
  }))
  assert.equal(own['description'], 'A shop.')
  assert.equal(own['title'], undefined)
  assert.deepEqual(own['repository'], { url: 'https://github.com/acme/shop', source: 'github' })
  assert.equal(own['remotes'], undefined)
  const shop = `${SHOP}\n export const version = '3.0.0', mountPath = '/a', apiKey = 'hidden'`
  const made = await manifest(t, { 'shop.mjs': shop, 'package.json': '{ "private": true }' }, 'shop.mjs',
    '--name', 'io.github.acme/shop', '--url', 'https://acme.example/')
  const served = documentIn(made)
  assert.equal(served['packages'], undefined)
  assert.equal(served['version'], '3.0.0')
  assert.match(JSON.stringify(served['remotes']), /"url":"https:\/\/acme\.example\/a\/mcp",.*Bearer \{key\}/)
  assert.doesNotMatch(made.printed, /hidden/)
})

test('a repository is named however package.json names it, where the registry knows its forge', async (t) => {
  const cases: readonly (readonly [written: unknown, url: string | undefined])[] = [
    ['gitlab:a/b', 'https://gitlab.com/a/b'],
    ['git@github.com:a/b.git', 'https://github.com/a/b'],
    [{ url: 'https://gitlab.com/a/team/b' }, 'https://gitlab.com/a/team/b'],
    [{ url: 'https://code.example/a/b' }, undefined],
  ]
  for (const [repository, expected] of cases) {
    const found = documentIn(await manifest(t, { 'package.json': packed({ repository }) }))['repository']
    assert.equal((found as { readonly url: string } | undefined)?.url, expected)
  }
})

const long = 'a'.repeat(101)
type Mistake = readonly [members: object | undefined, args: readonly string[], sentence: RegExp]

const mistakes: readonly Mistake[] = [
  [undefined, [], /^triport: The registry needs a name, as in io\.git.* in package\.json as "mcpN/],
  [undefined, ['--name', 'shop'], /^triport: "shop" is no name for the registry; .*, as --name\n$/],
  [{ mcpName: 7 }, [], /^triport: 7 is no name for the registry; .*, in package\.json as "mcpName"\n$/],
  [{}, ['--name', 'com.acme/other'], /^triport: --name com\.acme\/other and "mcpName" of .*, "com\.acme/],
  [{ private: true }, [], /^triport: .* Write --url .* "mcpName": "com\.acme\/shop" in .*, without/],
  [{ mcpName: undefined }, ['--name', 'com.acme/a'], /^triport: The registry needs to know .*"com\.acme\/a"/],
  [{ version: undefined }, [], /^triport: An npm package needs "name" and "version" in package\.json\n$/],
  [{ version: undefined, private: true }, ['--url', 'https://a.example'], /^triport: There is no version; /],
  [{ bin: undefined }, [], /^triport: Hosts start the package by npx.*"bin": \{ "shop": "server\.js" \}/],
  [{ bin: { a: 'a.js', b: 'b.js' } }, [], /^triport: Hosts start the package by npx/],
  [{ description: undefined }, [], /^triport: There is no description; write "description" in package\.json/],
  [{ description: long }, [], /^triport: The registry takes 100 characters, and .* has 101; /],
  [{}, ['--key'], /^triport: --key is for an address; write --url https:\/\/… too\n$/],
  [{}, ['--url', 'http://a.example'], /^triport: --url http:\/\/a\.example: the registry lists what /],
  [{}, ['--url', 'https://localhost:1/mcp'], /^triport: --url https:\/\/localhost/],
  [{}, ['--url', 'https://10.0.0.1/mcp'], /^triport: --url https:\/\/10\.0\.0\.1/],
  [{}, ['--url', 'shop'], /^triport: --url shop: the registry lists/],
  [{}, ['--variables', 'KEY=secret'], /^triport: --variables takes the names .* not their values\n$/],
  [{ private: true }, ['--variables', 'KEY'], /^triport: --variables is for an npm package, and/],
  [{}, ['a.mjs', 'b.mjs'], /^triport: manifest takes one module, not also b\.mjs\n$/],
]

for (const [members, args, sentence] of mistakes) {
  const given = `${JSON.stringify(members)?.slice(0, 40)} ${args.join(' ')}`
  test(`manifest says what is missing: ${given}`, async (t) => {
    const files = members === undefined ? { 'a.txt': '' } : { 'package.json': packed(members) }
    const { code, printed, said } = await manifest(t, files, ...args)
    assert.match(said, sentence)
    assert.notEqual(code, 0)
    assert.equal(printed, '')
  })
}
