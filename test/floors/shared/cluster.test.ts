import assert from 'node:assert/strict'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { guardedStore } from '../../../lib/floors/shared/guarded-store.ts'
import { PeerChannels } from '../../../lib/floors/shared/peer-channels.ts'
import { ClusterMembership } from '../../../lib/floors/shared/cluster.ts'
import { createSeal } from '../../../lib/kernel/wire/seal.ts'
import { test } from '../../fixtures/at-once.ts'
import { eventually } from '../../fixtures/wire.ts'
import { sharedMemory } from '../../fixtures/shared-memory.ts'
import type { TestContext } from 'node:test'
import type { Connection, SharedMemory } from '../../fixtures/shared-memory.ts'

interface Process {
  readonly nodes: ClusterMembership
  readonly lines: PeerChannels
  readonly store: Connection
}

/** One process, when others can reach it. */
async function processOn(
  t: TestContext, shared: SharedMemory, leaseMs = 60_000, secret = 'the secret of all',
): Promise<Process> {
  const store = shared.connect()
  const limits = limitsOf({ leaseMs, storeTimeoutMs: 2_000 })
  const guarded = guardedStore(store, limits, () => {})
  const nodes = new ClusterMembership(guarded, createSeal(secret), limits, () => {})
  t.after(() => nodes.close(true))
  await nodes.ready()
  return { nodes, lines: new PeerChannels(nodes), store }
}

test('what a process tells another is heard by it alone, and what it tells all by all others', async (t) => {
  const shared = sharedMemory()
  const all = await Promise.all([1, 2, 3].map(() => processOn(t, shared)))
  const heard: string[] = []
  all.forEach(({ nodes }, at) => {
    nodes.on('word', (body, from) => heard.push(`${at} ${body as string} ${from === all[0]!.nodes.id}`))
  })
  const [one, two] = all
  await one!.nodes.send(two!.nodes.id, 'word', 'you')
  await eventually(() => heard.length === 1)
  await one!.nodes.broadcast('word', 'all')
  await eventually(() => heard.length === 3)
  assert.deepEqual(heard.toSorted(), ['1 all true', '1 you true', '2 all true'])
})

test('a process that could follow one topic only follows the other later, and neither twice', async (t) => {
  const store = sharedMemory().connect()
  const { follow } = store
  const followed: string[] = []
  store.follow = (topic, ...all) => {
    followed.push(topic)
    if (followed.length < 4 && topic === 'all') throw new Error('The connection is gone')
    return follow(topic, ...all)
  }
  const limits = limitsOf({ leaseMs: 60_000, storeTimeoutMs: 2_000 })
  const guarded = guardedStore(store, limits, () => {})
  const nodes = new ClusterMembership(guarded, createSeal('the secret of all'), limits, () => {})
  t.after(() => nodes.close(true))
  await assert.rejects(async () => nodes.ready())
  await assert.rejects(async () => nodes.ready())
  await nodes.ready()
  assert.deepEqual(followed, [`node/${nodes.id}`, 'all', 'all', 'all'])
})

test('what was said is not believed a second time, nor on another topic, nor from a stranger', async (t) => {
  const shared = sharedMemory()
  const [one, two] = [await processOn(t, shared), await processOn(t, shared)]
  const stranger = await processOn(t, shared, 60_000, 'some other secret')
  const heard: unknown[] = []
  two.nodes.on('word', (body) => heard.push(body))
  const copies: string[] = []
  shared.memory.follow(`node/${two.nodes.id}`, 'now', (text) => copies.push(text))
  await one.nodes.send(two.nodes.id, 'word', 1)
  await stranger.nodes.send(two.nodes.id, 'word', 'mine')
  shared.memory.publish(`node/${two.nodes.id}`, copies[0]!)
  shared.memory.publish('all', copies[0]!)
  shared.memory.publish('all', 'no message at all')
  await one.nodes.send(two.nodes.id, 'word', 2)
  await eventually(() => heard.length >= 2)
  assert.deepEqual(heard, [1, 2])
})

test('on a line each word is heard once and in order, until one of the two ends it', async (t) => {
  const shared = sharedMemory()
  const [one, two] = [await processOn(t, shared), await processOn(t, shared)]
  let hungUp = 0
  two.lines.on('count', (question, line) => {
    for (let at = 1; at <= (question as number); at++) line.send(at)
    if (question === 3) line.end()
    return { onEnd: () => { hungUp += 1 } }
  })
  const heard: unknown[] = []
  let ended = 0
  one.lines.open(two.nodes.id, 'count', 3, {
    onMessage: (value) => heard.push(value), onEnd: () => { ended += 1 },
  })
  await eventually(() => ended === 1)
  assert.deepEqual([heard, hungUp], [[1, 2, 3], 0])
  const line = one.lines.open(two.nodes.id, 'count', 2, { onMessage: (value) => heard.push(value) })
  await eventually(() => heard.length === 5)
  line.end()
  await eventually(() => hungUp === 1)
})

test('a question to a process that is dead, silent, or knows nothing of it is refused', async (t) => {
  const shared = sharedMemory()
  const [one, two] = [await processOn(t, shared), await processOn(t, shared)]
  two.lines.on('echo', (question, line) => {
    line.send(question)
    return {}
  })
  two.lines.on('silence', () => ({}))
  assert.equal(await one.lines.ask(two.nodes.id, 'echo', 'x', 1_000), 'x')
  const [busy, gone] = [{ kind: 'busy' }, { kind: 'not-found' }]
  await assert.rejects(one.lines.ask(two.nodes.id, 'silence', 'x', 20), busy)
  await assert.rejects(one.lines.ask(two.nodes.id, 'unknown', 'x', 1_000), busy)
  await assert.rejects(one.lines.ask('nobody-1', 'echo', 'x', 20), gone)
  one.store.isCut = true
  await assert.rejects(one.lines.ask(two.nodes.id, 'echo', 'x', 20), busy)
})
