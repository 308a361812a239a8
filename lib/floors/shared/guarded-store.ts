/**
 * A circuit breaker for a shared store: no call waits for longer than `storeTimeoutMs`, and while the store
 * cannot be reached every call fails at once. A probe each second finds out when it is there again. A refusal
 * by the store is an answer, and not a failure.
 */
import { isThenable, letEnd } from '../../kernel/util/thenable.ts'
import { isWithin } from '../../kernel/wire/bounded.ts'
import { startDeadline, timer } from '../../kernel/util/clock.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { SYSTEM_OWNER } from '../../kernel/store/store.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { Log } from '../../kernel/define/log.ts'
import type { Store, StoreKey } from '../../kernel/store/store.ts'

/** After so many calls in a row without an answer the store is unavailable. */
const MAX_FAILURES = 3
const PROBE_MS = 1_000

const probeKey: StoreKey = { collection: 'probe', owner: SYSTEM_OWNER, key: 'probe' }

export interface GuardedStore extends Store {
  /** Whether it does not answer: then no call waits for it. */
  readonly isUnavailable: boolean
  /** Calls when it answers again. */
  onReturn(listener: () => void): void
}

export function guardedStore(
  store: Store, { storeTimeoutMs, maxValueBytes }: Pick<KernelLimits, 'storeTimeoutMs' | 'maxValueBytes'>,
  log: Log,
): GuardedStore {
  let isUnavailable = false
  let isClosed = false
  let failures = 0
  let probe: NodeJS.Timeout | undefined
  const onReturn: (() => void)[] = []
  return {
    isShared: true,
    get isUnavailable() { return isUnavailable },
    onReturn(listener) { onReturn.push(listener) },
    read: (key) => ask(() => store.read(key)),
    write: (key, value, keepMs, expected) => ask(() => {
      requireFit(value)
      return store.write(key, value, keepMs, expected)
    }),
    remove: (key, expected) => ask(() => store.remove(key, expected)),
    list: (...page) => ask(() => store.list(...page)),
    publish: (topic, text, keep) => ask(() => {
      requireFit(text)
      return store.publish(topic, text, keep)
    }),
    // A subscription that begins too late would never be ended.
    follow: (...subscriber) => ask(() => store.follow(...subscriber), (stop) => stop()),
    close() {
      isClosed = true
      clearTimeout(probe)
      return store.close?.()
    },
  }

  function requireFit(text: string): void {
    if (isWithin(text, maxValueBytes)) return
    throw new Fault('too-large', `What is kept may have ${maxValueBytes} bytes`)
  }

  function ask<T>(work: () => MaybePromise<T>, onLate?: (answer: T) => void): MaybePromise<T> {
    if (isUnavailable) return Promise.reject(unreached())
    let answer
    try {
      answer = work()
    } catch (error) {
      return Promise.reject(failed(error))
    }
    if (isThenable(answer)) return within(Promise.resolve(answer), onLate)
    failures = 0
    return answer
  }

  function within<T>(answer: Promise<T>, onLate: ((answer: T) => void) | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      let isLate = false
      const stop = startDeadline(storeTimeoutMs, () => {
        isLate = true
        const late = new Fault('timeout', `The store did not answer within ${storeTimeoutMs} ms`)
        if (++failures >= MAX_FAILURES) open(late)
        reject(unreached(late))
      })
      answer.then((value) => {
        if (isLate) return letEnd(() => onLate?.(value))
        stop()
        failures = 0
        resolve(value)
      }, (error: unknown) => {
        if (isLate) return
        stop()
        reject(failed(error))
      })
    })
  }

  function failed(error: unknown): Fault {
    // A refusal is an answer; a `busy` with a cause means that the store was not reached.
    if (error instanceof Fault && !(error.kind === 'busy' && error.cause !== undefined)) {
      failures = 0
      return error
    }
    // From an engine's own error it is not known whether it was reached: the probe finds out.
    if (++failures === MAX_FAILURES) {
      void failure().then((why) => {
        if (why === undefined) failures = 0
        else open(why)
      })
    }
    return error instanceof Fault ? error : unreached(error)
  }

  function open(cause: unknown): void {
    if (isUnavailable || isClosed) return
    isUnavailable = true
    log('warning', 'The store does not answer: what needs it is refused until it does', { cause })
    schedule()
  }

  function schedule(): void {
    probe = setTimeout(() => {
      void failure().then((why) => {
        if (isClosed) return
        if (why !== undefined) return schedule()
        isUnavailable = false
        failures = 0
        log('warning', 'The store answers again')
        for (const listener of onReturn) listener()
      })
    }, PROBE_MS)
    probe.unref()
  }

  /** Why the store does not answer; undefined where it does. Never rejects. */
  function failure(): Promise<unknown> {
    const asked = new Promise((resolve) => resolve(store.read(probeKey)))
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
