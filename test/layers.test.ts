import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import test from 'node:test'

/** A file of the checkout: its path from the root, with `/`, and what is in it. */
interface SourceFile { readonly path: string; readonly text: string }

/** What a room may take from other rooms: everything, or only what is gone when the types are. */
interface Reach { readonly values: readonly string[]; readonly types: readonly string[] }

const protocol: Reach = { values: ['run', 'tasks', 'state', 'define', 'wire'], types: ['http'] }
const everything: Reach = {
  values: ['schema', 'wire', 'define', 'state', 'tasks', 'run', 'http', 'store', 'mcp', 'a2a', 'rest', 'acp'],
  types: [],
}

/** Imports point down only; a file directly in lib/ belongs to no room and sees them all. */
const rooms: ReadonlyMap<string, Reach> = new Map([
  ['util', { values: [], types: [] }],
  ['wire', { values: [], types: [] }],
  ['schema', { values: [], types: [] }],
  ['foreign', { values: ['schema', 'wire'], types: ['define'] }],
  ['define', { values: ['foreign', 'schema', 'wire'], types: [] }],
  ['state', { values: ['define', 'wire'], types: [] }],
  ['tasks', { values: ['state', 'define', 'wire'], types: [] }],
  ['run', { values: ['tasks', 'state', 'define', 'schema', 'wire'], types: [] }],
  ['http', { values: ['wire'], types: ['define', 'state', 'run'] }],
  ['store', { values: ['state', 'define', 'schema'], types: [] }],
  ['mcp', protocol],
  ['a2a', protocol],
  ['rest', protocol],
  ['acp', { ...protocol, types: [] }],
  ['openai', { values: ['run', 'define', 'wire'], types: [] }],
  ['assistant', { values: ['define'], types: [] }],
  ['server', everything],
  ['testing', { values: ['define', 'wire'], types: ['server'] }],
  ['cli', { values: [...everything.values, 'server', 'openai', 'assistant'], types: [] }],
])

/** The floors of a room. Each takes only of those before it. */
const floors: ReadonlyMap<string, readonly string[]> = new Map([
  ['http', ['message', 'stream', 'access', 'server']],
  ['store', ['shared', 'memory', 'sqlite', 'redis', 'postgres', 'cluster', 'conformance']],
  ['mcp', ['protocol', 'session', 'request', 'tasks', 'methods', 'transport']],
  ['a2a', ['model', 'codec', 'card', 'push', 'tasks', 'transport']],
  ['rest', ['reply', 'openapi', 'native', 'openai', 'responses', 'agui', 'ui', 'service']],
])

/** The room that every other may take from. */
const BOTTOM = 'util'
/** The one file of which protocols take values from http/. */
const DEFERRED_STREAM = 'lib/http/stream/deferred-stream.ts'
const SOCKETS = /^(?:node:)?(?:http|https|http2)$/
/** A client, not a server: webhooks. */
const MAY_CALL_OUT = 'lib/a2a/push/push.ts'
const MAX_LINES = 500
const MAX_FILES = 25
const MAX_DEPTH = 3
const MAX_COLUMNS = 110

/** One import: where it points to, and whether nothing of it is left when the types are gone. */
interface Import { readonly target: string; readonly isType: boolean }

const STATIC = /^(?:import|export)\b(?<what>[^'"`;()]*?)\bfrom\s*'(?<target>[^']+)'/gm
const BARE = /^import\s*'(?<target>[^']+)'/gm
const DEFINED = /^export (?:(?:abstract|async) )*(?:function\*?|class|interface|type|const|let) (\w+)/gm
const LISTED = /^export (?:type )?\{([^}]*)\}(?! from)/gm
const DYNAMIC = /\b(?:import|getBuiltinModule|require)\(\s*(?<argument>'[^']*'|[^)]*)\)/g

function importsOf(text: string): readonly Import[] {
  const code = text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')
  const found: Import[] = []
  for (const { groups } of code.matchAll(STATIC)) {
    const { what = '', target = '' } = groups ?? {}
    const names = /\{([^}]*)\}/.exec(what)?.[1]?.split(',').map((name) => name.trim()) ?? []
    const isEachType = names.some((name) => name !== '')
      && names.every((name) => name === '' || name.startsWith('type '))
    found.push({ target, isType: /^\s*type\b/.test(what) || isEachType })
  }
  for (const { groups } of code.matchAll(BARE)) {
    found.push({ target: groups?.['target'] ?? '', isType: false })
  }
  for (const { groups } of code.matchAll(DYNAMIC)) {
    const argument = groups?.['argument'] ?? ''
    found.push({ target: /^'([^']*)'$/.exec(argument)?.[1] ?? `(${argument})`, isType: false })
  }
  return found
}

function roomOf(path: string): string | undefined {
  return /^lib\/([^/]+)\//.exec(path)?.[1]
}

/** Where a file's floor stands among those of its room; undefined for a room without floors. */
function floorOf(path: string): number | undefined {
  const [top, room = '', floor = ''] = path.split('/')
  return top === 'lib' ? floors.get(room)?.indexOf(floor) : undefined
}

/** What is wrong with one import of a file in lib/; undefined where it is fine. */
function objection(path: string, { target, isType }: Import): string | undefined {
  const room = roomOf(path)
  if (target.startsWith('(')) {
    return room === undefined || room === 'cli' ? undefined : `${path} imports what only its run time knows`
  }
  if (SOCKETS.test(target)) {
    const isAllowed = room === 'http' || path === MAY_CALL_OUT
    return isAllowed ? undefined : `${path} imports ${target}, which is for http/`
  }
  if (target.startsWith('node:')) return undefined
  if (!target.startsWith('.')) return `${path} imports ${target}, which is a package, or lacks its node:`
  if (!target.endsWith('.ts')) return `${path} imports ${target} without .ts`
  const to = posix.join(posix.dirname(path), target)
  if (!to.startsWith('lib/')) return `${path} leaves lib/`
  if (room === undefined) return undefined
  if (roomOf(to) === room) {
    const isUphill = (floorOf(to) ?? 0) > (floorOf(path) ?? 0)
    return isUphill ? `${path} imports ${to}, which is on a floor above it` : undefined
  }
  const reach = rooms.get(room)
  if (reach === undefined) return `${path} is in ${room}/, which is no room of the house`
  const other = roomOf(to) ?? ''
  if (other === BOTTOM || reach.values.includes(other)) return undefined
  if (isType && reach.types.includes(other)) return undefined
  if (to === DEFERRED_STREAM && reach === protocol) return undefined
  if (other === '') return `${path} (${room}/) imports ${to}, which is above it`
  return `${path} (${room}/) imports ${reach.types.includes(other) ? 'a value of ' : ''}${other}/`
}

/** The groups of files in lib/ that import themselves in a circle, types included (Tarjan's algorithm). */
function circles(files: readonly SourceFile[]): readonly string[] {
  const targets = new Map(files.filter(({ path }) => path.startsWith('lib/')).map(({ path, text }) => (
    [path, importsOf(text).map(({ target }) => posix.join(posix.dirname(path), target))]
  )))
  const found: string[] = []
  const index = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const visit = (path: string): void => {
    index.set(path, index.size)
    lowest.set(path, index.size - 1)
    open.push(path)
    for (const target of targets.get(path) ?? []) {
      if (!targets.has(target)) continue
      if (!index.has(target)) visit(target)
      else if (!open.includes(target)) continue
      lowest.set(path, Math.min(lowest.get(path)!, lowest.get(target)!))
    }
    if (lowest.get(path) !== index.get(path)) return
    const group = open.splice(open.indexOf(path))
    const isOwn = targets.get(path)?.includes(path) === true
    if (group.length > 1 || isOwn) found.push(`${group.toSorted().join(', ')} import each other in a circle`)
  }
  for (const path of targets.keys()) if (!index.has(path)) visit(path)
  return found
}

/** The names that a file defines and exports. What it takes from another file is defined there. */
function namesOf(text: string): readonly string[] {
  const listed = [...text.matchAll(LISTED)].flatMap(([, names = '']) => names.split(','))
  return [
    ...[...text.matchAll(DEFINED)].map(([, name = '']) => name),
    ...listed.flatMap((name) => name.trim().split(/\s+/).at(-1) || []),
  ]
}

/** The exported names that more than one file in lib/ defines: a name has one meaning. */
function namesakes(files: readonly SourceFile[]): readonly string[] {
  const places = new Map<string, Set<string>>()
  for (const { path, text } of files) {
    if (!path.startsWith('lib/')) continue
    for (const name of namesOf(text)) places.set(name, (places.get(name) ?? new Set()).add(path))
  }
  return [...places].filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${name} is defined in ${[...paths].join(' and ')}`)
}

/** Where a promise is told by its class: those of another realm, and thenables, would pass unseen. */
function realms(path: string, lines: readonly string[]): readonly string[] {
  const isAsked = (line: string): boolean => /\binstanceof (?:Promise|Uint8Array)\b/.test(line)
  return lines.flatMap((line, at) => isAsked(line) ? [`${path}:${at + 1} asks for a class of a realm`] : [])
}

/** Rooms of which nothing is sent as JSON. */
const WORDLESS: ReadonlySet<string | undefined> = new Set(['schema', 'store', 'assistant', 'testing', 'cli'])
/** Where JSON is written, and where halves of characters must stay different. */
const WRITES_JSON: ReadonlySet<string> = new Set(['lib/wire/json.ts', 'lib/state/store.ts'])

/** Where JSON is written that may have half of a character. */
function raw(path: string, lines: readonly string[]): readonly string[] {
  if (WORDLESS.has(roomOf(path)) || WRITES_JSON.has(path)) return []
  return lines.flatMap((line, at) => (
    line.includes('JSON.stringify(') ? [`${path}:${at + 1} writes JSON without formatJson`] : []
  ))
}

/** Folders of lib/ that hold more than can be seen at a glance, or lie too deep; files on no floor. */
function crowded(files: readonly SourceFile[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { path } of files) {
    const folder = posix.dirname(path)
    if (path.startsWith('lib/')) counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [
    ...[...counts].filter(([, count]) => count > MAX_FILES)
      .map(([folder, count]) => `${folder} has ${count} files, more than ${MAX_FILES}`),
    ...[...counts.keys()].filter((folder) => folder.split('/').length > MAX_DEPTH + 1)
      .map((folder) => `${folder} lies deeper than ${MAX_DEPTH} folders`),
    ...files.flatMap(({ path }) => floorOf(path) === -1 ? [`${path} is on no floor of its room`] : []),
  ]
}

/** Words that say nothing to who knows the field, which has terms for what they were used for. */
const STRANGE = new Set([
  'told', 'tell', 'hear', 'hears', 'heard', 'nobody', 'whoever', 'speak', 'speaks', 'elsewhere', 'custody',
  'patience', 'house', 'visit', 'door', 'doors', 'news',
])
const COMMENT = /^\s*(?:\*|\/\*|\/\/)/
/** Texts and patterns, and of a template what is not put into it. */
const LITERAL = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\/(?![*/ ])(?:[^/\\]|\\.)+\/|[`}][^`]*?(?:`|\$\{)/g

/** Names that are made of such words. */
function strangeNames(path: string, lines: readonly string[]): readonly string[] {
  return lines.flatMap((line, at) => {
    if (COMMENT.test(line)) return []
    const names = line.replace(LITERAL, '').match(/[A-Za-z_]\w*/g) ?? []
    return names.filter((name) => (
      name.replace(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase().split(/[ _]/).some((word) => STRANGE.has(word))
    )).map((name) => `${path}:${at + 1} has the name ${name}, which is no term of the field`)
  })
}

/** The lines that are too long. */
function wide(path: string, lines: readonly string[]): readonly string[] {
  return lines.flatMap(({ length }, at) => (
    length > MAX_COLUMNS ? [`${path}:${at + 1} has ${length} columns, more than ${MAX_COLUMNS}`] : []
  ))
}

/** Everything that breaks the plan of the house, a sentence each. */
function violations(files: readonly SourceFile[]): readonly string[] {
  return [...files.flatMap(({ path, text }) => {
    const lines = text.split('\n')
    if (!path.startsWith('lib/')) {
      const isLost = path.endsWith('.test.ts') && path.split('/').length > 3
      const lost = isLost ? [`${path} lies deeper than one folder, where npm test does not look`] : []
      return [...lost, ...wide(path, lines)]
    }
    const count = lines.length - 1
    const isLong = count > MAX_LINES ? [`${path} has ${count} lines, more than ${MAX_LINES}`] : []
    return [
      ...importsOf(text).flatMap((one) => objection(path, one) ?? []), ...isLong,
      ...wide(path, lines), ...realms(path, lines), ...raw(path, lines), ...strangeNames(path, lines),
    ]
  }), ...circles(files), ...namesakes(files), ...crowded(files)]
}

function filesIn(folder: string): readonly SourceFile[] {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const paths = entries.map((entry) => posix.join(folder, ...entry.split(/[\\/]/)))
  // What begins with a dot other tests make, and take away again.
  return paths.filter((path) => /\/[^./][^/]*\.(?:ts|mjs|js)$/.test(path) && !path.includes('/node_modules/'))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
}

test('the house keeps its own plan', () => {
  const files = ['lib', 'test', 'bench'].flatMap(filesIn)
  for (const known of ['lib/index.ts', 'test/interop/start.mjs', 'bench/run.js']) {
    assert.ok(files.some(({ path }) => path === known), `no ${known}: run from the checkout root`)
  }
  assert.deepEqual(violations(files), [])
})

const broken: readonly (readonly [path: string, text: string, complaint: RegExp])[] = [
  ['lib/schema/a.ts', `import { isRecord } from '../define/content.ts'`, /\(schema\/\) imports define\//],
  ['lib/wire/a.ts', `import type { Content } from '../define/content.ts'`, /\(wire\/\) imports define\//],
  ['lib/state/a.ts', `import { memoryStore } from '../store/memory/memory.ts'`,
    /\(state\/\) imports store\//],
  ['lib/run/a.ts', `import type { Head } from '../http/message/exchange.ts'`, /\(run\/\) imports http\//],
  ['lib/run/a.ts', `import { createServer } from '../index.ts'`, /imports lib\/index.ts, which is above it/],
  ['lib/store/memory/a.ts', `import { Tasks } from '../../tasks/tasks.ts'`, /\(store\/\) imports tasks\//],
  ['lib/http/access/a.ts', `import { anonymous } from '../../define/principal.ts'`,
    /\(http\/\) imports a value of define\//],
  ['lib/http/access/a.ts', `import {\n  type Limits,\n  defaults,\n} from '../../define/limits.ts'`,
    /a value of define\//],
  ['lib/http/access/a.ts', `import type { Row } from '../../mcp/protocol/revisions.ts'`,
    /\(http\/\) imports mcp\//],
  ['lib/mcp/tasks/a.ts', `import type { Dialect } from '../../a2a/codec/dialects.ts'`,
    /\(mcp\/\) imports a2a\//],
  ['lib/a2a/card/a.ts', `import { json } from '../../rest/reply/reply.ts'`, /\(a2a\/\) imports rest\//],
  ['lib/rest/reply/a.ts', `export { Row } from '../../mcp/protocol/revisions.ts'`,
    /\(rest\/\) imports mcp\//],
  ['lib/rest/reply/a.ts', `import { isSource } from '../../http/message/reply.ts'`,
    /\(rest\/\) imports a value of http\//],
  ['lib/rest/reply/a.ts', `import { compile } from '../../schema/compile.ts'`, /\(rest\/\) imports schema\//],
  ['lib/rest/reply/a.ts', `import { memoryStore } from '../../store/memory/memory.ts'`,
    /\(rest\/\) imports store\//],
  ['lib/rest/reply/a.ts', `  const { Row } = await import('../../mcp/protocol/revisions.ts')`,
    /\(rest\/\) imports mcp\//],
  ['lib/rest/reply/a.ts', `  const room = await import(path)`, /imports what only its run time knows/],
  ['lib/assistant/a.ts', `import '../mcp/protocol/revisions.ts'`, /\(assistant\/\) imports mcp\//],
  ['lib/define/a.ts', `import { assistant } from '../assistant/assistant.ts'`,
    /\(define\/\) imports assistant\//],
  ['lib/openai/a.ts', `import type { Exchange } from '../http/message/exchange.ts'`,
    /\(openai\/\) imports http\//],
  ['lib/server/a.ts', `import { runCommand } from '../cli/command.ts'`, /\(server\/\) imports cli\//],
  ['lib/mcp/session/a.ts', `import type { A } from '../request/context.ts'`, /on a floor above it/],
  ['lib/cellar/a.ts', `import { Fault } from '../define/fault.ts'`, /cellar\/, which is no room/],
  ['lib/run/a.ts', `import { Fault } from './fault.js'`, /without \.ts/],
  ['lib/run/a.ts', `import { Fault } from './fault'`, /without \.ts/],
  ['lib/index.ts', `import { helper } from '../test/helper.ts'`, /leaves lib\//],
  ['lib/run/a.ts', `import { z } from 'zod'`, /a package/],
  ['lib/run/a.ts', `import { readFileSync } from 'fs'`, /lacks its node:/],
  ['lib/index.ts', `import { createServer } from 'node:http'`, /which is for http\//],
  ['lib/server/a.ts', `import type { Server } from 'node:http'`, /which is for http\//],
  ['lib/mcp/session/a.ts', `const http = process.getBuiltinModule('node:http')`, /which is for http\//],
  ['lib/a2a/card/card.ts', `import { request } from 'node:https'`, /which is for http\//],
  ['lib/run/a.ts', 'const a = 1\n'.repeat(501), /501 lines/],
  ['lib/run/a.ts', `const a = 1\n// ${'a'.repeat(108)}\n`, /^lib\/run\/a\.ts:2 has 111 columns/],
  ['test/a.test.ts', `// ${'a'.repeat(108)}`, /^test\/a\.test\.ts:1 has 111 columns/],
  ['test/interop/a.mjs', `// ${'a'.repeat(108)}`, /^test\/interop\/a\.mjs:1 has 111 columns/],
  ['bench/a.js', `// ${'a'.repeat(108)}`, /^bench\/a\.js:1 has 111 columns/],
  ['lib/run/a.ts', 'return value instanceof Promise', /^lib\/run\/a\.ts:1 asks for a class of a realm$/],
  ['lib/run/a.ts', 'return JSON.stringify(value)', /^lib\/run\/a\.ts:1 writes JSON without formatJson/],
  ['lib/run/a.ts', 'const whoIsTold = 1', /^lib\/run\/a\.ts:1 has the name whoIsTold/],
  ['lib/util/a.ts', `import { Fault } from '../define/fault.ts'`, /\(util\/\) imports define\//],
  ['lib/a2a/a.ts', '', /on no floor of its room/],
  ['lib/store/conformance/rules/deep/a.ts', '', /deeper than 3 folders/],
  ['test/mcp/revisions/a.test.ts', '', /deeper than one folder/],
]

test('the check of the plan finds every way to break it', () => {
  for (const [path, text, complaint] of broken) {
    const found = violations([{ path, text }])
    assert.equal(found.length, 1, `${path}: ${text.slice(0, 80)}`)
    assert.match(found[0]!, complaint)
  }
})

const fine: readonly (readonly [path: string, text: string])[] = [
  ['lib/run/a.ts',
    `import { compile } from '../schema/compile.ts'\nimport type { Parsed } from '../wire/json.ts'`],
  ['lib/store/memory/a.ts', `import type { Store } from '../../state/store.ts'`],
  ['lib/store/memory/a.ts', `import { Fault } from '../../define/fault.ts'`],
  ['lib/http/server/a.ts',
    `import { createServer } from 'node:http'\nimport type { Limits } from '../../define/limits.ts'`],
  ['lib/http/access/a.ts', `import { type Limits, type Log } from '../../define/limits.ts'`],
  ['lib/mcp/transport/a.ts',
    `import { DeferredStream } from '../../http/stream/deferred-stream.ts'\n`
    + `import type { Reply } from '../../http/message/exchange.ts'`],
  ['lib/a2a/push/push.ts', `import { request } from 'node:https'`],
  ['lib/assistant/a.ts', `import { Fault } from '../define/fault.ts'\nimport { add } from './b.ts'`],
  ['lib/openai/a.ts',
    `import { isRecord } from '../define/content.ts'\nimport { parseJson } from '../wire/json.ts'`],
  ['lib/http/server/a.ts', `import { MAX_TIMER_MS } from '../../util/clock.ts'`],
  ['lib/mcp/request/a.ts', `import { Session } from '../session/session.ts'`],
  ['lib/schema/a.ts', `import { andThen } from '../util/thenable.ts'`],
  ['lib/cli.ts', `const { assistant } = await import('./assistant/assistant.ts')\nawait import(url.href)`],
  ['lib/run/a.ts', `// import { a } from '../mcp/a.ts'\n/** See import('../mcp/a.ts'). */\n * import 'zod'`],
  ['lib/run/a.ts', 'const a = 1\n'.repeat(500)],
  ['lib/run/a.ts', `// ${'é'.repeat(107)}\n`],
  ['lib/run/a.ts', `throw new Fault('busy', 'Nobody is there')\n// Nobody told it.\nconst bestseller = 1`],
  ['test/run/a.test.ts', ''],
  ['bench/a.js', `import { createServer } from 'node:http'\n// ${'a'.repeat(107)}\n`],
  ['test/fixtures/mcp/2025-11-25/a.json', ''],
]

test('the check of the plan lets through what is allowed', () => {
  for (const [path, text] of fine) assert.deepEqual(violations([{ path, text }]), [])
})

type Given = readonly [path: string, text: string]

const tangles: readonly (readonly [complaint: RegExp, ...files: readonly Given[]])[] = [
  [/^lib\/run\/a\.ts, lib\/run\/b\.ts import each other in a circle$/,
    ['lib/run/a.ts', `import { b } from './b.ts'`], ['lib/run/b.ts', `import type { A } from './a.ts'`]],
  [/a\.ts, lib\/run\/b\.ts, lib\/run\/c\.ts import each other/,
    ['lib/run/a.ts', `import { b } from './b.ts'`], ['lib/run/b.ts', `import './c.ts'`],
    ['lib/run/c.ts', `export { a } from './a.ts'`], ['lib/run/d.ts', `import { a } from './a.ts'`]],
  [/^lib\/run\/a\.ts import each other in a circle$/, ['lib/run/a.ts', `import { a } from './a.ts'`]],
]

test('the check of the plan finds circles', () => {
  for (const [complaint, ...files] of tangles) {
    const found = violations(files.map(([path, text]) => ({ path, text })))
    assert.equal(found.length, 1, String(complaint))
    assert.match(found[0]!, complaint)
  }
})

const namesakeRows: readonly (readonly [complaint: RegExp, first: string, second: string])[] = [
  [/^One is defined in lib\/run\/a\.ts and lib\/define\/b\.ts$/,
    'export interface One {}', 'export const One = 1'],
  [/^one is defined/, 'export async function one() {}', 'export function* one() {}'],
  [/^One is defined/, 'export abstract class One {}', 'export type One = string'],
  [/^two is defined/, 'const one = 1\nexport { one as two }', 'export let two = 2'],
  [/^two is defined/, 'export {\n  one,\n  two,\n}', 'export { one as three, two }\n'],
]

test('the check of the plan finds a name that two files define', () => {
  for (const [complaint, first, second] of namesakeRows) {
    const files = [{ path: 'lib/run/a.ts', text: first }, { path: 'lib/define/b.ts', text: second }]
    const found = violations(files)
    assert.equal(found.length, 1, first)
    assert.match(found[0]!, complaint)
  }
})

test('the check of the plan lets a name be passed on, be private, and be defined again in a test', () => {
  const text = 'export function one(a: string): void\nexport function one(a: unknown): void {}\n'
  const others = [
    ['lib/run/b.ts', `export { one } from './a.ts'`], ['lib/run/c.ts', `export {\n  one,\n} from './a.ts'`],
    ['lib/run/d.ts', 'function one() {}\nexport { one as two }'],
    ['test/run/a.test.ts', 'export const one = 1'],
  ].map(([path = '', text = '']) => ({ path, text }))
  assert.deepEqual(violations([{ path: 'lib/run/a.ts', text }, ...others]), [])
})
