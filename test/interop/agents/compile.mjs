/** Compiles a file against the types of triport and of the packages beside it: no test itself. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

/** Tests that `types.ts` in a folder compiles, and each of its lines that must not does not. */
export function compiles(folder, { skip = false } = {}) {
  const missing = skip || (!existsSync(at('dist/index.d.ts')) && 'triport is not built: npm run build')
  const title = 'agents of these frameworks are taken by their types, and mistakes are not'
  test(title, { skip: missing, timeout: 300_000 }, async () => {
    const args = [
      at('node_modules/typescript/bin/tsc'), '--project', fileURLToPath(new URL('tsconfig.json', folder)),
    ]
    const said = await new Promise((resolve) => {
      execFile(process.execPath, args, (_error, output, errors) => resolve(output + errors))
    })
    assert.equal(said, '')
  })
}
