import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import test from 'node:test'
import { kernelDefaults } from '../lib/kernel/define/limits.ts'

const ENTRY = 'lib/kernel.ts'
const COMMENT = /^\s*(?:\/\/|\/?\*).*$/gm
const IMPORT = /(?:from |import\()'(\.[^']+)'/g
/** Names of protocols, of their parts and headers, and of products. */
const WORDS = new RegExp([
  String.raw`\b(?:[Mm]cp|MCP|[Aa]2a|A2A|ACP|acp\b|AG-UI|agui|[Oo]pen[Aa][Ii]|AI SDK|ui-stream)`,
  '[a-z](?:Mcp|A2a|OpenAi)',
].join('|'), 'g')

/** The words that stand in a file all the same, in code or in comments, and why. A step takes rows away. */
const spoken: readonly (readonly [path: string, words: string, why: string])[] = [
  ['lib/kernel/define/call.ts', 'a2a acp mcp', 'the type of call.protocol names what the preset serves'],
  ['lib/kernel/http/message/headers.ts', 'a2a mcp', 'the one scan of headers has a fixed shape'],
]

/** What a module may change while it runs, and why it is no member of a server. */
const kept: ReadonlyMap<string, string> = new Map([
  ['lib/kernel/define/agent.ts', 'what an agent was made of, which a frozen agent does not show'],
  ['lib/kernel/define/around.ts', 'errors that are its own'],
  ['lib/kernel/run/warnings.ts', 'each mistake is logged once for each log'],
  ['lib/kernel/schema/dialects.ts', 'a table that is made when it is first used'],
  ['lib/kernel/wire/random.ts', 'bytes that were drawn ahead'],
  ['lib/kernel/http/message/headers.ts', 'spellings of names that have been seen, within a bound'],
  ['lib/kernel/http/server/body-parts.ts', 'memory that all servers of a process take turns with'],
  ['lib/kernel/http/server/request.ts', 'ids that are unique in a process'],
  ['lib/kernel/http/stream/loop-fairness.ts', 'sockets, which are Node\'s'],
])
const STATE = new RegExp([
  String.raw`^let `,
  String.raw`^(?:export )?const \w+(?:: (?!Readonly)[^=]+)? = new (?:Weak)?(?:Map|Set)(?:<[^(]*>)?\(\)`,
  String.raw`^(?:export )?const \w+(?:: (?!readonly )[^=]+)? = \[\]$`,
].join('|'), 'm')

/** Tests of the kernel that take more than it and the fixtures, and why. A step takes rows away. */
const beyond: ReadonlyMap<string, string> = new Map([
  ['test/kernel/http/endpoints.test.ts', 'it carries the source of a floor, and reads events'],
])

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => posix.join(folder, ...path.split(/[\\/]/)))
    .filter((path) => path.endsWith('.ts')).toSorted()
}

const modules = filesIn('lib/kernel')
const textOf = (path: string): string => readFileSync(path, 'utf8')
const codeOf = (path: string): string => textOf(path).replace(COMMENT, '')

const targetsOf = (path: string): readonly string[] => (
  [...codeOf(path).matchAll(IMPORT)].map(([, target = '']) => posix.join(posix.dirname(path), target))
)

/** The files that the first ones import, and what these import in turn where `isFollowed` says so. */
function reachedFrom(first: readonly string[], isFollowed: (path: string) => boolean): ReadonlySet<string> {
  const reached = new Set(first)
  for (const path of reached) {
    if (isFollowed(path)) for (const target of targetsOf(path)) reached.add(target)
  }
  return reached
}

test('every module of the kernel is reached from its entry, and nothing else is', () => {
  const reached = [...reachedFrom([ENTRY], () => true)].filter((path) => path !== ENTRY)
  assert.deepEqual(reached.toSorted(), modules)
})

test('tests of the kernel take it and fixtures, which take floors, but where a reason is given', () => {
  const isKernel = (path: string): boolean => path === ENTRY || path.startsWith('lib/kernel/')
  const tests = filesIn('test/kernel')
  const outside = tests.filter((path) => !targetsOf(path).every((target) => (
    isKernel(target) || /^test\/(?:kernel|fixtures)\//.test(target)
  )))
  assert.deepEqual(outside, [...beyond.keys()].toSorted())
  const reached = [...reachedFrom(tests, (path) => path.startsWith('test/'))]
  assert.deepEqual(reached.filter((path) => !isKernel(path) && !/^(?:test|lib\/floors)\//.test(path)), [])
})

test('no word of a protocol stands in the kernel, but where a reason is given', () => {
  const found = modules.map((path) => [path, [...new Set(textOf(path).match(WORDS))].toSorted().join(' ')])
  assert.deepEqual(found.filter(([, words]) => words !== ''), spoken.map(([path, words]) => [path, words]))
})

test('no module of the kernel has a state of its own, but where a reason is given', () => {
  assert.deepEqual(modules.filter((path) => codeOf(path).search(STATE) >= 0), [...kept.keys()].toSorted())
})

test('a limit of the kernel bounds it, a floor or several parts: that of one part is its option', () => {
  const users = new Map(Object.keys(kernelDefaults).map((name) => [name, new Set<string>()]))
  for (const path of ['lib/kernel', 'lib/floors', 'lib/parts'].flatMap(filesIn)) {
    if (path === 'lib/kernel/define/limits.ts') continue
    const [, level = '', unit = ''] = path.split('/')
    for (const [word] of codeOf(path).matchAll(/\b[a-z]\w+/g)) {
      users.get(word)?.add(level === 'parts' ? unit : 'below all parts')
    }
  }
  const ofOne = [...users].filter(([, { size }]) => size < 2).filter(([, all]) => !all.has('below all parts'))
  assert.deepEqual(ofOne.map(([name, [part]]) => `${name}: ${part}`), [])
})
