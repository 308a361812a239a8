import assert from 'node:assert/strict'
import test from 'node:test'
import { jsonOf, request, serve } from '../fixtures/client.ts'
import type { ServerOptions, TriportServer } from '../../lib/index.ts'
import type { Scope } from '../fixtures/client.ts'

const skills: ServerOptions['skills'] = [
  {
    name: 'refunds', description: 'Refunds.', instructions: 'Ask.',
    files: { 'docs/mail.md': 'Dear …', 'b.bin': new Uint8Array([0, 1]), 'page.html': '<script>a()</script>' },
  },
  { name: 'secret', description: 'Secret.', instructions: 'Hush.', scopes: ['pay'] },
]

function shop(t: Scope, more: ServerOptions = {}): TriportServer {
  return serve(t, {
    agents: [{ name: 'Clerk', run: () => 'Hello.' }], protocol: 'all', skills,
    apiKey: [{ id: 'in', key: 'in', scopes: ['pay'] }, { id: 'out', key: 'out' }], ...more,
  })
}

function get(server: TriportServer, path: string, key = 'out'): Promise<Response> {
  return server.fetch(request(path, undefined, { 'X-API-Key': key }, 'GET'))
}

interface Shown { readonly name: string, readonly path: string, readonly resources: readonly object[] }

test('skills are listed, each is described, and its files are read', async (t) => {
  const server = shop(t)
  const { skills: [first, ...more] } = await jsonOf(await get(server, '/skills')) as {
    readonly skills: readonly Shown[],
  }
  assert.deepEqual([first?.name, first?.path, first?.resources.length, more.length], [
    'refunds', '/skills/refunds', 4, 0,
  ])
  assert.deepEqual(await jsonOf(await get(server, '/skills/refunds')), first)
  const file = await get(server, '/skills/refunds/docs/mail.md')
  assert.deepEqual([file.status, file.headers.get('content-type'), await file.text()], [
    200, 'text/markdown; charset=utf-8', 'Dear …',
  ])
  assert.match(await (await get(server, '/skills/refunds/SKILL.md')).text(), /^---\nname: "refunds"\n/)
  const bytes = await get(server, '/skills/refunds/b.bin')
  assert.deepEqual(new Uint8Array(await bytes.arrayBuffer()), new Uint8Array([0, 1]))
  const page = await get(server, '/skills/refunds/page.html')
  assert.equal(page.headers.get('content-security-policy'), `default-src 'none'; sandbox`)
})

test('what is not there is 404, and what needs a scope is not shown without it', async (t) => {
  const server = shop(t)
  const away = [
    '/skills/nope', '/skills/refunds/nope.md', '/skills/refunds/docs', '/skills/refunds/',
    '/skills/refunds//b.bin', '/skills/refunds/docs/%252e%252e/b.bin', '/skills/__proto__',
  ]
  for (const path of away) assert.equal((await get(server, path)).status, 404, path)
  for (const path of ['/skills/secret', '/skills/secret/SKILL.md']) {
    assert.deepEqual([(await get(server, path)).status, (await get(server, path, 'in')).status], [403, 200])
  }
  const { skills: all } = await jsonOf(await get(server, '/skills', 'in')) as {
    readonly skills: readonly Shown[],
  }
  assert.deepEqual(all.map(({ name }) => name), ['refunds', 'secret'])
})

test('in the path of a skill _ may stand for each -, and its scopes hold', async (t) => {
  const files = { 'docs/a-b_c.md': 'Dear …' }
  const skill = { name: 'money-back', description: 'Gives money back.', instructions: 'Ask.', files }
  const server = shop(t, { skills: [skill, { ...skill, name: 'top-secret', scopes: ['staff'] }] })
  for (const path of ['', '/SKILL.md', '/docs/a-b_c.md']) {
    const plain = await (await get(server, `/skills/money-back${path}`)).text()
    const other = await get(server, `/skills/money_back${path}`)
    assert.deepEqual([other.status, await other.text()], [200, plain], path)
    assert.equal((await get(server, `/skills/top_secret${path}`)).status, 403, path)
  }
  assert.equal((await get(server, '/skills/money_back/docs/a_b_c.md')).status, 404)
})

test('the description of the server and the root lists them where there are any', async (t) => {
  const paths = async (server: TriportServer): Promise<readonly string[]> => (
    Object.keys((await jsonOf(await get(server, '/openapi.json')) as { readonly paths: object }).paths)
      .filter((path) => path.startsWith('/skills'))
  )
  assert.deepEqual(await paths(shop(t)), ['/skills', '/skills/refunds', '/skills/refunds/{file}'])
  assert.deepEqual(await paths(shop(t, { skills: undefined })), [])
})

test('the card of the main agent has them as skills', async (t) => {
  const card = await jsonOf(await get(shop(t), '/.well-known/agent-card.json')) as {
    readonly skills: readonly { readonly id: string, readonly name: string, readonly tags: unknown }[],
  }
  const { id, name, tags } = card.skills.at(-1)!
  assert.deepEqual([id, name, tags], ['refunds', 'refunds', ['skill']])
})

test('skills alone are an MCP server', (t) => {
  assert.deepEqual(serve(t, { skills }).protocols, ['mcp'])
  assert.throws(() => serve(t, { skills: [] }), { message: /^There is nothing to serve/ })
})

test('/llms.txt names the skills that a caller may use, with the address of what they say', async (t) => {
  const text = await (await get(shop(t), '/llms.txt')).text()
  assert.match(text, /\n## Skills\n\n- \[refunds\]\(http:\S+\/skills\/refunds\/SKILL\.md\): Refunds\.\n\n## /)
  const plain = await (await get(shop(t, { protocol: 'mcp', agents: [] }), '/llms.txt')).text()
  assert.match(plain, /\n## Skills\n\n- \[refunds\]\(http:\S+\/mcp\): Refunds\.\n/)
})
