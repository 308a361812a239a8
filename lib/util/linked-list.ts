/**
 * An intrusive doubly linked list, used as a queue that its members can leave from anywhere: the links are
 * members of the values themselves, and who has waited longest is at the front.
 *
 * A `Map` keeps its order too, but each look at its front passes over all that left there since its
 * table was last made; among ten thousand that come and go, that costs more than the request around it.
 */

/** What can stand in a queue, in one at a time. Only the queue writes these. */
export interface LinkedMember<T> {
  previous: T | undefined
  next: T | undefined
}

/** Members in the order in which they came. */
export class LinkedList<T extends LinkedMember<T>> {
  #first: T | undefined
  #last: T | undefined

  /** Who has waited longest. */
  get first(): T | undefined { return this.#first }

  /** Who came last. */
  get last(): T | undefined { return this.#last }

  /** All of them; the one that was told last may leave meanwhile. */
  * [Symbol.iterator](): Generator<T> {
    for (let member = this.#first; member !== undefined;) {
      const { next } = member
      yield member
      member = next
    }
  }

  /** Puts a member at the end. */
  add(member: T): void {
    member.previous = this.#last
    if (this.#last === undefined) this.#first = member
    else this.#last.next = member
    this.#last = member
  }

  /** Takes out a member of this queue. */
  remove(member: T): void {
    const { previous, next } = member
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    // What has left must not hold on to those who stay.
    member.previous = member.next = undefined
  }
}
