/**
 * A circuit breaker for a shared store: no call waits for longer than `storeTimeoutMs`, and while the store
 * cannot be reached every call fails at once. A probe each second finds out when it is there again. A refusal
 * by the store is an answer, and not a failure.
 */
import { isThenable, letEnd } from '../util/thenable.ts'
import { isWithin } from '../wire/bounded.ts'
import { startDeadline, timer } from '../util/clock.ts'
import { Fault } from '../define/fault.ts'
import { SYSTEM_OWNER } from './store.ts'
import type { MaybePromise } from '../util/thenable.ts'
import type { Limits } from '../define/limits.ts'
import type { Log } from '../define/log.ts'
import type { Entry, Keep, Store, StoreKey } from './store.ts'

/** After so many calls in a row without an answer the store is unavailable. */
const MAX_FAILURES = 3
const PROBE_MS = 1_000

const probeKey: StoreKey = { collection: 'probe', owner: SYSTEM_OWNER, key: 'probe' }

export class GuardedStore implements Store {
  readonly isShared = true
  readonly #store: Store
  readonly #limits: Limits
  readonly #log: Log
  #isUnavailable = false
  #isClosed = false
  #failures = 0
  #probe: NodeJS.Timeout | undefined
  readonly #onReturn: (() => void)[] = []

  constructor(store: Store, limits: Limits, log: Log) {
    this.#store = store
    this.#limits = limits
    this.#log = log
  }

  /** Whether it does not answer: then no call waits for it. */
  get isUnavailable(): boolean { return this.#isUnavailable }

  onReturn(listener: () => void): void { this.#onReturn.push(listener) }

  read(key: StoreKey): MaybePromise<Entry | undefined> {
    return this.#ask(() => this.#store.read(key))
  }

  write(
    key: StoreKey, value: string, keepMs: number, expected: number | 'any',
  ): MaybePromise<number | undefined> {
    return this.#ask(() => {
      this.#requireFit(value)
      return this.#store.write(key, value, keepMs, expected)
    })
  }

  remove(key: StoreKey, expected: number | 'any'): MaybePromise<boolean> {
    return this.#ask(() => this.#store.remove(key, expected))
  }

  list(collection: string, owner: string, limit: number, before?: number): MaybePromise<readonly Entry[]> {
    return this.#ask(() => this.#store.list(collection, owner, limit, before))
  }

  publish(topic: string, text: string, keep?: Keep): MaybePromise<void> {
    return this.#ask(() => {
      this.#requireFit(text)
      return this.#store.publish(topic, text, keep)
    })
  }

  follow(
    topic: string, from: 'kept' | 'now', listener: (text: string) => void, onLost?: () => void,
  ): MaybePromise<() => void> {
    // A subscription that begins too late would never be ended.
    return this.#ask(() => this.#store.follow(topic, from, listener, onLost), (stop) => stop())
  }

  close(): MaybePromise<void> {
    this.#isClosed = true
    clearTimeout(this.#probe)
    return this.#store.close?.()
  }

  #requireFit(text: string): void {
    const { maxValueBytes } = this.#limits
    if (isWithin(text, maxValueBytes)) return
    throw new Fault('too-large', `What is kept may have ${maxValueBytes} bytes`)
  }

  #ask<T>(work: () => MaybePromise<T>, onLate?: (answer: T) => void): MaybePromise<T> {
    if (this.#isUnavailable) return Promise.reject(unreached())
    let answer
    try {
      answer = work()
    } catch (error) {
      return Promise.reject(this.#failed(error))
    }
    if (isThenable(answer)) return this.#within(Promise.resolve(answer), onLate)
    this.#failures = 0
    return answer
  }

  #within<T>(answer: Promise<T>, onLate: ((answer: T) => void) | undefined): Promise<T> {
    const { storeTimeoutMs } = this.#limits
    return new Promise((resolve, reject) => {
      let isLate = false
      const giveUp = (): void => {
        isLate = true
        const late = new Fault('timeout', `The store did not answer within ${storeTimeoutMs} ms`)
        if (++this.#failures >= MAX_FAILURES) this.#open(late)
        reject(unreached(late))
      }
      const stop = startDeadline(storeTimeoutMs, giveUp)
      answer.then((value) => {
        if (isLate) return letEnd(() => onLate?.(value))
        stop()
        this.#failures = 0
        resolve(value)
      }, (error: unknown) => {
        if (isLate) return
        stop()
        reject(this.#failed(error))
      })
    })
  }

  #failed(error: unknown): Fault {
    // A refusal is an answer; a `busy` with a cause means that the store was not reached.
    if (error instanceof Fault && !(error.kind === 'busy' && error.cause !== undefined)) {
      this.#failures = 0
      return error
    }
    // From an engine's own error it is not known whether it was reached: the probe finds out.
    if (++this.#failures === MAX_FAILURES) {
      void this.#failure().then((why) => {
        if (why === undefined) this.#failures = 0
        else this.#open(why)
      })
    }
    return error instanceof Fault ? error : unreached(error)
  }

  #open(cause: unknown): void {
    if (this.#isUnavailable || this.#isClosed) return
    this.#isUnavailable = true
    this.#log('warning', 'The store does not answer: what needs it is refused until it does', { cause })
    this.#schedule()
  }

  #schedule(): void {
    this.#probe = setTimeout(() => {
      void this.#failure().then((why) => {
        if (this.#isClosed) return
        if (why !== undefined) return this.#schedule()
        this.#isUnavailable = false
        this.#failures = 0
        this.#log('warning', 'The store answers again')
        for (const listener of this.#onReturn) listener()
      })
    }, PROBE_MS)
    this.#probe.unref()
  }

  /** Why the store does not answer; undefined where it does. Never rejects. */
  #failure(): Promise<unknown> {
    const { storeTimeoutMs } = this.#limits
    const asked = new Promise((resolve) => resolve(this.#store.read(probeKey)))
    return new Promise((resolve) => {
      // Unlike that of a call, it does not keep the process.
      const late = new Error(`Nothing within ${storeTimeoutMs} ms`)
      const running = timer(storeTimeoutMs, () => resolve(late))?.unref()
      asked.then(() => resolve(undefined), (error: unknown) => resolve(error ?? new Error('It failed')))
        .finally(() => clearTimeout(running))
    })
  }
}

function unreached(cause?: unknown): Fault {
  return new Fault('busy', 'The store cannot be reached now; try again later', undefined, { cause })
}
