import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../lib/define/limits.ts'
import { Tasks } from '../../lib/tasks/tasks.ts'
import { sharedStore } from '../fixtures/shared-store.ts'

/** A task whose end is on its way into a store that takes its time, and is given as much as it takes. */
async function ending(): Promise<{ readonly tasks: Tasks; readonly id: string }> {
  const tasks = new Tasks(limitsOf({ storeTimeoutMs: Infinity }), sharedStore(10), () => {})
  const { id } = await tasks.create({
    owner: 'ann', protocol: 'a2a', runnable: { kind: 'agent', name: 'bot' }, contextId: 'c',
    sessionId: undefined, ttlMs: undefined,
  })
  tasks.move(id, 'working')
  await tasks.whenPersisted(id)
  tasks.move(id, 'completed')
  return { tasks, id }
}

test('without a limit, who reads a task waits until its end is kept', async () => {
  const { tasks, id } = await ending()
  assert.equal((await tasks.get('ann', id))?.status.state, 'completed')
})

test('without a limit, a process that closes waits until all ends are kept', async () => {
  const { tasks } = await ending()
  assert.equal(await tasks.ownership!.written(), true)
})
