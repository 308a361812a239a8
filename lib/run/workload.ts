/**
 * How many calls run at one time. A run counts from the moment it has to be waited for until its own promise
 * settles; one that ignores its abort signal counts for one more time limit, and is then only counted as
 * abandoned. And how much memory they take together with what they have said so far.
 */
import { callerOf } from '../define/call.ts'
import { CallerShares } from '../util/shares.ts'
import { MAX_TIMER_MS } from '../util/clock.ts'
import { Fault } from '../define/fault.ts'
import type { Origin } from '../define/call.ts'
import type { Holder } from '../util/shares.ts'
import type { CallBytes, LiveCall } from '../define/live-call.ts'

/** The calls that run, with a ceiling. */
export class Workload implements CallBytes {
  readonly #max: number
  readonly #where: string
  // Made when needed: most of ten thousand sessions never have a call that takes a while.
  #running: Set<LiveCall> | undefined
  #shares: CallerShares | undefined
  /** Those that did not end when they should have, and have lost their place. */
  #abandoned: Set<LiveCall> | undefined
  #onIdle: (() => void) | undefined
  readonly #maxBytes: number
  #bytes = 0
  /** Those that hold some of them. */
  #holding: Set<LiveCall> | undefined
  #byteShares: CallerShares | undefined

  constructor(max: number, where: string, maxBytes: number = Infinity) {
    this.#max = max
    this.#where = where
    this.#maxBytes = maxBytes
  }

  /** Bytes that the calls hold together. */
  get bytes(): number { return this.#bytes }

  /** Calls that run now. */
  get running(): number { return this.#running?.size ?? 0 }

  /** Calls that still run though their time was over long ago; they have no place any more. */
  get abandoned(): number { return this.#abandoned?.size ?? 0 }

  /** Whether the ceiling is reached. */
  get isFull(): boolean { return this.running >= this.#max }

  /**
   * Throws `Fault('busy')` when the ceiling is reached. Where others have filled it, a caller who has less
   * than an equal part still gets in; `asker` is where its call comes from. Left out, nobody does.
   */
  check(asker?: Origin): void {
    if (!this.isFull) return
    const used = this.running + 1
    this.#shares ??= new CallerShares(() => this.#places())
    if (asker !== undefined && this.#shares.mayExceed(this.#max, used, callerOf(asker), 1)) return
    throw new Fault('busy', `${this.#max} calls are running ${this.#where} already; try again later`)
  }

  /**
   * A call holds so many bytes more, until it leaves; one that is over holds nothing more. Throws
   * `Fault('busy')` where there is no room, as `check` does.
   */
  hold(call: LiveCall, bytes: number): void {
    if (call.over) return
    const used = this.#bytes + bytes
    if (used > this.#maxBytes) {
      const shares = this.#byteShares ??= new CallerShares(() => this.#holding ?? [])
      if (!shares.mayExceed(this.#maxBytes, used, call.caller, bytes)) {
        const why = `The calls that are running hold ${this.#maxBytes} bytes together already`
        throw new Fault('busy', `${why}; try again later`)
      }
    }
    (this.#holding ??= new Set()).add(call)
    call.held += bytes
    this.#bytes = used
    this.#byteShares?.changed(call, bytes, this.#maxBytes, used)
  }

  /** A call holds no bytes any more. */
  release(call: LiveCall): void {
    const { held } = call
    if (held === 0) return
    call.held = 0
    this.#bytes -= held
    this.#holding?.delete(call)
    this.#byteShares?.changed(call, -held, this.#maxBytes, this.#bytes)
  }

  enter(call: LiveCall): void {
    (this.#running ??= new Set()).add(call)
    this.#shares?.changed(call, 1, this.#max, this.running)
  }

  leave(call: LiveCall): void {
    this.#take(call)
    this.#abandoned?.delete(call)
    this.notifyIfIdle()
  }

  /** Takes its place from a call that does not end. */
  abandon(call: LiveCall): void {
    if (this.#take(call)) (this.#abandoned ??= new Set()).add(call)
    this.notifyIfIdle()
  }

  /** Nobody waits for one of the calls any more. It counts until it really ends. */
  notifyIfIdle(): void {
    if (this.#onIdle !== undefined && !this.#isAwaited()) this.#onIdle()
  }

  /** Resolves when nobody waits for a call any more, or after `ms`. */
  idle(ms: number): Promise<void> {
    if (!this.#isAwaited()) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, MAX_TIMER_MS))
      this.#onIdle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Ends every run from outside. */
  cancelAll(reason: Fault): void {
    for (const call of [...this.#running ?? []]) call.cancel(reason)
  }

  * #places(): Generator<Holder> {
    for (const { caller } of this.#running ?? []) yield { caller, held: 1 }
  }

  #take(call: LiveCall): boolean {
    if (this.#running?.delete(call) !== true) return false
    this.release(call)
    this.#shares?.changed(call, -1, this.#max, this.running)
    return true
  }

  /**
   * One that was cancelled and goes on all the same is nobody's any more. One that asks its client waits for
   * a person, who is not to be waited for here.
   */
  #isAwaited(): boolean {
    for (const call of this.#running ?? []) if (!call.over && !call.isAsking) return true
    return false
  }
}
