/**
 * Several deployments in one Redis, one PostgreSQL, one file: none finds anything of another, the processes
 * of one share all, also while their secret is replaced. Skips itself, and says so, where something is not
 * there.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { duties } from '../../../.test/test/fixtures/neighbours.js'
import { noPostgres, noRedis, postgresClients, redisClients, startPostgres, startRedis } from './servers.mjs'

/** All processes of all duties together are more than a server of PostgreSQL lets in with eight each. */
const few = { max: 2 }

for (const [engine, skip, start, connect] of [
  ['Redis', noRedis, startRedis, redisClients['ioredis 6']],
  ['PostgreSQL', noPostgres, startPostgres, postgresClients['postgres.js']],
]) {
  test(engine, { skip }, async (t) => {
    const server = await start()
    t.after(() => server.end())
    let count = 0
    for (const [duty, attempt] of Object.entries(duties)) {
      await t.test(duty, async (t) => {
        const ends = []
        try {
          await attempt(t, () => {
            const prefix = `store_${++count}`
            return async () => {
              const { store, end } = await connect(server.url, { prefix }, few)
              ends.push(async () => {
                await store.close()
                await end()
              })
              return store
            }
          })
        } finally {
          await Promise.all(ends.map((end) => end()))
        }
      })
    }
  })
}

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const node24 = at('node_modules/node/bin/node')
const noNode = !existsSync(node24) && 'there is no Node 24: npm ci in test/interop/scale'

test('SQLite', { skip: noNode }, () => {
  const args = ['--no-warnings', '--test-reporter', 'tap', at('../../../.test/test/neighbours.test.js')]
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  const { stdout, status } = spawnSync(node24, args, { encoding: 'utf8', env, timeout: 120_000 })
  assert.match(stdout, /^ *ok \d+ - SQLite: with another secret nothing of a neighbour is found$/m)
  assert.equal(status, 0, stdout)
})
