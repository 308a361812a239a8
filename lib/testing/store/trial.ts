/** What a rule of a store is tried on, and a few ways to report what is wrong. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../kernel/define/fault.ts'
import type { Entry, Store, StoreKey } from '../../kernel/store/store.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'

/**
 * What the interface promises, by the sentence in a report. A check throws, or rejects, with a sentence where
 * the store breaks the rule.
 */
export type StoreRules = Readonly<Record<string, (trial: Trial) => Promise<void>>>

/** How long entries are kept that nothing should happen to, in milliseconds. */
export const LONG_MS = 60_000
/** How long those are kept that are to expire, in milliseconds. */
export const SHORT_MS = 100

export interface Follower { readonly received: string[]; readonly leave: () => void }

export class Trial {
  /** Two connections to one state; the same one where it is not shared. */
  readonly one: Store
  readonly other: Store
  /** No other trial uses it: an owner, and the beginning of topics. */
  readonly name: string
  readonly maxValueBytes: number
  readonly connect: () => Promise<Store>
  waitingFor = 'an answer'
  isOver = false
  readonly #leaves: (() => void)[] = []

  constructor(
    one: Store, other: Store, name: string, maxValueBytes: number, connect: () => Promise<Store>,
  ) {
    this.one = one
    this.other = other
    this.name = name
    this.maxValueBytes = maxValueBytes
    this.connect = connect
  }

  id(key: string, owner: string = this.name, collection = 'check'): StoreKey {
    return { collection, owner, key }
  }

  /** Waits for something. How long that may take is for those who run the rule. */
  async until(what: string, condition: () => MaybePromise<boolean>): Promise<void> {
    const before = this.waitingFor
    this.waitingFor = what
    while (!await condition()) {
      if (this.isOver) throw new Error(`Gave up waiting for ${what}`)
      await sleep(2)
    }
    this.waitingFor = before
  }

  /** Follows a topic. What the rule does not leave is left at its end. */
  async listen(
    store: Store, from: 'kept' | 'now' = 'now', topic: string = this.name, act?: (text: string) => void,
  ): Promise<Follower> {
    const received: string[] = []
    const leave = await store.follow(topic, from, (text) => {
      received.push(text)
      act?.(text)
    })
    this.#leaves.push(leave)
    return { received, leave }
  }

  leaveAll(): void {
    for (const leave of this.#leaves) leave()
  }

  /** Waits until the last of some texts has arrived, and throws unless they are exactly these. */
  async receives(who: string, { received }: Follower, expected: readonly string[]): Promise<void> {
    const last = expected.at(-1)
    const isDone = (): boolean => last === undefined || received.includes(last)
    await this.until(`${who} to receive the last of ${expected.length}`, isDone)
    sameList(`What ${who} received`, received, expected)
  }

  async untilGone(id: StoreKey): Promise<void> {
    await this.until('an entry to expire', async () => await this.other.read(id) === undefined)
  }

  /** Writes, on the one connection, what must not meet a conflict. Answers the version. */
  async put(
    id: StoreKey, value: string, expected: number | 'any' = 0, keepMs: number = LONG_MS,
  ): Promise<number> {
    const version = await this.one.write(id, value, keepMs, expected)
    expect(version !== undefined, `A write that expected ${expected} met a conflict`)
    expect(Number.isSafeInteger(version) && version > 0, `Version ${version} is no whole number above zero`)
    return version
  }

  async valueAt(id: StoreKey): Promise<string | undefined> {
    return (await this.other.read(id))?.value
  }
}

export function expect(isRight: boolean, why: string): asserts isRight {
  if (!isRight) throw new Error(why)
}

export function same(what: string, found: unknown, expected: unknown): void {
  if (JSON.stringify(found) === JSON.stringify(expected)) return
  throw new Error(`${what}: ${shorten(found)}, expected ${shorten(expected)}`)
}

/** Throws where two lists of texts differ, with the first place where they do. */
export function sameList(what: string, found: readonly string[], expected: readonly string[]): void {
  const at = expected.findIndex((text, index) => found[index] !== text)
  if (at < 0 && found.length <= expected.length) return
  const index = at < 0 ? expected.length : at
  throw new Error(`${what}: ${shorten(found[index])} at ${index}, expected ${shorten(expected[index])}; `
    + `${found.length} in all, expected ${expected.length}`)
}

export async function keysOf(entries: MaybePromise<readonly Entry[]>): Promise<readonly string[]> {
  return (await entries).map(({ key }) => key)
}

/** The kind of the `Fault` that something ends with; 'none' where it does not end with one. */
export async function faultOf(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'none'
  } catch (error) {
    return error instanceof Fault ? error.kind : `no Fault but ${shorten(String(error))}`
  }
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
