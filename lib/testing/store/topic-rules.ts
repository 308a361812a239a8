/** What the interface promises of topics: order, what is kept, who receives what, and the end. */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { expect, faultOf, LONG_MS, same, sameList, SHORT_MS } from './trial.ts'
import type { Keep, Store } from '../../kernel/store/store.ts'
import type { Follower, StoreRules } from './trial.ts'

const EVENTS = 10_000

/** Publishes without waiting in between, then waits for all the answers. */
async function publishAll(store: Store, topic: string, texts: readonly string[], keep?: Keep): Promise<void> {
  const answers: unknown[] = []
  for (const text of texts) answers.push(store.publish(topic, text, keep))
  await Promise.all(answers)
}

function numbers(count: number, prefix = ''): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}${at}`)
}

const keepAll: Keep = { events: EVENTS, ms: LONG_MS }

/** The rules of topics, the one that closes connections last. */
export const topicRules: StoreRules = {
  'each event is received once, in the order of publishing, though no answer was waited for':
    async (trial) => {
    const followers = [await trial.listen(trial.one), await trial.listen(trial.other)]
    const texts = numbers(EVENTS)
    await publishAll(trial.one, trial.name, texts)
    for (const follower of followers) await trial.receives('a follower', follower, texts)
  },
  'all receive one order, whichever process publishes': async (trial) => {
    const { one, other, name } = trial
    const followers = [await trial.listen(one), await trial.listen(other), await trial.listen(other, 'kept')]
    const ours = numbers(EVENTS / 10, 'one ')
    const theirs = numbers(EVENTS / 10, 'other ')
    await Promise.all([publishAll(one, name, ours, keepAll), publishAll(other, name, theirs, keepAll)])
    await one.publish(name, 'end', keepAll)
    const isEnd = ({ received }: Follower): boolean => received.includes('end')
    await trial.until('all to receive the end', () => followers.every(isEnd))
    const [first] = followers
    sameList('What one process published', first!.received.filter((text) => text.startsWith('one ')), ours)
    sameList('What another published', first!.received.filter((text) => text.startsWith('other ')), theirs)
    for (const { received } of followers) sameList('What another received', received, first!.received)
    const late = await trial.listen(one, 'kept')
    await trial.receives('a late follower', late, first!.received)
  },
  'what is kept is received by those who follow later, before what comes then': async (trial) => {
    const { one, other, name } = trial
    await publishAll(one, name, ['a', 'b', 'c'], keepAll)
    const followers = [await trial.listen(other, 'kept'), await trial.listen(one, 'kept')]
    await publishAll(one, name, ['d', 'e'])
    for (const follower of followers) {
      await trial.receives('a late follower', follower, ['a', 'b', 'c', 'd', 'e'])
    }
  },
  'who follows from now on receives nothing that was published before': async (trial) => {
    const { one, other, name } = trial
    await publishAll(one, name, ['a', 'b'], keepAll)
    const follower = await trial.listen(other)
    await publishAll(one, name, ['c', 'd'], keepAll)
    await trial.receives('a follower', follower, ['c', 'd'])
  },
  'what is published without keep is not kept': async (trial) => {
    const { one, other, name } = trial
    await one.publish(name, 'a', keepAll)
    await publishAll(one, name, ['b', 'c'])
    const follower = await trial.listen(other, 'kept')
    await one.publish(name, 'd')
    await trial.receives('a late follower', follower, ['a', 'd'])
  },
  'no more events are kept than was asked for': async (trial) => {
    const { one, other, name } = trial
    await publishAll(one, name, ['a', 'b', 'c', 'd', 'e'], { events: 3, ms: LONG_MS })
    const follower = await trial.listen(other, 'kept')
    await one.publish(name, 'end')
    await trial.receives('a late follower', follower, ['c', 'd', 'e', 'end'])
  },
  'an event is kept for its time, and no longer': async (trial) => {
    const { one, other, name } = trial
    const since = performance.now()
    await one.publish(name, 'short', { events: 9, ms: SHORT_MS * 2 })
    let round = 0
    const isKept = async (): Promise<boolean> => {
      const follower = await trial.listen(other, 'kept')
      const end = `end ${++round}`
      await one.publish(name, end)
      await trial.until('a follower to receive the end', () => follower.received.includes(end))
      follower.leave()
      return follower.received.includes('short')
    }
    await trial.until('a kept event to expire', async () => !await isKept())
    const lived = performance.now() - since
    expect(lived >= SHORT_MS * 2 - 5, `Kept for ${SHORT_MS * 2} ms, it was gone after ${Math.round(lived)}`)
  },
  'who begins to follow while others publish receives each event once, in order': async (trial) => {
    const { one, other, name } = trial
    const texts = numbers(EVENTS / 10)
    const answers: Promise<void>[] = []
    let followers: Promise<readonly [Follower, Follower]> | undefined
    for (let at = 0; at < texts.length; at += 10) {
      answers.push(publishAll(one, name, texts.slice(at, at + 10), keepAll))
      if (at === texts.length / 2) followers = Promise.all([trial.listen(other, 'kept'), trial.listen(other)])
      await turn()
    }
    const [kept, now] = await followers!
    await Promise.all([...answers, one.publish(name, 'end', keepAll)])
    await trial.receives('a follower of all that is kept', kept, [...texts, 'end'])
    await trial.until('a follower from now on to receive the end', () => now.received.includes('end'))
    const last = [...texts, 'end'].slice(-now.received.length)
    sameList('What a follower from now on received', now.received, last)
  },
  'topics do not mix': async (trial) => {
    const { one, other, name } = trial
    const topics = ['', '/', '/a', '/A', '/a/b', '.a', '_a', '~a', '-a', '2'].map((end) => name + end)
    const followers = await Promise.all(topics.map((topic) => trial.listen(other, 'now', topic)))
    for (const topic of topics) await one.publish(topic, `to ${topic}`, keepAll)
    for (const [at, follower] of followers.entries()) {
      await trial.receives('a follower', follower, [`to ${topics[at]}`])
      const late = await trial.listen(one, 'kept', topics[at]!)
      await trial.receives('a late follower', late, [`to ${topics[at]}`])
    }
  },
  'who has left receives nothing more, and the others go on': async (trial) => {
    const { one, other, name } = trial
    const gone = await trial.listen(other)
    const stays = await trial.listen(other)
    const once = await trial.listen(other, 'now', name, () => once.leave())
    await one.publish(name, 'a')
    await trial.receives('a follower', stays, ['a'])
    await trial.receives('one that leaves', gone, ['a'])
    gone.leave()
    gone.leave()
    await publishAll(one, name, ['b', 'c'])
    await trial.receives('a follower', stays, ['a', 'b', 'c'])
    sameList('What one received that has left', gone.received, ['a'])
    sameList('What one received that left when it was called', once.received, ['a'])
  },
  'a large event is received whole, and one that is too large is refused': async (trial) => {
    const { one, other, name, maxValueBytes } = trial
    const follower = await trial.listen(other)
    const large = 'é'.repeat(Math.floor(Math.min(maxValueBytes, 1024 * 1024) / 2))
    const tooLarge = 'x'.repeat(maxValueBytes + 1)
    same('Publishing what is too large', await faultOf(() => one.publish(name, tooLarge)), 'too-large')
    await publishAll(one, name, [large, 'end'], keepAll)
    await trial.receives('a follower', follower, [large, 'end'])
    const late = await trial.listen(other, 'kept')
    await trial.receives('a late follower', late, [large, 'end'])
  },
  'what a listener throws stops neither who publishes nor other listeners': async (trial) => {
    const { one, other, name } = trial
    await trial.listen(other, 'now', name, (text) => {
      if (text === 'a') throw new Error('checkStore threw this in a listener, to see what it stops')
    })
    const follower = await trial.listen(other)
    same('Publishing something', await faultOf(() => publishAll(one, name, ['a', 'b'])), 'none')
    await trial.receives('another follower', follower, ['a', 'b'])
  },
  'what a listener publishes is received after what it was called for': async (trial) => {
    const { other, name } = trial
    const before = await trial.listen(other)
    await trial.listen(other, 'kept', name, (text) => {
      if (text.length < 4) void other.publish(name, `${text}!`)
    })
    const after = await trial.listen(other)
    await other.publish(name, 'a')
    for (const follower of [before, after]) {
      await trial.receives('a follower', follower, ['a', 'a!', 'a!!', 'a!!!'])
    }
    const topic = `${name}/kept`
    await publishAll(other, topic, ['a', 'b'], keepAll)
    const late = await trial.listen(other, 'kept', topic, (text) => {
      if (text === 'a') void other.publish(topic, 'c')
    })
    await trial.receives('a late follower', late, ['a', 'b', 'c'])
  },
  'after close no listener is called, and to close again changes nothing': async (trial) => {
    const { one, name } = trial
    if (one.close === undefined) return
    const closing = one.isShared ? await trial.connect() : one
    const follower = await trial.listen(closing)
    const stays = closing === one ? undefined : await trial.listen(one)
    await closing.close?.()
    await closing.close?.()
    const fault = await faultOf(() => one.publish(name, 'a'))
    if (stays !== undefined) {
      same('Publishing something on another connection', fault, 'none')
      await trial.receives('a follower of another connection', stays, ['a'])
    }
    await sleep(SHORT_MS)
    sameList('What was received after close', follower.received, [])
  },
}
