/**
 * An intrusive doubly linked list: the links are members of the values themselves, so that one can leave from
 * anywhere. A `Map` keeps its order too, but each look at its front passes over all that left there since its
 * table was last made; among ten thousand that come and go, that costs more than the request around it.
 */

/** What can be in a list, in one at a time. Only the list writes these. */
export interface LinkedMember<T> {
  previous: T | undefined
  next: T | undefined
}

export class LinkedList<T extends LinkedMember<T>> {
  #first: T | undefined
  #last: T | undefined

  get first(): T | undefined { return this.#first }
  get last(): T | undefined { return this.#last }

  /** All of them; the one that was given last may leave meanwhile. */
  * [Symbol.iterator](): Generator<T> {
    for (let member = this.#first; member !== undefined;) {
      const { next } = member
      yield member
      member = next
    }
  }

  add(member: T): void {
    member.previous = this.#last
    if (this.#last === undefined) this.#first = member
    else this.#last.next = member
    this.#last = member
  }

  remove(member: T): void {
    const { previous, next } = member
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    // A member that left must not keep others in memory.
    member.previous = member.next = undefined
  }
}
