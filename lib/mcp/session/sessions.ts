/**
 * The legacy sessions of one server, bounded by idle time and by number. For other principals a session does
 * not exist. Spec: MCP 2025-11-25, Transports, Session Management.
 */
import { MAX_TIMER_MS, monotonic } from '../../util/clock.ts'
import { FairPool } from '../../util/fair-pool.ts'
import { Fault } from '../../define/fault.ts'
import { Session, watchedBytes } from './session.ts'
import type { Limits } from '../../define/limits.ts'
import type { Slot } from '../../util/fair-pool.ts'
import type { Quota } from '../../util/quota.ts'
import type { ReplayBudget } from './replay.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { SessionTerms } from './session.ts'

export class Sessions {
  /** Addresses that clients watch, with and without a session. */
  readonly watched: Quota = watchedBytes()
  readonly #limits: Limits
  readonly #terms: SessionTerms
  readonly #byId = new Map<string, Slot<Session>>()
  /** The owner with the most sessions loses one first: the one that was idle for longest. */
  readonly #pool: FairPool<Session>
  #timer: NodeJS.Timeout | undefined

  /** `node`: this process, where it shares sessions with others. */
  constructor(limits: Limits, budget: ReplayBudget, node?: string) {
    this.#limits = limits
    this.#terms = { limits, budget, watched: this.watched, mark: node === undefined ? '' : `@${node}` }
    this.#pool = new FairPool(
      { maxCount: limits.maxSessions, maxBytes: Infinity },
      (session) => this.#end(session),
      (session) => !session.isBusy,
    )
  }

  get count(): number { return this.#byId.size }


  /** Begins a session. An idle one is closed for it; where none is idle, throws `Fault('busy')`. */
  open(owner: string, revision: Revision, id?: string): Session {
    const session = new Session(owner, revision, this.#terms, id)
    const slot = this.#pool.add(owner, session, 0)
    if (slot === undefined) {
      throw new Fault('busy', `${this.#limits.maxSessions} sessions are in use; try again later`)
    }
    this.#byId.set(session.id, slot)
    this.#watch()
    return session
  }

  /** Whether there is one of that id, of any owner. */
  has(id: string): boolean { return this.#byId.has(id) }

  /** The owner's session of that id. Finding it counts as use. */
  find(id: string, owner: string): Session | undefined {
    const slot = this.#byId.get(id)
    if (slot === undefined || slot.value.owner !== owner) return undefined
    slot.value.usedAt = monotonic()
    if (slot.next !== undefined) this.#pool.touch(slot)
    return slot.value
  }

  close(session: Session): void {
    const slot = this.#byId.get(session.id)
    if (slot !== undefined) this.#pool.remove(slot)
    this.#end(session)
  }

  cancelAll(why: Fault): void {
    for (const session of [...this.#each()]) session.cancel(why)
  }

  closeAll(): void {
    for (const session of [...this.#each()]) this.close(session)
  }

  get all(): Iterable<Session> { return this.#each() }

  * #each(): Generator<Session> {
    for (const { value } of this.#byId.values()) yield value
  }

  #end(session: Session): void {
    this.#byId.delete(session.id)
    session.end()
    if (this.#byId.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #watch(): void {
    const { sessionIdleMs } = this.#limits
    if (this.#timer !== undefined || sessionIdleMs > MAX_TIMER_MS) return
    this.#timer = setInterval(() => {
      const oldest = performance.now() - sessionIdleMs
      for (const session of this.#each()) {
        if (session.isBusy) session.usedAt = monotonic()
        else if (session.usedAt < oldest) this.close(session)
      }
    }, Math.max(10, sessionIdleMs / 4))
    this.#timer.unref()
  }
}
