import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryLimits, memoryTopics } from '../../../lib/floors/memory/memory-store.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { Keep } from '../../../lib/kernel/store/store.ts'
import type { MemoryStoreOptions } from '../../../lib/floors/memory/memory-store.ts'

type Topics = ReturnType<typeof memoryTopics>

const keep: Keep = { events: 100, ms: 60_000 }

function topicsWith(options: MemoryStoreOptions = {}): Topics {
  return memoryTopics(memoryLimits(options))
}

/** What is kept of a topic. */
function keptOf(topics: Topics, name: string): readonly string[] {
  const heard: string[] = []
  topics.follow(name, 'kept', (text) => { heard.push(text) })()
  return heard
}

test('a topic that nobody follows, and of which nothing is kept, takes no room', async () => {
  const topics = topicsWith()
  topics.publish('a', 'lost', undefined)
  assert.equal(topics.size, 0)
  const leaves = ['a', 'a', 'b'].map((name) => topics.follow(name, 'now', () => {}))
  assert.equal(topics.size, 2)
  for (const leave of leaves) leave()
  assert.equal(topics.size, 0)
  topics.publish('b', 'long', keep)
  topics.publish('a', 'short', { events: 1, ms: 5 })
  assert.equal(topics.size, 2)
  await sleep(10)
  topics.publish('b', 'long', keep)
  assert.equal(topics.size, 1)
})

test('a topic that is left by its last follower while it is told is forgotten', () => {
  const topics = topicsWith()
  const leave = topics.follow('a', 'now', () => leave())
  topics.publish('a', 'x', undefined)
  assert.equal(topics.size, 0)
})

test('who follows, and who leaves, while others are told, changes nothing for those', () => {
  const topics = topicsWith()
  const heard: string[] = []
  const note = (who: string) => (text: string): void => { heard.push(`${who} ${text}`) }
  const leave = topics.follow('a', 'now', note('first'))
  topics.follow('a', 'now', (text) => {
    note('second')(text)
    if (text !== '1') return
    topics.publish('a', '2', keep)
    leave()
    topics.follow('a', 'now', note('now'))
    topics.follow('a', 'kept', note('kept'))
    topics.publish('a', '3', undefined)
  })
  topics.publish('a', '1', keep)
  assert.deepEqual(heard, [
    'first 1', 'second 1', 'kept 1', 'kept 2', 'second 2', 'second 3', 'now 3', 'kept 3',
  ])
})

test('where too many events are kept, the topic that holds most loses its oldest', () => {
  const topics = topicsWith({ maxEvents: 6 })
  for (const text of ['1', '2']) topics.publish('small', text, keep)
  for (const text of ['1', '2', '3', '4', '5', '6']) topics.publish('large', text, keep)
  assert.deepEqual(keptOf(topics, 'small'), ['1', '2'])
  assert.deepEqual(keptOf(topics, 'large'), ['3', '4', '5', '6'])
})

test('where too many bytes are kept, the topic that holds most loses its oldest, never what is new', () => {
  const topics = topicsWith({ maxEventsBytes: 100 })
  for (const topic of ['a', 'b']) for (const text of ['1', '2']) topics.publish(topic, text.repeat(20), keep)
  topics.publish('c', 'x'.repeat(60), keep)
  assert.deepEqual(['a', 'b', 'c'].map((topic) => keptOf(topics, topic).length), [1, 1, 1])
  topics.publish('c', 'y'.repeat(10), keep)
  assert.deepEqual(keptOf(topics, 'c'), ['y'.repeat(10)])
  assert.throws(() => topics.publish('c', 'x'.repeat(101), keep), { kind: 'too-large' })
  topics.publish('c', 'x'.repeat(101), undefined)
})

test('where topics are too many, one without followers makes room: that of the oldest last event', () => {
  const topics = topicsWith({ maxTopics: 3 })
  for (const topic of ['a', 'b', 'a', 'c']) topics.publish(topic, topic, keep)
  topics.publish('d', 'd', keep)
  assert.deepEqual(['a', 'c', 'd'].map((topic) => keptOf(topics, topic).length), [2, 1, 1])
  const leaves = ['a', 'c', 'd'].map((topic) => topics.follow(topic, 'now', () => {}))
  assert.throws(() => topics.follow('e', 'now', () => {}), { kind: 'busy' })
  assert.throws(() => topics.publish('e', 'x', keep), { kind: 'busy' })
  topics.publish('e', 'heard by nobody', undefined)
  leaves[0]!()
  topics.follow('e', 'now', () => {})
  assert.equal(topics.size, 3)
})

test('kept events of different times each keep their own', async () => {
  const topics = topicsWith()
  topics.publish('a', 'long', keep)
  topics.publish('a', 'short', { events: 9, ms: 5 })
  topics.publish('a', 'last', keep)
  await sleep(10)
  assert.deepEqual(keptOf(topics, 'a'), ['long', 'last'])
})

test('an event is kept for its time, and not a moment longer, and its topic with the last of them', (t) => {
  const pass = standingTime(t)
  const topics = topicsWith()
  for (const [text, ms] of [['first', 100], ['second', 200], ['third', 300]] as const) {
    topics.publish('a', text, { events: 9, ms })
  }
  pass(99)
  assert.deepEqual(keptOf(topics, 'a'), ['first', 'second', 'third'])
  pass(1)
  assert.deepEqual(keptOf(topics, 'a'), ['second', 'third'])
  pass(199)
  assert.deepEqual([keptOf(topics, 'a'), topics.size], [['third'], 1])
  pass(1)
  topics.publish('b', 'x', keep)
  assert.equal(topics.size, 1)
})

test('who left before does not end what is followed anew', () => {
  const topics = topicsWith()
  const heard: string[] = []
  const leave = topics.follow('a', 'now', () => heard.push('before'))
  leave()
  topics.follow('a', 'now', (text) => heard.push(text))
  leave()
  topics.publish('a', 'x', undefined)
  assert.deepEqual([heard, topics.size], [['x'], 1])
})

test('who leaves again does not make its topic one of a later last event', () => {
  const topics = topicsWith({ maxTopics: 2 })
  const leave = topics.follow('a', 'now', () => {})
  topics.publish('a', 'x', keep)
  leave()
  topics.publish('b', 'x', keep)
  leave()
  topics.publish('c', 'x', keep)
  assert.deepEqual(['b', 'c'].map((topic) => keptOf(topics, topic).length), [1, 1])
})

test('what a listener throws is a warning of the process', async () => {
  const topics = topicsWith()
  const warned = new Promise((resolve) => process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') resolve(warning)
  }))
  topics.follow('a', 'now', () => { throw new Error('The listener is broken') })
  topics.publish('a', 'x', undefined)
  assert.match(String(await warned), /The listener is broken/)
})
