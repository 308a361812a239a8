import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { memoryStore } from '../../../lib/floors/memory/memory-store.ts'
import { TaskTable } from '../../../lib/floors/tasks/task-table.ts'
import { sqliteStore } from '../../../lib/stores/sqlite/sqlite.ts'
import { fullTasks, keepsTasks } from '../../fixtures/task-members.ts'
import type { Task } from '../../../lib/floors/tasks/task.ts'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const hasSqlite = major > 22 || (major === 22 && minor >= 13)
const skip = !hasSqlite && `Node ${process.versions.node} has no SQLite; 22.13 is the first that has`
if (skip) console.log(`tasks in SQLite: skipped: ${skip}`)

/** A task that is over, in every state in which it can be. */
function over(task: Task): Task {
  return { ...task, ttlMs: 1e9, status: { ...task.status, state: 'completed' } }
}

test('each member of a task survives being kept in memory: one that was over at once', () => {
  for (const task of fullTasks(20).map(over)) {
    const table = new TaskTable(limitsOf({}), () => {})
    const before = structuredClone(task)
    table.addEnded(task)
    assert.deepEqual(table.get(task.id)?.task, before)
    assert.deepEqual(table.tasksOf(task.owner), [before])
  }
})

test('each member of a task survives being kept in memory: one that ran until it was over', () => {
  for (const task of fullTasks(20)) {
    const table = new TaskTable(limitsOf({}), () => {})
    const before = structuredClone(over(task))
    const record = table.begin(task)
    assert.ok(table.change(record, over(task)))
    table.markIdle(record)
    table.settle()
    assert.deepEqual(table.get(task.id)?.task, before)
    assert.deepEqual(table.tasksOf(task.owner), [before])
  }
})

test('each member of a task survives being kept in a memory store', async () => {
  await keepsTasks(memoryStore({ isShared: true }))
})

test('each member of a task survives being kept in a file', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triport-tasks-'))
  const store = sqliteStore(join(folder, 'a.db'))
  t.after(() => {
    store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  await keepsTasks(store)
})
