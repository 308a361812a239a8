import assert from 'node:assert/strict'
import test from 'node:test'
import { Caller, serveA2a, sumOf } from './caller.ts'
import type { TestContext } from 'node:test'

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
      ['another principal, in 0.3', new Caller(server, { headers: { 'x-api-key': 'bob-key-1' }, dialect: '0.3' })],
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
      bot.send('this', { taskId: id, ...tenant !== undefined && { tenant } }), { code: -32001 }, String(tenant),
    )
    assert.equal((await bot.list({ tenant })).totalSize, 0)
  }
  assert.equal((await bot.list({ tenant: 'acme' })).totalSize, 1)
  await assert.rejects(bot.send('hello', { tenant: 'unknown' }), { code: -32602, detail: /tenant/ })
})
