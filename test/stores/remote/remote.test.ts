import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/index.ts'
import { publisher, remoteStore } from '../../../lib/stores/remote/remote.ts'
import { total } from '../../../lib/kernel/util/memory.ts'
import type { RemoteCommands } from '../../../lib/stores/remote/remote.ts'

interface Batch {
  readonly topic: string
  readonly texts: readonly string[]
  readonly end: (error?: Error) => void
}

/** Batches that end when they are told to. */
function held(): { readonly batches: Batch[]; readonly publish: ReturnType<typeof publisher> } {
  const batches: Batch[] = []
  const publish = publisher((topic, batch) => new Promise((resolve, reject) => {
    const end = (error?: Error): void => error === undefined ? resolve() : reject(error)
    batches.push({ topic, texts: batch.map(({ text }) => text), end })
  }))
  return { batches, publish }
}

test('one batch of a topic is on its way at a time, and has what was said meanwhile', async () => {
  const { batches, publish } = held()
  const said = ['a', 'b', 'c'].map((text) => publish('one', text, undefined, 1))
  const other = publish('other', 'x', undefined, 1)
  assert.deepEqual(batches.map(({ topic, texts }) => [topic, ...texts]), [['one', 'a'], ['other', 'x']])
  batches[0]!.end()
  batches[1]!.end()
  await Promise.all([said[0], other])
  assert.deepEqual(batches[2]?.texts, ['b', 'c'])
  batches[2]!.end()
  await Promise.all(said)
  const last = publish('one', 'd', undefined, 1)
  batches[3]!.end()
  await last
})

test('a batch that fails fails alone', async () => {
  const { batches, publish } = held()
  const [one, two] = ['a', 'b'].map((text) => publish('one', text, undefined, 1))
  batches[0]!.end(new Error('cut'))
  await assert.rejects(one!, /cut/)
  batches[1]!.end()
  await two
})

test('a batch has at most 256 events and 1 MiB, or one event', async () => {
  const { batches, publish } = held()
  const MiB = 1024 * 1024
  const sizes = [1, ...Array.from({ length: 300 }, () => 1), 2 * MiB, MiB / 2, MiB / 2, 1]
  const all = sizes.map((bytes) => publish('one', '', undefined, bytes))
  for (const [at, length] of [1, 256, 44, 1, 2, 1].entries()) {
    assert.equal(batches[at]!.texts.length, length)
    batches[at]!.end()
    await new Promise(setImmediate)
  }
  await Promise.all(all)
})

test('what waits has a bound', async () => {
  const { batches, publish } = held()
  const bytes = 200 * 1024 * 1024
  const first = publish('one', 'a', undefined, bytes)
  await assert.rejects(publish('two', 'b', undefined, bytes),
    (error) => error instanceof Fault && error.kind === 'busy')
  batches[0]!.end()
  await first
  const again = publish('two', 'b', undefined, bytes)
  batches[1]!.end()
  await again
})

test('as much may wait as may, and not a byte more', async () => {
  const { batches, publish } = held()
  const most = total(256 * 1024 * 1024)
  const first = publish('one', 'a', undefined, most - 1)
  const second = publish('two', 'b', undefined, 1)
  await assert.rejects(publish('three', 'c', undefined, 1), { kind: 'busy' })
  for (const { end } of batches) end()
  await Promise.all([first, second])
})

test('what a store may not be given is never sent; its commands are brought when needed', async () => {
  const asked: string[] = []
  let loads = 0
  const command = (name: string) => async (): Promise<never> => {
    asked.push(name)
    return undefined as never
  }
  const commands = {
    read: command('read'), write: command('write'), remove: command('remove'), list: command('list'),
    publishBatch: command('publish'), followed: { follow: command('follow') }, close: command('close'),
  } as unknown as RemoteCommands
  const store = remoteStore(async () => {
    loads += 1
    if (loads === 1) throw new Fault('busy', 'away')
    return commands
  }, 10)
  const place = { collection: 'things', owner: 'ann', key: 'a' }
  const wrong: readonly (() => unknown)[] = [
    () => store.write({ ...place, key: '' }, 'x', 1, 0),
    () => store.write({ ...place, owner: '' }, 'x', 1, 0),
    () => store.write(place, 'x'.repeat(11), 1, 0), () => store.publish('topic', 'x'.repeat(11)),
  ]
  for (const act of wrong) await assert.rejects(async () => act(), { kind: 'too-large' })
  assert.deepEqual([loads, asked], [0, []])
  await assert.rejects(async () => store.read(place), { kind: 'busy' })
  await store.read(place)
  await store.write(place, 'x'.repeat(10), 1, 0)
  await store.remove(place, 0)
  await store.list('things', 'ann', 1)
  await store.publish('topic', 'x'.repeat(10))
  await store.follow('topic', 'now', () => {})
  await store.close?.()
  assert.deepEqual([loads, asked], [2, ['read', 'write', 'remove', 'list', 'publish', 'follow', 'close']])
})
