import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import * as triport from '../lib/index.ts'
import type { TestContext } from 'node:test'

type Texts = Readonly<Record<string, string>>
type Entries = Readonly<Record<string, Readonly<Record<string, readonly string[] | undefined>>>>
type Pack = (
  read: (path: string) => string, entries: Entries,
  options?: {
    readonly isOpen?: boolean
    readonly running?: ReadonlyMap<string, ReadonlySet<string>>
    placeOf?(path: string, isEarly: boolean): string
  },
) => ReadonlyMap<string, string>

const { pack }: { readonly pack: Pack } = await import(pathToFileURL('.build/pack.js').href)

function packed(texts: Texts, isOpen = false, running = new Map<string, ReadonlySet<string>>()): Texts {
  const read = (path: string): string => texts[path] ?? assert.fail(`${path} is read, and is not there`)
  const paths = ['index.js', 'cli.js'].filter((path) => path in texts)
  const entries = Object.fromEntries(paths.map((path) => [path, { [path]: undefined }]))
  return Object.fromEntries(pack(read, entries, {
    isOpen, running, placeOf: (path, isEarly) => path in entries ? path : isEarly ? 'all.js' : 'all.later.js',
  }))
}

function folderOf(t: TestContext, texts: Texts): string {
  const folder = mkdtempSync(join(tmpdir(), 'triport-pack-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [path, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...texts })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

/** What a program tells, or else exports, in a thread of its own that began with `path`. */
async function outcome(folder: string, path: string): Promise<string> {
  const script = `import(process.argv[2])
    .then(async (all) => console.log(JSON.stringify(await all.told?.() ?? all)))`
  const { stdout, stderr } = new Worker(script, {
    eval: true, argv: [pathToFileURL(join(folder, path)).href], stdout: true, stderr: true,
  })
  return (await Promise.all([text(stdout), text(stderr)])).join('')
}

/** Texts without the spaces that begin their lines here. */
function flat(texts: Texts): Texts {
  return Object.fromEntries(Object.entries(texts).map(([path, text]) => [path, text.replace(/^\s+/gm, '')]))
}

/** What each program begins with, tells in the end, and keeps in between. */
const head = `import { log } from './log.js';\n`
const end = '\nexport function told() { return log; }\n'
const log = { 'log.js': 'export const log = [];\n' }

const programs: readonly (readonly [behaviour: string, texts: Texts])[] = [
  ['modules run in the order of their imports, each once', {
    ...log,
    'index.js': `
      import { b } from './b.js';
      import { a } from './a.js';
      ${head}log.push('index', a, b);${end}`,
    'a.js': `
      ${head}import { c } from './c.js';
      log.push('a');
      export const a = c + 1;`,
    'b.js': `
      ${head}import { c } from './c.js';
      log.push('b');
      export const b = c + 2;`,
    'c.js': `${head}log.push('c');\nexport const c = 1;`,
  }],
  ['private names of two modules may be alike, and like what a third exports', {
    ...log,
    'index.js': `
      ${head}import { one } from './one.js';
      import { two } from './two.js';
      import { limit } from './three.js';
      log.push(one(), two(), limit);${end}`,
    'one.js': `
      const limit = 1;
      function get() { return limit; }
      export function one() { return get(); }`,
    'two.js': `
      const limit = 2;
      function get() { return limit; }
      export function two() { return get(); }`,
    'three.js': 'export const limit = 3;',
  }],
  ['names change by as, on either side, and pass through', {
    ...log,
    'index.js': `
      ${head}import { plus as add, E } from './through.js';
      import { E as again } from './e.js';
      log.push(add(1, 2), E === again, new E().name);${end}`,
    'through.js': `export { plus } from './sum.js';\nexport { E } from './e.js';`,
    'sum.js': 'function sum(a, b) { return a + b; }\nexport { sum as plus };',
    'e.js': 'export class E { name = E.name; }',
  }],
  ['a namespace has its names in order', {
    ...log,
    'index.js': `
      ${head}import * as rules from './rules.js';
      log.push(Object.keys(rules), { ...rules });${end}`,
    'rules.js': `
      const enumeration = 1;
      export const b = 2;
      export const a = 3;
      export { enumeration as enum, b as B };`,
  }],
  ['private names that are taken elsewhere are other names, and what else is called so is not', {
    ...log,
    'index.js': `
      ${head}import { get, one } from './one.js';
      import { read } from './two.js';
      import { a } from './three.js';
      log.push(get(), one, a, ...read());${end}`,
    'one.js': `
      const [a, , b] = [1, 2, 3], read = 'read', { read: c } = { read };
      export function get() { return read + b + c; }
      export { a as one };`,
    'two.js': `
      const get = 'get', set = 2, async = 3;
      let own = { get, set, async, a: { get } };
      const a = (name, { get = 5, set } = own) => name ? { get, set } : { set, get };
      class Box {
        get = get;
        set;
        static async = async;
        #get = own.get;
        async async() { return this.#get; }
        get got() {
          return { get() { return get; }, get async() { return async; }, * set() { yield 3 * set; } };
        }
        static { own = { ...own, set: this.async * set }; }
      }
      export function read() {
        switch (set) {
          case 1: { get; break; }
          default: { own = { ...own, get: [get][0] }; }
        }
        const { get: got, async: more } = own;
        if (more) { own.set = got; }
        const box = new Box().got;
        return [a(1), a(0, {}), box.get(), box.async, [...box.set()], Object.keys(new Box()),
          own, more, { class: 1, get }];
      }`,
    'three.js': 'const get = 7;\nexport const a = () => ({ get });',
  }],
  ['functions of every kind, and what they refer to before it is made', {
    ...log,
    'index.js': `
      ${head}import { before, f, g, h, i, later } from './kinds.js';
      log.push(before, f(), [...g()], h.name, later.name, typeof h().then, i({ a: 2 }), i.length);${end}`,
    'kinds.js': `
      export const before = i();
      export const later = () => f();
      export function f() { return 1; }
      export function* g() { yield f(); }
      export async function h() { return f(); }
      export function i({ a } = {}, b = () => ({ a })) { return \`}\${{ a }.a}{\` + b().a; }`,
  }],
  ['what Node has arrives by name, as default, and as a whole', {
    ...log,
    'index.js': `
      ${head}import { join as path } from 'node:path';
      import url from 'node:url';
      import * as os from 'node:os';
      log.push(path('a', 'b'), typeof url.parse, typeof os.cpus);${end}`,
  }],
  ['what Node has may share its name with a member, a parameter and a text', {
    ...log,
    'index.js': `
      ${head}import { join, resolve } from 'node:path';
      import { inspect as show } from 'node:util';
      import { EventEmitter } from 'node:events';
      class Joiner { join(a) { return join(a, 'join'); } }
      const join2 = { join, show: 1, resolve: (resolve) => resolve + 1 };
      const emitter = new EventEmitter().on('a', (a) => log.push(a));
      class Own extends EventEmitter { emit(a) { return super.emit('a', a); } }
      emitter.emit('a', new Own() instanceof EventEmitter);
      const list = [join, show].map(({ name }) => name);
      log.push(new Joiner().join('a'), join2.join('b', 'c'), join2.show, join2.resolve(1),
        list, resolve('/x'));
      log.push(\`\${join('d', \`\${join('e')} join\`)} join\`, show([1]) ? join('f') : join);${end}`,
  }],
  ['spaces, comments, patterns, quotients and texts of every kind mean what they meant', {
    ...log,
    'index.js': `
      ${head}let a = 6, b = 2, g = 3; // a comment with ' and /
      const values = [a / b / g, a /b/ g, a++ / b, +a + +b,
        a - -b, a-- - --b, /[/'"]\\//g.test("/'\\/"), 1..toFixed(1)];
      const odd = 'a  b' + "c  'd" + \`e  \${'}' + \`f  \${{ a: { b } }.a.b}\`}  g\`
        + String(/  /.source.length);
      /* another
         one */ const text = \`two
        lines  \${ a }\`;
      const f = (x) => typeof /x/ + (x ? /y/.source : 1) + (void 0 ?? .5) + 0x1f + 1e3 + 10n;
      const o = { in: 1, return: 2, 'a-b': 3 };
      if (a in [1]) log.push('in');
      for (const x of[1]) log.push(x, o.return / b / 1);
      const marks = 'a1,b'.replace(/\\p{L}(?=\\/?\\d)/gu, '-') + /^["\\p{Lu}]/iu.test('"') + typeof /\\p{C}/u;
      log.push(marks, values, odd, text, f(1), o?.in, a ?.5 : 1, a > 1 ? -1 : +1, !/a/.test('b'));${end}`,
  }],
  ['what is imported later runs later, and shares what ran before', {
    ...log,
    'index.js': `
      ${head}log.push('index');
      export async function told() {
        const { late } = await import('./deep/late.js');
        log.push(late());
        return log;
      }`,
    'deep/late.js': `
      import { log } from '../log.js';
      import { own } from './own.js';
      log.push('late');
      export function late() { return own; }`,
    'deep/own.js': `
      import { log } from '../log.js';
      log.push('own');
      export const own = 'its own';`,
  }],
  ['texts that are read are there, and no character is lost', {
    ...log,
    'index.js': `
      ${head}import { text } from './deep/text.js';
      log.push(text(), 'é…𝒳', /…/.test('…'), \`a\\n  b ‘\`);${end}`,
    'deep/text.js': `
      import { readFileSync } from 'node:fs';
      export function text() {
        return readFileSync(new URL('./page.html', import.meta.url), 'utf8');
      }`,
    'deep/page.html': '<p title="1">\n‘é’ $& \\u0041</p>\n',
  }],
]

for (const [behaviour, given] of programs) {
  test(`packed modules mean what they meant: ${behaviour}`, async (t) => {
    const texts = flat(given)
    const expected = await outcome(folderOf(t, texts), 'index.js')
    assert.match(expected, /^\[.+\]\n$/)
    for (const files of [packed(texts), packed(texts, true)]) {
      assert.equal(await outcome(folderOf(t, files), 'index.js'), expected)
    }
  })
}

test('a second entry begins with its own first line, and shares what the first has', (t) => {
  const files = packed(flat({
    'index.js': `export { one } from './one.js';\n`,
    'one.js': 'export const one = {};\n',
    'cli.js': `#!/usr/bin/env node
      import { one } from './one.js';
      import { two } from './two.js';
      import('./one.js').then((all) => console.log(all.one === one, two));`,
    'two.js': 'export const two = 2;\n',
  }))
  assert.deepEqual(Object.keys(files).toSorted(), ['all.js', 'cli.js', 'index.js'])
  assert.match(files['cli.js']!, /^#!\/usr\/bin\/env node\n/)
  const { stdout } = spawnSync(process.execPath, [join(folderOf(t, files), 'cli.js')], { encoding: 'utf8' })
  assert.equal(stdout, 'true 2\n')
})

test('what Node has is loaded when it is first used', async (t) => {
  const files = packed(flat({
    'index.js': `
      import { deflateSync } from 'node:zlib';
      import { sep } from 'node:path';
      const real = process.getBuiltinModule;
      const log = [sep];
      process.getBuiltinModule = (name) => log.push(name) && real(name);
      export function told() {
        log.push('told');
        return [...log, deflateSync('').length > 0, deflateSync('').length > 0, ...log];
      }`,
  }))
  const [sep, told, , , , , ...loaded] = JSON.parse(await outcome(folderOf(t, files), 'index.js'))
  assert.deepEqual([sep === '/' || sep === '\\', told, loaded], [true, 'told', ['node:zlib']])
})

test('functions that a start runs are compiled as they are read', () => {
  const texts = { 'index.js': 'const b = a();\nfunction a() {\n    return 1;\n}\nexport { b };\n' }
  const running = new Map([['$index', new Set(['a'])]])
  const textOf = (files: Texts): string => String(files['index.js'])
  const [plain, made] = [textOf(packed(texts)), textOf(packed(texts, false, running))]
  assert.match(plain, /^const b = a\(\);\nfunction a\(\) \{\n\treturn 1;\n\}$/m)
  assert.match(made, /^const a = \(function a\(\) \{\n\treturn 1;\n\}\);\nconst b = a\(\);$/m)
})

test('what is imported later stands in a file of its own', async (t) => {
  const texts = flat({
    'index.js': `
      import { early } from './early.js';
      export async function told() {
        const { a } = await import('./a.js');
        const { b } = await import('./deep/b.js');
        return [a, b, early];
      }`,
    'a.js': `import { shared } from './shared.js';\nexport const a = shared + 1;\n`,
    'deep/b.js': `import { early } from '../early.js';\nexport const b = early + 2;\n`,
    'shared.js': 'export const shared = 1;\n',
    'early.js': 'export const early = 3;\n',
  })
  const files = packed(texts)
  assert.deepEqual(Object.keys(files).toSorted(), ['all.js', 'all.later.js', 'index.js'])
  assert.doesNotMatch(String(files['all.js']), /shared/)
  assert.equal(await outcome(folderOf(t, files), 'index.js'), '[2,5,3]\n')
})

test('what is imported later has the names that it passes on', async (t) => {
  const texts = flat({
    'index.js': `
      export async function told() {
        const all = await import('./all.js');
        return [all, await import('./through.js')];
      }`,
    'all.js': `
      export { one, two as zwei } from './numbers.js';
      export const three = 3;`,
    'through.js': `export { one } from './all.js';`,
    'numbers.js': 'export const one = 1;\nexport const two = 2;\n',
  })
  for (const files of [packed(texts), packed(texts, true)]) {
    assert.equal(await outcome(folderOf(t, files), 'index.js'), '[{"one":1,"three":3,"zwei":2},{"one":1}]\n')
  }
})

test('for tests every module can be imported where it was', async (t) => {
  const folder = folderOf(t, packed(flat({
    'index.js': `export { one } from './deep/one.js';\n`,
    'deep/one.js': `
      export const one = 1;
      const two = 2;
      export { two as enum };
      export { three } from './three.js';`,
    'deep/three.js': 'export const three = 3;\n',
  }), true))
  assert.equal(await outcome(folder, 'index.js'), '{"one":1}\n')
  assert.equal(await outcome(folder, 'deep/one.js'), '{"enum":2,"one":1,"three":3}\n')
})

const refused: readonly (readonly [texts: Texts, sentence: RegExp])[] = [
  [{
    'index.js': `import { a } from './a.js';\na();\n`,
    'a.js': `import { b } from './b.js';\nexport function a() { b(); }\n`,
    'b.js': `import { a } from './a.js';\nexport function b() { a(); }\n`,
  }, /^a\.js imports b\.js imports a\.js: a circle has no order in which it could run$/],
  [{ 'index.js': `import { x } from './a.js';\nx();\n`, 'a.js': 'export const y = 1;\n' },
    /^index\.js takes x of a\.js, which does not export it$/],
  [{ 'index.js': 'export default 1;\n' },
    /^index\.js says 'export default 1;', which cannot stand in a function$/],
  [{ 'index.js': 'export let a = 1;\n' }, /says 'export let a = 1;'/],
  [{ 'index.js': `export * from './a.js';\n` }, /says 'export \* from/],
  [{ 'index.js': `import './a.js';\n` }, /says 'import '\.\/a\.js';'/],
  [{ 'index.js': 'await 1;\n' }, /says 'await 1;'/],
  [{ 'index.js': 'export const tick = /`/;\n' },
    /^index\.js has a single '`': write it as '\\x60' where it is no template$/],
]

test('lines of a template keep the spaces that they begin with', async (t) => {
  const code = 'export function told() {\n    return [`a\n        b`,\n        1];\n}\n'
  const files = packed({ 'index.js': code })
  assert.equal(await outcome(folderOf(t, files), 'index.js'), '["a\\n        b",1]\n')
  assert.match(String(files['index.js']), /^\t\t1\];$/m)
})

test('files may not need each other', () => {
  const read = (path: string): string => ({
    'a.js': `import { b } from './b.js';\nexport const a = b;\n`,
    'b.js': `import { c } from './c.js';\nexport const b = c;\n`, 'c.js': 'export const c = 1;\n',
  })[path] ?? ''
  const placeOf = (path: string): string => path === 'b.js' ? 'other.js' : 'one.js'
  assert.throws(() => pack(read, { 'one.js': { 'a.js': undefined } }, { placeOf }), {
    message: 'one.js needs other.js needs one.js: a circle has no order in which it could run',
  })
})

test('what would not mean the same in one file is refused with a sentence', () => {
  for (const [texts, message] of refused) assert.throws(() => packed(texts), { message })
})

test('what is shipped is a few files, that point to nothing else', () => {
  const entries = readdirSync('dist', { recursive: true, encoding: 'utf8' })
  const files = entries.map((path) => path.replaceAll('\\', '/')).filter((path) => /\.(?!md)\w+$/.test(path))
  const programs = files.filter((path) => !path.endsWith('.d.ts'))
  assert.ok(programs.every((path) => path.endsWith('.js')), programs.join(' '))
  assert.deepEqual(openedBy('index.js'), [
    'adapters.js', 'agents/openai.js', 'floors.js', 'index.js', 'kernel.js', 'parts.js', 'parts/mcp.js',
    'preset.js', 'stores.js', 'testing.js',
  ])
  assert.deepEqual(openedBy('parts/mcp.js'), ['floors.js', 'kernel.js', 'parts/mcp.js'])
  for (const path of files) {
    const text = readFileSync(join('dist', path), 'utf8')
    assert.doesNotMatch(text, /sourceMappingURL/)
    // V8 keeps a text with other characters in twice the memory.
    if (path.endsWith('.js')) assert.doesNotMatch(text, /[^\0-\x7f]/)
    // Bundlers would look for a file there, and in workers' runtimes modules have no address.
    if (!path.startsWith('cli/')) assert.doesNotMatch(text, /import\.meta/, path)
    for (const target of targetsOf(path)) {
      const kind = path.endsWith('.d.ts') ? '.d.ts' : '.js'
      const wanted = target.replace(/\.[jt]s$/, kind)
      assert.ok(files.includes(wanted), `${path} points to ${target}, which is not there`)
    }
  }
})

/** The paths to which a file points. */
function targetsOf(path: string): readonly string[] {
  // Statements alone: a text may be a program too.
  const imports = /(?:^(?:import|export) [^'"\n]*? from |\bimport\()['"](\.[^'"]+)['"]/gm
  return [...readFileSync(join('dist', path), 'utf8').matchAll(imports)]
    .map(([, target = '']) => join(dirname(path), target).replaceAll('\\', '/'))
}

/** The files that a start by this one opens. */
function openedBy(path: string): readonly string[] {
  const opened = new Set([path])
  for (const open of opened) {
    const text = readFileSync(join('dist', open), 'utf8')
    for (const [, target = ''] of text.matchAll(/^import [^'\n]* from '(\.[^']+)';$/gm)) {
      opened.add(join(dirname(open), target).replaceAll('\\', '/'))
    }
  }
  return [...opened].toSorted()
}

test('what the documents of the package point to is in it, and what package.json names', () => {
  const list = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const { stdout } = spawnSync('npm', list, { encoding: 'utf8' })
  const [{ files }] = JSON.parse(stdout) as [{ readonly files: readonly { readonly path: string }[] }]
  const paths = new Set(files.map(({ path }) => path))
  for (const document of [...paths].filter((path) => path.endsWith('.md') && !path.startsWith('dist/'))) {
    for (const [, target = ''] of readFileSync(document, 'utf8').matchAll(/\]\((?!\w+:|#)([^)#]+)/g)) {
      const path = join(dirname(document), target).replaceAll('\\', '/')
      assert.ok(paths.has(path), `${document} points to ${target}, which is not in the package`)
    }
  }
  const { main, types, exports, bin } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly main: string, readonly types: string, readonly exports: object, readonly bin: object,
  }
  assert.ok(paths.has('README.md'))
  for (const target of [main, types, ...Object.values(exports), ...Object.values(bin)]) {
    assert.ok(paths.has(join(String(target)).replaceAll('\\', '/')), String(target))
  }
})

test('a copy of what is shipped is whole: exports the same, serves its page, is a command', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triport-copy-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  cpSync('dist', join(folder, 'vendor'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'program.js'), `import * as triport from './vendor/index.js'
    const server = triport.createServer({ agents: [(prompt) => prompt] })
    const page = await server.fetch(new Request('http://localhost/docs'))
    console.log(JSON.stringify([Object.keys(triport), await page.text()]))`)
  const run = (...args: readonly string[]): string => (
    spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 24 }).stdout
  )
  const server = triport.createServer({ agents: [(prompt) => prompt] })
  const page = await (await server.fetch(new Request('http://localhost/docs'))).text()
  assert.deepEqual(JSON.parse(run('program.js')), [Object.keys(triport), page])
  assert.match(run('vendor/cli.js', '--help'), /^Usage: triport serve/)
  assert.equal(run('vendor/cli.js', 'help', 'schemas'), readFileSync('lib/guide/schemas.md', 'utf8'))
})
