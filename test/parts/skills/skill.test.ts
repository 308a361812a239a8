import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { defineSkills } from '../../../lib/parts/skills/skill.ts'
import { onSource } from '../../../lib/floors/files/source-files.ts'
import type { TestContext } from 'node:test'
import type { Call } from '../../../lib/index.ts'
import type { SkillsInput } from '../../../lib/parts/skills/skill.ts'

/** A folder with files, by their paths. */
function folderOf(t: TestContext, files: Readonly<Record<string, string | Buffer>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'skills-'))
  t.after(() => { rmSync(folder, { recursive: true }) })
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

function manifest(name: string, more = ''): string {
  return `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\nDo it.\n`
}

function digestOf(content: string | Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

test('each folder with a SKILL.md is a skill, with the digest and the size of each file', (t) => {
  const png = Buffer.from([137, 80, 78, 71, 0, 1])
  const folder = folderOf(t, {
    'README.md': 'Of no skill.', 'greet/SKILL.md': manifest('greet', 'license: MIT\n'),
    'greet/.hidden': 'a', 'billing/refunds/a.png': png, 'billing/refunds/SKILL.md': manifest('refunds'),
    'billing/refunds/docs/größe 1.md': 'é',
  })
  for (const given of [folder, pathToFileURL(folder), [folder]]) {
    const { skills, files } = defineSkills(given)
    assert.deepEqual(skills.map(({ path, uri, frontmatter }) => [path, uri, frontmatter]), [
      ['billing/refunds', 'skill://billing/refunds/SKILL.md', {
        name: 'refunds', description: 'Does refunds.',
      }],
      ['greet', 'skill://greet/SKILL.md', { name: 'greet', description: 'Does greet.', license: 'MIT' }],
    ])
    assert.deepEqual(skills[0]?.resources, [
      {
        uri: 'skill://billing/refunds/SKILL.md', digest: digestOf(manifest('refunds')),
        size: manifest('refunds').length,
      },
      { uri: 'skill://billing/refunds/a.png', digest: digestOf(png), size: 6 },
      { uri: 'skill://billing/refunds/docs/gr%C3%B6%C3%9Fe%201.md', digest: digestOf('é'), size: 2 },
    ])
    const shown = [...files.values()].map((one) => [one.name, one.mimeType, one.size, one.read({} as Call)])
    assert.deepEqual(shown, [
      ['refunds', 'text/markdown', 56, manifest('refunds')], ['a.png', 'image/png', 6, png],
      ['größe 1.md', 'text/markdown', 2, 'é'],
      ['greet', 'text/markdown', 65, manifest('greet', 'license: MIT\n')],
    ])
  }
})

test('a folder may be a skill itself, and a skill may hold another, whose files are its own too', (t) => {
  const outer = folderOf(t, {
    'outer/SKILL.md': manifest('outer'), 'outer/inner/SKILL.md': manifest('inner'), 'outer/inner/a.txt': 'a',
  })
  const { skills, files } = defineSkills(join(outer, 'outer'))
  assert.deepEqual(skills.map(({ path, resources }) => [path, resources.map(({ uri }) => uri)]), [
    ['outer', [
      'skill://outer/SKILL.md', 'skill://outer/inner/SKILL.md', 'skill://outer/inner/a.txt',
    ]],
    ['outer/inner', ['skill://outer/inner/SKILL.md', 'skill://outer/inner/a.txt']],
  ])
  assert.deepEqual([...files.values()].map(({ name, description }) => [name, description]), [
    ['outer', 'Does outer.'], ['inner', 'Does inner.'], ['a.txt', undefined],
  ])
})

test('a skill may be written in the program', () => {
  const { skills: [skill], files } = defineSkills([{
    name: 'refunds', description: 'Says "no": always.', instructions: '# No', license: 'MIT',
    metadata: { version: '1.0', 'a b/c': 'é\u2028', yes: '' },
    files: { 'a/b.md': 'B', 'c.bin': new Uint8Array([0, 1]) },
    scopes: ['pay'],
  }])
  assert.deepEqual(skill?.frontmatter, {
    name: 'refunds', description: 'Says "no": always.', license: 'MIT',
    metadata: { version: '1.0', 'a b/c': 'é\u2028', yes: '' },
  })
  assert.deepEqual([...files.keys()], ['refunds/SKILL.md', 'refunds/a/b.md', 'refunds/c.bin'])
  assert.deepEqual([...files.values()].map(({ scopes }) => scopes), [['pay'], ['pay'], ['pay']])
  const text = String(files.get('refunds/SKILL.md')?.read({} as Call))
  assert.match(text, /^---\nname: "refunds"\n[^]*\n---\n\n# No\n$/)
  assert.deepEqual(defineSkills([]), { skills: [], files: new Map(), folders: new Map() })
})

test('links lead nowhere else', (t) => {
  const outside = folderOf(t, { 'secret.md': 'secret' })
  const files = { 'a/SKILL.md': manifest('a'), 'a/b.md': 'b' }
  const within = folderOf(t, files)
  symlinkSync(join(within, 'a/b.md'), join(within, 'a/c.md'))
  const link = join(outside, 'link')
  symlinkSync(within, link)
  assert.equal(defineSkills(link).skills[0]?.resources.length, 3)
  for (const [target, message] of [
    [join(outside, 'secret.md'), /is a link that leads out of the folder: .*; put a copy in its place/],
    [outside, /is a link that leads out of the folder/],
    ['../../..', /is a link that leads out of the folder/],
    ['.', /is no file: .*; put a copy in its place/],
    ['nowhere', /is a link to nothing: .*; mend it/],
  ] as const) {
    const folder = folderOf(t, files)
    symlinkSync(target, join(folder, 'a/x.md'))
    assert.throws(() => defineSkills(folder), { name: 'TypeError', message }, target)
  }
})

test('each mistake is named, with how to mend it', (t) => {
  const large = folderOf(t, { 'a/SKILL.md': manifest('a'), 'a/b.bin': '' })
  truncateSync(join(large, 'a/b.bin'), 16 * 1024 * 1024)
  const many = Object.fromEntries(Array.from({ length: 512 }, (_, at) => [`a/${at}.md`, '']))
  const fine = { name: 'a', description: 'A.', instructions: 'A.' }
  const inFolder = (files: Readonly<Record<string, string | Buffer>>): string => folderOf(t, files)
  const rows: readonly (readonly [given: unknown, message: RegExp])[] = [
    ['./nowhere', /^The folder of skills is not there: .*nowhere\. A relative path begins at the working/],
    [join(large, 'a/SKILL.md'), /^The folder of skills is a file: .*; name the folder that holds the skills/],
    [inFolder({ 'a.md': '' }), /^The folder of skills has no SKILL\.md in it: .*; write one in a folder/],
    [inFolder({ [`${'a/'.repeat(17)}b.md`]: '' }), /goes deeper than 16 levels: .*; move it up/],
    [inFolder({ 'a/SKILL.md': manifest('a'), 'a/\u007f': '' }), /name that no address can hold: .*; rename/],
    [inFolder({ 'a/SKILL.md': 'A' }), /a\/SKILL\.md, line 1: it does not begin with front/],
    [inFolder({ 'a/SKILL.md': '---\nname: a\nb\n---' }), /a\/SKILL\.md, line 3: it is no member/],
    [inFolder({ 'a/SKILL.md': manifest('b') }), /has the name 'b', and its folder is 'a'; give/],
    [inFolder({ 'A/SKILL.md': manifest('A') }), /has the name "A"; write 1 to 64 of a-z, 0-9 and -/],
    [inFolder({ 'a/SKILL.md': '---\nname: a\n---' }), /has the description undefined; write 1 to/],
    [inFolder({ 'a/SKILL.md': Buffer.from([0xff]) }), /a\/SKILL\.md is no UTF-8; save it as UTF-8/],
    [inFolder({ 'My Skills/a/SKILL.md': manifest('a') }), /lies in a folder "My Skills", which is/],
    [large, /has 2 files of 16777260 bytes, and hosts may refuse more than 512, or 16777216/],
    [inFolder({ ...many, 'a/SKILL.md': manifest('a') }), /has 513 files of/],
    [[fine, fine], /^Two skills are at 'a'; rename one of them$/],
    [[inFolder({ 'a/SKILL.md': manifest('a') }), inFolder({ 'a/b/SKILL.md': manifest('b') })],
      /^The skill 'a' has a skill of another folder in it; move one of them$/],
    [1, /^skills is 1; write a folder, '\.\/skills', or a list of folders and of/],
    [[{}], /^A skill needs 'name'/],
    [[{ ...fine, name: 'a--b' }], /has the name "a--b"; write 1 to 64/],
    [[{ ...fine, description: ' ' }], /has the description " "; write 1 to 1024/],
    [[{ ...fine, description: 'a'.repeat(1025) }], /has a description of 1025 char/],
    [[{ ...fine, instructions: undefined }], /^The skill 'a' needs 'instructions'/],
    [[{ ...fine, body: '' }], /^The skill 'a' .*'body'/],
    [[{ ...fine, metadata: { a: 1 } }], /has metadata an object; write texts by name/],
    [[{ ...fine, metadata: { 'a"b': '' } }], /has metadata an object; .* without quotes and line ends/],
    [[{ ...fine, files: { b: '', 'b/c/d': '' } }], /has a file 'b\/c\/d' below another file; rename one/],
    [[{ ...fine, files: { '../b': '' } }], /has a file "..\/b"; write a path below its folder/],
    [[{ ...fine, files: { '/b': '' } }], /has a file "\/b"; write a path below/],
    [[{ ...fine, files: { 'SKILL.md': '' } }], /has a file "SKILL.md"; write a path below/],
    [[{ ...fine, files: { b: 1 } }], /has in its file 'b' 1; write a text or bytes/],
    [[{ ...fine, compatibility: 'a'.repeat(501) }], /has a compatibility that is no text of at/],
    [[{ ...fine, files: { b: new Uint8Array(16 * 1024 * 1024) } }], /has more than 512 files or/],
  ]
  for (const [given, message] of rows) {
    assert.throws(() => defineSkills(given as SkillsInput), { name: 'TypeError', message }, String(message))
  }
})

test('all skills together are bounded, as they are held in memory', () => {
  const files = { a: new Uint8Array(15 * 1024 * 1024) }
  const names = ['a', 'b', 'c', 'd', 'e']
  const skills = names.map((name) => ({ name, description: 'A.', instructions: 'A.', files }))
  assert.equal(defineSkills(skills.slice(1)).skills.length, 4)
  assert.throws(() => defineSkills(skills), { message: /^The skills have more than 67108864 bytes together/ })
})

test('all that is read can be watched, and folders for files that are added', (t) => {
  const folder = folderOf(t, { 'a/SKILL.md': manifest('a'), 'a/b/c.md': 'c' })
  const noted = new Set<string>()
  onSource((path) => { noted.add(path) })
  defineSkills(folder)
  onSource(() => {})
  const paths = ['', 'a', 'a/SKILL.md', 'a/b', 'a/b/c.md']
  for (const path of paths) assert.ok(noted.has(join(folder, path)), path)
})
