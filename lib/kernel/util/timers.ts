/**
 * Timers of a few lengths, and many of each length. Those of one length end in the order in which they began,
 * so one of Node's serves all: to set and clear two of Node's own with each call costs a fifth of a whole
 * request. The process lives on while something waits here.
 */
import { LinkedList } from './linked-list.ts'
import type { LinkedMember } from './linked-list.ts'

/** What waits. Only a timer queue writes the data members. */
export interface Timed extends LinkedMember<Timed> {
  /** By `performance.now()`; zero while it is in no queue. */
  dueAtMs: number
  /** Called once when the time is over, after leaving the queue. */
  timeIsUp(): void
}

/** The error of a sum of times. */
const ROUNDING_MS = 0.001

export class Timers {
  readonly #queues = new Map<number, TimerQueue>()

  /**
   * The queue of one length in milliseconds, at most `MAX_TIMER_MS`. Each is kept: lengths are what an author
   * writes, and none that a client can make up.
   */
  of(ms: number): TimerQueue {
    const known = this.#queues.get(ms)
    if (known !== undefined) return known
    const queue = new TimerQueue(ms)
    this.#queues.set(ms, queue)
    return queue
  }

  /** Clears Node's timers, but for what waits. */
  close(): void {
    for (const queue of this.#queues.values()) queue.close()
  }
}

export class TimerQueue {
  readonly #ms: number
  readonly #waiting = new LinkedList<Timed>()
  /** Not cleared when the first member leaves: when it fires, the first one then is checked. */
  #timer: NodeJS.Timeout | undefined
  #firesAtMs = 0
  #isFiring = false

  constructor(ms: number) {
    this.#ms = ms
  }

  add(member: Timed): void {
    const isFirst = this.#waiting.first === undefined
    const now = performance.now()
    member.dueAtMs = now + this.#ms
    this.#waiting.add(member)
    if (this.#timer !== undefined) {
      if (isFirst) this.#timer.ref()
    } else if (!this.#isFiring) {
      this.#set(member.dueAtMs, now)
    }
  }

  remove(member: Timed): void {
    if (member.dueAtMs === 0) return
    member.dueAtMs = 0
    this.#waiting.remove(member)
    if (this.#waiting.first === undefined) this.#timer?.unref()
  }

  close(): void {
    if (this.#waiting.first !== undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #set(firesAtMs: number, now: number): void {
    this.#firesAtMs = firesAtMs
    this.#timer = setTimeout(fire, Math.max(1, Math.ceil(firesAtMs - now - ROUNDING_MS)), this)
  }

  fire(): void {
    this.#timer = undefined
    this.#isFiring = true
    // Node counts in whole milliseconds, and may fire a fraction early.
    const now = Math.max(performance.now(), this.#firesAtMs)
    try {
      for (let { first } = this.#waiting; first !== undefined && first.dueAtMs <= now;) {
        this.remove(first)
        first.timeIsUp()
        first = this.#waiting.first
      }
    } finally {
      this.#isFiring = false
      this.#next(now)
    }
  }

  #next(now: number): void {
    const { first } = this.#waiting
    if (first === undefined) return
    try {
      this.#set(first.dueAtMs, now)
    } catch {
      // Without a timer they would wait for ever, and what is thrown here would end the process.
      for (const member of this.#waiting) {
        this.remove(member)
        member.timeIsUp()
      }
    }
  }
}

function fire(queue: TimerQueue): void {
  queue.fire()
}
