import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../lib/index.ts'
import { publisher } from '../../lib/store/shared/remote.ts'

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
