/**
 * What expires, in the order in which it does: those that are kept for about as long are one generation, a
 * ring in which each is before those that came later. So nothing is sorted, and one that is kept for long
 * stands before none that is not.
 */
import { stepOf } from './ranking.ts'

/** What can be in a generation. Only generations write these. */
export interface Aging {
  /** Whole monotonic milliseconds from which on it is not there any more; 0: it does not expire. */
  until: number
  earlier: Aging
  later: Aging
}

/** `end` is behind the last and before the first. */
interface Generation { readonly step: number; readonly end: Aging }

export class Generations<T extends Aging> {
  readonly #all: Generation[] = []

  add(member: T, keepMs: number, now: number): void {
    const step = stepOf(keepMs)
    let end: Aging | undefined
    for (const one of this.#all) if (one.step === step) end = one.end
    if (end === undefined) this.#all.push({ step, end: end = endOfRing() })
    member.until = now + Math.floor(keepMs)
    member.earlier = end.earlier
    member.later = end
    end.earlier = end.earlier.later = member
  }

  leave(member: T): void {
    if (member.until === 0) return
    member.earlier.later = member.later
    member.later.earlier = member.earlier
    // One that has left must not keep others in memory.
    member.earlier = member.later = member
    member.until = 0
  }

  /** One whose time is over, if one is before all of its generation that have time. */
  expired(now: number): T | undefined {
    for (const { end } of this.#all) if (end.later !== end && end.later.until <= now) return end.later as T
    return undefined
  }
}

function endOfRing(): Aging {
  const end = { until: 0 } as Aging
  return Object.assign(end, { earlier: end, later: end })
}
