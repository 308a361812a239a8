/** Whole heaps: what is held for webhooks is given back, and all together stays within its bound. */
import { tasksOf } from '../../../lib/floors/tasks/tasks-floor.ts'
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import test from 'node:test'
import { eventually } from '../../fixtures/client.ts'
import { heldBytes } from '../../fixtures/heap.ts'
import { portOf } from '../../fixtures/listening.ts'
import { config, firstHeld, house, taskOf, webhook, wordDialect, wordsOf } from '../../fixtures/webhook.ts'
import { large, LENGTH } from '../../fixtures/large-push.ts'
import type { TestContext } from 'node:test'
import type { PushMeans } from '../../../lib/parts/a2a/push/push.ts'
import type { PushOptions } from '../../../lib/parts/a2a/model/push-settings.ts'

const MB = 1_000_000
const part = { type: 'text', text: 'more' } as const

/** A receiver of posts, which are held up there. */
interface Trap {
  readonly url: string
  readonly options?: PushOptions
  readonly means?: PushMeans
  /** What is not given back, because it cannot be cancelled. */
  readonly lookups?: number
  /** Whether so many have fallen in; left out, when no more can be on their way. */
  holds?(count: number): boolean
}

/** One that answers each post so, after which it is tried again much later. */
async function later(t: TestContext, retryAfter: string | undefined, options: PushOptions): Promise<Trap> {
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
  const { url, received } = await webhook(t, (response) => response.writeHead(503, headers).end())
  return { url, options, holds: (count) => received.length === count }
}

const pauses = [60_000]

const traps: readonly (readonly [where: string, make: (t: TestContext) => Promise<Trap>])[] = [
  ['the answer', async (t) => ({ url: (await webhook(t, () => {})).url, options: { timeoutMs: 60_000 } })],
  ['the next try', (t) => later(t, undefined, { retryDelaysMs: pauses })],
  ['as long as Retry-After says', (t) => later(t, '60', { retryDelaysMs: [1] })],
  ['a connection', async (t) => {
    const port = await portOf(t, createServer((socket) => { socket.on('error', () => {}).resume() }))
    return { url: `https://127.0.0.1:${port}/`, options: { timeoutMs: 60_000 } }
  }],
  ['its name', async () => ({
    url: 'https://silent.example.com/', options: { timeoutMs: 60_000 },
    means: { lookup: () => new Promise(() => {}) }, lookups: 1,
  })],
]

for (const [where, make] of traps) {
  test(`what is dropped while it waits for ${where} is given back at once`, async (t) => {
    const { url, options, means, lookups = 0, holds } = await make(t)
    const { service, push, lines } = house(t, options, undefined, { dialectOf: large, ...means })
    // More than may be on their way at one time: the others wait for their turn.
    const tasks = await Promise.all(Array.from({ length: 40 }, () => taskOf(service)))
    const before = heldBytes()
    for (const task of tasks) await push.register(task, config(url), '1.0')
    await eventually(() => holds?.(tasks.length) ?? push.status.posting === 8, 'all wait')
    assert.ok(push.status.bytes >= 40 * LENGTH)
    for (const task of tasks) await push.remove(task, 'a')
    assert.deepEqual([push.status.waiting, push.status.bytes], [0, 0])
    await eventually(() => push.status.posting === 0, 'nothing is on its way')
    assert.equal(push.status.lookups, lookups)
    const grown = heldBytes() - before
    assert.ok(grown < 4 * MB, `${Math.round(grown / MB)} MB are held`)
    assert.deepEqual(lines, [])
  })
}

test('an owner that fills its share leaves the others theirs', async (t) => {
  const { service, push } = house(t, { timeoutMs: 60_000 }, undefined, {
    dialectOf: (name) => name === '0.3' ? { ...large(name), pushesTasks: false } : wordDialect(name),
  })
  const silent = await webhook(t, () => {})
  for (let count = 0; count < 180; count++) {
    const task = await taskOf(service, 'eve')
    await push.register(task, config(silent.url), '0.3')
  }
  const { bytes } = push.status
  assert.ok(bytes > 40 * MB && bytes < 46 * MB, `${bytes} bytes`)
  const { answer, release } = firstHeld()
  const hook = await webhook(t, answer)
  const task = await taskOf(service, 'bob')
  await push.register(task, config(hook.url), '1.0')
  await hook.until(1)
  tasksOf(service).addArtifact(task.id, { id: 'x', parts: [part] })
  tasksOf(service).move(task.id, 'working')
  release()
  assert.deepEqual(wordsOf(await hook.until(3)), ['task submitted 0', 'artifact x', 'status working'])
})

test('configurations of running tasks are bounded, and who has most of them loses the oldest', async (t) => {
  const { service, push, lines } = house(t, {}, undefined)
  const hook = await webhook(t)
  const theirs = await taskOf(service, 'bob')
  await push.register(theirs, config(hook.url), '1.0')
  const url = `${hook.url}?${'x'.repeat(2_000)}`
  const authentication = { schemes: ['Bearer'], credentials: 'x'.repeat(4_096) }
  const tasks = []
  for (let count = 0; count < 2_600; count++) {
    const task = await taskOf(service, 'eve')
    tasks.push(task)
    await push.register(task, config(url, { token: 'x'.repeat(1_024), authentication }), '1.0')
  }
  await eventually(() => push.status.waiting === 0, 'nothing waits')
  assert.ok(push.status.bytes <= 33_554_432, `${push.status.bytes} bytes`)
  assert.match(lines[0]!.message, /too many push configurations/)
  assert.equal((await push.configs.of(tasks[0]!)).length, 0)
  assert.equal((await push.configs.of(tasks.at(-1)!)).length, 1)
  const count = hook.received.length
  tasksOf(service).move(theirs.id, 'working')
  await hook.until(count + 1)
  for (const task of tasks) await push.remove(task, 'a')
  await push.remove(theirs, 'a')
  await eventually(() => push.status.bytes === 0, 'nothing is held')
})
