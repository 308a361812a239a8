/**
 * Which of many is the largest, in steps: each step is a ring, so that a change takes the same time among ten
 * thousand as among ten. Who is taken for the largest is so within less than a tenth, and exactly where sizes
 * are small.
 */
import { Rings } from './rings.ts'
import type { Slots, Slotted } from './slots.ts'

/** Members by a size; in a step the one that was put there longest ago is the first. */
export class Ranking<T extends Slotted> {
  readonly #rings: Rings<T>
  /** The ends of the rings, by step. */
  readonly #ends: (number | undefined)[] = []
  #top = -1

  constructor(slots: Slots<T>) {
    this.#rings = new Rings(slots)
  }

  get largest(): T | undefined {
    for (; this.#top >= 0; this.#top -= 1) {
      const end = this.#ends[this.#top]
      const first = end === undefined ? undefined : this.#rings.first(end)
      if (first !== undefined) return first
    }
    return undefined
  }

  * largestFirst(): Generator<T> {
    for (const end of this.#ends.toReversed()) if (end !== undefined) yield * this.#rings.all(end)
  }

  put(member: T, size: number): void {
    const step = stepOf(size)
    const end = this.#ends[step] ??= this.#rings.open()
    if (this.#rings.last(end) === member) return
    this.leave(member)
    this.#rings.add(end, member.slot)
    if (step > this.#top) this.#top = step
  }

  leave({ slot }: T): void {
    this.#rings.remove(slot)
  }
}

/** Small sizes have a step each; above, there are sixteen from one power of two to the next. */
export function stepOf(size: number): number {
  if (size < 16) return Math.floor(size)
  if (size >= 0x80000000) return 432 + stepOf(size / 0x8000000)
  const power = 31 - Math.clz32(size)
  return (power - 3) * 16 + (size >>> power - 4 & 15)
}
