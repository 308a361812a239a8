import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { memoryStore, redisStore, sqliteStore } from '../../../lib/index.ts'
import type { Store } from '../../../lib/index.ts'
import type { TestContext } from 'node:test'

const stores: readonly (readonly [what: string, make: (t: TestContext) => Store])[] = [
  ['memory', () => memoryStore()],
  ['memory that others share', () => memoryStore({ isShared: true })],
]

/** Node has SQLite since 22.13. */
const hasSqlite = process.getBuiltinModule?.('node:sqlite') !== undefined
const all = !hasSqlite ? stores : [...stores, ['a file', (t: TestContext) => {
  const path = mkdtempSync(join(tmpdir(), 'triport-pages-'))
  const store = sqliteStore(join(path, 'a.db'))
  t.after(async () => {
    await store.close?.()
    rmSync(path, { recursive: true, force: true })
  })
  return store
}] as const]
if (!hasSqlite) console.log('pages: without a file: this Node has no SQLite')

for (const [what, make] of all) {
  test(`in ${what}, pages have each entry once, though some leave between them`, async (t) => {
    const store = make(t)
    const at = (key: string, owner = 'ann'): { collection: string; owner: string; key: string } => (
      { collection: 'things', owner, key }
    )
    for (const [nth, key] of [...'abcdefgh'].entries()) {
      // What is kept for ever, and what is not, lie in one list.
      await store.write(at(key), key, nth % 3 === 0 ? Infinity : 60_000, 0)
      await store.write(at(key, 'bob'), 'of bob', 60_000, 0)
    }
    const pages: string[] = []
    let before: number | undefined
    for (const gone of ['f', 'd', 'h', 'b']) {
      const page = await store.list('things', 'ann', 2, before)
      pages.push(page.map(({ value }) => value).join(''))
      before = page.at(-1)?.version
      // One that comes next, one behind which the next page begins, and those that were shown.
      assert.equal(await store.remove(at(gone), 'any'), true)
    }
    assert.deepEqual(pages, ['hg', 'ed', 'cb', 'a'])
  })
}

test('a list of Redis goes on behind each part, and asks for no more than is wanted', async () => {
  const kept = [5, 4, 3, 2, 1]
  const asked: string[] = []
  const store = redisStore({
    async command([, , , , , , from, wanted]) {
      asked.push(`${from} ${wanted}`)
      const version = kept.find((one) => from === '' || one < Number(from))
      if (version === undefined) return ['']
      return [version > 1 ? `${version}` : '', `key ${version}`, `${version}`, '']
    },
    subscribe: async () => () => {},
  })
  const versions = async (limit: number, before?: number): Promise<readonly number[]> => (
    (await store.list('things', 'ann', limit, before)).map(({ version }) => version)
  )
  assert.deepEqual(await versions(2), [5, 4])
  assert.deepEqual(asked, [' 2', '5 1'])
  assert.deepEqual(await versions(9, 4), [3, 2, 1])
  assert.deepEqual(asked.slice(2), ['4 9', '3 8', '2 7'])
})
