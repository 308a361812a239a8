/**
 * The streams of one session that a client can come back to: those that go on, and those that have ended and
 * are kept for a while. Bounded in number, the ones that ended first give way.
 */
import { LinkedList } from '../../util/linked-list.ts'
import { ReplayStream } from './replay.ts'
import type { Limits } from '../../define/limits.ts'
import type { ReplayBudget } from './replay.ts'

/** One session's. */
export class KeptStreams {
  readonly #owner: string
  readonly #limits: Limits
  readonly #budget: ReplayBudget
  readonly #byId = new Map<string, ReplayStream>()
  /** Those that have ended, in that order. */
  readonly #ended = new LinkedList<ReplayStream>()

  constructor(owner: string, limits: Limits, budget: ReplayBudget) {
    this.#owner = owner
    this.#limits = limits
    this.#budget = budget
  }

  get all(): Iterable<ReplayStream> { return this.#byId.values() }

  /** Whether somebody reads one of them, or has not read one to its end. */
  get isBusy(): boolean {
    for (const stream of this.#byId.values()) if (stream.isAttached || stream.isUnread) return true
    return false
  }

  find(id: string): ReplayStream | undefined {
    return this.#byId.get(id)
  }

  /** A new one, whose events have ids that end with `mark`. */
  open(mark: string): ReplayStream {
    const most = this.#limits.maxCallsPerSession * 2
    for (let old = this.#ended.first; old !== undefined; old = this.#ended.first) {
      if (!old.isStale && this.#byId.size < most) break
      this.#forget(old)
    }
    const stream = new ReplayStream(this.#owner, this.#limits, this.#budget, this.#onEnded, mark)
    this.#byId.set(stream.id, stream)
    return stream
  }

  /** Ends all of them, and lets go of what was kept. */
  drop(): void {
    for (const stream of this.#byId.values()) this.#forget(stream)
  }

  readonly #onEnded = (stream: ReplayStream): void => { this.#ended.add(stream) }

  #forget(stream: ReplayStream): void {
    this.#byId.delete(stream.id)
    if (stream.isFinished) this.#ended.remove(stream)
    stream.drop()
  }
}
