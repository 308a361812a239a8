/**
 * Members in the order of a rule, the first always at hand: a binary heap whose members know their places,
 * so that one can leave, or change its standing, from anywhere in the time of a logarithm.
 */

/** Who stands before whom, and where a member keeps its place. Only the ranking writes places. */
export interface Order<T> {
  isBefore(one: T, other: T): boolean
  placeOf(member: T): number
  place(member: T, at: number): void
}

/** What a member's place is while it stands in no ranking. */
export const NOT_IN_HEAP = -1

/** A member, where it stands in one ranking, and its place in another. */
interface Standing<T> { readonly member: T; readonly at: number; place: number }

/** Members by an order. What the order compares may change only right before `moved` is called. */
export class Heap<T> {
  readonly #order: Order<T>
  readonly #members: T[] = []

  constructor(order: Order<T>) {
    this.#order = order
  }

  get first(): T | undefined { return this.#members[0] }

  /** Who would be first without the first. */
  get second(): T | undefined {
    const [, left, right] = this.#members
    if (left === undefined || right === undefined) return left
    return this.#order.isBefore(right, left) ? right : left
  }

  /** All members, the first first, as long as none comes, changes or leaves. */
  * inOrder(): Generator<T> {
    // Whoever is next stands right below one that was.
    const next = new Heap<Standing<T>>({
      isBefore: (one, other) => this.#order.isBefore(one.member, other.member),
      placeOf: (standing) => standing.place,
      place(standing, at) { standing.place = at },
    })
    const look = (at: number): void => {
      const member = this.#members[at]
      if (member !== undefined) next.add({ member, at, place: NOT_IN_HEAP })
    }
    look(0)
    for (let { first } = next; first !== undefined; { first } = next) {
      yield first.member
      next.remove(first)
      look(2 * first.at + 1)
      look(2 * first.at + 2)
    }
  }

  add(member: T): void {
    this.#rise(member, this.#members.push(member) - 1)
  }

  /** Takes a member of this ranking out of it. */
  remove(member: T): void {
    const at = this.#order.placeOf(member)
    const last = this.#members.pop()!
    this.#order.place(member, NOT_IN_HEAP)
    if (last !== member) this.#settle(last, at)
  }

  /** A member compares in another way than before. */
  moved(member: T): void {
    this.#settle(member, this.#order.placeOf(member))
  }

  /** Finds the place of a member that may stand no longer at `at`. */
  #settle(member: T, at: number): void {
    const above = this.#members[(at - 1) >> 1]
    if (at > 0 && this.#order.isBefore(member, above!)) this.#rise(member, at)
    else this.#sink(member, at)
  }

  #rise(member: T, from: number): void {
    let at = from
    while (at > 0) {
      const up = (at - 1) >> 1
      const above = this.#members[up]!
      if (!this.#order.isBefore(member, above)) break
      this.#put(above, at)
      at = up
    }
    this.#put(member, at)
  }

  #sink(member: T, from: number): void {
    const members = this.#members
    let at = from
    for (;;) {
      let down = 2 * at + 1
      if (down >= members.length) break
      if (down + 1 < members.length && this.#order.isBefore(members[down + 1]!, members[down]!)) down++
      const below = members[down]!
      if (!this.#order.isBefore(below, member)) break
      this.#put(below, at)
      at = down
    }
    this.#put(member, at)
  }

  #put(member: T, at: number): void {
    this.#members[at] = member
    this.#order.place(member, at)
  }
}
