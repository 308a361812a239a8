import { tasksOf } from '../../../lib/floors/tasks/tasks-floor.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import { pushBodyOf } from '../../../lib/parts/a2a/model/task-view.ts'
import { v03 } from '../../../lib/parts/a2a/codec/v03.ts'
import { v1 } from '../../../lib/parts/a2a/codec/v1.ts'
import { serviceWith, taskOf } from '../../fixtures/webhook.ts'
import { Caller, serveA2a, sumOf } from './caller.ts'
import type { TestContext } from 'node:test'
import type { TaskUpdate } from '../../../lib/parts/a2a/model/task-view.ts'
import type { Task } from '../../../lib/floors/tasks/task.ts'

interface Strangers { readonly owner: Caller; readonly strangers: ReadonlyMap<string, Caller> }

/** The owner of a task, and others who must not see it. */
function strangersOf(t: TestContext): Strangers {
  const run = (): object => ({ text: 'Which?', state: 'input-required' })
  const server = serveA2a(t, {
    agents: [{ name: 'Bot', run }, { name: 'Other', run }],
    apiKey: [{ id: 'ann', key: 'ann-key-1' }, { id: 'bob', key: 'bob-key-1' }],
  })
  const headers = { 'x-api-key': 'ann-key-1' }
  return {
    owner: new Caller(server, { headers }),
    strangers: new Map([
      ['another principal', new Caller(server, { headers: { 'x-api-key': 'bob-key-1' } })],
      ['another agent', new Caller(server, { headers, path: '/agents/other/a2a' })],
      ['another principal, in 0.3',
        new Caller(server, { headers: { 'x-api-key': 'bob-key-1' }, dialect: '0.3' })],
    ]),
  }
}

test('for others a task does not exist, whatever they want of it', async (t) => {
  const { owner, strangers } = strangersOf(t)
  const { id } = await owner.task('hello')
  const before = await owner.get(id)
  for (const [what, stranger] of strangers) {
    const wants = (asked: string): readonly (readonly [want: string, answer: Promise<unknown>])[] => [
      ['get', stranger.get(asked)],
      ['cancel', stranger.cancel(asked)],
      ['subscribe', stranger.subscribe(asked).then((events) => events.next())],
      ['send', stranger.send('this', { taskId: asked })],
      ['stream', stranger.stream('this', { taskId: asked }).then((events) => events.next())],
    ]
    const sentences = new Set<string>()
    for (const asked of [id, 'unknown']) {
      for (const [want, answer] of wants(asked)) {
        const error = await answer.then(() => assert.fail(`${what}: ${want}`), (thrown: unknown) => thrown)
        assert.equal((error as { code: unknown }).code, -32001, `${what}: ${want}`)
        sentences.add((error as Error).message)
      }
    }
    assert.equal(sentences.size, 1, what)
  }
  assert.deepEqual(await owner.get(id), before)
  assert.equal((await strangers.get('another agent')!.list()).totalSize, 0)
  assert.equal((await strangers.get('another principal')!.list()).totalSize, 0)
})

test('under its own address an agent has the tasks that were sent to it at the root', async (t) => {
  const server = serveA2a(t, { agents: [() => 'done', { name: 'Other', run: () => 'other' }] })
  const { id } = await new Caller(server).task('hello')
  assert.equal(sumOf(await new Caller(server, { path: '/agents/assistant/a2a' }).get(id)), 'completed: done')
})

test('a task belongs to a tenant, and one that the card does not name has none', async (t) => {
  const server = serveA2a(t, {
    agents: [{ name: 'Bot', run: () => ({ text: 'Which?', state: 'input-required' as const }) }],
    a2a: { tenants: ['acme', 'other'] },
  })
  const bot = new Caller(server)
  const { id } = await bot.task('hello', { tenant: 'acme' })
  assert.equal((await bot.get(id, { tenant: 'acme' })).id, id)
  for (const tenant of ['other', undefined]) {
    await assert.rejects(bot.get(id, { tenant }), { code: -32001 }, String(tenant))
    await assert.rejects(bot.cancel(id, { tenant }), { code: -32001 }, String(tenant))
    await assert.rejects(bot.subscribe(id, { tenant }), { code: -32001 }, String(tenant))
    await assert.rejects(
      bot.send('this', { taskId: id, ...tenant !== undefined && { tenant } }),
      { code: -32001 }, String(tenant),
    )
    assert.equal((await bot.list({ tenant })).totalSize, 0)
  }
  assert.equal((await bot.list({ tenant: 'acme' })).totalSize, 1)
  await assert.rejects(bot.send('hello', { tenant: 'unknown' }), { code: -32602, detail: /tenant/ })
})

interface Happened { readonly task: Task; readonly event: TaskUpdate }

/** A task that writes one artifact and is done. */
async function life(): Promise<readonly Happened[]> {
  const service = serviceWith(undefined)
  const tasks = tasksOf(service)
  const { id } = await taskOf(service)
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
