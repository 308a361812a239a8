import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../lib/define/fault.ts'
import { RemoteTasks } from '../../lib/tasks/remote-tasks.ts'
import type { PeerChannels, AcceptChannel } from '../../lib/state/peer-channels.ts'
import type { TaskRecovery, TaskSurroundings } from '../../lib/tasks/task-recovery.ts'
import type { Tasks } from '../../lib/tasks/tasks.ts'

/** What another process hears that asks for a task to be cancelled here, and whether it was. */
async function cancelled(tasks: Partial<Record<keyof Tasks, unknown>>): Promise<readonly unknown[]> {
  const takes = new Map<string, AcceptChannel>()
  const on = (kind: string, take: AcceptChannel): unknown => takes.set(kind, take)
  const lines = { on } as unknown as PeerChannels
  let isCancelled = false
  const run = { cancel: () => { isCancelled = true } }
  const here = { runOf: () => run, whenPersisted: () => undefined, ...tasks } as unknown as Tasks
  new RemoteTasks({ tasks: here } as TaskSurroundings, lines, {} as TaskRecovery)
  const heard = await new Promise((resolve) => {
    takes.get('task-act')!(['cancel', 'ann', 't'], {
      node: 'other', send: resolve, end: () => resolve('the end'),
    })
  })
  return [heard, isCancelled]
}

test('who asks for a task hears whether it was done, and nothing where that cannot be said now', async () => {
  assert.deepEqual(await cancelled({ get: () => ({ id: 't' }) }), ['done', true])
  assert.deepEqual(await cancelled({ get: () => undefined }), ['gone', false])
  assert.deepEqual(await cancelled({ runOf: () => undefined }), ['gone', false])
  const away = new Fault('busy', 'The store does not answer')
  assert.deepEqual(await cancelled({ get: () => Promise.reject(away) }), ['the end', false])
})
