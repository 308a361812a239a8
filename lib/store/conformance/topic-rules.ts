/**
 * What the interface promises of topics: order, what is kept, who receives what, and the end.
 */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { expect, faultOf, LONG_MS, same, sameList, SHORT_MS } from './trial.ts'
import type { Keep, Store } from '../../state/store.ts'
import type { StoreRules, Trial } from './trial.ts'

/** So much is said without waiting for an answer. */
const EVENTS = 10_000

/** What a follower has heard, and how it leaves. */
interface Ear { readonly heard: string[]; readonly leave: () => void }

async function listen(store: Store, topic: string, from: 'kept' | 'now' = 'now'): Promise<Ear> {
  const heard: string[] = []
  const leave = await store.follow(topic, from, (text) => { heard.push(text) })
  return { heard, leave }
}

/** Waits until the last of some texts was heard, and throws unless they were exactly these. */
async function hears(trial: Trial, who: string, { heard }: Ear, expected: readonly string[]): Promise<void> {
  const last = expected.at(-1)
  const isDone = (): boolean => last === undefined || heard.includes(last)
  await trial.until(`${who} to hear the last of ${expected.length}`, isDone)
  sameList(`What ${who} heard`, heard, expected)
}

/** Says all of it without waiting in between, then waits for all the answers. */
async function say(store: Store, topic: string, texts: readonly string[], keep?: Keep): Promise<void> {
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
  'each event is heard once, in the order in which it was said, though no answer was waited for':
    async (trial) => {
    const ears = [await listen(trial.one, trial.name), await listen(trial.other, trial.name)]
    const texts = numbers(EVENTS)
    await say(trial.one, trial.name, texts)
    for (const ear of ears) await hears(trial, 'a follower', ear, texts)
    for (const { leave } of ears) leave()
  },
  'all hear one order, whoever says it': async (trial) => {
    const { one, other, name } = trial
    const ears = [await listen(one, name), await listen(other, name), await listen(other, name, 'kept')]
    const ours = numbers(EVENTS / 10, 'one ')
    const theirs = numbers(EVENTS / 10, 'other ')
    await Promise.all([say(one, name, ours, keepAll), say(other, name, theirs, keepAll)])
    await one.publish(name, 'end', keepAll)
    await trial.until('all to hear the end', () => ears.every(({ heard }) => heard.includes('end')))
    const [first] = ears
    sameList('What one process said', first!.heard.filter((text) => text.startsWith('one ')), ours)
    sameList('What another said', first!.heard.filter((text) => text.startsWith('other ')), theirs)
    for (const { heard } of ears) sameList('What another follower heard', heard, first!.heard)
    const late = await listen(one, name, 'kept')
    await hears(trial, 'a late follower', late, first!.heard)
    for (const { leave } of [...ears, late]) leave()
  },
  'what is kept is heard by those who follow later, before what comes then': async (trial) => {
    const { one, other, name } = trial
    await say(one, name, ['a', 'b', 'c'], keepAll)
    const ears = [await listen(other, name, 'kept'), await listen(one, name, 'kept')]
    await say(one, name, ['d', 'e'])
    for (const ear of ears) {
      await hears(trial, 'a late follower', ear, ['a', 'b', 'c', 'd', 'e'])
      ear.leave()
    }
  },
  'who follows from now on hears nothing of what was said before': async (trial) => {
    const { one, other, name } = trial
    await say(one, name, ['a', 'b'], keepAll)
    const ear = await listen(other, name)
    await say(one, name, ['c', 'd'], keepAll)
    await hears(trial, 'a follower', ear, ['c', 'd'])
    ear.leave()
  },
  'what is said without keep is not kept': async (trial) => {
    const { one, other, name } = trial
    await one.publish(name, 'a', keepAll)
    await say(one, name, ['b', 'c'])
    const ear = await listen(other, name, 'kept')
    await one.publish(name, 'd')
    await hears(trial, 'a late follower', ear, ['a', 'd'])
    ear.leave()
  },
  'no more events are kept than was asked for': async (trial) => {
    const { one, other, name } = trial
    await say(one, name, ['a', 'b', 'c', 'd', 'e'], { events: 3, ms: LONG_MS })
    const ear = await listen(other, name, 'kept')
    await one.publish(name, 'end')
    await hears(trial, 'a late follower', ear, ['c', 'd', 'e', 'end'])
    ear.leave()
  },
  'an event is kept for its time, and no longer': async (trial) => {
    const { one, other, name } = trial
    const since = performance.now()
    await one.publish(name, 'short', { events: 9, ms: SHORT_MS * 2 })
    let round = 0
    const isKept = async (): Promise<boolean> => {
      const ear = await listen(other, name, 'kept')
      const end = `end ${++round}`
      await one.publish(name, end)
      await trial.until('a follower to hear the end', () => ear.heard.includes(end))
      ear.leave()
      return ear.heard.includes('short')
    }
    await trial.until('a kept event to expire', async () => !await isKept())
    const lived = performance.now() - since
    expect(lived >= SHORT_MS * 2 - 5, `Kept for ${SHORT_MS * 2} ms, it was gone after ${Math.round(lived)}`)
  },
  'who begins to follow while others talk hears each event once, in order': async (trial) => {
    const { one, other, name } = trial
    const texts = numbers(EVENTS / 10)
    const answers: Promise<void>[] = []
    let ears: Promise<readonly [Ear, Ear]> | undefined
    for (let at = 0; at < texts.length; at += 10) {
      answers.push(say(one, name, texts.slice(at, at + 10), keepAll))
      if (at === texts.length / 2) ears = Promise.all([listen(other, name, 'kept'), listen(other, name)])
      await turn()
    }
    const [kept, now] = await ears!
    await Promise.all([...answers, one.publish(name, 'end', keepAll)])
    await hears(trial, 'a follower of all that is kept', kept, [...texts, 'end'])
    await trial.until('a follower from now on to hear the end', () => now.heard.includes('end'))
    sameList('What a follower from now on heard', now.heard, [...texts, 'end'].slice(-now.heard.length))
    for (const { leave } of [kept, now]) leave()
  },
  'topics do not mix': async (trial) => {
    const { one, other, name } = trial
    const topics = ['', '/', '/a', '/A', '/a/b', '.a', '_a', '~a', '-a', '2'].map((end) => name + end)
    const ears = await Promise.all(topics.map((topic) => listen(other, topic)))
    for (const topic of topics) await one.publish(topic, `to ${topic}`, keepAll)
    for (const [at, ear] of ears.entries()) {
      await hears(trial, 'a follower', ear, [`to ${topics[at]}`])
      const late = await listen(one, topics[at]!, 'kept')
      await hears(trial, 'a late follower', late, [`to ${topics[at]}`])
      for (const { leave } of [ear, late]) leave()
    }
  },
  'who has left hears nothing more, and the others go on': async (trial) => {
    const { one, other, name } = trial
    const gone = await listen(other, name)
    const stays = await listen(other, name)
    const once: string[] = []
    const leaveOnce = await other.follow(name, 'now', (text) => {
      once.push(text)
      leaveOnce()
    })
    await one.publish(name, 'a')
    await hears(trial, 'a follower', stays, ['a'])
    await hears(trial, 'one that leaves', gone, ['a'])
    gone.leave()
    gone.leave()
    await say(one, name, ['b', 'c'])
    await hears(trial, 'a follower', stays, ['a', 'b', 'c'])
    sameList('What one heard that has left', gone.heard, ['a'])
    sameList('What one heard that left while it was told', once, ['a'])
    stays.leave()
  },
  'a large event is heard whole, and one that is too large is refused': async (trial) => {
    const { one, other, name, maxValueBytes } = trial
    const ear = await listen(other, name)
    const large = 'é'.repeat(Math.floor(Math.min(maxValueBytes, 1024 * 1024) / 2))
    const tooLarge = 'x'.repeat(maxValueBytes + 1)
    same('Saying what is too large', await faultOf(() => one.publish(name, tooLarge)), 'too-large')
    await say(one, name, [large, 'end'], keepAll)
    await hears(trial, 'a follower', ear, [large, 'end'])
    const late = await listen(other, name, 'kept')
    await hears(trial, 'a late follower', late, [large, 'end'])
    for (const { leave } of [ear, late]) leave()
  },
  'what a listener throws hurts nobody': async (trial) => {
    const { one, other, name } = trial
    const leaveBad = await other.follow(name, 'now', (text) => {
      if (text === 'a') throw new Error('checkStore threw this in a listener, to see whom it hurts')
    })
    const ear = await listen(other, name)
    same('Saying something', await faultOf(() => say(one, name, ['a', 'b'])), 'none')
    await hears(trial, 'another follower', ear, ['a', 'b'])
    for (const leave of [leaveBad, ear.leave]) leave()
  },
  'what a listener says is heard after what it was called for': async (trial) => {
    const { other, name } = trial
    const before = await listen(other, name)
    const leaveEcho = await other.follow(name, 'kept', (text) => {
      if (text.length < 4) void other.publish(name, `${text}!`)
    })
    const after = await listen(other, name)
    await other.publish(name, 'a')
    for (const ear of [before, after]) {
      await hears(trial, 'a follower', ear, ['a', 'a!', 'a!!', 'a!!!'])
      ear.leave()
    }
    leaveEcho()
  },
  'after close no listener is called, and to close again changes nothing': async (trial) => {
    const { one, name } = trial
    if (one.close === undefined) return
    const closing = one.isShared ? await trial.connect() : one
    const ear = await listen(closing, name)
    const stays = closing === one ? undefined : await listen(one, name)
    await closing.close?.()
    await closing.close?.()
    const fault = await faultOf(() => one.publish(name, 'a'))
    if (stays !== undefined) {
      same('Saying something on another connection', fault, 'none')
      await hears(trial, 'a follower of another connection', stays, ['a'])
      stays.leave()
    }
    await sleep(SHORT_MS)
    sameList('What was heard after close', ear.heard, [])
  },
}
