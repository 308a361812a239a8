/**
 * The official conformance suite, against everything: both requirement sets, what they do not score, and
 * the two older revisions that the suite knows. No failure and no warning anywhere.
 *
 * The suite needs Node 22; where this one is older, the binary of the package `node` runs it.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { missing, modules, node22, startEverything } from './start.mjs'

const SUITE = '@modelcontextprotocol/conformance'

const runs = [
  {
    name: 'requirements of 2025-11-25', args: ['--requirements', '2025-11-25'], required: '2025-11-25',
    least: 33,
  },
  {
    name: 'requirements of 2026-07-28', args: ['--requirements', '2026-07-28'], required: '2026-07-28',
    least: 50,
  },
  {
    name: 'all scenarios at 2025-06-18', args: ['--suite', 'all', '--spec-version', '2025-06-18'], least: 27,
  },
  { name: 'all scenarios at 2025-03-26', args: ['--suite', 'all', '--spec-version', '2025-03-26'], least: 1 },
]

/** Scenarios of extensions that no run above has: each is run by itself, at the newest revision. */
const extensions = ['sep-2640-skills-enumeration', 'sep-2640-skills-manifest', 'sep-2640-skills-directory']

/** Scenarios of which the suite itself says that they prove nothing: always skipped. */
const unproven = new Set(['tasks-status-notifications'])

const skip = missing(SUITE) || (node22() === undefined && 'no Node 22 to run the suite with')
let server
before(async () => { if (!skip) server = await startEverything() })
after(() => server?.stop())

/** What a requirement file lists for servers. */
function requiredFor(revision) {
  const yaml = readFileSync(join(modules, SUITE, `requirements/${revision}.yaml`), 'utf8')
  const [, list] = /^server:\n((?: +- .*\n| *#.*\n)+)/m.exec(yaml)
  return list.split('\n').map((line) => /^ +- ([\w-]+)/.exec(line)?.[1]).filter((name) => name !== undefined)
}

/** Runs the suite; the checks by scenario. */
async function runSuite(args) {
  const out = mkdtempSync(join(tmpdir(), 'conformance-'))
  try {
    const cli = join(modules, SUITE, 'dist/index.js')
    const all = [cli, 'server', '--url', `${server.url}/mcp`, ...args, '-o', out]
    // Its exit code tells less than the checks that it writes.
    const ran = promisify(execFile)(node22(), all, { maxBuffer: 64 * 1024 * 1024 })
    const { stdout } = await ran.catch((error) => error)
    const checks = new Map(readdirSync(out).map((folder) => [
      /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(folder)[1],
      JSON.parse(readFileSync(join(out, folder, 'checks.json'), 'utf8')),
    ]))
    return { checks, total: /^Total: .*$/m.exec(stdout ?? '')?.[0] }
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

for (const { name, args, required, least } of runs) {
  test(`the conformance suite passes: ${name}`, { skip, timeout: 180_000 }, async (t) => {
    const { checks, total } = await runSuite(args)
    t.diagnostic(`${checks.size} scenarios. ${total}`)
    assert.ok(checks.size >= least, `${checks.size} scenarios ran, not ${least}`)
    for (const scenario of required === undefined ? [] : requiredFor(required)) {
      assert.ok(checks.has(scenario), `${scenario} did not run`)
    }
    for (const [scenario, all] of checks) {
      await t.test(scenario, () => {
        const bad = all.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
        assert.deepEqual(bad.map(({ id, errorMessage }) => ({ id, errorMessage })), [])
        if (unproven.has(scenario)) return
        assert.ok(all.some(({ status }) => status === 'SUCCESS'), 'nothing was checked')
        for (const check of all.filter(({ id }) => id === 'wire-schema-valid')) assert.equal(
          check.status, 'SUCCESS',
        )
      })
    }
  })
}

for (const scenario of extensions) {
  test(`the conformance suite skips nothing of ${scenario}`, { skip, timeout: 120_000 }, async (t) => {
    const { checks, total } = await runSuite(['--scenario', scenario])
    t.diagnostic(String(total))
    const all = checks.get(scenario)
    assert.ok(all?.length > 5, `${all?.length} checks`)
    const bad = all.filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO')
    assert.deepEqual(bad.map(({ id, status, errorMessage }) => ({ id, status, errorMessage })), [])
  })
}
