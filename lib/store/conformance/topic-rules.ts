/** What the interface promises of topics: order, what is kept, who receives what, and the end. */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { expect, faultOf, LONG_MS, same, sameList, SHORT_MS } from './trial.ts'
import type { Keep, Store } from '../../state/store.ts'
import type { StoreRules, Trial } from './trial.ts'

const EVENTS = 10_000

interface Follower { readonly received: string[]; readonly leave: () => void }

async function listen(store: Store, topic: string, from: 'kept' | 'now' = 'now'): Promise<Follower> {
  const received: string[] = []
  const leave = await store.follow(topic, from, (text) => { received.push(text) })
  return { received, leave }
}

/** Waits until the last of some texts has arrived, and throws unless they are exactly these. */
async function receives(
  trial: Trial, who: string, { received }: Follower, expected: readonly string[],
): Promise<void> {
  const last = expected.at(-1)
  const isDone = (): boolean => last === undefined || received.includes(last)
  await trial.until(`${who} to receive the last of ${expected.length}`, isDone)
  sameList(`What ${who} received`, received, expected)
}

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
    const followers = [await listen(trial.one, trial.name), await listen(trial.other, trial.name)]
    const texts = numbers(EVENTS)
    await publishAll(trial.one, trial.name, texts)
    for (const follower of followers) await receives(trial, 'a follower', follower, texts)
    for (const { leave } of followers) leave()
  },
  'all receive one order, whichever process publishes': async (trial) => {
    const { one, other, name } = trial
    const followers = [await listen(one, name), await listen(other, name), await listen(other, name, 'kept')]
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
    const late = await listen(one, name, 'kept')
    await receives(trial, 'a late follower', late, first!.received)
    for (const { leave } of [...followers, late]) leave()
  },
  'what is kept is received by those who follow later, before what comes then': async (trial) => {
    const { one, other, name } = trial
    await publishAll(one, name, ['a', 'b', 'c'], keepAll)
    const followers = [await listen(other, name, 'kept'), await listen(one, name, 'kept')]
    await publishAll(one, name, ['d', 'e'])
    for (const follower of followers) {
      await receives(trial, 'a late follower', follower, ['a', 'b', 'c', 'd', 'e'])
      follower.leave()
    }
  },
  'who follows from now on receives nothing that was published before': async (trial) => {
    const { one, other, name } = trial
    await publishAll(one, name, ['a', 'b'], keepAll)
    const follower = await listen(other, name)
    await publishAll(one, name, ['c', 'd'], keepAll)
    await receives(trial, 'a follower', follower, ['c', 'd'])
    follower.leave()
  },
  'what is published without keep is not kept': async (trial) => {
    const { one, other, name } = trial
    await one.publish(name, 'a', keepAll)
    await publishAll(one, name, ['b', 'c'])
    const follower = await listen(other, name, 'kept')
    await one.publish(name, 'd')
    await receives(trial, 'a late follower', follower, ['a', 'd'])
    follower.leave()
  },
  'no more events are kept than was asked for': async (trial) => {
    const { one, other, name } = trial
    await publishAll(one, name, ['a', 'b', 'c', 'd', 'e'], { events: 3, ms: LONG_MS })
    const follower = await listen(other, name, 'kept')
    await one.publish(name, 'end')
    await receives(trial, 'a late follower', follower, ['c', 'd', 'e', 'end'])
    follower.leave()
  },
  'an event is kept for its time, and no longer': async (trial) => {
    const { one, other, name } = trial
    const since = performance.now()
    await one.publish(name, 'short', { events: 9, ms: SHORT_MS * 2 })
    let round = 0
    const isKept = async (): Promise<boolean> => {
      const follower = await listen(other, name, 'kept')
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
      if (at === texts.length / 2) followers = Promise.all([listen(other, name, 'kept'), listen(other, name)])
      await turn()
    }
    const [kept, now] = await followers!
    await Promise.all([...answers, one.publish(name, 'end', keepAll)])
    await receives(trial, 'a follower of all that is kept', kept, [...texts, 'end'])
    await trial.until('a follower from now on to receive the end', () => now.received.includes('end'))
    const last = [...texts, 'end'].slice(-now.received.length)
    sameList('What a follower from now on received', now.received, last)
    for (const { leave } of [kept, now]) leave()
  },
  'topics do not mix': async (trial) => {
    const { one, other, name } = trial
    const topics = ['', '/', '/a', '/A', '/a/b', '.a', '_a', '~a', '-a', '2'].map((end) => name + end)
    const followers = await Promise.all(topics.map((topic) => listen(other, topic)))
    for (const topic of topics) await one.publish(topic, `to ${topic}`, keepAll)
    for (const [at, follower] of followers.entries()) {
      await receives(trial, 'a follower', follower, [`to ${topics[at]}`])
      const late = await listen(one, topics[at]!, 'kept')
      await receives(trial, 'a late follower', late, [`to ${topics[at]}`])
      for (const { leave } of [follower, late]) leave()
    }
  },
  'who has left receives nothing more, and the others go on': async (trial) => {
    const { one, other, name } = trial
    const gone = await listen(other, name)
    const stays = await listen(other, name)
    const once: string[] = []
    const leaveOnce = await other.follow(name, 'now', (text) => {
      once.push(text)
      leaveOnce()
    })
    await one.publish(name, 'a')
    await receives(trial, 'a follower', stays, ['a'])
    await receives(trial, 'one that leaves', gone, ['a'])
    gone.leave()
    gone.leave()
    await publishAll(one, name, ['b', 'c'])
    await receives(trial, 'a follower', stays, ['a', 'b', 'c'])
    sameList('What one received that has left', gone.received, ['a'])
    sameList('What one received that left when it was called', once, ['a'])
    stays.leave()
  },
  'a large event is received whole, and one that is too large is refused': async (trial) => {
    const { one, other, name, maxValueBytes } = trial
    const follower = await listen(other, name)
    const large = 'é'.repeat(Math.floor(Math.min(maxValueBytes, 1024 * 1024) / 2))
    const tooLarge = 'x'.repeat(maxValueBytes + 1)
    same('Publishing what is too large', await faultOf(() => one.publish(name, tooLarge)), 'too-large')
    await publishAll(one, name, [large, 'end'], keepAll)
    await receives(trial, 'a follower', follower, [large, 'end'])
    const late = await listen(other, name, 'kept')
    await receives(trial, 'a late follower', late, [large, 'end'])
    for (const { leave } of [follower, late]) leave()
  },
  'what a listener throws stops neither who publishes nor other listeners': async (trial) => {
    const { one, other, name } = trial
    const leaveBad = await other.follow(name, 'now', (text) => {
      if (text === 'a') throw new Error('checkStore threw this in a listener, to see what it stops')
    })
    const follower = await listen(other, name)
    same('Publishing something', await faultOf(() => publishAll(one, name, ['a', 'b'])), 'none')
    await receives(trial, 'another follower', follower, ['a', 'b'])
    for (const leave of [leaveBad, follower.leave]) leave()
  },
  'what a listener publishes is received after what it was called for': async (trial) => {
    const { other, name } = trial
    const before = await listen(other, name)
    const leaveEcho = await other.follow(name, 'kept', (text) => {
      if (text.length < 4) void other.publish(name, `${text}!`)
    })
    const after = await listen(other, name)
    await other.publish(name, 'a')
    for (const follower of [before, after]) {
      await receives(trial, 'a follower', follower, ['a', 'a!', 'a!!', 'a!!!'])
      follower.leave()
    }
    leaveEcho()
    const late: string[] = []
    await publishAll(other, `${name}/kept`, ['a', 'b'], keepAll)
    const leave = await other.follow(`${name}/kept`, 'kept', (text) => {
      late.push(text)
      if (text === 'a') void other.publish(`${name}/kept`, 'c')
    })
    await receives(trial, 'a late follower', { received: late, leave }, ['a', 'b', 'c'])
    leave()
  },
  'after close no listener is called, and to close again changes nothing': async (trial) => {
    const { one, name } = trial
    if (one.close === undefined) return
    const closing = one.isShared ? await trial.connect() : one
    const follower = await listen(closing, name)
    const stays = closing === one ? undefined : await listen(one, name)
    await closing.close?.()
    await closing.close?.()
    const fault = await faultOf(() => one.publish(name, 'a'))
    if (stays !== undefined) {
      same('Publishing something on another connection', fault, 'none')
      await receives(trial, 'a follower of another connection', stays, ['a'])
      stays.leave()
    }
    await sleep(SHORT_MS)
    sameList('What was received after close', follower.received, [])
  },
}
