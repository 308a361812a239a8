import assert from 'node:assert/strict'
import test from 'node:test'
import { pushBodyOf } from '../../lib/a2a/push-body.ts'
import { v03 } from '../../lib/a2a/v03.ts'
import { v1 } from '../../lib/a2a/v1.ts'
import { serviceWith, taskOf } from '../fixtures/webhook.ts'
import type { ToldEvent } from '../../lib/a2a/task-view.ts'
import type { Task } from '../../lib/core/task.ts'

interface Happened { readonly task: Task; readonly event: ToldEvent }

/** A task that writes one artifact and is done. */
async function life(): Promise<readonly Happened[]> {
  const { tasks } = serviceWith(undefined)
  const { id } = await taskOf({ ...serviceWith(undefined), tasks })
  const happened: Happened[] = []
  tasks.watch('ann', id, (event, { task }) => {
    if (event.what !== 'forgotten') happened.push({ event, task })
    return undefined
  })
  tasks.addArtifact(id, { id: 'a', parts: [{ type: 'text', text: 'yes' }] })
  tasks.move(id, 'completed')
  return happened
}

test('1.0 is told each event, and the task where there is none', async () => {
  assert.equal(v1.pushType, 'application/a2a+json')
  const [written, done] = await life() as [Happened, Happened]
  const members = (text: string): readonly string[] => Object.keys(JSON.parse(text) as object)
  assert.deepEqual(members(pushBodyOf(v1, written.task, written.event)), ['artifactUpdate'])
  assert.deepEqual(members(pushBodyOf(v1, done.task, done.event)), ['statusUpdate'])
  assert.deepEqual(members(pushBodyOf(v1, done.task, undefined)), ['task'])
})

test('0.3 is told the whole task, whatever happened', async () => {
  assert.deepEqual([v03.pushType, v03.pushesTasks], ['application/json', true])
  const happened = await life()
  const states = ['submitted', 'completed']
  for (const [nth, { task, event }] of happened.entries()) {
    for (const body of [pushBodyOf(v03, task, event), pushBodyOf(v03, task, undefined)]) {
      const { kind, id, status, artifacts } = JSON.parse(body) as {
        kind: string; id: string; status: { state: string }; artifacts: readonly unknown[]
      }
      assert.deepEqual([kind, id, status.state, artifacts.length], ['task', task.id, states[nth], 1])
    }
  }
})
