/**
 * A part is taken away by its folder, and by the lines that name it in what is put together of all parts.
 * Without one that serves a protocol, what is tested below the preset passes all the same. Tests of what
 * stands above the parts are of everything together, and are left out.
 */
import assert from 'node:assert/strict'
import { readdirSync, rmSync } from 'node:fs'
import test from 'node:test'
import { kernelOptionsOf } from '../lib/preset/create-server.ts'
import { copyWithout, filesIn, reachedFrom, runIn } from './fixtures/part-copy.ts'

const parts = readdirSync('lib/parts')
/** Without each of these the tests of all others pass. */
const serving = ['mcp', 'a2a', 'http', 'openai', 'agui']

/** Parts that cannot be taken away so, and why. A step takes one off; none is added. */
const bound: ReadonlyMap<string, string> = new Map([
  ['mcp', 'serveStdio serves it where no other is named, and the command configures its hosts'],
])

const WHO = 'it calls its tool over plain HTTP, to see whose token it is'
const ASKED = 'it asks its agents over plain HTTP'
/** Tests that need another part besides their own, and why. A step takes one off; none is added. */
const tied: ReadonlyMap<string, readonly [parts: readonly string[], why: string]> = new Map([
  ['test/parts/docs/openapi.test.ts', [['http'], 'it looks at descriptions of what all parts have']],
  ['test/parts/metrics/metrics.test.ts', [['http'], ASKED]],
  ['test/parts/oauth/jwks.test.ts', [['http'], WHO]],
  ['test/parts/oauth/oauth-documents.test.ts', [['http'], WHO]],
  ['test/parts/oauth/oauth-families.test.ts', [['http'], WHO]],
  ['test/parts/oauth/oauth-provider.test.ts', [['http'], WHO]],
  ['test/parts/oauth/oauth-proxy.test.ts', [['http', 'a2a'], `${WHO}, and asks for one of the path of A2A`]],
  ['test/parts/oauth/oauth-token.test.ts', [['http'], WHO]],
  ['test/parts/telemetry/telemetry.test.ts', [['http', 'mcp'], `${ASKED}, and a session of MCP`]],
])

/** What each part of the preset needs, as it says itself. */
const needs = new Map(kernelOptionsOf({
  agents: [() => ''], protocol: 'all', skills: [{ name: 'a', description: 'a', instructions: 'a' }],
}).parts.map((part) => [part.name, part.needs ?? []]))

/** A part and those that need it, which go with it. */
function goneWith(part: string): ReadonlySet<string> {
  const gone = new Set([part])
  for (const one of gone) for (const [name, needed] of needs) if (needed.includes(one)) gone.add(name)
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

test('what is on the lists is there', () => {
  assert.deepEqual([...bound.keys()].filter((part) => !parts.includes(part)), [])
  const all = new Set(testsWithout(new Set()))
  assert.deepEqual([...tied.keys()].filter((path) => !all.has(path)), [])
})

for (const part of parts) {
  const why = bound.get(part)
  const tests = serving.includes(part) ? testsWithout(goneWith(part)) : []
  const passes = tests.length === 0 ? '' : ', and what is tested below the preset passes'
  test(why === undefined ? `lib/ compiles without ${part}${passes}` : `lib/ needs ${part}: ${why}`, (t) => {
    const gone = goneWith(part)
    const copy = copyWithout(gone, why === undefined ? tests : [])
    t.after(() => rmSync(copy.folder, { recursive: true, force: true }))
    if (why !== undefined) {
      return assert.notEqual(copy.complaints, '', `lib/ compiles without ${part}; take it off the list`)
    }
    assert.equal(copy.complaints, '')
    const touched = tests.filter((path) => isTouched(path, gone))
    if (touched.length === 0) return
    const { count, failed } = runIn(copy, touched)
    assert.deepEqual(failed, [])
    t.diagnostic(`${count} tests of ${touched.length} files ran without ${[...gone].join(', ')}`)
    for (const [path, [needed, reason]] of tied) {
      if (needed.some((one) => gone.has(one))) t.diagnostic(`${path} was left out: ${reason}`)
    }
  })
}
