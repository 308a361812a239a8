/**
 * How many calls run at one time, and how much memory they hold together with what they have produced so far.
 * A run counts from the moment it has to be waited for until its own promise settles; one that ignores its
 * abort signal counts for one more time limit, and then only as abandoned.
 */
import { Fault } from '../define/fault.ts'
import { callerOf } from '../define/call.ts'
import { IdleWaiters, monotonic } from '../util/clock.ts'
import { Lease, PlainLease, Quota } from '../util/quota.ts'
import type { Origin } from '../define/call.ts'
import type { CallBytes, LiveCall } from '../define/live-call.ts'

/** How often a closing server looks for calls that are not waited for any more. */
const LOOK_MS = 100

/** A running call, and the lease of its place in one workload. */
export class RunLease extends Lease {
  readonly call: LiveCall
  readonly #workload: Workload
  #abandoned: PlainLease | undefined

  constructor(workload: Workload, call: LiveCall) {
    super()
    this.#workload = workload
    this.call = call
  }

  get caller(): string { return this.call.caller }

  leave(): void {
    this.close()
    this.#abandoned?.close()
    this.#workload.notifyIfIdle()
  }

  /** It does not end: from now on it is only counted as abandoned. */
  abandon(): void {
    if (this.isClosed) return
    this.#abandoned = new PlainLease(this.caller)
    this.#workload.abandonedRuns.add(this.#abandoned, 1)
    this.close()
    this.#workload.notifyIfIdle()
  }
}

/** The calls that run, with a ceiling. */
export class Workload implements CallBytes {
  readonly #max: number
  readonly #where: string
  readonly #maxBytes: number
  // Made when needed: most of ten thousand sessions never have a call that takes a while.
  #running: Quota | undefined
  #abandoned: Quota | undefined
  #held: Quota | undefined
  #idle: IdleWaiters | undefined

  constructor(max: number, where: string, maxBytes: number = Infinity) {
    this.#max = max
    this.#where = where
    this.#maxBytes = maxBytes
  }

  get bytes(): number { return this.#held?.used ?? 0 }

  get running(): number { return this.#running?.used ?? 0 }

  /** Calls that still run though their time was over long ago; they are not counted as running any more. */
  get abandoned(): number { return this.#abandoned?.used ?? 0 }

  get isFull(): boolean { return this.running >= this.#max }

  /**
   * Throws `Fault('busy')` when the ceiling is reached. Where other callers have filled it, one with less
   * than an equal part still gets in; `asker` is where its call comes from. Without it none does.
   */
  check(asker?: Origin): void {
    if (!this.isFull) return
    if (asker !== undefined && this.#running?.hasRoom({ caller: callerOf(asker) }, 1) === true) return
    throw new Fault('busy', `${this.#max} calls are running ${this.#where} already; try again later`)
  }

  /** Takes a place for a call that has to be waited for. Call `check` before. */
  enter(call: LiveCall): RunLease {
    const lease = new RunLease(this, call)
    this.#running ??= new Quota(`calls ${this.#where}`, this.#max)
    this.#running.add(lease, 1)
    return lease
  }

  get abandonedRuns(): Quota {
    return this.#abandoned ??= new Quota(`abandoned calls ${this.#where}`, Infinity)
  }

  /**
   * A call holds so many bytes more, until it is closed. Throws `Fault('busy')` where there is no room, as
   * `check` does.
   */
  hold(call: LiveCall, bytes: number): void {
    this.#held ??= new Quota(`bytes of calls ${this.#where}`, this.#maxBytes)
    if (call.over || call.isClosed || this.#held.take(call, bytes)) return
    const why = `The calls that are running hold ${this.#maxBytes} bytes together already`
    throw new Fault('busy', `${why}; try again later`)
  }

  /** A call is not waited for any more. It counts until it really ends. */
  notifyIfIdle(): void {
    if (this.#idle !== undefined && !this.#isAwaited()) this.#idle.notify()
  }

  /** Resolves when no call is waited for any more, or after `ms`. */
  async idle(ms: number): Promise<void> {
    const end = monotonic() + ms
    while (this.#isAwaited()) {
      const left = end - monotonic()
      if (left <= 0) return
      // Again after a while: nothing tells of a call that begins to ask its client.
      await (this.#idle ??= new IdleWaiters()).wait(Math.min(left, LOOK_MS))
    }
  }

  cancelAll(reason: Fault): void {
    for (const call of [...this.#calls()]) call.cancel(reason)
  }

  * #calls(): Generator<LiveCall> {
    for (const lease of this.#running?.leases ?? []) yield (lease as RunLease).call
  }

  /**
   * One that was cancelled and goes on all the same is not waited for, nor is one that asks its client: it
   * waits for a person.
   */
  #isAwaited(): boolean {
    for (const call of this.#calls()) if (!call.over && !call.isAsking) return true
    return false
  }
}
