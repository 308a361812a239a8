import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import test from 'node:test'
import { promisify } from 'node:util'

const MiB = 1024 * 1024

test('what is held without an option of the server follows the memory that there is', async () => {
  const [main, publishing, subscriptions] = ['index', 'store/topics/publishing', 'mcp/session/subscriptions']
    .map((name) => new URL(`../../lib/${name}.js`, import.meta.url).href)
  const print = `const { memoryStore } = await import('${main}')
    const { Publishing } = await import('${publishing}')
    const { WatchedBytes } = await import('${subscriptions}')
    const store = memoryStore()
    const owner = 'ann'
    for (let key = 0; key < 50; key++) {
      store.write({ collection: 'c', owner, key: String(key) }, 'x'.repeat(${MiB}), 60_000, 'any')
    }
    const kept = store.list('c', owner, Infinity).length
    const publishing = new Publishing(() => new Promise(() => {}))
    const publish = publishing.publish('topic', '', undefined, ${40 * MiB})
    const said = await Promise.race([publish, 0]).catch((error) => error.kind)
    let watched = 0
    try {
      new WatchedBytes().take(new Array(20).fill('x'.repeat(${2 * MiB})))
    } catch (error) { watched = error.kind }
    console.log(JSON.stringify([kept <= 40, said, watched]))`
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--max-old-space-size=96', '--input-type=module', '-e', print,
  ])
  assert.deepEqual(JSON.parse(stdout), [true, 'busy', 'busy'])
})
