/** What a server waits for when it begins. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { echo, listed, serve, sharedMemory } from '../../fixtures/kernel.ts'
import { slowStore } from '../../fixtures/slow-store.ts'

test('a server listens when others can reach it, and all the same where its store is away', async (t) => {
  const { store, done } = slowStore()
  await serve(t, { agents: [echo], store, leaseMs: 60_000 }).listen(0)
  assert.ok(done.includes('write leases'))
  const away = sharedMemory()
  const lost = away.connect()
  lost.isCut = true
  t.after(() => { lost.isCut = false })
  await serve(t, { agents: [echo], store: lost, leaseMs: 60_000, storeTimeoutMs: 50 }).listen(0)
  assert.deepEqual(listed(away.memory, 'leases', '~'), [])
})
