/**
 * Which of many is the largest, in steps: each step is a list, so that a change takes the same time among ten
 * thousand as among ten. Who is taken for the largest is so within less than a tenth, and exactly where sizes
 * are small.
 */
import { LinkedList } from '../../kernel/util/linked-list.ts'
import type { LinkedMember } from '../../kernel/util/linked-list.ts'

/** Where something stands in a ranking, which alone writes the members. */
export class Rank<T> implements LinkedMember<Rank<T>> {
  readonly of: T
  /** Undefined: nowhere. */
  list: LinkedList<Rank<T>> | undefined = undefined
  step = 0
  previous: Rank<T> | undefined = undefined
  next: Rank<T> | undefined = undefined

  constructor(of: T) {
    this.of = of
  }
}

/** Things by a size; in a step the one that was put there longest ago is the first. */
export class Ranking<T> {
  readonly #steps: LinkedList<Rank<T>>[] = []
  #top = -1

  get largest(): T | undefined {
    while (this.#top >= 0 && this.#steps[this.#top]!.first === undefined) this.#top -= 1
    return this.#steps[this.#top]?.first?.of
  }

  * largestFirst(): Generator<T> {
    for (let step = this.#top; step >= 0; step--) for (const { of } of this.#steps[step]!) yield of
  }

  put(rank: Rank<T>, size: number): void {
    const step = stepOf(size)
    const { list } = rank
    if (list !== undefined) {
      if (rank.step === step && list.last === rank) return
      list.remove(rank)
    }
    while (this.#steps.length <= step) this.#steps.push(new LinkedList())
    rank.step = step
    rank.list = this.#steps[step]!
    rank.list.add(rank)
    if (step > this.#top) this.#top = step
  }

  leave(rank: Rank<T>): void {
    rank.list?.remove(rank)
    rank.list = undefined
  }
}

/** Small sizes have a step each; above, there are sixteen from one power of two to the next. */
export function stepOf(size: number): number {
  if (size < 16) return Math.floor(size)
  if (size >= 0x80000000) return 432 + stepOf(size / 0x8000000)
  const power = 31 - Math.clz32(size)
  return (power - 3) * 16 + (size >>> power - 4 & 15)
}
