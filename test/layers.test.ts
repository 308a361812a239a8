import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import test from 'node:test'

/** A file of the checkout: its path from the root, with `/`, and what is in it. */
interface SourceFile { readonly path: string; readonly text: string }

/** What a room may take from other rooms: everything, or only what is gone when the types are. */
interface Reach { readonly values: readonly string[]; readonly types: readonly string[] }

const door: Reach = { values: ['core', 'wire'], types: ['http'] }

/** Imports point down only; a file directly in lib/ belongs to no room and sees them all. */
const rooms: ReadonlyMap<string, Reach> = new Map([
  ['util', { values: [], types: [] }],
  ['schema', { values: [], types: [] }],
  ['wire', { values: [], types: [] }],
  ['core', { values: ['schema', 'wire'], types: [] }],
  ['store', { values: [], types: ['core'] }],
  ['http', { values: ['wire'], types: ['core'] }],
  ['mcp', door],
  ['a2a', door],
  ['rest', door],
  ['adapters', { values: ['core', 'wire'], types: [] }],
  ['assistant', { values: ['core'], types: [] }],
])

/** The room that every other may take from. */
const BOTTOM = 'util'
/** The one file of which doors take values from http/, and those of which http/ does from core/. */
const DEFERRED_STREAM = 'lib/http/deferred-stream.ts'
const LEAVES: readonly string[] = [
  'lib/core/caller-shares.ts', 'lib/core/clock.ts', 'lib/core/queue.ts',
]
/** Those of other rooms that store/ takes values of: they know nothing of what is served. */
const FOR_STORES: readonly string[] = [
  'lib/core/clock.ts', 'lib/core/fault.ts', 'lib/core/queue.ts', 'lib/core/ranking.ts', 'lib/core/shares.ts',
  'lib/core/store.ts', 'lib/schema/options.ts',
]
const SOCKETS = /^(?:node:)?(?:http|https|http2)$/
/** A client, not a server: webhooks. */
const MAY_CALL_OUT = 'lib/a2a/push.ts'
const MAX_LINES = 500
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

/** What is wrong with one import of a file in lib/; undefined where it is fine. */
function objection(path: string, { target, isType }: Import): string | undefined {
  const room = roomOf(path)
  if (target.startsWith('(')) {
    return room === undefined ? undefined : `${path} imports what only its run time knows`
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
  if (room === undefined || roomOf(to) === room) return undefined
  const reach = rooms.get(room)
  if (reach === undefined) return `${path} is in ${room}/, which is no room of the house`
  const other = roomOf(to) ?? ''
  if (other === BOTTOM || reach.values.includes(other)) return undefined
  if (isType && reach.types.includes(other)) return undefined
  if (to === DEFERRED_STREAM && reach === door) return undefined
  if (LEAVES.includes(to) && room === 'http') return undefined
  if (FOR_STORES.includes(to) && room === 'store') return undefined
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
      ...wide(path, lines), ...realms(path, lines),
    ]
  }), ...circles(files), ...namesakes(files)]
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
  ['lib/schema/a.ts', `import { isRecord } from '../core/content.ts'`, /\(schema\/\) imports core\//],
  ['lib/wire/a.ts', `import type { Content } from '../core/content.ts'`, /\(wire\/\) imports core\//],
  ['lib/core/a.ts', `import { memoryStore } from '../store/memory.ts'`, /\(core\/\) imports store\//],
  ['lib/core/a.ts', `import type { Head } from '../http/exchange.ts'`, /\(core\/\) imports http\//],
  ['lib/core/a.ts', `import { createServer } from '../server.ts'`,
    /imports lib\/server.ts, which is above it/],
  ['lib/store/a.ts', `import { Tasks } from '../core/task.ts'`, /\(store\/\) imports a value of core\//],
  ['lib/http/a.ts', `import { anonymous } from '../core/principal.ts'`,
    /\(http\/\) imports a value of core\//],
  ['lib/http/a.ts', `import {\n  type Limits,\n  defaults,\n} from '../core/defaults.ts'`,
    /a value of core\//],
  ['lib/http/a.ts', `import type { Row } from '../mcp/revisions.ts'`, /\(http\/\) imports mcp\//],
  ['lib/mcp/a.ts', `import type { Dialect } from '../a2a/dialects.ts'`, /\(mcp\/\) imports a2a\//],
  ['lib/a2a/a.ts', `import { json } from '../rest/reply.ts'`, /\(a2a\/\) imports rest\//],
  ['lib/rest/a.ts', `export { Row } from '../mcp/revisions.ts'`, /\(rest\/\) imports mcp\//],
  ['lib/rest/a.ts', `import { isSource } from '../http/exchange.ts'`, /\(rest\/\) imports a value of http\//],
  ['lib/rest/a.ts', `import { compile } from '../schema/compile.ts'`, /\(rest\/\) imports schema\//],
  ['lib/rest/a.ts', `import { memoryStore } from '../store/memory.ts'`, /\(rest\/\) imports store\//],
  ['lib/rest/a.ts', `  const { Row } = await import('../mcp/revisions.ts')`, /\(rest\/\) imports mcp\//],
  ['lib/rest/a.ts', `  const room = await import(path)`, /imports what only its run time knows/],
  ['lib/assistant/a.ts', `import '../mcp/revisions.ts'`, /\(assistant\/\) imports mcp\//],
  ['lib/core/a.ts', `import { assistant } from '../assistant/assistant.ts'`,
    /\(core\/\) imports assistant\//],
  ['lib/adapters/a.ts', `import type { Exchange } from '../http/exchange.ts'`,
    /\(adapters\/\) imports http\//],
  ['lib/cellar/a.ts', `import { Fault } from '../core/fault.ts'`, /cellar\/, which is no room/],
  ['lib/core/a.ts', `import { Fault } from './fault.js'`, /without \.ts/],
  ['lib/core/a.ts', `import { Fault } from './fault'`, /without \.ts/],
  ['lib/server.ts', `import { helper } from '../test/helper.ts'`, /leaves lib\//],
  ['lib/core/a.ts', `import { z } from 'zod'`, /a package/],
  ['lib/core/a.ts', `import { readFileSync } from 'fs'`, /lacks its node:/],
  ['lib/server.ts', `import { createServer } from 'node:http'`, /which is for http\//],
  ['lib/server.ts', `import type { Server } from 'node:http'`, /which is for http\//],
  ['lib/mcp/a.ts', `const http = process.getBuiltinModule('node:http')`, /which is for http\//],
  ['lib/a2a/card.ts', `import { request } from 'node:https'`, /which is for http\//],
  ['lib/core/a.ts', 'const a = 1\n'.repeat(501), /501 lines/],
  ['lib/core/a.ts', `const a = 1\n// ${'a'.repeat(108)}\n`, /^lib\/core\/a\.ts:2 has 111 columns/],
  ['test/a.test.ts', `// ${'a'.repeat(108)}`, /^test\/a\.test\.ts:1 has 111 columns/],
  ['test/interop/a.mjs', `// ${'a'.repeat(108)}`, /^test\/interop\/a\.mjs:1 has 111 columns/],
  ['bench/a.js', `// ${'a'.repeat(108)}`, /^bench\/a\.js:1 has 111 columns/],
  ['lib/core/a.ts', 'return value instanceof Promise', /^lib\/core\/a\.ts:1 asks for a class of a realm$/],
  ['lib/util/a.ts', `import { Fault } from '../core/fault.ts'`, /\(util\/\) imports core\//],
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
  ['lib/core/a.ts',
    `import { compile } from '../schema/compile.ts'\nimport type { Parsed } from '../wire/json.ts'`],
  ['lib/store/a.ts', `import type { Store } from '../core/store.ts'`],
  ['lib/store/a.ts', `import { Fault } from '../core/fault.ts'`],
  ['lib/http/a.ts',
    `import { createServer } from 'node:http'\nimport type { Limits } from '../core/defaults.ts'`],
  ['lib/http/a.ts', `import { type Limits, type Log } from '../core/defaults.ts'`],
  ['lib/mcp/a.ts',
    `import { DeferredStream } from '../http/deferred-stream.ts'\n`
    + `import type { Reply } from '../http/exchange.ts'`],
  ['lib/a2a/push.ts', `import { request } from 'node:https'`],
  ['lib/assistant/a.ts', `import { Fault } from '../core/fault.ts'\nimport { add } from './b.ts'`],
  ['lib/adapters/a.ts',
    `import { isRecord } from '../core/content.ts'\nimport { parseJson } from '../wire/json.ts'`],
  ['lib/http/a.ts', `import { MAX_TIMER_MS } from '../core/clock.ts'`],
  ['lib/schema/a.ts', `import { andThen } from '../util/thenable.ts'`],
  ['lib/cli.ts', `const { assistant } = await import('./assistant/assistant.ts')\nawait import(url.href)`],
  ['lib/core/a.ts', `// import { a } from '../mcp/a.ts'\n/** See import('../mcp/a.ts'). */\n * import 'zod'`],
  ['lib/core/a.ts', 'const a = 1\n'.repeat(500)],
  ['lib/core/a.ts', `// ${'é'.repeat(107)}\n`],
  ['test/core/a.test.ts', ''],
  ['bench/a.js', `import { createServer } from 'node:http'\n// ${'a'.repeat(107)}\n`],
  ['test/fixtures/mcp/2025-11-25/a.json', ''],
]

test('the check of the plan lets through what is allowed', () => {
  for (const [path, text] of fine) assert.deepEqual(violations([{ path, text }]), [])
})

type Given = readonly [path: string, text: string]

const tangles: readonly (readonly [complaint: RegExp, ...files: readonly Given[]])[] = [
  [/^lib\/core\/a\.ts, lib\/core\/b\.ts import each other in a circle$/,
    ['lib/core/a.ts', `import { b } from './b.ts'`], ['lib/core/b.ts', `import type { A } from './a.ts'`]],
  [/a\.ts, lib\/core\/b\.ts, lib\/core\/c\.ts import each other/,
    ['lib/core/a.ts', `import { b } from './b.ts'`], ['lib/core/b.ts', `import './c.ts'`],
    ['lib/core/c.ts', `export { a } from './a.ts'`], ['lib/core/d.ts', `import { a } from './a.ts'`]],
  [/^lib\/core\/a\.ts import each other in a circle$/, ['lib/core/a.ts', `import { a } from './a.ts'`]],
]

test('the check of the plan finds circles', () => {
  for (const [complaint, ...files] of tangles) {
    const found = violations(files.map(([path, text]) => ({ path, text })))
    assert.equal(found.length, 1, String(complaint))
    assert.match(found[0]!, complaint)
  }
})

const namesakeRows: readonly (readonly [complaint: RegExp, first: string, second: string])[] = [
  [/^One is defined in lib\/core\/a\.ts and lib\/mcp\/b\.ts$/,
    'export interface One {}', 'export const One = 1'],
  [/^one is defined/, 'export async function one() {}', 'export function* one() {}'],
  [/^One is defined/, 'export abstract class One {}', 'export type One = string'],
  [/^two is defined/, 'const one = 1\nexport { one as two }', 'export let two = 2'],
  [/^two is defined/, 'export {\n  one,\n  two,\n}', 'export { one as three, two }\n'],
]

test('the check of the plan finds a name that two files define', () => {
  for (const [complaint, first, second] of namesakeRows) {
    const found = violations([{ path: 'lib/core/a.ts', text: first }, { path: 'lib/mcp/b.ts', text: second }])
    assert.equal(found.length, 1, first)
    assert.match(found[0]!, complaint)
  }
})

test('the check of the plan lets a name be passed on, be private, and be defined again in a test', () => {
  const text = 'export function one(a: string): void\nexport function one(a: unknown): void {}\n'
  const others = [
    ['lib/core/b.ts', `export { one } from './a.ts'`], ['lib/core/c.ts', `export {\n  one,\n} from './a.ts'`],
    ['lib/core/d.ts', 'function one() {}\nexport { one as two }'],
    ['test/core/a.test.ts', 'export const one = 1'],
  ].map(([path = '', text = '']) => ({ path, text }))
  assert.deepEqual(violations([{ path: 'lib/core/a.ts', text }, ...others]), [])
})
