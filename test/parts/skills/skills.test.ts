/** Skills. Spec: https://modelcontextprotocol.io/seps/2640-skills-extension */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { allRevisions, ask, begin, serveMcp } from '../mcp/client.ts'
import type { TriportServer } from '../../../lib/index.ts'
import type { Scope } from '../../fixtures/client.ts'
import type { Json } from '../../fixtures/events.ts'

const SKILLS = 'io.modelcontextprotocol/skills'
const newer = ['2025-11-25', '2026-07-28']
const uri = 'skill://refunds/SKILL.md'

function shop(t: Scope, more: object = {}): TriportServer {
  return serveMcp(t, {
    skills: [
      {
        name: 'refunds', description: 'Refunds.', instructions: 'Ask.',
        files: { 'docs/mail.md': 'Dear …', 'docs/more/b.bin': new Uint8Array([0, 1]), 'a.txt': 'A' },
      },
      { name: 'greet', description: 'Greets.', instructions: 'Hello.' },
    ], ...more,
  })
}

/** The whole answer to a request of one revision. */
async function answer(
  server: TriportServer, revision: string, method: string, params: object,
): Promise<Json> {
  if (revision === '2026-07-28') return ask(server, method, params as Json)
  return (await begin(server, revision)).ask(method, params)
}

test('skills are listed with their files, and one is got by its address', async (t) => {
  const server = shop(t)
  for (const revision of newer) {
    const { result } = await answer(server, revision, 'skills/list', {})
    assert.deepEqual(result.skills.map((one: Json) => one.uri), [uri, 'skill://greet/SKILL.md'])
    const [entry] = result.skills
    assert.deepEqual(entry.frontmatter, { name: 'refunds', description: 'Refunds.' })
    assert.deepEqual(entry.resources.map((one: Json) => one.uri), [
      uri, 'skill://refunds/docs/mail.md', 'skill://refunds/docs/more/b.bin', 'skill://refunds/a.txt',
    ])
    for (const { uri: file, digest, size } of entry.resources) {
      const read = await answer(server, revision, 'resources/read', { uri: file })
      const [{ text, blob }] = read.result.contents
      const bytes = blob === undefined ? Buffer.from(text) : Buffer.from(blob, 'base64')
      const hash = createHash('sha256').update(bytes).digest('hex')
      assert.deepEqual([digest, size], [`sha256:${hash}`, bytes.length], file)
    }
    const got = (await answer(server, revision, 'skills/get', { uri })).result
    assert.deepEqual(got.skill, entry)
    const hints = revision === '2026-07-28' ? [0, 'private'] : [undefined, undefined]
    assert.deepEqual([result.ttlMs, result.cacheScope], hints)
    assert.deepEqual([got.ttlMs, got.cacheScope, got.nextCursor], [...hints, undefined])
  }
})

test('a SKILL.md is a resource with the name and the description of its skill', async (t) => {
  const { resources } = (await ask(shop(t), 'resources/list')).result
  assert.deepEqual(resources.slice(0, 2), [
    { uri, name: 'refunds', description: 'Refunds.', mimeType: 'text/markdown', size: 54 },
    { uri: 'skill://refunds/docs/mail.md', name: 'mail.md', mimeType: 'text/markdown', size: 8 },
  ])
})

test('an empty folder of the disk is one too', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'skills-'))
  t.after(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'mail/out/sent'), { recursive: true })
  mkdirSync(join(root, 'elsewhere'))
  writeFileSync(join(root, 'mail/SKILL.md'), '---\nname: mail\ndescription: Mails.\n---\n')
  const server = serveMcp(t, { skills: root })
  for (const [folder, uris] of [
    ['skill://mail', ['skill://mail/SKILL.md', 'skill://mail/out']],
    ['skill://mail/out', ['skill://mail/out/sent']], ['skill://mail/out/sent', []],
  ] as const) {
    const { result } = await ask(server, 'resources/directory/read', { uri: folder })
    assert.deepEqual(result.resources.map((one: Json) => one.uri), uris, folder)
  }
  const outside = await ask(server, 'resources/directory/read', { uri: 'skill://elsewhere' })
  assert.equal(outside.error.code, -32602)
})

test('a folder lists what lies in it, page by page', async (t) => {
  const server = shop(t, { mcp: { pageSize: 2 } })
  const children = async (folder: string, cursor?: string): Promise<Json> => {
    const { result } = await ask(server, 'resources/directory/read', { uri: folder, cursor } as Json)
    return { ...result, uris: result.resources.map((one: Json) => [one.uri, one.name, one.mimeType]) }
  }
  const first = await children('skill://refunds')
  assert.deepEqual(first.uris, [
    [uri, 'refunds', 'text/markdown'], ['skill://refunds/docs', 'docs', 'inode/directory'],
  ])
  const second = await children('skill://refunds', first.nextCursor)
  assert.deepEqual(second.uris, [['skill://refunds/a.txt', 'a.txt', 'text/plain']])
  assert.equal(second.nextCursor, undefined)
  assert.deepEqual((await children('skill://refunds/docs')).uris, [
    ['skill://refunds/docs/mail.md', 'mail.md', 'text/markdown'],
    ['skill://refunds/docs/more', 'more', 'inode/directory'],
  ])
})

test('what is no skill and what is no folder is -32602', async (t) => {
  const server = shop(t)
  for (const revision of newer) {
    for (const [method, params, message] of [
      ['skills/get', { uri: 'skill://nope/SKILL.md' }, /^No skill is served at skill:\/\/nope\/SKILL\.md;/],
      ['skills/get', { uri: 'skill://refunds/a.txt' }, /^No skill is served at/],
      ['skills/get', {}, /^params\.uri must be a string$/],
      ['resources/directory/read', { uri }, /^skill:\/\/refunds\/SKILL\.md is no folder of a skill here$/],
      ['resources/directory/read', { uri: 'skill://nope' }, /is no folder/],
      ['resources/directory/read', { uri: 'skill:/' }, /is no folder/],
      ['resources/directory/read', { uri: 'skill://refunds/..' }, /is no folder/],
      ['resources/directory/read', {}, /^params\.uri must be a string$/],
    ] as const) {
      const { error } = await answer(server, revision, method, params)
      assert.equal(error.code, -32602, method)
      assert.match(error.data.detail, message)
    }
  }
  for (const away of ['skill://refunds/../../secret', 'skill://refunds/%2e%2e/secret', 'skill://refunds']) {
    assert.equal((await ask(server, 'resources/read', { uri: away })).error.code, -32602, away)
  }
})

test('the extension is declared where there are skills, in the revisions that have it', async (t) => {
  const server = shop(t)
  const { capabilities } = (await ask(server, 'server/discover')).result
  assert.deepEqual(capabilities.extensions, { [SKILLS]: { directoryRead: true } })
  assert.ok(capabilities.resources)
  for (const revision of allRevisions.slice(0, 4)) {
    const { opened } = await begin(server, revision)
    const declared = revision === '2025-11-25' ? { [SKILLS]: { directoryRead: true } } : undefined
    assert.deepEqual(opened.capabilities.extensions, declared, revision)
    const { error } = await answer(server, revision, 'skills/list', {})
    assert.equal(error?.code, revision === '2025-11-25' ? undefined : -32601, revision)
  }
  const plain = serveMcp(t, { tools: [{ name: 'a', run: () => '' }] })
  assert.equal((await ask(plain, 'server/discover')).result.capabilities.extensions, undefined)
  assert.equal((await ask(plain, 'skills/list')).error.code, -32601)
  assert.equal((await ask(plain, 'resources/directory/read', { uri })).error.code, -32601)
})

test('a skill with scopes is only for those who have them', async (t) => {
  const server = serveMcp(t, {
    apiKey: [{ id: 'in', key: 'in', scopes: ['pay'] }, { id: 'out', key: 'out' }],
    skills: [{ name: 'refunds', description: 'R.', instructions: 'A.', scopes: ['pay'] }],
  })
  const asked = async (key: string, method: string, params: Json = {}): Promise<Json> => (
    ask(server, method, params, { headers: { 'X-API-Key': key } })
  )
  assert.equal((await asked('in', 'skills/list')).result.skills.length, 1)
  assert.equal((await asked('in', 'skills/get', { uri })).result.skill.uri, uri)
  const folder = { uri: 'skill://refunds' }
  assert.equal((await asked('in', 'resources/directory/read', folder)).result.resources.length, 1)
  assert.deepEqual((await asked('out', 'skills/list')).result.skills, [])
  assert.equal((await asked('out', 'skills/get', { uri })).error.code, -32602)
  assert.equal((await asked('out', 'resources/directory/read', folder)).error.code, -32602)
})
