/**
 * A binary heap whose members know their places, so that one can leave, or change its order, from anywhere in
 * logarithmic time.
 */

/** The order of members, and where a member keeps its place, which only the heap writes. */
export interface Order<T> {
  isBefore(one: T, other: T): boolean
  placeOf(member: T): number
  place(member: T, at: number): void
}

export const NOT_IN_HEAP = -1

/** A member, its place in one heap, and that in another. */
interface Standing<T> { readonly member: T; readonly at: number; place: number }

/** Members by an order. What the order compares may change only right before `moved` is called. */
export class Heap<T> {
  readonly #order: Order<T>
  readonly #members: T[] = []

  constructor(order: Order<T>) {
    this.#order = order
  }

  get first(): T | undefined { return this.#members[0] }

  /** The first without the first. */
  get second(): T | undefined {
    const [, left, right] = this.#members
    if (left === undefined || right === undefined) return left
    return this.#order.isBefore(right, left) ? right : left
  }

  /** All members in order, as long as none comes, changes or leaves. */
  * inOrder(): Generator<T> {
    if (this.first === undefined) return
    yield this.first
    // The next one is a child of one that was.
    const next = new Heap<Standing<T>>({
      isBefore: (one, other) => this.#order.isBefore(one.member, other.member),
      placeOf: (standing) => standing.place,
      place(standing, at) { standing.place = at },
    })
    for (let at = 0; ;) {
      for (const child of [2 * at + 1, 2 * at + 2]) {
        const member = this.#members[child]
        if (member !== undefined) next.add({ member, at: child, place: NOT_IN_HEAP })
      }
      const { first } = next
      if (first === undefined) return
      yield first.member
      next.remove(first)
      at = first.at
    }
  }

  add(member: T): void {
    this.#rise(member, this.#members.push(member) - 1)
  }

  remove(member: T): void {
    const at = this.#order.placeOf(member)
    const last = this.#members.pop()!
    this.#order.place(member, NOT_IN_HEAP)
    if (last !== member) this.#settle(last, at)
  }

  moved(member: T): void {
    this.#settle(member, this.#order.placeOf(member))
  }

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
