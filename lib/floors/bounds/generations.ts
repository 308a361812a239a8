/**
 * What expires, in the order in which it does: those that are kept for about as long are one generation, a
 * ring in which each is before those that came later. So nothing is sorted, and one that is kept for long
 * stands before none that is not.
 */
import { monotonic } from '../../kernel/util/clock.ts'
import { stepOf } from './ranking.ts'
import { Rings } from './rings.ts'
import { grown } from './slots.ts'
import type { Slots, Slotted } from './slots.ts'

interface Generation { readonly step: number; readonly end: number }

export class Generations<T extends Slotted> {
  readonly #rings: Rings<T>
  readonly #all: Generation[] = []
  /** By slot: whole monotonic milliseconds from which on it is not there any more; 0: it does not expire. */
  #until = new Float64Array(0)

  constructor(slots: Slots<T>) {
    this.#rings = new Rings(slots)
  }

  add(slot: number, keepMs: number, now: number): void {
    const step = stepOf(keepMs)
    let end = 0
    for (const one of this.#all) if (one.step === step) end = one.end
    if (end === 0) this.#all.push({ step, end: end = this.#rings.open() })
    this.#rings.add(end, slot)
    this.#until = grown(this.#until, slot)
    this.#until[slot] = now + Math.floor(keepMs)
  }

  leave(slot: number): void {
    this.#rings.remove(slot)
    if (slot < this.#until.length) this.#until[slot] = 0
  }

  hasExpired(slot: number, now?: number): boolean {
    const until = slot < this.#until.length ? this.#until[slot]! : 0
    return until !== 0 && until <= (now ?? monotonic())
  }

  /** One whose time is over, if one is before all of its generation that have time. */
  expired(now: number): T | undefined {
    for (const { end } of this.#all) {
      const first = this.#rings.first(end)
      if (first !== undefined && this.hasExpired(first.slot, now)) return first
    }
    return undefined
  }
}
