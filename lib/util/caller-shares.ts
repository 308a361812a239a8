/**
 * One bound that many callers share: so many calls, so many bytes. A caller who is alone may use all of it.
 * When it is used up, only those who use less than an equal part of it still get something, up to half as
 * much again in all: so one caller who fills it shuts nobody out.
 *
 * Knows amounts and callers. Who holds what is its user's business, who is asked for it when the bound is
 * reached, and not before: until then it costs nothing.
 */

/** Who holds a part of a bound. */
export interface Holder {
  /** How much of it. */
  readonly held: number
  /** Who counts as one: all that one caller holds is counted together. Always the same text. */
  readonly caller: string
}

/** What there is beyond a bound, as a part of it. */
export const BEYOND: number = 1 / 2

/** What each caller holds of one bound. */
export class CallerShares {
  readonly #holders: () => Iterable<Holder>
  /** Kept from when the bound is reached until half of it is free again. */
  #byCaller: Map<string, number> | undefined

  /** `holders` tells all that hold something now. */
  constructor(holders: () => Iterable<Holder>) {
    this.#holders = holders
  }

  /** Whether a caller may have so much more, where `used` would be held in all then, more than `max`. */
  mayExceed(max: number, used: number, caller: string, more: number): boolean {
    if (used > max * (1 + BEYOND)) return false
    const byCaller = this.#byCaller ??= this.#count()
    const own = byCaller.get(caller)
    const callers = own === undefined ? byCaller.size + 1 : byCaller.size
    return (own ?? 0) + more <= max / callers
  }

  /** A holder has so much more now; `used` is what is held in all, of `max`. */
  changed(holder: Pick<Holder, 'caller'>, more: number, max: number, used: number): void {
    if (this.#byCaller === undefined) return
    if (used < max / 2) this.#byCaller = undefined
    else add(this.#byCaller, holder.caller, more)
  }

  #count(): Map<string, number> {
    const byCaller = new Map<string, number>()
    for (const { caller, held } of this.#holders()) add(byCaller, caller, held)
    return byCaller
  }
}

function add(byCaller: Map<string, number>, caller: string, more: number): void {
  const amount = (byCaller.get(caller) ?? 0) + more
  if (amount === 0) byCaller.delete(caller)
  else byCaller.set(caller, amount)
}
