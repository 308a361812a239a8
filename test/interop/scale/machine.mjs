/**
 * Stores of one machine: a file on each Node that has SQLite, and the primary of a cluster. Skips itself,
 * and says so, where there is no such Node.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const nodes = { 22: at('../node_modules/node/bin/node'), 24: at('node_modules/node/bin/node') }

async function run(node, args) {
  const child = spawn(node, ['--no-warnings', at('processes.mjs'), ...args], { stdio: 'inherit' })
  assert.deepEqual(await once(child, 'exit'), [0, null])
}

for (const [version, node] of Object.entries(nodes)) {
  const skip = !existsSync(node)
    && `there is no Node ${version}: npm ci in test/interop and test/interop/scale`
  if (skip) console.log(`machine: skipped in part: ${skip}`)
  test(`processes on Node ${version} share a file`, { skip }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'triport-sqlite-'))
    t.after(() => rmSync(folder, { recursive: true }))
    await run(node, ['file', join(folder, 'state.db')])
  })
}

test('workers of a cluster share what their primary keeps', async () => {
  await run(process.execPath, ['cluster'])
})
