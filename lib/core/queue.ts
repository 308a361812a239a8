/**
 * A queue that its members can leave from anywhere: who has waited longest is at the front.
 *
 * A `Map` keeps its order too, but each look at its front passes over all that left there since its
 * table was last made; among ten thousand that come and go, that costs more than the request around it.
 */

/** What can stand in a queue, in one at a time. Only the queue writes these. */
export interface Queued<T> {
  ahead: T | undefined
  behind: T | undefined
}

/** Members in the order in which they came. */
export class Queue<T extends Queued<T>> {
  #first: T | undefined
  #last: T | undefined

  /** Who has waited longest. */
  get first(): T | undefined { return this.#first }

  /** Puts a member at the end. */
  add(member: T): void {
    member.ahead = this.#last
    if (this.#last === undefined) this.#first = member
    else this.#last.behind = member
    this.#last = member
  }

  /** Takes out a member of this queue. */
  remove(member: T): void {
    const { ahead, behind } = member
    if (ahead === undefined) this.#first = behind
    else ahead.behind = behind
    if (behind === undefined) this.#last = ahead
    else behind.ahead = ahead
    // What has left must not hold on to those who stay.
    member.ahead = member.behind = undefined
  }
}
