import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import test from 'node:test'

/** A file of the checkout: its path from the root, with `/`, and what is in it. */
interface SourceFile { readonly path: string; readonly text: string }

/** What a room may take from other rooms: everything, or only what is gone when the types are. */
interface Reach { readonly values: readonly string[]; readonly types: readonly string[] }

/** The levels of lib/, the lowest first. A file directly in lib/ is above them all. */
const levels = [
  'kernel', 'floors', 'parts', 'adapters', 'stores', 'agents', 'preset', 'testing', 'cli',
]

/** What each floor may stand on is before it. */
const floorOrder = [
  'bounds', 'memory', 'jsonrpc', 'hosts', 'files', 'skills', 'openapi', 'outbound', 'kept-streams',
  'questions', 'shared', 'answers', 'groups', 'conversations', 'idempotency', 'tasks', 'sharing', 'lines',
  'chat', 'reply',
]

/** The parts that a part needs: it takes from no others. */
const needs: ReadonlyMap<string, readonly string[]> = new Map([
  ['mcp-tasks', ['mcp']], ['apps', ['mcp']],
])

/** The parts that a part extends where they are there, and is served without; why. */
const extended: ReadonlyMap<string, readonly [part: string, why: string]> = new Map([
  ['skills', ['mcp', 'plain HTTP, cards and pages show them too']],
])

const values = ['wire', 'define', 'store', 'run']
const everything: Reach = {
  values: ['schema', 'wire', 'define', 'store', 'run', 'http', 'server'], types: [],
}

/** The rooms of the kernel that a room, or what is above it, may take from. The longest path counts. */
const rooms: ReadonlyMap<string, Reach> = new Map([
  ['kernel/util', { values: [], types: [] }],
  ['kernel/wire', { values: [], types: [] }],
  ['kernel/schema', { values: [], types: [] }],
  ['kernel/define', { values: ['schema', 'wire'], types: [] }],
  ['kernel/store', { values: ['schema', 'define', 'wire'], types: [] }],
  ['kernel/run', { values: ['store', 'define', 'schema', 'wire'], types: [] }],
  ['kernel/http', { values: ['wire'], types: ['define', 'store', 'run'] }],
  ['kernel/server', everything],
  ['floors', { values, types: ['http'] }],
  ['floors/lines', { values: [...values, 'server'], types: ['http'] }],
  ['floors/questions', { values: [...values, 'schema'], types: ['http'] }],
  ['parts', { values: [...values, 'server'], types: ['http'] }],
  ['parts/openai', { values: [...values, 'schema', 'server'], types: ['http'] }],
  ['parts/oauth', everything],
  ['parts/metrics', everything],
  ['parts/telemetry', everything],
  ['adapters', { values: ['schema', 'wire', 'define'], types: [] }],
  ['stores', { values: ['store', 'define', 'schema', 'wire'], types: [] }],
  ['agents/openai', { values: ['run', 'define', 'wire'], types: [] }],
  ['agents/assistant', { values: ['define'], types: [] }],
  ['preset', everything],
  ['testing', { values: ['define', 'wire'], types: [] }],
  ['testing/store', { values: ['store', 'define', 'schema'], types: [] }],
  ['cli', everything],
])

/** The storeys of one unit. Each takes only of those before it. */
const storeys: ReadonlyMap<string, readonly string[]> = new Map([
  ['kernel/http', ['message', 'stream', 'access', 'server']],
  ['parts/mcp', ['options.ts', 'protocol', 'session', 'request', 'methods', 'transport', 'part.ts']],
  ['parts/a2a', ['model', 'codec', 'card', 'push', 'tasks', 'transport', 'part.ts']],
])

/** The room that every other may take from. */
const BOTTOM = 'util'
const SOCKETS = /^(?:node:)?(?:http|https|http2)$/
/** Where sockets are: those of the server, and those of requests that go out. */
const HAS_SOCKETS = /^lib\/(?:kernel\/http|floors\/outbound|parts\/a2a\/push)\//
const MAX_LINES = 500
const MAX_FILES = 25
const MAX_DEPTH = 4
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

/** What can be taken away as one: a room of the kernel, a floor, a part, or all of another level. */
function unitOf(path: string): string | undefined {
  const [, level = '', name = '', ...rest] = path.split('/')
  if (name === '') return undefined
  return ['kernel', 'floors', 'parts'].includes(level) && rest.length > 0 ? `${level}/${name}` : level
}

/** Where a file stands among the storeys of its unit; undefined for a unit without them. */
function storeyOf(path: string): number | undefined {
  if (!path.startsWith('lib/')) return undefined
  return storeys.get(unitOf(path) ?? '')?.indexOf(path.split('/')[3] ?? '')
}

/** What a file may take of the kernel: what is said of the longest path that it lies in. */
function reachOf(path: string): Reach | undefined {
  const folders = path.split('/').slice(1, -1)
  const found = folders.map((_, at) => rooms.get(folders.slice(0, at + 1).join('/')))
  return found.findLast((reach) => reach !== undefined)
}

/** Why a file may not import another of lib/; undefined where it may. */
function wrongWay(path: string, to: string, isType: boolean): string | undefined {
  const unit = unitOf(path)
  if (unit === undefined) return undefined
  const other = unitOf(to)
  if (other === undefined) return 'which is above it'
  if (other === unit) {
    return (storeyOf(to) ?? 0) > (storeyOf(path) ?? 0) ? 'which is on a storey above it' : undefined
  }
  const [level = '', name = ''] = unit.split('/')
  const [otherLevel = '', otherName = ''] = other.split('/')
  if (levels.indexOf(otherLevel) > levels.indexOf(level)) return `which is in ${otherLevel}/, above ${level}/`
  if (otherLevel === 'floors' && level === 'floors') {
    const isBefore = floorOrder.indexOf(otherName) < floorOrder.indexOf(name)
    return isBefore ? undefined : `a floor that does not come before ${name}`
  }
  if (otherLevel === 'parts' && level === 'parts') {
    const isFine = needs.get(name)?.includes(otherName) === true || extended.get(name)?.[0] === otherName
    return isFine ? undefined : `a part that ${name} does not need`
  }
  if (otherLevel !== 'kernel' || otherName === BOTTOM) return undefined
  const reach = reachOf(path)
  if (reach?.values.includes(otherName) === true) return undefined
  if (reach?.types.includes(otherName) !== true) return `of ${otherName}/`
  return isType ? undefined : `a value of ${otherName}/`
}

/** What is wrong with one import of a file in lib/; undefined where it is fine. */
function objection(path: string, { target, isType }: Import): string | undefined {
  const level = path.split('/').length > 2 ? path.split('/')[1]! : ''
  if (target.startsWith('(')) {
    return level === '' || level === 'cli' ? undefined : `${path} imports what only its run time knows`
  }
  if (SOCKETS.test(target)) {
    return HAS_SOCKETS.test(path) ? undefined : `${path} imports ${target}, which is for kernel/http/`
  }
  if (target.startsWith('node:')) return undefined
  if (!target.startsWith('.')) return `${path} imports ${target}, which is a package, or lacks its node:`
  if (!target.endsWith('.ts')) return `${path} imports ${target} without .ts`
  const to = posix.join(posix.dirname(path), target)
  if (!to.startsWith('lib/')) return `${path} leaves lib/`
  const why = wrongWay(path, to, isType)
  return why === undefined ? undefined : `${path} imports ${to}, ${why}`
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
const WORDLESS: ReadonlySet<string | undefined> = new Set([
  'kernel/schema', 'kernel/store', 'stores', 'agents', 'testing', 'cli',
])
/** Where JSON is written, and where halves of characters must stay different. */
const WRITES_JSON: ReadonlySet<string> = new Set(['lib/kernel/wire/json.ts', 'lib/kernel/store/store.ts'])

/** Where JSON is written that may have half of a character. */
function raw(path: string, lines: readonly string[]): readonly string[] {
  if (WORDLESS.has(unitOf(path)) || WRITES_JSON.has(path)) return []
  return lines.flatMap((line, at) => (
    line.includes('JSON.stringify(') ? [`${path}:${at + 1} writes JSON without formatJson`] : []
  ))
}

/** Files of lib/ that no level, floor or room has. */
function lost(path: string): readonly string[] {
  const [top, level = '', name = '', ...rest] = path.split('/')
  if (top !== 'lib' || name === '') return []
  const isKnown = levels.includes(level)
    && (level !== 'kernel' || rooms.has(`${level}/${name}`))
    && (level !== 'floors' || floorOrder.includes(name))
    && (level !== 'parts' || rest.length > 0)
  return isKnown ? [] : [`${path} is where the plan has no place`]
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
    ...files.flatMap(({ path }) => storeyOf(path) === -1 ? [`${path} is on no storey of its unit`] : []),
    ...files.flatMap(({ path }) => lost(path)),
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

/** Classes that may extend one with fields: of more, the engine sets each field in ten times the time. */
const MAX_HEIRS = 4

const FIELD = /^ {2}(?!declare )(?:override )?(?:readonly )?(#?\w+)\??(?:: [^(]+)?(?: = .*)?$/gm

/** Fields of classes that many extend. */
function sharedFields(files: readonly SourceFile[]): readonly string[] {
  const sources = files.filter(({ path }) => path.startsWith('lib/'))
  const heirs = new Map<string, number>()
  for (const { text } of sources) {
    for (const [, base = ''] of text.matchAll(/^(?:export )?(?:abstract )?class .*?\bextends (\w+)/gm)) {
      heirs.set(base, (heirs.get(base) ?? 0) + 1)
    }
  }
  return sources.flatMap(({ path, text }) => (
    [...text.matchAll(/^(?:export )?(?:abstract )?class (\w+)[^]*?^}/gm)].flatMap(([body, name = '']) => {
      if ((heirs.get(name) ?? 0) <= MAX_HEIRS) return []
      return Array.from(body.matchAll(FIELD), ([, field]) => (
        `${path} has the field ${field} in ${name}, which many extend`
      ))
    })
  ))
}

/** Everything that breaks the plan of the house, a sentence each. */
function violations(files: readonly SourceFile[]): readonly string[] {
  return [...files.flatMap(({ path, text }) => {
    const lines = text.split('\n')
    if (!path.startsWith('lib/')) {
      const isLost = path.endsWith('.test.ts') && path.split('/').length > 4
      const lost = isLost ? [`${path} lies deeper than two folders, where npm test does not look`] : []
      return [...lost, ...wide(path, lines)]
    }
    const count = lines.length - 1
    const isLong = count > MAX_LINES ? [`${path} has ${count} lines, more than ${MAX_LINES}`] : []
    return [
      ...importsOf(text).flatMap((one) => objection(path, one) ?? []), ...isLong,
      ...wide(path, lines), ...realms(path, lines), ...raw(path, lines), ...strangeNames(path, lines),
    ]
  }), ...circles(files), ...namesakes(files), ...crowded(files), ...sharedFields(files)]
}

/** Its files of code. What begins with a dot other tests make and take away, packages their installer. */
function filesIn(folder: string): readonly SourceFile[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name)
    if (entry.name.startsWith('.') || entry.name === 'node_modules') return []
    if (entry.isDirectory()) return filesIn(path)
    return /\.(?:ts|mjs|js)$/.test(path) ? [{ path, text: readFileSync(path, 'utf8') }] : []
  })
}

test('the house keeps its own plan', () => {
  const files = ['lib', 'test', 'bench'].flatMap(filesIn)
  for (const known of ['lib/index.ts', 'test/interop/start.mjs', 'bench/run.js']) {
    assert.ok(files.some(({ path }) => path === known), `no ${known}: run from the checkout root`)
  }
  assert.deepEqual(violations(files), [])
})

test('a part says that it needs the parts that it may take from, and no others', () => {
  const parts = readdirSync('lib/parts')
  for (const name of [...needs.keys(), ...extended.keys()]) assert.ok(parts.includes(name), name)
  for (const part of parts) {
    const path = `lib/parts/${part}/part.ts`
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    const [, list = ''] = /^ +needs: \[([^\]]*)\]/m.exec(text) ?? []
    const said = [...list.matchAll(/'([^']+)'/g)].map(([, need]) => need)
    assert.deepEqual(said, needs.get(part) ?? [], part)
  }
})

const broken: readonly (readonly [path: string, text: string, complaint: RegExp])[] = [
  ['lib/kernel/schema/a.ts', `import { isRecord } from '../define/content.ts'`, /content\.ts, of define\/$/],
  ['lib/kernel/wire/a.ts', `import type { Content } from '../define/content.ts'`,
    /content\.ts, of define\/$/],
  ['lib/kernel/util/a.ts', `import { Fault } from '../define/fault.ts'`, /fault\.ts, of define\/$/],
  ['lib/kernel/run/a.ts', `import type { Head } from '../http/message/exchange.ts'`, /of http\/$/],
  ['lib/kernel/run/a.ts', `import { createServer } from '../../index.ts'`,
    /lib\/index.ts, which is above it/],
  ['lib/kernel/http/access/a.ts', `import { anonymous } from '../../define/principal.ts'`,
    /a value of define\//],
  ['lib/kernel/http/access/a.ts', `import {\n  type Limits,\n  defaults,\n} from '../../define/limits.ts'`,
    /a value of define\//],
  ['lib/kernel/http/access/a.ts', `import type { Row } from '../../../parts/mcp/protocol/revisions.ts'`,
    /which is in parts\/, above kernel\/$/],
  ['lib/kernel/define/a.ts', `import { assistant } from '../../agents/assistant/assistant.ts'`,
    /which is in agents\/, above kernel\/$/],
  ['lib/kernel/store/a.ts', `import { Tasks } from '../../floors/tasks/tasks.ts'`,
    /which is in floors\/, above kernel\/$/],
  ['lib/floors/tasks/a.ts', `import { redisStore } from '../../stores/redis/redis.ts'`,
    /which is in stores\/, above floors\/$/],
  ['lib/floors/groups/a.ts', `import { Tasks } from '../tasks/tasks.ts'`,
    /a floor that does not come before groups/],
  ['lib/floors/reply/a.ts', `import { isSource } from '../../kernel/http/server/answer.ts'`,
    /a value of http\//],
  ['lib/floors/reply/a.ts', `import { compile } from '../../kernel/schema/compile.ts'`, /of schema\/$/],
  ['lib/parts/a2a/card/a.ts', `import type { Row } from '../../mcp/protocol/revisions.ts'`,
    /a part that a2a does not need/],
  ['lib/parts/mcp/session/a.ts', `import { Task } from '../../mcp-tasks/mcp-task.ts'`,
    /a part that mcp does not need/],
  ['lib/parts/http/a.ts', `export { Row } from '../mcp/protocol/revisions.ts'`,
    /a part that http does not need/],
  ['lib/parts/skills/a.ts', `import type { Row } from '../http/routes.ts'`,
    /a part that skills does not need/],
  ['lib/parts/http/a.ts', `  const { Row } = await import('../mcp/protocol/revisions.ts')`,
    /a part that http does not need/],
  ['lib/parts/http/a.ts', `import { compile } from '../../kernel/schema/compile.ts'`, /of schema\/$/],
  ['lib/parts/http/a.ts', `  const room = await import(path)`, /imports what only its run time knows/],
  ['lib/parts/http/a.ts', `import { adk } from '../../adapters/adk.ts'`,
    /which is in adapters\/, above parts\/$/],
  ['lib/stores/sqlite/a.ts', `import { answerMessage } from '../../kernel/run/call-tool.ts'`, /of run\/$/],
  ['lib/agents/assistant/a.ts', `import { parseJson } from '../../kernel/wire/json.ts'`, /of wire\/$/],
  ['lib/agents/openai/a.ts', `import type { Exchange } from '../../kernel/http/message/exchange.ts'`,
    /of http\/$/],
  ['lib/kernel/server/a.ts', `import { runCommand } from '../../cli/command.ts'`,
    /which is in cli\/, above kernel\/$/],
  ['lib/parts/mcp/session/a.ts', `import type { A } from '../request/context.ts'`, /on a storey above it/],
  ['lib/cellar/a.ts', '', /where the plan has no place/],
  ['lib/kernel/cellar/a.ts', '', /where the plan has no place/],
  ['lib/floors/cellar/a.ts', '', /where the plan has no place/],
  ['lib/parts/a.ts', '', /where the plan has no place/],
  ['lib/parts/a2a/a.ts', '', /on no storey of its unit/],
  ['lib/kernel/run/a.ts', `import { Fault } from './fault.js'`, /without \.ts/],
  ['lib/kernel/run/a.ts', `import { Fault } from './fault'`, /without \.ts/],
  ['lib/index.ts', `import { helper } from '../test/helper.ts'`, /leaves lib\//],
  ['lib/kernel/run/a.ts', `import { z } from 'zod'`, /a package/],
  ['lib/kernel/run/a.ts', `import { readFileSync } from 'fs'`, /lacks its node:/],
  ['lib/index.ts', `import { createServer } from 'node:http'`, /which is for kernel\/http\//],
  ['lib/kernel/server/a.ts', `import type { Server } from 'node:http'`, /which is for kernel\/http\//],
  ['lib/parts/mcp/session/a.ts', `const http = process.getBuiltinModule('node:http')`, /for kernel\/http\//],
  ['lib/parts/a2a/card/card.ts', `import { request } from 'node:https'`, /which is for kernel\/http\//],
  ['lib/kernel/run/a.ts', 'const a = 1\n'.repeat(501), /501 lines/],
  ['lib/kernel/run/a.ts', `const a = 1\n// ${'a'.repeat(108)}\n`,
    /^lib\/kernel\/run\/a\.ts:2 has 111 columns/],
  ['test/a.test.ts', `// ${'a'.repeat(108)}`, /^test\/a\.test\.ts:1 has 111 columns/],
  ['test/interop/a.mjs', `// ${'a'.repeat(108)}`, /^test\/interop\/a\.mjs:1 has 111 columns/],
  ['bench/a.js', `// ${'a'.repeat(108)}`, /^bench\/a\.js:1 has 111 columns/],
  ['lib/kernel/run/a.ts', 'return value instanceof Promise', /run\/a\.ts:1 asks for a class of a realm$/],
  ['lib/kernel/run/a.ts', 'return JSON.stringify(value)', /run\/a\.ts:1 writes JSON without formatJson/],
  ['lib/kernel/run/a.ts', 'const whoIsTold = 1', /run\/a\.ts:1 has the name whoIsTold/],
  ['lib/testing/store/rules/deep/deeper/a.ts', '', /deeper than 4 folders/],
  ['test/parts/mcp/revisions/a.test.ts', '', /deeper than two folders/],
]

test('the check of the plan finds every way to break it', () => {
  for (const [path, text, complaint] of broken) {
    const found = violations([{ path, text }])
    assert.equal(found.length, 1, `${path}: ${text.slice(0, 80)}`)
    assert.match(found[0]!, complaint)
  }
})

const fine: readonly (readonly [path: string, text: string])[] = [
  ['lib/kernel/run/a.ts',
    `import { compile } from '../schema/compile.ts'\nimport type { Parsed } from '../wire/json.ts'`],
  ['lib/kernel/store/a.ts',
    `import type { Store } from './store.ts'\nimport { Fault } from '../define/fault.ts'`],
  ['lib/kernel/http/server/a.ts',
    `import { createServer } from 'node:http'\nimport type { Limits } from '../../define/limits.ts'`],
  ['lib/kernel/http/access/a.ts', `import { type Limits, type Log } from '../../define/limits.ts'`],
  ['lib/parts/mcp/transport/a.ts',
    `import { DeferredStream } from '../../../floors/kept-streams/deferred-stream.ts'\n`
    + `import type { Reply } from '../../../kernel/http/message/exchange.ts'`],
  ['lib/parts/mcp-tasks/a.ts', `import { Session } from '../mcp/session/session.ts'`],
  ['lib/parts/skills/a.ts', `import { Session } from '../mcp/session/session.ts'`],
  ['lib/parts/a2a/push/push.ts', `import { request } from 'node:https'`],
  ['lib/floors/reply/a.ts', `import { Tasks } from '../tasks/tasks.ts'`],
  ['lib/stores/shared/a.ts', `import { Tasks } from '../../floors/tasks/tasks.ts'`],
  ['lib/agents/assistant/a.ts',
    `import { Fault } from '../../kernel/define/fault.ts'\nimport { add } from './b.ts'`],
  ['lib/agents/openai/a.ts',
    `import { isRecord } from '../../kernel/define/content.ts'\nimport '../../kernel/wire/json.ts'`],
  ['lib/kernel/http/server/a.ts', `import { MAX_TIMER_MS } from '../../util/clock.ts'`],
  ['lib/parts/mcp/request/a.ts', `import { Session } from '../session/session.ts'`],
  ['lib/kernel/schema/a.ts', `import { andThen } from '../util/thenable.ts'`],
  ['lib/cli.ts',
    `const { assistant } = await import('./agents/assistant/assistant.ts')\nawait import(url.href)`],
  ['lib/kernel/run/a.ts',
    `// import { a } from '../mcp/a.ts'\n/** See import('../mcp/a.ts'). */\n * import 'zod'`],
  ['lib/kernel/run/a.ts', 'const a = 1\n'.repeat(500)],
  ['lib/kernel/run/a.ts', `// ${'é'.repeat(107)}\n`],
  ['lib/kernel/run/a.ts',
    `throw new Fault('busy', 'Nobody is there')\n// Nobody told it.\nconst bestseller = 1`],
  ['test/kernel/run/a.test.ts', ''],
  ['bench/a.js', `import { createServer } from 'node:http'\n// ${'a'.repeat(107)}\n`],
  ['test/fixtures/mcp/2025-11-25/a.json', ''],
]

test('the check of the plan finds fields of a class that many extend', () => {
  const base = `export abstract class Base {\n  a = 1\n  readonly #b: A | undefined\n  declare c: number\n`
    + `  abstract readonly d: number\n\n  constructor() {\n    this.c = 1\n  }\n}\n`
  const heirs = ['A', 'B', 'C', 'D', 'E'].map((name) => `class ${name} extends Base {\n  e = 1\n}\n`)
  const path = 'lib/kernel/run/a.ts'
  assert.deepEqual(violations([{ path, text: base + heirs.slice(1).join('') }]), [])
  assert.deepEqual(violations([{ path, text: base + heirs.join('') }]), [
    `${path} has the field a in Base, which many extend`,
    `${path} has the field #b in Base, which many extend`,
  ])
})

test('the check of the plan lets through what is allowed', () => {
  for (const [path, text] of fine) assert.deepEqual(violations([{ path, text }]), [])
})

type Given = readonly [path: string, text: string]

const tangles: readonly (readonly [complaint: RegExp, ...files: readonly Given[]])[] = [
  [/^lib\/kernel\/run\/a\.ts, lib\/kernel\/run\/b\.ts import each other in a circle$/,
    ['lib/kernel/run/a.ts', `import { b } from './b.ts'`],
    ['lib/kernel/run/b.ts', `import type { A } from './a.ts'`]],
  [/a\.ts, lib\/kernel\/run\/b\.ts, lib\/kernel\/run\/c\.ts import each other/,
    ['lib/kernel/run/a.ts', `import { b } from './b.ts'`], ['lib/kernel/run/b.ts', `import './c.ts'`],
    ['lib/kernel/run/c.ts', `export { a } from './a.ts'`],
    ['lib/kernel/run/d.ts', `import { a } from './a.ts'`]],
  [/^lib\/kernel\/run\/a\.ts import each other in a circle$/,
    ['lib/kernel/run/a.ts', `import { a } from './a.ts'`]],
]

test('the check of the plan finds circles', () => {
  for (const [complaint, ...files] of tangles) {
    const found = violations(files.map(([path, text]) => ({ path, text })))
    assert.equal(found.length, 1, String(complaint))
    assert.match(found[0]!, complaint)
  }
})

const namesakeRows: readonly (readonly [complaint: RegExp, first: string, second: string])[] = [
  [/^One is defined in lib\/kernel\/run\/a\.ts and lib\/kernel\/define\/b\.ts$/,
    'export interface One {}', 'export const One = 1'],
  [/^one is defined/, 'export async function one() {}', 'export function* one() {}'],
  [/^One is defined/, 'export abstract class One {}', 'export type One = string'],
  [/^two is defined/, 'const one = 1\nexport { one as two }', 'export let two = 2'],
  [/^two is defined/, 'export {\n  one,\n  two,\n}', 'export { one as three, two }\n'],
]

test('the check of the plan finds a name that two files define', () => {
  for (const [complaint, first, second] of namesakeRows) {
    const other = { path: 'lib/kernel/define/b.ts', text: second }
    const files = [{ path: 'lib/kernel/run/a.ts', text: first }, other]
    const found = violations(files)
    assert.equal(found.length, 1, first)
    assert.match(found[0]!, complaint)
  }
})

test('the check of the plan lets a name be passed on, be private, and be defined again in a test', () => {
  const text = 'export function one(a: string): void\nexport function one(a: unknown): void {}\n'
  const others = [
    ['lib/kernel/run/b.ts', `export { one } from './a.ts'`],
    ['lib/kernel/run/c.ts', `export {\n  one,\n} from './a.ts'`],
    ['lib/kernel/run/d.ts', 'function one() {}\nexport { one as two }'],
    ['test/run/a.test.ts', 'export const one = 1'],
  ].map(([path = '', text = '']) => ({ path, text }))
  assert.deepEqual(violations([{ path: 'lib/kernel/run/a.ts', text }, ...others]), [])
})
