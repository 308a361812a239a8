import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { FollowedTopic, FollowedTopics } from '../../../lib/stores/remote/followed-topics.ts'
import type { Page, ReadEvent, ReadPage, TopicEvent } from '../../../lib/stores/remote/followed-topics.ts'

/** What a store has of a topic; a page holds two events. */
interface Shelf { events: ReadEvent[]; last: number; isUnavailable: boolean; readonly asked: string[] }

function shelf(...numbers: readonly number[]): Shelf {
  const events = numbers.map((number) => said(number))
  return { events, last: numbers.at(-1) ?? 0, isUnavailable: false, asked: [] }
}

function said(number: number, previous: number = number - 1): ReadEvent {
  return { number, previous, text: `${number}` }
}

function reading(kept: Shelf): ReadPage {
  return async (topic, after, what): Promise<Page> => {
    await turn()
    kept.asked.push(`${what} ${after}`)
    if (kept.isUnavailable) throw new Error(`${topic} is unavailable`)
    const found = what === 'nothing' ? [] : kept.events.filter(({ number }) => number > after)
    const events = found.slice(0, 2)
    return { last: kept.last, events, next: found.length > 2 ? events[1]!.number : undefined }
  }
}

interface Heard { readonly topic: FollowedTopic; readonly heard: string[]; readonly leave: () => void }

async function follow(kept: Shelf, from: 'kept' | 'now' = 'now'): Promise<Heard> {
  const topic = new FollowedTopic('topic', reading(kept))
  const heard: string[] = []
  const leave = await topic.join(from, (text) => heard.push(text), () => heard.push('lost'))
  return { topic, heard, leave }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn()
}

type Row = readonly [what: string, kept: Shelf, arriving: readonly TopicEvent[], heard: string]

const rows: readonly Row[] = [
  ['what arrives in turn is heard at once', shelf(1), [said(2), said(3)], '2 3'],
  ['what arrives twice is heard once', shelf(1), [said(2), said(2), said(1)], '2'],
  ['what is missing is read', shelf(1, 2, 3, 4, 5, 6), [said(7), said(8)], '7 8'],
  ['after the number is forgotten it goes on higher', shelf(1), [said(9, 0), said(10)], '9 10'],
]

test('events are passed on once and in order', async () => {
  for (const [what, kept, arriving, expected] of rows) {
    const { topic, heard } = await follow(kept)
    for (const event of arriving) topic.receive(event)
    assert.equal(heard.join(' '), expected, what)
  }
})

test('events that did not arrive are read before the next one is heard', async () => {
  const kept = shelf(1)
  const { topic, heard } = await follow(kept)
  kept.events = [said(2), said(3), said(4), said(5)]
  topic.receive(said(6))
  topic.receive(said(7))
  await until(() => heard.includes('7'))
  assert.equal(heard.join(' '), '2 3 4 5 6 7')
})

test('an event without a text is read', async () => {
  const kept = shelf(1)
  const { topic, heard } = await follow(kept)
  kept.events = [said(2), said(3)]
  topic.receive({ number: 2, previous: 1, text: undefined })
  topic.receive({ number: 3, previous: 2, text: undefined })
  topic.receive(said(4))
  await until(() => heard.includes('4'))
  assert.equal(heard.join(' '), '2 3 4')
})

test('what is gone for good is told in its place, once', async () => {
  const kept = shelf(1)
  const { topic, heard } = await follow(kept)
  kept.events = [said(3), said(6)]
  topic.receive(said(9))
  await until(() => heard.includes('9'))
  assert.equal(heard.join(' '), 'lost 3 lost 6 lost 9')
})

test('what was said behind a gap meanwhile is heard in its turn', async () => {
  const kept = shelf(1)
  const { topic, heard } = await follow(kept)
  kept.events = [said(2), said(7), said(8), said(9)]
  for (const number of [6, 7, 8, 9]) topic.receive(said(number))
  await until(() => heard.includes('9'))
  assert.equal(heard.join(' '), '2 lost 6 7 8 9')
})

test('after a lost connection the rest is read, and a loss at the end is noticed', async () => {
  const kept = shelf(1)
  const { topic, heard } = await follow(kept)
  kept.events = [said(2), said(3), said(4)]
  kept.last = 5
  topic.resume()
  topic.receive(said(6))
  await until(() => heard.includes('6'))
  assert.equal(heard.join(' '), '2 3 4 lost 6')
})

test('while a topic cannot be read nothing is passed over', async () => {
  const kept = shelf(1)
  const { topic, heard } = await follow(kept)
  kept.isUnavailable = true
  kept.events = [said(2), said(3)]
  topic.resume()
  topic.receive(said(4))
  await until(() => kept.asked.length === 2)
  assert.equal(heard.join(' '), '')
  kept.isUnavailable = false
  // The time until it reads again does not keep a process alive.
  const alive = setInterval(() => {}, 1000)
  await until(() => heard.includes('4'))
  clearInterval(alive)
  assert.equal(heard.join(' '), '2 3 4')
})

test('who follows late hears what is kept, then what came meanwhile', async () => {
  const kept = shelf(1, 2, 3)
  const { topic, heard: first } = await follow(kept)
  const heard: string[] = []
  const joined = topic.join('kept', (text) => heard.push(text), undefined)
  kept.events.push(said(4))
  kept.last = 4
  topic.receive(said(4))
  topic.receive(said(5))
  await joined
  await until(() => heard.includes('5'))
  assert.deepEqual([first.join(' '), heard.join(' ')], ['4 5', '1 2 3 4 5'])
})

test('who cannot join is told, and the others go on', async () => {
  const kept = shelf(1)
  const { topic, heard } = await follow(kept)
  kept.isUnavailable = true
  await assert.rejects(topic.join('kept', () => {}, undefined), /topic is unavailable/)
  topic.receive(said(2))
  await until(() => heard.includes('2'))
})

test('who has left, or has joined what is closed, hears nothing', async () => {
  const kept = shelf(1)
  const { topic, heard, leave } = await follow(kept)
  leave()
  topic.receive(said(2))
  topic.close()
  const late: string[] = []
  await topic.join('kept', (text) => late.push(text), undefined)
  topic.receive(said(3))
  topic.resume()
  assert.deepEqual([heard, late], [[], []])
})

/** All topics of one connection, with what it was asked; `refuse` makes the next subscription fail. */
function connection(kept: Shelf): { all: FollowedTopics; asked: string[]; refuse: () => void } {
  const asked: string[] = []
  let refused = false
  const all = new FollowedTopics({
    async subscribe(topic) {
      asked.push(`+${topic}`)
      if (!refused) return
      refused = false
      throw new Error('The subscription was refused')
    },
    unsubscribe(topic) { asked.push(`-${topic}`) },
    readPage: reading(kept),
  })
  return { all, asked, refuse: () => { refused = true } }
}

test('when one of two leaves the other goes on hearing, and the last unsubscribes once', async () => {
  const { all, asked } = connection(shelf(1))
  const [first, second]: [string[], string[]] = [[], []]
  const leaveFirst = await all.follow('a', 'now', (text) => first.push(text), undefined)
  const leaveSecond = await all.follow('a', 'now', (text) => second.push(text), undefined)
  all.receive('a', said(2))
  leaveFirst()
  leaveFirst()
  all.receive('a', said(3))
  all.receive('b', said(4))
  assert.deepEqual([first, second, asked.includes('-a')], [['2'], ['2', '3'], false])
  leaveSecond()
  leaveSecond()
  all.receive('a', said(4))
  assert.deepEqual([second, asked], [['2', '3'], ['+a', '+a', '-a']])
})

test('who left before does not end what is followed anew', async () => {
  const { all, asked } = connection(shelf(1))
  const heard: string[] = []
  const leave = await all.follow('a', 'now', () => heard.push('before'), undefined)
  leave()
  await all.follow('a', 'now', (text) => heard.push(text), undefined)
  leave()
  all.receive('a', said(2))
  assert.deepEqual([heard, asked], [['2'], ['+a', '-a', '+a']])
})

test('a subscription that failed leaves nothing, is tried anew, and takes nothing from another', async () => {
  const kept = shelf(1)
  const { all, asked, refuse } = connection(kept)
  const heard: string[] = []
  refuse()
  await assert.rejects(all.follow('a', 'now', () => {}, undefined), /refused/)
  assert.deepEqual(asked, ['+a', '-a'])
  await all.follow('a', 'now', (text) => heard.push(text), undefined)
  refuse()
  await assert.rejects(all.follow('a', 'now', () => heard.push('refused'), undefined), /refused/)
  kept.isUnavailable = true
  await assert.rejects(all.follow('a', 'now', () => heard.push('unread'), undefined), /unavailable/)
  all.receive('a', said(2))
  assert.deepEqual([heard, asked], [['2'], ['+a', '-a', '+a', '+a', '+a']])
})

test('after a lost connection each topic that is followed is read, and none that was left', async () => {
  const kept = shelf(1)
  const { all } = connection(kept)
  const heard: string[] = []
  for (const name of ['a', 'b']) await all.follow(name, 'now', (text) => heard.push(name + text), undefined)
  const leave = await all.follow('c', 'now', (text) => heard.push(`c${text}`), undefined)
  leave()
  kept.events.push(said(2))
  kept.last = 2
  kept.asked.length = 0
  all.resume()
  await until(() => heard.length === 2)
  assert.deepEqual([heard, kept.asked], [['a2', 'b2'], ['missed 1', 'missed 1']])
})

test('what is closed passes nothing on, takes nobody, and unsubscribes from nothing more', async () => {
  const { all, asked } = connection(shelf(1))
  const heard: string[] = []
  const leave = await all.follow('a', 'now', (text) => heard.push(text), undefined)
  all.close()
  all.receive('a', said(2))
  leave()
  await assert.rejects(all.follow('a', 'now', () => {}, undefined), { kind: 'busy' })
  assert.deepEqual([heard, asked], [[], ['+a']])
})
