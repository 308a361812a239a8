// Several deployments on one store see nothing of each other; the processes of one deployment share all.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore, sqliteStore } from '../lib/index.ts'
import { test } from './fixtures/at-once.ts'
import { eventually } from './fixtures/client.ts'
import { deployments, sharedMemory } from './fixtures/fleet.ts'
import { duties, serverOn, turn } from './fixtures/neighbours.ts'
import type { TestContext } from 'node:test'
import type { Open } from './fixtures/neighbours.ts'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const hasSqlite = major > 22 || (major === 22 && minor >= 13)
const noSqlite = !hasSqlite && 'this Node has no SQLite'

/** What opens a store that is new, again and again. */
const openers: Readonly<Record<string, (t: TestContext) => Open>> = {
  memory() {
    const store = memoryStore({ isShared: true })
    return () => store
  },
  'a store elsewhere': () => sharedMemory().connect,
  SQLite(t) {
    const path = mkdtempSync(join(tmpdir(), 'triport-neighbours-'))
    t.after(() => rmSync(path, { recursive: true, force: true }))
    return () => sqliteStore(join(path, 'state.db'))
  },
}

for (const [engine, openerOf] of Object.entries(openers)) {
  for (const [duty, attempt] of Object.entries(duties)) {
    test(`${engine}: ${duty}`, { skip: engine === 'SQLite' && noSqlite }, async (t) => {
      await attempt(t, () => openerOf(t))
    })
  }
}

const [OLD, NEW] = ['the old secret of a service', 'the new secret of a service']

test('a process that begins without its store finds its state when the store is there', async (t) => {
  const shared = sharedMemory()
  const first = serverOn(t, shared.connect(), { name: 'One', secret: [OLD, NEW] })
  assert.equal(await turn(first, 'hello'), '0 before')
  const cable = shared.connect()
  cable.isCut = true
  t.after(() => { cable.isCut = false })
  const second = serverOn(t, cable, { name: 'One', secret: NEW }, { storeTimeoutMs: 100 })
  assert.equal(await turn(second, 'hello'), '503')
  cable.isCut = false
  await eventually(() => second.status().store === 'reached')
  await eventually(async () => await turn(second, 'hello') !== '503')
  assert.equal(await turn(first, 'hello'), '4 before')
})

test('a store that has lost all is told again whose it is, for those who begin later', async (t) => {
  const shared = sharedMemory()
  const options = { leaseMs: 2_000 }
  const open = (secret: string | string[]) => serverOn(t, shared.connect(), { name: 'One', secret }, options)
  await turn(open([OLD, NEW]), 'hello')
  const running = open(NEW)
  assert.equal(await turn(running, 'hello'), '2 before')
  const { memory } = shared
  const ids = memory.read(deployments)!.value
  const [id] = ids.split(' ').slice(-1)
  memory.remove(deployments, 'any')
  for (const { key } of memory.list(`${id}/leases`, '~', 9)) {
    memory.remove({ collection: `${id}/leases`, owner: '~', key }, 'any')
  }
  await eventually(() => memory.read(deployments)?.value.includes(ids.split('\n')[1]!) === true)
  assert.equal(await turn(open(NEW), 'hello'), '4 before')
})

test('the digests of a deployment are told to nobody', async (t) => {
  const { memory, connect } = sharedMemory()
  const server = serverOn(t, connect(), { name: 'One', secret: OLD }, { metrics: true })
  await turn(server, 'hello')
  const id = memory.read(deployments)!.value.slice(-24)
  const paths = ['/metrics', '/health?verbose', '/status', '/ready', '/openapi.json', '/']
  const told = await Promise.all(paths.map(async (path) => (
    (await server.fetch(new Request(`http://x${path}`))).text()
  )))
  assert.doesNotMatch(JSON.stringify(server.status()) + told.join(), new RegExp(id))
})
