import assert from 'node:assert/strict'
import test from 'node:test'
import { Caller, callerOf, serveA2a } from './caller.ts'
import type { TaskPage } from '../../../lib/parts/a2a/model/model.ts'
import type { TaskState } from '../../../lib/floors/tasks/task.ts'

const run = (prompt: string): unknown => (
  prompt === 'ask' ? { text: 'Which?', state: 'input-required' } : prompt
)

const idsOf = ({ tasks }: TaskPage): readonly string[] => tasks.map(({ id }) => id)

test('tasks are listed by their last change, without what was not asked for', async (t) => {
  const bot = callerOf(t, run)
  const first = await bot.task('ask')
  const second = await bot.task('two')
  assert.deepEqual(idsOf(await bot.list()), [second.id, first.id])
  const page = await bot.list({ historyLength: 0 })
  assert.deepEqual(page.tasks.map(({ artifacts, history }) => [artifacts, history]), [
    [undefined, undefined], [undefined, undefined],
  ])
  const whole = await bot.list({ withArtifacts: true })
  assert.deepEqual(whole.tasks.map(({ artifacts }) => artifacts?.length), [1, 0])
  assert.deepEqual(whole.tasks[0], second)
  await bot.task('now', { taskId: first.id })
  assert.deepEqual(idsOf(await bot.list()), [first.id, second.id])
})

test('a list is of a context, of a state, of a time', async (t) => {
  const bot = callerOf(t, run)
  const tasks = []
  for (const [text, contextId] of [['ask', 'a'], ['x', 'a'], ['ask', 'b'], ['y', 'b']] as const) {
    tasks.push(await bot.task(text, { contextId }))
  }
  const [askA, doneA, askB, doneB] = tasks.map(({ id }) => id)
  const filters: readonly (readonly [filter: Parameters<Caller['list']>[0], ids: readonly unknown[]])[] = [
    [{}, [doneB, askB, doneA, askA]],
    [{ contextId: 'a' }, [doneA, askA]],
    [{ contextId: 'none' }, []],
    [{ state: 'completed' }, [doneB, doneA]],
    [{ state: 'input-required' satisfies TaskState, contextId: 'b' }, [askB]],
    [{ changedSince: tasks[2]!.status.at }, [doneB, askB]],
    [{ changedSince: tasks[3]!.status.at, state: 'input-required' }, []],
  ]
  for (const [filter, ids] of filters) {
    const page = await bot.list(filter)
    assert.deepEqual([idsOf(page), page.totalSize], [ids, ids.length], JSON.stringify(filter))
  }
})

test('a list comes page by page, whatever happens to its tasks meanwhile', async (t) => {
  const bot = callerOf(t, run)
  const ids: string[] = []
  for (let count = 0; count < 5; count++) ids.unshift((await bot.task('ask')).id)
  const first = await bot.list({ pageSize: 2 })
  assert.deepEqual([idsOf(first), first.pageSize, first.totalSize], [ids.slice(0, 2), 2, 5])
  // The last task of the page goes to the front, and a new one comes.
  await bot.task('now', { taskId: ids[1]! })
  await bot.task('new')
  const second = await bot.list({ pageSize: 2, pageToken: first.nextPageToken })
  assert.deepEqual([idsOf(second), second.totalSize], [ids.slice(2, 4), 6])
  const third = await bot.list({ pageSize: 2, pageToken: second.nextPageToken })
  assert.deepEqual([idsOf(third), third.nextPageToken], [ids.slice(4), ''])
  // Exactly full, the last page says so.
  assert.equal((await bot.list({ pageSize: 6 })).nextPageToken, '')
})

test('a page goes on where its last task had to make room', async (t) => {
  const bot = callerOf(t, run, { maxTasks: 4 })
  const ids: string[] = []
  for (let count = 0; count < 4; count++) ids.unshift((await bot.task('x')).id)
  const first = await bot.list({ pageSize: 3 })
  for (let count = 0; count < 2; count++) await bot.task('new')
  const second = await bot.list({ pageSize: 3, pageToken: first.nextPageToken })
  assert.deepEqual([idsOf(first), idsOf(second)], [ids.slice(0, 3), []])
})

test('where a page ends is the house\'s to read, and its caller\'s', async (t) => {
  const server = serveA2a(t, {
    agents: [{ name: 'Bot', run: (prompt) => prompt }],
    apiKey: [{ id: 'ann', key: 'ann-key-1' }, { id: 'bob', key: 'bob-key-1' }],
  })
  const ann = new Caller(server, { headers: { 'x-api-key': 'ann-key-1' } })
  const bob = new Caller(server, { headers: { 'x-api-key': 'bob-key-1' } })
  for (let count = 0; count < 3; count++) await ann.task('x')
  for (let count = 0; count < 3; count++) await bob.task('x')
  const { nextPageToken, totalSize } = await ann.list({ pageSize: 1 })
  assert.equal(totalSize, 3)
  assert.equal((await ann.list({ pageSize: 1, pageToken: nextPageToken })).tasks.length, 1)
  const tokens = ['x', nextPageToken.slice(0, -2), `${nextPageToken}A`]
  for (const pageToken of tokens) {
    await assert.rejects(ann.list({ pageToken }), { code: -32602, detail: /pageToken/ }, pageToken)
  }
  await assert.rejects(bob.list({ pageToken: nextPageToken }), { code: -32602, detail: /pageToken/ })
})
