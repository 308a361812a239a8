/**
 * Lists of members by their slots: the links are in a column of numbers, so that one can leave from anywhere,
 * and each change takes the same time among ten thousand as among ten.
 */
import { grown } from './slots.ts'
import type { Slots, Slotted } from './slots.ts'

/** Each member is in one ring at most. The end of a ring is behind its last and before its first. */
export class Rings<T extends Slotted> {
  readonly #slots: Slots<T>
  /** By slot: the one before it and the one after it; 0 where it is in no ring. */
  #links = new Int32Array(0)

  constructor(slots: Slots<T>) {
    this.#slots = slots
  }

  /** Begins a ring; returns its end. */
  open(): number {
    const end = this.#slots.take()
    this.#links = grown(this.#links, end * 2 + 1)
    return this.#links[end * 2] = this.#links[end * 2 + 1] = end
  }

  /** Ends a ring in which nothing is. */
  close(end: number): void {
    this.#links[end * 2] = this.#links[end * 2 + 1] = 0
    this.#slots.free(end)
  }

  first(end: number): T | undefined { return this.#slots.at(this.#links[end * 2 + 1]!) }
  last(end: number): T | undefined { return this.#slots.at(this.#links[end * 2]!) }

  /** From the first to the last; the one that was given last may leave meanwhile. */
  all(end: number): Generator<T> { return this.#along(end, 1) }
  /** From the last to the first. */
  backward(end: number): Generator<T> { return this.#along(end, 0) }

  * #along(end: number, side: 0 | 1): Generator<T> {
    let slot = this.#links[end * 2 + side]!
    // An end is no member.
    for (let member = this.#slots.at(slot); member !== undefined; member = this.#slots.at(slot)) {
      slot = this.#links[slot * 2 + side]!
      yield member
    }
  }

  /** As the last. */
  add(end: number, slot: number): void {
    const links = this.#links = grown(this.#links, slot * 2 + 1)
    const last = links[end * 2]!
    links[slot * 2] = last
    links[slot * 2 + 1] = end
    links[last * 2 + 1] = links[end * 2] = slot
  }

  /** Does nothing where it is in none. */
  remove(slot: number): void {
    const links = this.#links
    if (slot * 2 >= links.length || links[slot * 2] === 0) return
    const [before, after] = [links[slot * 2]!, links[slot * 2 + 1]!]
    links[before * 2 + 1] = after
    links[after * 2] = before
    links[slot * 2] = links[slot * 2 + 1] = 0
  }
}
