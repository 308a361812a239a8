/**
 * A part is taken away by its folder, and by the lines that name it in what is put together of all parts.
 * Without one that serves a protocol, what is tested below the preset passes all the same. Tests of what
 * stands above the parts are of everything together, and are left out.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import test from 'node:test'
import { copyWithout, filesIn, reachedFrom, runIn } from './fixtures/part-copy.ts'

const parts = readdirSync('lib/parts')
/** Without these, together, what is tested of all others passes. */
const serving: readonly (readonly string[])[] = [['http', 'openai'], ['a2a', 'agui'], ['mcp']]

const WHO = 'it calls its tool over plain HTTP, to see whose token it is'
const ASKED = 'it asks its agents over plain HTTP'
/** Tests that need another part besides their own, and why. A step takes one off; none is added. */
const tied: ReadonlyMap<string, readonly [parts: readonly string[], why: string]> = new Map([
  ['test/parts/docs/openapi.test.ts', [['http'], 'it looks at descriptions of what all parts have']],
  ['test/parts/http/query-run.test.ts', [['mcp'], 'it bounds calls, and those of a session of MCP']],
  ['test/parts/metrics/metrics.test.ts', [['http', 'mcp'], `${ASKED}, and counts sessions of MCP`]],
  ['test/parts/oauth/jwks.test.ts', [['http'], WHO]],
  ['test/parts/oauth/oauth-documents.test.ts', [['http'], WHO]],
  ['test/parts/oauth/oauth-families.test.ts', [['http'], WHO]],
  ['test/parts/oauth/oauth-provider.test.ts', [['http'], WHO]],
  ['test/parts/oauth/oauth-proxy.test.ts', [['http', 'a2a', 'mcp'], `${WHO}, and asks for one of each path`]],
  ['test/parts/oauth/oauth-token.test.ts', [['http'], WHO]],
  ['test/parts/telemetry/telemetry.test.ts', [['http', 'mcp'], `${ASKED}, and a session of MCP`]],
])

/** The parts that each takes something of. */
const needs = new Map(parts.map((part) => [part, new Set(filesIn(`lib/parts/${part}`)
  .filter((path) => path.endsWith('.ts'))
  .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/ from '(?:\.\.\/)+([\w-]+)\/[^']*'/g)])
  .map(([, name = '']) => name))]))

/** Parts and those that need them, which go with them. */
function goneWith(...parts: readonly string[]): ReadonlySet<string> {
  const gone = new Set(parts)
  for (const one of gone) for (const [name, needed] of needs) if (needed.has(one)) gone.add(name)
  return gone
}

/** What is tested below the preset, but for parts that are gone. */
function testsWithout(gone: ReadonlySet<string>): readonly string[] {
  return ['kernel', 'floors', 'parts'].flatMap((level) => filesIn(`test/${level}`)).filter((path) => (
    path.endsWith('.test.ts') && !path.endsWith('.slow.test.ts')
      && !gone.has(/^test\/parts\/([^/]+)/.exec(path)?.[1] ?? '')
      && tied.get(path)?.[0].some((part) => gone.has(part)) !== true
  ))
}

/** Whether a test can be another without those parts. */
function isTouched(path: string, gone: ReadonlySet<string>): boolean {
  return [...reachedFrom(path)].some((one) => (
    one.startsWith('lib/preset/') || gone.has(/^lib\/parts\/([^/]+)/.exec(one)?.[1] ?? '')
  ))
}

test('what is on the list is there', () => {
  const all = new Set(testsWithout(new Set()))
  assert.deepEqual([...tied.keys()].filter((path) => !all.has(path)), [])
})

for (const part of parts) {
  test(`lib/ compiles without ${part}`, (t) => {
    const copy = copyWithout(goneWith(part), [])
    t.after(() => rmSync(copy.folder, { recursive: true, force: true }))
    assert.equal(copy.complaints, '')
  })
}

for (const some of serving) {
  test(`what is tested below the preset passes without ${some.join(' and ')}`, (t) => {
    const gone = goneWith(...some)
    const tests = testsWithout(gone)
    const copy = copyWithout(gone, tests)
    t.after(() => rmSync(copy.folder, { recursive: true, force: true }))
    assert.equal(copy.complaints, '')
    const touched = tests.filter((path) => isTouched(path, gone))
    const { count, failed } = runIn(copy, touched)
    assert.deepEqual(failed, [])
    t.diagnostic(`${count} tests of ${touched.length} files ran without ${[...gone].join(', ')}`)
    for (const [path, [needed, reason]] of tied) {
      if (needed.some((one) => gone.has(one))) t.diagnostic(`${path} was left out: ${reason}`)
    }
  })
}
