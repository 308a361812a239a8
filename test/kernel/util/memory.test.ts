import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import test from 'node:test'
import { promisify } from 'node:util'

const MiB = 1024 * 1024

test('what is held without an option of the server follows the memory that there is', async () => {
  const [main, remote, session, quota] = [
    'index', 'stores/remote/remote', 'parts/mcp/session/session', 'kernel/util/quota',
  ]
    .map((name) => new URL(`../../../lib/${name}.js`, import.meta.url).href)
  const print = `const { memoryStore } = await import('${main}')
    const { publisher } = await import('${remote}')
    const { Sessions, watch } = await import('${session}')
    const { PlainLease } = await import('${quota}')
    const { watched } = new Sessions({ maxSessions: 1 }, undefined)
    const store = memoryStore()
    const owner = 'ann'
    for (let key = 0; key < 50; key++) {
      store.write({ collection: 'c', owner, key: String(key) }, 'x'.repeat(${MiB}), 60_000, 'any')
    }
    const kept = store.list('c', owner, Infinity).length
    const publish = publisher(() => new Promise(() => {}))('topic', '', undefined, ${40 * MiB})
    const said = await Promise.race([publish, 0]).catch((error) => error.kind)
    let refused = 0
    try {
      watch(watched, new PlainLease('a'), new Array(20).fill('x'.repeat(${2 * MiB})))
    } catch (error) { refused = error.kind }
    console.log(JSON.stringify([kept <= 40, said, refused]))`
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--max-old-space-size=96', '--input-type=module', '-e', print,
  ])
  assert.deepEqual(JSON.parse(stdout), [true, 'busy', 'busy'])
})
