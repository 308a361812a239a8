import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { slownessOf } from './fixtures/expressions.ts'
import { costOf, costOfParsing } from './fixtures/time.ts'
import { tokensOf } from './fixtures/tokens.ts'

/** What may take more than linear time, by its file, and why it cannot take long. */
const exceptions: readonly (readonly [file: string, begin: string, why: string])[] = [
  ...['what percent', 'add', 'subtract', '(?:multiply', 'divide', 'increase', '(?:decrease', '(.+?%) off',
    '(?:a )?tip', 'difference', '(.+) (?:is|as)', '(sum|', 'how many (?<to>', '(?:what(?:\'s',
  ].map((begin) => (
    ['agents/assistant/understand.ts', `^${begin}`, 'sentences have at most 400 characters'] as const)),
  ['agents/assistant/understand.ts', '^[ =]+|[ ?.=]+$', 'sentences have at most 400 characters'],
  ['agents/assistant/understand.ts', '!+$', 'sentences have at most 400 characters'],
  ['agents/assistant/understand.ts', '\\d.*that', 'a sentence and a result have at most 1,400 characters'],
  ['agents/assistant/understand.ts', '^(.*) ([=≈]) (.+)$', 'of an answer 1,000 characters are read'],
  ['agents/assistant/understand.ts', ' is (\\d[\\w ,]*?)', 'of an answer 1,000 characters are read'],
  ['agents/assistant/understand.ts', '^(?:.{0,30}?\\b(?:years?|months?',
    'sentences have at most 400 characters'],
  ['agents/assistant/understand.ts', '^(?:(?:what(?:\'s| is| was| time',
    'sentences have at most 400 characters'],
  ['agents/assistant/calculate.ts', '(?<!\\p{L}\\s*', 'expressions have at most 1,000 characters'],
  ['agents/assistant/calculate.ts', '(?<=\\p{L}\\s*)', 'expressions have at most 1,000 characters'],
  ['agents/assistant/calculate.ts', '(?<=[\\d.]\\s*)', 'expressions have at most 1,000 characters'],
  ['agents/assistant/calculate.ts', '(?<![\\d.^/]\\s*)', 'expressions have at most 1,000 characters'],
  ['agents/assistant/quantity.ts', '([\\d/]+): ', 'its text is the table in that file'],
  ['cli/edit-json.ts', '(?:\\s|\\/\\/', 'a comment that does not end is the end of what is read'],
  ['cli/manifest.ts', '\\b(github', 'its text is a member of the author\'s own package.json'],
  ['cli/declarations.ts', '(?<=(?:from ', 'it reads what is shipped'],
  ['cli/packed.ts', '^const .+ = ', 'it reads what is shipped'],
  ['cli/packed.ts', '^export const ', 'it reads what is shipped'],
  ['parts/apps/tool-ui.ts', '^\\uFEFF?', 'a comment ends at its first -->, so it is read in one way'],
  ['parts/docs/docs.ts', '^ *', 'its text is the page beside it'],
  ['kernel/schema/resource.ts', '^([^:', 'there is no text that it does not fit'],
]

/** Two numbers of one exception are both used. */
const used = new Set<number>()

/** Without a file, it may be any. */
function slow(file: string | undefined, source: string, flags: string): string | undefined {
  const why = slownessOf(source, flags)
  if (why === undefined) return undefined
  const index = exceptions.findIndex(([path, begin]) => path === (file ?? path) && source.startsWith(begin))
  used.add(index)
  return index < 0 ? `${file} /${source}/${flags}: ${why}` : undefined
}

test('what is slow is told from what is not', () => {
  const squared = ['\\s+$', 'a*a*b', '^\\s*(.*)$', '(?:a|b)*c', 'x(?=.*y)', '<!--[^]*?-->', '(a+)+$',
    '^(?:a|a)*$', '^(a*)*b', '[^/]+$', '"(?:[^"\\\\]|\\\\.)*"', '(?<=a\\s*)b', '^[^;]+[^,]*;x',
    '^a+.?a+$', '\\d+\\.\\d+', '(?:a*b)*']
  const linear = ['^\\s+', '\\s+', '(?<!\\s)\\s+$', '^(?:a|b)*c', 'a[^]*$', '^[a-z]+(?:-[a-z]+)*$',
    '^(?!.*x)a', 'a{1,9}b', '<!--[^]*?(?:-->|$)', '"(?:[^"\\\\]|\\\\.)*"?', '^([^;]+);([^;]+)$',
    '(?<![^/])[^/]+$', '\\ba\\b']
  assert.deepEqual(squared.filter((source) => slownessOf(source, '') === undefined), [])
  assert.deepEqual(linear.filter((source) => slownessOf(source, '') !== undefined), [])
})

test('every regular expression that stands in lib takes linear time, or its text is short', () => {
  const found: (string | undefined)[] = []
  const files = readdirSync('lib', { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
  for (const file of files) {
    if (!/\.ts$|docs\.html$/.test(file)) continue
    const text = readFileSync(join('lib', file), 'utf8').replace(/^#!.*/, '')
    const scripts = file.endsWith('.ts') ? [text]
      : [...text.matchAll(/<script(?: type="module")?>([^]*?)<\/script>/g)].map(([, script = '']) => script)
    assert.ok(scripts.length > 0, `${file} has no script`)
    for (const { kind, text: token } of scripts.flatMap(tokensOf)) {
      if (kind !== 'pattern') continue
      const end = token.lastIndexOf('/')
      found.push(slow(file, token.slice(1, end), token.slice(end + 1)))
    }
  }
  assert.ok(found.length > 450, `${found.length} expressions`)
  assert.deepEqual(found.filter((one) => one !== undefined), [])
})

test('the expression by which the page of docs reads Markdown takes no longer for what never ends', () => {
  const page = readFileSync('lib/parts/docs/docs.html', 'utf8')
  const made = /INLINE = new RegExp\(\[([^]*?)\]\.join\('\|'\), '(\w+)'\)/.exec(page)
  const [, parts = '', flags = ''] = made ?? []
  const strings = tokensOf(parts).filter(({ kind }) => kind === 'text')
  const source = strings.map(({ text }) => text.slice(1, -1).replace(/\\(.)/g, '$1')).join('|')
  const inline = new RegExp(source, flags)
  assert.deepEqual('**a** `b` [c](d) <https://e> ~~f~~ _g_'.match(inline)?.length, 6)
  // What it refers back to can only be tried. Each part begins here again and again, and ends nowhere.
  const limit = 150 * costOfParsing()
  for (const begin of ['**a ', '__a ', '*a ', '_a ', '`a ', '`', '``a `b ', '[a](', '[', '~~a ', '<https:',
    'https://', '\\', 'a']) {
    const text = begin.repeat(160_000 / begin.length)
    const cost = costOf(() => { text.match(inline) }, limit)
    assert.ok(cost < limit, `${begin}: ${cost} ms of at most ${limit}`)
  }
})

test('every regular expression that is made takes linear time, or its text is short', async (t) => {
  // The runtime has read a pattern before the expressions there do.
  await import(pathToFileURL('.test/lib/kernel/schema/pattern.js').href)
  const made = new Map<string, readonly [source: string, flags: string]>()
  const Native = globalThis.RegExp
  const note = (source: unknown, flags = ''): RegExp => {
    if (typeof source !== 'string') return Native(source instanceof Native ? source : String(source))
    made.set(`${source}/${flags}`, [source, flags])
    return new Native(source, flags)
  }
  globalThis.RegExp = new Proxy(Native, {
    apply: (_target, _this, [source, flags]: [unknown, string?]) => note(source, flags),
    construct: (_target, [source, flags]: [unknown, string?]) => note(source, flags),
  })
  t.after(() => { globalThis.RegExp = Native })
  const rooms = [
    'kernel/wire', 'kernel/define', 'kernel/http', 'floors/lines', 'parts/a2a', 'agents/assistant', 'cli',
  ]
  for (const room of rooms) {
    const folder = pathToFileURL(`.test/lib/${room}/`)
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      // Two read files beside the package as they load.
      if (/(?<!new|vendor)\.js$/.test(name)) await import(new URL(name, folder).href)
    }
  }
  const { formats }: { readonly formats: ReadonlyMap<string, () => boolean> } = await import(
    pathToFileURL('.test/lib/kernel/schema/format.js').href)
  const fuel = { pay() {} }
  for (const is of formats.values()) Reflect.apply(is, undefined, ['x-\u00e9.ab@c', fuel])
  globalThis.RegExp = Native
  assert.ok(made.size > 40, `${made.size} expressions`)
  const found = [...made.values()].map(([source, flags]) => slow(undefined, source, flags))
  assert.deepEqual(found.filter((one) => one !== undefined), [])
  const unused = exceptions.filter((_, index) => !used.has(index))
  assert.deepEqual(unused, [])
})
